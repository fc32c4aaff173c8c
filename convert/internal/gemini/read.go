// Package gemini reads and writes the chats of the Gemini command: a log with one record
// on each line, the single document that older versions wrote, or a checkpoint that the
// user saved of one.
//
// A record with the id of the last answer replaces it, so a message has all records with
// its id. $rewindTo removes a record and all after it, or everything if the record is
// unknown: what it removes is a side branch. The results of tools are in the record of the
// call; they become a message of their own, without records.
//
// When the program resumes a chat, it writes a $set with all messages. Those are the
// messages on the active path, whatever ids they have now; see [reader.all].
package gemini

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/internal/jsondoc"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string { return []string{filepath.Join(homeDir(m), "tmp")} },
	Holds: func(path string) bool {
		dirs := strings.Split(path, "/")
		name := dirs[len(dirs)-1]
		switch {
		case strings.HasPrefix(name, "checkpoint-") && strings.HasSuffix(name, ".json"):
			return true
		case !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".jsonl"):
			return false
		}
		return slices.Contains(dirs[:len(dirs)-1], "chats")
	},
	Target: func(m transcript.Machine, t *transcript.Transcript, o transcript.Options) string {
		return filepath.Join(homeDir(m), "tmp", folder(m, t.Dir), "chats",
			"session-"+o.Now.UTC().Format("2006-01-02T15-04")+"-"+SessionID(o.ID)[:8]+".jsonl")
	},
	Resume: func(_ string, _ *transcript.Transcript, o transcript.Options) (before, run []string) {
		return nil, []string{"gemini", "--resume", SessionID(o.ID)}
	},
}

func homeDir(m transcript.Machine) string {
	if dir := m.Env("GEMINI_CLI_HOME"); dir != "" {
		return filepath.Join(dir, ".gemini")
	}
	return filepath.Join(m.Home, ".gemini")
}

// folder returns where the program keeps what it knows of a folder: under the name
// that it gave it, if it did.
func folder(m transcript.Machine, dir string) string {
	name := hash(dir)
	if m.Read == nil {
		return name
	}
	data, err := m.Read(filepath.Join(homeDir(m), "projects.json"))
	if err != nil {
		return name
	}
	gjson.GetBytes(data, "projects").ForEach(func(key, value gjson.Result) bool {
		if s := value.Str; key.Str == dir && s != "" && filepath.Base(s) == s && s != "." && s != ".." {
			name = s
		}
		return true
	})
	return name
}

// SessionID returns what the program calls the conversation of an id: its files are
// named after the first digits, so these are no time.
func SessionID(id string) string { return transcript.ChainID("gemini", rawjson.Compact(id)) }

// hash returns what the program called a folder before it gave it a name.
func hash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

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

// A node is a record that is or was live.
type node struct {
	id     string // of the record
	parent *node
	m      *transcript.Message // nil for a record that is no message
	raw    []byte              // the last record of the message, until it is handed on
	tip    string              // the id of the message that others follow, when it was handed on
	said   saying              // when it was handed on
}

// says returns what n says.
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
	conv   transcript.Conversation
	live   []*node
	at     map[string]*node  // what is live
	taken  map[string]bool   // the ids of all messages
	held   *node             // the last message: a later record may take its place
	clears bool              // the program dropped all messages, and has said nothing since
	riding []json.RawMessage // for the next message
	opened bool              // what comes belongs to the next message
	seen   int

	before *content.Message // of a checkpoint: the last that called a tool
	chain  string
}

func Read(in io.Reader, to transcript.Sink) error {
	r := &reader{to: to, at: map[string]*node{}, taken: map[string]bool{}}
	b := bufio.NewReaderSize(in, jsonl.HeadSize)
	head, _ := b.Peek(jsonl.HeadSize)
	head = bytes.TrimSpace(jsonl.TrimBOM(head))
	var err error
	if isLog(head) {
		err = jsonl.Read(b, to, func(l jsonl.Line) error { return r.line(bytes.Clone(l.Raw)) })
	} else if len(head) > 0 {
		err = r.document(b)
	}
	if err != nil || r.seen == 0 {
		return err
	}
	if r.held != nil {
		r.held.m.Records = append(r.held.m.Records, r.riding...)
	} else {
		r.conv.Records = append(r.conv.Records, r.riding...)
	}
	if err := r.hand(true); err != nil {
		return err
	}
	if n := len(r.live); n > 0 {
		r.conv.Leaf = r.live[n-1].last()
	} else {
		r.conv.Leaf, r.conv.Anonymous = r.chain, true
	}
	return to.End(&r.conv)
}

// isLog reports whether what begins with head is more than one document.
func isLog(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	var first json.RawMessage
	var syntax *json.SyntaxError
	if err := d.Decode(&first); err != nil {
		return errors.As(err, &syntax) && bytes.IndexByte(head, '\n') >= 0
	}
	return len(bytes.TrimSpace(head[d.InputOffset():])) > 0
}

// document reads a chat as it was kept before, or a checkpoint.
func (r *reader) document(in io.Reader) error {
	around, err := jsondoc.Read(in, r.to, []string{"messages", "history"}, func(member string, v jsondoc.Visit) error {
		switch {
		case v.Raw[0] != '{':
			r.to.Problem(transcript.Problem{Offset: v.Offset, What: "a message is no object"})
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

// content takes a message of a checkpoint.
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
	openOutputs(said.Parts)
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

// note takes in what a record says of the conversation.
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

// ride takes a record that is no message. opens says that it belongs to the next one.
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

// message takes a record with an id.
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

// free returns an id that no message has.
func (r *reader) free(id string) string {
	for i := 0; r.taken[id]; i++ {
		id = transcript.ChainID(id, fmt.Append(nil, i))
	}
	r.taken[id] = true
	return id
}

// hand hands on what is held. open says that the transcript ends here.
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

// setParts sets what m says, as its record has it, and returns the results of the tools
// that it calls.
func setParts(m *transcript.Message, v gjson.Result) (results []content.Part) {
	m.Role = roleOf(v)
	m.Parts = []content.Part{}
	said := partsOf(v.Get("content"), m.Role, m.ID)
	if !slices.ContainsFunc(said, func(p content.Part) bool {
		return p.Type == content.TypeThinking || p.Type == content.TypeToolCall
	}) {
		v.Get("thoughts").ForEach(func(_, thought gjson.Result) bool {
			text := thought.Get("description").String()
			if subject := thought.Get("subject").String(); subject != "" {
				text = strings.TrimSpace("**" + subject + "** " + text)
			}
			if text != "" {
				m.Parts = append(m.Parts, content.Thinking(text, ""))
			}
			return true
		})
		calls := v.Get("toolCalls")
		m.Parts = append(m.Parts, said...)
		for i, call := range calls.Array() {
			c := content.Call{ID: call.Get("id").String(), Name: call.Get("name").String(), Arguments: member.Compact(call.Get("args").Raw)}
			if c.Name == "" {
				continue
			}
			if c.ID == "" {
				c.ID = callID(m, i)
			}
			if c.Arguments == "" {
				c.Arguments = "{}"
			}
			m.Parts = append(m.Parts, content.ToolCall(c))
		}
	} else {
		m.Parts = append(m.Parts, said...)
	}
	for i, call := range v.Get("toolCalls").Array() {
		result := call.Get("result")
		c := content.Call{ID: call.Get("id").String(), Name: call.Get("name").String()}
		if c.Name == "" || !result.Exists() || result.Type == gjson.Null {
			continue
		}
		if c.ID == "" {
			c.ID = callID(m, i)
		}
		c.Failed = call.Get("status").Str == "error" || call.Get("status").Str == "cancelled"
		list := []gjson.Result{result}
		if result.IsArray() {
			list = result.Array()
		}
		var texts []string
		var more []content.Part
		for _, item := range list {
			response := item.Get("functionResponse.response")
			switch {
			case item.Type == gjson.String:
				texts = append(texts, item.Str)
			case response.Get("output").Type == gjson.String:
				texts = append(texts, response.Get("output").Str)
			case response.Get("error").Type == gjson.String:
				texts = append(texts, response.Get("error").Str)
				c.Failed = true
			case response.Exists():
				texts = append(texts, member.Compact(response.Raw))
			default:
				for _, p := range partsOf(item, "user", m.ID) {
					if p.Type == content.TypeText {
						texts = append(texts, p.Text)
					} else {
						more = append(more, p)
					}
				}
			}
		}
		results = append(results, content.ToolResult(c, strings.Join(texts, "\n")))
		results = append(results, more...)
	}
	return results
}

// callID returns an id for the call at a place in m that has none.
func callID(m *transcript.Message, i int) string {
	return "call_" + transcript.ChainID(m.ID, fmt.Append(nil, i))[:8]
}

// partsOf returns the parts of a content: a string, a part, or a list of both.
func partsOf(v gjson.Result, role, id string) (list []content.Part) {
	items := []gjson.Result{v}
	if v.IsArray() {
		items = v.Array()
	}
	if role == "assistant" {
		role = "model"
	}
	for i, item := range items {
		switch {
		case item.Type == gjson.String:
			if item.Str != "" {
				list = append(list, content.Text(item.Str))
			}
		case item.IsObject():
			random := strings.NewReader(strings.ReplaceAll(transcript.ChainID(id, fmt.Append(nil, i)), "-", ""))
			said, err := content.Parse(content.Gemini, []byte(`{"role":"`+role+`","parts":[`+item.Raw+`]}`), random)
			if err != nil {
				list = append(list, parts.Other(item))
				continue
			}
			openOutputs(said.Parts)
			list = append(list, said.Parts...)
		}
	}
	return list
}

// openOutputs makes the text of results that are nothing but an output the output.
func openOutputs(parts []content.Part) {
	for i := range parts {
		p := &parts[i]
		if v := gjson.Parse(p.Text); p.Type == content.TypeToolResult && v.IsObject() {
			if out := v.Get("output"); out.Type == gjson.String {
				p.Text = out.Str
			}
		}
	}
}

// isTyped reports whether a message with parts is one of the AI SDK or of OpenTelemetry,
// whose parts have types; those of Gemini have none, and its messages no ids.
func isTyped(message gjson.Result) bool {
	return message.Get("id").Exists() || message.Get("parts.0.type").Exists()
}
