// Package pi reads and writes the sessions of the coding agent pi: a tree of
// entries, one per line, after a line that describes the session. An entry has
// an id and names its parent; the session continues at the last one. Labels,
// changes of the model and similar entries are part of the tree too, and are
// kept with a message as riders.
//
// Version 3 is supported. Version 2 calls a custom message hookMessage. Version
// 1 has no ids: each entry follows the one before it.
package pi

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/internal/thread"
	"github.com/bough-dev/bough/convert/internal/times"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

func Detect(head []byte) bool {
	is := false
	jsonl.InHead(head, func(raw []byte) bool {
		v := gjson.GetManyBytes(raw, "type", "id", "timestamp", "cwd")
		is = v[0].Str == "session" && v[1].Type == gjson.String && (v[2].Exists() || v[3].Exists())
		return true
	})
	return is
}

var Home = transcript.Home{
	Roots: func(m transcript.Machine) []string { return []string{path.Join(agentDir(m), "sessions")} },
	Holds: func(p string) bool { return path.Ext(p) == ".jsonl" },
	Target: func(m transcript.Machine, t *transcript.Transcript, o transcript.Options) string {
		at := strings.NewReplacer(":", "-", ".", "-").Replace(times.ISO(o.Now))
		return path.Join(agentDir(m), "sessions", slug(t.WorkDir()), at+"_"+o.ID+".jsonl")
	},
	Resume: func(_ transcript.Machine, path string, _ *transcript.Transcript, _ transcript.Options) (before, run []string) {
		return nil, []string{"pi", "--session", path}
	},
}

const (
	format  = "pi"
	version = 3
)

func agentDir(m transcript.Machine) string {
	if dir := m.Env("PI_CODING_AGENT_DIR"); dir != "" {
		return dir
	}
	return path.Join(m.Home, ".pi", "agent")
}

// slug returns the name of the folder for the sessions of dir.
func slug(dir string) string {
	if dir != "" && (dir[0] == '/' || dir[0] == '\\') {
		dir = dir[1:]
	}
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(dir) + "--"
}

// reader reads the entries of a session.
type reader struct {
	*thread.Reader
	lines *jsonl.Reader
	last  string // the entry before, for an entry without an id
	entry string // the last entry that has one
	model string // the model, as last set
}

func newReader(to transcript.Sink) *reader {
	c := &reader{Reader: thread.NewReader(to)}
	c.lines = jsonl.NewReader(to, c.line)
	return c
}

func Read(in io.Reader, to transcript.Sink) error { return sink.ReadTail(newReader(to), in, to) }

// NewTail returns a reader of a growing session.
func NewTail(to transcript.Sink) sink.Tail { return newReader(to) }

// Read implements [sink.Tail].
func (c *reader) Read(in io.Reader) error { return c.lines.Read(in) }

// Fields implements [sink.Tail].
func (c *reader) Fields(f *fields.Coder) {
	c.lines.Fields(f)
	c.Reader.Fields(f)
	for _, text := range []*string{&c.last, &c.entry, &c.model} {
		f.String(text)
	}
}

// End implements [sink.Tail].
func (c *reader) End(to transcript.Sink) error {
	conv := c.Conv
	conv.Leaf = c.last
	if id, known := c.Find(c.entry); known && id != "" {
		conv.Leaf = id
	}
	conv.Model = c.model
	return c.Reader.End(to, conv, false)
}

func (c *reader) line(l jsonl.Line) error {
	v := gjson.GetManyBytes(l.Raw, "type", "id", "parentId", "timestamp")
	kind, id, parent := v[0].Str, v[1].Str, v[2].Str
	switch kind {
	case "session":
		c.header(&l, id, v[3].Str)
		c.Ride(l.Raw, "", "")
		return nil
	case "model_change":
		c.model = l.Get("modelId").Str
	case "session_info":
		c.Conv.Title = member.String(l.Get("name"))
	}
	m := messageOf(kind, l.Raw)
	if m == nil {
		c.Ride(l.Raw, id, parent)
		c.entry = cmp.Or(id, c.entry)
		return nil
	}
	m.Format = format
	if m.Time = times.Parse(v[3].Str); m.Time.IsZero() {
		if ms := l.Get("message.timestamp"); ms.Type == gjson.Number {
			m.Time = time.UnixMilli(ms.Int()).UTC()
		}
	}
	if m.Model != "" {
		c.model = m.Model
	}
	if m.ID = id; id == "" {
		m.ID, m.Parent = transcript.ChainID(c.last, l.Raw), c.last
	} else {
		m.Parent, _ = c.Find(parent)
		c.entry = id
	}
	c.last = m.ID
	if id == "" {
		c.entry = ""
	}
	return c.Say(m, l.Raw, id, parent)
}

// header records the properties of the session in the first line.
func (c *reader) header(l *jsonl.Line, id, at string) {
	if c.Conv.ID != "" {
		return
	}
	c.Conv.ID, c.Conv.Dir, c.Conv.Created = id, l.Get("cwd").Str, times.Parse(at)
	c.model = l.Get("modelId").Str
	if v := l.Get("version"); v.Num > version {
		c.To.Problem(l.Problem(fmt.Sprintf("version %s is newer than the supported %d; unknown records are kept", v.Raw, version)))
	}
	from := cmp.Or(l.Get("parentSession").Str, l.Get("branchedFrom").Str)
	if from != "" {
		from = path.Base(strings.ReplaceAll(from, `\`, "/"))
		from = strings.TrimSuffix(from, ".jsonl")
		if _, name, ok := strings.Cut(from, "_"); ok {
			from = name
		}
		c.Conv.Fork = &transcript.Fork{ID: from}
	}
}

// messageOf returns the message of an entry, nil if it has none.
func messageOf(kind string, raw []byte) *transcript.Message {
	e := gjson.ParseBytes(raw)
	m := &transcript.Message{Message: content.Message{Role: "user", Parts: []content.Part{}}}
	said := e.Get("message")
	switch kind {
	case "message":
	case "custom_message":
		m.Parts = partsOf(e.Get("content"))
		return m
	case "compaction", "branch_summary":
		m.Kind = transcript.Compaction
		if kind == "branch_summary" {
			m.Kind = transcript.Summary
		}
		if s := member.String(e.Get("summary")); s != "" {
			m.Parts = append(m.Parts, content.Text(s))
		} else if m.Kind == transcript.Summary {
			return nil
		}
		return m
	default:
		return nil
	}
	switch said.Get("role").Str {
	case "user", "custom", "hookMessage":
		m.Parts = partsOf(said.Get("content"))
	case "assistant":
		m.Role, m.Model = "assistant", said.Get("model").Str
		m.Parts = partsOf(said.Get("content"))
	case "system":
		m.Own.Role = "system"
		m.Parts = partsOf(said.Get("content"))
		said.Get("sections").ForEach(func(_, section gjson.Result) bool {
			if s := member.String(section); s != "" {
				m.Parts = append(m.Parts, content.Text(s))
			}
			return true
		})
	case "toolResult":
		var texts []string
		var rest []content.Part
		for _, p := range partsOf(said.Get("content")) {
			if p.Type == content.TypeText {
				texts = append(texts, p.Text)
			} else {
				rest = append(rest, p)
			}
		}
		c := content.Call{ID: member.String(said.Get("toolCallId")), Name: member.String(said.Get("toolName")), Failed: said.Get("isError").Bool()}
		m.Parts = append([]content.Part{content.ToolResult(c, strings.Join(texts, "\n"))}, rest...)
	case "bashExecution":
		m.Parts = append(m.Parts, content.Text(ranText(said)))
	case "compactionSummary", "branchSummary":
		m.Kind = transcript.Compaction
		if said.Get("role").Str == "branchSummary" {
			m.Kind = transcript.Summary
		}
		m.Parts = append(m.Parts, content.Text(member.String(said.Get("summary"))))
	default:
		return nil
	}
	return m
}

// ranText returns the text that pi sends to a model for a command that the user
// ran.
func ranText(ran gjson.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Ran `%s`\n", member.String(ran.Get("command")))
	if out := member.String(ran.Get("output")); out != "" {
		fmt.Fprintf(&b, "```\n%s\n```", out)
	} else {
		b.WriteString("(no output)")
	}
	if ran.Get("cancelled").Bool() {
		b.WriteString("\n\n(command cancelled)")
	} else if code := ran.Get("exitCode"); code.Type == gjson.Number && code.Num != 0 {
		fmt.Fprintf(&b, "\n\nCommand exited with code %s", code.Raw)
	}
	return b.String()
}

// partsOf returns the parts of content, which is a text or a list of blocks.
func partsOf(said gjson.Result) []content.Part {
	list := []content.Part{}
	if said.Type == gjson.String {
		return append(list, content.Text(member.String(said)))
	}
	for _, b := range said.Array() {
		switch b.Get("type").Str {
		case "text":
			list = append(list, content.Text(member.String(b.Get("text"))))
		case "thinking":
			signature := b.Get("thinkingSignature").Str
			if b.Get("redacted").Bool() {
				list = append(list, content.Part{Type: content.TypeRedacted, Meta: rawjson.Compact(struct {
					Data string `json:"data"`
				}{signature})})
			} else {
				list = append(list, content.Thinking(member.String(b.Get("thinking")), signature))
			}
		case "image":
			list = append(list, content.Image(b.Get("mimeType").Str, b.Get("data").Str))
		case "toolCall":
			list = append(list, content.ToolCall(content.Call{ID: member.String(b.Get("id")), Name: member.String(b.Get("name")), Arguments: member.Compact(b.Get("arguments").Raw)}))
		}
	}
	return list
}
