package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

// A pausingModel sends a text, and ends its first reply when it may.
type pausingModel struct {
	sent, may chan struct{}
	asked     int
}

func (m *pausingModel) Ask(ctx context.Context, _ *model.Request, stream func(string)) (*model.Reply, error) {
	if m.asked++; m.asked > 1 {
		return &model.Reply{Text: "By train."}, nil
	}
	stream("By pla")
	close(m.sent)
	select {
	case <-m.may:
		return &model.Reply{Text: "By plane."}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestV1Steer: clients steer a running agent and queue messages for it, and follow the text
// of its reply, which has no id.
func TestV1Steer(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	s.v1("agent/create", `{"name":"ada","model":"pausing"}`).want(200)
	s.v1("steer", `{"agent":"ada","text":"Not by plane!"}`).fails(409, "refused", "the agent is idle")
	f := s.follow("")
	before := f.last
	m := &pausingModel{sent: make(chan struct{}), may: make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		_, err := s.w.Agent("ada").Chat(context.Background(), agents.Prompt{Text: "How do we go?"}, agents.TurnOptions{
			Models: func(context.Context, string) (model.Model, error) { return m, nil },
		})
		done <- err
	}()
	<-m.sent
	for text := ""; text != "chat_content"; {
		before = f.last
		text, _ = f.next()
		text, _, _ = strings.Cut(text, " ")
	}
	if f.last != before {
		t.Errorf("the text of a reply has the id %s", f.last)
	}
	if got := s.v1("steer", `{"agent":"ada","text":"Not by plane!"}`).want(200).Get("queue.#.delivery_mode").Raw; got != `["steer"]` {
		t.Errorf("the queue is %s", got)
	}
	q := s.v1("follow-up", `{"agent":"ada","text":"And back?"}`).want(200)
	if got := q.Get("queue.#.content").Raw; got != `["Not by plane!","And back?"]` {
		t.Errorf("the queue is %s", got)
	}
	if got := s.v1("agent/snapshot?agent=ada", "").want(200).Get("follow_up_queue.#").Int(); got != 1 {
		t.Errorf("the snapshot has %d follow-ups", got)
	}
	if got := s.v1("queue/drop", `{"agent":"ada","id":"`+q.Get("queue.1.id").Str+`"}`).want(200).Get("queue.#").Int(); got != 1 {
		t.Errorf("the queue has %d messages", got)
	}
	close(m.may)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for text := ""; text != "steer_delivered"; {
		text, _ = f.next()
		text, _, _ = strings.Cut(text, " ")
	}
	if got := s.v1("show?last=1&ref="+s.v1("agent/show?agent=ada", "").Get("head.tree_id").Str, "").want(200).Get("messages.0.content").String(); !strings.Contains(got, "By train.") {
		t.Errorf("the last message is %s", got)
	}
}

// TestV1Stop: a server that stops aborts the turns in progress, and returns after the part
// of the reply that arrived is stored. A turn takes a slot of the long requests.
func TestV1Stop(t *testing.T) {
	t.Parallel()
	m := &pausingModel{sent: make(chan struct{}), may: make(chan struct{})}
	stop := make(chan struct{})
	dir := t.TempDir()
	ended := t.Run("serve", func(t *testing.T) {
		s := newSiteOf(t, dir, nil, server.Options{
			Limits: server.Limits{Stop: time.Millisecond, Long: 1},
			Models: func(context.Context, string) (model.Model, error) { return m, nil },
		})
		s.v1("agent/create", `{"name":"ada","model":"pausing"}`).want(200)
		r := s.request("POST", "/v1/agent/chat", strings.NewReader(`{"agent":"ada","prompt":"How do we go?"}`))
		r.Header.Set("Content-Type", "application/json")
		go func() {
			defer close(stop)
			if a, err := http.DefaultClient.Do(r); err == nil {
				a.Body.Close()
			}
		}()
		<-m.sent
		s.v1("agent/chat", `{"agent":"ada","prompt":"And back?"}`).fails(503, "busy", "too many requests")
	}) // the server has stopped
	<-stop
	if !ended {
		return
	}
	w, err := workspace.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := w.Agent("ada").Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path, err := w.Line(a.Head.Tree).Path(t.Context(), "", session.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if last := path.Nodes[len(path.Nodes)-1].Text(); a.Turn.Ended != turn.Aborted || !strings.Contains(last, "By pla") {
		t.Errorf("the turn ended as %q with the message %q", a.Turn.Ended, last)
	}
}
