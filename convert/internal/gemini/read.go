// Package gemini reads and writes the chats of Gemini CLI: a log with one
// record per line, the single document that older versions wrote, or a
// checkpoint that the user saved.
//
// A record with the id of the last answer replaces it, so a message has all
// records with its id. $rewindTo discards a record and all after it, or
// everything if the record is unknown: the discarded records are a side branch.
// The results of tools are in the record of the call; they become a message of
// their own, without records.
//
// When the program resumes a chat, it writes a $set with all messages. Those
// are the messages on the active path, possibly with new ids; see [reader.all].
package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

func Detect(head []byte) bool {
	v := gjson.ParseBytes(bytes.TrimSpace(head))
	isContent := func(c gjson.Result) bool {
		role := c.Get("role").Str
		return (role == "user" || role == "model") && c.Get("parts").IsArray() && !isTyped(c)
	}
	switch {
	case v.IsArray():
		return isContent(v.Get("0"))
	case !v.IsObject():
		return false
	case v.Get("sessionId").Type == gjson.String && v.Get("projectHash").Exists():
		return true
	case v.Get("history").IsArray():
		return isContent(v.Get("history.0"))
	}
	return jsonl.InHead(head, func(raw []byte) bool {
		v := gjson.ParseBytes(raw)
		return v.Get("type").Str == "gemini" && v.Get("id").Type == gjson.String && v.Get("content").Exists()
	})
}

// A node is a record that is or was live, that is, on the active path.
type node struct {
	id     string // of the record
	parent *node
	m      *transcript.Message // nil for a record without a message
	raw    []byte              // the last record of the message, until it is passed on
	tip    string              // when passed on: the id of the message that others follow
	said   saying              // when passed on: its content
}

// says returns the content of n.
func (n *node) says() saying {
	if n.raw != nil {
		return sayingOf(gjson.ParseBytes(n.raw))
	}
	return n.said
}

// last returns the id of the message that one after n follows.
func (n *node) last() string {
	for ; n != nil; n = n.parent {
		if n.m != nil || n.tip != "" {
			return n.tip
		}
	}
	return ""
}

type reader struct {
	to     transcript.Sink
	lines  *jsonl.Reader
	conv   transcript.Conversation
	live   []*node
	at     map[string]*node  // the live records
	taken  map[string]bool   // the ids of all messages
	held   *node             // the last message, which a later record may replace
	clears bool              // the program discarded all messages, and there were none since
	riding []json.RawMessage // for the next message
	opened bool              // the next records belong to the next message
	seen   int

	before *content.Message // of a checkpoint: the last that called a tool
	chain  string
}

func newReader(to transcript.Sink) *reader {
	r := &reader{to: to, at: map[string]*node{}, taken: map[string]bool{}}
	r.lines = jsonl.NewReader(to, func(l jsonl.Line) error { return r.line(bytes.Clone(l.Raw)) })
	return r
}

func Read(in io.Reader, to transcript.Sink) error {
	r := newReader(to)
	b := bufio.NewReaderSize(in, jsonl.HeadSize)
	head, _ := b.Peek(jsonl.HeadSize)
	head = bytes.TrimSpace(jsonl.TrimBOM(head))
	var err error
	if isLog(head) {
		err = r.Read(b)
	} else if len(head) > 0 {
		err = r.document(b)
	}
	if err != nil {
		return err
	}
	return r.End(to)
}

// NewTail returns a reader of a growing log.
func NewTail(to transcript.Sink) sink.Tail { return newReader(to) }

// IsLog reports whether a file that begins with head is a log, and not a document.
func IsLog(head []byte) bool { return isLog(bytes.TrimSpace(jsonl.TrimBOM(head))) }

// Read implements [sink.Tail].
func (r *reader) Read(in io.Reader) error { return r.lines.Read(in) }

// End implements [sink.Tail]. It restores what it changes.
func (r *reader) End(to transcript.Sink) error {
	if r.seen == 0 {
		return nil
	}
	was := *r
	defer func() { *r = was }()
	r.to, r.taken = to, maps.Clone(r.taken)
	if n := r.held; n != nil {
		node, m := *n, *n.m
		defer func() { *n = node }()
		n.m = &m
		m.Records = slices.Concat(m.Records, r.riding)
	} else {
		r.conv.Records = slices.Concat(r.conv.Records, r.riding)
	}
	if err := r.hand(true); err != nil {
		return err
	}
	if n := len(r.live); n > 0 {
		r.conv.Leaf = r.live[n-1].last()
	} else {
		r.conv.Leaf, r.conv.Anonymous = r.chain, true
	}
	conv := r.conv
	return to.End(&conv)
}

// isLog reports whether head starts more than one document.
func isLog(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	var first json.RawMessage
	var syntax *json.SyntaxError
	if err := d.Decode(&first); err != nil {
		return errors.As(err, &syntax) && bytes.IndexByte(head, '\n') >= 0
	}
	return len(bytes.TrimSpace(head[d.InputOffset():])) > 0
}

// document reads a chat of an older version, or a checkpoint.
func (r *reader) document(in io.Reader) error {
	around, err := jsondoc.Read(in, r.to, []string{"messages", "history"}, func(member string, v jsondoc.Visit) error {
		switch {
		case v.Raw[0] != '{':
			r.to.Problem(transcript.Problem{Offset: v.Offset, What: "a message is not an object"})
			return nil
		case member == "messages":
			return r.line(v.Raw)
		}
		return r.content(v.Raw, v.Offset)
	})
	if around != nil {
		r.note(gjson.ParseBytes(around))
		r.conv.Records = append([]json.RawMessage{around}, r.conv.Records...)
	}
	return err
}

// content processes a message of a checkpoint.
func (r *reader) content(raw json.RawMessage, offset int64) error {
	id := transcript.ChainID(r.chain, raw)
	said, err := content.Parse(content.Gemini, raw, strings.NewReader(strings.Repeat(strings.ReplaceAll(id, "-", ""), 64)))
	if err != nil {
		r.to.Problem(transcript.Problem{Offset: offset, What: err.Error()})
		r.riding = append(r.riding, raw)
		return nil
	}
	if said.Unmatched() && r.before != nil {
		if matched, err := content.Match(said, []*content.Message{r.before}); err == nil {
			said = matched
		}
	}
	said.Own.Format, said.Own.Rest = "", nil
	parts.OpenOutputs(said.Parts)
	if said.Role == "assistant" {
		r.before = said
	}
	m := &transcript.Message{Message: *said, ID: id, Parent: r.chain, Format: "gemini", Records: append(r.riding, raw)}
	r.chain, r.riding = id, nil
	r.seen++
	return r.to.Message(m)
}

func (r *reader) line(raw json.RawMessage) error {
	v := gjson.ParseBytes(raw)
	if to := v.Get("$rewindTo"); to.Type == gjson.String {
		r.clears = false
		r.ride(raw, true)
		r.rewind(to.Str)
		return nil
	}
	if id := v.Get("id"); id.Type == gjson.String {
		return r.message(raw, id.Str, v)
	}
	set := v.Get("$set")
	switch {
	case set.IsObject():
		r.note(set)
	case v.Get("sessionId").Type == gjson.String:
		r.note(v)
		set = v
	}
	path := map[bool]string{true: "messages", false: "$set.messages"}[v.Get("messages").IsArray()]
	list := set.Get("messages")
	if !list.IsArray() {
		r.ride(raw, false)
		return nil
	}
	return r.all(member.Drop(raw, path), list, v.Get("$set").Exists())
}

// note records the properties of the conversation in a record.
func (r *reader) note(v gjson.Result) {
	text := func(to *string, path string) {
		if s := v.Get(path); s.Type == gjson.String {
			*to = s.Str
		}
	}
	text(&r.conv.ID, "sessionId")
	text(&r.conv.Title, "summary")
	text(&r.conv.Dir, "directories.0")
	if r.conv.Created.IsZero() {
		r.conv.Created = times.Parse(v.Get("startTime").Str)
	}
	if kind := v.Get("kind"); kind.Exists() {
		r.conv.Side = kind.Str == "subagent"
	}
}

// ride adds a record without a message. opens reports whether it belongs to the next
// message.
func (r *reader) ride(raw json.RawMessage, opens bool) {
	r.opened = r.opened || opens
	switch {
	case r.opened:
		r.riding = append(r.riding, raw)
	case r.held != nil:
		r.held.m.Records = append(r.held.m.Records, raw)
	default:
		r.conv.Records = append(r.conv.Records, raw)
	}
}

func (r *reader) rewind(id string) {
	at := max(slices.IndexFunc(r.live, func(n *node) bool { return n.id == id }), 0)
	for _, n := range r.live[at:] {
		delete(r.at, n.id)
	}
	r.live = r.live[:at]
}

// message processes a record with an id.
func (r *reader) message(raw json.RawMessage, id string, v gjson.Result) error {
	if n := r.at[id]; n != nil && !r.clears {
		if n.raw == nil || n.m.Role == "user" {
			r.ride(raw, false)
			return nil
		}
		n.raw = raw
		n.m.Records = append(n.m.Records, raw)
		return nil
	}
	is := isMessage(v) && !r.rides(v, r.last(len(r.live)))
	if is && r.clears {
		r.clear()
	}
	n := r.append(id)
	if !is {
		r.context(v)
		r.ride(raw, false)
		return nil
	}
	if err := r.hand(false); err != nil {
		return err
	}
	if id == "" {
		id = transcript.ChainID(fmt.Sprint(r.seen), raw)
	}
	n.raw = raw
	n.m = &transcript.Message{ID: r.free(id), Format: "gemini", Records: append(r.riding, raw)}
	n.m.Role = roleOf(v)
	r.riding, r.opened = nil, false
	r.held = n
	r.seen++
	return nil
}

// append makes a record live.
func (r *reader) append(id string) *node {
	n := &node{id: id}
	if len(r.live) > 0 {
		n.parent = r.live[len(r.live)-1]
	}
	r.live = append(r.live, n)
	r.at[id] = n
	return n
}

// free returns an unused id.
func (r *reader) free(id string) string {
	for i := 0; r.taken[id]; i++ {
		id = transcript.ChainID(id, fmt.Append(nil, i))
	}
	r.taken[id] = true
	return id
}

// hand passes on the held message. open reports whether the transcript ends
// here.
func (r *reader) hand(open bool) error {
	n := r.held
	if n == nil {
		return nil
	}
	r.held = nil
	v, m := gjson.ParseBytes(n.raw), n.m
	results := setParts(m, v)
	n.said = sayingOfMessage(m, results)
	m.Parent = n.parent.last()
	m.Time, m.Model = times.Parse(v.Get("timestamp").Str), v.Get("model").Str
	m.Open = open && m.Role == "assistant"
	if m.Model != "" {
		r.conv.Model = m.Model
	}
	n.raw, n.tip = nil, m.ID
	if err := r.to.Message(m); err != nil {
		return err
	}
	if len(results) > 0 {
		answer := &transcript.Message{ID: r.free(transcript.ChainID(m.ID, []byte(`"results"`))), Parent: m.ID, Format: "gemini", Time: m.Time, Open: m.Open}
		answer.Role, answer.Parts = "user", results
		n.tip = answer.ID
		if err := r.to.Message(answer); err != nil {
			return err
		}
	}
	n.m = &transcript.Message{}
	return nil
}

// isTyped reports whether a message with parts is one of the AI SDK or of OpenTelemetry,
// whose parts have types; those of Gemini have none, and its messages no ids.
func isTyped(message gjson.Result) bool {
	return message.Get("id").Exists() || message.Get("parts.0.type").Exists()
}
