package explore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

// A stub is a model that replies with the result of a function.
type stub func(ctx context.Context, r *model.Request) (string, error)

func (s stub) Ask(ctx context.Context, r *model.Request, _ func(string)) (*model.Reply, error) {
	text, err := s(ctx, r)
	return &model.Reply{Text: text}, err
}

// TestModel: a model is asked once for each strategy, with the agent's system prompt, and
// its text is the result; a branch whose model hangs ends at its timeout, and a synthesis
// is one more request.
func TestModel(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if _, err := l.w.Agent("ada").Create(t.Context(), agents.Options{Model: "m", System: "Be short."}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	requests := map[string]*model.Request{}
	m := stub(func(ctx context.Context, r *model.Request) (string, error) {
		said := string(r.Messages[len(r.Messages)-1].Content)
		mu.Lock()
		requests[said] = r
		mu.Unlock()
		switch {
		case strings.Contains(said, "Several approaches"):
			return "Both.", nil
		case strings.Contains(said, "s1"):
			return "Merge it.\n\n**Confidence: 0.8**", nil
		case strings.Contains(said, "s2"):
			return `{"result":"Heap it.","confidence":0.9}`, nil
		case strings.Contains(said, "s3"):
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "", errors.New("it is overloaded")
	})
	c := explore.Defaults()
	c.Timeout = explore.Duration(200 * time.Millisecond)
	e := l.explore("", c, numbered(4)...)
	e.Agent, e.Runner.Model = "ada", "m"
	if err := l.explorer().Try(t.Context(), e, m); err != nil {
		t.Fatal(err)
	}
	b := e.Branches
	if b[0].Result != "Merge it." || *b[0].Confidence != 0.8 || b[1].Result != "Heap it." || *b[1].Confidence != 0.9 ||
		b[2].Reason != "it took longer than 200ms" || b[3].Reason != "it is overloaded" || len(requests) != 4 {
		t.Errorf("the branches are %+v", b)
	}
	for _, r := range requests {
		if r.System != "Be short." || r.ModelID != "m" || r.Agent != "ada" || len(r.Messages) != 2 {
			t.Errorf("asked is %+v", r)
		}
	}
	e.Agent = "" // the conversation has no agent
	if err := l.explorer().Conclude(t.Context(), e, explore.Synthesis, m); err != nil || e.Evaluation.Result != "Both." {
		t.Errorf("the synthesis is %+v, %v", e.Evaluation, err)
	}
	e = l.explore("", c, "a")
	if err := l.w.Exploration(e.ID).Write(t.Context(), e.Encode()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.explorer().Resume(t.Context(), e.ID); !errors.Is(err, fault.Usage) {
		t.Errorf("without a runner: %v", err)
	}
}

func TestParseReply(t *testing.T) {
	for _, c := range []struct{ text, result, confidence string }{
		{"Do it.\nConfidence: 0.8", "Do it.", "0.8"},
		{"Do it. \n\n- confidence = 85%.", "Do it.", "0.85"},
		{"Do it.\nConfidence: 85", "Do it.", "none"},
		{"My confidence: 0.8", "My confidence: 0.8", "none"},
		{"Confidence: 0.8\nDo it.", "Confidence: 0.8\nDo it.", "none"},
		{"```json\n{\"result\":\"x\",\"confidence\":1}\n```", "x", "1"},
		{`{"a":1}`, `{"a":1}`, "none"},
		{" \n", "", "error"},
		{"Confidence: 1", "", "error"},
	} {
		a, err := explore.ParseReply(c.text)
		got := "none"
		if err != nil {
			got = "error"
		} else if a.Confidence != nil {
			got = fmt.Sprint(*a.Confidence)
		}
		if got != c.confidence || err == nil && a.Result != c.result {
			t.Errorf("ParseReply(%q) = %+v, %v", c.text, a, err)
		}
	}
}

// TestShare: with Share, a branch reads the notes of its siblings, and all notes are kept;
// without it there is no folder for notes.
func TestShare(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := explore.Defaults()
	c.MaxConcurrent = 1
	line := `[ -z "$BOUGH_NOTES" ] && echo alone && exit
cd "$BOUGH_NOTES"; cat */seen 2>/dev/null; echo "from $BOUGH_STRATEGY" > $BOUGH_BRANCH/seen
ln -s /etc/hosts $BOUGH_BRANCH/link; mkfifo $BOUGH_BRANCH/pipe; head -c 40000 /dev/zero > $BOUGH_BRANCH/zero; echo done; [ $BOUGH_STRATEGY = s1 ]`
	e := l.explore(line, c, "s1", "s2")
	e.Runner.Share = true
	l.run(e)
	if e.Branches[0].Result != "done" || e.Branches[1].Status != explore.Failed {
		t.Errorf("the branches are %+v", e.Branches)
	}
	if n := e.Notes; len(n) != 4 || n[0].Text != "from s1\n" || n[0].Branch != e.Branches[0].ID || n[0].Name != "seen" || n[2].Text != "from s2\n" || len(n[1].Text) != 16<<10 {
		t.Errorf("the notes are %+v", n)
	}
	if string(load(t, l.w, e.ID).Encode()) != string(e.Encode()) {
		t.Error("the notes are not stored")
	}
	e = l.explore(`cat $BOUGH_NOTES/*/seen 2>/dev/null || echo "nothing here"; echo x > $BOUGH_NOTES/$BOUGH_BRANCH/seen`, c, "s1", "s2")
	e.Runner.Share = true
	l.run(e)
	if e.Branches[0].Result != "nothing here" || e.Branches[1].Result != "x" {
		t.Errorf("the notes of siblings are %+v", e.Branches)
	}
	e = l.explore(line, c, "s1", "s2")
	l.run(e)
	if e.Branches[0].Result != "alone" || e.Branches[1].Result != "alone" || len(e.Notes) > 0 {
		t.Errorf("without sharing it is %+v", e)
	}
	if left, _ := filepath.Glob(filepath.Join(l.work, "*")); len(left) > 0 {
		t.Errorf("left is %q", left)
	}
}

// TestInterference: an exploration handles a lock that another process holds, the deletion of a
// branch's conversation, and a parent that no longer exists; the head without a session
// does not move.
func TestInterference(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := explore.Defaults()
	var err error
	if l.w, err = workspace.Open(t.Context(), l.dir, &workspace.Options{Wait: -1}); err != nil {
		t.Fatal(err)
	}
	other, err := workspace.Open(t.Context(), l.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan bool)
	busy := make(chan error)
	go func() { // another program that writes continuously
		for {
			select {
			case <-stop:
				busy <- nil
				return
			case <-time.After(20 * time.Millisecond):
				if _, err := other.New(context.Background(), "noise"); err != nil {
					busy <- err
					return
				}
			}
		}
	}()
	e := l.explore("echo $BOUGH_STRATEGY", c, numbered(6)...)
	l.run(e)
	close(stop)
	if err := <-busy; err != nil {
		t.Error(err)
	}
	for _, b := range e.Branches {
		if s, err := l.w.Show(t.Context(), b.Session, session.ReadOptions{}); err != nil || b.Status != explore.Completed || len(s.Messages) != 2 {
			t.Errorf("it is %+v, %v", b, err)
		}
	}
	if _, err := l.w.Rewind(t.Context(), l.tree+"@"+l.node, checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second call finds everything
		if err := l.explorer().Conclude(t.Context(), e, explore.Best, nil); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := l.w.Line(l.tree).All(t.Context(), session.ReadOptions{}); err != nil || len(all.Nodes) != 2 {
		t.Errorf("the conversation has %d messages, %v", len(all.Nodes), err)
	}
	said, err := l.w.Append(t.Context(), workspace.Append{Text: "and then?"})
	if err != nil || string(said.Parent) != l.node {
		t.Errorf("the next message goes below %v, not %s, %v", said, l.node, err)
	}

	begun, removed := filepath.Join(l.work, "begun"), filepath.Join(l.work, "removed")
	e = l.explore(`: > "$BEGUN"; until [ -e "$REMOVED" ]; do sleep 0.01; done; echo "$BOUGH_STRATEGY"`, c, "s1")
	e.Runner.Bindings = map[string]string{"BEGUN": begun, "REMOVED": removed}
	told := make(chan string, 20)
	go func() {
		for _, err := os.Stat(begun); err != nil; _, err = os.Stat(begun) {
			time.Sleep(time.Millisecond)
		}
		list, err := other.List(context.Background(), "branch")
		if err != nil || len(list.Sessions) != 7 {
			told <- fmt.Sprintf("there are %+v, %v", list, err)
		}
		gone := 0
		for _, s := range list.Sessions {
			if s.Title == "s1" && s.MessageCount == 1 {
				if _, err := other.Remove(context.Background(), s.ID, workspace.RemoveOptions{}); err != nil {
					told <- err.Error()
				}
				gone++
			}
		}
		if gone != 1 {
			told <- fmt.Sprintf("%d of %+v were removed", gone, list.Sessions)
		}
		if err := os.WriteFile(removed, nil, 0o600); err != nil {
			told <- err.Error()
		}
		close(told)
	}()
	l.run(e)
	for s := range told {
		t.Error(s)
	}
	if b := e.Branches[0]; b.Status != explore.Completed || b.Result != "s1" || !strings.Contains(b.Reason, "not added to its conversation") {
		t.Errorf("without its conversation it is %+v", b)
	}

	e = l.explore("echo x > $LOG", c, "s1")
	e.Node, e.Runner.Bindings = "no-such-message", map[string]string{"LOG": filepath.Join(l.work, "log")}
	err = l.explorer().Try(t.Context(), e, nil)
	if _, ran := os.Stat(filepath.Join(l.work, "log")); workspace.Explain(err).Code != fault.NotFound || ran == nil {
		t.Errorf("below no message: %v, %v", err, ran)
	}
	if _, err := l.w.Exploration(e.ID).Read(t.Context()); err == nil {
		t.Error("it is stored nevertheless")
	}

	e = l.explore("[ $BOUGH_STRATEGY = s1 ] || sleep 100; rm -rf "+l.dir+"/explorations; echo x > "+l.dir+"/explorations; echo done", c, numbered(3)...)
	begin := time.Now()
	err = l.explorer().Try(t.Context(), e, nil)
	if err == nil || time.Since(begin) > time.Minute || len(e.Active) > 0 || e.Branches[0].Result != "done" || e.Branches[1].Status != explore.Pending {
		t.Errorf("when it cannot be stored: %v, %+v", err, e)
	}
}
