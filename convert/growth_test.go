package convert

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
)

// A grower is a format whose transcripts grow: by records, or as a document that may end
// anywhere while it is written. draw returns a transcript as its program might write it; it
// is nil for formats that are tested only with bough's output and the fixtures.
type grower struct {
	f    *Format
	draw func(*rand.Rand) []byte
}

var growers = []grower{
	{penguinFormat, nil},
	{piFormat, nil},
	{codexFormat, testtranscript.Codex},
	{geminiFormat, testtranscript.Gemini},
	{opencodeFormat, testtranscript.OpenCode},
	{chatGPTFormat, testtranscript.ChatGPT},
	{claudeAIFormat, nil},
	{openAssistantFormat, nil},
	{anthropicAPIFormat, testtranscript.Anthropic},
	{openAIFormat, nil},
	{openWebUIFormat, nil},
	{copilotFormat, testtranscript.Copilot},
	{clineFormat, nil},
	{libreChatFormat, nil},
	{messagesFormat, nil},
	{shareGPTFormat, nil},
	{aiSDKFormat, nil},
	{qwenFormat, testtranscript.Qwen},
	{sillyTavernFormat, nil},
	{aiderFormat, nil},
	{ampFormat, nil},
	{copilotChatFormat, nil},
	{gooseFormat, nil},
	{antigravityFormat, nil},
	{cursorFormat, nil},
}

// growElsewhere are the other formats, with the reason.
var growElsewhere = map[*Format]string{
	claudeCodeFormat: "TestClaudeGrows of convert/internal/claude",
	llmFormat:        "a prefix of a database is not a database; TestLLMDatabaseGrows",
	zedFormat:        "a prefix of a database is not a database",
}

// TestGrowers: each format that bough reads is in one of the lists.
func TestGrowers(t *testing.T) {
	for _, f := range Formats {
		listed := slices.ContainsFunc(growers, func(g grower) bool { return g.f == f })
		if f.Reads() && listed == (growElsewhere[f] != "") {
			t.Errorf("add %s to growers, or to growElsewhere with a reason", f.Name)
		}
	}
}

// TestGrowth: all messages of a prefix of a transcript except for the last one are those of
// the whole transcript. The last one is too, or it is open. A message without records
// counts with the message before it, whose record it is part of.
func TestGrowth(t *testing.T) {
	for _, g := range growers {
		t.Run(g.f.Name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 7))
			var files [][]byte
			for range testsize.Of(1, 2, 12) {
				if !g.f.Writes() {
					break
				}
				var b bytes.Buffer
				tr := testtranscript.Tree(random)
				if !g.f.Branches {
					tr.Messages = pathTo(tr, tr.Leaf)
				}
				if _, err := g.f.Write(&b, tr, linearOptions()); err != nil {
					t.Fatal(err)
				}
				files = append(files, b.Bytes())
			}
			for range testsize.Of(2, 5, 60) {
				if g.draw != nil {
					files = append(files, g.draw(random))
				}
			}
			if !slices.Contains([]*Format{piFormat, claudeCodeFormat, openAssistantFormat}, g.f) { // whose fixtures have parents after their children
				for _, name := range fixturesOf(t, g.f) {
					files = append(files, readFile(t, name))
				}
			}
			for _, data := range files {
				if err := grows(g.f, data, random); err != nil {
					t.Fatalf("%v, of\n%s", err, data)
				}
			}
		})
	}
}

// grows returns a violation of the law of [TestGrowth] by a prefix of a transcript, or nil.
func grows(f *Format, data []byte, random *rand.Rand) error {
	whole, _, _ := f.ReadAll(bytes.NewReader(data))
	for _, cut := range cuts(data, random) {
		part, _, _ := f.ReadAll(bytes.NewReader(data[:cut]))
		for i, c := range part {
			if i >= len(whole) {
				return fmt.Errorf("cut after %d bytes: a second conversation", cut)
			}
			if err := begins(c, whole[i]); err != nil {
				return fmt.Errorf("cut after %d bytes: %w\n%s\nis of\n%s", cut, err, drawn(c), drawn(whole[i]))
			}
		}
	}
	return nil
}

// cuts returns the offsets of the ends of lines, and some inside lines.
func cuts(data []byte, random *rand.Rand) (list []int) {
	at := 0
	for line := range bytes.Lines(data) {
		for range 1 + len(line)/200 {
			list = append(list, at+random.IntN(len(line)))
		}
		at += len(line)
		list = append(list, at)
	}
	return list
}

// begins returns a reason why part is not a prefix of whole, or nil.
func begins(part, whole *transcript.Transcript) error {
	all := map[string]*transcript.Message{}
	for _, m := range whole.Messages {
		all[m.ID] = m
	}
	last := len(part.Messages) - 1
	for last > 0 && len(part.Messages[last].Records) == 0 {
		last--
	}
	for i, m := range part.Messages {
		is := all[m.ID]
		var what string
		switch {
		case is == nil:
			what = "is not there"
		case is.Parent != m.Parent:
			what = "follows " + is.Parent
		case is.Role != m.Role || is.Own.Role != m.Own.Role || is.Kind != m.Kind || said(is) != said(m):
			what = "says" + said(is)
		default:
			continue
		}
		switch {
		case i < last:
			return fmt.Errorf("the message %d, %s, %s", i, m.ID, what)
		case !m.Open:
			return fmt.Errorf("the last message %d, %s, is not open, and %s", i, m.ID, what)
		}
	}
	return nil
}

// TestOpen: the last message of a truncated transcript is open if it may be incomplete, and
// none is in a whole transcript.
func TestOpen(t *testing.T) {
	const meta = `{"type":"session_meta","payload":{"id":"s"}}` + "\n"
	const told = `{"type":"event_msg","payload":{"type":"agent_message","message":"One"}}` + "\n"
	const item = `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One"}]}}` + "\n"
	const thought = `{"type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]}}` + "\n"
	const starts = `{"type":"event_msg","payload":{"type":"task_started"}}` + "\n"
	const ends = `{"type":"event_msg","payload":{"type":"task_complete"}}` + "\n"
	const export = `{"info":{"id":"ses_1"},"messages":[{"info":{"id":"msg_1","role":"user","time":{"created":1}},"parts":[{"type":"text","text":"One"}]},` +
		`{"info":{"id":"msg_2","role":"assistant","time":{"created":2%s}},"parts":[{"type":"tool","tool":"f","callID":"c","state":{"status":"completed","output":"x"}}]}]}`
	const chat = `{"mapping":{"a":{"id":"a","parent":null,"message":{"author":{"role":"assistant"},"status":"%s","content":{"content_type":"text","parts":["One"]}}}}}`
	const web = `{"uuid":"c","chat_messages":[{"uuid":"a","sender":"assistant","content":[{"type":"text","text":"One","start_timestamp":"2026-01-01T00:00:00Z","stop_timestamp":%s}]}]}`
	for _, c := range []struct {
		f    *Format
		in   string
		open string // a letter for each message, o for an open one
	}{
		{codexFormat, meta + told, "o"},
		{codexFormat, meta + told + item, "-"},
		{codexFormat, meta + item + thought, "-o"},
		{codexFormat, meta + starts + item, "o"},
		{codexFormat, meta + starts + item + ends, "-"},
		{geminiFormat, `{"sessionId":"s","projectHash":"0"}` + "\n" + `{"id":"a","type":"user","content":"One"}`, "-"},
		{geminiFormat, `{"sessionId":"s","projectHash":"0"}` + "\n" + `{"id":"a","type":"user","content":"One"}` + "\n" + `{"id":"b","type":"gemini","content":"","toolCalls":[{"id":"c","name":"f","result":"x"}]}`, "-oo"},
		{opencodeFormat, fmt.Sprintf(export, ""), "-oo"},
		{opencodeFormat, fmt.Sprintf(export, `,"completed":3`), "---"},
		{chatGPTFormat, fmt.Sprintf(chat, "in_progress"), "o"},
		{chatGPTFormat, fmt.Sprintf(chat, "finished_successfully"), "-"},
		{claudeAIFormat, fmt.Sprintf(web, "null"), "o"},
		{claudeAIFormat, fmt.Sprintf(web, `"2026-01-01T00:00:01Z"`), "-"},
	} {
		list, _, err := c.f.ReadAll(strings.NewReader(c.in))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range list[0].Messages {
			got += map[bool]string{true: "o", false: "-"}[m.Open]
		}
		if got != c.open {
			t.Errorf("%s: open are %s, want %s, in\n%s", c.f.Name, got, c.open, c.in)
		}
	}
}

// TestSystemFirst: a request to Anthropic is written with its system before the messages,
// so that a truncated one can be read.
func TestSystemFirst(t *testing.T) {
	tr := &transcript.Transcript{}
	for i, m := range []content.Message{
		{Role: "user", Own: content.Own{Role: "system"}, Parts: []content.Part{content.Text("Be brief.")}},
		{Role: "user", Parts: []content.Part{content.Text("One")}},
	} {
		tr.Messages = append(tr.Messages, &transcript.Message{Message: m, ID: fmt.Sprint(i), Parent: []string{"", "0"}[i]})
	}
	var b bytes.Buffer
	if _, err := anthropicAPIFormat.Write(&b, tr, linearOptions()); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Index(s, `"system"`) > strings.Index(s, `"messages"`) || !strings.Contains(s, `"system"`) {
		t.Errorf("written was\n%s", s)
	}
}

// TestCodexEventTime: a message of Codex has the time of its event for the user, with or without
// the item for the model.
func TestCodexEventTime(t *testing.T) {
	const told = `{"type":"session_meta","payload":{"id":"s"}}` + "\n" +
		`{"timestamp":"2026-01-01T00:00:01Z","type":"event_msg","payload":{"type":"agent_message","message":"One"}}` + "\n"
	const item = `{"timestamp":"2026-01-01T00:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One"}]}}` + "\n"
	for _, in := range []string{told, told + item} {
		list, _, err := codexFormat.ReadAll(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := list[0].Messages[0].Time.Second(); len(list[0].Messages) != 1 || got != 1 {
			t.Errorf("%d messages, the first at second %d, want 1 at 1, in\n%s", len(list[0].Messages), got, in)
		}
	}
}
