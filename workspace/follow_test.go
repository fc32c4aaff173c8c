package workspace_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testtranscript"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/imports"
)

// A following is a run of [workspace.Workspace.Follow] in a test.
type following struct {
	*space
	dir  string // the folder of the program
	rows chan imports.Transcript
	done chan error
	stop context.CancelFunc
}

// follow follows the folder dir, which need not exist, and imports *.jsonl in it.
func (s *space) follow(dir string) *following {
	f := &following{space: s, dir: dir, rows: make(chan imports.Transcript, 1000), done: make(chan error, 1)}
	ctx, stop := context.WithCancel(s.t.Context())
	f.stop = stop
	source := imports.Source{Paths: []string{dir}, Holds: func(within string) bool { return filepath.Ext(within) == ".jsonl" }}
	go func() {
		f.done <- s.Follow(ctx, []imports.Source{source}, imports.Options{Each: func(r imports.Transcript) { f.rows <- r }})
	}()
	s.t.Cleanup(func() {
		stop()
		<-f.done
		f.done <- nil
	})
	return f
}

// add appends text to a file of the program.
func (f *following) add(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		f.t.Fatal(err)
	}
}

// wants receives rows until one has that status and that number of messages.
func (f *following) wants(name string, status imports.Status, messages int) imports.Transcript {
	f.t.Helper()
	for {
		select {
		case r := <-f.rows:
			if strings.HasSuffix(r.Path, name) && r.Status == status && r.Messages == messages {
				return r
			}
		case <-time.After(30 * time.Second):
			f.t.Fatalf("no row comes for %s: %s with %d messages", name, status, messages)
		}
	}
}

// claudeLine returns a line of Claude Code, which follows the one before it.
func claudeLine(session string, n int) string {
	parent := "null"
	if n > 1 {
		parent = fmt.Sprintf(`"%s-%d"`, session, n-1)
	}
	kind, content := "user", fmt.Sprintf(`"line %d"`, n)
	if n%2 == 0 {
		kind, content = "assistant", fmt.Sprintf(`[{"type":"text","text":"line %d"}]`, n)
	}
	return fmt.Sprintf(`{"type":%q,"uuid":"%s-%d","parentUuid":%s,"sessionId":%[2]q,"timestamp":"2026-01-01T00:00:%02d.000Z","cwd":"/w","message":{"id":"m%[3]d","role":%[1]q,"content":%[6]s,"stop_reason":"end_turn"}}`+"\n",
		kind, session, n, parent, n%60, content)
}

// TestFollow: what a program writes is imported after each line, also in files and folders that
// are new, and after truncation, replacement and removal of a file.
func TestFollow(t *testing.T) {
	t.Parallel()
	s := openSpace(t, filepath.Join(t.TempDir(), "ws"), 0)
	f := s.follow(filepath.Join(t.TempDir(), "home", "projects"))
	f.add("p/a.jsonl", claudeLine("a", 1))
	a := f.wants("a.jsonl", imports.New, 1)
	f.add("p/notes.txt", "no transcript")
	f.add("p/a.jsonl", claudeLine("a", 2))
	if r := f.wants("a.jsonl", imports.Updated, 2); r.Session != a.Session || r.Added != 1 {
		t.Errorf("the second line: %+v", r)
	}
	f.add("q/r/b.jsonl", claudeLine("b", 1))
	f.add("p/a.jsonl", claudeLine("a", 3)+claudeLine("a", 4)[:30])
	f.wants("a.jsonl", imports.Updated, 3)
	f.add("p/a.jsonl", claudeLine("a", 4)[30:])
	f.wants("a.jsonl", imports.Updated, 4)

	path := filepath.Join(f.dir, "p", "a.jsonl")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	f.add("p/a.jsonl", claudeLine("a", 1)+claudeLine("a", 2)+strings.ReplaceAll(claudeLine("a", 3), "a-3", "a-x"))
	f.wants("a.jsonl", imports.Updated, 3)
	writeOver(t, path+".new", []byte(claudeLine("a", 1)+claudeLine("a", 2)+claudeLine("a", 3)+claudeLine("a", 4)+claudeLine("a", 5)))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	f.wants("a.jsonl", imports.Updated, 5)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f.add("p/c.jsonl", claudeLine("c", 1))
	f.wants("c.jsonl", imports.New, 1)
	ends, err := s.Branches(t.Context(), string(a.Session), workspace.BranchesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(ends.Leaves) != 2 {
		t.Errorf("it has the leaves %v", ends.Leaves)
	}
}

// TestFollowDamage: damage of a file that does not change any more is reported once, and the
// other files are imported.
func TestFollowDamage(t *testing.T) {
	t.Parallel()
	s := openSpace(t, filepath.Join(t.TempDir(), "ws"), 0)
	f := s.follow(t.TempDir())
	f.add("a.jsonl", claudeLine("a", 1)+"{torn\n"+claudeLine("a", 2))
	f.wants("a.jsonl", imports.New, 2)
	r := f.wants("a.jsonl", imports.Failed, 0)
	if !strings.Contains(r.Detail, "line 2: invalid JSON") {
		t.Errorf("the damage is %q", r.Detail)
	}
	f.add("b.jsonl", claudeLine("b", 1))
	f.wants("b.jsonl", imports.New, 1)
	f.add("a.jsonl", claudeLine("a", 3))
	f.wants("a.jsonl", imports.Updated, 3)
	if len(f.rows) > 0 {
		t.Errorf("another row: %+v", <-f.rows)
	}
}

// TestFollowGone: following ends when the workspace is removed, and creates it no more.
func TestFollowGone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ws")
	s := openSpace(t, dir, 0)
	f := s.follow(t.TempDir())
	f.add("a.jsonl", claudeLine("a", 1))
	f.wants("a.jsonl", imports.New, 1)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	f.add("a.jsonl", claudeLine("a", 2))
	err := <-f.done
	f.done <- nil
	if e := workspace.Explain(err); e == nil || e.Code != fault.NotFound {
		t.Errorf("it ends with %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the workspace was created again")
	}
}

// TestFollowAuto: undo passes over what following imported, and a conversation that was removed
// is not imported again.
func TestFollowAuto(t *testing.T) {
	t.Parallel()
	s := openSpace(t, filepath.Join(t.TempDir(), "ws"), 0)
	mine, err := s.New(t.Context(), "Mine")
	if err != nil {
		t.Fatal(err)
	}
	f := s.follow(t.TempDir())
	f.add("a.jsonl", claudeLine("a", 1))
	a := f.wants("a.jsonl", imports.New, 1)
	if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, e := range list.Sessions {
		ids = append(ids, e.ID)
	}
	if !slices.Contains(ids, string(a.Session)) || slices.Contains(ids, mine.ID) {
		t.Errorf("after undo there are %v", ids)
	}
	if _, err := s.Remove(t.Context(), string(a.Session), workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	f.add("a.jsonl", claudeLine("a", 2))
	f.add("b.jsonl", claudeLine("b", 1))
	f.wants("b.jsonl", imports.New, 1)
	if list, err = s.List(t.Context(), ""); err != nil || len(list.Sessions) != 1 {
		t.Errorf("there are %v, %v", list.Sessions, err)
	}
}

// TestFollowPieces: following a file that grows in pieces, some of which end inside a line, ends
// with the same as an import of the whole.
func TestFollowPieces(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	data := testtranscript.ClaudeCode(random)
	s := openSpace(t, filepath.Join(t.TempDir(), "ws"), 0)
	f := s.follow(t.TempDir())
	for rest := data; len(rest) > 0; {
		n := min(len(rest), 1+random.IntN(1+len(data)/4))
		f.add("a.jsonl", string(rest[:n]))
		rest = rest[n:]
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond) // pieces arrive at different times
	}
	format, err := convert.Named("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	want := imported(t, format, data)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got := s.outline(format)
		if got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it has\n%s\nnot\n%s", without(got, want), without(want, got))
		}
	}
}
