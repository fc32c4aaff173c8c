package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/gemini"
	"github.com/bough-dev/bough/convert/internal/member"
	"github.com/bough-dev/bough/convert/internal/opencode"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/testtranscript"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

var linearFormats = []*Format{codexFormat, geminiFormat, opencodeFormat, copilotFormat}

// drawn formats a transcript as the files of trees do: a line for each message, with the
// number of its parent and a star for the leaf.
func drawn(t *transcript.Transcript) string {
	var b strings.Builder
	names := map[string]string{"": "-"}
	for i, m := range t.Messages {
		names[m.ID] = fmt.Sprint(i)
		parent, ok := names[m.Parent]
		if !ok {
			parent = "?" + m.Parent
		}
		fmt.Fprintf(&b, "%d<%s%s %s%s %d:", i, parent, map[bool]string{true: "*"}[m.ID == t.Leaf], m.Role, m.Kind, len(m.Records))
		b.WriteString(said(m))
		b.WriteByte('\n')
	}
	return b.String()
}

// said returns the content of a message as text.
func said(m *transcript.Message) string {
	var b strings.Builder
	for j := range m.Parts {
		p := &m.Parts[j]
		c := p.Call()
		fmt.Fprintf(&b, " %s", p.Type)
		for _, s := range []string{c.ID, c.Name, c.Arguments, map[bool]string{true: "failed"}[c.Failed], p.Filename} {
			if s != "" {
				fmt.Fprintf(&b, " %s", s)
			}
		}
		if p.Text != "" {
			fmt.Fprintf(&b, " %q", p.Text)
		}
	}
	return b.String()
}

func linearOptions() transcript.Options {
	return transcript.Options{
		ID:     "019c0000-0000-7000-8000-00000000ffff",
		Now:    time.Date(2026, 11, 20, 7, 29, 4, 0, time.UTC),
		Random: rand.NewChaCha8([32]byte{1}),
	}
}

// TestLinearTrees reads the fixtures and compares the result with the file of the same name
// that ends in .tree.
func TestLinearTrees(t *testing.T) {
	for _, f := range linearFormats {
		for name, data := range linearFixtures(t, f) {
			t.Run(name, func(t *testing.T) {
				if got := Detect(data); got != f {
					t.Errorf("it is detected as %v", got)
				}
				list, problems, err := f.ReadAll(bytes.NewReader(data))
				if err != nil || len(list) != 1 {
					t.Fatalf("%d conversations: %v", len(list), err)
				}
				c := list[0].Conversation
				fork := "-"
				if c.Fork != nil {
					fork = fmt.Sprint(*c.Fork)
				}
				var b strings.Builder
				fmt.Fprintf(&b, "id %s\ntitle %s\ndir %s\nversion %s\nmodel %s\ncreated %s\nfork %s\nside %v\nrecords %d\n",
					c.ID, c.Title, c.Dir, c.Version, c.Model, c.Created.UTC().Format(time.RFC3339), fork, c.Side, len(c.Records))
				if c.BegunBy != "" {
					fmt.Fprintf(&b, "begun by %s\n", c.BegunBy)
				}
				for _, id := range slices.Sorted(maps.Keys(c.Began)) {
					fmt.Fprintf(&b, "began %s by %s\n", id, c.Began[id])
				}
				for _, p := range problems {
					fmt.Fprintf(&b, "problem in line %d: %s\n", p.Line, p.What)
				}
				b.WriteString(drawn(list[0]))
				path := filepath.Join("testdata", "trees", f.Name, strings.TrimSuffix(name, filepath.Ext(name))+".tree")
				want, err := os.ReadFile(path)
				if err != nil {
					t.Error(err)
				}
				if got := b.String(); got != string(want) {
					t.Errorf("it is\n%s\ninstead of\n%s", got, want)
				}
			})
		}
	}
}

func linearFixtures(t testing.TB, f *Format) map[string][]byte {
	names, err := filepath.Glob(filepath.Join("testdata", f.Name, "*.json*"))
	if err != nil || len(names) < 2 {
		t.Fatalf("%d fixtures: %v", len(names), err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = data
	}
	return files
}

// TestLinearRoundTrips holds the laws of fixtures.
func TestLinearRoundTrips(t *testing.T) {
	for _, f := range linearFormats {
		for name, data := range linearFixtures(t, f) {
			t.Run(name, func(t *testing.T) {
				if !comesBack(t, f, data) {
					t.Error("no conversation")
				}
			})
		}
	}
}

// unmarked returns a conversation without the rollback marks of its log: its tree has the
// same information, and a writer omits a mark that does not match the leaf.
func unmarked(tr *transcript.Transcript) *transcript.Transcript {
	one := *tr
	one.Messages = nil
	for _, m := range tr.Messages {
		m := *m
		m.Records = slices.DeleteFunc(slices.Clone(m.Records), func(r json.RawMessage) bool {
			return bytes.Contains(r, []byte(`"thread_rolled_back"`)) || bytes.Contains(r, []byte(`"$rewindTo"`))
		})
		one.Messages = append(one.Messages, &m)
	}
	return &one
}

// comesBack reports whether data can be read, and fails if a conversation in it changes
// when it is written and read again, whole and up to each of its messages.
func comesBack(t *testing.T, f *Format, data []byte) bool {
	list, _, err := f.ReadAll(bytes.NewReader(data))
	if err != nil {
		return false
	}
	for _, tr := range list {
		native := tr.ID != "" && !slices.ContainsFunc(tr.Messages, func(m *transcript.Message) bool {
			return f == geminiFormat && len(m.Records) > 0 && gemini.RecordID(m) == ""
		})
		if native && (f.Branches || len(paths(tr)) == 1) {
			back, _ := rewritten(t, f, tr)
			back, tr := unmarked(back), unmarked(tr)
			if got, want := drawn(back), drawn(tr); got != want {
				t.Errorf("of\n%s\ncame\n%s", want, got)
			}
			for i := range min(len(back.Messages), len(tr.Messages)) {
				if a, b := back.Messages[i].ID, tr.Messages[i].ID; a != b && f != opencodeFormat {
					t.Errorf("the message %s came back as %s", b, a)
				}
			}
			if a, b := recordsOf(back), recordsOf(tr); !slices.Equal(a, b) {
				t.Errorf("the records\n%s\nbecame\n%s", strings.Join(b, "\n"), strings.Join(a, "\n"))
			}
		}
		for _, m := range tr.Messages {
			part := *tr
			part.Leaf, part.Messages = m.ID, pathTo(tr, m.ID)
			back, lost := rewritten(t, f, &part)
			if a, b := active(back), active(&part); a != b && len(lost) == 0 && inTurn(a) != inTurn(b) {
				t.Errorf("the path\n%s\nbecame\n%s", b, a)
			}
		}
	}
	return true
}

// inTurn returns the result of [active] without the borders between consecutive messages of
// an assistant: a thought alone may be part of the answer after it.
func inTurn(drawn string) string {
	lines := strings.Split(drawn, "\n")
	out := lines[:1]
	for _, l := range lines[1:] {
		if more, ok := strings.CutPrefix(l, "assistant "); ok && strings.HasPrefix(out[len(out)-1], "assistant ") {
			out[len(out)-1] += " " + more
		} else {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// rewritten writes a transcript and reads it again.
func rewritten(t *testing.T, f *Format, tr *transcript.Transcript) (*transcript.Transcript, []transcript.Loss) {
	var b bytes.Buffer
	lost, err := f.Write(&b, tr, linearOptions())
	if err != nil {
		t.Fatal(err)
	}
	list, problems, err := f.ReadAll(bytes.NewReader(b.Bytes()))
	if err == ErrNothing && len(lost) > 0 {
		return &transcript.Transcript{}, lost
	}
	if err != nil || len(list) != 1 || len(problems) > 0 {
		t.Fatalf("%d conversations, %v: %v, of\n%s\nwritten as\n%s", len(list), problems, err, drawn(tr), b.Bytes())
	}
	return list[0], lost
}

// oldestCodexKind returns the type that a record without a payload has in later versions of
// Codex, "" for a record that has a payload or is not kept.
func oldestCodexKind(v gjson.Result) string {
	switch {
	case v.Get("payload").IsObject():
		return ""
	case v.Get("type").Str != "":
		return "response_item"
	case v.Get("id").Exists() && !v.Get("record_type").Exists():
		return "session_meta"
	}
	return ""
}

// completedItemAsMessage returns the event item_completed of a message as the event that
// logs without ordinals have for it, and any other event unchanged.
func completedItemAsMessage(raw []byte) []byte {
	item, text := gjson.GetBytes(raw, "payload.item"), ""
	for _, part := range item.Get("content").Array() {
		text += part.Get("text").Str
	}
	event := map[string]any{"message": text}
	switch kind := item.Get("type").Str; {
	case text == "":
		return raw
	case kind == "UserMessage":
		event["type"], event["images"] = "user_message", []string{}
	case kind == "AgentMessage":
		event["type"] = "agent_message"
	default:
		return raw
	}
	raw, _ = sjson.SetBytes(raw, "payload", event)
	return raw
}

// recordsOf returns the records of a transcript without the members that must differ.
func recordsOf(t *transcript.Transcript) (list []string) {
	add := func(records []json.RawMessage) {
		for _, raw := range records {
			v := gjson.ParseBytes(raw)
			if kind := oldestCodexKind(v); t.Format == "codex" && kind != "" {
				raw = []byte(`{"type":"` + kind + `","payload":` + string(raw) + `}`)
				v = gjson.ParseBytes(raw)
			}
			if v.Get("payload.type").Str == "item_completed" {
				raw = completedItemAsMessage(raw)
			}
			paths := []string{"sessionId", "data.sessionId", "$set.sessionId", "ordinal", "timestamp", "payload.id", "payload.session_id", "payload.thread_id",
				"payload.forked_from_id", "payload.forked_from_ordinal_exclusive", "payload.history_base", "payload.history_mode",
				"kind", "info.id", "info.sessionID", "info.time.created", "info.parentID", "info.revert", "projectHash"}
			for i := range v.Get("parts").Array() {
				paths = append(paths, fmt.Sprintf("parts.%d.id", i), fmt.Sprintf("parts.%d.sessionID", i), fmt.Sprintf("parts.%d.messageID", i))
			}
			if v.Get("type").Str == "session_meta" {
				paths = append(paths, "payload.cwd", "payload.originator", "payload.cli_version")
			}
			for _, path := range paths {
				raw, _ = sjson.DeleteBytes(raw, path)
			}
			list = append(list, member.Compact(string(raw)))
		}
	}
	add(t.Records)
	for _, m := range t.Messages {
		add(m.Records)
	}
	// A log that discarded everything continues with its last message.
	isMark := func(raw string) bool {
		return strings.Contains(raw, "thread_rolled_back") || strings.Contains(raw, "$rewindTo")
	}
	for n := len(list); n > 0 && isMark(list[n-1]) && t.Leaf == t.Messages[len(t.Messages)-1].ID; n-- {
		list = list[:n-1]
	}
	return list
}

func pathTo(t *transcript.Transcript, id string) []*transcript.Message {
	return tree.NewOutline(t).PathTo(id)
}

// active returns the text of the path to the leaf.
func active(t *transcript.Transcript) string {
	var b strings.Builder
	for _, m := range pathTo(t, t.Leaf) {
		fmt.Fprintf(&b, "%s%s%s\n", m.Role, m.Kind, said(m))
	}
	return b.String()
}

// paths returns the text of the path to each leaf, in order.
func paths(t *transcript.Transcript) (list []string) {
	parents := map[string]bool{}
	for _, m := range t.Messages {
		parents[m.Parent] = true
	}
	for _, m := range t.Messages {
		if !parents[m.ID] {
			end := *t
			end.Leaf = m.ID
			list = append(list, active(&end))
		}
	}
	slices.Sort(list)
	return list
}

// TestLinearWithoutRecords writes trees of messages without records and reads them again:
// each path is the same, and so is the active one.
func TestLinearWithoutRecords(t *testing.T) {
	for seed := range testsize.Of(15, 30, 300) {
		random := rand.New(rand.NewPCG(uint64(seed), 9))
		tr := testtranscript.Tree(random)
		for _, f := range []*Format{codexFormat, geminiFormat} {
			var b bytes.Buffer
			lost, err := f.Write(&b, tr, linearOptions())
			if f == geminiFormat { // which has a hash of the folder
				lost = slices.DeleteFunc(lost, func(l transcript.Loss) bool { return strings.HasPrefix(l.What, "working folders") })
			}
			if err != nil || len(lost) > 0 {
				t.Fatalf("%v %v", lost, err)
			}
			list, problems, err := f.ReadAll(&b)
			if err != nil || len(problems) > 0 {
				t.Fatalf("%v: %v", problems, err)
			}
			if got, want := active(list[0]), active(tr); got != want {
				t.Fatalf("%s, %d: the active path\n%s\nis now\n%s", f.Name, seed, want, got)
			}
			for _, path := range paths(tr) {
				if !slices.Contains(paths(list[0]), path) {
					t.Fatalf("%s, %d: a path is lost:\n%s\nthe paths are\n%s", f.Name, seed, path, strings.Join(paths(list[0]), "\n"))
				}
			}
			if got, want := len(paths(list[0])), len(paths(tr)); got != want {
				t.Fatalf("%s, %d: of %d ends came %d", f.Name, seed, want, got)
			}
		}
	}
}

func FuzzCodex(f *testing.F)    { fuzzLinear(f, codexFormat) }
func FuzzGemini(f *testing.F)   { fuzzLinear(f, geminiFormat) }
func FuzzOpenCode(f *testing.F) { fuzzLinear(f, opencodeFormat) }
func FuzzCopilot(f *testing.F)  { fuzzLinear(f, copilotFormat) }

func fuzzLinear(f *testing.F, format *Format) {
	f.Add([]byte(`{"id":"","type":"user","content":"One"}` + "\n" + `{"id":"a","type":"gemini","content":"Two"}`))
	f.Add([]byte(`{"info":{"id":"ses_1"},"messages":[{"info":{"role":"user"}},0]}`))
	for _, data := range linearFixtures(f, format) {
		f.Add(data)
	}
	// Output is one conversation, and is read without problems. Truncated logs are
	// excluded: if a log is torn between an item for the model and its event for the user,
	// its reading is ambiguous.
	f.Fuzz(func(t *testing.T, data []byte) {
		list, _, err := format.ReadAll(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, tr := range list {
			if !format.Branches {
				tr.Messages = pathTo(tr, tr.Leaf)
			}
			back, _ := rewritten(t, format, tr)
			if len(back.Messages) > 0 {
				rewritten(t, format, back)
			}
		}
	})
}

// TestCodexCopies: the messages in a copy of a conversation have the ids of the original,
// also in a copy of a copy.
func TestCodexCopies(t *testing.T) {
	said := `{"type":"event_msg","payload":{"type":"user_message","message":"One"}}
{"timestamp":"%s","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"One"}],"internal":"%s"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two"}]}}
`
	meta := `{"type":"session_meta","payload":{"id":"%s","cwd":"/x"%s}}` + "\n"
	read := func(data string) *transcript.Transcript {
		list, problems, err := codexFormat.ReadAll(strings.NewReader(data))
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		return list[0]
	}
	first := read(fmt.Sprintf(meta, "a", "") + fmt.Sprintf(said, "2026-01-01T00:00:00Z", "x"))
	forked := `,"forked_from_id":"%s"`
	copies := map[string]*transcript.Transcript{
		"a copy":                 read(fmt.Sprintf(meta, "b", fmt.Sprintf(forked, "a")) + fmt.Sprintf(said, "2026-02-01T00:00:00Z", "y")),
		"a copy with the source": read(fmt.Sprintf(meta, "b", fmt.Sprintf(forked, "a")) + fmt.Sprintf(meta, "a", "") + fmt.Sprintf(said, "2026-02-01T00:00:00Z", "y")),
		"a copy of a copy":       read(fmt.Sprintf(meta, "c", fmt.Sprintf(forked, "b")) + fmt.Sprintf(meta, "b", fmt.Sprintf(forked, "a")) + fmt.Sprintf(said, "2026-02-01T00:00:00Z", "y")),
	}
	written, _ := rewritten(t, codexFormat, first)
	copies["an export"] = written
	for what, c := range copies {
		for i, m := range first.Messages {
			if c.Messages[i].ID != m.ID {
				t.Errorf("%s: message %d is %s, and was %s", what, i, c.Messages[i].ID, m.ID)
			}
		}
		if c.Fork == nil || c.ID == "a" {
			t.Errorf("%s: it is %s, and a copy of %v", what, c.ID, c.Fork)
		}
	}
	if other := read(fmt.Sprintf(meta, "z", "") + fmt.Sprintf(said, "2026-01-01T00:00:00Z", "x")); other.Messages[0].ID == first.Messages[0].ID {
		t.Error("two conversations with the same beginning share a message")
	}
}

// sha256Hex returns the SHA-256 of a text in hexadecimal digits.
func sha256Hex(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// TestLinearFolders: each program keeps its transcripts in its folder, and continues them
// with its command.
func TestLinearFolders(t *testing.T) {
	home := filepath.FromSlash("/home/ada")
	m := transcript.Machine{
		Home: home,
		Env:  func(string) string { return "" },
		Read: func(path string) ([]byte, error) {
			if path != filepath.Join(home, ".gemini", "projects.json") {
				return nil, os.ErrNotExist
			}
			return []byte(`{"projects":{"/known":"birds","/hostile":"../up"}}`), nil
		},
	}
	o := linearOptions()
	for _, c := range []struct {
		f           *Format
		dir         string
		target      string
		before, run string
	}{
		{codexFormat, "/known", ".codex/sessions/2026/11/20/rollout-2026-11-20T07-29-04-" + o.ID + ".jsonl", "", "codex resume " + o.ID},
		{geminiFormat, "/known", ".gemini/tmp/birds/chats/session-2026-11-20T07-29-" + gemini.SessionID(o.ID)[:8] + ".jsonl", "", "gemini --resume " + gemini.SessionID(o.ID)},
		{geminiFormat, "/x", ".gemini/tmp/" + sha256Hex("/x") + "/chats/session-2026-11-20T07-29-" + gemini.SessionID(o.ID)[:8] + ".jsonl", "", "gemini --resume " + gemini.SessionID(o.ID)},
		{geminiFormat, "/hostile", ".gemini/tmp/" + sha256Hex("/hostile") + "/chats/session-2026-11-20T07-29-" + gemini.SessionID(o.ID)[:8] + ".jsonl", "", "gemini --resume " + gemini.SessionID(o.ID)},
		{opencodeFormat, "/known", "", "opencode import FILE", "opencode -s " + opencode.SessionID(o.ID)},
		{clineFormat, "/known", ".cline/data/sessions/" + o.ID + "/" + o.ID + ".messages.json", "", "cline --id " + o.ID},
		{copilotFormat, "/known", ".copilot/session-state/" + o.ID + "/events.jsonl", "", "copilot --resume " + o.ID},
	} {
		tr := &transcript.Transcript{}
		tr.Dir = c.dir
		want := c.target
		if want != "" {
			want = filepath.Join(home, filepath.FromSlash(want))
		}
		if got := c.f.Target(m, tr, o); got != want {
			t.Errorf("%s: the path is %s, want %s", c.f.Name, got, want)
		}
		before, run := c.f.Resume(m, "FILE", tr, o)
		if strings.Join(before, " ") != c.before || strings.Join(run, " ") != c.run {
			t.Errorf("%s: the commands to continue are %q, %q", c.f.Name, before, run)
		}
	}
	for path, want := range map[string]*Format{
		"2026/11/20/rollout-2026-11-20T07-29-04-x.jsonl":    codexFormat,
		"birds/chats/session-x.jsonl":                       geminiFormat,
		"birds/chats/parent/x.json":                         geminiFormat,
		"birds/checkpoint-x.json":                           geminiFormat,
		"birds/logs.json":                                   nil,
		"019c0000-0000-7000-8000-00000000ffff/events.jsonl": copilotFormat,
		"019c0000-0000-7000-8000-00000000ffff.jsonl":        copilotFormat,
		"2026/history.jsonl":                                nil,
	} {
		for _, f := range []*Format{codexFormat, geminiFormat, copilotFormat} {
			if got := f.Holds(path); got != (f == want) {
				t.Errorf("%s may be of %s: %v", path, f.Name, got)
			}
		}
	}
}

// TestOpenCodeOrder: times and ids always increase, whatever times the messages have,
// because the program sorts by them.
func TestOpenCodeOrder(t *testing.T) {
	o := linearOptions()
	tr := &transcript.Transcript{}
	for i, at := range []time.Time{{}, o.Now.Add(-time.Hour), o.Now.Add(-2 * time.Hour), {}, o.Now} {
		m := &transcript.Message{ID: fmt.Sprint(i), Time: at}
		m.Role, m.Parts = []string{"user", "assistant"}[i%2], []content.Part{content.Text(fmt.Sprint(i))}
		if i > 0 {
			m.Parent = fmt.Sprint(i - 1)
		}
		tr.Messages = append(tr.Messages, m)
	}
	tr.Leaf = "4"
	var b bytes.Buffer
	if _, err := opencodeFormat.Write(&b, tr, o); err != nil {
		t.Fatal(err)
	}
	id, at := "", int64(0)
	list := gjson.GetBytes(b.Bytes(), "messages").Array()
	for i, m := range list {
		if m.Get("parts.0.text").Str != fmt.Sprint(i) || m.Get("info.id").Str <= id || m.Get("info.time.created").Int() <= at {
			t.Errorf("message %d comes before the one before it: %s", i, m.Raw)
		}
		id, at = m.Get("info.id").Str, m.Get("info.time.created").Int()
	}
	if len(list) != 5 {
		t.Errorf("%d messages", len(list))
	}
}

// TestLinearParallelCalls: calls that were stored one by one before their results become
// one answer in formats that keep calls with their results.
func TestLinearParallelCalls(t *testing.T) {
	list, _, err := codexFormat.ReadAll(bytes.NewReader(linearFixtures(t, codexFormat)["rollback.jsonl"]))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Format{geminiFormat, opencodeFormat} {
		part := *list[0]
		part.Leaf = part.Messages[5].ID
		part.Messages = pathTo(list[0], part.Leaf)
		back, _ := rewritten(t, f, &part)
		const want = `user text "Which birds winter here?"
assistant thinking "Look into the list." tool-call call_1 shell {"command":["cat","list.txt"]} tool-call call_2 shell {"command":["date"]}
user tool-result call_1 shell "wren\ntit" tool-result call_2 shell failed "no such command"
assistant text "Wrens and tits."
`
		if got := active(back); got != want {
			t.Errorf("%s says\n%s\nwant\n%s", f.Name, got, want)
		}
	}
}
