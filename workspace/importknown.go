package workspace

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// known says in which sessions messages and conversations are that were imported before,
// so that they are found again.
type known struct {
	seed     maphash.Seed
	looked   map[string]bool // the sessions that were looked at
	sessions []string        // "" for one that a dry run would make
	numbers  map[string]int32
	first    map[uint64]int32 // a session with a message, by a number for its id
	others   map[uint64][]int32
	sources  map[string]int32 // the session with a conversation, by [sourceKey]
	says     map[uint64]uint64
}

func newKnown(seed maphash.Seed) *known {
	return &known{
		seed: seed, looked: map[string]bool{}, numbers: map[string]int32{}, first: map[uint64]int32{}, others: map[uint64][]int32{}, sources: map[string]int32{},
		says: map[uint64]uint64{},
	}
}

func sourceKey(format, id string) string { return format + "\x00" + id }

func (k *known) number(id string) uint64 { return maphash.String(k.seed, id) }

// look learns what there is in the workspace.
func (i *importer) look() error {
	i.known = newKnown(i.seed)
	if !Is(i.dir) {
		return nil
	}
	return i.read(i.ctx, func(v *view) error {
		i.known = newKnown(i.seed)
		i.dialect = v.index.Dialect()
		return i.news(v)
	})
}

// news learns of the sessions that were not there before.
func (i *importer) news(v *view) error {
	if err := v.whole(); err != nil {
		return err
	}
	var ids []string
	for _, e := range v.index.Entries() {
		if e.Kind() == session.Root && !i.known.looked[e.ID] {
			ids = append(ids, e.ID)
		}
	}
	outlines, err := v.outlineAll(ids)
	if err != nil {
		return err
	}
	for _, o := range outlines {
		i.known.learn(o)
	}
	return nil
}

// learn takes in a session, if it was imported.
func (k *known) learn(o *session.Outline) {
	k.looked[o.ID] = true
	sources := o.Own(ownSources)
	if sources == nil || o.Brief() {
		return
	}
	n := k.session(o.ID)
	gjson.ParseBytes(sources).ForEach(func(_, source gjson.Result) bool {
		if id := source.Get("id").Str; id != "" {
			k.sources[sourceKey(source.Get("format").Str, id)] = n
		}
		return true
	})
	for i := range o.Len() {
		k.message(k.number(o.MessageID(i)), n)
	}
}

// session returns the number of a session.
func (k *known) session(id string) int32 {
	n, ok := k.numbers[id]
	if !ok || id == "" {
		n = int32(len(k.sessions))
		k.sessions = append(k.sessions, id)
		k.numbers[id] = n
	}
	return n
}

// message takes down that a message is in a session.
func (k *known) message(id uint64, n int32) {
	switch first, taken := k.first[id]; {
	case !taken:
		k.first[id] = n
	case first != n && !slices.Contains(k.others[id], n):
		k.others[id] = append(k.others[id], n)
	}
}

// has reports whether a conversation is known.
func (k *known) has(f *convert.Format, id string) bool {
	_, ok := k.sources[sourceKey(f.Name, id)]
	return ok
}

// candidates are the sessions that may have the same messages, those that share the most
// ids with s first.
func (k *known) candidates(s *spool) []int32 {
	hits := map[int32]int{}
	hit := func(id string) {
		if id == "" {
			return
		}
		number := k.number(id)
		if n, ok := k.first[number]; ok {
			hits[n]++
		}
		for _, n := range k.others[number] {
			hits[n]++
		}
	}
	for _, m := range s.messages {
		hit(m.id)
		hit(m.copyOf)
	}
	if f := s.conv.Fork; f != nil {
		if n, ok := k.sources[sourceKey(s.format.Name, f.ID)]; ok {
			hits[n]++
		}
	}
	return slices.SortedFunc(maps.Keys(hits), func(a, b int32) int {
		return cmp.Or(cmp.Compare(hits[b], hits[a]), cmp.Compare(a, b))
	})
}

// stored takes down that s is in a session; a dry run has none for it.
func (k *known) stored(s *spool, id string, dry bool) {
	if id == "" && !dry {
		return
	}
	n := k.session(id)
	k.looked[id] = true
	if s.conv.ID != "" {
		k.sources[sourceKey(s.format.Name, s.conv.ID)] = n
	}
	for _, m := range s.messages {
		number := k.number(m.id)
		k.message(number, n)
		if dry {
			k.says[number] = m.says
		}
	}
}
