package store

import (
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/tidwall/gjson"
)

// The names of arguments that events need beyond the changes of files.
const (
	ArgAdded    = "addition" // an [addition]
	ArgMessages = "messages" // a list of [AddedMessage]
	argQueue    = "queue"    // a list of [queueChange]
)

// ArgLine is an argument of an operation that received changes of one line only, links to it
// included: the id of its first file.
const ArgLine = "line"

// An Addition has the fields that the event of an added message needs.
type Addition struct {
	Parent session.ID        `json:"parent_id"`
	Kind   turn.Kind         `json:"kind"`
	Mode   turn.DeliveryMode `json:"delivery_mode"`
	Branch bool              `json:"branch,omitempty"` // the parent already had a child
	Copy   bool              `json:"copy,omitempty"`   // the message is in a new session with a copy of the path to its parent
}

// LogAddition adds to the log entry the fields of a that the event for m needs.
func (tx *Tx) LogAddition(m *Message, a Addition) {
	a.Kind, a.Mode = m.kind(), turn.Normal
	for _, p := range m.Metadata {
		if p.Key == "delivery_mode" {
			a.Mode = turn.DeliveryMode(gjson.ParseBytes(p.Value).String())
		}
	}
	tx.Op.Args[ArgAdded] = a
}

// LogMessage adds to the log entry what the event for an added message needs. branch
// reports that its parent already had a child.
func (tx *Tx) LogMessage(in, parent string, raw []byte, branch bool) {
	v := gjson.GetManyBytes(raw, "id", "role")
	list, _ := tx.Op.Args[ArgMessages].([]AddedMessage)
	tx.Op.Args[ArgMessages] = append(list, AddedMessage{in, v[0].String(), v[1].String(), Addition{
		Parent: session.ID(parent), Kind: turn.KindOf(v[1].Str), Mode: turn.Normal, Branch: branch,
	}})
}

// branchesAt reports whether a message below p begins an in-place branch.
func (p *Place) branchesAt() bool { return p.Node >= 0 && !p.IsLeaf(p.Node) }

// A queueChange is what happened to a message that is queued for an agent.
type queueChange struct {
	Message string            `json:"message_id"`
	Mode    turn.DeliveryMode `json:"delivery_mode"`
	State   events.QueueState `json:"state"`
}

// queueChanges returns the differences between two states of an agent's queues, in the
// order of the queues.
func queueChanges(was turn.Queue, is *agent.Agent) (list []queueChange) {
	find := func(q turn.Queue, id string) int {
		return slices.IndexFunc(q, func(e turn.Entry) bool { return e.ID == id })
	}
	for _, e := range was {
		if find(is.Queue, e.ID) >= 0 {
			continue
		}
		state := events.QueueDropped
		if is.Turn.Prompt == e.ID {
			state = events.QueueDelivered
		}
		list = append(list, queueChange{e.ID, e.Mode, state})
	}
	for _, e := range is.Queue {
		if at := find(was, e.ID); at < 0 || was[at].State != e.State {
			list = append(list, queueChange{e.ID, e.Mode, events.QueueState(e.State)})
		}
	}
	return list
}

// logQueue adds to the log entry how the queue of a differs from the one in
// was, the previous content of its file.
func (tx *Tx) logQueue(a *agent.Agent, was []byte) {
	delete(tx.Op.Args, argQueue)
	before, err := agent.Decode(a.Name, was)
	if err != nil { // there was no queue
		return
	}
	if list := queueChanges(before.Queue, a); len(list) > 0 {
		tx.Op.Args[argQueue] = list
	}
}

// Argument returns an argument of an operation, and reports whether there is
// one. It decodes an argument that was read from the log.
func Argument[T any](o *operation.Operation, name string) (v T, ok bool) {
	given, ok := o.Args[name]
	if !ok {
		return v, false
	}
	data, err := json.Marshal(given)
	return v, err == nil && json.Unmarshal(data, &v) == nil
}

// Events returns the events of an added message: e with the fields of a,
// preceded by the event for the new branch if the message begins one.
func (a Addition) Events(e events.Event) []events.Event {
	e.Parent, e.Kind, e.Mode = a.Parent, a.Kind, a.Mode
	if !a.Branch {
		return []events.Event{e}
	}
	branch := e
	branch.Type, branch.Role, branch.Kind, branch.Mode = events.BranchCreated, "", "", ""
	return []events.Event{branch, e}
}

// QueueEvents returns the events for the changes of an agent's queue by an
// operation.
func QueueEvents(o *operation.Operation) (list []events.Event) {
	changes, _ := Argument[[]queueChange](o, argQueue)
	name, _ := o.Args["agent"].(string)
	tree := session.ID("")
	if len(o.Sessions) > 0 {
		tree = session.ID(o.Sessions[0])
	}
	for _, c := range changes {
		list = append(list, events.Event{
			Seq: o.Seq, Time: TimeOf(o.Time), Type: events.QueueChanged, Session: tree, Message: session.ID(c.Message),
			Agent: name, Mode: c.Mode, State: c.State, Verb: o.Verb,
		})
	}
	return list
}

// additionsIn returns the additions for messages of a session that another program added,
// in their order.
func (v *View) additionsIn(id string, messages []session.Message) []Addition {
	list := make([]Addition, len(messages))
	l, err := v.Line(id, true)
	var children [][]int
	if err == nil {
		children = l.Children()
	}
	for i, m := range messages {
		said := gjson.GetBytes(m.Raw, "metadata")
		list[i] = Addition{Kind: turn.Kind(said.Get("kind").Str), Mode: turn.DeliveryMode(said.Get("delivery_mode").Str)}
		if list[i].Kind == "" {
			list[i].Kind = turn.KindOf(m.Role())
		}
		if list[i].Mode == "" {
			list[i].Mode = turn.Normal
		}
		if err != nil {
			continue
		}
		nodes := l.Find(m.ID)
		if len(nodes) != 1 {
			continue
		}
		if parent := l.Parent(nodes[0]); parent >= 0 {
			list[i].Parent, list[i].Branch = session.ID(l.ID(parent)), children[parent][0] != nodes[0]
		}
	}
	return list
}

// A Replacement is an open message that was completed, in the form of the log.
type Replacement struct {
	Session string `json:"session_id"`
	Message string `json:"message_id"`
	By      string `json:"by"`
}
