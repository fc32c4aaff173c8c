package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/imports"
)

// agentFile returns the transcript of a session of Claude Code or of one of its sub-agents, which
// begins others.
func agentFile(session, agent string, begins ...string) string {
	var b strings.Builder
	parent := "null"
	record := func(id, kind, content, more string) {
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":%v,"agentId":%q,"sessionId":%q,"uuid":%q,"type":%q,"message":{"role":%[6]q,"content":%s}%s}`+"\n",
			parent, agent != "", agent, session, session+agent+id, kind, content, more)
		parent = fmt.Sprintf("%q", session+agent+id)
	}
	record("u", "user", fmt.Sprintf("%q", "I am "+session+agent), "")
	for _, other := range begins {
		call := "call-" + agent + other
		record(call, "assistant", fmt.Sprintf(`[{"type":"tool_use","id":%q,"name":"Task","input":{}}]`, call), "")
		record(call+"r", "user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":"x"}]`, call), fmt.Sprintf(`,"toolUseResult":{"agentId":%q}`, other))
	}
	return b.String()
}

// agentTree returns the trees of a workspace, one session per line.
func agentTree(t *testing.T, w *workspace.Workspace) string {
	t.Helper()
	forest, err := w.Tree(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var add func(list []workspace.TreeEntry, above string)
	add = func(list []workspace.TreeEntry, above string) {
		for _, e := range list {
			at := ""
			if e.BegunBy != nil {
				at = " at " + string(e.BegunBy.Message) + " " + string(e.BegunBy.Call)
			}
			lines = append(lines, above+"/"+e.Title+at)
			add(e.Children, above+"/"+e.Title)
		}
	}
	add(forest.Roots, "")
	return sortedLines(strings.Join(lines, "\n"))
}

// TestSubAgentsOrder: in which order and how many imports the files come does not matter, also if
// the top is removed and imported again.
func TestSubAgentsOrder(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"top": agentFile("top", "", "a", "b"),
		"a":   agentFile("top", "a", "c"),
		"b":   agentFile("top", "b"),
		"c":   agentFile("top", "c"),
	}
	want := sortedLines(strings.Join([]string{
		"/I am top",
		"/I am top/I am topa at topcall-a call-a",
		"/I am top/I am topb at topcall-b call-b",
		"/I am top/I am topa/I am topc at topacall-ac call-ac",
	}, "\n"))
	for n, order := range []string{"top a b c", "c b a top", "a top,c b", "c,top,b,a", "b,a,c,top"} {
		w := openSpace(t, t.TempDir(), 0).Workspace
		dir := t.TempDir()
		for k, group := range strings.Split(order, ",") {
			at := filepath.Join(dir, fmt.Sprint(k))
			if err := os.Mkdir(at, 0o700); err != nil {
				t.Fatal(err)
			}
			for i, name := range strings.Fields(group) {
				if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("%d.jsonl", i)), []byte(files[name]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.Import(t.Context(), []string{at}, imports.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := agentTree(t, w); got != want {
			t.Errorf("%d: after %s the trees are\n%s\ninstead of\n%s", n, order, got, want)
		}
		if l, err := w.Sessions(t.Context(), workspace.ListOptions{}); err != nil || len(l.Sessions) != 1 || l.SubAgents != 3 {
			t.Errorf("%d: listed %+v, %v", n, l, err)
		}
		if _, err := w.Remove(t.Context(), "I am top", workspace.RemoveOptions{}); err != nil {
			t.Fatal(err)
		}
		if l, err := w.Sessions(t.Context(), workspace.ListOptions{}); err != nil || len(l.Sessions) != 3 || l.SubAgents != 0 {
			t.Errorf("%d: without the top, listed %+v, %v", n, l, err)
		}
		if _, err := w.Import(t.Context(), []string{dir}, imports.Options{Again: true}); err != nil {
			t.Fatal(err)
		}
		if got := agentTree(t, w); got != want {
			t.Errorf("%d: imported again, the trees are\n%s\ninstead of\n%s", n, got, want)
		}
	}
}

// TestSubAgentsCycle: conversations that say that they began each other, or themselves, are all in
// the trees.
func TestSubAgentsCycle(t *testing.T) {
	t.Parallel()
	w := openSpace(t, t.TempDir(), 0).Workspace
	dir := t.TempDir()
	for name, data := range map[string]string{
		"1": agentFile("x", "a", "b"), "2": agentFile("x", "b", "a"), "3": agentFile("x", "c", "c"), "4": agentFile("x", ""),
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Import(t.Context(), []string{dir}, imports.Options{}); err != nil {
		t.Fatal(err)
	}
	got := agentTree(t, w)
	for _, title := range []string{"I am x", "I am xa", "I am xb", "I am xc"} {
		if !strings.Contains(got+"\n", "/"+title+"\n") && !strings.Contains(got, "/"+title+" at") {
			t.Errorf("%s is not in\n%s", title, got)
		}
	}
}

// TestSubAgentsListed: conversations that only began each other are listed.
func TestSubAgentsListed(t *testing.T) {
	t.Parallel()
	w := openSpace(t, t.TempDir(), 0).Workspace
	dir := t.TempDir()
	for id, by := range map[string]string{"ses_1": "ses_2", "ses_2": "ses_3", "ses_3": "ses_1", "ses_4": "ses_3"} {
		data := fmt.Sprintf(`{"info":{"id":%q,"parentID":%q,"title":%[1]q,"time":{"created":1}},"messages":[{"info":{"id":"msg_%[1]s","role":"user","time":{"created":1}},"parts":[{"id":"prt_%[1]s","type":"text","text":%[1]q}]}]}`, id, by)
		if err := os.WriteFile(filepath.Join(dir, id+".json"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Import(t.Context(), []string{dir}, imports.Options{}); err != nil {
		t.Fatal(err)
	}
	l, err := w.Sessions(t.Context(), workspace.ListOptions{})
	if err != nil || len(l.Sessions) != 4 || l.SubAgents != 0 {
		t.Errorf("listed %+v, %v; want all, because none is below one that is listed", l, err)
	}
}

// TestSubAgentsEarlier: the conversation of a sub-agent that an earlier version of bough imported
// is recognized, and gets its link.
func TestSubAgentsEarlier(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), t.TempDir()
	for name, data := range map[string]string{"top": agentFile("top", "", "a"), "a": agentFile("top", "a")} {
		if err := os.WriteFile(filepath.Join(files, name+".jsonl"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := openSpace(t, dir, 0).Workspace
	if _, err := w.Import(t.Context(), []string{filepath.Join(files, "a.jsonl")}, imports.Options{}); err != nil {
		t.Fatal(err)
	}
	sessions, err := filepath.Glob(filepath.Join(dir, "conversations", "session_2*.json"))
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	data, err := os.ReadFile(sessions[0])
	if err != nil {
		t.Fatal(err)
	}
	earlier := regexp.MustCompile(`(?s),\s*"begun_by": *"top"`).ReplaceAllString(strings.ReplaceAll(string(data), `"top/a"`, `"a"`), "")
	if strings.Contains(earlier, "begun_by") || !strings.Contains(earlier, `"a"`) {
		t.Fatalf("it is not as an earlier version wrote it: %s", earlier)
	}
	if err := os.WriteFile(sessions[0], []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, ".bough", "imports.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Import(t.Context(), []string{files}, imports.Options{}); err != nil {
		t.Fatal(err)
	}
	want := sortedLines("/I am top\n/I am top/I am topa at topcall-a call-a")
	if got := agentTree(t, w); got != want {
		t.Errorf("the trees are\n%s\ninstead of\n%s", got, want)
	}
}

// TestSubAgentsInline: an earlier version of bough read the conversation of a sub-agent as a part of the
// session. Importing the file again changes nothing and adds no session, as long as the sub-agent
// says nothing new. Sessions that the user removed stay removed. The test makes such a session from a file that
// begins with a sub-agent, which is still read in that way.
func TestSubAgentsInline(t *testing.T) {
	t.Parallel()
	record := func(id, parent string, side bool, kind, content string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":%v,"sessionId":"top","uuid":%q,"type":%q,"message":{"role":%[4]q,"content":%s}}`+"\n", parent, side, id, kind, content)
	}
	main := record("u1", "null", false, "user", `"Ask around"`) +
		record("a1", `"u1"`, false, "assistant", `[{"type":"tool_use","id":"c1","name":"Task","input":{"prompt":"Look around"}}]`)
	side := record("s1", "null", true, "user", `"Look around"`) + record("s2", `"s1"`, true, "assistant", `[{"type":"text","text":"Dust"}]`)
	rest := record("r1", `"a1"`, false, "user", `[{"type":"tool_result","tool_use_id":"c1","content":"Dust"}]`)
	more := record("s3", `"s2"`, true, "user", `"Whose?"`)
	newFile := filepath.Join(t.TempDir(), "top.jsonl")
	imported := func(w *workspace.Workspace, data string, o imports.Options) []imports.Transcript {
		t.Helper()
		if err := os.WriteFile(newFile, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := w.Import(t.Context(), []string{newFile}, o)
		if err != nil {
			t.Fatal(err)
		}
		return report.Imported
	}
	stored := func(dir string) (all string) {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(dir, "conversations", "session_2*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all += string(data)
		}
		return all
	}
	trees := func(w *workspace.Workspace, want string) {
		t.Helper()
		if got := agentTree(t, w); got != sortedLines(want) {
			t.Errorf("the trees are\n%s\ninstead of\n%s", got, want)
		}
	}

	dir := t.TempDir()
	w := openSpace(t, dir, 0).Workspace
	imported(w, side+main+rest, imports.Options{})
	trees(w, "/Look around")
	was := stored(dir)
	for _, o := range []imports.Options{{}, {Again: true}, {DryRun: true}} {
		rows := imported(w, main+side+rest, o)
		if len(rows) != 2 || rows[0].Status != imports.Unchanged || rows[1].Status != imports.Unchanged || rows[0].Session != rows[1].Session {
			t.Errorf("%+v: %+v", o, rows)
		}
	}
	if got := stored(dir); got != was {
		t.Errorf("it is\n%s\nand was\n%s", got, was)
	}
	imported(w, main+side+rest+more, imports.Options{})
	trees(w, "/Look around\n/Look around/Look around at  ")
	if got := stored(dir); !strings.Contains(got, "Whose?") {
		t.Errorf("the new message is not in\n%s", got)
	}

	for name, takeBack := range map[string]func(w *workspace.Workspace, session string) error{
		"removed": func(w *workspace.Workspace, session string) error {
			_, err := w.Remove(t.Context(), session, workspace.RemoveOptions{})
			return err
		},
		"undone": func(w *workspace.Workspace, _ string) error {
			_, err := w.Undo(t.Context(), history.UndoOptions{})
			return err
		},
	} {
		w := openSpace(t, t.TempDir(), 0).Workspace
		rows := imported(w, side+main+rest, imports.Options{})
		if err := takeBack(w, string(rows[0].Session)); err != nil {
			t.Fatal(err)
		}
		for _, r := range imported(w, main+side+rest, imports.Options{}) {
			if r.Status != imports.Skipped || !r.Removed {
				t.Errorf("%s: %+v", name, r)
			}
		}
		trees(w, "")
		imported(w, main+side+rest, imports.Options{Again: true})
		trees(w, "/Ask around\n/Ask around/Look around at a1 c1")
	}
}

// TestSubAgentsResumed: the conversation of a sub-agent that was exported, and that Claude Code
// continued, comes back as the same conversation.
func TestSubAgentsResumed(t *testing.T) {
	t.Parallel()
	w := openSpace(t, t.TempDir(), 0).Workspace
	dir := t.TempDir()
	for name, data := range map[string]string{"top": agentFile("top", "", "a"), "a": agentFile("top", "a")} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Import(t.Context(), []string{dir}, imports.Options{}); err != nil {
		t.Fatal(err)
	}
	f, err := convert.Named("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.Export(t.Context(), "I am topa", workspace.ExportOptions{Format: f})
	if err != nil {
		t.Fatal(err)
	}
	longer := string(e.Data) + fmt.Sprintf(`{"parentUuid":"topau","isSidechain":false,"sessionId":%q,"uuid":"more","type":"user","message":{"role":"user","content":"Go on"}}`+"\n", e.ID)
	path := filepath.Join(t.TempDir(), "longer.jsonl")
	if err := os.WriteFile(path, []byte(longer), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := w.Import(t.Context(), []string{path}, imports.Options{})
	if err != nil || len(r.Imported) != 1 || r.Imported[0].Status != imports.Updated || r.Imported[0].Added != 1 {
		t.Errorf("imported %+v, %v; want one message more in the same conversation", r, err)
	}
}

// TestSubAgentsCopies: a sub-agent of Codex that copied the call of another one from the thread that
// began both did not begin it, also if that thread is missing.
func TestSubAgentsCopies(t *testing.T) {
	t.Parallel()
	w := openSpace(t, t.TempDir(), 0).Workspace
	dir := t.TempDir()
	const began = `{"timestamp":"2026-01-01T00:00:02Z","type":"event_msg","payload":{"type":"sub_agent_activity","event_id":"call_1","agent_thread_id":"one","kind":"started"}}` + "\n"
	rollout := func(id, copied, says string) string {
		return `{"timestamp":"2026-01-01T00:00:01Z","type":"session_meta","payload":{"id":"` + id + `","cwd":"/home/ann/house","source":{"subagent":{"thread_spawn":{"parent_thread_id":"top"}}}}}` + "\n" +
			copied + `{"timestamp":"2026-01-01T00:00:03Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + says + `"}]}}` + "\n"
	}
	top := `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"top","cwd":"/home/ann/house"}}
{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix the house"}]}}
{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"function_call","name":"spawn_agent","arguments":"{}","call_id":"call_1"}}
` + began
	for _, c := range []struct{ name, data, want string }{
		{"one", rollout("one", "", "Check the roof"), "/Check the roof at  "},
		{"two", rollout("two", began, "Check the cellar"), "/Check the cellar at  \n/Check the roof at  "},
		{"top", top, "/Fix the house\n/Fix the house/Check the cellar at  \n/Fix the house/Check the roof at MESSAGE call_1"},
	} {
		if err := os.WriteFile(filepath.Join(dir, c.name+".jsonl"), []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Import(t.Context(), []string{dir}, imports.Options{}); err != nil {
			t.Fatal(err)
		}
		got := regexp.MustCompile(` at [^ \n]+ call`).ReplaceAllString(agentTree(t, w), " at MESSAGE call")
		if got != sortedLines(c.want) {
			t.Errorf("with %s, the trees are\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
