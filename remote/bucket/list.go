package bucket

import (
	"slices"
	"strings"
)

// Select returns those of objects that o selects, ascending and each once. It drops invalid names,
// and accepts names that end in a slash, which a store has shortened already.
func (o ListOptions) Select(objects []Object) []Object {
	var list []Object
	for _, object := range objects {
		if !validName(strings.TrimSuffix(object.Name, "/")) || !strings.HasPrefix(object.Name, o.Prefix) {
			continue
		}
		if i := strings.IndexByte(object.Name[len(o.Prefix):], '/'); o.Shallow && i >= 0 {
			object = Object{Name: object.Name[:len(o.Prefix)+i+1]}
		} else if strings.HasSuffix(object.Name, "/") {
			continue
		}
		if object.Name > o.After {
			list = append(list, object)
		}
	}
	slices.SortFunc(list, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b Object) bool { return a.Name == b.Name })
}
