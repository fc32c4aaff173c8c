// Package turnwalk runs random turns, for tests of models: it produces any request
// that an agent may make. Only tests import it.
package turnwalk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
)

// Walk feeds an agent a number of random events and calls ask with each request to
// a model. The walk depends on the seed only.
func Walk(seed uint64, events int, ask func(*model.Request)) {
	w := &walk{random: rand.New(rand.NewPCG(seed, 11)), nodes: map[string]turn.Node{}, ask: ask}
	w.rules = turn.Rules{NewID: w.id, MaxAsks: 4, Policy: []turn.SteerPolicy{turn.AfterCall, turn.FinishBatch}[seed%2]}
	for range events {
		w.step()
	}
}

type walk struct {
	random *rand.Rand
	turn   turn.Turn
	queue  turn.Queue
	rules  turn.Rules
	nodes  map[string]turn.Node
	head   string
	made   int
	ask    func(*model.Request)

	waits turn.ActionKind // the last action that is in progress, "" for none
	about string          // the message that will have its result
}

func (w *walk) id() string {
	w.made++
	return fmt.Sprintf("id%d", w.made)
}

func (w *walk) one(list ...string) string { return list[w.random.IntN(len(list))] }

// step has something happen.
func (w *walk) step() {
	e := turn.Event{ID: w.about}
	switch n := w.random.IntN(20); {
	case n == 0:
		e.Kind = turn.OnAbort
	case n == 1:
		w.carryOut(w.turn.Recover(&w.queue)) // the program is another now
		w.turn.Unwritten = nil
		w.waits = ""
		return
	case n == 2:
		e.Kind, e.ID = turn.OnRetry, ""
	case n <= 5:
		mode := []turn.DeliveryMode{turn.Steer, turn.Steer, turn.FollowUp}[w.random.IntN(3)]
		w.queue.Add(turn.Entry{ID: w.id(), Mode: mode, Content: w.one("Stop.", "And then?", " \n"), Cut: n == 4})
		w.queue.Resume()
		e.Kind = turn.OnQueue
	case w.waits == "":
		e = turn.Event{Kind: turn.OnPrompt, ID: w.id(), Text: w.one("Hello", "größer ✓\n", "1 < 2", "")}
	case w.waits == turn.DoAsk:
		w.answer(&e)
	case w.waits == turn.DoRun && n < 8:
		e.Kind = turn.OnConfirm
	case w.waits == turn.DoRun:
		e.Kind, e.Text, e.Failed = turn.OnResult, w.one("a.txt\n", "", " ", `{"a":1}`), n%3 == 0
	default:
		e.Kind, e.Yes = turn.OnAnswer, n%2 == 0
	}
	actions, err := w.turn.Step(&w.queue, w.rules, e)
	if err != nil {
		return
	}
	if w.waits != "" && e.ID == w.about && e.Kind != turn.OnText {
		w.waits = ""
	}
	w.carryOut(actions)
	w.turn.Unwritten = nil
}

// answer turns the model's reply into an event.
func (w *walk) answer(e *turn.Event) {
	switch w.random.IntN(8) {
	case 0:
		e.Kind, e.Text = turn.OnText, "So"
		return
	case 1:
		e.Kind, e.Text = turn.OnFailure, "the line broke"
		return
	}
	e.Kind, e.Text = turn.OnReply, w.one("Done.", "Let me look.", "", " \n", "Yes.  \n")
	for i := range w.random.IntN(5) {
		e.Calls = append(e.Calls, model.Call{
			ID:        fmt.Sprintf(w.one("call_%d", "functions.ls:%d", strings.Repeat("x", 50)+"%d", "toolu_%d"), i),
			Name:      w.one("ls", "files.read", "größe", strings.Repeat("long_", 30)),
			Arguments: w.one(`{"path":"/"}`, "{}", "", `{"path":`, `[1]`, "so"),
		})
	}
}

func (w *walk) carryOut(actions []turn.Action) {
	for _, a := range actions {
		switch a.Kind {
		case turn.DoWrite:
			n := *a.Node
			if n.Parent == "" {
				n.Parent = w.head
			}
			w.nodes[n.ID], w.head = n, n.ID
		case turn.DoAsk:
			w.waits, w.about = a.Kind, a.ID
			w.ask(&model.Request{Agent: "anna", ModelID: "m", System: "Be brief.", Messages: turn.Context(w.path(a.Leaf))})
		case turn.DoRun, turn.DoConfirm:
			w.waits, w.about = a.Kind, a.ID
		case turn.DoStop:
			w.waits = ""
		}
	}
}

// path returns the messages up to a leaf.
func (w *walk) path(leaf string) []model.Message {
	var path []model.Message
	for id := leaf; id != ""; id = w.nodes[id].Parent {
		n := w.nodes[id]
		path = append(path, n.Message())
	}
	slices.Reverse(path)
	return path
}
