package claude

import (
	"cmp"
	"crypto/sha256"
	"io"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/internal/thread"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/tidwall/gjson"
)

// A file reads the file of a session: the main conversation, and those of sub-agents after it.
type file struct {
	lines  *jsonl.Reader
	main   *reader
	chains []*chain       // in the order of their first records
	agents map[string]int // the chain that begins with a record of an agent
	of     map[string]int // the chain of each record in one, by uuid
	calls  []call         // calls that begin sub-agents, without a result so far, at most maxCalls
	said   int            // the conversation of the last message
	kept   kept           // records of chains
}

// Conversations of a file have numbers: the main one has 0, and chain n of the list n+1.
const mainChain = 0

const maxCalls = 1000

// A chain is the conversation of a sub-agent in the file of its session.
type chain struct {
	id    string // of the conversation
	agent string // the agentId of its first record, "" for none
	call  string // the one whose prompt it begins with, "" for none
	by    int    // the conversation with that call
	lines []said
}

// A said is a record of a chain.
type said struct {
	jsonl.Line      // without Raw if that is in the file of [kept]
	at, size   int  // of that in it
	above      bool // the record before it is in another conversation
	after      bool // it has content, and a message of another conversation precedes it
}

// A call begins a sub-agent.
type call struct {
	id, prompt string // the prompt is a hash
	by         int    // the conversation that it is in
}

func newFile(to transcript.Sink) *file {
	f := &file{main: newReader(to), agents: map[string]int{}, of: map[string]int{}}
	f.lines = jsonl.NewReader(to, f.line)
	return f
}

func Read(in io.Reader, to transcript.Sink) error {
	f := newFile(to)
	f.kept.most = maxMemory
	defer f.kept.drop()
	return sink.ReadTail(f, in, to)
}

// NewTail returns a reader of a growing session.
func NewTail(to transcript.Sink) sink.Tail { return newFile(to) }

// Read implements [sink.Tail].
func (f *file) Read(in io.Reader) error { return f.lines.Read(in) }

// Fields implements [sink.Tail].
func (f *file) Fields(c *fields.Coder) {
	f.lines.Fields(c)
	f.main.Fields(c)
	fields.Slice(c, &f.chains, func(p **chain) {
		fields.Pointer(c, p, func(ch *chain) {
			for _, text := range []*string{&ch.id, &ch.agent, &ch.call} {
				c.String(text)
			}
			c.Int(&ch.by)
			fields.Slice(c, &ch.lines, func(s *said) {
				if s.size > 0 {
					c.Fail(errKept)
				}
				s.Line.Fields(c)
				c.Bool(&s.above)
				c.Bool(&s.after)
			})
		})
	})
	fields.Map(c, &f.agents, c.Int)
	fields.Map(c, &f.of, c.Int)
	fields.Slice(c, &f.calls, func(l *call) {
		c.String(&l.id)
		c.String(&l.prompt)
		c.Int(&l.by)
	})
	c.Int(&f.said)
}

// line passes a record to the reader of the main conversation, or keeps it as one of a chain.
func (f *file) line(l jsonl.Line) error {
	r := parseRecord(l.Raw)
	switch r.kind {
	case "user", "assistant", "attachment", "system", "progress":
	default:
		return f.main.line(&l, &r)
	}
	says := r.saying() != ""
	at := f.chainOf(&l, &r, says)
	f.follow(&r, at)
	other := says && f.said != at
	if says {
		f.said = at
	}
	if at == mainChain {
		return f.main.line(&l, &r)
	}
	if other {
		f.main.ended = true
	}
	parent := r.parent.Str
	in, isIn := f.of[parent]
	_, isMain := f.main.At[parent]
	s := said{Line: l, above: isIn && in != at || !isIn && isMain, after: other}
	if err := f.kept.add(&s); err != nil {
		return err
	}
	c := f.chains[at-1]
	c.lines = append(c.lines, s)
	if _, taken := f.of[r.uuid]; !taken && r.uuid != "" {
		f.of[r.uuid] = at
	}
	return nil
}

// chainOf returns the conversation of a record, which may begin one. There are chains only in the
// file of a main conversation: a file that begins with the messages of sub-agents is theirs.
func (f *file) chainOf(l *jsonl.Line, r *record, says bool) int {
	if !r.side || len(f.main.parents) == 0 || len(f.main.sides) > 0 || f.main.Conv.ID == "" {
		return mainChain
	}
	switch n := f.of[r.uuid]; { // of two records with one uuid the first one counts
	case r.uuid != "" && f.main.At[r.uuid].Is:
		return mainChain
	case n > 0:
		return n
	}
	if n := f.agents[r.agent]; n > 0 {
		return n
	}
	if n := f.of[r.parent.Str]; n > 0 && (r.agent == "" || f.chains[n-1].agent == "") {
		return n
	}
	if !says {
		return mainChain
	}
	m := contentOf(l.Raw)
	if m == nil {
		return mainChain
	}
	key := cmp.Or(r.agent, r.uuid)
	if key == "" {
		key = transcript.ChainID("", l.Raw)
	}
	c := &chain{id: thread.AgentID(cmp.Or(r.session, f.main.Conv.ID), key), agent: r.agent}
	if r.kind == "user" {
		prompt := hashOf((&transcript.Message{Message: *m}).Text())
		if n := slices.IndexFunc(f.calls, func(l call) bool { return l.prompt == prompt }); n >= 0 {
			c.call, c.by = f.calls[n].id, f.calls[n].by
			f.calls = slices.Delete(f.calls, n, n+1)
		}
	}
	f.chains = append(f.chains, c)
	if c.agent != "" {
		f.agents[c.agent] = len(f.chains)
	}
	return len(f.chains)
}

// follow records the calls in a record that begin sub-agents, and removes those with a result.
func (f *file) follow(r *record, at int) {
	switch {
	case r.kind == "assistant" && (strings.Contains(r.message.Raw, `"Task"`) || strings.Contains(r.message.Raw, `"Agent"`)):
		r.message.Get("content").ForEach(func(_, block gjson.Result) bool {
			prompt, name := block.Get("input.prompt"), block.Get("name").Str
			if block.Get("type").Str == "tool_use" && (name == "Task" || name == "Agent") && prompt.Type == gjson.String {
				f.calls = append(f.calls, call{strings.Clone(block.Get("id").Str), hashOf(prompt.Str), at})
			}
			return true
		})
		f.calls = f.calls[max(0, len(f.calls)-maxCalls):]
	case r.kind == "user" && len(f.calls) > 0:
		r.message.Get("content").ForEach(func(_, block gjson.Result) bool {
			id := block.Get("tool_use_id").Str
			f.calls = slices.DeleteFunc(f.calls, func(l call) bool { return l.id == id })
			return true
		})
	}
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:16])
}

// End implements [sink.Tail].
func (f *file) End(to transcript.Sink) error {
	began := map[int][]*chain{} // by the conversation with the call
	for _, c := range f.chains {
		if c.call != "" && f.main.began[c.agent] == "" {
			began[c.by] = append(began[c.by], c)
		}
	}
	if err := f.end(to, f.main, f.main.conversation(), began[mainChain]); err != nil {
		return err
	}
	for n, c := range f.chains {
		r := newReader(to)
		for _, s := range c.lines {
			if err := f.kept.load(&s); err != nil {
				return err
			}
			record := parseRecord(s.Raw)
			if s.above {
				r.Above(strings.Clone(record.parent.Str))
			}
			r.ended = r.ended || s.after
			if err := r.line(&s.Line, &record); err != nil {
				return err
			}
		}
		r.ended = r.ended || f.said != n+1
		conv := r.conversation()
		conv.ID, conv.Side, conv.Inline, conv.BegunBy = c.id, true, true, f.main.Conv.ID
		if err := f.end(to, r, conv, began[n+1]); err != nil {
			return err
		}
	}
	return nil
}

// end ends a conversation of the file. began are the chains that begin with the prompt of a call in
// it; a result that names the sub-agent has precedence.
func (f *file) end(to transcript.Sink, r *reader, conv transcript.Conversation, began []*chain) error {
	for agent, call := range r.began {
		if n := f.agents[agent]; n > 0 {
			delete(conv.Began, thread.AgentID(r.Conv.ID, agent))
			conv.Began[f.chains[n-1].id] = call
		}
	}
	for _, c := range began {
		if conv.Began == nil {
			conv.Began = map[string]string{}
		}
		if conv.Began[c.id] == "" {
			conv.Began[c.id] = c.call
		}
	}
	return r.Reader.End(to, conv, r.open())
}
