package bookmark

import "slices"

// Revert returns the content now of the file without the change from before to
// after, and keeps bookmarks that were added, moved or removed later. before is
// nil if the file did not exist. ok is false if a bookmark of the change was
// changed again.
func Revert(now, before, after []byte) (data []byte, ok bool) {
	f, err := Decode(now)
	if err != nil {
		return nil, false
	}
	was, err := Decode(before)
	if err != nil {
		return nil, false
	}
	is, err := Decode(after)
	if err != nil {
		return nil, false
	}
	edit := func(edited []byte) {
		if f, err = Decode(edited); err != nil {
			panic("bookmark: " + err.Error())
		}
	}
	for _, b := range is.Bookmarks {
		if slices.Contains(was.Bookmarks, b) {
			continue
		}
		i := slices.Index(f.Bookmarks, b)
		if i < 0 {
			return nil, false
		}
		if old := was.Labelled(b.Label); len(old) > 0 {
			edit(f.Replace(i, was.Bookmarks[old[0]]))
		} else {
			edit(f.Remove(i))
		}
	}
	for i, b := range was.Bookmarks {
		switch {
		case len(is.Labelled(b.Label)) > 0:
		case len(f.Labelled(b.Label)) > 0:
			return nil, false
		default:
			edit(f.add(was.elements[i].Of(was.data)))
		}
	}
	return f.data, true
}
