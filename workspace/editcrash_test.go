package workspace_test

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/rewrite"
)

// contents returns the messages of all sessions, the agents with their heads, and the head.
func contents(s *space) map[string]string {
	all := map[string]string{}
	list, err := s.List(s.t.Context(), "")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range list.Sessions {
		for _, m := range s.session(e.ID).Messages {
			all[e.ID] += string(m.Raw) + "\n"
		}
	}
	made, err := s.Agents(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, a := range made.Agents {
		all["agent "+a.Name] = a.Head.Tree + "/" + a.Head.Node
	}
	if head, err := s.Head(s.t.Context()); err != nil {
		s.t.Fatal(err)
	} else if head != nil {
		all["head"] = head.Head.Session + "@" + string(head.Head.Message)
	}
	return all
}

// TestEditCrash: an edit with an answer that is stopped anywhere, also on a disk that loses
// unsynced data, leaves a workspace in which one undo takes back what it did: the agent, the branch,
// the message, its answer and the head.
func TestEditCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows cannot sync a folder")
	}
	base := memoryDir(t)
	s := openSpace(t, base, 0)
	trip := s.new("Trip")
	said := s.say("Where to?", "To Lisbon.", "How?", "By ship.")
	was, before := contents(s), readTree(t, base)
	newest := func(s *space) history.Operation {
		log, err := s.Log(t.Context(), history.LogOptions{Limit: 1})
		if err != nil || len(log.Operations) == 0 {
			t.Fatalf("%v, %v", log, err)
		}
		return log.Operations[0]
	}
	last := newest(s).Seq
	var mu sync.Mutex
	var steps []crashdisk.Step
	restore := durable.Interpose(func(_ *os.Root, step durable.Step) error {
		mu.Lock()
		defer mu.Unlock()
		if !strings.HasPrefix(step.Name, ".bough/cache") {
			steps = append(steps, crashdisk.Step{Do: string(step.Do), Name: step.Name, To: step.To, At: step.At, Data: slices.Clone(step.Data)})
		}
		return nil
	})
	o := with(nil, map[string]model.Model{"m": &script{lines: []string{"By train."}}})
	o.Model = "m"
	_, err := s.EditMessage(t.Context(), trip+"@"+said[2], rewrite.EditOptions{Text: "How, by land?", Answer: &rewrite.AnswerOptions{Turn: o}})
	restore()
	if err != nil {
		t.Fatal(err)
	}
	trace, err := crashdisk.Follow(before, steps)
	if err != nil {
		t.Fatal(err)
	}
	stops := make([]int, len(steps)+1)
	for k := range stops {
		stops[k] = k
	}
	stops = testsize.Sample(t, "steps to stop after", stops, testsize.Of(3, 6, len(stops)))
	undone := 0
	for _, k := range stops {
		left(trace, k, 1, func(how string, tree crashdisk.Tree) bool {
			dir := memoryDir(t)
			if err := tree.Write(dir); err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			s := openAnew(t, dir)
			if _, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil { // as a writer, it completes what was interrupted
				t.Errorf("after %d steps (%s): %v", k, how, err)
			}
			if r, err := s.Doctor(t.Context(), doctor.Options{}); err != nil || !r.OK {
				t.Errorf("after %d steps (%s): %v, %+v", k, how, err, r)
			}
			if newest(s).Seq > last {
				if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
					t.Errorf("after %d of %d steps (%s): undo: %v", k, len(steps), how, err)
				}
				undone++
			}
			if is := contents(s); !maps.Equal(is, was) {
				t.Errorf("after %d of %d steps (%s), one undo leaves\n%q\nwant\n%q", k, len(steps), how, is, was)
			}
			return true
		})
	}
	if undone == 0 {
		t.Error("no undo was tried")
	}
}
