package convert

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// textOf returns a member that is a string, "" if it is none.
func textOf(raw []byte, path string) string {
	if v := gjson.GetBytes(raw, path); v.Type == gjson.String {
		return v.Str
	}
	return ""
}

// memberOf returns the only member of a record.
func memberOf(r json.RawMessage) (name string, raw []byte) {
	gjson.ParseBytes(r).ForEach(func(key, value gjson.Result) bool {
		name, raw = key.String(), []byte(value.Raw)
		return false
	})
	return name, raw
}

// setMember returns a record with another value as one of its members, null for nil. The
// path is one of sjson's; a record that has no such place is returned as it is.
func setMember(record []byte, path string, value any) []byte {
	out, err := sjson.SetBytes(record, path, value)
	return edited(record, out, err)
}

// setRaw is [setMember] for a value that is JSON already.
func setRaw(record []byte, path string, value []byte) []byte {
	out, err := sjson.SetRawBytes(record, path, value)
	return edited(record, out, err)
}

// dropMember returns a record without one of its members.
func dropMember(record []byte, path string) []byte {
	out, err := sjson.DeleteBytes(record, path)
	return edited(record, out, err)
}

// edited returns out or, if that could not be made, the record.
func edited(record, out []byte, err error) []byte {
	if err != nil {
		return record
	}
	return out
}

// compact returns JSON without white space, if that is possible.
func compact(value string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(value)) != nil {
		return value
	}
	return b.String()
}

// text returns the text of a string, "" for any other value. Half a surrogate pair
// becomes U+FFFD.
func text(v gjson.Result) string {
	if v.Type != gjson.String || !strings.Contains(v.Raw, `\u`) {
		return v.Str
	}
	var s string
	if json.Unmarshal([]byte(v.Raw), &s) != nil {
		return v.Str
	}
	return s
}
