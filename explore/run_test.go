package explore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
)

// A lab is a workspace with a conversation to explore.
type lab struct {
	testing.TB
	w          *workspace.Workspace
	dir        string // of the workspace
	tree, node string
	work       string // the folder for the folders of branches
}

func newLab(t testing.TB) *lab { return newLabIn(t, t.TempDir()) }

// newLabIn makes a lab in a folder.
func newLabIn(t testing.TB, dir string) *lab {
	if runtime.GOOS == "windows" {
		t.Skip("the runners here are shell scripts")
	}
	dir = filepath.Join(dir, "w")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := w.New(t.Context(), "Sorting")
	if err != nil {
		t.Fatal(err)
	}
	said, err := w.Append(t.Context(), workspace.Append{Session: e.ID, Text: "How is this sorted best?"})
	if err != nil {
		t.Fatal(err)
	}
	return &lab{t, w, dir, e.ID, said.Message, t.TempDir()}
}

// explore returns an exploration of strategies by a command line.
func (l *lab) explore(line string, c explore.Config, names ...string) *explore.Exploration {
	e := &explore.Exploration{
		ID: uuid.NewString(), Session: l.tree, Node: l.node, Question: "How is this sorted best?",
		Method: explore.Best, Config: c, Runner: explore.Runner{Command: line},
	}
	e.Begin(strategies(names...), uuid.NewString, at(0))
	return e
}

// explorer returns an explorer of the workspace that runs every command.
func (l *lab) explorer() *explore.Explorer {
	return &explore.Explorer{
		Workspace: l.w, Folder: l.work, Note: func(s string) { l.Log(s) },
		Approve: func(context.Context, explore.Runner) error { return nil },
	}
}

// interrupt runs e until begun returns true, stops it there, and returns it as it is stored.
func (l *lab) interrupt(e *explore.Exploration, begun func() bool) *explore.Exploration {
	l.Helper()
	ctx, stop := context.WithCancel(l.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- l.explorer().Try(ctx, e, nil) }()
	for !begun() {
		select {
		case err := <-ended:
			l.Fatalf("Try = %v, before it was stopped", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	stop()
	if err := <-ended; err != context.Canceled {
		l.Fatalf("Try = %v, after it was stopped", err)
	}
	data, err := l.w.Exploration(e.ID).Read(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	again, err := explore.Decode(data)
	if err != nil {
		l.Fatal(err)
	}
	return again
}

func (l *lab) run(e *explore.Exploration) {
	l.Helper()
	if err := l.explorer().Try(l.Context(), e, nil); err != nil {
		l.Fatal(err)
	}
}

// timed calls f with longer and longer timeouts until f reports that one was long enough for
// the branches that do not hang.
func (l *lab) timed(f func(timeout time.Duration) bool) {
	l.Helper()
	for timeout := 500 * time.Millisecond; !f(timeout); timeout *= 2 {
		if timeout > time.Minute {
			l.Fatalf("%v is too short", timeout)
		}
	}
}

// timedOut reports whether a branch of e other than one of a strategy ended at its timeout.
func timedOut(e *explore.Exploration, except string) bool {
	return slices.ContainsFunc(e.Branches, func(b explore.Branch) bool {
		return b.Strategy != except && strings.Contains(b.Reason, "longer than")
	})
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("s", i+1))
	}
	return names
}

// TestConcurrency: at most five of twelve branches run at once, one that hangs ends at its own
// timeout, and eleven results are kept.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	log := filepath.Join(t.TempDir(), "log")
	c := explore.Defaults()
	var e *explore.Exploration
	var data []byte
	l.timed(func(timeout time.Duration) bool {
		c.Timeout = explore.Duration(timeout)
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		e = l.explore(`trap 'echo - >> "$LOG"; exit' TERM; echo + >> "$LOG"; [ "$BOUGH_STRATEGY" = s4 ] && { sleep 1000 & wait; }; until [ $(grep -c + "$LOG") -ge 5 ]; do sleep 0.01; done; sleep 0.05; echo - >> "$LOG"; echo "$BOUGH_STRATEGY is good"`, c, numbered(12)...)
		e.Runner.Bindings = map[string]string{"LOG": log}
		l.run(e)
		var err error
		if data, err = os.ReadFile(log); err != nil {
			t.Fatal(err)
		}
		return !timedOut(e, "s4") && strings.Count(string(data), "+") == 12
	})
	at, most := 0, 0
	for _, c := range string(data) {
		switch c {
		case '+':
			at++
			most = max(most, at)
		case '-':
			at--
		}
	}
	if most != 5 || at != 0 {
		t.Errorf("%d ran at once: %q", most, data)
	}
	for i, b := range e.Branches {
		if i == 3 {
			if b.Status != explore.Failed || !strings.Contains(b.Reason, "longer than "+time.Duration(c.Timeout).String()) {
				t.Errorf("the hanging branch is %+v", b)
			}
			continue
		}
		if b.Status != explore.Completed || b.Result != b.Strategy+" is good" {
			t.Errorf("branch %d is %+v", i, b)
		}
		conversation, err := l.w.Show(t.Context(), b.Session, session.ReadOptions{})
		if err != nil || len(conversation.Messages) != 2 || conversation.Messages[1].Text() != b.Result {
			t.Errorf("its conversation is %+v, %v", conversation, err)
		}
	}
	head, err := l.w.Head(t.Context())
	if err != nil || head.Head.Session != l.tree {
		t.Errorf("the head is %+v, %v", head, err)
	}
	report, err := l.w.Doctor(t.Context(), doctor.Options{})
	if err != nil || !report.OK {
		t.Errorf("doctor finds %+v, %v", report, err)
	}
	left, err := filepath.Glob(filepath.Join(l.work, e.ID, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the folders %q stay", left)
	}
}

// TestDepth: branches that a branch proposes are tried below it, and those beyond the
// maximum depth are refused with a reason.
func TestDepth(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	e := l.explore(`printf '{"result":"at %s","confidence":0.%s,"strategies":[{"name":"deeper","description":"one more"}]}' $BOUGH_DEPTH $BOUGH_DEPTH`, explore.Defaults(), "first")
	l.run(e)
	if len(e.Branches) != 4 {
		t.Fatalf("there are %+v", e.Branches)
	}
	for i, b := range e.Branches[:3] {
		conversation, err := l.w.Show(t.Context(), b.Session, session.ReadOptions{})
		if err != nil || len(conversation.Messages) != i+2 || b.Depth != i+1 {
			t.Errorf("branch %d has %d messages, %v", i, len(conversation.Messages), err)
		}
	}
	if b := e.Branches[3]; b.Status != explore.Failed || b.Reason != "not tried: depth 4 is beyond the limit of 3" || b.Session != "" {
		t.Errorf("the deepest is %+v", b)
	}
	if err := l.explorer().Conclude(t.Context(), e, explore.Best, nil); err != nil {
		t.Fatal(err)
	}
	if e.Evaluation.Result != "at 3" || e.Outcome == nil || e.Adopted != nil {
		t.Errorf("it comes to %+v", e.Evaluation)
	}
	if err := l.explorer().AdoptBranch(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	head, err := l.w.Head(t.Context())
	if err != nil || string(head.Head.Message) != *e.Adopted || *e.Adopted != *e.Outcome {
		t.Errorf("the head is %+v, %v", head, err)
	}
	if err := l.explorer().AdoptBranch(t.Context(), e, &e.Branches[0]); err != nil || *e.Adopted == *e.Outcome {
		t.Errorf("another branch: %v", err)
	}
	if code := workspace.Explain(l.explorer().AdoptBranch(t.Context(), e, &e.Branches[3])).Code; code != fault.Refused {
		t.Errorf("a branch without a result: %v", code)
	}
	data, err := l.w.Exploration(e.ID[:13]).Read(t.Context())
	if err != nil || string(data) != string(e.Encode()) {
		t.Errorf("the file is %s, %v", data, err)
	}
}

// TestWrittenBeforeRunner: the file marks each branch as executing before its runner
// begins, and has the results of those that ended before.
func TestWrittenBeforeRunner(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := explore.Defaults()
	c.MaxConcurrent = 2
	e := l.explore("", c, numbered(8)...)
	e.Runner.Model = "m"
	var ended atomic.Int32
	m := stub(func(_ context.Context, r *model.Request) (string, error) {
		id := r.Messages[len(r.Messages)-1].ID
		before := int(ended.Load())
		stored := load(t, l.w, e.ID)
		b := stored.Branch(id)
		if b.Status != explore.Executing || !slices.Contains(stored.Active, id) || len(stored.Active) > 2 {
			return "", fmt.Errorf("it is %s in the file, with %d executing", b.Status, len(stored.Active))
		}
		completed := 0
		for _, b := range stored.Branches {
			if b.Status == explore.Completed {
				completed++
			}
		}
		if completed < before-1 { // the last one may still be written
			return "", fmt.Errorf("the file has %d results of %d", completed, before)
		}
		ended.Add(1)
		return "done", nil
	})
	if err := l.explorer().Try(t.Context(), e, m); err != nil {
		t.Fatal(err)
	}
	for _, b := range e.Branches {
		if b.Status != explore.Completed {
			t.Errorf("%s: %s", b.Strategy, b.Reason)
		}
	}
}

// TestRunners: any failure of a runner makes its branch fail with a reason, and the others
// continue.
func TestRunners(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := explore.Defaults()
	c.MaxOutput = 1000
	trapped := filepath.Join(t.TempDir(), "trapped")
	var e *explore.Exploration
	l.timed(func(timeout time.Duration) bool {
		c.Timeout = explore.Duration(timeout)
		os.Remove(trapped)
		e = l.explore(`case "$BOUGH_STRATEGY" in
flood) while :; do echo flood; done;;
fork) (sleep 100 &) ; echo forked;;
deaf) trap '' TERM; : > "$TRAPPED"; while :; do sleep 1; done;;
garbage) printf '\377\376';;
one) echo 'no such tree' >&2; exit 1;;
silent) exit 0;;
good) cat > /dev/null; echo '{"result":"fine","confidence":0.8,"insights":["quick"],"metrics":{"n":1}}';;
esac`, c, "flood", "fork", "deaf", "garbage", "one", "silent", "good")
		e.Runner.Bindings = map[string]string{"TRAPPED": trapped}
		x := l.explorer()
		x.SetGrace(300 * time.Millisecond)
		if err := x.Try(t.Context(), e, nil); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(trapped)
		return err == nil && !timedOut(e, "deaf")
	})
	want := map[string]string{
		"flood": "1000", "fork": "", "deaf": "longer than " + time.Duration(c.Timeout).String(), "garbage": "not valid UTF-8",
		"one": "no such tree", "silent": "printed nothing", "good": "",
	}
	for _, b := range e.Branches {
		if reason := want[b.Strategy]; (reason == "") != (b.Status == explore.Completed) || !strings.Contains(b.Reason, reason) {
			t.Errorf("%s is %+v", b.Strategy, b)
		}
	}
	if b := e.Branches[6]; *b.Confidence != 0.8 || string(b.Metrics) != `{"n":1}` || b.Insights[0] != "quick" {
		t.Errorf("the good one is %+v", b)
	}
}

// TestInterrupted: a branch that was interrupted with the program runs again, one that has
// ended does not; a cancelled exploration has ended.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	log := filepath.Join(l.work, "log")
	c := explore.Defaults()
	c.MaxConcurrent = 2
	e := l.explore(`echo $BOUGH_STRATEGY >> "$LOG"; [ $BOUGH_STRATEGY = s1 ] || [ -e "$LOG.go" ] || sleep 100; echo done`, c, numbered(4)...)
	e.Runner.Bindings = map[string]string{"LOG": log}
	again := l.interrupt(e, func() bool { // s1 has ended, s2 and s3 are running
		data, _ := os.ReadFile(log)
		return strings.Count(string(data), "\n") == 3
	})
	if b := again.Branches; b[0].Status != explore.Completed || b[1].Status != explore.Pending || b[3].Status != explore.Pending || again.EndedAt != "" {
		t.Errorf("interrupted it is %+v", b)
	}
	if err := os.WriteFile(log+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l.run(again)
	data, err := os.ReadFile(log)
	if err != nil || strings.Count(string(data), "s1\n") != 1 || strings.Count(string(data), "s2\n") != 2 || strings.Count(string(data), "s4\n") != 1 {
		t.Errorf("run was %q, %v", data, err)
	}
	sessions := map[string]bool{}
	for _, b := range again.Branches {
		if b.Status != explore.Completed || sessions[b.Session] {
			t.Errorf("the exploration is %+v", b)
		}
		sessions[b.Session] = true
	}
	if list, err := l.w.List(t.Context(), "branch"); err != nil || len(list.Sessions) != 4 {
		t.Errorf("there are %d branch sessions, %v", len(list.Sessions), err)
	}

	e = l.explore("sleep 100", c, numbered(3)...)
	cancelled, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(explore.ErrCancelled) })
	if err := l.explorer().Try(cancelled, e, nil); err != nil || !e.Done() {
		t.Errorf("cancelled: %v, %+v", err, e)
	}
	for _, b := range e.Branches {
		if b.Status != explore.Failed || !strings.Contains(b.Reason, "cancelled") {
			t.Errorf("cancelled it is %+v", b)
		}
	}
	c.MaxTime = explore.Duration(300 * time.Millisecond)
	e = l.explore("sleep 100", c, numbered(3)...)
	l.run(e)
	for _, b := range e.Branches {
		if b.Status != explore.Failed || !strings.Contains(b.Reason, "300ms") {
			t.Errorf("after its timeout it is %+v", b)
		}
	}
}
