package pi

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/compaction"
	"github.com/bough-dev/bough/convert/internal/parts"
	"github.com/bough-dev/bough/convert/internal/provider"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// A entry is an entry that is made here.
type entry struct {
	Type     string  `json:"type"`
	ID       string  `json:"id"`
	Parent   *string `json:"parentId"`
	Time     string  `json:"timestamp"`
	Message  any     `json:"message,omitempty"`
	Name     string  `json:"name,omitempty"`
	Custom   string  `json:"customType,omitempty"`
	Content  any     `json:"content,omitempty"`
	Display  *bool   `json:"display,omitempty"`
	From     string  `json:"fromId,omitempty"`
	Summary  *string `json:"summary,omitempty"`
	Kept     string  `json:"firstKeptEntryId,omitempty"`
	Tokens   *int    `json:"tokensBefore,omitempty"`
	Unshaped any     `json:"data,omitempty"`
}

type userMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
	Time    int64   `json:"timestamp"`
}

type resultMessage struct {
	Role    string  `json:"role"`
	Call    string  `json:"toolCallId"`
	Tool    string  `json:"toolName"`
	Content []block `json:"content"`
	Failed  bool    `json:"isError"`
	Time    int64   `json:"timestamp"`
}

type answerMessage struct {
	Role     string          `json:"role"`
	Content  []block         `json:"content"`
	API      string          `json:"api"`
	Provider string          `json:"provider"`
	Model    string          `json:"model"`
	Usage    json.RawMessage `json:"usage"`
	Stop     string          `json:"stopReason"`
	Time     int64           `json:"timestamp"`
}

type block struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"thinkingSignature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Data      string          `json:"data,omitempty"`
	MIME      string          `json:"mimeType,omitempty"`
}

// make writes a message that has no entries.
func (w *writer) make(m *transcript.Message) error {
	if m.Parent != "" && w.in[m.Parent] == nil {
		w.lost.Add(report.LostLinks)
	}
	w.lost.Message(m, report.LostTimes, report.LostModels, report.LostSummaries)
	parent := w.Main[m.Parent]
	if m.Parent == "" {
		parent = w.first
	}
	at := w.Time(m)
	var entries []entry
	switch summary := m.Text(); {
	case m.Kind == transcript.Compaction:
		entries = []entry{{Type: "compaction", Summary: &summary, Tokens: new(int)}}
	case m.Kind == transcript.Summary && summary != "":
		entries = []entry{{Type: "branch_summary", Summary: &summary, From: cmp.Or(parent, "root")}}
	case m.Role == "assistant":
		entries = w.answer(m, at)
	default:
		entries = w.user(m, at)
	}
	if len(entries) == 0 {
		w.lost.Add(report.LostMessages)
		w.Main[m.ID] = parent
		return nil
	}
	for i, e := range entries {
		id, err := w.newID(m.ID, i)
		if err != nil {
			return err
		}
		e.ID, e.Time = id, times.ISO(at)
		if parent != "" {
			e.Parent = &parent
		}
		if e.Type == "compaction" {
			e.Kept = id // nothing
			if list := compaction.Kept(m, w.in); len(list) > 0 {
				e.Kept = cmp.Or(w.head[list[0].ID], id)
			}
		}
		if i == 0 {
			w.head[m.ID] = id
		}
		w.Written[id] = true
		w.lost.Trace.ID(id, m)
		w.hang(id, parent, m.ID)
		w.Row(id, rawjson.Compact(e))
		parent = id
	}
	w.Main[m.ID] = parent
	return nil
}

// newID returns the id for the n-th entry of a message: that of the message if it can
// be, else a new one.
func (w *writer) newID(message string, n int) (string, error) {
	fits := len(message) >= 8 && len(message) <= 36 && strings.Trim(message, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
	if n == 0 && fits && !w.Written[message] {
		return message, nil
	}
	for {
		var b [4]byte
		if _, err := io.ReadFull(w.o.Random, b[:]); err != nil {
			return "", fmt.Errorf("no random numbers: %w", err)
		}
		if id := hex.EncodeToString(b[:]); !w.Written[id] {
			return id, nil
		}
	}
}

// answer returns the entry for a message of the assistant.
func (w *writer) answer(m *transcript.Message, at time.Time) []entry {
	model := cmp.Or(m.Model, w.t.Model, "unknown")
	a := answerMessage{
		Role: "assistant", Model: model, Stop: "stop", Time: at.UnixMilli(),
		Usage: json.RawMessage(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`),
	}
	a.Provider, a.API = apiOf(model)
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch p.Type {
		case content.TypeThinking:
			b := block{Type: "thinking", Thinking: &p.Text, Signature: parts.Signature(p)}
			if b.Signature != "" && !strings.HasPrefix(m.Model, "claude") {
				w.lost.Add(report.LostSignatures)
				b.Signature = ""
			}
			if p.Text != "" || b.Signature != "" {
				a.Content = append(a.Content, b)
			}
		case content.TypeToolCall:
			if !w.pairs[p] {
				a.Content = append(a.Content, w.words(p))
				continue
			}
			a.Stop = "toolUse"
			a.Content = append(a.Content, block{Type: "toolCall", ID: c.ID, Name: c.Name, Arguments: parts.Arguments(c.Arguments)})
		case content.TypeText, content.TypeData:
			if p.Text != "" {
				a.Content = append(a.Content, textBlock(p.Text))
			}
		default:
			w.lost.Part(p)
		}
	}
	if len(a.Content) == 0 {
		return nil
	}
	return []entry{{Type: "message", Message: a}}
}

// user returns the entries for a message of a user or a tool: one for each result, and
// one for the rest.
func (w *writer) user(m *transcript.Message, at time.Time) (entries []entry) {
	u := userMessage{Role: "user", Time: at.UnixMilli()}
	for i := range m.Parts {
		p := &m.Parts[i]
		c := p.Call()
		switch {
		case p.Type == content.TypeToolResult && !w.pairs[p]:
			u.Content = append(u.Content, w.words(p))
		case p.Type == content.TypeToolResult:
			entries = append(entries, entry{Type: "message", Message: resultMessage{
				Role: "toolResult", Call: c.ID, Tool: cmp.Or(c.Name, w.names[c.ID], "tool"),
				Content: w.resultBlocks(p), Failed: c.Failed, Time: at.UnixMilli(),
			}})
		case p.Type == content.TypeImage:
			b, ok := w.image(p)
			if n := len(entries); ok && n > 0 && len(u.Content) == 0 { // it is part of the result before it
				r := entries[n-1].Message.(resultMessage)
				r.Content = append(r.Content, b)
				entries[n-1].Message = r
			} else if ok {
				u.Content = append(u.Content, b)
			}
		case p.Type == content.TypeText || p.Type == content.TypeData || p.Type == content.TypeThinking:
			if p.Text != "" {
				u.Content = append(u.Content, textBlock(p.Text))
			}
		default:
			w.lost.Part(p)
		}
	}
	switch {
	case len(u.Content) == 0:
	case m.Own.Role != "":
		display := true
		entries = append(entries, entry{Type: "custom_message", Custom: m.Own.Role, Content: u.Content, Display: &display})
	default:
		entries = append(entries, entry{Type: "message", Message: u})
	}
	return entries
}

// words returns a part that has no block type as text.
func (w *writer) words(p *content.Part) block {
	w.lost.Part(p)
	return textBlock(parts.Text(p))
}

func textBlock(s string) block { return block{Type: "text", Text: &s} }

// image returns the block for an image; false if the image is external.
func (w *writer) image(p *content.Part) (block, bool) {
	mime, data, url := p.File()
	if data == "" {
		w.lost.Add("images stored elsewhere")
		return textBlock("[image " + url + "]"), url != ""
	}
	return block{Type: "image", Data: data, MIME: cmp.Or(mime, "image/png")}, true
}

// resultBlocks returns the output of a tool: its text, and its images if it has any.
func (w *writer) resultBlocks(p *content.Part) []block {
	blocks := []block{}
	all := gjson.GetBytes(p.Meta, "content")
	if !all.IsArray() {
		return append(blocks, textBlock(p.Text))
	}
	said, err := content.Parse(content.Anthropic, []byte(`{"role":"user","content":`+all.Raw+`}`), nil)
	if err != nil {
		return append(blocks, textBlock(p.Text))
	}
	for i := range said.Parts {
		switch q := &said.Parts[i]; q.Type {
		case content.TypeText:
			blocks = append(blocks, textBlock(q.Text))
		case content.TypeImage:
			if b, ok := w.image(q); ok {
				blocks = append(blocks, b)
			}
		default:
			w.lost.Part(q)
		}
	}
	return blocks
}

// apiOf returns the provider of a model and its API.
func apiOf(model string) (by, api string) {
	switch by = provider.Of(model); by {
	case "anthropic":
		return by, "anthropic-messages"
	case "google":
		return by, "google-generative-ai"
	case "openai":
		return by, "openai-responses"
	}
	return "unknown", "openai-completions"
}
