package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/hooklog"
	"github.com/bough-dev/bough/internal/integration"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/workspace"
	"github.com/gofrs/flock"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A hookTest runs hooks in a workspace, for a user with an empty home folder.
type hookTest struct {
	t    testing.TB
	dir  string // of the workspace
	home string
}

func newHookTest(t testing.TB) *hookTest {
	home, err := os.MkdirTemp("", "hook")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // unlike that of t.TempDir, until the detached processes of hooks have ended
		err := os.RemoveAll(home)
		for end := time.Now().Add(30 * time.Second); err != nil && time.Now().Before(end); err = os.RemoveAll(home) {
			time.Sleep(10 * time.Millisecond)
		}
		if err != nil {
			t.Error(err)
		}
	})
	return newHookTestIn(t, home)
}

func newHookTestIn(t testing.TB, home string) *hookTest {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	for _, name := range append([]string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "BOUGH_WORKSPACE"}, toolFolderVariables...) {
		t.Setenv(name, "")
	}
	h := &hookTest{t: t, dir: filepath.Join(home, "ws"), home: home}
	if err := os.MkdirAll(filepath.Join(h.dir, ".bough"), 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// hook runs a hook as a program does: in a process of its own. It must print nothing and
// succeed.
func (h *hookTest) hook(input []byte, args ...string) {
	h.t.Helper()
	cmd := exec.Command("bough", append([]string{"-w", h.dir, "hook", "run"}, args...)...)
	cmd.Stdin, cmd.Dir = bytes.NewReader(input), h.home
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		h.t.Errorf("hook run %q: %v, it prints %q", args, err, out)
	}
}

// bough runs a verb with --json.
func (h *hookTest) bough(args ...string) gjson.Result {
	h.t.Helper()
	var out bytes.Buffer
	if code := run(append([]string{"-w", h.dir, "--json"}, args...), strings.NewReader(""), &out, &out); code != 0 {
		h.t.Fatalf("bough %q exits with %d: %s", args, code, out.Bytes())
	}
	return gjson.ParseBytes(out.Bytes())
}

// counts returns the number of messages of each session and checkpoint, those first that are sessions.
func (h *hookTest) counts() string {
	h.t.Helper()
	if !workspace.Is(h.dir) || len(h.glob("conversations/*.json"))+len(h.glob("packed/*.json")) == 0 {
		return ""
	}
	var words []string
	for _, s := range h.bough("ls").Get("sessions").Array() {
		words = append(words, fmt.Sprintf("%s %d", s.Get("kind"), s.Get("message_count").Int()))
	}
	slices.Sort(words)
	slices.Reverse(words)
	return strings.Join(words, ", ")
}

// await waits until the counts are as wanted: a slow hook continues in the background.
func (h *hookTest) await(what string, wanted func(counts string) bool) {
	h.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got := h.counts()
		if wanted(got) {
			return
		}
		if time.Now().After(end) {
			h.t.Fatalf("%s: %s; %s", what, got, h.log())
		}
	}
}

func (h *hookTest) glob(pattern string) []string {
	list, err := filepath.Glob(filepath.Join(h.dir, filepath.FromSlash(pattern)))
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

// log returns the lines of the log of hooks.
func (h *hookTest) log() string {
	data, err := os.ReadFile(filepath.Join(h.dir, filepath.FromSlash(hooklog.Path)))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return string(data)
}

// claudeLines returns a transcript of Claude Code with n messages.
func claudeLines(from, n int) []byte {
	var b bytes.Buffer
	for i := from; i < from+n; i++ {
		parent := "null"
		if i > 0 {
			parent = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, i-1)
		}
		role, content := "user", fmt.Sprintf(`"question %d"`, i)
		if i%2 == 1 {
			role, content = "assistant", fmt.Sprintf(`[{"type":"text","text":"answer %d"}]`, i)
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":{"role":%[2]q,"content":%s},"uuid":"00000000-0000-4000-8000-%012d","timestamp":"2026-11-23T14:%02d:%02d.000Z","cwd":"/home/ada/garden","sessionId":"a80a0468-2367-4799-85a8-64f1d225a6e5","version":"2.1.328"}`+"\n",
			parent, role, content, i, i/60%60, i%60)
	}
	return b.Bytes()
}

// claude writes a transcript, and returns its path and the input of a hook.
func (h *hookTest) claude(event string, lines []byte) (path string, input []byte) {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "internal", "integration", "testdata", "claude-code."+event+".json"))
	if err != nil {
		h.t.Fatal(err)
	}
	path = filepath.Join(h.home, ".claude", "projects", "-home-ada-garden", "a80a0468-2367-4799-85a8-64f1d225a6e5.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if lines != nil {
		if err := os.WriteFile(path, lines, 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	input, err = sjson.SetBytes(data, "transcript_path", path)
	if err == nil {
		input, err = sjson.SetBytes(input, "session_id", "a80a0468-2367-4799-85a8-64f1d225a6e5")
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return path, input
}

// TestHookRun: a hook before a prompt makes a checkpoint of what the transcript has, and one
// after a turn imports the new messages.
func TestHookRun(t *testing.T) {
	h := newHookTest(t)
	before := "UserPromptSubmit"
	_, input := h.claude(before, nil)
	h.hook(input, "claude-code", before) // there is no transcript yet
	if got := h.counts(); got != "" {
		t.Errorf("without a transcript: %s", got)
	}
	for _, step := range []struct {
		messages int
		event    string
		want     string
	}{
		{2, "Stop", "root 2"},
		{2, before, "root 2, checkpoint 2"},
		{2, before, "root 2, checkpoint 2"},
		{4, "Stop", "root 4, checkpoint 2"},
		{6, before, "root 6, checkpoint 6, checkpoint 2"},
		{7, "SessionEnd", "root 7, checkpoint 6, checkpoint 2"},
	} {
		_, input := h.claude(step.event, claudeLines(0, step.messages))
		h.hook(input, "claude-code", step.event)
		h.await(fmt.Sprintf("%s with %d messages", step.event, step.messages), func(got string) bool { return got == step.want })
	}
	if n := len(h.glob("packed/*.json")); n != 2 {
		t.Errorf("%d of the checkpoints are packed", n)
	}
	// The path is found by the id of the session, too.
	_, input = h.claude("Stop", claudeLines(0, 8))
	input, _ = sjson.DeleteBytes(input, "transcript_path")
	h.hook(input, "claude-code", "Stop")
	h.await("without a path", func(got string) bool { return strings.HasPrefix(got, "root 8") })
	if h.log() != "" {
		t.Errorf("the log has %s", h.log())
	}
}

// TestHookInputs: the recorded input of each program leads to its messages. The input of
// opencode has them itself.
func TestHookInputs(t *testing.T) {
	transcripts := map[string]string{"codex": "codex/rollback.jsonl", "gemini": "gemini/rewind.jsonl", "pi": ""}
	for _, tool := range integration.Hooks() {
		if tool.Name == "claude-code" {
			continue // see TestHookRun
		}
		t.Run(tool.Name, func(t *testing.T) {
			h := newHookTest(t)
			path := filepath.Join(h.home, "transcript.jsonl")
			switch file, ok := transcripts[tool.Name]; {
			case file != "":
				data, err := os.ReadFile(filepath.Join("..", "..", "convert", "testdata", filepath.FromSlash(file)))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			case ok:
				other := newHookTest(t)
				other.bough("new", "--title", "Pi")
				other.bough("append", "Hello")
				other.bough("export", "Pi", "--to", "pi", "-o", path)
				t.Setenv("HOME", h.home)
			}
			for _, e := range tool.Events {
				data, err := os.ReadFile(filepath.Join("..", "..", "internal", "integration", "testdata", tool.Name+"."+e.Name+".json"))
				if err != nil {
					t.Fatal(err)
				}
				if tool.Name != "opencode" {
					if data, err = sjson.SetBytes(data, "transcript_path", path); err != nil {
						t.Fatal(err)
					}
				}
				h.hook(data, tool.Name, e.Name)
				h.await(e.Name, func(got string) bool { return strings.Contains(got, "root ") && strings.Contains(got, "checkpoint ") })
			}
			if h.log() != "" {
				t.Error(h.log())
			}
		})
	}
}

// TestHookDetached: if another process writes, a hook returns, and another process does the
// work later, with the transcript as it was.
func TestHookDetached(t *testing.T) {
	h := newHookTest(t)
	root, err := os.OpenRoot(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	unlock, err := writelock.Lock(t.Context(), root, ".bough", writelock.Holder{PID: os.Getpid(), Verb: "test", Since: time.Now()}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	event := "UserPromptSubmit"
	path, input := h.claude(event, claudeLines(0, 4))
	h.hook(input, "claude-code", event)
	if got := h.counts(); got != "" {
		t.Errorf("without the lock: %s", got)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Write(claudeLines(4, 2)) // after the hook
	f.Close()
	unlock()
	h.await("with the lock", func(got string) bool { return got == "root 4, checkpoint 4" })
	h.hook(input, "claude-code", "Stop")
	h.await("then", func(got string) bool { return got == "root 6, checkpoint 4" })
	if h.log() != "" {
		t.Error(h.log())
	}
}

// TestHookLong: the first hook in a long conversation leaves it to another process, which imports
// the transcript as it was and makes the checkpoint; the next ones read the new lines themselves.
func TestHookLong(t *testing.T) {
	h := newHookTest(t)
	long := append([]byte("answer "), bytes.Repeat([]byte("word "), 300<<10)...)
	event := "UserPromptSubmit"
	path, input := h.claude(event, bytes.ReplaceAll(claudeLines(0, 4), []byte("answer"), long))
	if err := os.MkdirAll(filepath.Join(h.dir, ".bough", "cache"), 0o700); err != nil {
		t.Fatal(err)
	}
	queue := flock.New(filepath.Join(h.dir, ".bough", "cache", "hooks.lock")) // of detached processes
	if ok, err := queue.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	h.hook(input, "claude-code", event)
	if got := h.counts(); got != "" {
		t.Errorf("without a detached process: %s", got)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Write(claudeLines(4, 2)) // after the hook
	queue.Unlock()
	h.await("then", func(got string) bool { return got == "root 4, checkpoint 4" })
	for end := time.Now().Add(30 * time.Second); len(h.glob(".bough/cache/tails/*")) == 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	h.hook(input, "claude-code", event)
	h.await("at the next prompt", func(got string) bool { return got == "root 6, checkpoint 6, checkpoint 4" })
	if h.log() != "" {
		t.Error(h.log())
	}
}

// TestHookKnown: a hook does not read a transcript again that an import from the folder of the
// tool, such as that of the daemon, has read.
func TestHookKnown(t *testing.T) {
	h := newHookTest(t)
	path, input := h.claude("Stop", claudeLines(0, 4))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for id := durable.Identify(info); !durable.Settled(max(id.Changed, id.ModTime), time.Now()); {
		time.Sleep(time.Millisecond) // then an unchanged file is not read again
	}
	ledger := func() string {
		data, err := os.ReadFile(filepath.Join(h.dir, ".bough", "imports.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	h.bough("import", "--from", "claude-code", "--live")
	before := ledger()
	h.hook(input, "claude-code", "Stop")
	if ledger() != before {
		t.Error("the hook read the transcript again")
	}
}

// TestHookNeverFails: whatever is wrong, a hook prints nothing and succeeds, and the log has
// the error.
func TestHookNeverFails(t *testing.T) {
	h := newHookTest(t)
	good, input := h.claude("Stop", []byte("no transcript\n"))
	for _, c := range []struct {
		input string
		args  []string
		log   string
	}{
		{"", []string{"claude-code", "Stop"}, "claude-code Stop: the input of the hook is not JSON"},
		{"{}", []string{"claude-code", "Stop"}, "names no session"},
		{"{}", []string{"claude-code"}, "a hook takes TOOL EVENT; got 1 arguments"},
		{"{}", []string{"vi", "Stop"}, `unknown tool "vi"`},
		{"{}", []string{"codex", "Nap"}, `codex has no event "Nap"`},
		{"{}", []string{"codex", "Stop", "--later", good + ".none"}, "no such file"},
		{"{}", []string{"codex", "Stop", "--unknown"}, ""},
		{"{}", []string{"codex", "Stop", "--help"}, ""},
		{string(input), []string{"claude-code", "Stop"}, "no conversation"},
		{`{"session_id":"x","transcript_path":"` + filepath.ToSlash(h.home) + `"}`, []string{"claude-code", "Stop"}, "not a regular file"},
	} {
		before := len(h.log())
		h.hook([]byte(c.input), c.args...)
		if added := h.log()[before:]; !strings.Contains(added, c.log) || c.log == "" && added != "" {
			t.Errorf("%q with %q logs %q, want %q", c.args, c.input, added, c.log)
		}
	}
	if got := h.bough("doctor").Get(`problems.#(kind=="failed_hook").note`).Bool(); !got {
		t.Error("doctor does not note that hooks failed")
	}
	if err := os.WriteFile(filepath.Join(h.dir, "config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.hook(input, "claude-code", "Stop")
	if !strings.Contains(h.log(), "config.json") {
		t.Error("broken settings are not logged")
	}
	if err := os.RemoveAll(h.dir); err != nil {
		t.Fatal(err)
	}
	h.hook(input, "claude-code", "Stop")
	if _, err := os.Stat(h.dir); !os.IsNotExist(err) {
		t.Errorf("a removed workspace is back: %v", err)
	}
	for _, args := range [][]string{{"hook", "run"}, {"--nonsense", "hook", "run"}, {"-w", "", "hook", "run", "x"}} {
		if code := run(args, strings.NewReader(""), os.Stdout, os.Stderr); code != 0 {
			t.Errorf("bough %q exits with %d", args, code)
		}
	}
}
