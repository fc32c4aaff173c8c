package wildmatch

import "strings"

// A Glob is a compiled pattern for one name. The zero value matches the empty name.
type Glob struct {
	head   segment   // at the beginning of the name
	middle []segment // in this order between the two
	tail   segment   // at the end
	star   bool      // any bytes between the segments; without it there is only head
	fold   bool
	min    int // the length of all segments
}

// A segment matches as many bytes as it has itself. Sets has nil for a byte of text that
// must be equal, and is nil itself if all must.
type segment struct {
	text string
	sets []*byteSet
}

// Match reports whether the glob matches the whole name, which has no slash.
func (g *Glob) Match(name string) bool {
	if !g.star {
		return len(name) == g.min && g.at(&g.head, name)
	}
	if len(name) < g.min {
		return false
	}
	end := len(name) - len(g.tail.text)
	if !g.at(&g.tail, name[end:]) || !g.at(&g.head, name) {
		return false
	}
	rest := name[len(g.head.text):end]
	for i := range g.middle {
		s := &g.middle[i]
		j := g.find(s, rest)
		if j < 0 {
			return false
		}
		rest = rest[j+len(s.text):]
	}
	return true
}

// Literal returns the only name that the glob matches, if there is one.
func (g *Glob) Literal() (name string, ok bool) {
	return g.head.text, !g.star && g.head.sets == nil && !g.fold
}

// at reports whether a segment matches the beginning of rest, which is long enough.
func (g *Glob) at(s *segment, rest string) bool {
	if s.sets == nil && !g.fold {
		return rest[:len(s.text)] == s.text
	}
	for i := range len(s.text) {
		b := rest[i]
		if s.sets != nil && s.sets[i] != nil {
			if !s.sets[i].has(b) {
				return false
			}
			continue
		}
		if g.fold {
			b = lower(b)
		}
		if b != s.text[i] {
			return false
		}
	}
	return true
}

// find returns the first index in rest at which a segment matches, or -1.
func (g *Glob) find(s *segment, rest string) int {
	if s.sets == nil && !g.fold {
		return strings.Index(rest, s.text)
	}
	for i := 0; i+len(s.text) <= len(rest); i++ {
		if g.at(s, rest[i:]) {
			return i
		}
	}
	return -1
}

// A globBuilder collects the parts of a glob.
type globBuilder struct {
	segments []segment // all but the current one
	text     []byte
	sets     []*byteSet
}

func (b *globBuilder) literal(c byte) {
	b.text = append(b.text, c)
	if b.sets != nil {
		b.sets = append(b.sets, nil)
	}
}

func (b *globBuilder) set(s *byteSet) {
	for len(b.sets) < len(b.text) {
		b.sets = append(b.sets, nil)
	}
	b.text, b.sets = append(b.text, 0), append(b.sets, s)
}

func (b *globBuilder) any() {
	var all byteSet
	for w := range all {
		all[w] = ^uint64(0)
	}
	b.set(&all)
}

func (b *globBuilder) star() {
	b.segments = append(b.segments, segment{string(b.text), b.sets})
	b.text, b.sets = nil, nil
}

func (b *globBuilder) build(fold bool) Glob {
	last := segment{string(b.text), b.sets}
	g := Glob{head: last, min: len(last.text), fold: fold}
	if len(b.segments) > 0 {
		g.star, g.head, g.tail = true, b.segments[0], last
		for i, s := range b.segments {
			g.min += len(s.text)
			if i > 0 && len(s.text) > 0 {
				g.middle = append(g.middle, s)
			}
		}
	}
	return g
}
