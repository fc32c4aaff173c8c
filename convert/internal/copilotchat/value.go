package copilotchat

import (
	"strconv"

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
			v.put(name.String(), &value{raw: []byte(member.Raw)})
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
		b = append(append(b, rawjson.Compact(name)...), ':')
		b = member.append(b)
	}
	return append(b, '}')
}
