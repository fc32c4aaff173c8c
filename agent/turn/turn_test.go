package turn_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
)

// A play executes scripts. Each event is on a line of its own:
//
//	prompt ID TEXT, steer ID TEXT, cut ID TEXT, follow ID TEXT, drop ID, resume
//	text TEXT, reply TEXT | CALL TOOL, CALL TOOL, failure WHY
//	result TEXT, error TEXT, confirm, yes, no
//	abort, retry, crash
//	late KIND ID TEXT
//
// The expected actions are indented below it. The turn generates the ids n1, n2 ...
type play struct {
	turn  turn.Turn
	queue turn.Queue
	rules turn.Rules
	made  int
}

func newPlay() *play {
	p := &play{}
	p.rules.NewID = func() string {
		p.made++
		return fmt.Sprintf("n%d", p.made)
	}
	return p
}

// about returns the id of the message for which the turn waits.
func (p *play) about() string {
	if len(p.turn.Calls) > 0 {
		return p.turn.Calls[0].Node
	}
	return p.turn.Reply
}

func (p *play) do(t *testing.T, line string) string {
	word, rest, _ := strings.Cut(line, " ")
	id, text, _ := strings.Cut(rest, " ")
	e := turn.Event{Kind: turn.EventKind(word), ID: p.about(), Text: rest}
	switch word {
	case "prompt":
		e.ID, e.Text = id, text
	case "steer", "cut":
		p.queue.Add(turn.Entry{ID: id, Mode: turn.Steer, Content: text, Cut: word == "cut"})
		e = turn.Event{Kind: turn.OnQueue}
	case "follow":
		p.queue.Add(turn.Entry{ID: id, Mode: turn.FollowUp, Content: text})
		e = turn.Event{Kind: turn.OnQueue}
	case "drop":
		if !p.queue.Drop(id) {
			t.Errorf("%q: no such entry", line)
		}
		return ""
	case "resume":
		p.queue.Resume()
		e = turn.Event{Kind: turn.OnQueue}
	case "crash":
		return list(p.turn.Recover(&p.queue))
	case "reply":
		said, calls, _ := strings.Cut(rest, "|")
		e.Text = strings.TrimSpace(said)
		for call := range strings.SplitSeq(calls, ",") {
			if call = strings.TrimSpace(call); call != "" {
				id, name, _ := strings.Cut(call, " ")
				e.Calls = append(e.Calls, model.Call{ID: strings.Trim(id, `"`), Name: name, Arguments: "{}"})
			}
		}
	case "error":
		e.Kind, e.Failed = turn.OnResult, true
	case "yes", "no":
		e.Kind, e.Yes = turn.OnAnswer, word == "yes"
	case "late":
		kind, rest := id, text
		id, text, _ := strings.Cut(rest, " ")
		e = turn.Event{Kind: turn.EventKind(kind), ID: id, Text: text}
	}
	actions, err := p.turn.Step(&p.queue, p.rules, e)
	p.turn.Unwritten = nil
	if err != nil {
		return "  refused: " + err.Error() + "\n"
	}
	return list(actions)
}

func list(actions []turn.Action) string {
	var b strings.Builder
	for _, a := range actions {
		b.WriteString("  " + show(a) + "\n")
	}
	return b.String()
}

func show(a turn.Action) string {
	switch a.Kind {
	case turn.DoWrite:
		return "write " + showNode(*a.Node)
	case turn.DoAsk:
		return fmt.Sprintf("ask %s after %s", a.ID, a.Leaf)
	case turn.DoRun, turn.DoConfirm:
		s := fmt.Sprintf("%s %s %s %s", a.Kind, a.ID, a.Call.ID, a.Call.Name)
		if a.Confirmed {
			s += ", confirmed"
		}
		return s
	case turn.DoStop:
		return "stop " + a.ID
	}
	return strings.TrimSpace(strings.Join([]string{a.Event, a.ID, a.Text}, " "))
}

func showNode(n turn.Node) string {
	s := fmt.Sprintf("%s %s", n.ID, n.Kind)
	if n.Mode != turn.Normal {
		s += " " + string(n.Mode)
	}
	if n.Parent != "" {
		s += " after " + n.Parent
	}
	for _, c := range n.Calls {
		s += ", calls " + c.ID
	}
	if n.CallID != "" {
		s += ", of " + n.CallID
	}
	if n.Failed {
		s += ", failed"
	}
	if n.SkippedBy != "" {
		return s + ", skipped by " + n.SkippedBy
	}
	if n.Partial {
		s += ", partial"
	}
	if n.Text != "" {
		s += ": " + n.Text
	}
	return s
}

func TestTurn(t *testing.T) {
	for _, c := range []struct {
		name        string
		finishBatch bool
		maxAsks     int
		script      string
		state       turn.State
		queue       string // the remaining entries
	}{
		{name: "a prompt and its answer", state: turn.Idle, script: `
prompt p1 Hello
  write p1 user: Hello
  chat_start p1
  ask n1 after p1
text Good
  chat_content n1 Good
text  day.
  chat_content n1  day.
reply Good day.
  write n1 assistant after p1: Good day.
  chat_complete n1 finished
`},
		{name: "tools one after the other", state: turn.Idle, script: `
prompt p1 How much?
  write p1 user: How much?
  chat_start p1
  ask n1 after p1
reply Let me look. | c1 read, c2 count
  write n1 assistant after p1, calls c1, calls c2: Let me look.
  run n2 c1 read
result three lines
  write n2 tool_boundary after n1, of c1: three lines
  run n3 c2 count
error no such file
  write n3 tool_boundary after n2, of c2, failed: no such file
  ask n4 after n3
reply Three.
  write n4 assistant after n3: Three.
  chat_complete n4 finished
`},
		{name: "a steer at tool two of five", state: turn.Idle, script: `
prompt p1 Tidy up
  write p1 user: Tidy up
  chat_start p1
  ask n1 after p1
reply | c1 ls, c2 rm, c3 rm, c4 rm, c5 rm
  write n1 assistant after p1, calls c1, calls c2, calls c3, calls c4, calls c5
  run n2 c1 ls
result a b c d
  write n2 tool_boundary after n1, of c1: a b c d
  run n3 c2 rm
steer s1 Stop, not d!
result a is gone
  write n3 tool_boundary after n2, of c2: a is gone
  turn_interrupted s1
  write n4 tool_boundary after n3, of c3, skipped by s1
  write n5 tool_boundary after n4, of c4, skipped by s1
  write n6 tool_boundary after n5, of c5, skipped by s1
  write s1 user steer after n6: Stop, not d!
  steer_delivered s1
  ask n7 after s1
reply I stopped.
  write n7 assistant after s1: I stopped.
  chat_complete n7 finished
`},
		{name: "a steer that waits for the batch", finishBatch: true, state: turn.Streaming, script: `
prompt p1 Tidy up
  write p1 user: Tidy up
  chat_start p1
  ask n1 after p1
reply | c1 ls, c2 rm
  write n1 assistant after p1, calls c1, calls c2
  run n2 c1 ls
steer s1 And then rest
result a
  write n2 tool_boundary after n1, of c1: a
  run n3 c2 rm
confirm
  confirm n3 c2 rm
steer s2 Really
yes
  run n3 c2 rm, confirmed
result done
  write n3 tool_boundary after n2, of c2: done
  write s1 user steer after n3: And then rest
  steer_delivered s1
  ask n4 after s1
`, queue: "s2 waiting"},
		{name: "a steer during a reply", state: turn.Idle, script: `
prompt p1 Tell me all
  write p1 user: Tell me all
  chat_start p1
  ask n1 after p1
text First
  chat_content n1 First
steer s1 Shorter
steer s2 In French
reply First of all | c1 look
  write n1 assistant after p1, calls c1: First of all
  turn_interrupted s1
  write n2 tool_boundary after n1, of c1, skipped by s1
  write s1 user steer after n2: Shorter
  steer_delivered s1
  ask n3 after s1
reply All.
  write n3 assistant after s1: All.
  write s2 user steer after n3: In French
  steer_delivered s2
  ask n4 after s2
reply Tout.
  write n4 assistant after s2: Tout.
  chat_complete n4 finished
`},
		{name: "a steer that cuts", state: turn.Streaming, script: `
prompt p1 Tell me all
  write p1 user: Tell me all
  chat_start p1
  ask n1 after p1
text First
  chat_content n1 First
steer s1 Shorter
cut s2 Now
  stop n1
  write n1 assistant after p1, partial: First
  turn_interrupted s1
  write s1 user steer after n1: Shorter
  steer_delivered s1
  ask n2 after s1
late text n1 of all
late reply n1 First of all
text All
  chat_content n2 All
follow f1 Well?
reply All.
  write n2 assistant after s1: All.
  write s2 user steer after n2: Now
  steer_delivered s2
  ask n3 after s2
`, queue: "f1 waiting"},
		{name: "a cut before any text", state: turn.Streaming, script: `
prompt p1 Tell me all
  write p1 user: Tell me all
  chat_start p1
  ask n1 after p1
cut s1 Now
  stop n1
  turn_interrupted s1
  write s1 user steer after p1: Now
  steer_delivered s1
  ask n2 after s1
`},
		{name: "a steer does not confirm a call", state: turn.Streaming, script: `
prompt p1 Tidy up
  write p1 user: Tidy up
  chat_start p1
  ask n1 after p1
reply | c1 rm, c2 rm
  write n1 assistant after p1, calls c1, calls c2
  run n2 c1 rm
confirm
  confirm n2 c1 rm
steer s1 yes
  stop n2
  turn_interrupted s1
  write n2 tool_boundary after n1, of c1, skipped by s1
  write n3 tool_boundary after n2, of c2, skipped by s1
  write s1 user steer after n3: yes
  steer_delivered s1
  ask n4 after s1
late answer n2
`},
		{name: "a call that must be confirmed when a steer waits", state: turn.Streaming, script: `
prompt p1 Tidy up
  write p1 user: Tidy up
  chat_start p1
  ask n1 after p1
reply | c1 rm
  write n1 assistant after p1, calls c1
  run n2 c1 rm
steer s1 wait
confirm
  turn_interrupted s1
  write n2 tool_boundary after n1, of c1, skipped by s1
  write s1 user steer after n2: wait
  steer_delivered s1
  ask n3 after s1
`},
		{name: "the user's word", state: turn.Streaming, script: `
prompt p1 Tidy up
  write p1 user: Tidy up
  chat_start p1
  ask n1 after p1
reply | c1 rm, c2 rm
  write n1 assistant after p1, calls c1, calls c2
  run n2 c1 rm
confirm
  confirm n2 c1 rm
no
  write n2 tool_boundary after n1, of c1, failed: The user did not allow this call.
  run n3 c2 rm
confirm
  confirm n3 c2 rm
yes
  run n3 c2 rm, confirmed
yes
result gone
  write n3 tool_boundary after n2, of c2: gone
  ask n4 after n3
`},
		{name: "follow-ups one at a time, equal ones too", state: turn.Streaming, script: `
prompt p1 One
  write p1 user: One
  chat_start p1
  ask n1 after p1
follow f1 more
follow f2 more
follow f3 less
drop f3
steer s1 Two
reply 1
  write n1 assistant after p1: 1
  write s1 user steer after n1: Two
  steer_delivered s1
  ask n2 after s1
reply 2
  write n2 assistant after s1: 2
  chat_complete n2 finished
  write f1 user follow_up: more
  chat_start f1
  ask n3 after f1
`, queue: "f2 waiting"},
		{name: "steer and follow-up when nothing runs", state: turn.Streaming, script: `
steer s1 One
  write s1 user: One
  chat_start s1
  ask n1 after s1
reply 1
  write n1 assistant after s1: 1
  chat_complete n1 finished
follow f1 Two
  write f1 user follow_up: Two
  chat_start f1
  ask n2 after f1
prompt p1 Three
  refused: a turn is running
`},
		{name: "a model that fails, and a retry", state: turn.Idle, script: `
prompt p1 Hello
  write p1 user: Hello
  chat_start p1
  ask n1 after p1
follow f1 And?
failure no connection
  chat_complete p1 failed
retry
  chat_start p1
  ask n2 after p1
text Good
  chat_content n2 Good
failure
  write n2 assistant after p1, partial: Good
  chat_complete n2 failed
retry
  chat_start p1
  ask n3 after n2
reply Good day.
  write n3 assistant after n2: Good day.
  chat_complete n3 finished
retry
  refused: no unanswered message
`, queue: "f1 held"},
		{name: "a model that talks nonsense", state: turn.Idle, script: `
prompt p1 Hello
  write p1 user: Hello
  chat_start p1
  ask n1 after p1
reply
  chat_complete p1 failed
retry
  chat_start p1
  ask n2 after p1
reply Look | c1 read, c1 read
  write n2 assistant after p1, partial: Look
  chat_complete n2 failed
retry
  chat_start p1
  ask n3 after n2
text Hm
  chat_content n3 Hm
reply | "" read
  write n3 assistant after n2, partial: Hm
  chat_complete n3 failed
retry
  chat_start p1
  ask n4 after n3
reply | c1
  chat_complete n3 failed
`},
		{name: "a model that never ends", maxAsks: 2, state: turn.InTool, script: `
prompt p1 Count
  write p1 user: Count
  chat_start p1
  ask n1 after p1
reply | c1 add
  write n1 assistant after p1, calls c1
  run n2 c1 add
result 1
  write n2 tool_boundary after n1, of c1: 1
  ask n3 after n2
reply | c1 add
  write n3 assistant after n2, calls c1
  run n4 c1 add
follow f1 Well?
result 2
  write n4 tool_boundary after n3, of c1: 2
  chat_complete n4 limited
retry
  chat_start p1
  ask n5 after n4
reply | c1 add
  write n5 assistant after n4, calls c1
  run n6 c1 add
`, queue: "f1 held"},
		{name: "a steer lets the model go on", maxAsks: 1, state: turn.Idle, script: `
prompt p1 Count
  write p1 user: Count
  chat_start p1
  ask n1 after p1
steer s1 Up
reply 1
  write n1 assistant after p1: 1
  write s1 user steer after n1: Up
  steer_delivered s1
  ask n2 after s1
reply | c1 add
  write n2 assistant after s1, calls c1
  run n3 c1 add
result 2
  write n3 tool_boundary after n2, of c1: 2
  chat_complete n3 limited
`},
		{name: "held messages are delivered, steers first", state: turn.Streaming, script: `
prompt p1 Hello
  write p1 user: Hello
  chat_start p1
  ask n1 after p1
follow f1 One
steer s1 Two
steer s2 Three
failure down
  chat_complete p1 failed
steer s3 Four
  write s3 user: Four
  chat_start s3
  ask n2 after s3
abort
  stop n2
  turn_interrupted
  chat_complete s3 aborted
resume
  write s1 user: Two
  chat_start s1
  ask n3 after s1
`, queue: "f1 waiting, s2 waiting"},
		{name: "abort during a reply", state: turn.Streaming, script: `
prompt p1 Hello
  write p1 user: Hello
  chat_start p1
  ask n1 after p1
text Goo
  chat_content n1 Goo
steer s1 What?
abort
  stop n1
  write n1 assistant after p1, partial: Goo
  turn_interrupted
  chat_complete n1 aborted
late reply n1 Good day
abort
prompt p2 Again
  write p2 user: Again
  chat_start p2
  ask n2 after p2
reply Yes?
  write n2 assistant after p2: Yes?
  chat_complete n2 finished
resume
  write s1 user: What?
  chat_start s1
  ask n3 after s1
`},
		{name: "abort while a tool runs", state: turn.Idle, script: `
prompt p1 Tidy up
  write p1 user: Tidy up
  chat_start p1
  ask n1 after p1
reply | c1 rm, c2 rm
  write n1 assistant after p1, calls c1, calls c2
  run n2 c1 rm
abort
  stop n2
  write n2 tool_boundary after n1, of c1, failed: Aborted by the user while it was running; its effect is unknown.
  write n3 tool_boundary after n2, of c2, failed: Not run: the turn had ended.
  turn_interrupted
  chat_complete n3 aborted
late result n2 done
`},
		{name: "abort while the user is asked", state: turn.Idle, script: `
prompt p1 Tidy up
  write p1 user: Tidy up
  chat_start p1
  ask n1 after p1
reply | c1 rm
  write n1 assistant after p1, calls c1
  run n2 c1 rm
confirm
  confirm n2 c1 rm
abort
  stop n2
  write n2 tool_boundary after n1, of c1, failed: Not run: the turn had ended.
  turn_interrupted
  chat_complete n2 aborted
`},
		{name: "a crash while a tool runs", state: turn.Streaming, script: `
prompt p1 Tidy up
  write p1 user: Tidy up
  chat_start p1
  ask n1 after p1
follow f1 And?
follow f2 And?
reply | c1 rm, c2 rm
  write n1 assistant after p1, calls c1, calls c2
  run n2 c1 rm
crash
  write n2 tool_boundary after n1, of c1, failed: The program exited while this call was running; its effect is unknown.
  write n3 tool_boundary after n2, of c2, failed: Not run: the turn had ended.
  chat_complete n3 crashed
retry
  chat_start p1
  ask n4 after n3
reply Sorry.
  write n4 assistant after n3: Sorry.
  chat_complete n4 finished
resume
  write f1 user follow_up: And?
  chat_start f1
  ask n5 after f1
`, queue: "f2 waiting"},
		{name: "a crash during a reply", state: turn.Idle, script: `
prompt p1 Hello
  write p1 user: Hello
  chat_start p1
  ask n1 after p1
text Goo
  chat_content n1 Goo
crash
  write n1 assistant after p1, partial: Goo
  chat_complete n1 crashed
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay()
			p.rules.Policy, p.rules.MaxAsks = policy(c.finishBatch), c.maxAsks
			var got strings.Builder
			got.WriteString("\n")
			for line := range strings.SplitSeq(strings.Trim(c.script, "\n"), "\n") {
				if !strings.HasPrefix(line, "  ") {
					got.WriteString(line + "\n" + p.do(t, line))
				}
			}
			if got.String() != c.script {
				t.Errorf("got%swant%s", got.String(), c.script)
			}
			if p.turn.State != c.state {
				t.Errorf("the state is %q, want %q", p.turn.State, c.state)
			}
			var left []string
			for _, e := range p.queue {
				left = append(left, e.ID+" "+string(e.State))
			}
			if s := strings.Join(left, ", "); s != c.queue {
				t.Errorf("the queue is %q, want %q", s, c.queue)
			}
		})
	}
}

// TestInterruptedBy: a turn has the steer that interrupted it until the next turn begins,
// which keeps it if the interrupted one has no answer.
func TestInterruptedBy(t *testing.T) {
	p := newPlay()
	for _, c := range []struct{ line, by string }{
		{"prompt p1 Hello", ""},
		{"reply | c1 a, c2 b", ""},
		{"steer s1 Stop", ""},
		{"result x", "s1"},
		{"reply Yes", "s1"},
		{"prompt p2 Hello", ""},
		{"steer s2 Stop", ""},
		{"reply Yes", ""},
		{"reply Stopped", ""},
		{"prompt p3 Hello", ""},
		{"reply | c3 a, c4 b", ""},
		{"steer s3 Stop", ""},
		{"result x", "s3"},
		{"after a failure", "s3"},
		{"prompt p4 Again", "s3"},
		{"abort", "s3"},
		{"retry", "s3"},
		{"reply Yes", "s3"},
		{"prompt p5 More", ""},
	} {
		p.do(t, c.line)
		if p.turn.InterruptedBy != c.by {
			t.Errorf("after %q the turn was interrupted by %q, want %q", c.line, p.turn.InterruptedBy, c.by)
		}
	}
}

// TestTurnJSON holds the members of the file.
func TestTurnJSON(t *testing.T) {
	p := newPlay()
	for _, line := range []string{"prompt p1 Hello", "reply | c1 a, c2 b", "cut s1 Stop", "follow f1 <More>"} {
		p.do(t, line)
	}
	turn, _ := json.Marshal(p.turn)
	queue, _ := json.Marshal(p.queue)
	want := `{"state":"tool","prompt":"p1","last":"n1",` +
		`"calls":[{"id":"c1","name":"a","arguments":"{}","node":"n2"},{"id":"c2","name":"b","arguments":"{}","node":"n3"}],"asked":1}`
	if string(turn) != want {
		t.Errorf("the turn is\n%s\nwant\n%s", turn, want)
	}
	want = `[{"id":"s1","delivery_mode":"steer","content":"Stop","state":"waiting","cut":true},` +
		`{"id":"f1","delivery_mode":"follow_up","content":"\u003cMore\u003e","state":"waiting"}]`
	if string(queue) != want {
		t.Errorf("the queue is\n%s\nwant\n%s", queue, want)
	}
}

// TestRecoverAnything: recovery ends an invalid turn too.
func TestRecoverAnything(t *testing.T) {
	for _, data := range []string{
		`{}`,
		`{"state":"tool"}`,
		`{"state":"confirming","reply":"n1","text":"a"}`,
		`{"state":"streaming","calls":[{"id":"c1","node":"n1"}]}`,
		`{"state":"thinking"}`,
	} {
		p := newPlay()
		if err := json.Unmarshal([]byte(data), &p.turn); err != nil {
			t.Fatal(err)
		}
		p.turn.Recover(&p.queue)
		if p.turn.State != turn.Idle || len(p.turn.Calls) > 0 {
			t.Errorf("%s is recovered as %+v", data, p.turn)
		}
		if got := p.do(t, "prompt p1 Hello"); !strings.Contains(got, "ask n1 after p1") {
			t.Errorf("%s is recovered, and after a prompt it is\n%s", data, got)
		}
	}
}
