package claude

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/thread"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/tidwall/gjson"
)

// A round is one answer of the model with the results of the calls in it.
type round struct {
	answer   string // the provider's id of the reply
	tip      string // its last message
	answered []string
	side     bool
	number   int // in the encoding of the seats
}

// A seat is the place of a message in a round.
type seat struct {
	in     *round
	result bool // it has a result
}

// reader reads the records of a session.
type reader struct {
	*thread.Reader
	seats map[string]seat
	moved map[string]string // records to be replaced by another one, since a compaction

	tails []string // the last records that the last compaction preserved

	main     string            // the last message of the main chain
	sides    map[string]string // the last message of each agent on a sidechain
	restarts map[string]bool   // records that begin a new context of the program, without a message before them
	unlinked bool              // answers have no links
	ended    bool              // the held message is complete

	last    string            // the message of the last record, or of its predecessor
	active  string            // the record at which the program continues, as last recorded
	parents map[string]string // of messages, without those of another assistant

	titles struct{ custom, ai string }
	sums   [][2]string // summaries, each with the last record of its path
	agent  string
	began  map[string]string // ids of other assistants, each with the call that began it
}

func newReader(to transcript.Sink) *reader {
	return &reader{
		Reader: thread.NewReader(to), seats: map[string]seat{}, moved: map[string]string{}, parents: map[string]string{},
		sides: map[string]string{}, restarts: map[string]bool{}, began: map[string]string{},
	}
}

// Fields encodes or decodes the state.
func (c *reader) Fields(f *fields.Coder) {
	c.Reader.Fields(f)
	c.seatFields(f)
	fields.Map(f, &c.moved, f.String)
	fields.Slice(f, &c.tails, f.String)
	fields.Map(f, &c.sides, f.String)
	fields.Map(f, &c.restarts, f.Bool)
	for _, flag := range []*bool{&c.unlinked, &c.ended} {
		f.Bool(flag)
	}
	for _, text := range []*string{&c.main, &c.last, &c.active, &c.titles.custom, &c.titles.ai, &c.agent} {
		f.String(text)
	}
	fields.Map(f, &c.parents, f.String)
	fields.Map(f, &c.began, f.String)
	fields.Slice(f, &c.sums, func(s *[2]string) {
		f.String(&s[0])
		f.String(&s[1])
	})
}

// seatFields encodes or decodes the seats, with the rounds that they share.
func (c *reader) seatFields(f *fields.Coder) {
	type numbered struct {
		id     string
		round  int
		result bool
	}
	var rounds []*round
	list := make([]numbered, 0, len(c.seats))
	for _, s := range c.seats {
		s.in.number = -1
	}
	for id, s := range c.seats {
		if s.in.number < 0 {
			s.in.number = len(rounds)
			rounds = append(rounds, s.in)
		}
		list = append(list, numbered{id, s.in.number, s.result})
	}
	fields.Slice(f, &rounds, func(p **round) {
		fields.Pointer(f, p, func(r *round) {
			f.String(&r.answer)
			f.String(&r.tip)
			fields.Slice(f, &r.answered, f.String)
			f.Bool(&r.side)
		})
	})
	fields.Slice(f, &list, func(n *numbered) {
		f.String(&n.id)
		f.Int(&n.round)
		f.Bool(&n.result)
	})
	if !f.Decoding() {
		return
	}
	c.seats = make(map[string]seat, len(list))
	for _, n := range list {
		if n.round < 0 || n.round >= len(rounds) || rounds[n.round] == nil {
			f.Fail(errSeat)
			return
		}
		c.seats[n.id] = seat{rounds[n.round], n.result}
	}
}

var errSeat = errors.New("a message is in no round")

// line processes a record.
func (c *reader) line(l *jsonl.Line, r *record) error {
	switch r.kind {
	case "user", "assistant", "attachment", "system", "progress":
		return c.record(l, r)
	case "custom-title":
		c.titles.custom = r.title
	case "ai-title":
		c.titles.ai = r.title
	case "summary":
		c.sums = append(c.sums, [2]string{r.leaf, r.summary})
	case "last-prompt":
		if r.leaf != "" {
			c.active = r.leaf
		}
	}
	if !r.parent.Exists() {
		r.uuid = "" // outside of the tree, although it has an id
	}
	c.Ride(l.Raw, r.uuid, r.parent.Str)
	return nil
}

// tip returns the message that precedes a successor of a record: the message of the
// record or of its nearest predecessor, and the end of its round if it is a result or
// has no message.
func (c *reader) tip(record string) string {
	id, known := c.Find(record)
	if s, ok := c.seats[id]; ok && known && (s.result || !c.At[record].Is) {
		return s.in.tip
	}
	return id
}

// record processes a record of the tree.
func (c *reader) record(l *jsonl.Line, r *record) error {
	c.about(r)
	said := c.parse(l, r)
	if at, taken := c.At[r.uuid]; taken && (at.Is || said == nil) {
		c.Ride(l.Raw, "", "")
		return nil
	}
	parent := c.parent(r)
	if said == nil {
		c.rides(l, r, parent)
		return nil
	}
	m := &transcript.Message{Message: *said, ID: r.uuid, Time: times.Parse(r.time), Format: format}
	m.CopyOf = strings.Clone(r.forkedFrom.Get("messageUuid").Str)
	if !r.parent.Exists() && r.uuid == "" {
		parent = c.last
	}
	if m.ID == "" {
		m.ID = transcript.ChainID(parent, l.Raw)
	}
	if r.kind == "assistant" {
		if model := strings.Clone(r.message.Get("model").Str); model != "<synthetic>" {
			m.Model = model
			c.Conv.Model = model
		}
	}
	before, known := c.Find(parent)
	s, in := c.seats[before]
	if in && s.in.side != r.side {
		s, in = seat{}, false
	}
	answer, calls := strings.Clone(r.message.Get("id").Str), m.ResultIDs()
	c.begins(r, calls)
	switch {
	case in && r.kind == "assistant" && answer != "" && answer == s.in.answer:
		if c.joins(s.in.tip, m) {
			c.Held.Parts = append(c.Held.Parts, m.Parts...)
			c.Join(l.Raw, r.uuid)
			c.ended = r.ends()
			c.follow(c.Held, r)
			return nil
		}
		m.Parent, s.result = s.in.tip, false
	case in && len(calls) > 0 && !slices.ContainsFunc(calls, func(id string) bool { return slices.Contains(s.in.answered, id) }):
		m.Parent, s.result = s.in.tip, true
		s.in.answered = append(s.in.answered, calls...)
	case in && r.meta && s.result:
		m.Parent = s.in.tip
	default:
		m.Parent = before
		if in && s.result {
			m.Parent = s.in.tip
		}
		if before == "" || !known {
			m.Joined = c.joint(r, parent, known, len(calls) > 0)
		}
		s = seat{in: &round{answer: answer, side: r.side}}
		in = r.kind == "assistant"
	}
	if in {
		s.in.tip = m.ID
		c.seats[m.ID] = s
	}
	if r.compact {
		m.Kind = transcript.Compaction
		for _, tail := range c.tails {
			if tail != "" {
				c.moved[tail] = r.uuid
			}
		}
		c.tails = nil
	}
	if err := c.Say(m, l.Raw, r.uuid, parent); err != nil {
		return err
	}
	c.ended = r.kind != "assistant" || r.ends()
	c.follow(m, r)
	return nil
}

// parent returns the predecessor of a record in the tree, and records which
// records a compaction keeps.
func (c *reader) parent(r *record) string {
	parent := strings.Clone(r.parent.Str) // a substring would retain the whole record
	if r.subtype == "compact_boundary" {
		if parent == "" {
			parent = strings.Clone(r.logical.Str)
		}
		c.tails = []string{strings.Clone(r.metadata.Get("preservedSegment.tailUuid").Str)}
		if list := r.metadata.Get("preservedMessages.uuids").Array(); len(list) > 0 {
			c.tails = append(c.tails, strings.Clone(list[len(list)-1].Str))
		}
	}
	if other, ok := c.moved[parent]; ok {
		parent = other
	}
	return parent
}

// rides processes a record of the tree without content.
func (c *reader) rides(l *jsonl.Line, r *record, parent string) {
	if before, known := c.Find(parent); known && before == "" && (r.restarts() || c.restarts[parent]) {
		c.restarts[r.uuid] = true
	}
	c.Ride(l.Raw, r.uuid, parent)
	if at := c.tip(r.uuid); !r.side && r.kind != "progress" && c.At[at].Is {
		c.last = at
	}
}

// joint returns the message to which a message is joined, "" for none. A
// message is joined if the chain of records before it, from parent on, ends at
// a root or, if known is false, at a missing record. answers reports whether it
// has results of tools.
func (c *reader) joint(r *record, parent string, known, answers bool) string {
	switch {
	case r.side && known:
		return ""
	case r.side:
		return c.sides[r.agent]
	case !known || c.main == "":
		return c.main
	case r.kind == "assistant" || answers:
		c.unlinked = c.unlinked || parent == ""
	case r.prompts() && !c.unlinked && !c.restarts[parent]:
		return ""
	}
	return c.main
}

// parse returns the content of a record, nil if it has none.
func (c *reader) parse(l *jsonl.Line, r *record) *content.Message {
	raw := r.saying()
	if raw == "" {
		return nil
	}
	said, err := content.Parse(content.Anthropic, []byte(raw), nil)
	if err != nil {
		c.To.Problem(l.Problem(fmt.Sprintf("it says nothing that can be read: %v", err)))
		return nil
	}
	said.Own.Format, said.Own.Rest = "", nil
	return said
}

// joins reports whether m continues the held message, whose id is tip.
func (c *reader) joins(tip string, m *transcript.Message) bool {
	return c.open() && c.Held.ID == tip && c.Held.Role == m.Role && (m.CopyOf == "" || c.Held.CopyOf != "")
}

// open reports whether a later record may be part of the held message.
func (c *reader) open() bool {
	if c.Held == nil || c.ended {
		return false
	}
	s, in := c.seats[c.Held.ID]
	if !in || s.result || s.in.tip != c.Held.ID || s.in.answer == "" {
		return false
	}
	return !slices.ContainsFunc(c.Riding, func(r thread.Rider) bool {
		return r.ID == "" && gjson.GetBytes(r.Raw, "type").Str == "queue-operation" // it announces the next prompt
	})
}

// follow records that m is the last message.
func (c *reader) follow(m *transcript.Message, r *record) {
	if r.side {
		c.sides[r.agent] = m.ID
	} else {
		c.main = m.ID
		c.parents[m.ID] = m.Parent
		if _, in := c.parents[m.Parent]; !in {
			c.parents[m.ID] = m.Joined
		}
	}
	if !r.side || len(c.parents) == 0 {
		c.last = m.ID
	}
}

// leaf returns where the program continues: at the end of the file if that is a
// descendant of the recorded place, else at that place.
func (c *reader) leaf() string {
	active := c.tip(c.active)
	if !c.At[active].Is {
		return c.last
	}
	for at, n := c.last, 0; n <= len(c.parents); n++ {
		if at == active {
			return c.last
		}
		if at = c.parents[at]; at == "" {
			break
		}
	}
	return active
}

// begins records which other assistant a result of a call names.
func (c *reader) begins(r *record, calls []string) {
	if agent := r.result.Get("agentId").Str; agent != "" && len(calls) == 1 && c.began[agent] == "" {
		c.began[strings.Clone(agent)] = calls[0] // a later call may only resume the assistant
	}
}

// about records the properties of the conversation in a record.
func (c *reader) about(r *record) {
	set := func(at *string, value string) {
		if value != "" {
			*at = value
		}
	}
	set(&c.Conv.ID, r.session)
	set(&c.Conv.Version, r.version)
	set(&c.agent, r.agent)
	c.Conv.Branch = cmp.Or(c.Conv.Branch, r.branch)
	if c.Conv.Dir == "" {
		c.Conv.Dir = r.cwd
	}
	if c.Conv.Created.IsZero() {
		c.Conv.Created = times.Parse(r.time)
	}
	if from := strings.Clone(r.forkedFrom.Get("sessionId").Str); from != "" && c.Conv.Fork == nil {
		c.Conv.Fork = &transcript.Fork{ID: from}
	}
}

// conversation returns the conversation as it would be if the file ended here.
func (c *reader) conversation() transcript.Conversation {
	conv := c.Conv
	conv.Leaf = c.leaf()
	conv.Side = len(c.parents) == 0
	thread.Link(&conv, c.agent, c.began)
	conv.Title = cmp.Or(c.titles.custom, c.titles.ai)
	for _, s := range slices.Backward(c.sums) {
		if _, ok := c.At[s[0]]; ok && conv.Title == "" {
			conv.Title = s[1]
		}
	}
	return conv
}
