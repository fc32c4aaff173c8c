package importer

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// merged adds new messages of a conversation to its line, those of one file,
// since an operation changes one file. more reports whether other files must
// follow. With dry it only returns the row. The row is nil if no line has the
// conversation.
func (i *importer) merged(tx *store.Tx, s *Spool, dry bool) (r *imports.Transcript, more bool, err error) {
	export := i.known.exports.of(s)
	var found []*merging
	var frozen *merging // the checkpoint that was exported, if its branches differ only in content
	for _, n := range i.known.candidates(s) {
		id := i.known.sessions[n]
		if id == "" {
			if i.o.DryRun {
				if r := i.planned(s); r != nil {
					return r, false, nil
				}
			}
			continue
		}
		exported := export != nil && export.session == id
		switch kindIf(tx.View, id) {
		case session.Root, session.Branch:
		case session.Checkpoint:
			if !exported {
				continue
			}
		default:
			continue // removed meanwhile
		}
		m := &merging{i: i, v: tx, s: s, dry: dry, export: export, exported: exported}
		if m.line, err = tx.View.Line(id, false); err != nil {
			return nil, false, err
		}
		if err := m.load(); err != nil {
			return nil, false, err
		}
		if err := m.identify(); err != nil {
			return nil, false, err
		}
		switch {
		case frozen != nil:
			if m.isBranchOf(export.session) && m.extendsExport() {
				return m.apply()
			}
		case m.certain() && s.conv.Anonymous && tx.View.Kind(id) == session.Checkpoint:
			frozen = m
		case m.certain():
			return m.apply()
		case s.conv.Inline && m.hasAll():
			r := s.result(imports.Unchanged)
			r.Session, r.Tip = session.ID(id), session.ID(s.tip())
			return &r, false, nil
		case m.mixes():
		case !m.same():
		case s.conv.Anonymous:
			found = append(found, m)
		default:
			return m.apply()
		}
	}
	if frozen != nil {
		return frozen.apply()
	}
	if len(found) == 1 {
		return found[0].apply()
	}
	return nil, false, nil // unknown or ambiguous
}

// mixes reports whether the line must not get the messages of the transcript although it may
// have some of them: one of the two is the conversation of a sub-agent, which may begin with
// messages of the conversation that began it, but is no branch of that.
func (m *merging) mixes() bool {
	return m.s.conv.BegunBy != "" || slices.ContainsFunc(m.sources, func(s gjson.Result) bool { return s.Get("begun_by").Exists() })
}

// hasAll reports whether the line has all messages of the transcript, and is no conversation of a
// sub-agent: an earlier version of bough read them as a part of it.
func (m *merging) hasAll() bool {
	for n := range m.s.messages {
		if !m.isThere(&m.s.messages[n]) {
			return false
		}
	}
	return !slices.ContainsFunc(m.sources, func(s gjson.Result) bool { return s.Get("begun_by").Exists() })
}

// kindIf returns the kind of a session, "" if it does not exist.
func kindIf(v *store.View, id string) session.Kind {
	if v.Index.Entry(id) == nil && !v.IsPenguin(id) {
		return ""
	}
	return v.Kind(id)
}

// A merging adds the new messages of a conversation to a line.
type merging struct {
	i        *importer
	v        *store.Tx
	s        *Spool
	dry      bool          // change nothing
	export   *exportRecord // the export that the transcript began as, nil if there is none
	exported bool          // the transcript was exported from the line
	line     *store.Line
	tail     *tail // the transcript has only the messages at its end; nil if it has all

	sources []gjson.Result      // of the line; see [ownSources]
	own     int                 // index of the transcript in sources, -1 if it was not imported into the line
	list    []existing          // messages of the line, by node
	records int                 // how many records the messages of the transcript's format have
	missing map[string]bool     // parent ids that are missing in the line
	below   map[childKey]string // message ids by hash of content; nil if the transcript has no copies
	carried map[string]string   // for ids of records without a message: the message before their successors

	names map[string]string // the ids in the line of messages of the transcript, where they differ
	sure  map[string]bool   // messages of the transcript that were exported from the line
	base  string            // the message of the line before the first of the transcript, "" for none
	roots map[string]bool   // new messages in a cycle; see [merging.breakCycles]
	stale bool              // the transcript is an older copy and adds nothing

	recorded bool // the record of the transcript is written
}

// An existing message is a message of the line.
type existing struct {
	id          string
	node        int
	part, index int
	parent      string // "" for none
	names       string // the missing message in parent_id, "" for none
	says        uint64
	records     uint64 // see [sumOf]
	native      bool   // imported from a transcript of the same format
	answer      bool
	derived     bool // it has no record of its own
	guessed     bool // see [convert.Message]
	open        bool
	joined      string // "" for none
	replaced    bool   // it has [session.OwnReplacedBy]
	orphan      bool
}

// A childKey identifies a message by its parent and a hash of its content.
type childKey struct {
	parent string // "" for none
	says   uint64
}

// load reads the line.
func (m *merging) load() error {
	l := m.line
	m.sources, m.own = gjson.ParseBytes(l.Parts[0].Own(OwnSources)).Array(), -1
	for n, source := range m.sources {
		if m.isSource(source) {
			m.own = n
		}
	}
	m.list, m.missing, m.carried = make([]existing, l.Len()), map[string]bool{}, map[string]string{}
	for n := range m.s.messages {
		if m.s.messages[n].copyOf != "" {
			m.below = map[childKey]string{}
			break
		}
	}
	at := make([][]int, len(l.Parts)) // the node of each message, by file
	for p, part := range l.Parts {
		at[p] = slices.Repeat([]int{-1}, part.Len())
	}
	for n := range l.Len() {
		at[l.Part(n)][l.Index(n)] = n
	}
	before := m.recordsBefore()
	for p, part := range l.Parts {
		err := m.v.View.Folder.Each(part, func(i int, message session.Message) error {
			if n := at[p][i]; n >= 0 {
				records := m.take(n, message)
				if before > 0 && records > 0 {
					m.base = message.ID
				}
				before -= records
			}
			return m.v.View.Ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isSource reports whether source is the transcript: it has its id or, if the
// transcript has none, its path.
func (m *merging) isSource(source gjson.Result) bool {
	id := source.Get("id").Str
	if source.Get("format").Str != m.s.format.Name {
		return false
	}
	if id != m.s.conv.ID { // earlier versions of bough knew a sub-agent of Claude Code by its own id alone
		return m.s.conv.ID == m.s.conv.BegunBy+"/"+id && source.Get("path").Str == m.s.path
	}
	return id != "" || m.s.path != "-" && source.Get("path").Str == m.s.path && int(source.Get("number").Int()) == m.s.number
}

// take reads the message at a node, and returns its number of records.
func (m *merging) take(n int, message session.Message) int {
	records := records.Of(message.Raw)
	own := gjson.GetBytes(message.Raw, "metadata.bough")
	e := existing{
		id: m.line.ID(n), node: n, part: m.line.Part(n), index: m.line.Index(n),
		says: saysOf(m.i.seed, message.Raw), native: own.Get("source.format").Str == m.s.format.Name,
		answer:  gjson.GetBytes(message.Raw, "role").Str == "assistant",
		guessed: own.Get("source.guessed").Bool(),
		open:    own.Get(session.OwnOpen).Bool(), replaced: own.Get(session.OwnReplacedBy).Exists(), orphan: m.line.Orphan(n),
	}
	if p := m.line.Parent(n); p >= 0 {
		e.parent = m.line.ID(p)
	}
	if e.orphan || m.line.Joined(n) {
		e.joined = strings.Clone(own.Get(session.OwnJoined).Str)
		e.names = strings.Clone(gjson.GetBytes(message.Raw, "metadata.parent_id").String())
		e.parent = cmp.Or(e.parent, e.names)
		m.missing[e.names] = true
	}
	e.derived = e.native && len(records) == 0
	if e.native {
		m.records += len(records)
		e.records = sumOf(m.i.seed, records)
	}
	m.list[n] = e
	if key := (childKey{e.parent, e.says}); m.below != nil && m.below[key] == "" {
		m.below[key] = e.id
	}
	m.carry(e.id, e.parent, records)
	return len(records)
}

// has returns the message with an id, nil if there is none. If several have it,
// has returns the first.
func (m *merging) has(id string) *existing {
	if nodes := m.line.Find(id); id != "" && len(nodes) > 0 {
		return &m.list[nodes[0]]
	}
	return nil
}

// carry records the ids of records without a message. A successor of such a
// record follows the message, or its parent if the record precedes it.
func (m *merging) carry(id, parent string, records []json.RawMessage) {
	eachCarried(m.s.format.RecordID, id, parent, records, func(name, after string) {
		if m.has(name) == nil {
			m.carried[strings.Clone(name)] = after
		}
	})
}

// eachCarried calls f for each record of a message other than the message
// itself, with the id of the record and of the message that its successors
// follow: the message, or its parent if the record precedes it.
func eachCarried(member, id, parent string, records []json.RawMessage, f func(name, after string)) {
	if member == "" || len(records) < 2 {
		return
	}
	main := slices.IndexFunc(records, func(r json.RawMessage) bool { return gjson.GetBytes(r, member).Str == id })
	for i, r := range records {
		after := id
		if i < main {
			after = parent
		}
		if name := gjson.GetBytes(r, member).Str; name != "" && name != id {
			f(name, after)
		}
	}
}

// adopted returns the orphans of the line whose parent is a record of the
// transcript, each with the message that it then follows.
func (m *merging) adopted() (map[string]string, error) {
	list := map[string]string{}
	if len(m.missing) == 0 || m.s.format.RecordID == "" {
		return list, nil
	}
	after := map[string]string{}
	for n := range m.s.messages {
		message := &m.s.messages[n]
		raw, err := m.s.rawOf(*message)
		if err != nil {
			return nil, err
		}
		eachCarried(m.s.format.RecordID, message.id, message.parent, records.Of(raw), func(name, id string) {
			if m.missing[name] {
				after[name] = m.name(id)
			}
		})
	}
	for n := range m.list {
		e := &m.list[n]
		if to := after[e.names]; e.orphan && to != "" && to != e.id && to != e.joined {
			list[e.id] = to
		}
	}
	return list, nil
}

// recordsBefore returns how many records of the line precede the transcript, 0
// if they need not be counted. It sets base if that can be determined.
func (m *merging) recordsBefore() int {
	f := m.s.conv.Fork
	if f == nil || f.Records == 0 {
		return 0
	}
	n := slices.IndexFunc(m.sources, func(s gjson.Result) bool { return s.Get("id").Str == f.ID })
	switch {
	case n < 0:
		return 0
	case f.Records == transcript.AllRecords:
		m.base = m.sources[n].Get("leaf").String()
		return 0
	}
	return f.Records - len(m.sources[0].Get("records").Array())
}

// fork branches a checkpoint that was exported and whose transcript was
// extended.
func (m *merging) fork(p *plan, r *imports.Transcript) (*imports.Transcript, bool, error) {
	at := &store.Place{Line: m.line, Node: m.line.Newest(m.line.Named)}
	d, err := m.v.View.Document(at, checkpoint.Spec{Kind: session.Branch})
	if err != nil {
		return nil, false, err
	}
	for _, n := range p.added {
		raw, err := m.added(n, false)
		if err != nil {
			return nil, false, err
		}
		d.Messages = append(d.Messages, session.Run{Raw: raw})
	}
	d.Metadata.Set("message_count", rawjson.Compact(d.Len()))
	mark := d.Metadata.Get("bough")
	own := slices.DeleteFunc(rawjson.Pairs(mark, rawjson.Root(mark)), func(q rawjson.Pair) bool { return q.Key == OwnSources })
	own = append(own, rawjson.Pair{Key: OwnSources, Value: m.newSources()})
	d.Metadata.Set("bough", rawjson.AppendObject(nil, own, 2))
	r.Added, r.Session = len(p.added), session.ID(d.ID)
	return r, false, m.v.Create(d)
}

// added returns the stored form of message n.
func (m *merging) added(n int, continued bool) ([]byte, error) {
	raw, err := m.s.raw(n)
	if err != nil {
		return nil, err
	}
	message := &m.s.messages[n]
	if name := m.name(message.id); name != message.id {
		raw = setRaw(raw, "id", rawjson.Compact(name))
	}
	if joined := m.joined(message); joined != message.joined {
		raw = setRaw(raw, "metadata.bough."+session.OwnJoined, rawjson.Compact(joined))
	}
	if continued {
		raw = setRaw(raw, "metadata.bough."+store.OwnContinued, []byte("true"))
	}
	return transcript.Below(raw, m.parentOf(message), nowhere)
}

// parentOf returns the parent in the line of a message of the transcript, ""
// for a root.
func (m *merging) parentOf(message *spooled) string {
	switch {
	case m.roots[message.id]:
		return ""
	case message.parent == "":
		return m.base
	}
	return m.name(message.parent)
}

// joined returns the message that a message with a missing parent follows: that
// of the record that it names, else the one before it in the transcript.
func (m *merging) joined(message *spooled) string {
	if id := m.carried[message.parent]; id != "" && id != m.name(message.id) && m.has(message.parent) == nil {
		return id
	}
	if message.joined == "" {
		return ""
	}
	return m.name(message.joined)
}

// nowhere is an id that no message has. A message that is stored after it gets
// a parent_id.
const nowhere = "\x00"
