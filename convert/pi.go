package convert

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

func detectPi(head []byte) bool {
	is := false
	headLines(head, func(raw []byte) bool {
		v := gjson.GetManyBytes(raw, "type", "id", "timestamp", "cwd")
		is = v[0].Str == "session" && v[1].Type == gjson.String && (v[2].Exists() || v[3].Exists())
		return true
	})
	return is
}

var piPlace = home{
	roots: func(m Machine) []string { return []string{path.Join(piDir(m), "sessions")} },
	holds: func(p string) bool { return path.Ext(p) == ".jsonl" },
	target: func(m Machine, t *Transcript, o Options) string {
		at := strings.NewReplacer(":", "-", ".", "-").Replace(isoTime(o.Now))
		return path.Join(piDir(m), "sessions", piSlug(t.WorkDir()), at+"_"+o.ID+".jsonl")
	},
	resume: func(path string, _ *Transcript, _ Options) (before, run []string) {
		return nil, []string{"pi", "--session", path}
	},
}

const (
	piName    = "pi"
	piVersion = 3
)

func piDir(m Machine) string {
	if dir := m.Env("PI_CODING_AGENT_DIR"); dir != "" {
		return dir
	}
	return path.Join(m.Home, ".pi", "agent")
}

// piSlug returns the name of the folder for the sessions about dir.
func piSlug(dir string) string {
	if dir != "" && (dir[0] == '/' || dir[0] == '\\') {
		dir = dir[1:]
	}
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(dir) + "--"
}

// piReader reads the entries of a session.
type piReader struct {
	*thread
	last  string // the message before, for an entry without an id
	entry string // the last entry that has one
	model string // as the last change of it says
}

func readPi(in io.Reader, to Sink) error {
	r := &piReader{thread: newThread(to)}
	if err := lines(in, to, r.line); err != nil {
		return err
	}
	r.conv.Leaf = r.last
	if id, known := r.find(r.entry); known && id != "" {
		r.conv.Leaf = id
	}
	r.conv.Model = r.model
	return r.end()
}

func (c *piReader) line(l line) error {
	v := gjson.GetManyBytes(l.raw, "type", "id", "parentId", "timestamp")
	kind, id, parent := v[0].Str, v[1].Str, v[2].Str
	switch kind {
	case "session":
		c.header(&l, id, v[3].Str)
		c.ride(l.raw, "", "")
		return nil
	case "model_change":
		c.model = l.get("modelId").Str
	case "session_info":
		c.conv.Title = text(l.get("name"))
	}
	m := piSays(kind, l.raw)
	if m == nil {
		c.ride(l.raw, id, parent)
		c.entry = cmp.Or(id, c.entry)
		return nil
	}
	m.Format = piName
	if m.Time = parseTime(v[3].Str); m.Time.IsZero() {
		if ms := l.get("message.timestamp"); ms.Type == gjson.Number {
			m.Time = time.UnixMilli(ms.Int()).UTC()
		}
	}
	if m.Model != "" {
		c.model = m.Model
	}
	if m.ID = id; id == "" {
		m.ID, m.Parent = ChainID(c.last, l.raw), c.last
	} else {
		m.Parent, _ = c.find(parent)
		c.entry = id
	}
	c.last = m.ID
	if id == "" {
		c.entry = ""
	}
	return c.say(m, l.raw, id, parent)
}

// header takes what the first line says of the session.
func (c *piReader) header(l *line, id, at string) {
	if c.conv.ID != "" {
		return
	}
	c.conv.ID, c.conv.Dir, c.conv.Created = id, l.get("cwd").Str, parseTime(at)
	c.model = l.get("modelId").Str
	if v := l.get("version"); v.Num > piVersion {
		c.to.Problem(l.problem(fmt.Sprintf("it is of version %s, and %d is known: what is new in it rides along", v.Raw, piVersion)))
	}
	from := cmp.Or(l.get("parentSession").Str, l.get("branchedFrom").Str)
	if from != "" {
		from = path.Base(strings.ReplaceAll(from, `\`, "/"))
		from = strings.TrimSuffix(from, ".jsonl")
		if _, name, ok := strings.Cut(from, "_"); ok {
			from = name
		}
		c.conv.Fork = &Fork{ID: from}
	}
}

// piSays returns what an entry says, nil if it says nothing to a reader.
func piSays(kind string, raw []byte) *Message {
	e := gjson.ParseBytes(raw)
	m := &Message{Message: content.Message{Role: "user", Parts: []content.Part{}}}
	said := e.Get("message")
	switch kind {
	case "message":
	case "custom_message":
		m.Parts = piParts(e.Get("content"))
		return m
	case "compaction", "branch_summary":
		m.Kind = Compaction
		if kind == "branch_summary" {
			m.Kind = Summary
		}
		if s := text(e.Get("summary")); s != "" {
			m.Parts = append(m.Parts, content.Text(s))
		} else if m.Kind == Summary {
			return nil
		}
		return m
	default:
		return nil
	}
	switch said.Get("role").Str {
	case "user", "custom", "hookMessage":
		m.Parts = piParts(said.Get("content"))
	case "assistant":
		m.Role, m.Model = "assistant", said.Get("model").Str
		m.Parts = piParts(said.Get("content"))
	case "system":
		m.Own.Role = "system"
		m.Parts = piParts(said.Get("content"))
		said.Get("sections").ForEach(func(_, section gjson.Result) bool {
			if s := text(section); s != "" {
				m.Parts = append(m.Parts, content.Text(s))
			}
			return true
		})
	case "toolResult":
		var texts []string
		var rest []content.Part
		for _, p := range piParts(said.Get("content")) {
			if p.Type == content.TypeText {
				texts = append(texts, p.Text)
			} else {
				rest = append(rest, p)
			}
		}
		c := content.Call{ID: text(said.Get("toolCallId")), Name: text(said.Get("toolName")), Failed: said.Get("isError").Bool()}
		m.Parts = append([]content.Part{content.ToolResult(c, strings.Join(texts, "\n"))}, rest...)
	case "bashExecution":
		m.Parts = append(m.Parts, content.Text(piRan(said)))
	case "compactionSummary", "branchSummary":
		m.Kind = Compaction
		if said.Get("role").Str == "branchSummary" {
			m.Kind = Summary
		}
		m.Parts = append(m.Parts, content.Text(text(said.Get("summary"))))
	default:
		return nil
	}
	return m
}

// piRan returns what pi tells a model of a command that the user ran.
func piRan(ran gjson.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Ran `%s`\n", text(ran.Get("command")))
	if out := text(ran.Get("output")); out != "" {
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

// piParts returns the parts of content, which is a text or a list of blocks.
func piParts(said gjson.Result) []content.Part {
	list := []content.Part{}
	if said.Type == gjson.String {
		return append(list, content.Text(text(said)))
	}
	for _, b := range said.Array() {
		switch b.Get("type").Str {
		case "text":
			list = append(list, content.Text(text(b.Get("text"))))
		case "thinking":
			signature := b.Get("thinkingSignature").Str
			if b.Get("redacted").Bool() {
				list = append(list, content.Part{Type: content.TypeRedacted, Meta: rawjson.Compact(struct {
					Data string `json:"data"`
				}{signature})})
			} else {
				list = append(list, content.Thinking(text(b.Get("thinking")), signature))
			}
		case "image":
			list = append(list, content.Image(b.Get("mimeType").Str, b.Get("data").Str))
		case "toolCall":
			list = append(list, content.ToolCall(content.Call{ID: text(b.Get("id")), Name: text(b.Get("name")), Arguments: compact(b.Get("arguments").Raw)}))
		}
	}
	return list
}
