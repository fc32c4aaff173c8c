package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkHook measures the hooks of turns in a workspace of 1,000 sessions, with a
// transcript of 20 MB that grows by a prompt and an answer in each turn, as processes: the hook
// after each turn; the hook before each prompt; the hook before a prompt after a turn without its
// hook, such as one that the user interrupts; and a hook without a transcript, which does nothing.
// It reports the median and the 99th percentile of each, and their ratios to those of the hook
// that does nothing. -benchtime 500x measures 500 prompts of each kind.
func BenchmarkHook(b *testing.B) {
	home, err := os.MkdirTemp("", "bough-bench-")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(home) // a detached process may still write: unlike b.TempDir, it does not matter
	h := newHookTestIn(b, home)
	const sessions, messages, kilobytes = 1000, 4000, 11 // of an answer
	for n := range sessions {
		id := fmt.Sprintf("session_20260101_%06d_%08x", n, n)
		text := fmt.Sprintf(`{"id":%q,"session_id":%[1]q,"created_at":"2026-01-01T00:00:00+00:00","metadata":{"title":"S%d","continued_from":[]},"messages":[{"id":"m%[2]d","role":"user","content":"question %[2]d"},{"id":"n%[2]d","role":"assistant","content":"answer"}]}`, id, n)
		path := filepath.Join(h.dir, "conversations", id+".json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	long := append([]byte("answer "), bytes.Repeat([]byte("lorem ipsum "), kilobytes<<10/12)...)
	path, after := h.claude("Stop", bytes.ReplaceAll(claudeLines(0, messages), []byte("answer"), long))
	_, before := h.claude("UserPromptSubmit", nil)
	none, err := os.ReadFile(filepath.Join("..", "..", "internal", "integration", "testdata", "claude-code.Stop.json")) // its transcript does not exist
	if err != nil {
		b.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() < 20e6 {
		b.Fatalf("the transcript is %v: %v", info, err)
	}
	took := func(input []byte, event string) time.Duration {
		cmd := exec.Command("bough", "-w", h.dir, "hook", "run", "claude-code", event)
		cmd.Stdin = bytes.NewReader(input)
		begin := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			b.Fatalf("%v: %s", err, out)
		}
		return time.Since(begin)
	}
	took(after, "Stop")
	for len(h.glob(".bough/cache/tails/*")) == 0 { // a detached process imports the transcript
		time.Sleep(10 * time.Millisecond)
	}
	times := map[string][]time.Duration{}
	checkpoints, n := len(h.glob("packed/*.json")), messages
	for b.Loop() {
		for _, call := range []struct {
			name, event string
			input       []byte
			grown       bool // the transcript has grown before
		}{
			{"turn", "Stop", after, true}, {"prompt", "UserPromptSubmit", before, false},
			{"unseen", "UserPromptSubmit", before, true}, {"nothing", "Stop", none, false},
		} {
			if call.grown {
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				if err != nil {
					b.Fatal(err)
				}
				f.Write(claudeLines(n, 2))
				f.Close()
				n += 2
			}
			times[call.name] = append(times[call.name], took(call.input, call.event))
			time.Sleep(20 * time.Millisecond)
		}
	}
	quantile := func(name string, percent int) float64 {
		list := slices.Sorted(slices.Values(times[name]))
		return float64(list[len(list)*percent/100].Microseconds()) / 1000
	}
	for name := range times {
		for _, percent := range []int{50, 99} {
			b.ReportMetric(quantile(name, percent), fmt.Sprintf("%s-p%d-ms", name, percent))
			b.ReportMetric(quantile(name, percent)/quantile("nothing", percent), fmt.Sprintf("%s-p%d-ratio", name, percent))
		}
	}
	b.ReportMetric(0, "ns/op")
	time.Sleep(time.Second) // detached processes end
	b.Logf("%d checkpoints for %d prompts; log: %s", len(h.glob("packed/*.json"))-checkpoints, len(times["prompt"])+len(times["unseen"]), h.log())
}
