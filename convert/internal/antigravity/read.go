// Package antigravity reads the transcripts of Antigravity, Google's editor and its command line agy:
// a line per step of a conversation.
//
// # Steps
//
// A step has step_index (its number), source (USER_EXPLICIT, MODEL or SYSTEM), type, status (RUNNING, DONE or ERROR),
// created_at (RFC 3339) and content, a text. The types are:
//
//   - USER_INPUT is a prompt. What the user typed is in an element USER_REQUEST; elements after it are for the
//     model. One of them says that the user chose another model, by its name.
//   - PLANNER_RESPONSE is an answer: thinking, content, and tool_calls, each with name and args. In some versions each
//     value of args is JSON in a string; they are read as that JSON if all are, and one of them is a JSON string. A member
//     model, which some versions write, names the model of the answer.
//   - CHECKPOINT is a summary that replaces the steps before it for the model.
//   - SYSTEM_MESSAGE and ERROR_MESSAGE are messages of the program. So is an answer with only an error, and any other
//     step whose source is not MODEL, except for TOOL_RESPONSE.
//   - CONVERSATION_HISTORY, KNOWLEDGE_ARTIFACTS and EPHEMERAL_MESSAGE are context of the program. They are kept as
//     records, not as messages.
//   - Every other type, such as RUN_COMMAND, VIEW_FILE and GENERIC, is the result of a tool. It does not name its
//     call: the results of an answer are in the order of its calls. If no call is left, the step is a message of
//     the program.
//
// # Files
//
// The folder of a conversation is brain/ID below ~/.gemini/antigravity-cli, antigravity-ide or antigravity, where ID is
// that of the conversation. Its .system_generated/logs/transcript_full.jsonl has all steps; transcript.jsonl beside it
// has long values shortened, and is read only if it is named. Versions before May 2026 wrote neither. The conversations
// themselves are in conversations/ID.pb or ID.db, as messages of Protocol Buffers without a published schema, and
// encrypted in some versions. They are not read.
//
// # Reading
//
// A transcript names neither the conversation nor its folder, and steps have no ids: an id is computed from the
// step and those before it. A prompt begins a branch if its number is not above that of the last message; any other step
// does if a message of the path has its number. The first step of a branch follows the last message with a lower number.
// A step that repeats one of its branch unchanged adds no message.
//
// If a step has the number and the type of a running step of the same turn, it is the end of that step. It replaces the
// running step if no message followed that. If one did, the end is a message after the last one, without calls, and not
// a result, because those are in the message of the running step.
//
// There is no specification. The form is that of agentgrep.org/backends/antigravity-cli (agy 1.0.10), and of
// transcripts that users published (editor of 2026-06, agy 1.2). Unknown: whether a rewind is in the transcript,
// whether a step is written before it has ended, and how a transcript names a sub-agent.
package antigravity

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/riders"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

const format = "antigravity"

// Types of steps.
const (
	prompt = "USER_INPUT"
	answer = "PLANNER_RESPONSE"
)

// Detect looks at the first record, of which head may have only a part, and at the others.
func Detect(head []byte) bool {
	index, source, kind := false, false, false
	jsondoc.Scan(head, func(path []string, value json.Token) bool {
		text, _ := value.(string)
		switch {
		case jsondoc.Match(path, "step_index"):
			_, index = value.(json.Number)
		case jsondoc.Match(path, "source"):
			source = isName(text)
		case jsondoc.Match(path, "type"):
			kind = isName(text)
		}
		return !(index && source && kind)
	})
	return index && source && kind || jsonl.InHead(head, func(raw []byte) bool {
		v := gjson.GetManyBytes(raw, "step_index", "source", "type")
		return v[0].Type == gjson.Number && isName(v[1].Str) && isName(v[2].Str)
	})
}

// isName reports whether a text has the form of a source or a type.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// A reader converts steps to messages.
type reader struct {
	to     transcript.Sink
	conv   transcript.Conversation
	timed  bool // a message has a time
	riding riders.List
	held   *transcript.Message // the newest, which may be replaced
	path   []step              // from the root to the parent of the next one
	seen   map[string]place    // of messages, by the ids that are computed from their steps
	model  string              // that the user chose
}

// A place is that of a message in the tree.
type place struct {
	id   string
	at   int  // the index of the message in a path
	late bool // it is the end of a step that other messages followed
}

// A step is a step of the file that has a message.
type step struct {
	number  int64 // its own or that of the step before, whichever is larger; -1 if neither has one
	id      string
	kind    string // its type
	running bool
	turn    int            // the number of prompts up to it
	pending []content.Call // calls that have no result up to it
}

func Read(in io.Reader, to transcript.Sink) error {
	r := &reader{to: to, seen: map[string]place{}}
	if err := jsonl.Read(in, to, r.line); err != nil || r.held == nil {
		return err
	}
	r.held.Records = append(r.held.Records, r.riding.Records()...)
	if err := to.Message(r.held); err != nil {
		return err
	}
	r.conv.Leaf, r.conv.Anonymous = r.path[len(r.path)-1].id, !r.timed
	return to.End(&r.conv)
}

func (r *reader) line(l jsonl.Line) error {
	raw := bytes.Clone(l.Raw)
	v := gjson.ParseBytes(raw)
	if r.conv.Created.IsZero() {
		r.conv.Created = times.Of(v.Get("created_at"))
	}
	kind := v.Get("type").Str
	switch kind {
	case "CONVERSATION_HISTORY", "KNOWLEDGE_ARTIFACTS", "EPHEMERAL_MESSAGE":
		r.riding.Add(raw, false)
		return nil
	}
	number := numberOf(v)
	n, ends := r.position(number, kind)
	replaces, late := ends == n, ends >= 0 && ends < n
	last := step{number: -1}
	if n > 0 {
		last = r.path[n-1]
	}
	if kind == prompt || kind == answer && !late {
		last.pending = nil
	}
	m := messageOf(v, last.pending, late)
	running := v.Get("status").Str == "RUNNING"
	if ends >= 0 {
		r.path[ends].running = running
	}
	if m == nil {
		if replaces {
			r.held.Open = running
		}
		r.riding.Add(raw, false)
		return nil
	}
	known, isNew := r.identify(raw, n, ends)
	m.ID, m.Parent = known.id, last.id
	s := step{number: max(number, last.number), id: m.ID, kind: strings.Clone(kind), turn: last.turn}
	if s.pending = nameCalls(m, last.pending); kind == prompt {
		s.turn++
	}
	s.running = running && !late
	m.Open = s.running
	if !isNew {
		r.riding.Add(raw, false)
		onPath := known.at < len(r.path) && r.path[known.at].id == known.id
		if !onPath && !known.late { // the message is on another branch: continue there
			r.path = append(r.path[:known.at], s)
		}
		return nil
	}
	r.path = append(r.path[:n], s)
	r.timed = r.timed || !m.Time.IsZero()
	r.choose(v, m)
	r.report(l, v)
	if replaces {
		r.riding.Add(raw, false)
		m.Records = append(r.held.Records, r.riding.Records()...)
		r.riding, r.held = nil, m
		return nil
	}
	return r.hold(m, raw)
}

// identify returns the place of the message of a step that is to be at n in the path, and reports whether the message is
// new, or replaces the held one. ends is the index of the running step that the step ends, -1 if there is none.
func (r *reader) identify(raw []byte, n, ends int) (m place, isNew bool) {
	before, parent := n, ""
	if ends >= 0 {
		before = ends // so that an end that is repeated is recognized
	}
	if before > 0 {
		parent = r.path[before-1].id
	}
	id := transcript.ChainID(parent, raw)
	m, repeated := r.seen[id]
	switch {
	case ends == n:
		m, repeated = place{id: r.held.ID, at: n}, false
	case !repeated:
		m = place{id: id, at: n, late: ends >= 0}
	}
	r.seen[id] = m
	return m, !repeated
}

// hold holds a message, whose record is raw, and passes on the one that was held.
func (r *reader) hold(m *transcript.Message, raw []byte) error {
	r.riding.Add(raw, true)
	r.riding.Assign(len(r.riding), m, r.held, &r.conv)
	before := r.held
	r.held = m
	if before == nil {
		return nil
	}
	before.Open = false
	return r.to.Message(before)
}

// numberOf returns the number of a step, -1 if it has none.
func numberOf(v gjson.Result) int64 {
	n := v.Get("step_index")
	if n.Type != gjson.Number || n.Num < 0 || n.Num >= 1<<53 || n.Num != math.Trunc(n.Num) {
		return -1
	}
	return int64(n.Num)
}

// position returns how many steps of the path are before a step, and the index of the running step that it ends, -1 if there
// is none. If no message followed the running step, that is the step after n.
func (r *reader) position(number int64, kind string) (n, ends int) {
	if number < 0 {
		return len(r.path), -1
	}
	n, repeated := slices.BinarySearchFunc(r.path, number, func(s step, number int64) int { return cmp.Compare(s.number, number) })
	if !repeated && kind != prompt {
		return len(r.path), -1
	}
	if repeated && r.path[n].running && r.path[n].kind == kind {
		last := r.path[len(r.path)-1]
		switch {
		case n == len(r.path)-1 && last.id == r.held.ID:
			return n, n
		case kind != prompt && last.turn == r.path[n].turn:
			return len(r.path), n
		}
	}
	return n, -1
}

// report reports members whose values are not what they should be.
func (r *reader) report(l jsonl.Line, v gjson.Result) {
	for _, name := range []string{"content", "thinking", "error"} {
		if said := v.Get(name); said.Exists() && said.Type != gjson.String && said.Type != gjson.Null {
			r.to.Problem(l.Problem("the member " + name + " of the step is not text"))
		}
	}
	if calls := v.Get("tool_calls"); calls.Exists() && calls.Type != gjson.Null && !calls.IsArray() {
		r.to.Problem(l.Problem("the member tool_calls of the step is not a list"))
	}
}

// nameCalls gives the calls of a message ids, and returns those that have no result after it. pending are those that
// have none before it.
func nameCalls(m *transcript.Message, pending []content.Call) []content.Call {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Type {
		case content.TypeToolCall:
			c := p.Call()
			c.ID = m.ID + "-" + strconv.Itoa(len(pending)+1)
			*p = content.ToolCall(c)
			pending = append(pending, content.Call{ID: c.ID, Name: strings.Clone(c.Name)}) // the arguments are not retained
		case content.TypeToolResult:
			pending = pending[1:]
		}
	}
	return pending
}

// choose sets the model of an answer: that of the step, else the one that the user chose last, as a prompt says.
func (r *reader) choose(v gjson.Result, m *transcript.Message) {
	if m.Role == "assistant" {
		if m.Model = strings.Clone(v.Get("model").Str); m.Model == "" {
			m.Model = r.model
		}
		return
	}
	if v.Get("type").Str != prompt {
		return
	}
	_, context := typed(v.Get("content").Str)
	const setting = "The user changed setting `Model Selection` from "
	if at := strings.LastIndex(context, setting); at >= 0 {
		line, _, _ := strings.Cut(context[at+len(setting):], "\n")
		if _, name, found := strings.Cut(line, " to "); found {
			name, _, _ = strings.Cut(name, ". ")
			r.model = strings.Clone(strings.TrimSuffix(strings.TrimSpace(name), "."))
		}
	}
}
