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
	s := writer{lost: lost, id: o.ID, pairs: calls.Kept(t.Messages)}
	w.Convert = s.convert
	rows, of := w.Rows(t)
	var says []*nodes.Row
	for _, r := range rows {
		if !r.Attached {
			says = append(says, r)
		}
	}
	if leaf := of[tree.Leaf(t)]; shown(len(says), func(i int) (id, parent string) { return says[i].ID, says[i].Parent }) != leaf {
		leafLast(rows, leaf)
	}
	name := lists[0]
	if gjson.GetBytes(around, lists[1]).IsArray() {
		name = lists[1]
	}
	var b bytes.Buffer
	b.WriteByte('[')
	if gjson.GetBytes(around, "recursive").Bool() {
		children := childrenOf(rows)
		var put func(r *nodes.Row)
		put = func(r *nodes.Row) {
			var list []*nodes.Row
			if !r.Attached {
				list = children[r.ID]
			}
			nested.Join(&b, linked(r), "children", len(list), func(i int) { put(list[i]) })
		}
		for i, r := range children[""] {
			if i > 0 {
				b.WriteByte(',')
			}
			put(r)
		}
	} else {
		for i, r := range rows {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n ")
			b.Write(linked(r))
		}
		b.WriteByte('\n')
	}
	b.WriteByte(']')
	_, err := out.Write(append(member.SetRaw(around, name, b.Bytes()), '\n'))
	return err
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

// childrenOf returns the rows after each one, by id; those of "" have no parent among them.
func childrenOf(rows []*nodes.Row) map[string][]*nodes.Row {
	known := map[string]bool{}
	for _, r := range rows {
		known[r.ID] = !r.Attached
	}
	children := map[string][]*nodes.Row{}
	for _, r := range rows {
		parent := r.Parent
		if !known[parent] {
			parent = ""
		}
		children[parent] = append(children[parent], r)
	}
	return children
}

// leafLast sorts rows so that each row of the path to the leaf comes after all other children
// of its parent. Parents stay before their children.
func leafLast(rows []*nodes.Row, leaf string) {
	byID := map[string]*nodes.Row{}
	for _, r := range rows {
		if !r.Attached {
			byID[r.ID] = r
		}
	}
	var path []string
	for r := byID[leaf]; r != nil && len(path) < len(rows); r = byID[r.Parent] {
		path = append(path, r.ID)
	}
	passed := map[string]int{} // how many rows of the path a message follows, itself included
	for i, id := range path {
		passed[id] = len(path) - i
	}
	place := make(map[*nodes.Row]int, len(rows))
	for _, r := range rows {
		if n, is := passed[r.ID]; is && !r.Attached {
			place[r] = 2*n - 1
			continue
		}
		place[r] = 2 * passed[r.Parent]
		if !r.Attached {
			passed[r.ID] = passed[r.Parent]
		}
	}
	slices.SortStableFunc(rows, func(a, b *nodes.Row) int { return place[a] - place[b] })
}

// linked returns the record of a row, with its links.
func linked(r *nodes.Row) []byte {
	raw := r.Raw
	if r.Attached {
		return raw
	}
	if id := gjson.GetBytes(raw, "messageId"); id.Exists() && id.Str != r.ID {
		raw = member.Set(raw, "messageId", r.ID)
	}
	if parentOf(raw) != r.Parent {
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
		case p.Type == content.TypeToolResult && called[c.ID] != nil:
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
