package rawjson

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Indent is the indentation of one level in files that bough writes, the same as in
// Penguin's files.
const Indent = "  "

// Value encodes v as JSON for a position depth levels deep in a file, formatted as
// by Python's json.dumps(indent=2), but with text as UTF-8. It panics if v cannot
// be encoded.
func Value(v any, depth int) []byte {
	return Layout(Compact(v), depth)
}

// Compact encodes v as JSON on one line. It panics if v cannot be encoded.
func Compact(v any) []byte {
	if s, ok := v.(string); ok && isPlain(s) {
		return appendQuoted(make([]byte, 0, len(s)+2), s)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("rawjson: " + err.Error())
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// isPlain reports whether s needs no escapes in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func appendQuoted(dst []byte, plain string) []byte {
	return append(append(append(dst, '"'), plain...), '"')
}

// Layout indents value, a document without Python's number tokens, for a position
// depth levels deep. A value with such tokens is returned unchanged.
func Layout(value []byte, depth int) []byte {
	var buf bytes.Buffer
	prefix := string(bytes.Repeat([]byte(Indent), depth))
	if err := json.Indent(&buf, value, prefix, Indent); err != nil {
		return value
	}
	return buf.Bytes()
}

// A Pair is a key and its raw value, to be written.
type Pair struct {
	Key    string
	Value  []byte
	quoted []byte // the original quoted key, nil for a new one
}

// AppendObject appends an object of pairs for a position depth levels deep, with
// raw values.
func AppendObject(dst []byte, pairs []Pair, depth int) []byte {
	if len(pairs) == 0 {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	for i, p := range pairs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = newLine(dst, depth+1)
		dst = append(appendKey(dst, p), ": "...)
		dst = append(dst, p.Value...)
	}
	dst = newLine(dst, depth)
	return append(dst, '}')
}

// AppendLine appends an object of pairs on one line without white space, with raw
// values.
func AppendLine(dst []byte, pairs []Pair) []byte {
	size := len("{}")
	for _, p := range pairs {
		size += len(p.Key) + len(p.Value) + len(`"":,`)
	}
	dst = append(slices.Grow(dst, size), '{')
	for i, p := range pairs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendKey(dst, p), ':')
		dst = append(dst, p.Value...)
	}
	return append(dst, '}')
}

func appendKey(dst []byte, p Pair) []byte {
	if p.quoted != nil {
		return append(dst, p.quoted...)
	}
	if isPlain(p.Key) {
		return appendQuoted(dst, p.Key)
	}
	return append(dst, Compact(p.Key)...)
}

func newLine(dst []byte, depth int) []byte {
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, Indent...)
	}
	return dst
}

// AppendObjects appends an array of objects for a position depth levels deep, with
// raw values.
func AppendObjects(dst []byte, list [][]Pair, depth int) []byte {
	if len(list) == 0 {
		return append(dst, "[]"...)
	}
	dst = append(dst, '[')
	for i, pairs := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendObject(newLine(dst, depth+1), pairs, depth+1)
	}
	return append(newLine(dst, depth), ']')
}

// Dense returns value, a document, without the white space between its tokens; it
// returns value itself if there is nothing to remove.
func Dense(value []byte) []byte {
	var out []byte
	kept := 0 // offset in value of the part not yet in out
	for i := 0; i < len(value); {
		switch value[i] {
		case '"':
			for i++; i < len(value) && value[i] != '"'; i++ {
				if value[i] == '\\' {
					i++
				}
			}
			i++
		case ' ', '\t', '\r', '\n':
			if out == nil {
				out = make([]byte, 0, len(value))
			}
			out = append(out, value[kept:i]...)
			for i < len(value) && bytes.IndexByte([]byte(" \t\r\n"), value[i]) >= 0 {
				i++
			}
			kept = i
		default:
			i++
		}
	}
	if kept == 0 {
		return value
	}
	return append(out, value[kept:]...)
}
