package jsondoc

import (
	"bytes"
	"encoding/json"
)

// Scan calls f for the members and elements of the document that starts with head, in order:
// with the path of member names, "" for an element, and the value, a json.Delim for an object
// or array, before its contents, nil if head ends before the value does. It stops at the end of
// head, which may be anywhere, or when f returns false. The paths are valid until f returns.
func Scan(head []byte, f func(path []string, value json.Token) bool) {
	s := &scanner{json.NewDecoder(bytes.NewReader(head)), f}
	s.d.UseNumber()
	s.value(nil)
}

type scanner struct {
	d *json.Decoder
	f func(path []string, value json.Token) bool
}

func (s *scanner) value(path []string) bool {
	t, err := s.d.Token()
	if err != nil {
		if len(path) > 0 {
			s.f(path, nil)
		}
		return false
	}
	if !s.f(path, t) {
		return false
	}
	open, ok := t.(json.Delim)
	if !ok {
		return true
	}
	for s.d.More() {
		name := ""
		if open == '{' {
			key, err := s.d.Token()
			if err != nil {
				return false
			}
			name, _ = key.(string)
		}
		if !s.value(append(path, name)) {
			return false
		}
	}
	_, err = s.d.Token()
	return err == nil
}

// Trim returns a path without its first name, if that is first.
func Trim(path []string, first string) []string {
	if len(path) > 0 && path[0] == first {
		return path[1:]
	}
	return path
}

// Match reports whether a path leads through the names; "*" is any.
func Match(path []string, names ...string) bool {
	if len(path) != len(names) {
		return false
	}
	for i, name := range names {
		if name != "*" && name != path[i] {
			return false
		}
	}
	return true
}
