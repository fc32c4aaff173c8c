package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// ownSources is the member of metadata.bough of a session that says which conversations
// of other programs it was imported from.
const ownSources = "sources"

// row begins what is said of s.
func (s *spool) row(status ImportStatus) Imported {
	r := Imported{
		Path: s.path, Format: s.format.Name, Messages: len(s.messages), Status: status,
		Title: cmp.Or(s.conv.Title, s.said), Problems: s.problemTexts(),
	}
	r.Branches, r.Orphans = endsOf(s.links())
	return r
}

// mostProblems is how many problems of one conversation are told.
const mostProblems = 20

func (s *spool) problem(p convert.Problem) {
	if s.troubles++; len(s.problems) < mostProblems {
		s.problems = append(s.problems, p)
	}
}

func (s *spool) problemTexts() (texts []string) {
	for _, p := range s.problems {
		text := p.What
		switch {
		case p.Line > 0:
			text = fmt.Sprintf("line %d: %s", p.Line, text)
		case p.Offset > 0:
			text = fmt.Sprintf("offset %d: %s", p.Offset, text)
		}
		texts = append(texts, text)
	}
	if more := s.troubles - len(s.problems); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return texts
}

// one stores a conversation, or says what would come of it where nothing is to change; v
// is nil if there is no workspace. A session that it would be added to and that is
// damaged is what came of it; any other error concerns more than one.
func (i *importer) one(v *view, s *spool) (Imported, error) {
	r, err := i.merged(v, s, i.o.DryRun)
	if err == nil && r == nil {
		r, err = i.created(v, s)
	}
	var damage *session.DamageError
	switch {
	case errors.As(err, &damage):
		failed := s.row(ImportFailed)
		failed.Detail = err.Error()
		return failed, nil
	case err != nil:
		return Imported{}, err
	}
	return *r, nil
}

// created makes a session of a conversation.
func (i *importer) created(v *view, s *spool) (*Imported, error) {
	if f := s.conv.Fork; f != nil && f.Records > 0 {
		s.problem(convert.Problem{What: fmt.Sprintf("it goes on from the conversation %s, which is not here: import that first", f.ID)})
		for n := range s.messages {
			if s.messages[n].parent == "" && s.messages[n].parentAt > 0 {
				s.messages[n].parent = f.ID
			}
		}
	}
	r := s.row(ImportNew)
	r.Added = len(s.messages)
	if i.o.DryRun {
		return &r, nil
	}
	d, err := v.imported(s)
	if err != nil {
		return nil, err
	}
	r.Session = ID(d.ID)
	return &r, v.create(d)
}

// imported decides what the session of a conversation holds.
func (v *view) imported(s *spool) (d *session.Document, err error) {
	dialect := v.index.Dialect()
	d = &session.Document{CreatedAt: s.first, Messages: s.runs()}
	created := s.conv.Created
	if created.IsZero() {
		created, _ = session.ParseTime(s.first)
	}
	if created.IsZero() {
		created = v.opts.Now()
	}
	d.CreatedAt = dialect.Time(created)
	d.LastActive = cmp.Or(s.last, d.CreatedAt)
	title := cmp.Or(s.conv.Title, s.said)
	if of := s.conv.Session; of != nil {
		d.Records = of.Records()
		d.CreatedAt, d.LastActive = cmp.Or(of.CreatedAt, d.CreatedAt), cmp.Or(of.LastActive, d.LastActive)
		title = s.conv.Title
		if id := s.conv.ID; session.ValidID(id) && v.index.Entry(id) == nil && v.index.Err(id) == nil {
			d.ID = id
		}
	}
	if d.ID == "" {
		if d.ID, err = v.newIDAt(created); err != nil {
			return nil, err
		}
	}
	d.Metadata = newMetadata(dialect, title, len(s.messages))
	own := []rawjson.Pair{{Key: ownSources, Value: rawjson.AppendObjects(nil, [][]rawjson.Pair{s.source()}, 3)}}
	d.Metadata = append(d.Metadata, rawjson.Pair{Key: "bough", Value: rawjson.AppendObject(nil, own, 2)})
	return d, nil
}

// source says of which conversation s is.
func (s *spool) source() []rawjson.Pair {
	pairs := []rawjson.Pair{{Key: "format", Value: rawjson.Compact(s.format.Name)}}
	for _, m := range []struct{ key, value string }{
		{"id", s.conv.ID}, {"path", s.path}, {"title", s.conv.Title}, {"directory", s.conv.Dir},
		{"version", s.conv.Version}, {"model", s.conv.Model}, {"leaf", s.conv.Leaf},
	} {
		if m.value != "" {
			pairs = append(pairs, rawjson.Pair{Key: m.key, Value: rawjson.Compact(m.value)})
		}
	}
	if len(s.conv.Records) > 0 {
		pairs = append(pairs, rawjson.Pair{Key: "records", Value: convert.Records(s.conv.Records)})
	}
	return pairs
}

// merged adds what is new of a conversation to the session that has some of it already.
// With dry it only says so. It returns nil if none has.
func (i *importer) merged(v *view, s *spool, dry bool) (*Imported, error) {
	for _, n := range i.known.candidates(s) {
		id := i.known.sessions[n]
		if id == "" {
			if r := i.planned(s); r != nil {
				return r, nil
			}
			continue
		}
		if v.index.Entry(id) == nil || v.kind(id) != session.Root {
			continue // it is gone meanwhile
		}
		o, err := v.outline(id)
		if err != nil {
			return nil, err
		}
		m := &merging{i: i, v: v, s: s, dry: dry, there: o}
		same, err := m.same()
		if err != nil {
			return nil, err
		}
		if same {
			return m.row()
		}
	}
	return nil, nil
}

// planned says what would come of a conversation that shares messages with one that this
// dry run would have stored.
func (i *importer) planned(s *spool) *Imported {
	added, same := 0, false
	for _, m := range s.messages {
		switch says, ok := i.known.says[i.known.number(m.id)]; {
		case ok && says == m.says:
			same = same || !m.system
		case m.copyOf != "" && i.known.says[i.known.number(m.copyOf)] == m.says:
			same = true
		default:
			added++
		}
	}
	if !same {
		return nil
	}
	r := s.row(ImportUpdated)
	if r.Added = added; added == 0 {
		r.Status = ImportUnchanged
	}
	return &r
}

// A merging adds what is new of a conversation to a session.
type merging struct {
	i     *importer
	v     *view
	s     *spool
	dry   bool // nothing is to change
	there *session.Outline

	has   map[string]standing // the messages that are there, by their ids
	names map[string]string   // the ids that messages have there, where these are others
	base  string              // the message that the transcript goes on from and does not have, "" if there is none
}

// A standing message is what is known of one that is in the session.
type standing struct {
	says    uint64
	records int    // how many it has
	sum     uint64 // a number for them
}

// same looks at the session, and reports whether the conversation has a message that is
// there, other than of a system, or goes on from one.
func (m *merging) same() (same bool, err error) {
	if err := m.look(); err != nil {
		return false, err
	}
	m.names = map[string]string{}
	for _, message := range m.s.messages {
		name := message.id
		there, taken := m.has[name]
		if of, ok := m.has[message.copyOf]; ok && message.copyOf != "" && of.says == message.says {
			there, taken, name = of, true, message.copyOf
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
	}
	return same || m.base != "", nil
}

// look reads the session.
func (m *merging) look() error {
	before := m.recordsBefore()
	m.has = make(map[string]standing, m.there.Len())
	return m.v.folder.Each(m.there, func(_ int, message session.Message) error {
		records := recordsOf(message.Raw)
		m.has[message.ID] = standing{saysOf(m.i.seed, message.Raw), len(records), m.sum(records)}
		if before > 0 && len(records) > 0 {
			m.base = message.ID
		}
		before -= len(records)
		return m.v.ctx.Err()
	})
}

// sum returns a number for records.
func (m *merging) sum(records [][]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(m.i.seed)
	for _, r := range records {
		h.Write(r)
		h.WriteByte('\n')
	}
	return h.Sum64()
}

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
	edit := m.there.Edit()
	last := -1 // the message before, if that is there
	for n, message := range m.s.messages {
		if _, ok := m.has[m.name(message.id)]; ok {
			last = n
			continue
		}
		raw, err := m.added(n, last)
		if err != nil {
			return nil, err
		}
		edit.Append(raw)
		r.Added++
		last = -1
	}
	if r.Added == 0 {
		r.Status = ImportUnchanged
		return &r, nil
	}
	if m.dry {
		return &r, nil
	}
	edit.SetMeta("message_count", m.there.Len()+r.Added)
	edit.SetOwn(ownSources, m.sources())
	if last, ok := session.ParseTime(m.s.last); ok {
		if was, known := session.ParseTime(m.there.LastActive); !known || last.After(was) {
			edit.SetActive(m.s.last)
		}
	}
	return &r, m.v.replace(edit)
}

// name returns the id that a message of the transcript has in the session.
func (m *merging) name(id string) string { return cmp.Or(m.names[id], id) }

// added returns message n as it goes into the session. Records that came to the message
// before it, which is there and does not change, if last is not negative, go with it.
func (m *merging) added(n, last int) ([]byte, error) {
	message := m.s.messages[n]
	raw, err := m.s.raw(n)
	if err != nil {
		return nil, err
	}
	if name := m.name(message.id); name != message.id {
		raw = setRaw(raw, "id", rawjson.Compact(name))
	}
	if last >= 0 {
		before, err := m.s.rawOf(m.s.messages[last])
		if err != nil {
			return nil, err
		}
		there, records := m.has[m.name(m.s.messages[last].id)], recordsOf(before)
		if len(records) > there.records && m.sum(records[:there.records]) == there.sum {
			raw = withRecords(raw, records[there.records:])
		}
	}
	parent := m.base
	if message.parent != "" {
		parent = m.name(message.parent)
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
