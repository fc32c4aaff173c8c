package rawjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// answerTime is the layout of times in answers.
const answerTime = "2006-01-02T15:04:05.000000-07:00"

// A Source is a value with its own JSON: a document on one line, which may contain
// Python's number tokens.
type Source interface{ JSON() []byte }

// Answer encodes v as JSON on one line, as encoding/json does, except that
//
//   - a time.Time is UTC with six digits and +00:00, and the zero time is null,
//   - a nil slice is [] and a nil map is {},
//   - a [Source] is encoded as the result of its JSON method,
//   - any other struct is encoded by its fields, even if it has a MarshalJSON, so that a
//     struct which embeds one keeps its own fields,
//   - <, > and & are not escaped.
//
// Answer panics if v cannot be encoded.
func Answer(v any) []byte { return appendAnswer(nil, reflect.ValueOf(v)) }

func appendAnswer(dst []byte, v reflect.Value) []byte {
	if !v.IsValid() {
		return append(dst, "null"...)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(dst, "null"...)
		}
	}
	switch x := v.Interface().(type) {
	case time.Time:
		if x.IsZero() {
			return append(dst, "null"...)
		}
		return appendQuoted(dst, x.UTC().Format(answerTime))
	case Source:
		return append(dst, x.JSON()...)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return appendAnswer(dst, v.Elem())
	case reflect.Struct:
		return appendStruct(dst, v)
	}
	switch v.Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return append(dst, Compact(v.Interface())...)
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(dst, Compact(v.Interface())...)
		}
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendAnswer(dst, v.Index(i))
		}
		return append(dst, ']')
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return append(dst, Compact(v.Interface())...)
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		dst = append(dst, '{')
		for i, key := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, Compact(key.String())...), ':')
			dst = appendAnswer(dst, v.MapIndex(key))
		}
		return append(dst, '}')
	}
	return append(dst, Compact(v.Interface())...)
}

// A field is a member of a struct's object.
type field struct {
	name  string
	value reflect.Value
	depth int // number of embedded structs around it
}

func appendStruct(dst []byte, v reflect.Value) []byte {
	fields := fieldsOf(nil, v, 0)
	dst = append(dst, '{')
	first := true
	for _, f := range fields {
		if slices.ContainsFunc(fields, func(other field) bool { return other.name == f.name && other.depth < f.depth }) {
			continue // the outer field hides it
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, Compact(f.name)...), ':')
		dst = appendAnswer(dst, f.value)
	}
	return append(dst, '}')
}

// fieldsOf appends the fields of v that are encoded, in their order.
func fieldsOf(list []field, v reflect.Value, depth int) []field {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" {
			if value.Kind() == reflect.Pointer {
				if value.IsNil() {
					continue
				}
				value = value.Elem()
			}
			if value.Kind() == reflect.Struct {
				list = fieldsOf(list, value, depth+1)
				continue
			}
		}
		if !f.IsExported() || isOmitted(value, options) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		list = append(list, field{name, value, depth})
	}
	return list
}

// isOmitted reports whether a field with these tag options is omitted.
func isOmitted(v reflect.Value, options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitzero":
			return v.IsZero()
		case "omitempty":
			switch v.Kind() {
			case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
				return v.Len() == 0
			case reflect.Struct:
				return false
			}
			return v.IsZero()
		}
	}
	return false
}

// Escaped replaces each character in value, a document, that could control a
// terminal by an escape: DEL, C1 controls, line and paragraph separators, and
// characters that override or isolate the direction of text. The result is equal as
// JSON.
func Escaped(value []byte) []byte {
	var out []byte
	kept := 0 // offset in value of the part not yet in out
	for i := 0; i < len(value); {
		if value[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(value[i:])
		if drivesTerminal(r) {
			out = fmt.Appendf(append(out, value[kept:i]...), `\u%04x`, r)
			kept = i + n
		}
		i += n
	}
	if kept == 0 {
		return value
	}
	return append(out, value[kept:]...)
}

func drivesTerminal(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u206f'
}

// Strict replaces Python's number tokens in value, a document, by null.
func Strict(value []byte) []byte {
	var out []byte
	kept := 0 // offset in value of the part not yet in out
	for i := 0; i < len(value); {
		switch c := value[i]; {
		case c == '"':
			for i++; i < len(value) && value[i] != '"'; i++ {
				if value[i] == '\\' {
					i++
				}
			}
			i++
		case c == 'N' || c == 'I' || c == '-' && bytes.HasPrefix(value[i:], []byte("-I")):
			end := i + 1
			for end < len(value) && 'a' <= value[end]|0x20 && value[end]|0x20 <= 'z' {
				end++
			}
			out = append(append(out, value[kept:i]...), "null"...)
			i, kept = end, end
		default:
			i++
		}
	}
	if kept == 0 {
		return value
	}
	return append(out, value[kept:]...)
}
