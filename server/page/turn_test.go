package page_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/workspace/agents"
)

// A waitingModel replies when it may.
type waitingModel struct {
	asked chan struct{}
	may   chan struct{}
}

func (m *waitingModel) Ask(ctx context.Context, _ *model.Request, stream func(string)) (*model.Reply, error) {
	stream("By pla")
	m.asked <- struct{}{}
	select {
	case <-m.may:
		return &model.Reply{Text: "By plane."}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestChat: a form that begins a turn is answered at once, messages for the running agent
// are queued, and the turn ends without a request.
func TestChat(t *testing.T) {
	m := &waitingModel{make(chan struct{}), make(chan struct{})}
	v := arrive(t, func(_ context.Context, id string) (model.Model, error) {
		if id != "waiting" {
			return nil, errors.New("no such model")
		}
		return m, nil
	})
	v.login()
	if status, d := v.act("agent/create", "name", "ada", "system", ""); status != http.StatusOK || d.Said != "Created agent “ada”" || d.To != "/agents/ada" {
		t.Fatalf("status %d, %+v", status, d)
	}
	if status, d := v.act("agent/set", "agent", "ada", "model", "waiting"); status != http.StatusOK || d.Said != "Changed agent “ada”" || d.To != "/agents/ada" {
		t.Fatalf("status %d, %+v", status, d)
	}
	status, d := v.act("agent/chat", "agent", "ada", "content", "How do we go?")
	if status != http.StatusOK || d.Said != "Sent to agent “ada”" || d.To != "/agents/ada" {
		t.Fatalf("status %d, %+v", status, d)
	}
	<-m.asked
	if !v.page.Busy() {
		t.Error("the page is not busy")
	}
	if status, d := v.act("agent/chat", "agent", "ada", "content", "Again"); status == http.StatusOK {
		t.Errorf("a second turn: %+v", d)
	}
	if status, d := v.act("steer", "agent", "ada", "content", "Not by plane!"); status != http.StatusOK || d.Said != "Steering agent “ada”" {
		t.Errorf("steer: status %d, %+v", status, d)
	}
	if status, d := v.act("follow-up", "agent", "ada", "content", "And back?"); status != http.StatusOK || d.Said != "Queued for agent “ada”" {
		t.Errorf("follow-up: status %d, %+v", status, d)
	}
	go func() {
		for range m.asked {
		}
	}()
	close(m.may)
	done, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	v.page.Close(done)
	close(m.asked)
	if done.Err() != nil || v.page.Busy() {
		t.Error("the turn did not end")
	}
	a, err := v.w.Agent("ada").Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown, err := v.w.Show(t.Context(), a.Head.Tree, readOptions)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range shown.Messages {
		texts = append(texts, m.Text())
	}
	if got := strings.Join(texts, "|"); !strings.Contains(got, "How do we go?|By plane.") || !strings.Contains(got, "Not by plane!") || !strings.Contains(got, "And back?|By plane.") {
		t.Errorf("the conversation is %s", got)
	}
}

// TestChatFails: a turn that cannot begin is an error of the form.
func TestChatFails(t *testing.T) {
	v := visit(t)
	v.act("agent/create", "name", "ada")
	for _, c := range []struct {
		fields []string
		status int
	}{
		{[]string{"agent", "nobody", "content", "Hello"}, http.StatusNotFound},
		{[]string{"agent", "ada", "content", " "}, http.StatusBadRequest},
		{[]string{"agent", "ada", "content", "Hello"}, http.StatusConflict},
	} {
		if status, d := v.act("agent/chat", c.fields...); status != c.status || d.Error.Message == "" {
			t.Errorf("%q: status %d, %+v", c.fields, status, d)
		}
	}
}

// TestAbort: a page that closes aborts its turns, and keeps what arrived.
func TestAbort(t *testing.T) {
	m := &waitingModel{make(chan struct{}), make(chan struct{})}
	v := arrive(t, func(context.Context, string) (model.Model, error) { return m, nil })
	v.login()
	if _, err := v.w.Agent("ada").Create(t.Context(), agents.Options{Model: "waiting"}); err != nil {
		t.Fatal(err)
	}
	if status, d := v.act("agent/chat", "agent", "ada", "content", "How do we go?"); status != http.StatusOK {
		t.Fatalf("status %d, %+v", status, d)
	}
	<-m.asked
	ended, end := context.WithCancel(t.Context())
	end()
	v.page.Close(ended)
	if v.page.Busy() {
		t.Error("the turn continues")
	}
	a, err := v.w.Agent("ada").Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown, err := v.w.Show(t.Context(), a.Head.Tree, readOptions)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(shown.Messages); n != 2 || shown.Messages[1].Text() != "By pla" {
		t.Errorf("there are %d messages", n)
	}
}
