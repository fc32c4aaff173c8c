package convert

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

const nativeID = "5e550000-0000-4000-8000-0000000000ff"

// nativeChain returns a transcript of messages that follow each other, without records.
func nativeChain(messages ...*transcript.Message) *transcript.Transcript {
	parent := ""
	for i, m := range messages {
		m.ID, m.Parent = "11111111-2222-4333-8444-00000000000"+string(rune('1'+i)), parent
		parent = m.ID
	}
	return &transcript.Transcript{Messages: messages}
}

func nativeUser(parts ...content.Part) *transcript.Message {
	return &transcript.Message{Message: content.Message{Role: "user", Parts: parts}}
}

func nativeModel(model string, parts ...content.Part) *transcript.Message {
	return &transcript.Message{Message: content.Message{Role: "assistant", Parts: parts}, Model: model}
}

// TestNativeLosses: data that a program cannot represent is reported, or written as text.
func TestNativeLosses(t *testing.T) {
	hi := content.Text("Hi")
	call := content.ToolCall(content.Call{ID: "c:1|x", Name: "read", Arguments: `{"path":"a"}`})
	result := content.ToolResult(content.Call{ID: "c:1|x"}, "A")
	hidden := content.Part{Type: content.TypeRedacted, Meta: []byte(`{"data":"b3BhcXVl"}`)}
	system := nativeUser(content.Text("Be brief."))
	system.Own.Role = "system"
	named := nativeUser(hi)
	named.Own.Name = "Ann"
	summary := nativeUser(content.Text("Elsewhere."))
	summary.Kind = transcript.Summary
	orphan := nativeUser(hi)
	for _, c := range []struct {
		name   string
		tr     *transcript.Transcript
		claude string // losses
		pi     string
		says   string // the text in both files
	}{
		{"signed thinking of Claude's", nativeChain(nativeUser(hi), nativeModel("claude-opus-4-5", content.Thinking("Hm.", "c2ln"), hi)), "", "", `"c2ln"`},
		{"signed thinking of another", nativeChain(nativeUser(hi), nativeModel("gpt-5", content.Thinking("Hm.", "c2ln"), hi)), "thinking 1", "signatures of thinking 1", `"Hi"`},
		{"thinking without a signature", nativeChain(nativeUser(hi), nativeModel("claude-opus-4-5", content.Thinking("Hm.", ""), hi)), "thinking 1", "", `"Hi"`},
		{"nothing but thinking", nativeChain(nativeUser(hi), nativeModel("", content.Thinking("Hm.", "")), nativeUser(content.Text("Go on"))), "thinking 1; messages without remaining content 1", "", `"Go on"`},
		{"hidden thinking", nativeChain(nativeUser(hi), nativeModel("gpt-5", hidden, hi)), "hidden thinking 1", "hidden thinking 1", `"Hi"`},
		{"a call without a result", nativeChain(nativeUser(hi), nativeModel("m", call), nativeUser(hi)), "tool calls, converted to text 1", "tool calls, converted to text 1", `[called read] {\"path\":\"a\"}`},
		{"an open call at the end", nativeChain(nativeUser(hi), nativeModel("m", call)), "", "", `"a"}`},
		{"a result without a call", nativeChain(nativeUser(result)), "tool results, converted to text 1", "tool results, converted to text 1", `[the tool said] A`},
		{"a call and its result", nativeChain(nativeModel("m", call), nativeUser(result)), "", "", `"A"`},
		{"a system message", nativeChain(system), "system messages, converted to messages of the user 1", "system messages, converted to messages of the user 1", `Be brief.`},
		{"a name", nativeChain(named), "names of speakers 1", "names of speakers 1", `"Hi"`},
		{"a summary of a branch", nativeChain(nativeUser(hi), summary), "marks of summaries 1", "", `"Elsewhere."`},
		{"audio", nativeChain(nativeUser(hi, content.Part{Type: content.TypeAudio, Meta: []byte(`{"data":"AA==","format":"wav"}`)})), "audio 1", "audio 1", `"Hi"`},
		{"an image elsewhere", nativeChain(nativeUser(content.ImageURL("https://example.org/a.png"))), "", "images stored elsewhere 1", `https://example.org/a.png`},
	} {
		for i, name := range []string{"claude-code", "pi"} {
			f := nativeFormat(t, name)
			out, lost := nativeWrite(t, f, c.tr, nativeID)
			var told []string
			for _, l := range lost {
				told = append(told, l.What+" "+string(rune('0'+l.Count)))
			}
			if got, want := strings.Join(told, "; "), []string{c.claude, c.pi}[i]; got != want {
				t.Errorf("%s in %s: lost %q, want %q", c.name, name, got, want)
			}
			if !bytes.Contains(out, []byte(c.says)) {
				t.Errorf("%s in %s: no message has %s:\n%s", c.name, name, c.says, out)
			}
			if _, problems := nativeRead(t, f, out); len(problems) > 0 {
				t.Errorf("%s in %s: %v", c.name, name, problems)
			}
		}
	}
	tr := nativeChain(orphan)
	tr.Messages[0].Parent = "nowhere"
	for _, name := range []string{"claude-code", "pi"} {
		out, lost := nativeWrite(t, nativeFormat(t, name), tr, nativeID)
		if len(lost) != 1 || lost[0].What != "links to missing messages" || bytes.Contains(out, []byte("nowhere")) {
			t.Errorf("an orphan in %s: lost %v of\n%s", name, lost, out)
		}
	}
	out, _ := nativeWrite(t, nativeFormat(t, "claude-code"), nativeChain(nativeModel("m", call), nativeUser(result)), nativeID)
	if !bytes.Contains(out, []byte(`"id":"c_1_x"`)) || !bytes.Contains(out, []byte(`"tool_use_id":"c_1_x"`)) {
		t.Errorf("Anthropic rejects ids of calls:\n%s", out)
	}
}

// TestNativeAnswers: the parts of an answer are one message before the results, because the
// programs answer open calls themselves at the next answer.
func TestNativeAnswers(t *testing.T) {
	call := func(id string) content.Part {
		return content.ToolCall(content.Call{ID: id, Name: "f", Arguments: "{}"})
	}
	result := func(id string) *transcript.Message {
		return nativeUser(content.ToolResult(content.Call{ID: id, Name: "f"}, "of "+id))
	}
	for _, c := range []struct {
		name string
		tr   *transcript.Transcript
		want string
	}{
		{"calls one after the other", nativeChain(nativeUser(content.Text("Go")), nativeModel("m", call("1")), nativeModel("m", call("2")), result("1"), result("2"), nativeModel("m", content.Text("So"))), "Go|1 2|of 1|of 2|So"},
		{"a call after the first result", nativeChain(nativeModel("m", call("1"), call("2")), result("1"), nativeModel("m", call("3")), result("2"), result("3")), "1 2 3|of 1|of 2|of 3"},
		{"a call after its turn", nativeChain(nativeModel("m", call("1")), result("1"), nativeModel("m", call("2")), result("2")), "1|of 1|2|of 2"},
		{"a prompt between", nativeChain(nativeModel("m", call("1")), nativeUser(content.Text("Stop")), nativeModel("m", content.Text("No")), result("1")), "1|Stop|No|of 1"},
	} {
		for _, name := range []string{"claude-code", "pi"} {
			f := nativeFormat(t, name)
			out, _ := nativeWrite(t, f, c.tr, nativeID)
			tr, _ := nativeRead(t, f, out)
			var said []string
			for _, m := range tr.Messages {
				var parts []string
				for i := range m.Parts {
					p := &m.Parts[i]
					if p.Type == content.TypeToolCall {
						parts = append(parts, p.Call().ID)
					} else {
						parts = append(parts, p.Text)
					}
				}
				said = append(said, strings.Join(parts, " "))
			}
			if got := strings.Join(said, "|"); got != c.want {
				t.Errorf("%s in %s: %s, want %s", c.name, name, got, c.want)
			}
		}
	}
	tr := nativeChain(nativeModel("m", call("1")), nativeModel("m", call("2")), result("1"), result("2"))
	tr.Leaf = tr.Messages[1].ID // part of the first one now
	f := nativeFormat(t, "pi")
	out, _ := nativeWrite(t, f, tr, nativeID)
	if got, _ := nativeRead(t, f, out); got.Leaf != tr.Messages[0].ID {
		t.Errorf("the leaf is %s of\n%s", got.Leaf, out)
	}
}

// TestNativeCompaction: messages that one program keeps in the context at a compaction stay in
// the context in the other program.
func TestNativeCompaction(t *testing.T) {
	claude, piFormat := nativeFormat(t, "claude-code"), nativeFormat(t, "pi")
	for _, c := range nativeCases(t, "pi") {
		if c.name != "tree" {
			continue
		}
		tr, _ := nativeRead(t, piFormat, c.in)
		out, _ := nativeWrite(t, claude, tr, nativeID)
		got, _ := nativeRead(t, claude, out)
		i := slices.IndexFunc(got.Messages, func(m *transcript.Message) bool { return m.Kind == transcript.Compaction })
		sum := got.Messages[i]
		about := gjson.GetBytes(sum.Records[0], "compactMetadata")
		if about.Get("preservedSegment.headUuid").Str != sum.Parent || about.Get("preservedSegment.tailUuid").Str != sum.Parent ||
			about.Get("preservedSegment.anchorUuid").Str != sum.ID || about.Get("preservedMessages.uuids.#").Int() != 1 {
			t.Errorf("the compaction is %s of %s", about.Raw, sum.ID)
		}
	}
	for _, c := range nativeCases(t, "claude-code") {
		if c.name != "compacted" {
			continue
		}
		tr, _ := nativeRead(t, claude, c.in)
		out, _ := nativeWrite(t, piFormat, tr, nativeID)
		got, _ := nativeRead(t, piFormat, out)
		says := map[string]string{"": ""}
		for _, m := range got.Messages {
			says[m.ID] = nativeTexts(m)
		}
		var from []string
		for _, m := range got.Messages {
			if m.Kind == transcript.Compaction {
				from = append(from, says[gjson.GetBytes(m.Records[0], "firstKeptEntryId").Str])
			}
		}
		if want := []string{"Kept question", "Summary: shorter."}; !slices.Equal(from, want) { // the second keeps nothing
			t.Errorf("kept from %q, want %q", from, want)
		}
	}
}

// TestNativeVersions: entries of pi's first version are unchanged, and get ids only if
// messages are added after them.
func TestNativeVersions(t *testing.T) {
	piFormat := nativeFormat(t, "pi")
	for _, c := range nativeCases(t, "pi") {
		if c.name != "first" && c.name != "second" {
			continue
		}
		tr, _ := nativeRead(t, piFormat, c.in)
		next := nativeUser(content.Text("And then?"))
		next.ID, next.Parent = "next0000", tr.Leaf
		before := nativeSays(tr.Messages)
		var ids []string
		for _, m := range tr.Messages {
			ids = append(ids, m.ID)
		}
		tr.Messages, tr.Leaf = append(tr.Messages, next), next.ID
		out, _ := nativeWrite(t, piFormat, tr, nativeID)
		got, _ := nativeRead(t, piFormat, out)
		if a := nativeSays(got.Messages[:len(ids)]); a != before {
			t.Errorf("%s: read\n%s\nwant\n%s", c.name, a, before)
		}
		for i, id := range append(ids, "next0000") {
			if got.Messages[i].ID != id {
				t.Errorf("%s: the id is %s, want %s", c.name, got.Messages[i].ID, id)
			}
		}
		for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			v := gjson.GetMany(line, "version", "id", "parentId", "firstKeptEntryIndex", "message.role")
			if i == 0 && v[0].Int() != 3 || v[1].Str == "" || i > 0 && !v[2].Exists() || v[3].Exists() || v[4].Str == "hookMessage" {
				t.Errorf("%s: line %d is %s", c.name, i+1, line)
			}
		}
		if c.name == "first" {
			kept := gjson.GetBytes(got.Messages[2].Records[0], "firstKeptEntryId").Str
			if kept != got.Messages[1].ID {
				t.Errorf("kept from %s, want %s", kept, got.Messages[1].ID)
			}
		}
	}
}

// TestNativeFolders: each program keeps its files in its folder, and continues them with its
// command.
func TestNativeFolders(t *testing.T) {
	env := map[string]string{}
	m := transcript.Machine{Home: "/home/ann", Env: func(name string) string { return env[name] }}
	o := transcript.Options{ID: nativeID, Now: time.Date(2026, 4, 1, 10, 20, 30, 456e6, time.UTC)}
	in := func(dir string) *transcript.Transcript {
		tr := &transcript.Transcript{}
		tr.Dir = dir
		return tr
	}
	claude, piFormat := nativeFormat(t, "claude-code"), nativeFormat(t, "pi")
	long := "/home/ann/" + strings.Repeat("ü😀x.", 60)
	for _, c := range []struct {
		f    *Format
		dir  string
		want string
	}{
		{claude, "/home/ann/my.app_2", "/home/ann/.claude/projects/-home-ann-my-app-2/" + nativeID + ".jsonl"},
		{claude, `C:\Users\Jürgen😀`, "/home/ann/.claude/projects/C--Users-J-rgen--/" + nativeID + ".jsonl"},
		{claude, long, "/home/ann/.claude/projects/-home-ann-" + strings.Repeat("---x-", 38) + "-doinap/" + nativeID + ".jsonl"},
		{claude, "", "/home/ann/.claude/projects/-/" + nativeID + ".jsonl"},
		{piFormat, "/home/ann/my.app_2", "/home/ann/.pi/agent/sessions/--home-ann-my.app_2--/2026-04-01T10-20-30-456Z_" + nativeID + ".jsonl"},
		{piFormat, `C:\Users\ann`, "/home/ann/.pi/agent/sessions/--C--Users-ann--/2026-04-01T10-20-30-456Z_" + nativeID + ".jsonl"},
	} {
		if got := c.f.Target(m, in(c.dir), o); got != c.want {
			t.Errorf("%s in %q is written to\n%s\nwant\n%s", c.f.Name, c.dir, got, c.want)
		}
	}
	env["CLAUDE_CONFIG_DIR"], env["PI_CODING_AGENT_DIR"] = "/cfg", "/agent"
	for f, want := range map[*Format]string{claude: "/cfg/projects", piFormat: "/agent/sessions"} {
		if got := f.Roots(m); !slices.Equal(got, []string{want}) {
			t.Errorf("%s is in %v, want %s", f.Name, got, want)
		}
	}
	for _, c := range []struct{ name, dir, want string }{{"", "", "/home/ann/.qwen"}, {"QWEN_HOME", "/q", "/q"}, {"QWEN_RUNTIME_DIR", "/r", "/r"}} {
		env[c.name] = c.dir // the later one wins
		if got := qwenFormat.Roots(m); !slices.Equal(got, []string{c.want + "/projects"}) {
			t.Errorf("Qwen Code with %s is in %v, want %s", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ dir, want string }{{"", "/home/ann/.local/share"}, {"/x", "/x"}} {
		env["XDG_DATA_HOME"] = c.dir
		if got := ampFormat.Roots(m); !slices.Equal(got, []string{c.want + "/amp/threads"}) {
			t.Errorf("Amp is in %v, want %s", got, c.want)
		}
	}
	if got, want := antigravityFormat.Roots(m), "/home/ann/.gemini/antigravity-cli/brain"; len(got) != 3 || got[0] != want {
		t.Errorf("Antigravity is in %v, want %s first", got, want)
	}
	for path, want := range map[string]bool{
		nativeID + "/.system_generated/logs/transcript_full.jsonl": true, nativeID + "/.system_generated/logs/transcript.jsonl": false,
		"brain/" + nativeID + "/.system_generated/logs/transcript_full.jsonl": true, "transcript_full.jsonl": true, // of a named folder
	} {
		if got := antigravityFormat.Holds(path); got != want {
			t.Errorf("Antigravity has %s: %v", path, got)
		}
	}
	for path, want := range map[string]bool{"T-" + nativeID + ".json": true, "x/T-1.json": false, "history.jsonl": false} {
		if got := ampFormat.Holds(path); got != want {
			t.Errorf("Amp has %s: %v", path, got)
		}
	}
	for path, want := range map[string]bool{
		"-home-ann/chats/" + nativeID + ".jsonl": true, "-home-ann/subagents/s/agent-1.jsonl": true,
		"-home-ann/subagents/s/agent-1.jsonl.stream": false, "-home-ann/memory/s.jsonl": false, "-home-ann/chats/x.json": false,
	} {
		if got := qwenFormat.Holds(path); got != want {
			t.Errorf("Qwen Code has %s: %v", path, got)
		}
	}
	for path, want := range map[string]bool{
		"-home-ann/" + nativeID + ".jsonl": true, "-home-ann/" + nativeID + "/subagents/agent-1.jsonl": true,
		"-home-ann/" + nativeID + "/tool-results/1.jsonl": false, "-home-ann/memory.md": false, "sessions.jsonl": false,
	} {
		if got := claude.Holds(path); got != want {
			t.Errorf("Claude Code has %s: %v", path, got)
		}
	}
	if before, run := claude.Resume(m, "/x.jsonl", in("/"), o); before != nil || !slices.Equal(run, []string{"claude", "--resume", nativeID}) {
		t.Errorf("the command for Claude Code is %q", run)
	}
	if before, run := piFormat.Resume(m, "/x.jsonl", in("/"), o); before != nil || !slices.Equal(run, []string{"pi", "--session", "/x.jsonl"}) {
		t.Errorf("the command for pi is %q", run)
	}
}

// TestEditorFolders: tasks are searched where the editors of each system keep them.
func TestEditorFolders(t *testing.T) {
	for _, c := range []struct{ os, appData, want string }{
		{"linux", "", "/home/ann/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"},
		{"darwin", "", "/home/ann/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"},
		{"windows", "", "/home/ann/AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"},
		{"windows", "/data", "/data/Code/User/globalStorage/saoudrizwan.claude-dev/tasks"},
	} {
		env := map[string]string{"APPDATA": c.appData}
		roots := clineFormat.Roots(transcript.Machine{Home: "/home/ann", OS: c.os, Env: func(name string) string { return env[name] }})
		var editors []string
		for _, dir := range roots {
			if strings.HasSuffix(dir, "/Code/User/globalStorage/saoudrizwan.claude-dev/tasks") {
				editors = append(editors, dir)
			}
		}
		if !slices.Equal(editors, []string{c.want}) {
			t.Errorf("on %s: %q, want %s; all are %q", c.os, editors, c.want, roots)
		}
	}
}

// TestNativeDetects: a file is detected by its beginning, even if that is the beginning of
// a very long record.
func TestNativeDetects(t *testing.T) {
	long := `{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"` + strings.Repeat("x", HeadSize) + `"},"uuid":"u1"}` + "\n"
	for _, c := range []struct {
		name, in, want string
	}{
		{"a long record", long, "claude-code"},
		{"a summary first", `{"type":"summary","summary":"s","leafUuid":"u"}` + "\n" + long, "claude-code"},
		{"an unknown record first", `{"type":"news","sessionId":"s"}` + "\n" + `{"type":"user","parentUuid":null,"uuid":"u"}` + "\n", "claude-code"},
		{"a session of pi", `{"type":"session","id":"s","cwd":"/"}`, "pi"},
		{"an entry of pi", `{"type":"message","id":"a","parentId":null}` + "\n", ""},
		{"a session of another program", `{"type":"session","session":{"id":"s"}}` + "\n", ""},
		{"a session of bough", `{"id":"s","created_at":"x","metadata":{},"messages":[{"role":"user","content":"parentUuid sessionId","id":"a"}]}`, "penguin"},
		{"events of Claude's library", `{"type":"assistant","message":{"role":"assistant","content":[]},"session_id":"s","uuid":"u"}` + "\n", ""},
	} {
		in := []byte(c.in)
		got := ""
		if f := Detect(in[:min(len(in), HeadSize)]); f != nil {
			got = f.Name
		}
		if got != c.want {
			t.Errorf("%s is %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNativeBack: a whole conversation is written so that it continues at any of its
// messages, not only at a leaf.
func TestNativeBack(t *testing.T) {
	for _, name := range []string{"claude-code", "pi"} {
		f := nativeFormat(t, name)
		for c, tr := range nativeTrees(t, f) {
			if !slices.Contains([]string{"branches", "rewound", "crashed", "compacted", "side", "tree", "marked", "second"}, c.name) || tr.Inline {
				continue
			}
			for _, m := range tr.Messages {
				if c.name == "compacted" && m.ID == "a2" || c.name == "side" && m.ID == "a1" {
					continue // messages after the kept tail follow the summary, and messages after a call its result
				}
				tr.Leaf = m.ID
				out, lost := nativeWrite(t, f, tr, nativeID)
				got, _ := nativeRead(t, f, out)
				if got.Leaf != m.ID || len(lost) > 0 || nativeSays(got.Messages) != nativeSays(tr.Messages) {
					t.Errorf("%s/%s back to %s: the leaf is %s, lost %v, of\n%s", name, c.name, m.ID, got.Leaf, lost, out)
				}
			}
		}
	}
}
