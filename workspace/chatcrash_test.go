package workspace_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/events"
)

// eventful runs a turn with everything that a turn can contain: two calls, a steer during
// the first one, and a follow-up. It calls told with each acknowledged id, of a written or
// a queued message.
func eventful(s *space, told func(id string)) {
	s.t.Helper()
	ran := 0
	ts := tools{"dig": func(ctx context.Context) (model.Result, error) {
		if ran++; ran == 1 {
			for _, saying := range []agents.Message{{Mode: turn.FollowUp, Text: "later"}, {Mode: turn.Steer, Text: "stop"}} {
				q, _, err := s.Agent("ada").Say(ctx, saying, agents.TurnOptions{})
				if err != nil {
					return model.Result{}, err
				}
				told(q.Queue[len(q.Queue)-1].ID)
			}
		}
		return model.Result{Text: "a hole"}, nil
	}}
	o := with(ts, map[string]model.Model{"m": &script{lines: []string{"well|dig dig", "stopped", "later it is"}}})
	o.OnEvent = func(e events.Event) {
		if e.Type == events.MessageAdded {
			told(string(e.Message))
		}
	}
	if c := s.tell("ada", "dig", o); c.Reply != "later it is" {
		s.t.Errorf("the reply is %+v", c)
	}
}

// paired returns an error unless calls and results in messages for a model match one to
// one.
func paired(list []model.Message) error {
	open := map[string]bool{}
	seen := map[string]bool{}
	for i, m := range list {
		if m.ID != "" && seen[m.ID] {
			return fmt.Errorf("message %d, %s, comes twice", i, m.ID)
		}
		seen[m.ID] = true
		said := gjson.ParseBytes(m.Metadata)
		if id := said.Get("tool_call_id").String(); m.Role == "tool" {
			if !open[id] {
				return fmt.Errorf("message %d is a result of %s without a call", i, id)
			}
			delete(open, id)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("no result of %v before message %d", open, i)
		}
		for _, c := range said.Get("tool_calls").Array() {
			open[c.Get("id").String()] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no result of %v at the end", open)
	}
	return nil
}

// TestChatCrash: an agent that is stopped anywhere in a turn, also on a disk that loses
// unsynced data, has lost nothing that was acknowledged. Queued messages wait, are
// delivered once when the user resumes, and the messages that the model is then sent are
// complete.
func TestChatCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot sync a folder")
	}
	base := memoryDir(t)
	s := openSpace(t, base, 4) // messages to a file, so that some open another
	s.agent("ada")
	s.tell("ada", "hello", modelSaying("hi"))
	before := readTree(t, base)

	var mu sync.Mutex
	var steps []crashdisk.Step
	acknowledged := map[string]int{} // after how many steps
	restore := durable.Interpose(func(_ *os.Root, step durable.Step) error {
		mu.Lock()
		defer mu.Unlock()
		if !strings.HasPrefix(step.Name, ".bough/cache") {
			steps = append(steps, crashdisk.Step{Do: string(step.Do), Name: step.Name, To: step.To, At: step.At, Data: slices.Clone(step.Data)})
		}
		return nil
	})
	eventful(s, func(id string) {
		mu.Lock()
		defer mu.Unlock()
		if _, known := acknowledged[id]; !known {
			acknowledged[id] = len(steps)
		}
	})
	restore()
	whole := s.said("ada")
	trace, err := crashdisk.Follow(before, steps)
	if err != nil {
		t.Fatal(err)
	}
	states, tried := 0, map[crashdisk.Sum]int{}
	stops := make([]int, len(steps)+1)
	for k := range stops {
		stops[k] = k
	}
	stops = testsize.Sample(t, "steps to stop after", stops, testsize.Of(1, 2, len(stops)))
	for _, k := range stops {
		left(trace, k, 1, func(how string, tree crashdisk.Tree) bool {
			states++
			due := 0
			for _, at := range acknowledged {
				if at <= k {
					due++
				}
			}
			if n, known := tried[tree.Sum()]; known && n >= due {
				return true
			}
			tried[tree.Sum()] = due
			dir := memoryDir(t)
			if err := tree.Write(dir); err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			var must []string
			for id, at := range acknowledged {
				if at <= k {
					must = append(must, id)
				}
			}
			if err := goOn(openAnew(t, dir), must, whole); err != nil {
				t.Errorf("after %d of %d steps (%s): %v", k, len(steps), how, err)
			}
			return true
		})
	}
	t.Logf("%d steps, %d folders that a crash may leave, %d of them different", len(steps), states, len(tried))
	if len(tried) < len(stops)/2 || len(steps) < 50 {
		t.Fatalf("%d states of %d steps", len(tried), len(steps))
	}
}

// goOn checks an agent after a crash, resumes it, and returns the first error.
func goOn(s *space, acknowledged []string, whole string) error {
	ctx := context.Background()
	snap, err := s.Agent("ada").Snapshot(ctx)
	if err != nil {
		return err
	}
	if snap.Turn.State != turn.Idle {
		return fmt.Errorf("the turn is %s", snap.Turn.State)
	}
	for _, e := range slices.Concat(snap.SteerQueue, snap.FollowUpQueue) {
		if e.State != turn.Held {
			return fmt.Errorf("%q is %s", e.Content, e.State)
		}
	}
	if err := findable(s, acknowledged); err != nil {
		return err
	}
	m := &script{lines: []string{"I am here"}}
	if _, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "still there?"}, with(nil, map[string]model.Model{"m": m})); err != nil {
		return err
	}
	if err := paired(m.asked[0]); err != nil {
		return err
	}
	q, err := s.Agent("ada").Queue(ctx)
	if err != nil {
		return err
	}
	h := s.head("ada")
	path, err := s.Line(h.Tree).Path(ctx, h.Node, session.ReadOptions{})
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, n := range path.Nodes {
		count[n.ID]++
	}
	for _, e := range q.Queue {
		count[e.ID]++
	}
	for _, id := range acknowledged {
		if count[id] != 1 {
			return fmt.Errorf("the acknowledged message %s exists %d times", id, count[id])
		}
	}
	if said := s.said("ada"); !strings.HasPrefix(said, "user: hello\nassistant: hi\n") || strings.Count(said, "still there?") != 1 {
		return fmt.Errorf("it is\n%s", said)
	}
	n := &script{}
	if _, _, err := s.Agent("ada").ResumeQueue(ctx, with(nil, map[string]model.Model{"m": n})); err != nil {
		return err
	}
	if q, err := s.Agent("ada").Queue(ctx); err != nil || len(q.Queue) > 0 {
		return fmt.Errorf("the queue keeps %+v, %v", q, err)
	}
	for _, asked := range n.asked {
		if err := paired(asked); err != nil {
			return err
		}
	}
	for _, text := range []string{"user: stop", "user: later", "user: dig"} {
		if got := strings.Count(s.said("ada"), text+"\n"); got > strings.Count(whole, text+"\n") {
			return fmt.Errorf("%q is in the texts %d times", text, got)
		}
	}
	report, err := s.Doctor(ctx, doctor.Options{})
	if err != nil || !report.OK {
		return fmt.Errorf("doctor finds %+v, %v", report.Problems, err)
	}
	return nil
}

// findable returns an error if an acknowledged message is neither in the conversation nor
// in the queue before a program writes. It may be in both.
func findable(s *space, acknowledged []string) error {
	ctx := context.Background()
	found := map[string]bool{}
	for _, id := range queueIDs(s) {
		found[id] = true
	}
	all, err := s.Line(s.head("ada").Tree).All(ctx, session.ReadOptions{})
	if err != nil {
		return err
	}
	for _, n := range all.Nodes {
		found[n.ID] = true
	}
	for _, id := range acknowledged {
		if !found[id] {
			return fmt.Errorf("%s, which was acknowledged, is neither in the conversation nor in the queue", id)
		}
	}
	return nil
}
