// Package member reads and edits single members of JSON objects. Bytes outside of an edited
// member stay as they are.
package member

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Text returns a member that is a string, "" if there is none.
func Text(raw []byte, path string) string {
	if v := gjson.GetBytes(raw, path); v.Type == gjson.String {
		return v.Str
	}
	return ""
}

// Only returns the only member of a record.
func Only(r json.RawMessage) (name string, raw []byte) {
	gjson.ParseBytes(r).ForEach(func(key, value gjson.Result) bool {
		name, raw = key.String(), []byte(value.Raw)
		return false
	})
	return name, raw
}

// Set returns a record with one of its members replaced, null for nil. The path
// is one of sjson's; if the record has no such place, it is returned unchanged.
func Set(record []byte, path string, value any) []byte {
	out, err := sjson.SetBytes(record, path, value)
	return edited(record, out, err)
}

// SetRaw is [Set] for an encoded value.
func SetRaw(record []byte, path string, value []byte) []byte {
	out, err := sjson.SetRawBytes(record, path, value)
	return edited(record, out, err)
}

// Drop returns a record without one of its members.
func Drop(record []byte, path string) []byte {
	out, err := sjson.DeleteBytes(record, path)
	return edited(record, out, err)
}

// edited returns out, or the record if err is not nil.
func edited(record, out []byte, err error) []byte {
	if err != nil {
		return record
	}
	return out
}

// Compact returns JSON without white space, if that is possible.
func Compact(value string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(value)) != nil {
		return value
	}
	return b.String()
}

// String returns the text of a string, "" for any other value. Half a surrogate pair
// becomes U+FFFD.
func String(v gjson.Result) string {
	if v.Type != gjson.String || !strings.Contains(v.Raw, `\u`) {
		return v.Str
	}
	var s string
	if json.Unmarshal([]byte(v.Raw), &s) != nil {
		return v.Str
	}
	return s
}
