package convert

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/content"
	"github.com/tidwall/gjson"
)

// A round is one answer of the model with the results of the calls in it.
type round struct {
	answer   string // what the model's provider calls it
	tip      string // the last message of it
	answered []string
	side     bool
}

// A seat is the place of a message in a round.
type seat struct {
	in     *round
	result bool // it is a result, or comes with one
}

// claudeReader reads the records of a session.
type claudeReader struct {
	*thread
	seats map[string]seat
	moved map[string]string // the record to be taken for another one, since a compaction

	tails []string // the last records that the last compaction preserved

	main     string            // the last message of the main chain
	sides    map[string]string // the last message of each agent on a sidechain
	restarts map[string]bool   // records before which there is no message, but a new context of the program
	unlinked bool              // answers have no links
	ended    bool              // what is held cannot have more

	last    string            // the message that the last record is or hangs on
	active  string            // the record where the program said last that it goes on
	parents map[string]string // of the messages that are of no other assistant

	titles struct{ custom, ai string }
	sums   [][2]string // summaries, each of what ends with a record
	agent  string
}

func newClaudeReader(to Sink) *claudeReader {
	return &claudeReader{
		thread: newThread(to), seats: map[string]seat{}, moved: map[string]string{}, parents: map[string]string{},
		sides: map[string]string{}, restarts: map[string]bool{},
	}
}

func readClaude(in io.Reader, to Sink) error {
	r := newClaudeReader(to)
	if err := lines(in, to, r.line); err != nil {
		return err
	}
	return r.end()
}

func (c *claudeReader) line(l line) error {
	r := newClaudeRecord(l.raw)
	switch r.kind {
	case "user", "assistant", "attachment", "system", "progress":
		return c.record(&l, &r)
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
		r.uuid = "" // it is beside the tree, whatever it is called
	}
	c.ride(l.raw, r.uuid, r.parent.Str)
	return nil
}

// tip returns the message after which the one goes on that follows a record: the
// message that the record is or hangs on, and the end of its round if it is a result or
// none at all.
func (c *claudeReader) tip(record string) string {
	id, known := c.find(record)
	if s, ok := c.seats[id]; ok && known && (s.result || !c.at[record].is) {
		return s.in.tip
	}
	return id
}

// record takes a record of the tree.
func (c *claudeReader) record(l *line, r *claudeRecord) error {
	c.about(r)
	said := c.parse(l, r)
	if at, taken := c.at[r.uuid]; taken && (at.is || said == nil) {
		c.ride(l.raw, "", "")
		return nil
	}
	parent := c.parent(r)
	if said == nil {
		c.rides(l, r, parent)
		return nil
	}
	m := &Message{Message: *said, ID: r.uuid, Time: parseTime(r.time), Format: claudeName}
	m.CopyOf = strings.Clone(r.forkedFrom.Get("messageUuid").Str)
	if !r.parent.Exists() && r.uuid == "" {
		parent = c.last
	}
	if m.ID == "" {
		m.ID = ChainID(parent, l.raw)
	}
	if r.kind == "assistant" {
		if model := strings.Clone(r.message.Get("model").Str); model != "<synthetic>" {
			m.Model = model
			c.conv.Model = model
		}
	}
	before, known := c.find(parent)
	s, in := c.seats[before]
	if in && s.in.side != r.side {
		s, in = seat{}, false
	}
	answer, calls := strings.Clone(r.message.Get("id").Str), m.ResultIDs()
	switch {
	case in && r.kind == "assistant" && answer != "" && answer == s.in.answer:
		if c.joins(s.in.tip, m) {
			c.held.Parts = append(c.held.Parts, m.Parts...)
			c.join(l.raw, r.uuid)
			c.ended = r.ends()
			c.follow(c.held, r)
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
		m.Kind = Compaction
		for _, tail := range c.tails {
			if tail != "" {
				c.moved[tail] = r.uuid
			}
		}
		c.tails = nil
	}
	if err := c.say(m, l.raw, r.uuid, parent); err != nil {
		return err
	}
	c.ended = r.kind != "assistant" || r.ends()
	c.follow(m, r)
	return nil
}

// parent returns the record before a record of the tree, and takes note of what a
// compaction keeps.
func (c *claudeReader) parent(r *claudeRecord) string {
	parent := strings.Clone(r.parent.Str) // what is kept must not keep the record
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

// rides takes a record of the tree that says nothing.
func (c *claudeReader) rides(l *line, r *claudeRecord, parent string) {
	if before, known := c.find(parent); known && before == "" && (r.restarts() || c.restarts[parent]) {
		c.restarts[r.uuid] = true
	}
	c.ride(l.raw, r.uuid, parent)
	if at := c.tip(r.uuid); !r.side && r.kind != "progress" && c.at[at].is {
		c.last = at
	}
}

// joint returns the message that a message is joined to, "" for none: the chain of records
// before it, from parent on, ends at a root, or, if that is not known, at a record that
// was not seen. answers reports whether it has results of tools.
func (c *claudeReader) joint(r *claudeRecord, parent string, known, answers bool) string {
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

// parse returns what a record says, nil if it says nothing to a reader.
func (c *claudeReader) parse(l *line, r *claudeRecord) *content.Message {
	raw := r.saying()
	if raw == "" {
		return nil
	}
	said, err := content.Parse(content.Anthropic, []byte(raw), nil)
	if err != nil {
		c.to.Problem(l.problem(fmt.Sprintf("it says nothing that can be read: %v", err)))
		return nil
	}
	said.Own.Format, said.Own.Rest = "", nil
	return said
}

// joins reports whether what m says is more of the message that is held, whose id is tip.
func (c *claudeReader) joins(tip string, m *Message) bool {
	return c.open() && c.held.ID == tip && c.held.Role == m.Role && (m.CopyOf == "" || c.held.CopyOf != "")
}

// open reports whether a record may still say more of the message that is held.
func (c *claudeReader) open() bool {
	if c.held == nil || c.ended {
		return false
	}
	s, in := c.seats[c.held.ID]
	if !in || s.result || s.in.tip != c.held.ID || s.in.answer == "" {
		return false
	}
	return !slices.ContainsFunc(c.riding, func(r rider) bool {
		return r.id == "" && gjson.GetBytes(r.raw, "type").Str == "queue-operation" // it tells of the prompt that comes next
	})
}

// follow takes note that m was said last.
func (c *claudeReader) follow(m *Message, r *claudeRecord) {
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

// leaf returns where the program goes on: at the end of the file, if that follows the
// place of which it says so, else there.
func (c *claudeReader) leaf() string {
	active := c.tip(c.active)
	if !c.at[active].is {
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

// about takes what a record says of the conversation.
func (c *claudeReader) about(r *claudeRecord) {
	set := func(at *string, value string) {
		if value != "" {
			*at = value
		}
	}
	set(&c.conv.ID, r.session)
	set(&c.conv.Version, r.version)
	set(&c.agent, r.agent)
	c.conv.Branch = cmp.Or(c.conv.Branch, r.branch)
	if c.conv.Dir == "" {
		c.conv.Dir = r.cwd
	}
	if c.conv.Created.IsZero() {
		c.conv.Created = parseTime(r.time)
	}
	if from := strings.Clone(r.forkedFrom.Get("sessionId").Str); from != "" && c.conv.Fork == nil {
		c.conv.Fork = &Fork{ID: from}
	}
}

func (c *claudeReader) end() error {
	if c.open() {
		c.held.Open = true
	}
	c.conv.Leaf = c.leaf()
	c.conv.Side = len(c.parents) == 0
	if c.conv.Side && c.agent != "" {
		c.conv.ID = c.agent
	}
	c.conv.Title = cmp.Or(c.titles.custom, c.titles.ai)
	for _, s := range slices.Backward(c.sums) {
		if _, ok := c.at[s[0]]; ok && c.conv.Title == "" {
			c.conv.Title = s[1]
		}
	}
	return c.thread.end()
}
