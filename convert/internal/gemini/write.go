package gemini

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Write writes a log that discards every branch but the active one.
func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, "gemini")
	w := &writer{
		Writer: jsonl.NewWriter(out), t: t, o: o, lost: lost, Clock: times.Clock{Now: o.Now},
		pairs: calls.Answered(t.Messages), at: map[string]int{}, made: map[string]bool{}, inside: map[*content.Part]bool{}, answered: map[string]bool{},
	}
	w.Turns = func(m *transcript.Message) bool { return w.made[m.ID] }
	if t.Format != "gemini" {
		lost.Conversation(t, report.LostTitles)
	}
	list, tree := tree.InLine(t), tree.NewOutline(t)
	for _, m := range list {
		if isDerived(m) {
			w.answered[m.Parent] = true
		}
	}
	w.head()
	for i, m := range list {
		leaf := ""
		if i == len(list)-1 {
			leaf = t.Leaf
		}
		w.message(m, tree.Parent(m), leaf)
	}
	if tree.Has(t.Leaf) {
		w.goTo(t.Leaf)
	}
	return w.Flush()
}

// isDerived reports whether m is part of the record of an earlier message.
func isDerived(m *transcript.Message) bool { return m.Format == "gemini" && len(m.Records) == 0 }

type writer struct {
	jsonl.Writer
	tree.Linear
	times.Clock
	t        *transcript.Transcript
	o        transcript.Options
	lost     *report.Report
	pairs    map[*content.Part]*content.Part
	records  []record               // that are live
	at       map[string]int         // their places
	bare     bool                   // calls are written without their results
	made     map[string]bool        // messages with a record of their own
	inside   map[*content.Part]bool // results in the record of the call
	answered map[string]bool        // messages whose results are in their record
	results  map[string]bool        // the calls that the last record of a message has results of
}

// A record is a live record, and the number of messages up to it.
type record struct {
	id string
	n  int
}

func (w *writer) head() {
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
				raw = member.Set(raw, "projectHash", hash(w.t.Dir))
			}
			raw = member.Set(raw, "sessionId", SessionID(w.o.ID))
			if v.Get("kind").Str == "subagent" {
				raw = member.Set(raw, "kind", "main")
			}
			w.Put(raw)
		case v.Get("role").Exists() || v.Get("parts").Exists(): // of a checkpoint in an unknown form
			w.lost.Add("records of a checkpoint")
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
func (w *writer) header() {
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
	}{SessionID(w.o.ID), hash(w.t.Dir), times.ISO(created), times.ISO(w.o.Now), "main", w.t.Title, nil})
	w.Put(b)
}

// rider writes a record without a message.
func (w *writer) rider(raw json.RawMessage, v gjson.Result) {
	if v.Get("$set.sessionId").Exists() {
		raw = member.Set(raw, "$set.sessionId", SessionID(w.o.ID))
	}
	w.Put(raw)
}

// take writes a record with an id.
func (w *writer) take(raw json.RawMessage, id string) {
	if _, live := w.at[id]; !live {
		w.at[id] = len(w.records)
		w.records = append(w.records, record{id, len(w.Live)})
	}
	w.Put(raw)
}

// mark writes a mark that leaves n records live.
func (w *writer) mark(raw json.RawMessage, n int) {
	for _, r := range w.records[n:] {
		delete(w.at, r.id)
	}
	w.records = w.records[:n]
	w.Put(raw)
}

// goTo writes the marks that make a message the last one.
func (w *writer) goTo(id string) {
	steps, ok := w.Back(id)
	if !ok {
		w.lost.Add("branches from between a call and its result")
	}
	length := len(w.Live)
	for _, s := range steps {
		if s.Message != nil {
			w.lost.Add("branches from between a call and its result, which call again")
			w.Live = append(w.Live, s.Message)
			w.bare = true
			w.words(s.Message, transcript.ChainID(s.Message.ID, []byte(`"again"`)))
			w.bare = false
			continue
		}
		w.Live = w.Live[:length-w.again(steps)]
		at := slices.IndexFunc(w.records, func(r record) bool { return r.n > len(w.Live) })
		if at >= 0 {
			w.mark(rawjson.Compact(map[string]string{"$rewindTo": w.records[at].id}), at)
		}
	}
}

// again returns how many of the steps are messages.
func (w *writer) again(steps []tree.Step) (n int) {
	for _, s := range steps {
		if s.Message != nil {
			n++
		}
	}
	return n
}

func (w *writer) message(m *transcript.Message, parent, leaf string) {
	w.Time(m)
	if isDerived(m) && w.made[parent] && len(w.Live) > 0 && w.Live[len(w.Live)-1].ID == parent {
		w.Live = append(w.Live, m) // the record before has it
		return
	}
	own := ""
	if m.Format == "gemini" {
		own = RecordID(m)
	}
	if own == "" {
		w.goTo(parent)
		w.Live = append(w.Live, m)
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
				w.Live = w.Live[:w.upTo(w.records[:k])]
				w.mark(raw, k)
			}
			continue
		}
		switch {
		case id.Type != gjson.String:
			w.rider(raw, v)
		case id.Str == own:
			if !said {
				w.Live = append(w.Live, m)
				w.made[m.ID] = true
				said = true
			}
			if !w.answered[m.ID] {
				raw = w.unanswered(raw, v)
			}
			w.results = resultIDs(raw)
			w.take(raw, own)
		case isContext(v):
			w.take(raw, id.Str)
		case len(responseIDs(v)) > 0:
			if !slices.ContainsFunc(responseIDs(v), func(id string) bool { return !w.results[id] }) {
				w.take(raw, id.Str)
			}
		case isMessage(v):
			// It takes the place of a message that was handed on.
			if _, live := w.at[id.Str]; live {
				w.Put(raw)
			}
		default:
			w.take(raw, id.Str)
		}
	}
}

// upTo returns the number of live messages if records are live, including those within
// the last record.
func (w *writer) upTo(records []record) int {
	if len(records) == 0 {
		return 0
	}
	n := records[len(records)-1].n
	for n < len(w.Live) && !w.made[w.Live[n].ID] {
		n++
	}
	return n
}

// RecordID returns the id of the record of m, "" if there is none.
func RecordID(m *transcript.Message) string {
	id := ""
	for _, raw := range m.Records {
		v := gjson.ParseBytes(raw)
		if v.Get("id").Type == gjson.String && isMessage(v) && !isContext(v) {
			if s := v.Get("id").Str; id == "" || s == m.ID {
				id = s
			}
		}
	}
	return id
}

// marked reports whether the marks of m before its content lead to its parent, and
// whether those after it lead to the leaf.
func (w *writer) marked(m *transcript.Message, own, parent, leaf string) (asIs, keep bool) {
	last := func(list []*transcript.Message) string {
		if len(list) == 0 {
			return ""
		}
		return list[len(list)-1].ID
	}
	if !slices.ContainsFunc(m.Records, func(raw json.RawMessage) bool { return gjson.GetBytes(raw, "$rewindTo").Exists() }) {
		return last(w.Live) == parent, false
	}
	records, live := slices.Clone(w.records), slices.Clone(w.Live)
	said := false
	for _, raw := range m.Records {
		v := gjson.ParseBytes(raw)
		id, to := v.Get("id").Str, v.Get("$rewindTo")
		at := func(id string) int { return slices.IndexFunc(records, func(r record) bool { return r.id == id }) }
		switch {
		case to.Type == gjson.String:
			keep = said
			records = records[:max(at(to.Str), 0)]
			n := w.upTo(records)
			if said && len(records) > 0 && records[len(records)-1].n == len(w.Live)+1 {
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
				records = append(records, record{id, len(live)})
			}
		}
	}
	return asIs, keep && leaf != "" && last(live) == leaf
}

// resultIDs returns the ids of the calls that a record has results of.
func resultIDs(raw []byte) map[string]bool {
	var m transcript.Message
	ids := map[string]bool{}
	for _, p := range setParts(&m, gjson.ParseBytes(raw)) {
		ids[p.Call().ID] = true
	}
	return ids
}

// unanswered returns a record without the results of the tools that it calls.
func (w *writer) unanswered(raw json.RawMessage, v gjson.Result) json.RawMessage {
	for i, call := range v.Get("toolCalls").Array() {
		if call.Get("result").Exists() {
			raw = member.Drop(raw, fmt.Sprintf("toolCalls.%d.result", i))
		}
	}
	return raw
}

type row struct {
	ID        string    `json:"id"`
	Timestamp string    `json:"timestamp"`
	Type      string    `json:"type"`
	Content   any       `json:"content"`
	ToolCalls []call    `json:"toolCalls,omitempty"`
	Thoughts  []thought `json:"thoughts,omitempty"`
	Model     string    `json:"model,omitempty"`
}

type call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Result    []any           `json:"result,omitempty"`
	Status    string          `json:"status"`
	Timestamp string          `json:"timestamp"`
}

type thought struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
	Timestamp   string `json:"timestamp"`
}

// words writes a message that has no record, under an id.
func (w *writer) words(m *transcript.Message, id string) {
	at := times.ISO(w.Last)
	line := row{ID: id, Timestamp: at, Type: "user", Model: m.Model}
	if m.Role == "assistant" {
		line.Type = "gemini"
	}
	w.lost.Message(m, report.LostTimes, report.LostModels)
	var pieces []json.RawMessage
	add := func(text string) {
		if text != "" {
			pieces = append(pieces, rawjson.Compact(map[string]string{"text": text}))
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
			w.lost.Signature(p)
			line.Thoughts = append(line.Thoughts, thought{"", p.Text, at})
		case p.Type == content.TypeToolCall && w.pairs[p] != nil && line.Type == "gemini" && !w.bare:
			line.ToolCalls = append(line.ToolCalls, w.call(c, w.pairs[p], at))
			w.inside[w.pairs[p]] = true
		case w.inside[p]:
			inside++
		case p.Type == content.TypeToolResult && w.pairs[p] != nil:
			pieces = append(pieces, rawjson.Compact(map[string]any{"functionResponse": response(w.pairs[p].Call(), p)}))
		default:
			raw := content.Items(content.Gemini, []*content.Message{{Role: m.Role, Parts: []content.Part{*p}}}, nil)[0]
			file := gjson.GetBytes(raw, "parts.0")
			if p.Type == content.TypeToolCall || p.Type == content.TypeToolResult || p.Type == content.TypeData || !file.Exists() || file.Get("text").Exists() {
				w.lost.Part(p)
				add(parts.Text(p))
				continue
			}
			pieces = append(pieces, json.RawMessage(file.Raw))
		}
	}
	switch {
	case len(pieces) == 0 && len(line.Thoughts)+len(line.ToolCalls) == 0:
		if inside == 0 {
			w.lost.Add(report.LostMessages)
		}
		return
	case line.Type == "gemini" && len(pieces) == 0:
		line.Content = ""
	case line.Type == "gemini" && len(pieces) == 1 && gjson.GetBytes(pieces[0], "text").Exists():
		line.Content = gjson.GetBytes(pieces[0], "text").Str
	default:
		line.Content = pieces
	}
	w.made[m.ID] = true
	w.lost.Trace.ID(id, m)
	w.take(rawjson.Compact(line), id)
}

// call returns a call with its result.
func (w *writer) call(c content.Call, result *content.Part, at string) call {
	status := "success"
	if result.Call().Failed {
		status = "error"
	}
	w.lost.Extras(result)
	return call{c.ID, c.Name, parts.Arguments(c.Arguments), []any{map[string]any{"functionResponse": response(c, result)}}, status, at}
}

func response(c content.Call, result *content.Part) map[string]any {
	said := "output"
	if result.Call().Failed {
		said = "error"
	}
	return map[string]any{"id": c.ID, "name": c.Name, "response": map[string]string{said: result.Text}}
}
