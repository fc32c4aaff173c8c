package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/gofrs/flock"
)

// TestIsLeft: another process can do what takes too long, and what another writer delays.
func TestIsLeft(t *testing.T) {
	for _, c := range []struct {
		err  error
		late bool
		left bool
	}{
		{nil, false, false},
		{nil, true, false},
		{errors.New("damaged"), false, false},
		{errors.New("interrupted"), true, true},
		{context.DeadlineExceeded, true, true},
		{imports.ErrLarge, false, true},
		{fmt.Errorf("a.jsonl: %w", imports.ErrLarge), false, true},
		{&fault.Error{Code: fault.Locked}, false, true},
		{&fault.Error{Code: fault.Busy}, false, true},
		{&fault.Error{Code: fault.Refused}, false, false},
	} {
		if got := isLeft(c.err, c.late); got != c.left {
			t.Errorf("isLeft(%v, %v) = %v", c.err, c.late, got)
		}
	}
}

// TestTake: a call has something to do if its transcript has content, which is that of its path,
// else the newest file with the id of the session in its name.
func TestTake(t *testing.T) {
	home := t.TempDir()
	m := transcript.Machine{Home: home, Dir: home, Env: func(string) string { return "" }, Read: os.ReadFile}
	dir := filepath.Join(home, ".claude", "projects", "-w")
	path := filepath.Join(dir, "a80a0468-2367-4799-85a8-64f1d225a6e5.jsonl")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	take := func(input string) (*Call, bool) {
		c, err := New("claude", "UserPromptSubmit")
		if err != nil || !c.event.Before {
			t.Fatalf("%+v, %v", c, err)
		}
		todo, err := c.Take([]byte(input), m)
		if err != nil {
			t.Fatalf("%s: %v", input, err)
		}
		return c, todo
	}
	session := `{"session_id":"a80a0468-2367-4799-85a8-64f1d225a6e5"}`
	if _, todo := take(session); todo {
		t.Error("there is something to do without a transcript")
	}
	for size, want := range []bool{false, true} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, todo := take(session); todo != want || c.Input.Transcript != path || c.Size != int64(size) {
			t.Errorf("with %d bytes: %+v, %v", size, c, todo)
		}
	}
	for input, want := range map[string]bool{
		`{"session_id":"short"}`: false,
		`{"session_id":"a80a0468-2367-4799-85a8-64f1d225a6e5","agent_id":"x"}`: false,
		`{"session_id":"s","export":{"info":{}}}`:                              true,
		`{"session_id":"s","export":{"info":{"parentID":"p"}}}`:                false,
	} {
		if _, todo := take(input); todo != want {
			t.Errorf("%s: something to do: %v, want %v", input, todo, want)
		}
	}
	c, _ := take(session)
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Decode(data); err != nil || again.Size != c.Size || again.Input.Transcript != path || !again.event.Before || again.format != c.format {
		t.Errorf("decoded: %+v, %v", again, err)
	}
	if _, err := Decode([]byte(`{"tool":"vi"}`)); err == nil {
		t.Error("the call of an unknown tool is decoded")
	}
	if _, err := New("codex", "Nap"); err == nil {
		t.Error("an unknown event is found")
	}
}

// TestQueue: a detached process waits for another one, for a limited time.
func TestQueue(t *testing.T) {
	dir := t.TempDir()
	w, err := workspace.Open(t.Context(), filepath.Join(dir, "w"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := New("claude-code", "Stop")
	if err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","uuid":"6f9f0b52-0b6c-4d11-9c39-7c1b5f0c5a01","parentUuid":null,"sessionId":"a80a0468-2367-4799-85a8-64f1d225a6e5","message":{"role":"user","content":"Teak or oak?"}}` + "\n"
	c.Input.Transcript, c.Size = filepath.Join(dir, "a80a0468-2367-4799-85a8-64f1d225a6e5.jsonl"), int64(len(line))
	if err := os.WriteFile(c.Input.Transcript, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	sessions := func() int {
		list, err := w.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Sessions)
	}
	path := filepath.Join(w.Dir(), filepath.FromSlash(queue))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	other := flock.New(path)
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := c.RunQueued(ctx, w, time.Minute); !errors.Is(err, context.DeadlineExceeded) || sessions() != 0 {
		t.Errorf("while another one works: %v, %d sessions", err, sessions())
	}
	if err := c.RunQueued(t.Context(), w, time.Millisecond); err != nil || sessions() != 1 {
		t.Errorf("after its patience: %v, %d sessions", err, sessions())
	}
	other.Unlock()
	if err := c.RunQueued(t.Context(), w, time.Minute); err != nil || sessions() != 1 {
		t.Errorf("when the other one has ended: %v, %d sessions", err, sessions())
	}
}

// TestPruneLater: a hook leaves the pruning to another process, when several checkpoints are old.
func TestPruneLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := workspace.Open(t.Context(), filepath.Join(dir, "w"), &workspace.Options{Retention: checkpoint.Retention{Limit: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a80a0468-2367-4799-85a8-64f1d225a6e5.jsonl")
	checkpoints := func() (n int) {
		list, err := w.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list.Sessions {
			if s.Kind == session.Checkpoint {
				n++
			}
		}
		return n
	}
	parent := "null"
	for n := 1; n <= 9; n++ {
		c, err := New("claude-code", "UserPromptSubmit")
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf(`{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"a80a0468-2367-4799-85a8-64f1d225a6e5","message":{"role":"user","content":"Teak or oak?"}}`+"\n", n, parent)
		parent = fmt.Sprintf(`"u%d"`, n)
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(line)
		info, err := f.Stat()
		if f.Close(); err != nil {
			t.Fatal(err)
		}
		c.Input.Transcript, c.Size = path, info.Size()
		left, err := c.RunFor(t.Context(), w, time.Minute)
		if want := n > 8; err != nil || left != want || (c.Prune != "") != want || checkpoints() != n {
			t.Fatalf("prompt %d: left to another process: %v, %q, %v; %d checkpoints", n, left, c.Prune, err, checkpoints())
		}
		if !left {
			continue
		}
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		later, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if err := later.Run(t.Context(), w); err != nil || checkpoints() != 1 {
			t.Errorf("the other process: %v, %d checkpoints", err, checkpoints())
		}
	}
}

// TestLate: a hook after a turn that runs late imports all new lines, from the end of the
// last import; one before a prompt makes the checkpoint of the state in which it was called.
func TestLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := workspace.Open(t.Context(), filepath.Join(dir, "w"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	const line = `{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"a80a0468-2367-4799-85a8-64f1d225a6e5","message":{"role":"user","content":"Teak or oak?"}}` + "\n"
	first := fmt.Sprintf(line, 1, "null")
	path := filepath.Join(dir, "a80a0468-2367-4799-85a8-64f1d225a6e5.jsonl")
	if err := os.WriteFile(path, []byte(first+fmt.Sprintf(line, 2, `"u1"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	for event, want := range map[string]string{"Stop": "root 2", "UserPromptSubmit": "checkpoint 1"} {
		c, err := New("claude-code", event)
		if err != nil {
			t.Fatal(err)
		}
		c.Input.Transcript, c.Size = path, int64(len(first))
		if err := c.Run(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		list, err := w.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, s := range list.Sessions {
			found = found || fmt.Sprint(s.Kind, " ", s.MessageCount) == want
		}
		if !found {
			t.Errorf("after %s there is no %s: %+v", event, want, list.Sessions)
		}
	}
}

// TestStateFor: a state that is not taken before a deadline is left to a detached process, which
// takes it for the same message and as a late one; one whose message is not known is left too.
func TestStateFor(t *testing.T) {
	dir := t.TempDir()
	w, err := workspace.Open(t.Context(), filepath.Join(dir, "w"), nil)
	if err == nil {
		err = errors.Join(w.Make(t.Context()), os.WriteFile(filepath.Join(dir, "bed"), []byte("tulips"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := New("claude-code", "UserPromptSubmit")
	if err != nil {
		t.Fatal(err)
	}
	c.Input.Dir = dir
	c.WantState(func(string) string { return "" })
	if left, err := c.StateFor(t.Context(), w, time.Now().Add(time.Hour)); !left || err != nil {
		t.Errorf("before the import: left %v, %v", left, err)
	}
	c.Input.PromptID = "p1"
	if left, err := c.StateFor(t.Context(), w, time.Now()); !left || err == nil {
		t.Errorf("after the deadline: left %v, %v", left, err)
	}
	c.Imported = true
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode(data)
	if err == nil {
		err = again.RunQueued(t.Context(), w, time.Second)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := w.States(t.Context(), "")
	if err != nil || len(list.States) != 1 || !list.States[0].Late || list.States[0].At != "prompt" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, event := range []string{"Stop", "SessionEnd"} {
		c, err := New("claude-code", event)
		if err != nil {
			t.Fatal(err)
		}
		c.Input.Dir = dir
		if c.WantState(func(string) string { return "" }); (c.State != nil) != (event == "Stop") {
			t.Errorf("%s: %+v", event, c.State)
		}
		if c.WantState(func(string) string { return filepath.Join(dir, "root") }); event == "Stop" && c.State.Dir != filepath.Join(dir, "root") {
			t.Errorf("%s: %+v", event, c.State)
		}
	}
}
