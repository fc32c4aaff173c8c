package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// project makes a folder with a file, of which hooks take states.
func (h *hookTest) project() (dir string) {
	h.t.Helper()
	h.bough("config", "hook.files", "true")
	dir = filepath.Join(h.home, "garden")
	if err := os.Mkdir(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.t.Setenv("CLAUDE_PROJECT_DIR", "")
	h.t.Setenv("GEMINI_PROJECT_DIR", "")
	return dir
}

func (h *hookTest) put(dir, name, content string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// with returns the input of a hook with another member.
func (h *hookTest) with(input []byte, member, value string) []byte {
	h.t.Helper()
	input, err := sjson.SetBytes(input, member, value)
	if err != nil {
		h.t.Fatal(err)
	}
	return input
}

// stateAt returns the state of a message.
func (h *hookTest) stateAt(ref string) gjson.Result {
	h.t.Helper()
	return h.bough("files", "show", ref).Get("state")
}

// withPrompts adds the id of a prompt to the user's messages of a transcript.
func withPrompts(lines []byte) (out []byte) {
	id := ""
	for line := range bytes.Lines(lines) {
		if bytes.Contains(line, []byte(`"type":"user"`)) {
			id = gjson.GetBytes(line, "uuid").Str
			line = bytes.Replace(line, []byte(`{`), []byte(`{"promptId":"p-`+id+`",`), 1)
		}
		out = append(out, line...)
	}
	return out
}

// TestHookStates: with the setting, the hook before a prompt takes a state, which belongs to
// the message of the prompt when that is imported, and the hook after the turn one, which
// belongs to the answer. Without the setting, hooks take none.
func TestHookStates(t *testing.T) {
	h := newHookTest(t)
	_, input := h.claude("UserPromptSubmit", claudeLines(0, 2))
	h.hook(input, "claude-code", "UserPromptSubmit")
	h.await("without the setting", func(counts string) bool { return counts == "root 2, checkpoint 2" })
	if len(h.glob("states")) > 0 {
		t.Error("a state was taken without the setting")
	}
	dir := h.project()
	for turn := range 2 {
		n := 2 + 2*turn
		uuid := gjson.GetBytes(claudeLines(n, 1), "uuid").Str
		h.put(dir, "bed", "before "+uuid)
		_, input := h.claude("UserPromptSubmit", withPrompts(claudeLines(0, n)))
		input = h.with(h.with(input, "cwd", dir), "prompt_id", "p-"+uuid)
		h.hook(input, "claude-code", "UserPromptSubmit")
		h.put(dir, "bed", "after "+uuid)
		_, input = h.claude("Stop", withPrompts(claudeLines(0, n+2)))
		h.hook(h.with(input, "cwd", dir), "claude-code", "Stop")
		h.await("the turn", func(counts string) bool { return strings.HasPrefix(counts, "root "+string(rune('4'+2*turn))) })
	}
	for n, want := range map[int]string{2: "prompt before", 3: "end after", 4: "prompt before", 5: "end after"} {
		ref := gjson.GetBytes(claudeLines(n, 1), "uuid").Str
		st := h.stateAt(ref)
		got := st.Get("at").Str + " " + strings.Fields(h.content(ref, "bed"))[0]
		if !st.Get("exact").Bool() || got != want || st.Get("late").Bool() || filepath.Base(st.Get("dir").Str) != "garden" {
			t.Errorf("message %d: %s; %s", n, got, st)
		}
	}
	list := h.bough("files", "ls").Get("states").Array()
	if len(list) != 4 {
		t.Fatalf("%d states", len(list))
	}
	if newest := gjson.GetBytes(claudeLines(3, 1), "uuid").Str; list[2].Get("message_id").Str != newest || list[2].Get("session_id").Str == "" {
		t.Errorf("the newest message at the second prompt is %s", list[2])
	}
	_, input = h.claude("SessionEnd", nil)
	h.hook(h.with(input, "cwd", dir), "claude-code", "SessionEnd")
	h.t.Setenv("CLAUDE_PROJECT_DIR", filepath.Join(h.home, "elsewhere"))
	if err := os.Mkdir(filepath.Join(h.home, "elsewhere"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, input = h.claude("Stop", nil)
	h.hook(h.with(input, "cwd", dir), "claude-code", "Stop")
	list = h.bough("files", "ls").Get("states").Array()
	if len(list) != 5 || filepath.Base(list[4].Get("dir").Str) != "elsewhere" {
		t.Errorf("the folder of the project: %v", list)
	}
	if h.log() != "" {
		t.Errorf("the log has %s", h.log())
	}
}

// content returns a file of a state.
func (h *hookTest) content(ref, name string) string {
	h.t.Helper()
	var out bytes.Buffer
	if code := run([]string{"-w", h.dir, "files", "show", ref, name}, strings.NewReader(""), &out, &out); code != 0 {
		h.t.Fatalf("files show: %s", out.Bytes())
	}
	return out.String()
}

// TestHookStateLate: a state that cannot be taken before the assistant continues is taken by
// the detached process, and says that it is late.
func TestHookStateLate(t *testing.T) {
	h := newHookTest(t)
	dir := h.project()
	h.put(dir, "bed", "tulips")
	long := bytes.ReplaceAll(claudeLines(0, 2), []byte("answer"), bytes.Repeat([]byte("answer "), 400_000))
	_, input := h.claude("Stop", long)
	h.hook(h.with(input, "cwd", dir), "claude-code", "Stop")
	var list []gjson.Result
	for end := time.Now().Add(30 * time.Second); len(list) == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if h.counts() != "" {
			list = h.bough("files", "ls").Get("states").Array()
		}
	}
	if len(list) != 1 || !list[0].Get("late").Bool() || list[0].Get("at").Str != "end" || list[0].Get("message_id").Str == "" {
		t.Errorf("%v; the log has %s", list, h.log())
	}
}

// TestHookPrunesStates: if the states take more than the limit, the hook leaves the prune to the
// detached process.
func TestHookPrunesStates(t *testing.T) {
	h := newHookTest(t)
	dir := h.project()
	stop := func(content string) {
		t.Helper()
		h.put(dir, "bed", content)
		_, input := h.claude("Stop", claudeLines(0, 2))
		h.hook(h.with(input, "cwd", dir), "claude-code", "Stop")
	}
	states := func() int { return len(h.bough("files", "ls").Get("states").Array()) }
	stop("tulips")
	h.await("the first state", func(string) bool { return states() == 1 })
	stop("roses")
	if n := states(); n != 2 {
		t.Fatalf("%d states", n)
	}
	h.bough("config", "files.limit", "1")
	stop("lilies")
	h.await("the prune", func(string) bool { return states() == 1 })
	if h.log() != "" {
		t.Errorf("the log has %s", h.log())
	}
}

// TestHookStateRefused: in a folder that is too wide, hooks do their other work, and say so
// once in the log.
func TestHookStateRefused(t *testing.T) {
	h := newHookTest(t)
	h.project()
	for range 2 {
		_, input := h.claude("UserPromptSubmit", claudeLines(0, 2))
		h.hook(h.with(input, "cwd", h.home), "claude-code", "UserPromptSubmit")
	}
	h.await("the hooks", func(counts string) bool { return counts == "root 2, checkpoint 2" })
	if log := h.log(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "too wide for states") {
		t.Errorf("the log has %s", log)
	}
	if len(h.glob("states/*")) > 0 {
		t.Error("a state was taken")
	}
}

// BenchmarkHookStates measures the hooks before a prompt and after a turn, as processes, in a
// folder of 10,000 files: without states, with states of a folder that did not change, and with
// one of which a file changed. It reports the median of each in milliseconds.
func BenchmarkHookStates(b *testing.B) {
	h := newHookTestIn(b, b.TempDir())
	dir := h.project()
	for n := range 10_000 {
		sub := filepath.Join(dir, fmt.Sprint(n/100))
		if n%100 == 0 {
			if err := os.Mkdir(sub, 0o700); err != nil {
				b.Fatal(err)
			}
		}
		h.put(sub, fmt.Sprint(n), strings.Repeat(fmt.Sprintln("line", n), 40))
	}
	_, input := h.claude("Stop", claudeLines(0, 40))
	input = h.with(input, "cwd", dir)
	h.hook(input, "claude-code", "Stop")
	for h.bough("files", "ls").Get("states.#").Int() == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(3 * time.Second) // until the times of the files are old enough
	h.hook(input, "claude-code", "Stop")
	times := map[string][]time.Duration{}
	for b.Loop() {
		for _, kind := range []string{"without", "unchanged", "changed"} {
			h.bough("config", "hook.files", fmt.Sprint(kind != "without"))
			if kind == "changed" {
				h.put(filepath.Join(dir, "0"), "0", fmt.Sprint(b.Elapsed()))
			}
			begin := time.Now()
			h.hook(input, "claude-code", "Stop")
			times[kind] = append(times[kind], time.Since(begin))
		}
	}
	for kind, list := range times {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, kind+"-ms")
	}
	b.ReportMetric(0, "ns/op")
	if h.log() != "" {
		b.Error(h.log())
	}
}
