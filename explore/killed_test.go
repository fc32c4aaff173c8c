package explore_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
)

// TestKilledProgram is the program that TestKilled kills.
func TestKilledProgram(t *testing.T) {
	dir, id, ok := strings.Cut(os.Getenv("BOUGH_TEST_EXPLORE"), "|")
	if !ok {
		return // TestKilled runs it
	}
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	release, err := w.Exploration(id).Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	e := load(t, w, id)
	if err := (&explore.Explorer{Workspace: w, Folder: dir + ".work"}).Try(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, w *workspace.Workspace, id string) *explore.Exploration {
	t.Helper()
	data, err := w.Exploration(id).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := explore.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestKilled kills a program at any point of an exploration and resumes the exploration:
// each branch has one result, no ended branch runs again, and no message or folder exists
// twice or is left over.
func TestKilled(t *testing.T) {
	rounds := testsize.Of(1, 2, 20)
	cut := 0 // rounds with an exploration to resume
	for range rounds {
		if killed(t) {
			cut++
		}
		if t.Failed() {
			return
		}
	}
	if cut < rounds/4 {
		t.Errorf("only %d of %d were killed during the exploration", cut, rounds)
	}
}

func killed(t *testing.T) (middle bool) {
	l := newLabIn(t, memoryDir(t))
	log := filepath.Join(l.work, "log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := l.explore(`echo $BOUGH_BRANCH >> "$LOG"; sleep 0.02
[ $BOUGH_STRATEGY$BOUGH_DEPTH = s21 ] && more=',"strategies":[{"name":"deep","description":"deeper"}]'
echo $BOUGH_STRATEGY > $BOUGH_NOTES/$BOUGH_BRANCH/note
printf '{"result":"%s is good","confidence":0.7,"insights":["quick"]%s}' $BOUGH_STRATEGY "$more"`, explore.Defaults(), numbered(10)...)
	e.Runner.Bindings, e.Runner.Share = map[string]string{"LOG": log}, true
	if err := l.w.Exploration(e.ID).Write(t.Context(), e.Encode()); err != nil {
		t.Fatal(err)
	}
	program := exec.Command(os.Args[0], "-test.run=^TestKilledProgram$")
	program.Env = append(os.Environ(), "BOUGH_TEST_EXPLORE="+l.dir+"|"+e.ID)
	var said bytes.Buffer
	program.Stdout, program.Stderr = &said, &said
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until it runs
		if data, _ := os.ReadFile(log); len(data) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(rand.N(180 * time.Millisecond)) // the kill comes at any moment
	program.Process.Kill()
	program.Wait()
	time.Sleep(30 * time.Millisecond) // until its runners end

	e = load(t, l.w, e.ID)
	middle = !e.Done()
	runs := func(id string) int {
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), id+"\n")
	}
	had := map[string]int{} // the number of runs of ended branches
	for _, b := range e.Branches {
		if b.Status == explore.Completed {
			had[b.ID] = runs(b.ID)
		} else if b.Session != "" {
			path, err := l.w.Line(b.Session).Path(t.Context(), b.ID, session.ReadOptions{})
			if err == nil && path.Nodes[len(path.Nodes)-1].ID == b.ID {
				had[b.ID] = runs(b.ID)
			}
		}
	}
	l.work = l.dir + ".work"
	l.run(e)
	if len(e.Branches) != 11 || len(e.Notes) != 11 {
		t.Errorf("%d branches and %d notes; the program printed %s", len(e.Branches), len(e.Notes), said.String())
	}
	for _, b := range e.Branches {
		if b.Status != explore.Completed || b.Result != b.Strategy+" is good" || *b.Confidence != 0.7 || b.Insights[0] != "quick" {
			t.Errorf("a branch is %+v", b)
			continue
		}
		if n, ended := had[b.ID]; ended && runs(b.ID) != n {
			t.Errorf("the ended branch %s ran again", b.Strategy)
		}
		s, err := l.w.Show(t.Context(), b.Session, session.ReadOptions{})
		if err != nil || len(s.Messages) != 1+b.Depth || s.Messages[b.Depth].Text() != b.Result {
			t.Errorf("the conversation of %s is %+v, %v", b.Strategy, s, err)
		}
	}
	if list, err := l.w.List(t.Context(), "branch"); err != nil || len(list.Sessions) != 11 {
		t.Errorf("there are %d branch sessions, %v", len(list.Sessions), err)
	}
	if report, err := l.w.Doctor(t.Context(), doctor.Options{}); err != nil || !report.OK {
		t.Errorf("doctor finds %+v, %v", report, err)
	}
	if _, err := os.Lstat(filepath.Join(l.work, e.ID)); err == nil {
		t.Error("its folder still exists")
	}
	if string(load(t, l.w, e.ID).Encode()) != string(e.Encode()) {
		t.Error("the stored exploration differs")
	}
	return middle
}

// memoryDir returns a folder in memory if there is one: a killed process leaves its writes
// there without a disk.
func memoryDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "explore")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
