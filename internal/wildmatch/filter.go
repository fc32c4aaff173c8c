package wildmatch

// A Filter rejects most names that a glob does not match, by their length and their first
// and last bytes. It is small, so that many of them can be tried in little time.
type Filter struct {
	min                  uint8 // the minimum length, or less
	first, firstRelevant uint8 // the first byte, and which bits of it count
	last, lastRelevant   uint8
}

// Filter returns a filter for the glob.
func (g *Glob) Filter() Filter {
	f := Filter{min: uint8(min(g.min, 255))}
	f.first, f.firstRelevant = g.head.relevant(0, g.fold)
	end := &g.tail
	if !g.star {
		end = &g.head
	}
	f.last, f.lastRelevant = end.relevant(len(end.text)-1, g.fold)
	return f
}

// relevant returns the byte at i, and which bits of it a name must have.
func (s *segment) relevant(i int, fold bool) (b, bits uint8) {
	switch {
	case i < 0 || i >= len(s.text) || s.sets != nil && s.sets[i] != nil:
		return 0, 0
	case fold:
		return s.text[i], 0xff &^ ('a' - 'A')
	}
	return s.text[i], 0xff
}

// Pass reports whether the glob may match the name.
func (f *Filter) Pass(name string) bool {
	n := len(name)
	return n >= int(f.min) && (n == 0 || (name[0]^f.first)&f.firstRelevant == 0 && (name[n-1]^f.last)&f.lastRelevant == 0)
}
