package convert

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

	"github.com/bough-dev/bough/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// gemini is a chat of the Gemini command: a log with a record on each line, the one
// document that it was before, or a checkpoint that the user saved of one.
//
// A record with the id of one that is live takes its place, so a message has all records
// of its id. $rewindTo goes back over a record and all after it, and over everything if
// nobody knows the record: that is a side branch. The results of tools stand in the record
// that called them: they are a message of their own, without records.
var gemini = Format{
	Name:     "gemini",
	About:    "a chat of the Gemini command",
	Ext:      ".jsonl",
	Branches: true,
	detect:   detectGemini,
	read:     readGemini,
	write:    writeGemini,
	called:   geminiSession,
	home: &home{
		roots: func(m Machine) []string { return []string{filepath.Join(geminiHome(m), "tmp")} },
		holds: func(path string) bool {
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
		target: func(m Machine, t *Transcript, o Options) string {
			return filepath.Join(geminiHome(m), "tmp", geminiFolder(m, t.Dir), "chats",
				"session-"+o.Now.UTC().Format("2006-01-02T15-04")+"-"+geminiSession(o.ID)[:8]+".jsonl")
		},
		resume: func(_ string, _ *Transcript, o Options) (before, run []string) {
			return nil, []string{"gemini", "--resume", geminiSession(o.ID)}
		},
	},
}

func geminiHome(m Machine) string {
	if dir := m.Env("GEMINI_CLI_HOME"); dir != "" {
		return filepath.Join(dir, ".gemini")
	}
	return filepath.Join(m.Home, ".gemini")
}

// geminiFolder returns where the program keeps what it knows of a folder: under the name
// that it gave it, if it did.
func geminiFolder(m Machine, dir string) string {
	name := geminiHash(dir)
	if m.Read == nil {
		return name
	}
	data, err := m.Read(filepath.Join(geminiHome(m), "projects.json"))
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

// geminiSession returns what the program calls the conversation of an id: its files are
// named after the first digits, so these are no time.
func geminiSession(id string) string { return ChainID("gemini", rawjson.Compact(id)) }

// geminiHash returns what the program called a folder before it gave it a name.
func geminiHash(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

func detectGemini(head []byte) bool {
	v := gjson.ParseBytes(bytes.TrimSpace(head))
	isContent := func(c gjson.Result) bool {
		role := c.Get("role").Str
		return (role == "user" || role == "model") && c.Get("parts").IsArray()
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
	return headLines(head, func(raw []byte) bool {
		v := gjson.ParseBytes(raw)
		return v.Get("type").Str == "gemini" && v.Get("id").Type == gjson.String && v.Get("content").Exists()
	})
}

// A geminiNode is a record that is or was live.
type geminiNode struct {
	id     string // of the record
	parent *geminiNode
	m      *Message // nil for a notice
	raw    []byte   // the last record of the message, until it is handed on
	tip    string   // the id of the message that others follow, when it was handed on
}

// last returns the id of the message that one after n follows.
func (n *geminiNode) last() string {
	for ; n != nil; n = n.parent {
		if n.m != nil || n.tip != "" {
			return n.tip
		}
	}
	return ""
}

type geminiReader struct {
	to     Sink
	conv   Conversation
	live   []*geminiNode
	at     map[string]*geminiNode // what is live
	taken  map[string]bool        // the ids of all messages
	held   []*geminiNode          // since the user spoke: a later record may take their place
	riding []json.RawMessage      // for the next message
	opened bool                   // what comes belongs to the next message
	seen   int

	before *content.Message // of a checkpoint: the last that called a tool
	chain  string
}

func readGemini(in io.Reader, to Sink) error {
	r := &geminiReader{to: to, at: map[string]*geminiNode{}, taken: map[string]bool{}}
	b := bufio.NewReaderSize(in, HeadSize)
	head, _ := b.Peek(HeadSize)
	head = bytes.TrimSpace(trimBOM(head))
	var err error
	if isLog(head) {
		err = lines(b, to, func(l line) error { return r.line(bytes.Clone(l.raw)) })
	} else if len(head) > 0 {
		err = r.document(b)
	}
	if err != nil || r.seen == 0 {
		return err
	}
	if n := len(r.held); n > 0 {
		r.held[n-1].m.Records = append(r.held[n-1].m.Records, r.riding...)
	} else {
		r.conv.Records = append(r.conv.Records, r.riding...)
	}
	if err := r.hand(); err != nil {
		return err
	}
	if n := len(r.live); n > 0 {
		r.conv.Leaf = r.live[n-1].last()
	} else {
		r.conv.Leaf = r.chain
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
func (r *geminiReader) document(in io.Reader) error {
	around, err := readDocument(in, r.to, []string{"messages", "history"}, func(member string, v visit) error {
		switch {
		case v.raw[0] != '{':
			r.to.Problem(Problem{Offset: v.offset, What: "a message is no object"})
			return nil
		case member == "messages":
			return r.line(v.raw)
		}
		return r.content(v.raw, v.offset)
	})
	if around != nil {
		r.note(gjson.ParseBytes(around))
		r.conv.Records = append([]json.RawMessage{around}, r.conv.Records...)
	}
	return err
}

// content takes a message of a checkpoint.
func (r *geminiReader) content(raw json.RawMessage, offset int64) error {
	id := ChainID(r.chain, raw)
	said, err := content.Parse(content.Gemini, raw, strings.NewReader(strings.Repeat(strings.ReplaceAll(id, "-", ""), 64)))
	if err != nil {
		r.to.Problem(Problem{Offset: offset, What: err.Error()})
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
	m := &Message{Message: *said, ID: id, Parent: r.chain, Format: "gemini", Records: append(r.riding, raw)}
	r.chain, r.riding = id, nil
	r.seen++
	return r.to.Message(m)
}

func (r *geminiReader) line(raw json.RawMessage) error {
	v := gjson.ParseBytes(raw)
	if to := v.Get("$rewindTo"); to.Type == gjson.String {
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
	return r.all(dropMember(raw, path), list, v.Get("$set").Exists())
}

// all takes a record that says all messages, as if it had said each in a record of its
// own, and had gone back over those before.
func (r *geminiReader) all(raw json.RawMessage, list gjson.Result, replace bool) error {
	r.ride(raw, false)
	same := replace
	at := 0
	var err error
	list.ForEach(func(_, v gjson.Result) bool {
		if !v.IsObject() {
			return true
		}
		if same && (at >= len(r.live) || r.live[at].id != v.Get("id").Str) {
			same = false
			if at < len(r.live) {
				id := r.live[at].id
				r.ride(rawjson.Compact(map[string]string{"$rewindTo": id}), true)
				r.rewind(id)
			}
		}
		at++
		if !same {
			err = r.line(json.RawMessage(v.Raw))
		}
		return err == nil
	})
	if same && at < len(r.live) {
		id := r.live[at].id
		r.ride(rawjson.Compact(map[string]string{"$rewindTo": id}), true)
		r.rewind(id)
	}
	return err
}

// note takes in what a record says of the conversation.
func (r *geminiReader) note(v gjson.Result) {
	text := func(to *string, path string) {
		if s := v.Get(path); s.Type == gjson.String {
			*to = s.Str
		}
	}
	text(&r.conv.ID, "sessionId")
	text(&r.conv.Title, "summary")
	text(&r.conv.Dir, "directories.0")
	if at := parseTime(v.Get("startTime").Str); !at.IsZero() {
		r.conv.Created = at
	}
	if kind := v.Get("kind"); kind.Exists() {
		r.conv.Side = kind.Str == "subagent"
	}
}

// ride takes a record that is no message. opens says that it belongs to the next one.
func (r *geminiReader) ride(raw json.RawMessage, opens bool) {
	r.opened = r.opened || opens
	switch n := len(r.held); {
	case r.opened:
		r.riding = append(r.riding, raw)
	case n > 0:
		r.held[n-1].m.Records = append(r.held[n-1].m.Records, raw)
	default:
		r.conv.Records = append(r.conv.Records, raw)
	}
}

func (r *geminiReader) rewind(id string) {
	at := max(slices.IndexFunc(r.live, func(n *geminiNode) bool { return n.id == id }), 0)
	for _, n := range r.live[at:] {
		delete(r.at, n.id)
	}
	r.live = r.live[:at]
}

// message takes a record with an id.
func (r *geminiReader) message(raw json.RawMessage, id string, v gjson.Result) error {
	if n := r.at[id]; n != nil {
		if n.m == nil || n.raw == nil {
			r.ride(raw, false)
			return nil
		}
		n.raw = raw
		n.m.Records = append(n.m.Records, raw)
		return nil
	}
	n := &geminiNode{id: id}
	if len(r.live) > 0 {
		n.parent = r.live[len(r.live)-1]
	}
	kind := v.Get("type").Str
	if kind == "user" || kind == "gemini" {
		if kind == "user" {
			if err := r.hand(); err != nil {
				return err
			}
		}
		n.raw = raw
		if id == "" {
			id = ChainID(fmt.Sprint(r.seen), raw)
		}
		n.m = &Message{ID: r.free(id), Format: "gemini", Records: append(r.riding, raw)}
		r.riding, r.opened = nil, false
		r.held = append(r.held, n)
		r.seen++
	} else {
		r.ride(raw, false)
	}
	r.live = append(r.live, n)
	r.at[n.id] = n
	return nil
}

// free returns an id that no message has.
func (r *geminiReader) free(id string) string {
	for i := 0; r.taken[id]; i++ {
		id = ChainID(id, fmt.Append(nil, i))
	}
	r.taken[id] = true
	return id
}

// hand hands on what is held.
func (r *geminiReader) hand() error {
	for _, n := range r.held {
		v := gjson.ParseBytes(n.raw)
		m := n.m
		results := m.geminiSays(v)
		m.Parent = n.parent.last()
		m.Time, m.Model = parseTime(v.Get("timestamp").Str), v.Get("model").Str
		if m.Model != "" {
			r.conv.Model = m.Model
		}
		n.raw, n.tip = nil, m.ID
		if err := r.to.Message(m); err != nil {
			return err
		}
		if len(results) > 0 {
			answer := &Message{ID: r.free(ChainID(m.ID, []byte(`"results"`))), Parent: m.ID, Format: "gemini", Time: m.Time}
			answer.Role, answer.Parts = "user", results
			n.tip = answer.ID
			if err := r.to.Message(answer); err != nil {
				return err
			}
		}
		n.m = &Message{}
	}
	r.held = nil
	return nil
}

// geminiSays sets what m says, as its record has it, and returns the results of the tools
// that it calls.
func (m *Message) geminiSays(v gjson.Result) (results []content.Part) {
	m.Role = "user"
	if v.Get("type").Str == "gemini" {
		m.Role = "assistant"
	}
	m.Parts = []content.Part{}
	said := geminiParts(v.Get("content"), m.Role, m.ID)
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
			c := content.Call{ID: call.Get("id").String(), Name: call.Get("name").String(), Arguments: compact(call.Get("args").Raw)}
			if c.Name == "" {
				continue
			}
			if c.ID == "" {
				c.ID = m.callID(i)
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
			c.ID = m.callID(i)
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
				texts = append(texts, compact(response.Raw))
			default:
				for _, p := range geminiParts(item, "user", m.ID) {
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
func (m *Message) callID(i int) string {
	return "call_" + ChainID(m.ID, fmt.Append(nil, i))[:8]
}

// geminiParts returns the parts of a content: a string, a part, or a list of both.
func geminiParts(v gjson.Result, role, id string) (parts []content.Part) {
	list := []gjson.Result{v}
	if v.IsArray() {
		list = v.Array()
	}
	if role == "assistant" {
		role = "model"
	}
	for i, item := range list {
		switch {
		case item.Type == gjson.String:
			if item.Str != "" {
				parts = append(parts, content.Text(item.Str))
			}
		case item.IsObject():
			random := strings.NewReader(strings.ReplaceAll(ChainID(id, fmt.Append(nil, i)), "-", ""))
			said, err := content.Parse(content.Gemini, []byte(`{"role":"`+role+`","parts":[`+item.Raw+`]}`), random)
			if err != nil {
				parts = append(parts, otherPart(item))
				continue
			}
			openOutputs(said.Parts)
			parts = append(parts, said.Parts...)
		}
	}
	return parts
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

func writeGemini(out io.Writer, t *Transcript, o Options, lost *losses) error {
	t = t.whole("gemini")
	w := &geminiWriter{
		lineWriter: newLineWriter(out), t: t, o: o, lost: lost, clock: clock{now: o.Now},
		pairs: answered(t.Messages), at: map[string]int{}, made: map[string]bool{}, inside: map[*content.Part]bool{}, answered: map[string]bool{},
	}
	w.turns = func(m *Message) bool { return w.made[m.ID] }
	if t.Format != "gemini" {
		lost.conversation(t, lostTitles)
	}
	list, tree := t.inLine(), t.outline()
	for _, m := range list {
		if m.derived("gemini") {
			w.answered[m.Parent] = true
		}
	}
	w.head()
	for i, m := range list {
		leaf := ""
		if i == len(list)-1 {
			leaf = t.Leaf
		}
		w.message(m, tree.parent(m), leaf)
	}
	if tree.has(t.Leaf) {
		w.goTo(t.Leaf)
	}
	return w.flush()
}

// derived reports whether m stands in the record of a message before it.
func (m *Message) derived(format string) bool { return m.Format == format && len(m.Records) == 0 }

type geminiWriter struct {
	lineWriter
	linear
	clock
	t        *Transcript
	o        Options
	lost     *losses
	pairs    map[*content.Part]*content.Part
	records  []geminiRecord         // that are live
	at       map[string]int         // their places
	bare     bool                   // calls are written without their results
	made     map[string]bool        // messages with a record of their own
	inside   map[*content.Part]bool // results that stand in the record of the call
	answered map[string]bool        // messages with results that stand in their record
}

// A geminiRecord is a record that is live, and how many messages are up to it.
type geminiRecord struct {
	id string
	n  int
}

func (w *geminiWriter) head() {
	var records []json.RawMessage
	if w.t.Format == "gemini" {
		records = w.t.Records
	}
	headed := false
	for _, raw := range records {
		v := gjson.ParseBytes(raw)
		switch {
		case v.Get("id").Type == gjson.String:
			w.take(raw, v.Get("id").Str)
		case v.Get("sessionId").Exists():
			headed = true
			if v.Get("projectHash").Str == "" {
				raw = setMember(raw, "projectHash", geminiHash(w.t.Dir))
			}
			raw = setMember(raw, "sessionId", geminiSession(w.o.ID))
			if v.Get("kind").Str == "subagent" {
				raw = setMember(raw, "kind", "main")
			}
			w.put(raw)
		case v.Get("role").Exists() || v.Get("parts").Exists(): // of a checkpoint, which nobody understands
			w.lost.add("records of a checkpoint")
		default:
			if !headed {
				w.header()
				headed = true
			}
			w.rider(raw, v)
		}
	}
	if !headed {
		w.header()
	}
}

// header writes the first record of a new chat.
func (w *geminiWriter) header() {
	created := w.o.Now
	if !w.t.Created.IsZero() {
		created = w.t.Created
	}
	b := rawjson.Compact(struct {
		SessionID   string   `json:"sessionId"`
		ProjectHash string   `json:"projectHash"`
		StartTime   string   `json:"startTime"`
		LastUpdated string   `json:"lastUpdated"`
		Kind        string   `json:"kind"`
		Summary     string   `json:"summary,omitempty"`
		Directories []string `json:"directories,omitempty"`
	}{geminiSession(w.o.ID), geminiHash(w.t.Dir), isoTime(created), isoTime(w.o.Now), "main", w.t.Title, nil})
	w.put(b)
}

// rider writes a record that is no message.
func (w *geminiWriter) rider(raw json.RawMessage, v gjson.Result) {
	if v.Get("$set.sessionId").Exists() {
		raw = setMember(raw, "$set.sessionId", geminiSession(w.o.ID))
	}
	w.put(raw)
}

// take writes a record with an id.
func (w *geminiWriter) take(raw json.RawMessage, id string) {
	if _, live := w.at[id]; !live {
		w.at[id] = len(w.records)
		w.records = append(w.records, geminiRecord{id, len(w.live)})
	}
	w.put(raw)
}

// mark writes a mark that leaves n records live.
func (w *geminiWriter) mark(raw json.RawMessage, n int) {
	for _, r := range w.records[n:] {
		delete(w.at, r.id)
	}
	w.records = w.records[:n]
	w.put(raw)
}

// goTo writes what makes the message of an id the last one.
func (w *geminiWriter) goTo(id string) {
	steps, ok := w.back(id)
	if !ok {
		w.lost.add("branches from between a call and its result")
	}
	length := len(w.live)
	for _, s := range steps {
		if s.m != nil {
			w.lost.add("branches from between a call and its result, which call again")
			w.live = append(w.live, s.m)
			w.bare = true
			w.words(s.m, ChainID(s.m.ID, []byte(`"again"`)))
			w.bare = false
			continue
		}
		w.live = w.live[:length-w.again(steps)]
		at := slices.IndexFunc(w.records, func(r geminiRecord) bool { return r.n > len(w.live) })
		if at >= 0 {
			w.mark(rawjson.Compact(map[string]string{"$rewindTo": w.records[at].id}), at)
		}
	}
}

// again returns how many of the steps are messages.
func (w *geminiWriter) again(steps []step) (n int) {
	for _, s := range steps {
		if s.m != nil {
			n++
		}
	}
	return n
}

func (w *geminiWriter) message(m *Message, parent, leaf string) {
	w.of(m)
	if m.derived("gemini") && w.made[parent] && len(w.live) > 0 && w.live[len(w.live)-1].ID == parent {
		w.live = append(w.live, m) // it stands in the record before
		return
	}
	own := ""
	if m.Format == "gemini" {
		own = m.geminiRecord()
	}
	if own == "" {
		w.goTo(parent)
		w.live = append(w.live, m)
		w.words(m, m.ID)
		return
	}
	asIs, keep := w.marked(m, own, parent, leaf)
	if !asIs {
		w.goTo(parent)
	}
	said := false
	for _, raw := range m.Records {
		v := gjson.ParseBytes(raw)
		id := v.Get("id")
		if to := v.Get("$rewindTo"); to.Type == gjson.String {
			if !said && asIs || said && keep {
				k := w.at[to.Str]
				w.live = w.live[:w.upTo(w.records[:k])]
				w.mark(raw, k)
			}
			continue
		}
		switch {
		case id.Type != gjson.String:
			w.rider(raw, v)
		case id.Str == own:
			if !said {
				w.live = append(w.live, m)
				w.made[m.ID] = true
				said = true
			}
			if !w.answered[m.ID] {
				raw = w.unanswered(raw, v)
			}
			w.take(raw, own)
		case v.Get("type").Str == "user" || v.Get("type").Str == "gemini":
			// It takes the place of a message that was handed on.
			if _, live := w.at[id.Str]; live {
				w.put(raw)
			}
		default:
			w.take(raw, id.Str)
		}
	}
}

// upTo returns how many messages are live if some records are: those that stand in the
// last of these too.
func (w *geminiWriter) upTo(records []geminiRecord) int {
	if len(records) == 0 {
		return 0
	}
	n := records[len(records)-1].n
	for n < len(w.live) && !w.made[w.live[n].ID] {
		n++
	}
	return n
}

// geminiRecord returns the id of the record that says what m says, "" if there is none.
func (m *Message) geminiRecord() string {
	id := ""
	for _, raw := range m.Records {
		v := gjson.ParseBytes(raw)
		if kind := v.Get("type").Str; v.Get("id").Type == gjson.String && (kind == "user" || kind == "gemini") {
			if s := v.Get("id").Str; id == "" || s == m.ID {
				id = s
			}
		}
	}
	return id
}

// marked reports whether the marks of m before what it says lead to its parent, and
// whether those after it lead to the leaf.
func (w *geminiWriter) marked(m *Message, own, parent, leaf string) (asIs, keep bool) {
	last := func(list []*Message) string {
		if len(list) == 0 {
			return ""
		}
		return list[len(list)-1].ID
	}
	if !slices.ContainsFunc(m.Records, func(raw json.RawMessage) bool { return gjson.GetBytes(raw, "$rewindTo").Exists() }) {
		return last(w.live) == parent, false
	}
	records, live := slices.Clone(w.records), slices.Clone(w.live)
	said := false
	for _, raw := range m.Records {
		v := gjson.ParseBytes(raw)
		id, to := v.Get("id").Str, v.Get("$rewindTo")
		at := func(id string) int { return slices.IndexFunc(records, func(r geminiRecord) bool { return r.id == id }) }
		switch {
		case to.Type == gjson.String:
			keep = said
			records = records[:max(at(to.Str), 0)]
			n := w.upTo(records)
			if said && len(records) > 0 && records[len(records)-1].n == len(w.live)+1 {
				n = len(live)
			}
			live = live[:min(n, len(live))]
		case id != "":
			if id == own && !said {
				said = true
				if asIs = last(live) == parent; !asIs {
					return false, false
				}
				live = append(live, m)
			}
			if at(id) < 0 {
				records = append(records, geminiRecord{id, len(live)})
			}
		}
	}
	return asIs, keep && leaf != "" && last(live) == leaf
}

// unanswered returns a record without the results of the tools that it calls.
func (w *geminiWriter) unanswered(raw json.RawMessage, v gjson.Result) json.RawMessage {
	for i, call := range v.Get("toolCalls").Array() {
		if call.Get("result").Exists() {
			raw = dropMember(raw, fmt.Sprintf("toolCalls.%d.result", i))
		}
	}
	return raw
}

type geminiLine struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Content   any             `json:"content"`
	ToolCalls []geminiCall    `json:"toolCalls,omitempty"`
	Thoughts  []geminiThought `json:"thoughts,omitempty"`
	Model     string          `json:"model,omitempty"`
}

type geminiCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Result    []any           `json:"result,omitempty"`
	Status    string          `json:"status"`
	Timestamp string          `json:"timestamp"`
}

type geminiThought struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
	Timestamp   string `json:"timestamp"`
}

// words writes a message that has no record, under an id.
func (w *geminiWriter) words(m *Message, id string) {
	at := isoTime(w.last)
	line := geminiLine{ID: id, Timestamp: at, Type: "user", Model: m.Model}
	if m.Role == "assistant" {
		line.Type = "gemini"
	}
	w.lost.message(m, lostTimes, lostModels)
	var parts []json.RawMessage
	add := func(text string) {
		if text != "" {
			parts = append(parts, rawjson.Compact(map[string]string{"text": text}))
		}
	}
	inside := 0
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeText:
			add(p.Text)
		case p.Type == content.TypeThinking && line.Type == "gemini":
			w.lost.signature(p)
			line.Thoughts = append(line.Thoughts, geminiThought{"", p.Text, at})
		case p.Type == content.TypeToolCall && w.pairs[p] != nil && line.Type == "gemini" && !w.bare:
			line.ToolCalls = append(line.ToolCalls, w.call(c, w.pairs[p], at))
			w.inside[w.pairs[p]] = true
		case w.inside[p]:
			inside++
		case p.Type == content.TypeToolResult && w.pairs[p] != nil:
			parts = append(parts, rawjson.Compact(map[string]any{"functionResponse": geminiResponse(w.pairs[p].Call(), p)}))
		default:
			raw := content.Items(content.Gemini, []*content.Message{{Role: m.Role, Parts: []content.Part{*p}}}, nil)[0]
			file := gjson.GetBytes(raw, "parts.0")
			if p.Type == content.TypeToolCall || p.Type == content.TypeToolResult || p.Type == content.TypeData || !file.Exists() || file.Get("text").Exists() {
				w.lost.part(p)
				add(asText(p))
				continue
			}
			parts = append(parts, json.RawMessage(file.Raw))
		}
	}
	switch {
	case len(parts) == 0 && len(line.Thoughts)+len(line.ToolCalls) == 0:
		if inside == 0 {
			w.lost.add(lostMessages)
		}
		return
	case line.Type == "gemini" && len(parts) == 0:
		line.Content = ""
	case line.Type == "gemini" && len(parts) == 1 && gjson.GetBytes(parts[0], "text").Exists():
		line.Content = gjson.GetBytes(parts[0], "text").Str
	default:
		line.Content = parts
	}
	w.made[m.ID] = true
	w.take(rawjson.Compact(line), id)
}

// call returns a call with its result.
func (w *geminiWriter) call(c content.Call, result *content.Part, at string) geminiCall {
	status := "success"
	if result.Call().Failed {
		status = "error"
	}
	w.lost.extras(result)
	return geminiCall{c.ID, c.Name, arguments(c.Arguments), []any{map[string]any{"functionResponse": geminiResponse(c, result)}}, status, at}
}

func geminiResponse(c content.Call, result *content.Part) map[string]any {
	said := "output"
	if result.Call().Failed {
		said = "error"
	}
	return map[string]any{"id": c.ID, "name": c.Name, "response": map[string]string{said: result.Text}}
}
