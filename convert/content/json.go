package content

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// each calls f with the unescaped names and raw values of the members of an object,
// in order. It does nothing for any other value.
func each(object []byte, f func(name, value []byte)) {
	if len(object) <= len(`{}`) {
		return
	}
	_ = rawjson.Walk(object, func(w *rawjson.Walker) error {
		return w.Object(func(key []byte, _ int) error {
			span, err := w.Value()
			if err == nil {
				f(key, span.Of(object))
			}
			return err
		})
	})
}

// elements calls f with the elements of an array. It does nothing for any other
// value.
func elements(array []byte, f func(value []byte)) {
	_ = rawjson.Walk(array, func(w *rawjson.Walker) error {
		return w.Array(func() error {
			span, err := w.Value()
			if err == nil {
				f(span.Of(array))
			}
			return err
		})
	})
}

// member returns the first member with a name, or nil.
func member(object []byte, name string) (found []byte) {
	each(object, func(key, value []byte) {
		if found == nil && string(key) == name {
			found = value
		}
	})
	return found
}

// set sets *at to value if it is not set and value is not null.
func set(at *[]byte, value []byte) {
	if *at == nil && !isNull(value) {
		*at = value
	}
}

func isNull(value []byte) bool   { return len(value) == 0 || value[0] == 'n' }
func isText(value []byte) bool   { return len(value) > 0 && value[0] == '"' }
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
func isArray(value []byte) bool  { return len(value) > 0 && value[0] == '[' }

// isBlank reports whether a value is null or an empty array or object.
func isBlank(value []byte) bool {
	if isArray(value) || isObject(value) {
		return len(bytes.TrimSpace(value[1:len(value)-1])) == 0
	}
	return isNull(value)
}

// text returns the value of a string, "" for any other type. Unpaired surrogates,
// which gjson does not handle, become U+FFFD.
func text(value []byte) string {
	switch {
	case !isText(value):
		return ""
	case bytes.IndexByte(value, '\\') < 0:
		return string(value[1 : len(value)-1])
	case !bytes.Contains(value, []byte(`\u`)):
		return gjson.ParseBytes(value).Str
	}
	var s string
	_ = json.Unmarshal(value, &s) // it is valid
	return s
}

// tidy returns a value without white space, and with null in place of Python's
// number tokens.
func tidy(value []byte) []byte {
	out := make([]byte, 0, len(value))
	for i := 0; i < len(value); {
		switch c := value[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			end := afterText(value, i)
			out = append(out, value[i:end]...)
			i = end
		case 'N', 'I', '-':
			end := i + 1
			for end < len(value) && value[end]|0x20 >= 'a' && value[end]|0x20 <= 'z' {
				end++
			}
			if c == '-' && end == i+1 {
				out = append(out, c)
			} else {
				out = append(out, "null"...)
			}
			i = end
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// tooDeep reports whether the nesting depth of a value exceeds limit.
func tooDeep(value []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			i = afterText(value, i) - 1
		}
	}
	return false
}

// afterText returns the offset after the string that begins at i.
func afterText(value []byte, i int) int {
	i++
	for {
		quote := i + bytes.IndexByte(value[i:], '"')
		for i <= quote {
			back := bytes.IndexByte(value[i:quote], '\\')
			if back < 0 {
				return quote + 1
			}
			i += back + 2
		}
	}
}

// A writer builds JSON. Its values must be raw JSON.
type writer struct{ b []byte }

// next writes the comma before another value, if needed.
func (w *writer) next() {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' && w.b[n-1] != ':' {
		w.b = append(w.b, ',')
	}
}

func (w *writer) open(c byte) {
	w.next()
	w.b = append(w.b, c)
}

func (w *writer) close(c byte) { w.b = append(w.b, c) }

func (w *writer) key(name string) {
	w.next()
	w.b = append(appendText(w.b, name), ':')
}

// text writes a member with a string.
func (w *writer) text(name, value string) {
	w.key(name)
	w.b = appendText(w.b, value)
}

// raw writes a member with a raw value.
func (w *writer) raw(name string, value []byte) {
	w.key(name)
	w.b = append(w.b, value...)
}

// member writes a member with arguments as from each.
func (w *writer) member(name, value []byte) { w.raw(string(name), value) }

// keep writes a member unless it is blank.
func (w *writer) keep(name, value []byte) {
	if !isBlank(value) {
		w.raw(string(name), tidy(value))
	}
}

// object returns the written members as an object, nil if there are none.
func (w *writer) object() json.RawMessage {
	if len(w.b) == 0 {
		return nil
	}
	return append(append(append(make([]byte, 0, len(w.b)+2), '{'), w.b...), '}')
}

// appendText appends s as a JSON string.
func appendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	const hex = "0123456789abcdef"
	b = append(slices.Grow(b, len(s)+len(`""`)), '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}
