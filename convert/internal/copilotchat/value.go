package copilotchat

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A value is JSON of which members and elements can be changed. It is parsed only on the
// way to them; all else keeps its bytes.
type value struct {
	raw     []byte            // nil if it is parsed
	names   []string          // of an object, in order; nil for a list
	members map[string]*value // of an object; nil if it was removed
	list    []*value          // of a list

	id string // of a request that is known
	at int    // its place in the list
}

// parse parses an object or a list, and reports whether v is one.
func (v *value) parse() bool {
	if v.raw == nil {
		return true
	}
	r := gjson.ParseBytes(v.raw)
	switch {
	case r.IsObject():
		v.names, v.members = []string{}, map[string]*value{}
		r.ForEach(func(name, member gjson.Result) bool {
			v.put(nameOf(name), &value{raw: []byte(member.Raw)})
			return true
		})
	case r.IsArray():
		v.list = []*value{}
		r.ForEach(func(_, item gjson.Result) bool {
			v.list = append(v.list, &value{raw: []byte(item.Raw)})
			return true
		})
	default:
		return false
	}
	v.raw = nil
	return true
}

// child returns the member or the element with a name, nil if there is none.
func (v *value) child(name string) *value {
	if !v.parse() {
		return nil
	}
	if v.names != nil {
		return v.members[name]
	}
	if i, ok := v.index(name); ok && i < len(v.list) {
		return v.list[i]
	}
	return nil
}

// put sets a member or an element, and reports whether v can have it: a list can have one
// more than it has. A value without JSON is removed.
func (v *value) put(name string, to *value) bool {
	if to.raw != nil && len(to.raw) == 0 {
		v.drop(name)
		return true
	}
	if v.members != nil {
		if _, there := v.members[name]; !there {
			v.names = append(v.names, name)
		}
		v.members[name] = to
		return true
	}
	if !v.parse() {
		return false
	}
	if v.names != nil {
		return v.put(name, to)
	}
	i, ok := v.index(name)
	switch {
	case !ok || i > len(v.list):
		return false
	case i == len(v.list):
		v.list = append(v.list, to)
	default:
		v.list[i] = to
	}
	return true
}

// drop removes a member, and empties an element.
func (v *value) drop(name string) {
	if v.child(name) == nil {
		return
	}
	if v.names == nil {
		v.put(name, &value{raw: []byte("null")})
		return
	}
	v.members[name] = nil
}

func (v *value) index(name string) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0
}

// encode returns the JSON of v.
func (v *value) encode() []byte {
	if v.raw != nil {
		return v.raw
	}
	return v.append(nil)
}

func (v *value) append(b []byte) []byte {
	if v.raw != nil {
		return append(b, v.raw...)
	}
	if v.names == nil {
		b = append(b, '[')
		for i, item := range v.list {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	first := true
	for _, name := range v.names {
		member := v.members[name]
		if member == nil {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendName(b, name), ':')
		b = member.append(b)
	}
	return append(b, '}')
}

// nameOf returns the name that a JSON string states, a number as its digits. Half a surrogate pair
// becomes the three bytes that UTF-8 would have for it, because U+FFFD would make names equal that
// differ.
func nameOf(v gjson.Result) string {
	if v.Type != gjson.String || !strings.Contains(v.Raw, `\u`) {
		return v.String()
	}
	var b []byte
	start := 1 // of what is not decoded yet
	decode := func(end int) {
		var s string
		if json.Unmarshal([]byte(`"`+v.Raw[start:end]+`"`), &s) == nil {
			b = append(b, s...)
		}
	}
	for i := 1; i < len(v.Raw)-1; {
		switch c := unit(v.Raw[i:]); {
		case v.Raw[i] != '\\':
			i++
		case !utf16.IsSurrogate(c):
			i += 2
		case utf16.DecodeRune(c, unit(v.Raw[i+6:])) != utf8.RuneError:
			i += 12
		default:
			decode(i)
			b = append(b, 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f, 0x80|byte(c)&0x3f)
			i += 6
			start = i
		}
	}
	decode(len(v.Raw) - 1)
	return string(b)
}

// unit returns the value of the \uXXXX with which s begins, -1 if it does not.
func unit(s string) rune {
	if len(s) < 6 || s[:2] != `\u` {
		return -1
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// appendName appends a name of [nameOf] as a JSON string.
func appendName(b []byte, name string) []byte {
	if utf8.ValidString(name) {
		return append(b, rawjson.Compact(name)...)
	}
	b = append(b, '"')
	for i := 0; i < len(name); {
		if half := name[i:]; len(half) >= 3 && half[0] == 0xed && half[1] >= 0xa0 {
			b = fmt.Appendf(b, `\u%04x`, 0xd000|int(half[1]&0x3f)<<6|int(half[2]&0x3f))
			i += 3
			continue
		}
		_, size := utf8.DecodeRuneInString(name[i:])
		quoted := rawjson.Compact(name[i : i+size])
		b = append(b, quoted[1:len(quoted)-1]...)
		i += size
	}
	return append(b, '"')
}
