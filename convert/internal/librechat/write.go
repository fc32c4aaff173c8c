package librechat

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/nested"
	"github.com/bough-dev/bough/convert/internal/nodes"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/provider"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Write writes an object with all messages.
func Write(out io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error {
	t = calls.Merge(t, format)
	w := nodes.Writer{Format: format, Messages: messagesOf, ID: idOf, Lost: lost}
	t = calls.Fold(t, w.Own(t))
	lost.Conversation(t, report.LostTitles)
	around := around(t, o)
	s := writer{lost: lost, id: o.ID, pairs: calls.Folded(t.Messages)}
	w.Convert = s.convert
	rows, of := w.Rows(t)
	relink(rows)
	links := make([]link, len(rows))
	for i, r := range rows {
		links[i] = link{r.ID, r.Parent, !r.Attached}
	}
	if leaf := of[tree.Leaf(t)]; leafOf(links) != leaf {
		leafLast(rows, leaf)
	}
	name := lists[0]
	if gjson.GetBytes(around, lists[1]).IsArray() {
		name = lists[1]
	}
	nest := gjson.GetBytes(around, "recursive").Bool()
	if nest && depth(rows) > deepTree {
		around, nest = member.SetRaw(around, "recursive", []byte("false")), false
	}
	for _, r := range rows {
		r.Raw = linked(r, nest)
	}
	list := rows
	if nest {
		list = recursive(rows)
	}
	_, err := out.Write(append(member.SetRaw(around, name, nodes.Array(list)), '\n'))
	return err
}

// recursive returns the rows without a parent among rows, with all others in them.
func recursive(rows []*nodes.Row) (roots []*nodes.Row) {
	children := childrenOf(rows)
	var join func(b *bytes.Buffer, r *nodes.Row)
	join = func(b *bytes.Buffer, r *nodes.Row) {
		list := children[r]
		nested.Join(b, r.Raw, "children", len(list), func(i int) { join(b, list[i]) })
	}
	for _, r := range children[nil] {
		var b bytes.Buffer
		join(&b, r)
		roots = append(roots, &nodes.Row{ID: r.ID, Raw: b.Bytes()})
	}
	return roots
}

// around returns the object without its messages.
func around(t *transcript.Transcript, o transcript.Options) []byte {
	if t.Format == format && len(t.Records) > 0 {
		raw := bytes.Clone(t.Records[0])
		for name, value := range map[string]string{"conversationId": o.ID, "title": t.Title} {
			if value != "" && member.Text(raw, name) != value {
				raw = member.Set(raw, name, value)
			}
		}
		return raw
	}
	endpoint := provider.Of(t.Model)
	if endpoint == "" || endpoint == "openai" {
		endpoint = "openAI"
	}
	type options struct {
		Model string `json:"model"`
	}
	v := struct {
		ID        string   `json:"conversationId"`
		Endpoint  string   `json:"endpoint"`
		Title     string   `json:"title"`
		Exported  string   `json:"exportAt"`
		Branches  bool     `json:"branches"`
		Recursive bool     `json:"recursive"`
		Options   *options `json:"options,omitempty"`
		Messages  []int    `json:"messages"`
	}{ID: o.ID, Endpoint: endpoint, Title: t.Title, Exported: times.ISO(o.Now), Branches: true, Messages: []int{}}
	if t.Model != "" {
		v.Options = &options{t.Model}
	}
	return rawjson.Compact(v)
}

// deepTree is the maximum depth of a recursive export, because many JSON parsers limit the
// depth. A deeper tree is written as a list.
const deepTree = 400

// depth returns the number of rows on the longest path. Parents are before their children.
func depth(rows []*nodes.Row) (most int) {
	deep := map[string]int{}
	for _, r := range rows {
		deep[r.ID] = deep[r.Parent] + 1
		most = max(most, deep[r.ID])
	}
	return most
}

// index returns the rows by id. Of several with one id, it is the one with a message.
func index(rows []*nodes.Row) map[string]*nodes.Row {
	byID := map[string]*nodes.Row{}
	for _, r := range rows {
		if r.ID != "" && (!r.Attached || byID[r.ID] == nil) {
			byID[r.ID] = r
		}
	}
	return byID
}

// relink gives each row the parent that its record names, if that leads to the same message: records
// without a message may be between the two. The row of such a record follows what it names.
func relink(rows []*nodes.Row) {
	byID := index(rows)
	type place struct {
		id string // of the first message, or missing record, at or above a record
		ok bool   // false if the links are a cycle
	}
	known := map[string]place{}
	before := func(id string) place {
		var above []string
		at := place{}
		for {
			r := byID[id]
			if r == nil || !r.Attached {
				at = place{id, true}
				break
			}
			if p, seen := known[id]; seen {
				at = p
				break
			}
			known[id] = place{} // a link back to it closes a cycle
			above = append(above, id)
			id = parentOf(r.Raw)
		}
		for _, id := range above {
			known[id] = at
		}
		return at
	}
	for _, r := range rows {
		link := parentOf(r.Raw)
		switch at := before(link); {
		case !r.Attached:
			if at.ok && at.id == r.Parent {
				r.Parent = link
			}
		case !at.ok:
			r.Parent = ""
		case byID[link] != nil || link == "":
			r.Parent = link
		}
	}
}

// childrenOf returns the rows after each one; those of nil have no parent among them.
func childrenOf(rows []*nodes.Row) map[*nodes.Row][]*nodes.Row {
	byID := index(rows)
	children := map[*nodes.Row][]*nodes.Row{}
	for _, r := range rows {
		parent := byID[r.Parent]
		children[parent] = append(children[parent], r)
	}
	return children
}

// leafLast sorts rows so that each row of the path to the leaf comes after all other children
// of its parent. Parents stay before their children.
func leafLast(rows []*nodes.Row, leaf string) {
	byID := index(rows)
	place := make(map[*nodes.Row]int, len(rows))
	passed := make(map[*nodes.Row]int, len(rows)) // how many rows of the path a row follows, itself included
	var path []*nodes.Row
	for r := byID[leaf]; r != nil && len(path) < len(rows); r = byID[r.Parent] {
		path = append(path, r)
	}
	for i, r := range path {
		passed[r] = len(path) - i
		place[r] = 2*passed[r] - 1
	}
	for _, r := range rows {
		if place[r] == 0 {
			passed[r] = passed[byID[r.Parent]]
			place[r] = 2 * passed[r]
		}
	}
	slices.SortStableFunc(rows, func(a, b *nodes.Row) int { return place[a] - place[b] })
}

// linked returns the record of a row with the id and the parent of the row. A record that was read
// nested in its parent keeps the parent that it names.
func linked(r *nodes.Row, nested bool) []byte {
	raw := r.Raw
	if r.Attached {
		return raw
	}
	if id := gjson.GetBytes(raw, "messageId"); id.Exists() && id.Str != r.ID {
		raw = member.Set(raw, "messageId", r.ID)
	}
	if (r.Made || !nested) && parentOf(raw) != r.Parent {
		raw = member.Set(raw, "parentMessageId", cmp.Or(r.Parent, noParent))
	}
	return raw
}

type writer struct {
	lost  *report.Report
	id    string // of the conversation
	pairs map[*content.Part]bool
}

// A part is a part of the content of a message.
type part struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Think string    `json:"think,omitempty"`
	Call  *toolCall `json:"tool_call,omitempty"`
	Image *image    `json:"image_url,omitempty"`
}

type toolCall struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Arguments string  `json:"args"`
	Type      string  `json:"type"`
	Progress  int     `json:"progress,omitempty"`
	Output    *string `json:"output,omitempty"`
}

type image struct {
	URL string `json:"url"`
}

// convert returns the record of a message, nil if nothing of it can be written.
func (s writer) convert(m *transcript.Message) []byte {
	s.lost.Message(m, report.LostTimes, report.LostModels)
	answer := m.Role == "assistant"
	s.lost.Count(report.LostModels, m.Model != "" && !answer)
	var list []part
	var texts []string
	say := func(text string) {
		if text != "" {
			list, texts = append(list, part{Type: "text", Text: text}), append(texts, text)
		}
	}
	plain := true
	called := map[string]*toolCall{}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeText, p.Type == content.TypeData && p.Text != "":
			say(p.Text)
		case p.Type == content.TypeThinking && answer:
			s.lost.Signature(p)
			if p.Text != "" {
				plain = false
				list = append(list, part{Type: "think", Think: p.Text})
			}
		case p.Type == content.TypeToolCall && answer && s.pairs[p]:
			plain = false
			called[c.ID] = &toolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Type: "tool_call"}
			list = append(list, part{Type: "tool_call", Call: called[c.ID]})
		case p.Type == content.TypeToolResult && s.pairs[p] && called[c.ID] != nil:
			s.lost.Count(report.LostFailures, c.Failed)
			s.lost.Extras(p)
			called[c.ID].Output, called[c.ID].Progress = &p.Text, 1
		case p.Type == content.TypeImage && !answer && parts.DataURL(p) != "":
			plain = false
			list = append(list, part{Type: "image_url", Image: &image{parts.DataURL(p)}})
		default:
			s.lost.Part(p)
			say(parts.Text(p))
		}
	}
	if len(list) == 0 {
		return nil
	}
	if plain {
		list = nil
	}
	n := message{
		ID: m.ID, Conversation: s.id, Sender: "User", Text: parts.JoinLines(texts...), FromUser: !answer, Content: list,
	}
	if answer {
		n.Sender, n.Model = cmp.Or(m.Model, "Assistant"), m.Model
	}
	if !m.Time.IsZero() {
		n.Created = times.ISO(m.Time)
	}
	return rawjson.Compact(n)
}

// A message is a message of LibreChat.
type message struct {
	ID           string `json:"messageId"`
	Conversation string `json:"conversationId"`
	Parent       string `json:"parentMessageId"`
	Created      string `json:"createdAt,omitempty"`
	Sender       string `json:"sender"`
	Text         string `json:"text"`
	Content      []part `json:"content,omitempty"`
	FromUser     bool   `json:"isCreatedByUser"`
	Model        string `json:"model,omitempty"`
	Error        bool   `json:"error"`
	Unfinished   bool   `json:"unfinished"`
}
