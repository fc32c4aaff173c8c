package convert

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/bough-dev/bough/content"
	"github.com/tidwall/gjson"
)

// claudeCode is the tree of records that Claude Code keeps of a session, a line for each.
// A record of type user, assistant, system, attachment or progress has a uuid and names
// the one before it; the others stand beside the tree.
//
// An answer of the model is several records with one message.id, one for each block of
// it. Those that stand together are one message here. When the model calls several tools
// at once, the records that follow fan out, and are put in a row again as they stand in
// the file: what has the message.id of the answer, or holds a result for it, comes after
// the last record of that answer, and so does what follows a result. All other links are
// as they are, so that where two prompts follow one message there is a branch.
//
// A compaction begins a new root, whose logicalParentUuid names the record before it. The
// message that sums up follows that one. Records that the compaction preserved keep their
// place before it, and what follows the last of them afterwards follows the summary.
var claudeCode = Format{
	Name:     claudeName,
	About:    "the sessions of Claude Code",
	Ext:      ".jsonl",
	Branches: true,
	RecordID: "uuid",
	detect:   detectClaude,
	read:     readClaude,
	write:    writeClaude,
	home: &home{
		roots: func(m Machine) []string {
			return []string{path.Join(claudeDir(m), "projects")}
		},
		holds: func(p string) bool {
			return path.Ext(p) == ".jsonl" && strings.Count(p, "/") >= 1 && !strings.Contains(p, "/tool-results/")
		},
		target: func(m Machine, t *Transcript, o Options) string {
			return path.Join(claudeDir(m), "projects", claudeSlug(t.dir()), o.ID+".jsonl")
		},
		resume: func(_ string, _ *Transcript, o Options) (before, run []string) {
			return nil, []string{"claude", "--resume", o.ID}
		},
	},
}

const claudeName = "claude-code"

func claudeDir(m Machine) string {
	if dir := m.Env("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return path.Join(m.Home, ".claude")
}

// claudeSlug returns the name of the folder for the sessions about dir. Claude Code
// counts in units of UTF-16, and adds a hash to a name of more than 200 of them. Its
// program for the terminal hashes in another way than its library, and both find a
// folder by its beginning.
func claudeSlug(dir string) string {
	const most = 200
	var hash int32
	units := utf16.Encode([]rune(dir))
	slug := make([]byte, len(units))
	for i, u := range units {
		hash = hash<<5 - hash + int32(u)
		slug[i] = '-'
		if u < 128 && (u >= '0' && u <= '9' || u|0x20 >= 'a' && u|0x20 <= 'z') {
			slug[i] = byte(u)
		}
	}
	if len(slug) <= most {
		return string(slug)
	}
	return string(slug[:most]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

func detectClaude(head []byte) bool {
	is := false
	headLines(head, func(raw []byte) bool {
		if isQwen(raw) {
			return true
		}
		is = isClaude(raw)
		return is || gjson.GetBytes(raw, "type").Str == "session" // a record of pi's
	})
	return is || isClaudeTorn(head) && !isQwenTorn(head)
}

// isClaude reports whether a record is one that nobody but Claude Code writes.
func isClaude(raw []byte) bool {
	v := gjson.GetManyBytes(raw, "type", "parentUuid", "uuid", "sessionId", "leafUuid", "messageId")
	switch v[0].Str {
	case "user", "assistant", "system", "attachment", "progress":
		return v[1].Exists() && v[2].Type == gjson.String
	case "summary":
		return v[4].Type == gjson.String
	case "file-history-snapshot":
		return v[5].Type == gjson.String
	case "custom-title", "ai-title", "last-prompt", "queue-operation", "mode", "permission-mode", "tag", "cost-state", "atis-latch", "tools-used":
		return v[3].Type == gjson.String && !v[2].Exists()
	}
	return false
}

// isClaudeTorn is isClaude for a first record that is longer than the head of the file.
func isClaudeTorn(head []byte) bool {
	start := string(head[:min(len(head), 1<<10)])
	return !strings.Contains(start, "\n") && strings.HasPrefix(strings.TrimSpace(start), "{") &&
		strings.Contains(start, `"parentUuid"`) && strings.Contains(start, `"sessionId"`)
}

// A claudeRecord is what there is to know of a record.
type claudeRecord struct {
	kind, subtype, uuid, session, time string

	parent, logical      gjson.Result
	side, meta, compact  bool
	message, attachment  gjson.Result
	cwd, version, agent  string
	leaf, title, summary string
	forkedFrom, metadata gjson.Result
}

func newClaudeRecord(raw []byte) (r claudeRecord) {
	gjson.ParseBytes(raw).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "type":
			r.kind = value.Str
		case "subtype":
			r.subtype = value.Str
		case "uuid":
			r.uuid = cmp.Or(r.uuid, strings.Clone(value.Str)) // the first one, as the writer has it
		case "sessionId":
			r.session = cmp.Or(r.session, strings.Clone(value.Str))
		case "timestamp":
			r.time = value.Str
		case "parentUuid":
			if !r.parent.Exists() {
				r.parent = value
			}
		case "logicalParentUuid":
			r.logical = value
		case "isSidechain":
			r.side = value.Bool()
		case "isMeta":
			r.meta = value.Bool()
		case "isCompactSummary":
			r.compact = value.Bool()
		case "message":
			r.message = value
		case "attachment":
			r.attachment = value
		case "cwd":
			r.cwd = strings.Clone(value.Str)
		case "version":
			r.version = strings.Clone(value.Str)
		case "agentId":
			r.agent = strings.Clone(value.Str)
		case "leafUuid":
			r.leaf = strings.Clone(value.Str)
		case "customTitle", "aiTitle":
			r.title = strings.Clone(value.Str)
		case "summary":
			r.summary = strings.Clone(value.Str)
		case "forkedFrom":
			r.forkedFrom = value
		case "compactMetadata":
			r.metadata = value
		}
		return true
	})
	return r
}

// saying returns the message of Anthropic's that a record holds, "" if it says nothing
// to a reader. What a user says while the model works is an attachment.
func (r *claudeRecord) saying() string {
	switch r.kind {
	case "user", "assistant":
		if r.message.Exists() {
			return r.message.Raw
		}
	case "attachment":
		if prompt := r.attachment.Get("prompt"); r.attachment.Get("type").Str == "queued_command" &&
			(prompt.Type == gjson.String && prompt.Str != "" || prompt.IsArray()) {
			return `{"role":"user","content":` + prompt.Raw + `}`
		}
	}
	return ""
}

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
	said := c.parse(l, r)
	if said == nil {
		c.ride(l.raw, r.uuid, parent)
		if at := c.tip(r.uuid); !r.side && r.kind != "progress" && c.at[at].is {
			c.last = at
		}
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
	before, _ := c.find(parent)
	s, in := c.seats[before]
	if in && s.in.side != r.side {
		s, in = seat{}, false
	}
	answer, calls := strings.Clone(r.message.Get("id").Str), m.results()
	switch {
	case in && r.kind == "assistant" && answer != "" && answer == s.in.answer:
		if c.joins(s.in.tip, m) {
			c.held.Parts = append(c.held.Parts, m.Parts...)
			c.join(l.raw, r.uuid)
			c.follow(c.held, r.side)
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
	c.follow(m, r.side)
	return nil
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
	if c.held == nil || c.held.ID != tip || c.held.Role != m.Role || c.seats[tip].result || m.CopyOf != "" && c.held.CopyOf == "" {
		return false
	}
	for _, r := range c.riding {
		if r.id == "" && gjson.GetBytes(r.raw, "type").Str == "queue-operation" {
			return false // it tells of the prompt that comes next
		}
	}
	return true
}

// follow takes note that m was said last.
func (c *claudeReader) follow(m *Message, side bool) {
	if !side {
		c.parents[m.ID] = m.Parent
	}
	if !side || len(c.parents) == 0 {
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
