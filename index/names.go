package index

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bough-dev/bough/session"
)

// A name is a key for looking up sessions.
type name struct {
	kind byte
	text string
}

// The kinds of names.
const (
	ownID     = 'i'
	ownTitle  = 't' // with folded case
	continues = 'c' // the session that it continues
	copies    = 's' // the session in a snapshot's continued_from
	branches  = 'b' // the origin of a session without a continued_from
	endsAt    = 'e' // the branch point of a checkpoint
	imported  = 'v' // a conversation of another program that it was imported from
	begunBy   = 'g' // the conversation that began that one, see [Source]
	automatic = 'a' // of each automatic checkpoint, with an empty text
)

// names returns the keys under which e can be looked up.
func (e *Entry) names() []name {
	list := []name{{ownTitle, fold(e.DisplayTitle())}}
	if e.Kind() == session.Checkpoint {
		list = append(list, name{endsAt, e.BranchPoint})
		if e.Auto {
			list = append(list, name{kind: automatic})
		}
	}
	for _, s := range e.Sources {
		list = append(list, name{imported, sourceName(s.Format, s.ID)})
		if s.BegunBy != "" && e.Kind() == session.Root {
			list = append(list, name{begunBy, sourceName(s.Format, s.BegunBy)})
		}
	}
	switch {
	case e.Origin() == "":
	case len(e.ContinuedFrom) == 0:
		list = append(list, name{branches, e.Origin()})
	case e.Kind() == session.Continuation:
		list = append(list, name{continues, e.ContinuedFrom[0]})
	default:
		list = append(list, name{copies, e.ContinuedFrom[0]})
	}
	return list
}

// register adds a session to the look-up tables of its names.
func (x *Index) register(id string, names []name) {
	for _, n := range names {
		x.names[n] = append(x.names[n], id)
	}
}

// withName returns the sessions that have the name n, and possibly others.
func (x *Index) withName(n name) []string {
	ids := x.remembered(n)
	if x.names == nil {
		x.names = make(map[name][]string, 2*len(x.entries))
		for _, e := range x.entries {
			if e != nil {
				x.register(e.ID, e.names())
			}
		}
		if x.last != nil {
			for id, r := range x.last.recent {
				x.register(id, r.names)
			}
		}
	}
	ids = append(ids, x.names[n]...)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Titled returns the sessions with that [Entry.DisplayTitle], oldest first,
// followed by those that cannot be used.
func (x *Index) Titled(title string) ([]string, error) {
	return x.matching(x.withName(name{ownTitle, fold(title)}), func(e *Entry) bool { return e.DisplayTitle() == title })
}

// TitledFold is [Index.Titled] without regard to case, as in [strings.EqualFold].
func (x *Index) TitledFold(title string) ([]string, error) {
	return x.matching(x.withName(name{ownTitle, fold(title)}), func(e *Entry) bool { return strings.EqualFold(e.DisplayTitle(), title) })
}

// CheckpointsAt returns the checkpoints whose branch point is a message, oldest first.
func (x *Index) CheckpointsAt(message string) ([]*Entry, error) {
	return x.checkpoints(name{endsAt, message}, func(e *Entry) bool { return e.BranchPoint == message })
}

// AutoCheckpoints returns the automatic checkpoints, oldest first.
func (x *Index) AutoCheckpoints() ([]*Entry, error) {
	return x.checkpoints(name{kind: automatic}, func(e *Entry) bool { return e.Auto })
}

// Imported returns the sessions that were imported from a conversation of another program:
// roots, oldest first, followed by branches.
func (x *Index) Imported(format, id string) []*Entry {
	is := func(s Source) bool { return s.Format == format && s.ID == id }
	list := x.sourced(name{imported, sourceName(format, id)}, is)
	slices.SortStableFunc(list, func(a, b *Entry) int { return cmp.Compare(kindOrder(a), kindOrder(b)) })
	return list
}

func kindOrder(e *Entry) int {
	if e.Kind() == session.Root {
		return 0
	}
	return 1
}

// BegunBy returns the sessions of sub-agents that a conversation of another program began,
// directly or through another sub-agent, oldest first.
func (x *Index) BegunBy(format, id string) []*Entry {
	list := x.sourced(name{begunBy, sourceName(format, id)}, func(s Source) bool { return s.Format == format && s.BegunBy == id })
	return slices.DeleteFunc(list, func(e *Entry) bool { return e.Kind() != session.Root })
}

// sourced returns those sessions with the name n that have a matching source, oldest first.
func (x *Index) sourced(n name, is func(Source) bool) (list []*Entry) {
	for _, id := range x.withName(n) {
		if e := x.entry(id); e != nil && e.Err == nil && slices.ContainsFunc(e.Sources, is) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, byAge)
	return list
}

// sourceName is the text of a name for a conversation of another program.
func sourceName(format, id string) string { return format + "\x00" + id }

// checkpoints returns the checkpoints with the name n that match, oldest first.
func (x *Index) checkpoints(n name, match func(*Entry) bool) (list []*Entry, err error) {
	ids, err := x.matching(x.withName(n), func(e *Entry) bool { return e.Err == nil && e.Kind() == session.Checkpoint && match(e) })
	for _, id := range ids {
		list = append(list, x.entries[id])
	}
	return list, err
}

// fold maps strings that are equal under [strings.EqualFold] to the same string.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s) // in ASCII the least of the letters that are equal
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return unicode.ToUpper(r)
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// IDs returns the ids of all sessions, in no order; some may be deleted.
func (x *Index) IDs() []string {
	ids := x.rememberedWith("")
	for id := range x.entries {
		ids = append(ids, id)
	}
	return ids
}

// Containing returns the sessions whose id contains piece, oldest first, followed
// by those that cannot be used.
func (x *Index) Containing(piece string) ([]string, error) {
	ids := x.rememberedWith(piece)
	for id := range x.entries {
		if strings.Contains(id, piece) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return x.matching(slices.Compact(ids), func(e *Entry) bool { return strings.Contains(e.ID, piece) })
}

// matching returns those of ids that match: oldest first, followed by those that
// cannot be used, by id.
func (x *Index) matching(ids []string, match func(*Entry) bool) ([]string, error) {
	var list []*Entry
	for _, id := range ids {
		if e := x.entry(id); e != nil && match(e) {
			list = append(list, e)
		}
	}
	if x.failed != nil {
		return nil, x.failed
	}
	slices.SortFunc(list, func(a, b *Entry) int {
		switch {
		case a.Err != nil && b.Err != nil:
			return cmp.Compare(a.ID, b.ID)
		case a.Err != nil:
			return 1
		case b.Err != nil:
			return -1
		}
		return byAge(a, b)
	})
	return idsOf(list), nil
}
