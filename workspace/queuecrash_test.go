package workspace_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestQueueCrashBetweenMessages copies a workspace after an answer is written and before
// the next queued message: the state that a crash leaves there. The queued message must be
// in the queue until it is in the conversation, and must be delivered exactly once.
func TestQueueCrashBetweenMessages(t *testing.T) {
	t.Parallel()
	for _, mode := range []turn.DeliveryMode{turn.FollowUp, turn.Steer} {
		t.Run(string(mode), func(t *testing.T) {
			ctx := context.Background()
			s, queued := openSpace(t, t.TempDir(), 0), ""
			s.agent("ada")
			crashed := []string{t.TempDir(), t.TempDir(), t.TempDir()}
			dig := tools{"dig": func(ctx context.Context) (model.Result, error) {
				q, _, err := s.Agent("ada").Say(ctx, agents.Message{Mode: mode, Text: "next"}, agents.TurnOptions{})
				if err != nil {
					t.Error(err)
					return model.Result{}, err
				}
				queued = q.Queue[0].ID
				return model.Result{Text: "a hole"}, nil
			}}
			o := with(dig, map[string]model.Model{"m": &script{lines: []string{"well|dig", "dug"}}})
			before, copied := "tool", false // the message that is written before the queued one
			if mode == turn.FollowUp {
				before = "assistant"
			}
			o.OnEvent = func(e events.Event) {
				if e.Type != events.MessageAdded || e.Role != before || queued == "" || copied {
					return
				}
				copied = true
				for _, dir := range crashed {
					if err := os.CopyFS(dir, os.DirFS(s.Dir())); err != nil {
						t.Error(err)
					}
				}
				if ids := queueIDs(s); !slices.Equal(ids, []string{queued}) {
					t.Errorf("before its delivery the queue is %q, want %q", ids, queued)
				}
				if _, err := s.Agent("ada").DropQueued(ctx, queued); code(err) != fault.NotFound {
					t.Errorf("DropQueued of a message that is being delivered = %v", err)
				}
			}
			s.tell("ada", "begin", o)
			if !copied {
				t.Fatalf("no %s message came before the queued one", before)
			}
			if n := strings.Count(s.said("ada"), "user: next\n"); n != 1 || len(queueIDs(s)) > 0 {
				t.Errorf("after the turn the queue is %q and the conversation\n%s", queueIDs(s), s.said("ada"))
			}
			healthy(t, s)
			for strings.Contains(s.said("ada"), "user: next") {
				if _, err := s.undo(""); err != nil {
					t.Fatal(err)
				}
			}
			if ids := queueIDs(s); !slices.Equal(ids, []string{queued}) {
				t.Errorf("after the undo of its delivery the queue is %q, want %q", ids, queued)
			}

			resumed := openAnew(t, crashed[0])
			if ids := queueIDs(resumed); !slices.Equal(ids, []string{queued}) || strings.Contains(resumed.said("ada"), "user: next") {
				t.Errorf("after the crash the queue is %q, want %q, and the conversation\n%s", ids, queued, resumed.said("ada"))
			}
			if _, said, err := resumed.Agent("ada").ResumeQueue(ctx, modelSaying("an answer")); err != nil || said == nil || said.Reply != "an answer" {
				t.Errorf("ResumeQueue = %+v, %v", said, err)
			}
			dropped := openAnew(t, crashed[1])
			if _, err := dropped.Agent("ada").DropQueued(ctx, queued); code(err) != fault.NotFound {
				t.Errorf("DropQueued of a message whose delivery began = %v", err)
			}
			for _, s := range []*space{resumed, dropped} {
				if n := strings.Count(s.said("ada"), "user: next"); n != 1 || len(queueIDs(s)) > 0 {
					t.Errorf("in the end the queue is %q and the conversation\n%s", queueIDs(s), s.said("ada"))
				}
				healthy(t, s)
			}

			// Without the file of its tree the message cannot be written, and stays queued.
			treeless := openAnew(t, crashed[2])
			if err := os.Remove(filepath.Join(crashed[2], session.FileName(s.head("ada").Tree))); err != nil {
				t.Fatal(err)
			}
			if _, err := treeless.Agent("ada").NewTree(ctx, ""); err != nil {
				t.Error(err)
			}
			if ids := queueIDs(treeless); !slices.Equal(ids, []string{queued}) {
				t.Errorf("without the tree the queue is %q, want %q", ids, queued)
			}
			if _, said, err := treeless.Agent("ada").ResumeQueue(ctx, modelSaying("here")); err != nil || said == nil || said.Reply != "here" {
				t.Errorf("ResumeQueue in a new tree = %+v, %v", said, err)
			}
			if got := treeless.said("ada"); got != "user: next\nassistant: here" {
				t.Errorf("the new tree is\n%s", got)
			}
		})
	}
}

// queueIDs returns the ids of the queued messages of the agent ada.
func queueIDs(s *space) (ids []string) {
	s.t.Helper()
	q, err := s.Agent("ada").Queue(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range q.Queue {
		ids = append(ids, e.ID)
	}
	return ids
}
