package workspace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// A merging adds what is new of a conversation to a session.
type merging struct {
	i     *importer
	v     *view
	s     *spool
	dry   bool // nothing is to change
	there *session.Outline

	below   map[childKey]string // what they say, for what is a copy of some that are not there; nil if nothing is
	has     map[string]standing // the messages that are there, by their ids
	records map[uint64]bool     // the records that are there, by numbers for them
	names   map[string]string   // the ids that messages have there, where these are others
	wait    map[string]bool     // the ids that messages name as their parents, and that are not there
	base    string              // the message that the transcript goes on from and does not have, "" if there is none
}

// A standing message is what is known of one that is in the session.
type standing struct {
	says   uint64
	parent string // "" for none
}

// A childKey is a message as its parent knows it.
type childKey struct {
	parent string // "" for none
	says   uint64
}

// same looks at the session, and reports whether the conversation has a message that is
// there, other than of a system, or goes on from one, or has none that is not there.
func (m *merging) same() (same bool, err error) {
	if err := m.look(); err != nil {
		return false, err
	}
	m.names = map[string]string{}
	all := true
	for _, message := range m.s.messages {
		name := message.id
		there, taken := m.has[name]
		if of, ok := m.has[message.copyOf]; ok && message.copyOf != "" && of.says == message.says {
			there, taken, name = of, true, message.copyOf
		} else if id, ok := m.below[childKey{m.name(message.parent), message.says}]; ok && !taken && message.copyOf != "" {
			there, taken, name = m.has[id], true, id // it is a copy of a copy
		}
		if taken && there.says == message.says {
			same = same || !message.system
		} else if taken {
			raw, err := m.s.rawOf(message)
			if err != nil {
				return false, err
			}
			name = convert.ChainID(message.id, rawjson.Compact(session.Message{Raw: raw}.Text()))
		}
		if name != message.id {
			m.names[message.id] = name
		}
		_, taken = m.has[name]
		all = all && taken
	}
	return same || all || m.base != "", nil
}

// look reads the session.
func (m *merging) look() error {
	before, previous := m.recordsBefore(), ""
	m.has = make(map[string]standing, m.there.Len())
	m.records = map[uint64]bool{}
	if slices.ContainsFunc(m.s.messages, func(message spooled) bool { return message.copyOf != "" }) {
		m.below = map[childKey]string{}
	}
	err := m.v.folder.Each(m.there, func(_ int, message session.Message) error {
		records := convert.RecordsOf(message.Raw)
		parent := previous
		if says := gjson.GetBytes(message.Raw, "metadata.parent_id"); says.Exists() {
			parent = says.String()
		}
		previous = message.ID
		says := saysOf(m.i.seed, message.Raw)
		m.has[message.ID] = standing{says, parent}
		for _, r := range records {
			m.records[m.sum(r)] = true
		}
		if at := (childKey{parent, says}); m.below != nil && m.below[at] == "" {
			m.below[at] = message.ID
		}
		if before > 0 && len(records) > 0 {
			m.base = message.ID
		}
		before -= len(records)
		return m.v.ctx.Err()
	})
	m.wait = map[string]bool{}
	for _, message := range m.has {
		if _, ok := m.has[message.parent]; !ok && message.parent != "" {
			m.wait[message.parent] = true
		}
	}
	return err
}

// ring reports whether a message that is added with that parent would follow itself: by
// messages that are there and waited for it, and by added ones.
func (m *merging) ring(id, parent string, added map[string]string) bool {
	if !m.wait[id] {
		return false
	}
	for parent != "" && parent != id {
		next, ok := added[parent]
		if !ok {
			next = m.has[parent].parent
		}
		parent = next
	}
	return parent == id
}

// sum returns a number for a record.
func (m *merging) sum(record []byte) uint64 { return maphash.Bytes(m.i.seed, record) }

// recordsBefore returns how many records of messages of the session come before the
// conversation, 0 if none need to be counted. It sets base if that is known already.
func (m *merging) recordsBefore() int {
	f := m.s.conv.Fork
	if f == nil || f.Records == 0 {
		return 0
	}
	sources := gjson.ParseBytes(m.there.Own(ownSources)).Array()
	n := slices.IndexFunc(sources, func(s gjson.Result) bool { return s.Get("id").Str == f.ID })
	switch {
	case n < 0:
		return 0
	case f.Records == convert.AllRecords:
		m.base = sources[n].Get("leaf").String()
		return 0
	}
	return f.Records - len(sources[0].Get("records").Array())
}

// row adds what is new, and says so.
func (m *merging) row() (*Imported, error) {
	r := m.s.row(ImportUpdated)
	r.Session = ID(m.there.ID)
	for _, message := range m.s.messages {
		if !m.isThere(message) {
			r.Added++
		}
	}
	if r.Added == 0 {
		r.Status = ImportUnchanged
	}
	if r.Added == 0 || m.dry {
		return &r, nil
	}
	edit := m.there.Edit()
	var more []json.RawMessage // the records that came to messages that are there, which do not change
	added := map[string]string{}
	for n, message := range m.s.messages {
		if m.isThere(message) {
			came, err := m.came(message)
			if err != nil {
				return nil, err
			}
			more = append(more, came...)
			continue
		}
		id, parent := m.name(message.id), m.base
		if message.parent != "" {
			parent = m.name(message.parent)
		}
		if m.ring(id, parent, added) {
			m.s.problem(convert.Problem{What: fmt.Sprintf("the message %s follows itself; it is read as a beginning", id)})
			r.Problems = m.s.problemTexts()
			parent = ""
		}
		added[id] = parent
		raw, err := m.added(n, parent)
		if err != nil {
			return nil, err
		}
		edit.Append(convert.WithRecords(raw, more))
		more = nil
	}
	edit.SetMeta("message_count", m.there.Len()+r.Added)
	if title := m.s.conv.Title; title != "" && m.untouched() {
		edit.SetMeta("title", title)
	}
	edit.SetOwn(ownSources, m.sources())
	if last, ok := session.ParseTime(m.s.last); ok {
		if was, known := session.ParseTime(m.there.LastActive); !known || last.After(was) {
			edit.SetActive(m.s.last)
		}
	}
	return &r, m.v.replace(edit)
}

// untouched reports whether the session has the title that it was imported with, and the
// transcript is the one that it was imported from.
func (m *merging) untouched() bool {
	first := gjson.GetBytes(m.there.Own(ownSources), "0")
	title := m.there.Meta.Title
	return first.Get("id").Str == m.s.conv.ID && (title == first.Get("title").Str || title == m.s.said)
}

// name returns the id that a message of the transcript has in the session.
func (m *merging) name(id string) string { return cmp.Or(m.names[id], id) }

// isThere reports whether a message of the transcript is in the session.
func (m *merging) isThere(message spooled) bool {
	_, ok := m.has[m.name(message.id)]
	return ok
}

// came returns the records that came to a message since it was stored, which was of the
// same transcript: another one, such as a copy to go on with, has none of its records.
func (m *merging) came(message spooled) (came []json.RawMessage, err error) {
	raw, err := m.s.rawOf(message)
	if err != nil {
		return nil, err
	}
	records := convert.RecordsOf(raw)
	for _, record := range records {
		if !m.records[m.sum(record)] {
			came = append(came, record)
		}
	}
	if len(came) == len(records) {
		return nil, nil
	}
	return came, nil
}

// added returns message n as it goes into the session, below parent.
func (m *merging) added(n int, parent string) ([]byte, error) {
	raw, err := m.s.raw(n)
	if err != nil {
		return nil, err
	}
	if id := m.s.messages[n].id; m.name(id) != id {
		raw = setRaw(raw, "id", rawjson.Compact(m.name(id)))
	}
	if len(m.v.index.Continuations(m.there.ID)) > 0 {
		raw = setRaw(raw, "metadata.bough."+ownContinued, []byte("true"))
	}
	return convert.Below(raw, parent, nowhere)
}

// nowhere is the id of no message: what follows it says what it answers.
const nowhere = "\x00"

// sources says of which conversations the session is, now that s is one of them.
func (m *merging) sources() []byte {
	var list [][]rawjson.Pair
	replaced := false
	for _, source := range gjson.ParseBytes(m.there.Own(ownSources)).Array() {
		raw := []byte(source.Raw)
		pairs := rawjson.Pairs(raw, rawjson.Root(raw))
		if source.Get("id").Str == m.s.conv.ID && source.Get("format").Str == m.s.format.Name {
			pairs, replaced = m.s.source(), true
		}
		list = append(list, pairs)
	}
	if !replaced {
		list = append(list, m.s.source())
	}
	return rawjson.AppendObjects(nil, list, 3)
}
