package importer

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// known records which sessions have which imported or exported messages and
// conversations.
type known struct {
	seed     maphash.Seed
	looked   map[string]bool // the sessions that were read
	sessions []string        // by number; "" for a session that a dry run would create, or that is staged
	numbers  map[string]int32
	first    map[uint64]int32 // a session with a message, by a hash of its id
	others   map[uint64][]int32
	sources  map[string][]int32 // the sessions with a conversation, by [SourceKey]
	says     map[uint64]uint64  // in a dry run: a hash of role and text of a message, by a hash of its id
	exports  *exports
}

func newKnown(seed maphash.Seed) *known {
	return &known{
		seed: seed, looked: map[string]bool{}, numbers: map[string]int32{}, first: map[uint64]int32{}, others: map[uint64][]int32{}, sources: map[string][]int32{},
		says: map[uint64]uint64{}, exports: &exports{},
	}
}

// SourceKey returns the key of a conversation of another program.
func SourceKey(format, id string) string { return format + "\x00" + id }

func (k *known) number(id string) uint64 { return maphash.String(k.seed, id) }

// look reads the workspace before the first conversation is stored.
func (i *importer) look() (err error) {
	if i.known != nil {
		return nil
	}
	if !store.Is(i.store.Dir) {
		i.known = newKnown(i.seed)
		return nil
	}
	i.known, err = store.Read(i.ctx, i.store, func(v *store.View) (k *known, err error) {
		k = newKnown(i.seed)
		if i.exported { // the spools compute digests only then
			if k.exports, err = readExports(v.Root); err != nil {
				return k, err
			}
		}
		return k, k.news(v)
	})
	return err
}

// news adds the new sessions. It can be called repeatedly.
func (k *known) news(v *store.View) error {
	if err := v.Whole(); err != nil {
		return err
	}
	var ids []string
	for _, e := range v.Index.Entries() {
		if kind := e.Kind(); (kind == session.Root || kind == session.Branch) && !k.looked[e.ID] {
			ids = append(ids, e.ID)
		}
	}
	outlines, err := v.OutlineAll(ids)
	if err != nil {
		return err
	}
	for _, o := range outlines {
		if !k.learn(o) || len(v.Index.Continuations(o.ID)) == 0 {
			continue
		}
		ids, err := v.LineIDs(o.ID)
		if err != nil {
			continue // an import into this line reports the damage
		}
		parts, err := v.OutlineAll(ids[1:])
		if err != nil {
			continue
		}
		for _, part := range parts {
			k.learnMessages(part, k.session(o.ID))
		}
	}
	return nil
}

// learn adds a session if it was imported, and reports whether it was.
func (k *known) learn(o *session.Outline) bool {
	k.looked[o.ID] = true
	sources := o.Own(OwnSources)
	if sources == nil || o.Brief() {
		return false
	}
	n := k.session(o.ID)
	gjson.ParseBytes(sources).ForEach(func(_, source gjson.Result) bool {
		if id := source.Get("id").Str; id != "" {
			k.source(SourceKey(source.Get("format").Str, id), n)
		}
		return true
	})
	k.learnMessages(o, n)
	return true
}

func (k *known) learnMessages(o *session.Outline, n int32) {
	for i := range o.Len() {
		k.message(k.number(o.MessageID(i)), n)
	}
}

// session returns the number of a session, which may be new.
func (k *known) session(id string) int32 {
	n, ok := k.numbers[id]
	if !ok || id == "" {
		n = int32(len(k.sessions))
		k.sessions = append(k.sessions, id)
		k.numbers[id] = n
	}
	return n
}

// source records that a session has a conversation.
func (k *known) source(key string, n int32) {
	if !slices.Contains(k.sources[key], n) {
		k.sources[key] = append(k.sources[key], n)
	}
}

// message records that a session has a message.
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
	_, ok := k.sources[SourceKey(f.Name, id)]
	return ok
}

// candidates returns the sessions that may be the conversation: those it was
// imported into, then those it was exported from, then those with most of its
// message ids.
func (k *known) candidates(s *Spool) []int32 {
	const certain = 1 << 40
	hits := map[int32]int64{}
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
	for i := range s.messages {
		hit(s.messages[i].id)
		hit(s.messages[i].copyOf)
	}
	if f := s.conv.Fork; f != nil {
		for _, n := range k.sources[SourceKey(s.format.Name, f.ID)] {
			hits[n]++
		}
	}
	if e := k.exports.of(s); e != nil {
		hits[k.session(e.session)] += certain
	}
	if s.conv.ID != "" {
		for _, n := range k.sources[SourceKey(s.format.Name, s.conv.ID)] {
			hits[n] += 2 * certain
		}
	}
	return slices.SortedFunc(maps.Keys(hits), func(a, b int32) int {
		return cmp.Or(cmp.Compare(hits[b], hits[a]), cmp.Compare(a, b))
	})
}

// stage records the messages of a conversation that is about to be stored. It
// returns the number of the session, whose id is not known yet.
func (k *known) stage(s *Spool) int32 {
	n := k.session("")
	k.learnSpool(s, n, false)
	return n
}

// stored records the id of the session with number n.
func (k *known) stored(s *Spool, n int32, id string, dry bool) {
	if id == "" && !dry {
		return
	}
	k.sessions[n] = id
	if _, taken := k.numbers[id]; !taken {
		k.numbers[id] = n
	}
	k.looked[id] = true
	k.learnSpool(s, n, dry)
}

func (k *known) learnSpool(s *Spool, n int32, dry bool) {
	if s.conv.ID != "" {
		k.source(SourceKey(s.format.Name, s.conv.ID), n)
	}
	for i := range s.messages {
		number := k.number(s.messages[i].id)
		k.message(number, n)
		if dry {
			k.says[number] = s.messages[i].says
		}
	}
}
