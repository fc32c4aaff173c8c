// Package turnwalk runs random turns, for tests of models: it produces any request
// that an agent may make. Only tests import it.
package turnwalk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
)

// Walk feeds an agent a number of random events and calls ask with each request to
// a model. The walk depends on the seed only.
func Walk(seed uint64, events int, ask func(*agent.Request)) {
	w := &walk{random: rand.New(rand.NewPCG(seed, 11)), nodes: map[string]agent.Node{}, ask: ask}
	w.rules = agent.Rules{NewID: w.id, MaxAsks: 4, Policy: []agent.SteerPolicy{agent.AfterCall, agent.FinishBatch}[seed%2]}
	for range events {
		w.step()
	}
}

type walk struct {
	random *rand.Rand
	turn   agent.Turn
	queue  agent.Queue
	rules  agent.Rules
	nodes  map[string]agent.Node
	head   string
	made   int
	ask    func(*agent.Request)

	waits agent.ActionKind // the last action that is in progress, "" for none
	about string           // the message that will have its result
}

func (w *walk) id() string {
	w.made++
	return fmt.Sprintf("id%d", w.made)
}

func (w *walk) one(list ...string) string { return list[w.random.IntN(len(list))] }

// step has something happen.
func (w *walk) step() {
	e := agent.Event{ID: w.about}
	switch n := w.random.IntN(20); {
	case n == 0:
		e.Kind = agent.OnAbort
	case n == 1:
		w.carryOut(w.turn.Recover(&w.queue)) // the program is another now
		w.turn.Unwritten = nil
		w.waits = ""
		return
	case n == 2:
		e.Kind, e.ID = agent.OnRetry, ""
	case n <= 5:
		mode := []agent.DeliveryMode{agent.Steer, agent.Steer, agent.FollowUp}[w.random.IntN(3)]
		w.queue.Add(agent.Entry{ID: w.id(), Mode: mode, Content: w.one("Stop.", "And then?", " \n"), Cut: n == 4})
		w.queue.Resume()
		e.Kind = agent.OnQueue
	case w.waits == "":
		e = agent.Event{Kind: agent.OnPrompt, ID: w.id(), Text: w.one("Hello", "größer ✓\n", "1 < 2", "")}
	case w.waits == agent.DoAsk:
		w.answer(&e)
	case w.waits == agent.DoRun && n < 8:
		e.Kind = agent.OnConfirm
	case w.waits == agent.DoRun:
		e.Kind, e.Text, e.Failed = agent.OnResult, w.one("a.txt\n", "", " ", `{"a":1}`), n%3 == 0
	default:
		e.Kind, e.Yes = agent.OnAnswer, n%2 == 0
	}
	actions, err := w.turn.Step(&w.queue, w.rules, e)
	if err != nil {
		return
	}
	if w.waits != "" && e.ID == w.about && e.Kind != agent.OnText {
		w.waits = ""
	}
	w.carryOut(actions)
	w.turn.Unwritten = nil
}

// answer turns the model's reply into an event.
func (w *walk) answer(e *agent.Event) {
	switch w.random.IntN(8) {
	case 0:
		e.Kind, e.Text = agent.OnText, "So"
		return
	case 1:
		e.Kind, e.Text = agent.OnFailure, "the line broke"
		return
	}
	e.Kind, e.Text = agent.OnReply, w.one("Done.", "Let me look.", "", " \n", "Yes.  \n")
	for i := range w.random.IntN(5) {
		e.Calls = append(e.Calls, agent.Call{
			ID:        fmt.Sprintf(w.one("call_%d", "functions.ls:%d", strings.Repeat("x", 50)+"%d", "toolu_%d"), i),
			Name:      w.one("ls", "files.read", "größe", strings.Repeat("long_", 30)),
			Arguments: w.one(`{"path":"/"}`, "{}", "", `{"path":`, `[1]`, "so"),
		})
	}
}

func (w *walk) carryOut(actions []agent.Action) {
	for _, a := range actions {
		switch a.Kind {
		case agent.DoWrite:
			n := *a.Node
			if n.Parent == "" {
				n.Parent = w.head
			}
			w.nodes[n.ID], w.head = n, n.ID
		case agent.DoAsk:
			w.waits, w.about = a.Kind, a.ID
			w.ask(&agent.Request{Agent: "anna", ModelID: "m", System: "Be brief.", Messages: agent.Context(w.path(a.Leaf))})
		case agent.DoRun, agent.DoConfirm:
			w.waits, w.about = a.Kind, a.ID
		case agent.DoStop:
			w.waits = ""
		}
	}
}

// path returns the messages up to a leaf.
func (w *walk) path(leaf string) []agent.Message {
	var path []agent.Message
	for id := leaf; id != ""; id = w.nodes[id].Parent {
		n := w.nodes[id]
		path = append(path, n.Message())
	}
	slices.Reverse(path)
	return path
}
