package convert

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/calls"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/session"
)

var update = flag.Bool("update", false, "write the table of docs/formats.md anew")

// A feature is a possible feature of a conversation, with a transcript that has it.
type feature struct {
	name   string
	probe  func() *transcript.Transcript
	marks  []string // texts by which a reader would still find it
	kept   func(t *transcript.Transcript) bool
	silent bool // the loss is obvious and is not reported for each message
}

const probeImage = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

var probeTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// features are the rows of the table.
func features() []feature {
	said := func(role string, parts ...content.Part) *transcript.Message {
		m := &transcript.Message{}
		m.Role, m.Parts = role, parts
		return m
	}
	// talk returns a linear conversation of messages between a question and an answer, as
	// every program has one.
	talk := func(middle ...*transcript.Message) func() *transcript.Transcript {
		return func() *transcript.Transcript {
			list := append([]*transcript.Message{said("user", content.Text("the first question"))}, middle...)
			list = append(list, said("assistant", content.Text("the last answer")))
			return inOrder(list)
		}
	}
	any := func(is func(m *transcript.Message, p *content.Part) bool) func(t *transcript.Transcript) bool {
		return func(t *transcript.Transcript) bool {
			return slices.ContainsFunc(t.Messages, func(m *transcript.Message) bool {
				for i := range m.Parts {
					if is(m, &m.Parts[i]) {
						return true
					}
				}
				return false
			})
		}
	}
	call := content.Call{ID: "toolu_1", Name: "read", Arguments: `{"path":"probe.ini"}`}
	tools := func(failed bool) func() *transcript.Transcript {
		return talk(said("assistant", content.ToolCall(call)),
			said("user", content.ToolResult(content.Call{ID: call.ID, Name: call.Name, Failed: failed}, "probe result")))
	}
	shown, err := content.Parse(content.Anthropic, []byte(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[`+
		`{"type":"text","text":"probe result"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+probeImage+`"}}]}]}`), nil)
	if err != nil {
		panic(err)
	}
	fork := func(leaf string) func() *transcript.Transcript {
		return func() *transcript.Transcript {
			t := talk(said("assistant", content.Text("probe one")), said("user", content.Text("go on")))()
			other := said("assistant", content.Text("probe other"))
			other.ID, other.Parent, other.Time = probeID(9), t.Messages[0].ID, probeTime.Add(time.Hour)
			t.Messages = append(t.Messages, other)
			t.Leaf = other.ID
			if leaf != "" {
				t.Leaf = leaf
			}
			return t
		}
	}
	kind := func(k transcript.Kind) func() *transcript.Transcript {
		m := said("user", content.Text("probe summary"))
		m.Kind = k
		return talk(said("assistant", content.Text("an answer")), m)
	}
	system := said("user", content.Text("probe system"))
	system.Own.Role = "system"
	named := said("user", content.Text("probe"))
	named.Own.Name = "ann"
	thought := said("assistant", content.Thinking("probe thought", "c2ln"), content.Text("so"))
	thought.Model = "claude-opus-4-5"
	thinking := talk(thought, said("user", content.Text("go on")))
	head := func(set func(*transcript.Transcript)) func() *transcript.Transcript {
		return func() *transcript.Transcript {
			t := talk()()
			set(t)
			return t
		}
	}
	return []feature{
		{"text", talk(said("user", content.Text("probe text"))), []string{"probe text"},
			any(func(m *transcript.Message, p *content.Part) bool { return m.Role == "user" && p.Text == "probe text" }), false},
		{"system messages", func() *transcript.Transcript {
			return inOrder(append([]*transcript.Message{system}, talk()().Messages...))
		}, []string{"probe system"},
			any(func(m *transcript.Message, p *content.Part) bool {
				return m.Own.Role != "" && strings.Contains(p.Text, "probe system")
			}), false},
		{"names of speakers", talk(named), []string{"ann"},
			any(func(m *transcript.Message, p *content.Part) bool { return m.Own.Name == "ann" }), false},
		{"thinking", thinking, []string{"probe thought"},
			any(func(m *transcript.Message, p *content.Part) bool {
				return p.Type == content.TypeThinking && p.Text == "probe thought"
			}), false},
		{"signatures of thinking", thinking, nil,
			any(func(m *transcript.Message, p *content.Part) bool {
				return p.Type == content.TypeThinking && bytes.Contains(p.Meta, []byte("c2ln"))
			}), false},
		{"tool calls", tools(false), []string{"probe.ini"},
			any(func(m *transcript.Message, p *content.Part) bool {
				c := p.Call()
				return p.Type == content.TypeToolCall && c.Name == call.Name && member.Compact(c.Arguments) == call.Arguments
			}), false},
		{"tool results", tools(false), []string{"probe result"},
			func(t *transcript.Transcript) bool {
				for _, m := range t.Messages {
					for i := range m.Parts {
						if p := &m.Parts[i]; p.Type == content.TypeToolResult && p.Text == "probe result" {
							return calls.Adjacent(t.Messages)[p]
						}
					}
				}
				return false
			}, false},
		{"marks of tools that failed", tools(true), []string{"failed"},
			any(func(m *transcript.Message, p *content.Part) bool {
				return p.Type == content.TypeToolResult && p.Call().Failed
			}), false},
		{"images", talk(said("user", content.Text("look"), content.Image("image/png", probeImage))), []string{"[image", probeImage},
			any(func(m *transcript.Message, p *content.Part) bool {
				_, data, _ := p.File()
				return p.Type == content.TypeImage && data == probeImage
			}), false},
		{"images in results", talk(said("assistant", content.ToolCall(call)), said("user", shown.Parts...)), []string{"[image"},
			any(func(m *transcript.Message, p *content.Part) bool {
				return bytes.Contains(p.Meta, []byte(probeImage)) && (p.Type == content.TypeToolResult || m.HasPart(content.TypeToolResult))
			}), false},
		{"branches", fork(""), []string{"[Branch 2](#branch-2)"},
			func(t *transcript.Transcript) bool { return len(tree.NewOutline(t).Children[firstID(t)]) == 2 }, true},
		{"the active branch", fork(probeID(3)), []string{"where the conversation continues"},
			func(t *transcript.Transcript) bool {
				for _, m := range t.Messages {
					if m.ID == t.Leaf {
						return slices.ContainsFunc(m.Parts, func(p content.Part) bool { return p.Text == "the last answer" })
					}
				}
				return false
			}, true},
		{"compaction", kind(transcript.Compaction), []string{"probe summary"},
			func(t *transcript.Transcript) bool {
				return slices.ContainsFunc(t.Messages, func(m *transcript.Message) bool { return m.Kind == transcript.Compaction })
			}, false},
		{"summaries of branches", kind(transcript.Summary), []string{"probe summary"},
			func(t *transcript.Transcript) bool {
				return slices.ContainsFunc(t.Messages, func(m *transcript.Message) bool { return m.Kind == transcript.Summary })
			}, false},
		{"titles", head(func(t *transcript.Transcript) { t.Title = "probe title" }), []string{"probe title"},
			func(t *transcript.Transcript) bool { return t.Title == "probe title" }, false},
		{"working folders", head(func(t *transcript.Transcript) { t.Dir = "/probe/folder" }), []string{"/probe/folder"},
			func(t *transcript.Transcript) bool { return t.Dir == "/probe/folder" }, false},
		{"models", head(func(t *transcript.Transcript) { t.Model, t.Messages[1].Model = "probe-model", "probe-model" }), []string{"probe-model"},
			func(t *transcript.Transcript) bool {
				return t.Model == "probe-model" || slices.ContainsFunc(t.Messages, func(m *transcript.Message) bool { return m.Model == "probe-model" })
			}, false},
		{"times", head(func(t *transcript.Transcript) { t.Messages[0].Time = probeTime.Add(time.Second) }), []string{"2026-03-04", fmt.Sprint(probeTime.Add(time.Second).UnixNano())},
			func(t *transcript.Transcript) bool {
				return slices.ContainsFunc(t.Messages, func(m *transcript.Message) bool { return m.Time.Equal(probeTime.Add(time.Second)) })
			}, false},
		{"ids of messages", talk(), nil,
			func(t *transcript.Transcript) bool { return firstID(t) == probeID(0) }, true},
	}
}

func probeID(n int) string { return fmt.Sprintf("0198a000-0000-7000-8000-%012d", n) }

func firstID(t *transcript.Transcript) string {
	for _, m := range t.Messages {
		if slices.ContainsFunc(m.Parts, func(p content.Part) bool { return p.Text == "the first question" }) {
			return m.ID
		}
	}
	return ""
}

// inOrder returns a linear conversation of messages, a second apart.
func inOrder(list []*transcript.Message) *transcript.Transcript {
	t := &transcript.Transcript{}
	t.ID, t.Created = probeID(100), probeTime
	for i, m := range list {
		m.ID, m.Time = probeID(i), probeTime.Add(time.Duration(i)*time.Second)
		if i > 0 {
			m.Parent = list[i-1].ID
		}
		t.Leaf = m.ID
	}
	t.Messages = list
	return t
}

// carried returns what remains of a feature in a format: yes if it is read again unchanged,
// text if a reader finds it in the text of a message, shown if it is in a file for people
// only, no if it is lost. lost are the reported losses.
func carried(f *Format, probe feature) (cell string, lost []transcript.Loss, err error) {
	t := probe.probe()
	if !f.Branches {
		t.Messages = pathTo(t, t.Leaf)
	} else {
		var ids, parents []string
		for _, m := range t.Messages {
			ids, parents = append(ids, m.ID), append(parents, m.Parent)
		}
		var list []*transcript.Message
		for _, i := range transcript.ActiveLast(ids, parents, t.Leaf) {
			list = append(list, t.Messages[i])
		}
		t.Messages = list
	}
	var b bytes.Buffer
	if lost, err = f.Write(&b, t, testOptions(probeID(200))); err != nil {
		return "", nil, err
	}
	visible := b.String()
	if f.Reads() {
		list, problems, err := f.ReadAll(&b)
		if err != nil || len(list) != 1 || len(problems) > 0 {
			return "", nil, fmt.Errorf("it is read as %d conversations, %v, %v:\n%s", len(list), problems, err, visible)
		}
		for i, m := range list[0].Messages {
			if m.Raw != nil {
				list[0].Messages[i] = transcript.FromSession(session.Message{ID: m.ID, Raw: m.Raw}, m.Parent)
			}
		}
		if probe.kept(list[0]) {
			return "yes", lost, nil
		}
		visible = ""
		for _, m := range list[0].Messages {
			for _, p := range m.Parts {
				visible += p.Text + "\n"
			}
		}
	}
	for _, mark := range probe.marks {
		if !strings.Contains(visible, mark) {
			continue
		}
		if !f.Reads() {
			return "shown", lost, nil
		}
		return "text", lost, nil
	}
	return "no", lost, nil
}

// onlyRead returns the names of the formats that are not in the table, in a sentence.
func onlyRead() string {
	var names []string
	for _, f := range Formats {
		if !f.Writes() {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// TestFormatsPage: each cell of the table in docs/formats.md is correct, every other loss is
// reported, and the formats without a column are named.
func TestFormatsPage(t *testing.T) {
	const page = "../docs/formats.md"
	const begin, end = "<!-- carried: begin -->\n", "<!-- carried: end -->\n"
	written := slices.DeleteFunc(slices.Clone(Formats), func(f *Format) bool { return !f.Writes() })
	var want strings.Builder
	want.WriteString("| |")
	for _, f := range written {
		want.WriteString(" " + f.Name + " |")
	}
	want.WriteString("\n|---|" + strings.Repeat("---|", len(written)) + "\n")
	for _, probe := range features() {
		want.WriteString("| " + probe.name + " |")
		for _, f := range written {
			cell, lost, err := carried(f, probe)
			if err != nil {
				t.Errorf("%s, %s: %v", probe.name, f.Name, err)
				continue
			}
			if cell != "yes" && !probe.silent && cell != "shown" && len(lost) == 0 {
				t.Errorf("%s, %s: %s, without a reported loss", probe.name, f.Name, cell)
			}
			want.WriteString(" " + cell + " |")
		}
		want.WriteString("\n")
	}
	fmt.Fprintf(&want, "\nbough only reads %s.\n", onlyRead())
	data := string(readFile(t, page))
	before, rest, _ := strings.Cut(data, begin)
	got, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no table between %q and %q", page, begin, end)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	rows, wanted := strings.Split(got, "\n"), strings.Split(want.String(), "\n")
	if got == want.String() {
		return
	}
	t.Errorf("the table in docs/formats.md is out of date: go test ./convert -run TestFormatsPage -update writes it")
	if len(rows) != len(wanted) {
		t.Fatalf("it has %d rows, want %d", len(rows), len(wanted))
	}
	for i := range wanted {
		if rows[i] != wanted[i] {
			t.Errorf("it has\n%s\nwant\n%s", rows[i], wanted[i])
		}
	}
}
