package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// chatOf reads one chat.
func chatOf(t *testing.T, data []byte) (*transcript.Transcript, []transcript.Problem) {
	t.Helper()
	list, problems, err := copilotChatFormat.ReadAll(bytes.NewReader(data))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d chats, %v, %v in\n%s", len(list), problems, err, data)
	}
	return list[0], problems
}

func written(t *testing.T, tr *transcript.Transcript) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := copilotChatFormat.Write(&b, tr, testOptions("00000000-0000-4000-8000-0000000000aa")); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCopilotChatWritten: a path is written as one object, which VS Code also imports, and
// branches as a journal at whose end VS Code has the path to the leaf.
func TestCopilotChatWritten(t *testing.T) {
	tr, _ := chatOf(t, readFile(t, "testdata/copilot-chat/journal.jsonl"))
	path := *tr
	path.Messages = pathTo(tr, tr.Leaf)
	one := written(t, &path)
	v := gjson.ParseBytes(one)
	if !json.Valid(one) || v.Get("kind").Exists() || v.Get("requests.#").Int() != 2 || v.Get("requests.1.message.text").Str != "Then a taxi." {
		t.Errorf("the path is written as\n%s", one)
	}
	for _, name := range []string{"responderUsername", "sessionId", "creationDate", "version"} {
		if !v.Get(name).Exists() {
			t.Errorf("the chat has no %s, without which VS Code does not read it", name)
		}
	}
	var chat any
	for _, line := range rawLines(written(t, tr)) {
		k, _ := rawGet(line, "k").([]any)
		if len(k) == 0 {
			chat = rawGet(line, "v")
			continue
		}
		chat = rawEdit(chat, k, func(old any) any {
			list, _ := old.([]any)
			if i, ok := rawGet(line, "i").(float64); ok {
				list = list[:int(i)]
			}
			return append(slices.Clone(list), rawList(line, "v")...)
		})
	}
	var asked []string
	for _, r := range rawList(chat, "requests") {
		asked = append(asked, rawString(r, "message", "text"))
	}
	if want := []string{"Which day has no train? Look at plan.md.", "Then a taxi."}; !slices.Equal(asked, want) {
		t.Errorf("VS Code has %q at the end of the journal, want %q", asked, want)
	}
}

// TestCopilotChatHidden: a chat continues before the requests that the user went back to before;
// if one of them is exported, VS Code no longer hides it.
func TestCopilotChatHidden(t *testing.T) {
	tr, _ := chatOf(t, readFile(t, "testdata/copilot-chat/back.json"))
	if leaf := tr.Messages[slices.IndexFunc(tr.Messages, func(m *transcript.Message) bool { return m.ID == tr.Leaf })]; leaf.Text() != "Sunday has no train." {
		t.Errorf("the chat continues at %q", leaf.Text())
	}
	last := tr.Messages[len(tr.Messages)-1]
	path := *tr
	path.Messages, path.Leaf = pathTo(tr, last.ID), last.ID
	out := written(t, &path)
	if bytes.Contains(out, []byte("shouldBeRemovedOnSend")) || !bytes.Contains(out, []byte("Book a bus.")) {
		t.Errorf("the hidden request is written as\n%s", out)
	}
	if again, _ := chatOf(t, out); again.Leaf != last.ID {
		t.Errorf("it continues at %s, want %s", again.Leaf, last.ID)
	}
}

// TestCopilotChatPrompts: a message with the results of a tool and a prompt is written as both.
func TestCopilotChatPrompts(t *testing.T) {
	call := content.Call{ID: "c1", Name: "read", Arguments: `{"a":1}`}
	tr := &transcript.Transcript{}
	for i, m := range []content.Message{
		{Role: "user", Parts: []content.Part{content.Text("Read it.\n\nNow 😀.")}},
		{Role: "assistant", Parts: []content.Part{content.ToolCall(call)}},
		{Role: "user", Parts: []content.Part{content.ToolResult(call, "it says x"), content.Text("And now?")}},
		{Role: "assistant", Parts: []content.Part{content.Text("Done.")}},
	} {
		parent := ""
		if i > 0 {
			parent = fmt.Sprint(i - 1)
		}
		tr.Messages = append(tr.Messages, &transcript.Message{Message: m, ID: fmt.Sprint(i), Parent: parent})
	}
	out := written(t, tr)
	if end := gjson.GetBytes(out, "requests.0.message.parts.0"); end.Get("range.endExclusive").Int() != 17 || end.Get("editorRange.endLineNumber").Int() != 3 || end.Get("editorRange.endColumn").Int() != 8 {
		t.Errorf("the prompt ends at %s", end.Raw)
	}
	again, problems := chatOf(t, out)
	var said []string
	for _, m := range again.Messages {
		for i := range m.Parts {
			said = append(said, m.Role+" "+m.Parts[i].Type+" "+m.Parts[i].Text)
		}
	}
	want := []string{"user text Read it.\n\nNow 😀.", "assistant tool-call ", "user tool-result it says x", "user text And now?", "assistant text Done."}
	if !slices.Equal(said, want) || len(problems) > 0 {
		t.Errorf("it is read as %q, %v, want %q", said, problems, want)
	}
}

// TestCopilotChatDamage: what cannot be read of a journal is reported with its line, and the rest
// is read.
func TestCopilotChatDamage(t *testing.T) {
	const start = `{"kind":0,"v":{"version":3,"sessionId":"s","creationDate":1763800000250,"responderUsername":"c","requests":[]}}` + "\n"
	const ask = `{"kind":2,"k":["requests"],"v":[{"requestId":"a","message":"One","response":[{"value":"Yes."}]}]}` + "\n"
	steps := strings.Repeat(`"x",`, 65)
	for _, c := range []struct{ in, want string }{
		{start + ask + `{"kind":1,"k":[` + steps[:len(steps)-1] + `],"v":1}`, "the path of an entry is not a list"},
		{start + ask + `{"kind":1,"k":[],"v":1}`, "the path of an entry is not a list"},
		{start + ask + `{"kind":1,"k":[{}],"v":1}`, "the path of an entry is not a list"},
		{start + ask + `{"kind":1,"k":["requests",5],"v":{}}`, `changes ["requests",5]`},
		{start + ask + `{"kind":1,"k":["requests",-1],"v":{}}`, `changes ["requests",-1]`},
		{start + ask + `{"kind":1,"k":["sessionId","x"],"v":{}}`, `changes ["sessionId","x"]`},
		{start + ask + `{"kind":2,"k":["sessionId"],"v":[{}]}`, "which is not a list"},
		{start + ask + `{"kind":2,"k":["requests"],"i":1e300,"v":[{"requestId":"b","message":"x"}]}`, "removes from place 1e300 of a list with 1"},
		{start + ask + `{"kind":0,"v":[]}`, "the initial session is not an object"},
		{start + ask + `{"kind":"x"}`, "not an entry of a journal"},
		{start + ask + `{"kind":0.5,"v":{"requests":[]}}`, "an entry of an unknown kind: 0.5"},
		{start + ask + `{"kind":2.5,"k":["requests"],"i":0,"v":[]}`, "an entry of an unknown kind: 2.5"},
		{start + ask + `{"kind":2,"k":["requests",0,"response"],"i":"7","v":[]}`, `removes from place "7" of a list with 1`},
		{start + ask + `{"kind":2,"k":["requests",0,"response"],"i":0.5,"v":[]}`, "removes from place 0.5 of a list with 1"},
		{ask, "the journal has no initial session"},
		{start + ask + `{"kind":2,"k":["requests"],"v":[{"requestId":"a","message":"Two"}]}`, "duplicate request id"},
	} {
		tr, problems := chatOf(t, []byte(c.in))
		if len(problems) != 1 || !strings.Contains(problems[0].What, c.want) || problems[0].Line == 0 && !strings.Contains(c.want, "duplicate") {
			t.Errorf("problems are %v, want one with %q", problems, c.want)
		}
		if tr.Messages[0].Text() != "One" || tr.Messages[1].Text() != "Yes." {
			t.Errorf("the first messages of %s are lost", c.in)
		}
	}
	for _, empty := range []string{start, `{"version":3,"sessionId":"s","responderUsername":"c","requests":[]}`} {
		if f := Detect([]byte(empty)); f != copilotChatFormat {
			t.Errorf("a chat without requests is %v", f)
		}
		if _, _, err := copilotChatFormat.ReadAll(strings.NewReader(empty)); !errors.Is(err, ErrNothing) {
			t.Errorf("a chat without requests: %v", err)
		}
	}
}

// TestCopilotChatFolders: chats are searched where the editors of each system keep them, and have
// the folder that workspace.json names.
func TestCopilotChatFolders(t *testing.T) {
	for _, c := range []struct{ os, env, want string }{
		{"linux", "", "/home/ann/.config/Code/User"},
		{"linux", "XDG_CONFIG_HOME", "/x/Code/User"},
		{"darwin", "", "/home/ann/Library/Application Support/Code/User"},
		{"windows", "", "/home/ann/AppData/Roaming/Code/User"},
		{"windows", "APPDATA", "/x/Code/User"},
	} {
		roots := copilotChatFormat.Roots(transcript.Machine{Home: "/home/ann", OS: c.os, Env: func(name string) string {
			if name == c.env {
				return "/x"
			}
			return ""
		}})
		for _, dir := range []string{"workspaceStorage", "globalStorage/emptyWindowChatSessions"} {
			if want := c.want + "/" + dir; !slices.Contains(roots, want) {
				t.Errorf("on %s: %q, want %s", c.os, roots, want)
			}
		}
	}
	for path, want := range map[string]bool{
		"0a1b/chatSessions/x.jsonl": true, "0a1b/chatSessions/x.json": true, "x.jsonl": true, "0a1b/workspace.json": false,
		"0a1b/state.vscdb": false, "0a1b/chatEditingSessions/x/state.json": false, "0a1b/GitHub.copilot-chat/x.json": false,
	} {
		if got := copilotChatFormat.Holds(path); got != want {
			t.Errorf("VS Code has %s: %v", path, got)
		}
	}
	for in, want := range map[string]string{
		`{"folder":"file:///w/my%20app"}`: "/w/my app", `{"folder":"file:///c%3A/Users/ann"}`: `C:\Users\ann`, `{"folder":"file://server/share/x"}`: `\\server\share\x`,
		`{"folder":"vscode-remote://ssh-remote%2Bbox/srv/x"}`: "/srv/x", `{"workspace":"file:///w/x.code-workspace"}`: "", `{"folder":7}`: "", `{"folder":"%"}`: "", "": "",
	} {
		got := copilotChatFormat.Dir("/s/0a1b/chatSessions/x.json", func(path string) ([]byte, error) {
			if filepath.ToSlash(path) != "/s/0a1b/workspace.json" {
				t.Errorf("read is %s", path)
			}
			return []byte(in), nil
		})
		if got != want {
			t.Errorf("the folder of %s is %q, want %q", in, got, want)
		}
	}
	if claudeCodeFormat.Dir("/x", nil) != "" {
		t.Error("Claude Code has folders in other files")
	}
}
