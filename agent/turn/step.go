package turn

import "fmt"

const (
	maxAsks  = 50
	maxCalls = 128
)

// A step is the execution of one step of a turn.
type step struct {
	*Turn
	q   *Queue
	r   Rules
	out []Action
}

// Step processes an event and returns the actions to execute. The error is
// ErrRunning or ErrNoRetry, and then nothing has changed.
func (t *Turn) Step(q *Queue, r Rules, e Event) ([]Action, error) {
	if t.State == "" {
		t.State = Idle
	}
	s := &step{Turn: t, q: q, r: r}
	switch {
	case e.Kind == OnPrompt && t.State != Idle:
		return nil, ErrRunning
	case e.Kind == OnPrompt:
		s.begin(Entry{ID: e.ID, Mode: Normal, Content: e.Text})
	case e.Kind == OnRetry && (t.State != Idle || t.Prompt == "" || t.Ended == Finished):
		return nil, ErrNoRetry
	case e.Kind == OnRetry:
		t.Ended, t.Error, t.Asked = "", "", 0
		if e.ID != "" {
			t.Last = e.ID
		}
		s.emit(ChatStart, t.Prompt, "")
		s.ask()
	case e.Kind == OnQueue:
		s.queued()
	case e.Kind == OnAbort && t.State != Idle:
		s.abort()
	case t.State == Idle || e.ID != t.awaited():
	case t.State == Streaming:
		s.model(e)
	default:
		s.tool(e)
	}
	return s.out, nil
}

// awaited returns the id of the message for which the turn waits.
func (t *Turn) awaited() string {
	if len(t.Calls) > 0 {
		return t.Calls[0].Node
	}
	return t.Reply
}

// Recover ends a turn whose program has exited, and returns the actions that
// complete its conversation. Every program that opens an agent must call it
// unless another program is running the turn. The queue is held. Recover
// repeats neither calls nor requests to the model, because their outcome is
// unknown.
func (t *Turn) Recover(q *Queue) []Action {
	s := &step{Turn: t, q: q}
	for _, n := range t.Unwritten {
		s.do(Action{Kind: DoWrite, Node: &n})
	}
	q.Hold()
	if t.State == "" {
		t.State = Idle
	}
	if t.State != Idle {
		s.partial(t.Text)
		s.closeCalls("The program exited while this call was running; its effect is unknown.")
		s.end(Crashed, "")
	}
	return s.out
}

// queued processes a change of the queue.
func (s *step) queued() {
	switch {
	case s.State == Idle:
		if e := s.q.next(); e != nil {
			s.start(e)
		}
	case s.State == Streaming && s.q.cut():
		s.do(Action{Kind: DoStop, ID: s.awaited()})
		s.partial(s.Text)
		s.interrupt(s.q.steer())
		s.next(false)
	case s.State == Confirming && s.q.steer() != nil && s.r.Policy != FinishBatch:
		s.do(Action{Kind: DoStop, ID: s.awaited()})
		s.next(false)
	}
}

// start delivers an entry to an idle agent.
func (s *step) start(e *Entry) {
	s.q.Drop(e.ID)
	if e.Mode == Steer {
		e.Mode = Normal
	}
	s.begin(*e)
}

func (s *step) begin(e Entry) {
	is := Turn{State: Idle, Unwritten: s.Unwritten}
	if s.Ended != Finished { // the interrupted turn has no answer yet
		is.InterruptedBy = s.InterruptedBy
	}
	*s.Turn = is
	s.say(e)
	s.emit(ChatStart, e.ID, "")
	s.ask()
}

// say writes a message of the user, which becomes the message to answer.
func (s *step) say(e Entry) {
	s.write(Node{ID: e.ID, Kind: KindUser, Mode: e.Mode, Text: e.Content})
	s.Prompt, s.Asked = e.ID, 0
}

// model processes an event of the model.
func (s *step) model(e Event) {
	switch e.Kind {
	case OnText:
		s.Text += e.Text
		s.emit(ChatContent, s.Reply, e.Text)
	case OnReply:
		if problem := invalidReply(e, s.r.MaxCalls); problem != "" {
			if e.Text == "" {
				e.Text = s.Text
			}
			s.partial(e.Text)
			s.end(Failed, problem)
			return
		}
		s.write(Node{ID: s.Reply, Kind: KindAssistant, Text: e.Text, Calls: e.Calls})
		s.Reply, s.Text = "", ""
		for _, c := range e.Calls {
			s.Calls = append(s.Calls, OpenCall{c, s.r.NewID()})
		}
		s.next(len(e.Calls) == 0)
	case OnFailure:
		if e.Text == "" {
			e.Text = "the model stopped before the end of its message"
		}
		s.partial(s.Text)
		s.end(Failed, e.Text)
	}
}

// invalidReply returns why a reply is not valid, or "". limit is the maximum number
// of calls, 0 means maxCalls.
func invalidReply(e Event, limit int) string {
	if limit <= 0 {
		limit = maxCalls
	}
	if n := len(e.Calls); n > limit {
		return fmt.Sprintf("the model made %d calls in one message; at most %d are allowed", n, limit)
	}
	if e.Text == "" && len(e.Calls) == 0 {
		return "the model returned an empty message"
	}
	seen := map[string]bool{}
	for _, c := range e.Calls {
		switch {
		case c.ID == "":
			return fmt.Sprintf("the model called %q without an id", c.Name)
		case c.Name == "":
			return fmt.Sprintf("the model made the call %q without the name of a tool", c.ID)
		case seen[c.ID]:
			return fmt.Sprintf("the model made two calls with the id %q", c.ID)
		}
		seen[c.ID] = true
	}
	return ""
}

// tool processes an event about the first of the open calls.
func (s *step) tool(e Event) {
	call := s.Calls[0]
	switch {
	case e.Kind == OnResult && s.State == InTool:
		s.result(Node{Text: e.Text, Failed: e.Failed})
		s.next(false)
	case e.Kind == OnConfirm && s.State == InTool && s.q.steer() != nil && s.r.Policy != FinishBatch:
		s.next(false)
	case e.Kind == OnConfirm && s.State == InTool:
		s.State = Confirming
		s.do(Action{Kind: DoConfirm, ID: call.Node, Call: call.Call})
	case e.Kind == OnAnswer && s.State == Confirming && e.Yes:
		s.State = InTool
		s.do(Action{Kind: DoRun, ID: call.Node, Call: call.Call, Confirmed: true})
	case e.Kind == OnAnswer && s.State == Confirming:
		s.result(Node{Text: "The user did not allow this call.", Failed: true})
		s.next(false)
	}
}

// next continues after a message or a result; done means that the model made no
// calls.
func (s *step) next(done bool) {
	steer := s.q.steer()
	if steer != nil && len(s.Calls) > 0 && s.r.Policy != FinishBatch {
		s.interrupt(steer)
		for len(s.Calls) > 0 {
			s.result(Node{Text: "Skipped: the user said something else, see message " + steer.ID + ".", SkippedBy: steer.ID})
		}
	}
	switch {
	case len(s.Calls) > 0:
		s.State = InTool
		s.do(Action{Kind: DoRun, ID: s.Calls[0].Node, Call: s.Calls[0].Call})
	case steer != nil:
		s.q.Drop(steer.ID)
		s.q.spendCut()
		s.say(*steer)
		s.emit(SteerDelivered, steer.ID, "")
		s.ask()
	case done:
		s.end(Finished, "")
	default:
		s.ask()
	}
}

func (s *step) interrupt(by *Entry) {
	s.InterruptedBy = by.ID
	s.emit(TurnInterrupted, by.ID, "")
}

func (s *step) ask() {
	limit := s.r.MaxAsks
	if limit <= 0 {
		limit = maxAsks
	}
	if s.Asked >= limit {
		s.end(Limited, fmt.Sprintf("the model still makes calls after %d requests", s.Asked))
		return
	}
	s.State, s.Reply, s.Asked = Streaming, s.r.NewID(), s.Asked+1
	s.do(Action{Kind: DoAsk, ID: s.Reply, Leaf: s.Last})
}

func (s *step) abort() {
	s.do(Action{Kind: DoStop, ID: s.awaited()})
	s.partial(s.Text)
	s.closeCalls("Aborted by the user while it was running; its effect is unknown.")
	s.emit(TurnInterrupted, "", "")
	s.end(Aborted, "")
}

// closeCalls writes results for all open calls; running is the text for the one
// that is running.
func (s *step) closeCalls(running string) {
	for len(s.Calls) > 0 {
		text := "Not run: the turn had ended."
		if s.State == InTool {
			text, s.State = running, Confirming
		}
		s.result(Node{Text: text, Failed: true})
	}
}

// end ends the turn. After Finished it delivers the next entry of the queue.
func (s *step) end(why Ending, problem string) {
	s.State, s.Ended, s.Error = Idle, why, problem
	s.emit(ChatComplete, s.Last, string(why))
	if why != Finished {
		if why != Failed || !s.r.Again {
			s.q.Hold()
		}
	} else if e := s.q.next(); e != nil {
		s.start(e)
	}
}

// partial writes the text received so far, if any, as a partial message.
func (s *step) partial(text string) {
	if text != "" {
		s.write(Node{ID: s.Reply, Kind: KindAssistant, Text: text, Partial: true})
	}
	s.Reply, s.Text = "", ""
}

// result writes the result of the first of the open calls.
func (s *step) result(n Node) {
	call := s.Calls[0]
	n.ID, n.Kind, n.CallID, n.Tool = call.Node, KindToolBoundary, call.ID, call.Name
	s.Calls = s.Calls[1:]
	s.write(n)
}

func (s *step) write(n Node) {
	n.Parent, s.Last = s.Last, n.ID
	if n.Mode == "" {
		n.Mode = Normal
	}
	s.Unwritten = append(s.Unwritten, n)
	s.do(Action{Kind: DoWrite, Node: &n})
}

func (s *step) emit(event, id, text string) {
	s.do(Action{Kind: DoEmit, Event: event, ID: id, Text: text})
}

func (s *step) do(a Action) { s.out = append(s.out, a) }
