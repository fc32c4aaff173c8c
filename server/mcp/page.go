package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

const (
	// maxAnswer is the maximum number of bytes of a page: of the JSON of a list, or
	// of the text of a conversation.
	maxAnswer = 32 << 10

	// maxMessage is the maximum number of bytes of one message among others.
	maxMessage = 8 << 10

	// maxMessages is the maximum number of messages of a page.
	maxMessages = 250

	// maxPart is the maximum number of bytes of the arguments of a tool call, or of
	// its result, in a message among others.
	maxPart = 1 << 10

	// maxName is the maximum number of bytes of a title or a role.
	maxName = 1 << 10

	// maxError is the maximum number of bytes of the message of an error, which may
	// repeat an argument, and of its hint.
	maxError = 2 << 10
)

// A cursor is a place in a list or a conversation at which the next page
// begins.
type cursor struct {
	Args  string `json:"a"`           // a hash of the arguments of the first call
	At    int    `json:"i"`           // index of the first element
	Other int    `json:"j,omitempty"` // of the second list, if there are two
	Byte  int    `json:"b,omitempty"` // offset in the text of the element
	Ref   string `json:"r,omitempty"` // where the path ends, so that it stays the same
	Ref2  string `json:"s,omitempty"` // of the second list
}

func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString(rawjson.Compact(c))
}

// cursorOf returns the cursor in the arguments of a call, and one for the start
// if there is none.
func cursorOf(args json.RawMessage) (cursor, error) {
	start := cursor{Args: fingerprint(args)}
	text := gjson.GetBytes(args, "cursor").String()
	if text == "" {
		return start, nil
	}
	var c cursor
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || c.At < 0 || c.Other < 0 || c.Byte < 0 {
		return c, &fault.Error{Code: fault.Usage, Message: "invalid cursor", Hint: "give the next_cursor of an answer, unchanged"}
	}
	if c.Args != start.Args {
		return c, &fault.Error{Code: fault.Usage, Message: "the cursor is of a call with other arguments", Hint: "repeat the arguments of the first call, and add the cursor"}
	}
	return c, nil
}

// fingerprint returns a hash of arguments without the cursor.
func fingerprint(args json.RawMessage) string {
	var object map[string]any
	if json.Unmarshal(args, &object) != nil {
		return ""
	}
	delete(object, "cursor")
	sum := sha256.Sum256(rawjson.Compact(object))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// page returns doc with as many elements of its list, a member, as an answer
// may have, from a cursor on. If there are more, it has next_cursor or, unless
// the call can be repeated, their number in omitted.
func page(doc []byte, list string, c cursor, again bool) ([]byte, error) {
	all := gjson.GetBytes(doc, list)
	elements := all.Array()
	room := max(maxAnswer-(len(doc)-len(all.Raw)), maxAnswer/4)
	from := min(c.At, len(elements))
	part := []byte{'['}
	to := from
	for ; to < len(elements); to++ {
		e := shortened([]byte(elements[to].Raw))
		if to > from {
			if len(part)+len(e) > room {
				break
			}
			part = append(part, ',')
		}
		part = append(part, e...)
	}
	doc, err := sjson.SetRawBytes(doc, list, append(part, ']'))
	if err == nil && from > 0 {
		doc, err = sjson.SetBytes(doc, "offset", from)
	}
	switch left := len(elements) - to; {
	case err != nil || left == 0:
	case again:
		c.At = to
		doc, err = sjson.SetBytes(doc, "next_cursor", c.String())
	default:
		doc, err = sjson.SetBytes(doc, "omitted", left)
	}
	return doc, err
}

// shortened returns doc with its long strings cut, the longest ones first, so
// that it has at most maxAnswer bytes. A document that consists of very many
// short values stays longer.
func shortened(doc []byte) []byte {
	for most := maxMessage; len(doc) > maxAnswer && most >= 128; most /= 2 {
		var v any
		numbers := json.NewDecoder(bytes.NewReader(doc))
		numbers.UseNumber()
		if numbers.Decode(&v) != nil {
			return doc
		}
		doc = rawjson.Compact(cutStrings(v, most))
	}
	return doc
}

// cutStrings cuts all strings in v to a number of bytes.
func cutStrings(v any, most int) any {
	switch v := v.(type) {
	case string:
		return shortText(v, most)
	case []any:
		for i := range v {
			v[i] = cutStrings(v[i], most)
		}
	case map[string]any:
		for k := range v {
			v[k] = cutStrings(v[k], most)
		}
	}
	return v
}

// shortText cuts a text to a number of bytes, with a note of how many are left.
func shortText(s string, most int) string {
	cut, left := cutText(s, most)
	if left > 0 {
		cut += fmt.Sprintf("… [%d more bytes]", left)
	}
	return cut
}

// cutText returns the beginning of a text whose JSON has at most a number of
// bytes, and how many bytes of the text are left.
func cutText(s string, most int) (cut string, left int) {
	size := 0
	for i, r := range s {
		n := utf8.RuneLen(r)
		switch {
		case r == '"', r == '\\', r == '\n', r == '\t':
			n = 2
		case r < ' ':
			n = 6
		}
		if size += n; size > most {
			return s[:i], len(s) - i
		}
	}
	return s, 0
}

// oneLine returns a text on one line, without control characters, cut to a
// number of bytes.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(printable.Clean(s)), " ")
	cut, left := cutText(s, most)
	if left > 0 {
		cut += "…"
	}
	return cut
}
