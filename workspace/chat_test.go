package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
)

// A script is a model that replies with one line of f after another. A line is a text, or
// "call NAME NAME ...", or "fail WHY", with an optional text before it that is streamed.
type script struct {
	mu    sync.Mutex
	lines []string
	asked [][]model.Message
	wait  chan struct{} // if not nil, each answer waits for it
	at    chan struct{} // if not nil, receives when a model is called
}

func (m *script) Ask(ctx context.Context, r *model.Request, stream func(string)) (*model.Reply, error) {
	m.mu.Lock()
	m.asked = append(m.asked, r.Messages)
	line := fmt.Sprintf("answer %d", len(m.asked))
	if len(m.lines) > 0 {
		line, m.lines = m.lines[0], m.lines[1:]
	}
	m.mu.Unlock()
	text, do, _ := strings.Cut(line, "|")
	if text != "" {
		stream(text)
	}
	if m.at != nil {
		m.at <- struct{}{}
	}
	if m.wait != nil {
		select {
		case <-m.wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	words := strings.Fields(do)
	switch {
	case len(words) == 0:
		return &model.Reply{Text: text}, nil
	case words[0] == "fail":
		return nil, errors.New(strings.Join(words[1:], " "))
	}
	reply := &model.Reply{Text: text}
	for i, name := range words {
		reply.Calls = append(reply.Calls, model.Call{ID: fmt.Sprintf("c%d_%d", len(m.asked), i), Name: name, Arguments: "{}"})
	}
	return reply, nil
}

// tools maps the name of a tool to the function that it calls.
type tools map[string]func(context.Context) (model.Result, error)

func (t tools) List(context.Context) (list []model.Tool, err error) {
	for name := range t {
		list = append(list, model.Tool{Name: name, Writes: strings.HasPrefix(name, "write")})
	}
	return list, nil
}

func (t tools) Call(ctx context.Context, c model.Call) (model.Result, error) { return t[c.Name](ctx) }

// with returns turn options with these models, by id, and tools.
func with(t tools, models map[string]model.Model) agents.TurnOptions {
	o := agents.TurnOptions{
		Model: "m",
		Models: func(_ context.Context, id string) (model.Model, error) {
			if m := models[id]; m != nil {
				return m, nil
			}
			return nil, &fault.Error{Code: fault.Usage, Message: "no model " + id}
		},
		NoCheckpoint: true,
	}
	if t != nil {
		o.Tools = func(context.Context) (model.Tools, error) { return t, nil }
	}
	return o
}

func modelSaying(lines ...string) agents.TurnOptions {
	return with(nil, map[string]model.Model{"m": &script{lines: lines}})
}

// tell sends a message to an agent and returns the reply.
func (s *space) tell(name, text string, o agents.TurnOptions) *agents.ChatResult {
	s.t.Helper()
	c, err := s.Agent(name).Chat(context.Background(), agents.Prompt{Text: text}, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// said returns the path to the head of an agent: role and text of each message.
func (s *space) said(name string) string {
	s.t.Helper()
	h := s.head(name)
	p, err := s.Line(h.Tree).Path(context.Background(), h.Node, session.ReadOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var list []string
	for _, n := range p.Nodes {
		list = append(list, n.Role()+": "+n.Text())
	}
	return strings.Join(list, "\n")
}

// TestChat runs a conversation with tools, several turns long.
func TestChat(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	c := s.tell("ada", "hello", modelSaying("hi"))
	if c.Reply != "hi" || c.Head.Node != c.Node || c.Tree != c.Head.Tree || string(c.Node) != s.head("ada").Node {
		t.Errorf("Chat returns %+v", c)
	}
	ran := 0
	look := tools{"look": func(context.Context) (model.Result, error) {
		ran++
		return model.Result{Text: fmt.Sprint("seen ", ran)}, nil
	}}
	m := &script{lines: []string{"let me see|look look", "two things"}}
	if c := s.tell("ada", "what is there?", with(look, map[string]model.Model{"m": m})); c.Reply != "two things" || ran != 2 {
		t.Errorf("Chat returns %+v after %d calls", c, ran)
	}
	want := "user: hello\nassistant: hi\nuser: what is there?\nassistant: let me see\ntool: seen 1\ntool: seen 2\nassistant: two things"
	if got := s.said("ada"); got != want {
		t.Errorf("said was\n%s\nwant\n%s", got, want)
	}
	if got := len(m.asked[1]); got != 6 {
		t.Errorf("the model received %d messages after the calls", got)
	}
	snap, err := s.Agent("ada").Snapshot(t.Context())
	if err != nil || snap.Turn.State != turn.Idle || snap.Turn.Ended != turn.Finished || snap.Head != c.Node && string(snap.Head) != s.head("ada").Node {
		t.Errorf("the snapshot is %+v, %v", snap, err)
	}
	healthy(t, s)
}

// TestChatTrees: a fresh tree and a branching tree are created with their first message.
func TestChatTrees(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	first := s.agent("ada").Head.Tree
	s.tell("ada", "api?", modelSaying("rest"))
	at := s.head("ada").Node
	s.tell("ada", "graphql?", modelSaying("graphql"))
	ctx := t.Context()
	c, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "more rest", From: at, Tree: "rest"}, modelSaying("resources"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.said("ada"); got != "user: api?\nassistant: rest\nuser: more rest\nassistant: resources" || c.Tree == first {
		t.Errorf("the branch is\n%s", got)
	}
	for range 3 {
		if _, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "monads?", Fresh: true, From: at}, modelSaying("burritos")); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.said("ada"); got != "user: monads?\nassistant: burritos" {
		t.Errorf("the fresh tree is\n%s", got)
	}
	trees, err := s.Agent("ada").Trees(ctx, agents.TreesOptions{})
	if err != nil || len(trees.Trees) != 5 {
		t.Errorf("there are %+v, %v", trees, err)
	}
	for _, p := range []agents.Prompt{{Text: " "}, {Text: "x", From: "nowhere"}, {Text: "x", From: at, Tree: "rest"}, {Text: "x", Fresh: true, Tree: "a/b"}, {Text: "\xff"}} {
		before := s.truth()
		if _, err := s.Agent("ada").Chat(ctx, p, modelSaying()); err == nil {
			t.Errorf("Chat(%+v) succeeded", p)
		}
		sameFiles(t, fmt.Sprintf("%+v", p), before, s.truth())
	}
	healthy(t, s)
}

// TestChatFails: a failed turn keeps its message, and the next turn answers the same
// message.
func TestChatFails(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	ctx := t.Context()
	if _, err := s.Agent("ada").Retry(ctx, modelSaying()); code(err) != fault.Refused {
		t.Errorf("a retry without a turn = %v", err)
	}
	_, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "hello"}, modelSaying("half a|fail no more"))
	if code(err) != fault.Failed || !strings.Contains(err.Error(), "no more") {
		t.Errorf("a model that fails = %v", err)
	}
	if got := s.said("ada"); got != "user: hello\nassistant: half a" {
		t.Errorf("after half an answer the path is\n%s", got)
	}
	m := &script{lines: []string{"whole"}}
	c, err := s.Agent("ada").Retry(ctx, with(nil, map[string]model.Model{"m": m}))
	if err != nil || c.Reply != "whole" || len(m.asked[0]) != 1 {
		t.Errorf("Retry = %+v, %v, shown %d", c, err, len(m.asked[0]))
	}
	if got := s.said("ada"); got != "user: hello\nassistant: whole" {
		t.Errorf("after a retry the path is\n%s", got)
	}
	b, err := s.Branches(ctx, c.Tree, workspace.BranchesOptions{})
	if err != nil || len(b.Leaves) != 2 {
		t.Errorf("the branches are %+v, %v", b, err)
	}
	o := with(nil, map[string]model.Model{"m": &script{lines: []string{"bad|fail out of order"}}, "n": &script{lines: []string{"good"}}})
	o.Fallback = "n"
	if c := s.tell("ada", "again", o); c.Reply != "good" {
		t.Errorf("with a fallback the answer is %+v", c)
	}
	if got := s.said("ada"); got != "user: hello\nassistant: whole\nuser: again\nassistant: good" {
		t.Errorf("with a fallback the path is\n%s", got)
	}
	if _, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "x"}, agents.TurnOptions{Models: o.Models}); code(err) != fault.Usage {
		t.Errorf("without a model = %v", err)
	}
	o.Model = "unknown"
	before := s.truth()
	if _, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "x"}, o); code(err) != fault.Usage {
		t.Errorf("with an unknown model = %v", err)
	}
	sameFiles(t, "an unknown model", before, s.truth())
	for _, line := range []string{"|fail", ""} {
		if _, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "y"}, modelSaying(line)); code(err) != fault.Failed {
			t.Errorf("a model that says %q = %v", line, err)
		}
	}
	healthy(t, s)
}

// TestSteer: a steer at tool 2 of 5 skips three calls, each with a result that names the
// message; with the policy to finish the batch none is skipped.
func TestSteer(t *testing.T) {
	t.Parallel()
	for _, policy := range []turn.SteerPolicy{turn.AfterCall, turn.FinishBatch} {
		s := openSpace(t, t.TempDir(), 0)
		s.agent("ada")
		ran, steered := 0, ""
		ts := tools{"dig": func(ctx context.Context) (model.Result, error) {
			if ran++; ran == 2 {
				q, said, err := s.Agent("ada").Say(ctx, agents.Message{Mode: turn.Steer, Text: "stop"}, agents.TurnOptions{})
				if err != nil || said != nil || len(q.Queue) != 1 {
					t.Errorf("Say = %+v, %+v, %v", q, said, err)
				}
				steered = q.Queue[0].ID
			}
			return model.Result{Text: fmt.Sprint("hole ", ran)}, nil
		}}
		m := &script{lines: []string{"|dig dig dig dig dig", "stopped"}}
		o := with(ts, map[string]model.Model{"m": m})
		o.Policy = policy
		var types []string
		o.OnEvent = func(e events.Event) { types = append(types, fmt.Sprint(e.Type)) }
		c := s.tell("ada", "dig five holes", o)
		if c.Reply != "stopped" {
			t.Errorf("Chat = %+v", c)
		}
		skipped := strings.Count(s.read("conversations/"+c.Tree+".json"), `"skipped_by": "`+steered+`"`)
		want, holes := 3, 2
		if policy == turn.FinishBatch {
			want, holes = 0, 5
		}
		if skipped != want || ran != holes || len(m.asked[1]) != 8 {
			t.Errorf("%s: %d skipped, %d run, %d shown", policy, skipped, ran, len(m.asked[1]))
		}
		last := m.asked[1][7]
		if last.ID != steered || !strings.Contains(string(last.Metadata), `"delivery_mode": "steer"`) {
			t.Errorf("%s: the last message is %s %s", policy, last.ID, last.Metadata)
		}
		snap, err := s.Agent("ada").Snapshot(t.Context())
		if err != nil || (snap.Turn.InterruptedBy == steered) != (policy == turn.AfterCall) || len(snap.SteerQueue) != 0 {
			t.Errorf("%s: the snapshot is %+v, %v", policy, snap, err)
		}
		if policy == turn.AfterCall {
			added := " message_added head_moved"
			want := "message_added head_moved chat_start" + strings.Repeat(added+" tool_started", 2) + added // the prompt, the calls, two results
			got := strings.Join(types, " ")
			want += " turn_interrupted" + strings.Repeat(added, 3) + added + " queue_changed steer_delivered chat_content" + added + " chat_complete"
			if got != want {
				t.Errorf("the events are\n%s\nwant\n%s", got, want)
			}
		}
		healthy(t, s)
	}
}

// TestFollowUp: queued messages are delivered after the turn, in order, including equal
// texts.
func TestFollowUp(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	m := &script{lines: []string{"one"}, at: make(chan struct{}, 9), wait: make(chan struct{}, 9)}
	done := make(chan *agents.ChatResult)
	go func() {
		c, err := s.Agent("ada").Chat(context.Background(), agents.Prompt{Text: "first"}, with(nil, map[string]model.Model{"m": m}))
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	<-m.at
	ctx := t.Context()
	if _, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "x"}, modelSaying()); code(err) != fault.Busy {
		t.Errorf("a second chat = %v", err)
	}
	if _, err := s.Agent("ada").Switch(ctx, s.head("ada").Tree, checkpoint.CutOptions{}); code(err) != fault.Busy {
		t.Errorf("switch meanwhile = %v", err)
	}
	if _, err := s.Agent("ada").Set(ctx, agents.Change{System: new("Be brief.")}); code(err) != fault.Busy {
		t.Errorf("set meanwhile = %v", err)
	}
	if _, err := s.Agent("ada").DeleteTree(ctx, s.head("ada").Tree, agents.DeleteTreeOptions{}); code(err) != fault.Busy {
		t.Errorf("delete meanwhile = %v", err)
	}
	if _, err := s.undo(""); code(err) != fault.Busy {
		t.Errorf("undo meanwhile = %v", err)
	}
	for _, text := range []string{"more", "more", "drop me"} {
		if _, _, err := s.Agent("ada").Say(ctx, agents.Message{Mode: turn.FollowUp, Text: text}, agents.TurnOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	q, err := s.Agent("ada").Queue(ctx)
	if err != nil || len(q.Queue) != 3 || q.Queue[0].State != turn.Waiting || q.Queue[0].ID == q.Queue[1].ID {
		t.Fatalf("Queue = %+v, %v", q, err)
	}
	if q, err = s.Agent("ada").DropQueued(ctx, q.Queue[2].ID[:18]); err != nil || len(q.Queue) != 2 {
		t.Errorf("DropQueued = %+v, %v", q, err)
	}
	if _, err := s.Agent("ada").DropQueued(ctx, "nothing"); code(err) != fault.NotFound {
		t.Errorf("DropQueued of an unknown message = %v", err)
	}
	for range 3 {
		m.wait <- struct{}{}
	}
	c := <-done
	want := "user: first\nassistant: one\nuser: more\nassistant: answer 2\nuser: more\nassistant: answer 3"
	if got := s.said("ada"); got != want || c.Reply != "answer 3" {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
	_, said, err := s.Agent("ada").Say(ctx, agents.Message{Mode: turn.Steer, Text: "idle"}, modelSaying("yes"))
	if err != nil || said == nil || said.Reply != "yes" {
		t.Errorf("steer without a turn = %+v, %v", said, err)
	}
	healthy(t, s)
}

// TestAbort: an aborted turn keeps its partial reply, which is not sent to the model again,
// and the queue waits.
func TestAbort(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	m := &script{lines: []string{"half"}, at: make(chan struct{}, 9), wait: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "first"}, with(nil, map[string]model.Model{"m": m}))
		done <- err
	}()
	<-m.at
	for _, saying := range []agents.Message{{Mode: turn.FollowUp, Text: "later"}, {Mode: turn.Steer, Text: "now"}} {
		if _, _, err := s.Agent("ada").Say(t.Context(), saying, agents.TurnOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Chat = %v", err)
	}
	if got := s.said("ada"); got != "user: first\nassistant: half" {
		t.Errorf("it is\n%s", got)
	}
	snap, err := s.Agent("ada").Snapshot(t.Context())
	if err != nil || snap.Turn.Ended != turn.Aborted || len(snap.FollowUpQueue) != 1 || snap.SteerQueue[0].State != turn.Held {
		t.Errorf("the snapshot is %+v, %v", snap, err)
	}
	n := &script{}
	if c := s.tell("ada", "second", with(nil, map[string]model.Model{"m": n})); c.Reply != "answer 1" || len(n.asked[0]) != 2 {
		t.Errorf("Chat = %+v, shown %d", c, len(n.asked[0]))
	}
	q, said, err := s.Agent("ada").ResumeQueue(t.Context(), modelSaying("to now", "to later"))
	if err != nil || len(q.Queue) != 0 || said == nil || said.Reply != "to later" {
		t.Errorf("ResumeQueue = %+v, %+v, %v", q, said, err)
	}
	if got := s.said("ada"); !strings.HasSuffix(got, "user: now\nassistant: to now\nuser: later\nassistant: to later") {
		t.Errorf("it is\n%s", got)
	}
	if q, said, err := s.Agent("ada").ResumeQueue(t.Context(), modelSaying()); err != nil || said != nil || len(q.Queue) != 0 {
		t.Errorf("ResumeQueue of an empty queue = %+v, %+v, %v", q, said, err)
	}
	healthy(t, s)
}

// TestConfirm: a tool that may change something runs only after the user confirms, and a
// steer does not confirm it.
func TestConfirm(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		name string
		set  func(s *space, o *agents.TurnOptions)
		ran  int
		text string
	}{
		{"without Confirm", func(*space, *agents.TurnOptions) {}, 0, "cannot be asked now"},
		{"yes", func(_ *space, o *agents.TurnOptions) {
			o.Confirm = func(context.Context, model.Call) bool { return true }
		}, 1, "written"},
		{"no", func(_ *space, o *agents.TurnOptions) {
			o.Confirm = func(context.Context, model.Call) bool { return false }
		}, 0, "did not allow"},
		{"allowed", func(_ *space, o *agents.TurnOptions) {
			o.Allow = func(t model.Tool) bool { return t.Name == "write" }
		}, 1, "written"},
		{"steer", func(s *space, o *agents.TurnOptions) {
			o.Confirm = func(ctx context.Context, _ model.Call) bool {
				if snap, err := s.Agent("ada").Snapshot(ctx); err != nil || snap.Turn.State != turn.Confirming {
					t.Errorf("meanwhile it is %+v, %v", snap, err)
				}
				if _, _, err := s.Agent("ada").Say(ctx, agents.Message{Mode: turn.Steer, Text: "no"}, agents.TurnOptions{}); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				return true
			}
		}, 0, "Skipped"},
	} {
		s := openSpace(t, t.TempDir(), 0)
		s.agent("ada")
		ran := 0
		o := with(tools{"write": func(context.Context) (model.Result, error) { ran++; return model.Result{Text: "written"}, nil }},
			map[string]model.Model{"m": &script{lines: []string{"|write", "done"}}})
		c.set(s, &o)
		if r, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "write"}, o); err != nil || r.Reply != "done" {
			t.Errorf("%s: %+v, %v", c.name, r, err)
		}
		if got := s.said("ada"); ran != c.ran || !strings.Contains(got, c.text) {
			t.Errorf("%s: run %d times\n%s", c.name, ran, got)
		}
		healthy(t, s)
	}
}

// writing returns the options of a model with a tool that may change something.
func writing(lines ...string) agents.TurnOptions {
	write := tools{"write": func(context.Context) (model.Result, error) { return model.Result{Text: "written"}, nil }}
	o := with(write, map[string]model.Model{"m": &script{lines: lines}})
	o.NoCheckpoint = false
	return o
}

// TestCheckpointBefore: a turn first makes a checkpoint of the path.
func TestCheckpointBefore(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	o := writing("a", "b", "c")
	first := s.tell("ada", "1", o)
	s.tell("ada", "2", o)
	list, err := s.List(t.Context(), "checkpoint")
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].BranchPoint != first.Node {
		t.Errorf("the checkpoints are %+v, %v", list, err)
	}
	o.NoCheckpoint = true
	s.tell("ada", "3", o)
	if list, err := s.List(t.Context(), "checkpoint"); err != nil || len(list.Sessions) != 1 {
		t.Errorf("with the switch they are %+v, %v", list, err)
	}
	for range 2 {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.said("ada"); got != "user: 1\nassistant: a\nuser: 2\nassistant: b" {
		t.Errorf("after undo the path is\n%s", got)
	}
	if !slices.Contains([]turn.Ending{turn.Aborted, turn.Finished}, s.turn("ada").Ended) {
		t.Errorf("after undo the turn is %+v", s.turn("ada"))
	}
	healthy(t, s)
}

func (s *space) turn(name string) turn.Turn {
	s.t.Helper()
	snap, err := s.Agent(name).Snapshot(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return snap.Turn
}

// TestUndoChat: undo and redo of a turn, message by message, restore each session to the
// byte, and never leave the turn running.
func TestUndoChat(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	s.agent("ada")
	s.tell("ada", "hello", modelSaying("hi"))
	sessions := func() map[string]string {
		all := s.truth()
		for name := range all {
			if !strings.HasPrefix(name, "conversations/") {
				delete(all, name)
			}
		}
		return all
	}
	states, heads := []map[string]string{sessions()}, []agent.Head{s.head("ada")}
	seen := map[string]bool{}
	eventful(s, func(id string) {
		if h := s.head("ada"); h.Node == id && !seen[id] {
			seen[id] = true
			states, heads = append(states, sessions()), append(heads, h)
		}
	})
	if len(states) != 9 { // a prompt, calls, two results, a steer, its answer, a follow-up, its answer
		t.Fatalf("there were %d messages", len(states)-1)
	}
	took := 0
	for i := len(states) - 2; i >= 0; i-- {
		for { // queueing a message is an operation too
			o, err := s.undo("")
			if err != nil {
				t.Fatalf("undo to message %d: %v", i, err)
			}
			if took++; o.Args["verb"] == "append" {
				break
			}
		}
		sameFiles(t, fmt.Sprintf("undo to message %d", i), states[i], sessions())
		if got := s.head("ada"); got != heads[i] {
			t.Errorf("after undo to message %d the head is %v, want %v", i, got, heads[i])
		}
		a, err := s.Agent("ada").Info(t.Context())
		if err != nil || a.Turn.State != turn.Idle || len(a.Turn.Unwritten) > 0 {
			t.Errorf("after undo to message %d the turn is %+v, %v", i, a.Turn, err)
		}
	}
	for range took {
		if _, err := s.redo(""); err != nil {
			t.Fatal(err)
		}
	}
	sameFiles(t, "redo", states[len(states)-1], sessions())
	if got := s.head("ada"); got != heads[len(heads)-1] {
		t.Errorf("after redo the head is %v", got)
	}
	if c := s.tell("ada", "on", modelSaying("and on")); c.Reply != "and on" {
		t.Errorf("afterwards Chat = %+v", c)
	}
	healthy(t, s)
}

// TestChatEvents: a reader in this process receives each streamed piece of a reply in its
// place; the log has everything else, for readers in other processes.
func TestChatEvents(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	tree := s.agent("ada").Head.Tree
	e := s.events(0)
	e.want("session_created "+tree, "head_moved "+tree)
	m := &script{lines: []string{"well|look", "seen|fail asleep"}, at: make(chan struct{}), wait: make(chan struct{})}
	look := tools{"look": func(context.Context) (model.Result, error) { return model.Result{Text: "x"}, nil }}
	ended := make(chan error)
	go func() {
		_, err := s.Agent("ada").Chat(context.Background(), agents.Prompt{Text: "look"}, with(look, map[string]model.Model{"m": m}))
		ended <- err
	}()
	var got, said []string
	read := func(n int) {
		for range n {
			event := <-e.list
			got = append(got, string(event.Type))
			if event.Type == events.ChatContent {
				said = append(said, event.Text)
			}
			if (event.Type == events.ChatContent) != (event.Seq == 0) || event.Agent != "ada" || string(event.Session) != tree {
				t.Errorf("the event is %+v", event)
			}
			if event.Type == events.ChatComplete && (event.Ended != turn.Failed || event.Error != "asleep") {
				t.Errorf("the end is %+v", event)
			}
		}
	}
	for range 2 {
		<-m.at
		m.wait <- struct{}{}
	}
	if err := <-ended; code(err) != fault.Failed {
		t.Errorf("Chat = %v", err)
	}
	read(3 + 1 + 3 + 2 + 1 + 2 + 1)
	want := "message_added head_moved chat_start chat_content message_added head_moved tool_started message_added head_moved chat_content message_added head_moved chat_complete"
	if strings.Join(got, " ") != want || strings.Join(said, " ") != "well seen" {
		t.Errorf("the events are\n%s, with the texts %q, want\n%s", strings.Join(got, " "), said, want)
	}
}

// TestSteerStreaming: a steer that arrives during a reply waits for its end, or cuts it; a
// cut reply is kept, marked, and not sent to the model again.
func TestSteerStreaming(t *testing.T) {
	for _, cut := range []bool{false, true} {
		s := openSpace(t, t.TempDir(), 0)
		s.agent("ada")
		m := &script{lines: []string{"a long story", "the end"}, at: make(chan struct{}, 9), wait: make(chan struct{}, 9)}
		done := make(chan *agents.ChatResult)
		go func() {
			c, err := s.Agent("ada").Chat(context.Background(), agents.Prompt{Text: "tell"}, with(nil, map[string]model.Model{"m": m}))
			if err != nil {
				t.Error(err)
			}
			done <- c
		}()
		<-m.at
		if snap, err := s.Agent("ada").Snapshot(t.Context()); err != nil || snap.Turn.State != turn.Streaming {
			t.Errorf("meanwhile it is %+v, %v", snap, err)
		}
		q, _, err := s.Agent("ada").Say(t.Context(), agents.Message{Mode: turn.Steer, Text: "short", Cut: cut}, agents.TurnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !cut {
			m.wait <- struct{}{}
		}
		<-m.at
		m.wait <- struct{}{}
		c := <-done
		if got := s.said("ada"); got != "user: tell\nassistant: a long story\nuser: short\nassistant: the end" || c.Reply != "the end" {
			t.Errorf("cut %v: it is\n%s", cut, got)
		}
		shown, want := len(m.asked[1]), 3
		if cut {
			want = 2
		}
		snap, err := s.Agent("ada").Snapshot(t.Context())
		if shown != want || err != nil || (snap.Turn.InterruptedBy == q.Queue[0].ID) != cut {
			t.Errorf("cut %v: shown %d, %+v, %v", cut, shown, snap.Turn, err)
		}
		if partial := strings.Count(s.read("conversations/"+c.Tree+".json"), `"partial": true`); (partial == 1) != cut {
			t.Errorf("cut %v: %d partial", cut, partial)
		}
		healthy(t, s)
	}
}

// TestUndoStays: the next change of an agent does not bring back an undone part of a turn.
func TestUndoStays(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	look := tools{"look": func(context.Context) (model.Result, error) { return model.Result{Text: "x"}, nil }}
	s.tell("ada", "look", with(look, map[string]model.Model{"m": &script{lines: []string{"well|look look", "seen"}}}))
	for range 3 {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
	}
	before := s.said("ada")
	quiet := true
	if _, err := s.Agent("ada").Set(t.Context(), agents.Change{NoCheckpoint: &quiet}); err != nil {
		t.Fatal(err)
	}
	if got := s.said("ada"); got != before || got != "user: look\nassistant: well" {
		t.Errorf("it is\n%s\nwas\n%s", got, before)
	}
	m := &script{lines: []string{"on"}}
	s.tell("ada", "go on", with(look, map[string]model.Model{"m": m}))
	if err := paired(m.asked[0]); err != nil {
		t.Error(err)
	}
	healthy(t, s)
}

// TestUndoBranch: undo removes a tree that a chat made, even if it has automatic
// checkpoints.
func TestUndoBranch(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	first := s.agent("ada").Head.Tree
	o := writing("a", "b", "c")
	at := s.tell("ada", "one", o).Node
	if _, err := s.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "other", From: string(at)}, o); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
	}
	if h := s.head("ada"); h.Tree != first || h.Node != string(at) {
		t.Errorf("the head is %v", h)
	}
	healthy(t, s)
}

// TestFallbackQueue: messages queued while a model fails are delivered to the fallback.
func TestFallbackQueue(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	m := &script{lines: []string{"|fail gone"}, at: make(chan struct{}), wait: make(chan struct{})}
	o := with(nil, map[string]model.Model{"m": m, "n": &script{lines: []string{"here", "more"}}})
	o.Fallback = "n"
	done := make(chan *agents.ChatResult)
	go func() {
		c, err := s.Agent("ada").Chat(context.Background(), agents.Prompt{Text: "hello"}, o)
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	<-m.at
	if _, _, err := s.Agent("ada").Say(t.Context(), agents.Message{Mode: turn.FollowUp, Text: "and?"}, agents.TurnOptions{}); err != nil {
		t.Fatal(err)
	}
	m.wait <- struct{}{}
	if c := <-done; c.Reply != "more" || c.Held != 0 {
		t.Errorf("Chat = %+v", c)
	}
	if got := s.said("ada"); got != "user: hello\nassistant: here\nuser: and?\nassistant: more" {
		t.Errorf("it is\n%s", got)
	}
	o.Fallback = "unknown"
	before := s.truth()
	if _, err := s.Agent("ada").Chat(t.Context(), agents.Prompt{Text: "x"}, o); code(err) != fault.Usage {
		t.Errorf("an unknown fallback = %v", err)
	}
	sameFiles(t, "an unknown fallback", before, s.truth())
	healthy(t, s)
}

// TestRefusedTurns: an invalid turn is refused before a byte is written.
func TestRefusedTurns(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	first := s.agent("ada").Head.Tree
	ctx := t.Context()
	if _, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "x", Fresh: true}, modelSaying("|fail no")); code(err) != fault.Failed {
		t.Fatal(err)
	}
	if _, err := s.Agent("ada").Switch(ctx, first, checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	before := s.truth()
	for what, f := range map[string]func() error{
		"a retry elsewhere": func() error { _, err := s.Agent("ada").Retry(ctx, modelSaying()); return err },
		"an invalid mode": func() error {
			_, _, err := s.Agent("ada").Say(ctx, agents.Message{Text: "x"}, modelSaying())
			return err
		},
		"an invalid policy": func() error {
			o := modelSaying()
			o.Policy = "bogus"
			_, err := s.Agent("ada").Chat(ctx, agents.Prompt{Text: "x"}, o)
			return err
		},
	} {
		if got := code(f()); got != fault.Usage && got != fault.Refused {
			t.Errorf("%s: %v", what, got)
		}
	}
	sameFiles(t, "what is refused", before, s.truth())
}

// TestRepairAgent: doctor restores a torn agent file from the log, and DeleteTree with Force
// drops a tree whose session is gone.
func TestRepairAgent(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.agent("ada")
	s.tell("ada", "hello", modelSaying("hi"))
	other := s.tree("ada", "rest")
	name := agent.Path("ada")
	whole := s.read(name)
	s.write(name, whole[:len(whole)/2])
	if report, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil || !report.OK {
		t.Errorf("Doctor = %+v, %v", report, err)
	}
	if got := s.read(name); got != whole {
		t.Errorf("the file is %s", got)
	}
	s.write(name, "[]")
	for range 2 {
		if _, err := s.Doctor(t.Context(), doctor.Options{Fix: true}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.read(name); got != whole {
		t.Errorf("after a second damage the file is %s", got)
	}
	first := s.head("ada")
	if _, err := s.Agent("ada").Switch(t.Context(), s.agentTrees("ada")[0], checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.Dir(), filepath.FromSlash(session.FileName(other)))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Agent("ada").DeleteTree(t.Context(), first.Tree, agents.DeleteTreeOptions{}); code(err) != fault.NotFound {
		t.Errorf("DeleteTree of a missing tree = %v", err)
	}
	if _, err := s.Agent("ada").DeleteTree(t.Context(), first.Tree, agents.DeleteTreeOptions{Force: true}); err != nil {
		t.Error(err)
	}
	healthy(t, s)
}

func (s *space) agentTrees(name string) (ids []string) {
	s.t.Helper()
	a, err := s.Agent(name).Info(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, tree := range a.Trees {
		ids = append(ids, tree.ID)
	}
	return ids
}
