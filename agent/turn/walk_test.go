package turn_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/testsize"
)

// A world executes a turn as its doc comment specifies, on a disk that survives
// crashes, and verifies the invariants.
type world struct {
	t     testing.TB
	turn  turn.Turn
	queue turn.Queue
	rules turn.Rules
	made  int
	disk  []byte

	nodes   map[string]turn.Node
	head    string
	queued  map[string]bool // entries that are or were on the disk
	dropped map[string]bool
	waits   map[string]turn.ActionKind // actions that were begun and are not finished
	endings map[turn.Ending]int        // the number of times it was stored
	written []string                   // the unwritten messages when it was last stored
	trace   []string
}

type stored struct {
	Turn  turn.Turn  `json:"turn"`
	Queue turn.Queue `json:"queue"`
}

func newWorld(t testing.TB, finishBatch bool) *world {
	w := &world{
		turn: turn.Turn{State: turn.Idle},
		t:    t, nodes: map[string]turn.Node{}, queued: map[string]bool{}, dropped: map[string]bool{},
		waits: map[string]turn.ActionKind{}, endings: map[turn.Ending]int{},
	}
	w.rules = turn.Rules{NewID: w.id, Policy: policy(finishBatch), MaxAsks: 3}
	w.store()
	return w
}

func (w *world) id() string {
	w.made++
	return fmt.Sprintf("id%d", w.made)
}

func (w *world) fail(format string, a ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\nturn %+v\nqueue %+v\nafter %q", fmt.Sprintf(format, a...), w.turn, w.queue, w.trace[max(0, len(w.trace)-20):])
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (w *world) store() {
	w.disk = []byte(encode(stored{w.turn, w.queue}))
	for _, e := range w.queue {
		w.queued[e.ID] = true
	}
}

func (w *world) load() {
	var s stored
	if err := json.Unmarshal(w.disk, &s); err != nil {
		w.fail("%v", err)
	}
	w.turn, w.queue = s.Turn, s.Queue
}

// step passes e to the turn, and crashes after crash actions: -1 before it is
// stored, 1000 not at all.
func (w *world) step(e turn.Event, crash int) {
	w.trace = append(w.trace, fmt.Sprintf("%s %s, crash %d", e.Kind, e.ID, crash))
	made := w.made
	var other stored
	if err := json.Unmarshal([]byte(encode(stored{w.turn, w.queue})), &other); err != nil {
		w.fail("%v", err)
	}
	before := encode(stored{w.turn, w.queue})
	actions, err := w.turn.Step(&w.queue, w.rules, e)
	after := w.made
	w.made = made
	otherActions, _ := other.Turn.Step(&other.Queue, w.rules, e)
	w.made = after
	if encode(actions) != encode(otherActions) || encode(stored{w.turn, w.queue}) != encode(other) {
		w.fail("what was stored and read goes another way: %s and %s", encode(actions), encode(otherActions))
	}
	if err != nil && (len(actions) > 0 || before != encode(stored{w.turn, w.queue})) {
		w.fail("a refused event changed something")
	}
	if crash < 0 {
		w.recover(1000)
		return
	}
	w.store()
	for _, a := range actions {
		if a.Kind == turn.DoWrite {
			w.written = append(w.written, a.Node.ID)
		}
	}
	if !w.carryOut(actions, crash, false) {
		w.recover(crash / 2)
		return
	}
	w.turn.Unwritten = nil
	w.store()
	w.check()
}

// recover restarts from the disk, and crashes again after crash actions.
func (w *world) recover(crash int) {
	w.trace = append(w.trace, fmt.Sprintf("recover, crash %d", crash))
	clear(w.waits)
	w.load()
	actions := w.turn.Recover(&w.queue)
	w.store()
	if !w.carryOut(actions, crash, true) {
		w.recover(1000)
		return
	}
	w.turn.Unwritten = nil
	w.store()
	w.check()
	if w.turn.State != turn.Idle && w.turn.State != "" {
		w.fail("a recovered turn is not idle")
	}
	for _, e := range w.queue {
		if e.State != turn.Held {
			w.fail("after a restart %s is %s", e.ID, e.State)
		}
	}
}

// carryOut reports whether it completed all actions.
func (w *world) carryOut(actions []turn.Action, crash int, again bool) bool {
	for i, a := range actions {
		if i == crash {
			return false
		}
		switch a.Kind {
		case turn.DoWrite:
			w.write(*a.Node, again)
		case turn.DoAsk:
			w.ask(a)
		case turn.DoRun, turn.DoConfirm:
			w.waits[a.ID] = a.Kind
		case turn.DoStop:
			if w.waits[a.ID] == "" {
				w.fail("%s is stopped and was not begun", a.ID)
			}
			delete(w.waits, a.ID)
		}
	}
	return crash > len(actions)
}

func (w *world) write(n turn.Node, again bool) {
	if n.Parent == "" {
		n.Parent = w.head
	}
	if was, ok := w.nodes[n.ID]; ok {
		n.Parent = was.Parent
		if !again || encode(was) != encode(n) {
			w.fail("%s is written twice: %s and %s", n.ID, encode(was), encode(n))
		}
	} else if _, ok := w.nodes[n.Parent]; !ok && n.Parent != "" {
		w.fail("%s follows %s, which is not written", n.ID, n.Parent)
	}
	w.nodes[n.ID], w.head = n, n.ID
}

func (w *world) ask(a turn.Action) {
	w.waits[a.ID] = a.Kind
	var path []turn.Node
	for id := a.Leaf; id != ""; id = w.nodes[id].Parent {
		path = append(path, w.nodes[id])
	}
	slices.Reverse(path)
	if !slices.ContainsFunc(path, func(n turn.Node) bool { return n.ID == w.turn.Prompt && n.Kind == turn.KindUser }) {
		w.fail("the prompt %s is not written when the model is asked", w.turn.Prompt)
	}
	var all, whole []model.Message
	var open []string
	for _, n := range path {
		all = append(all, n.Message())
		if n.Partial {
			continue
		}
		whole = append(whole, n.Message())
		if n.Kind != turn.KindToolBoundary {
			if len(open) > 0 {
				w.fail("%s comes before the results of %q", n.ID, open)
			}
			for _, c := range n.Calls {
				open = append(open, c.ID)
			}
			continue
		}
		if len(open) == 0 || open[0] != n.CallID {
			w.fail("%s is a result of %s, open are %q", n.ID, n.CallID, open)
		}
		open = open[1:]
	}
	if len(open) > 0 {
		w.fail("the model is asked and %q have no results", open)
	}
	if whole[len(whole)-1].Role == "assistant" {
		w.fail("the model is asked to answer itself")
	}
	if got := turn.Context(all); encode(got) != encode(whole) {
		w.fail("the model is shown %s, want %s", encode(got), encode(whole))
	}
}

func (w *world) check() {
	w.endings[w.turn.Ended]++
	idle := w.turn.State == turn.Idle || w.turn.State == ""
	if idle != (len(w.waits) == 0) {
		w.fail("the state is %s, and it waits for %v", w.turn.State, w.waits)
	}
	if !idle && len(w.waits) != 1 && w.turn.State != turn.Confirming {
		w.fail("it waits for %v", w.waits)
	}
	for _, id := range w.written {
		if _, ok := w.nodes[id]; !ok {
			w.fail("%s is lost", id)
		}
	}
	w.written = nil
	places := map[string]int{}
	for _, e := range w.queue {
		places[e.ID]++
		if idle && e.State == turn.Waiting {
			w.fail("nothing runs, and %s waits", e.ID)
		}
	}
	for id := range w.queued {
		n := places[id]
		if w.dropped[id] {
			n++
		}
		if _, ok := w.nodes[id]; ok {
			n++
		}
		if n != 1 {
			w.fail("the entry %s is at %d places", id, n)
		}
	}
}

// walk interprets data as a sequence of events.
func (w *world) walk(data []byte) {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	var late []string // ids of finished messages
	for len(data) > 0 {
		var about string
		var kind turn.ActionKind
		for id, k := range w.waits {
			if about == "" || id == about || k == turn.DoConfirm {
				about, kind = id, k
			}
		}
		e := turn.Event{ID: about, Text: fmt.Sprintf("text %d", len(w.trace))}
		switch b := next(); b % 16 {
		case 0:
			e.Kind, e.ID = turn.OnPrompt, w.id()
		case 1, 2, 3:
			mode := []turn.DeliveryMode{turn.Steer, turn.Steer, turn.FollowUp}[b%16-1]
			w.queue.Add(turn.Entry{ID: w.id(), Mode: mode, Content: "the same", Cut: b%16 == 2})
			e.Kind = turn.OnQueue
		case 4:
			if next()%4 == 0 { // another program adds an entry without running the turn
				w.queue.Add(turn.Entry{ID: w.id(), Mode: turn.FollowUp})
				w.store()
				w.recover(1000)
			} else if len(w.queue) > 0 {
				id := w.queue[next()%len(w.queue)].ID
				w.queue.Drop(id)
				w.dropped[id] = true
				w.store()
			}
			continue
		case 5:
			w.queue.Resume()
			e.Kind = turn.OnQueue
		case 6:
			e.Kind = []turn.EventKind{turn.OnRetry, turn.OnAbort}[next()%2]
		case 7:
			if len(late) == 0 {
				continue
			}
			e.ID = late[next()%len(late)]
			e.Kind = []turn.EventKind{turn.OnText, turn.OnReply, turn.OnResult, turn.OnConfirm, turn.OnAnswer, turn.OnFailure}[next()%6]
			state := encode(w.turn)
			w.step(e, 1000)
			if encode(w.turn) != state {
				w.fail("%s of %s came too late and changed something", e.Kind, e.ID)
			}
			continue
		default:
			e.Kind = w.expected(&e, kind, next())
			if e.Kind == "" {
				continue
			}
			if e.Kind != turn.OnText {
				late = append(late, e.ID)
				delete(w.waits, e.ID)
			}
			if e.Kind == turn.OnConfirm || e.Kind == turn.OnAnswer {
				late = late[:len(late)-1]
			}
		}
		crash := 1000
		if b := next(); b%8 == 0 {
			crash = b/8%6 - 1
		}
		w.step(e, crash)
	}
}

// expected fills in an event for which the turn waits.
func (w *world) expected(e *turn.Event, kind turn.ActionKind, b int) turn.EventKind {
	switch kind {
	case turn.DoAsk:
		switch b % 8 {
		case 0:
			return turn.OnText
		case 1:
			e.Text = ""
			return turn.OnFailure
		case 2:
			e.Text = ""
			return turn.OnReply
		}
		for i := range b % 5 {
			e.Calls = append(e.Calls, model.Call{ID: fmt.Sprintf("call_%d", i), Name: "tool", Arguments: `{"a":"<"}`})
		}
		if b > 250 {
			e.Calls = append(e.Calls, e.Calls...)
		}
		return turn.OnReply
	case turn.DoRun:
		if b%4 == 0 {
			return turn.OnConfirm
		}
		e.Failed = b%4 == 1
		return turn.OnResult
	case turn.DoConfirm:
		e.Yes = b%2 == 0
		return turn.OnAnswer
	}
	return ""
}

// FuzzTurn: the invariants hold for any sequence of events and crashes.
func FuzzTurn(f *testing.F) {
	f.Add([]byte{0, 1, 8, 7, 1, 8, 2, 1, 1, 1, 8, 2, 1}, false)
	f.Add([]byte{0, 1, 8, 9, 1, 8, 4, 1, 1, 1, 8, 0, 1, 8, 3, 16}, true)
	f.Fuzz(func(t *testing.T, data []byte, finishBatch bool) {
		newWorld(t, finishBatch).walk(data)
	})
}

// TestTurnWalk runs random walks that are long enough to reach every ending.
func TestTurnWalk(t *testing.T) {
	seen := map[string]int{}
	for seed := range testsize.Of[uint64](6, 10, 30) {
		random := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, 600)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		w := newWorld(t, seed%2 == 0)
		w.walk(data)
		for _, n := range w.nodes {
			seen[string(n.Kind)]++
			seen[string(n.Mode)]++
			if n.SkippedBy != "" {
				seen["skipped"]++
				if by := w.nodes[n.SkippedBy]; by.Kind != turn.KindUser || by.Mode != turn.Steer {
					t.Errorf("%s is skipped by %s, which is not a steer", n.ID, n.SkippedBy)
				}
			}
			if n.Partial {
				seen["partial"]++
			}
		}
		for e, n := range w.endings {
			seen[string(e)] += n
		}
	}
	for _, what := range []string{"user", "assistant", "tool_boundary", "normal", "steer", "follow_up", "skipped", "partial",
		"finished", "failed", "aborted", "limited", "crashed"} {
		if seen[what] == 0 {
			t.Errorf("no walk reached %s: %v", what, seen)
		}
	}
}

func policy(finishBatch bool) turn.SteerPolicy {
	if finishBatch {
		return turn.FinishBatch
	}
	return turn.AfterCall
}
