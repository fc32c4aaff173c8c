package workspace_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/events"
)

// logged returns the events of all operations of a workspace, read from its log.
func (s *space) logged() (list []events.Event) {
	s.t.Helper()
	last := s.lastSeq()
	ctx, stop := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer stop()
	for e, err := range s.Events(ctx, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, e)
		if e.Seq == last && e.Behind == 0 {
			return list
		}
	}
	s.t.Fatal("the events do not end")
	return nil
}

// TestEventsMessage: the event of an added message has its position and type, and a message
// whose parent already has a child begins a branch.
func TestEventsMessage(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	a := s.append(workspace.Append{Session: bread, Text: "a", Role: "system"})
	b := s.append(workspace.Append{Session: bread, Text: "b"})
	c := s.append(workspace.Append{Session: bread, Text: "c", Parent: a.Message, Role: "tool"})
	d := s.append(workspace.Append{Session: bread, Text: "d", Parent: c.Message, Kind: turn.KindClarificationOpened})
	point := s.checkpoint(bread)
	f := s.append(workspace.Append{Session: point.ID, Text: "f"})
	name := map[session.ID]string{
		session.ID(a.Message): "a", session.ID(b.Message): "b", session.ID(c.Message): "c",
		session.ID(d.Message): "d", session.ID(f.Message): "f", "": "-",
	}
	var got []string
	for _, e := range s.logged() {
		switch {
		case e.Type == events.MessageAdded:
			got = append(got, fmt.Sprint(name[e.Message], " below ", name[e.Parent], ": ", e.Kind, " ", e.Mode))
		case e.Type == events.BranchCreated && e.Message != "":
			got = append(got, fmt.Sprint("branch ", name[e.Message], " of ", name[e.Parent]))
		case e.Type == events.BranchCreated:
			got = append(got, "copy")
		}
	}
	want := []string{
		"a below -: system normal", "b below a: user normal", "branch c of a", "c below a: tool_boundary normal",
		"d below c: clarification_opened normal", "copy", "f below d: user normal",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEventsMessageOfOthers: the same holds for messages of other programs.
func TestEventsMessageOfOthers(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	said := s.say("a", "b")
	a, b := said[0], said[1]
	e := s.newEvents()
	file := session.FileName(bread)
	add := func(message string) {
		t.Helper()
		whole := s.read(file)
		at := strings.LastIndex(whole[:strings.Index(whole, `"llm_request`)], "]")
		s.replace(file, whole[:at]+","+message+whole[at:])
	}
	want := func(list ...string) {
		t.Helper()
		for _, want := range list {
			select {
			case e := <-e.list:
				if got := fmt.Sprint(e.Type, " ", e.Message, " below ", e.Parent, " ", e.Kind, " ", e.Mode); got != want {
					t.Fatalf("the event is %q, want %q", got, want)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("no event comes")
			}
		}
	}
	add(`{"role":"assistant","content":"c","id":"m3"}`)
	want("message_added m3 below " + b + " assistant normal")
	add(`{"role":"user","content":"d","id":"m4","metadata":{"parent_id":"` + a + `","kind":"system","delivery_mode":"steer"}}`)
	want("branch_created m4 below "+a+"  ", "message_added m4 below "+a+" system steer")
}

// TestEventsOfTurn: each queued message and each started tool is one event, and a tool that
// needs confirmation starts when it is allowed.
func TestEventsOfTurn(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	m := &script{lines: []string{"|look write none", "first", "second"}, at: make(chan struct{}), wait: make(chan struct{})}
	text := func(context.Context) (model.Result, error) { return model.Result{Text: "x"}, nil }
	o := with(tools{"look": text, "write": text}, map[string]model.Model{"m": m})
	asked := false
	o.Confirm = func(context.Context, model.Call) bool { asked = true; return true }
	var told []events.Event
	o.OnEvent = func(e events.Event) { told = append(told, e) }
	done := make(chan error)
	go func() {
		_, err := s.Agent("ada").Chat(context.Background(), agents.Prompt{Text: "go"}, o)
		done <- err
	}()
	say := func(mode turn.DeliveryMode, text string) string {
		t.Helper()
		q, _, err := s.Agent("ada").Say(t.Context(), agents.Message{Mode: mode, Text: text}, agents.TurnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return q.Queue[len(q.Queue)-1].ID
	}
	<-m.at
	dropped := say(turn.FollowUp, "never mind")
	later := say(turn.FollowUp, "and then?")
	if _, err := s.Agent("ada").DropQueued(t.Context(), dropped); err != nil {
		t.Fatal(err)
	}
	m.wait <- struct{}{}
	<-m.at
	m.wait <- struct{}{}
	<-m.at
	m.wait <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	name := map[session.ID]string{session.ID(dropped): "dropped", session.ID(later): "later"}
	describe := func(list []events.Event) (got []string) {
		for _, e := range list {
			switch e.Type {
			case events.QueueChanged:
				got = append(got, fmt.Sprint(name[e.Message], " ", e.Mode, " ", e.State, " ", e.Agent))
			case events.ToolStarted:
				got = append(got, fmt.Sprint(e.Tool, " ", e.Call, " ", e.Agent))
			case events.MessageAdded:
				if e.Mode != turn.Normal {
					got = append(got, fmt.Sprint("said ", name[e.Message], " ", e.Mode))
				}
			}
		}
		return got
	}
	want := []string{
		"dropped follow_up waiting ada", "later follow_up waiting ada", "dropped follow_up dropped ada",
		"look c1_0 ada", "write c1_1 ada", "later follow_up delivered ada", "said later follow_up",
	}
	// The delivery and the message are one change: their order does not matter.
	got := describe(s.logged())
	if len(got) == len(want) && got[5] == want[6] {
		got[5], got[6] = got[6], got[5]
	}
	if !slices.Equal(got, want) {
		t.Errorf("the events of the log are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := describe(told); !asked || len(got) != 4 {
		t.Errorf("the events of the turn are %q", got)
	}
	healthy(t, s)
}
