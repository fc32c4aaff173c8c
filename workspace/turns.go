package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// turnsDir has a folder for each agent, with the lock of its turns.
const turnsDir = stateDir + "/agents"

func turnDir(name string) string { return turnsDir + "/" + name }

// patient returns w with a longer timeout for the lock, because a turn may run
// for long and must not fail because of a short delay.
func (w *Workspace) patient() *Workspace { return &Workspace{w.store.patient()} }

// lockTurn acquires the lock for turns of an agent.
func (w *Workspace) lockTurn(ctx context.Context, name string) (unlock func(), err error) {
	unlock, err = w.store.hold(ctx, turnsDir, name, "agent chat")
	var held *writelock.HeldError
	if errors.As(err, &held) {
		return nil, working(name, held)
	}
	return unlock, err
}

// hold acquires the lock in the folder name below dir.
func (w *base) hold(ctx context.Context, dir, name, verb string) (unlock func(), err error) {
	root, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := makeLock(root, dir+"/"+name); err != nil {
		return nil, err
	}
	holder := writelock.Holder{PID: os.Getpid(), Verb: verb, Since: w.opts.Now()}
	return writelock.Lock(ctx, root, dir+"/"+name, holder, 0)
}

// working returns the error for an action that must wait until the agent is
// idle.
func working(name string, held *writelock.HeldError) error {
	e := &fault.Error{
		Code:    fault.Busy,
		Message: name + " is already running a turn",
		Next:    fault.Do(fault.SpeakMeanwhile, name),
		Err:     held,
	}
	if held != nil && held.Holder.PID != 0 {
		e.Message = fmt.Sprintf("%s (process %d, since %s)", e.Message, held.Holder.PID, held.Holder.Since.Format(time.TimeOnly))
	}
	return e
}

// works reports whether the agent runs a turn.
func (v *View) works(name string) bool { return writelock.Held(v.root, turnDir(name)) }

// settle ends an interrupted turn of an agent, writes its remaining messages,
// and holds the queue. own reports whether the caller has the lock of the
// agent's turns; otherwise settle changes nothing while another process has it.
func (w *Workspace) settle(ctx context.Context, name string, own bool) error {
	for done := false; !done; {
		a, err := w.Agent(name).Info(ctx)
		if err != nil || !own && settled(a.Agent) {
			return err
		}
		done, err = updateAgent(ctx, w.store, operation.Operation{Verb: "append"}, a.Name, func(tx *Tx, a *agents.Agent) (done bool, err error) {
			if !own && tx.View.works(a.Name) {
				return true, nil
			}
			err = tx.settleOne(a)
			return settled(a.Agent), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settleIdle settles an agent unless a process runs its turn. If the tree of
// the agent is damaged, the turn stays as it is, with a note.
func (w *Workspace) settleIdle(ctx context.Context, name string) error {
	err := w.settle(ctx, name, false)
	if err != nil && explanation(err).Code == fault.Damaged {
		w.store.opts.Note("an interrupted turn of " + name + " was not completed: " + err.Error())
		return nil
	}
	return err
}

// settled reports whether nothing remains to be done for an ended turn.
func settled(a *agent.Agent) bool {
	return (a.Turn.State == turn.Idle || a.Turn.State == "") && len(a.Turn.Unwritten) == 0
}

// settleOne stages the end of an interrupted turn and one of its remaining
// messages. Messages whose place no longer exists are dropped, except those of
// the queue, which stay there.
func (tx *Tx) settleOne(a *agents.Agent) error {
	acts := a.Turn.Recover(&a.Queue)
	if len(a.Turn.Unwritten) > 0 {
		n := a.Turn.Unwritten[0]
		a.Turn.Unwritten = a.Turn.Unwritten[1:]
		err := writeNode(tx, a, &n)
		tx.op.Args["message"], tx.op.Args["role"] = n.ID, n.Message().Role
		switch e := explanation(err); {
		case err == nil:
			a.Queue.Drop(n.ID)
		case e.Code == fault.NotFound:
			tx.View.store.opts.Note(fmt.Sprintf("the remaining messages of a turn of %s are dropped: %s", a.Name, e.Message))
			a.Turn.Unwritten = nil
		default:
			return err
		}
	}
	if len(a.Turn.Unwritten) == 0 {
		a.Turn.Unwritten = nil
	}
	if bytes.Equal(a.Encode(), a.File) {
		return nil
	}
	if len(tx.op.Changes) == 0 { // no message was written
		tx.op.Verb, tx.op.Auto = "agent chat", true
		delete(tx.op.Args, "message")
	}
	for _, act := range acts {
		if act.Kind == turn.DoEmit {
			tx.op.Args["chat"] = []turnEvent{{Type: events.MessageAdded}, {Type: events.Type(act.Event), Message: act.ID, Ended: turn.Ending(act.Text)}}
		}
	}
	_, err := tx.putAgent(a.Agent, a.File)
	return err
}

// recoverTurn marks an interrupted turn as ended in a reader's copy of the agent.
func (v *View) recoverTurn(a *agents.Agent) {
	if !v.works(a.Name) {
		a.Turn.Recover(&a.Queue)
	}
}

// messageOf returns the message for a node of a turn.
func messageOf(n *turn.Node) *message {
	said := n.Message()
	m := &message{id: said.ID, role: said.Role, content: said.Content}
	root := rawjson.Root(said.Metadata)
	members, _ := rawjson.Members(said.Metadata, root)
	for _, member := range members {
		value := member.Value.Of(said.Metadata)
		if member.Key != "bough" {
			m.metadata = append(m.metadata, rawjson.Pair{Key: member.Key, Value: rawjson.Layout(value, 4)})
			continue
		}
		own, _ := rawjson.Members(said.Metadata, member.Value)
		for _, o := range own {
			m.own = append(m.own, rawjson.Pair{Key: o.Key, Value: o.Value.Of(said.Metadata)})
		}
	}
	return m
}

// writeNode stages a message of a turn, unless it exists, and moves the head of
// its agent to it.
func writeNode(tx *Tx, a *agents.Agent, n *turn.Node) error {
	l, err := tx.View.treeLine(a.Head.Tree, false)
	if err != nil {
		return err
	}
	if len(l.Find(n.ID)) == 0 {
		p := &place{line: l, node: -1}
		if parent := cmp.Or(n.Parent, a.Head.Node); parent != "" {
			nodes := l.Find(parent)
			if len(nodes) != 1 {
				return notFound("message", parent)
			}
			p.node = nodes[0]
		}
		if _, err := tx.appendTo(p, messageOf(n)); err != nil {
			return err
		}
	}
	a.Move(a.Head.Tree, n.ID)
	return nil
}

// treeWith stages a new tree for an agent that begins with a message, and moves
// the head there.
func (tx *Tx) treeWith(a *agents.Agent, name string, m *message) error {
	id, err := tx.View.newID()
	if err != nil {
		return err
	}
	if err := tx.View.addTree(a.Agent, name, id, m.id); err != nil {
		return err
	}
	tx.logAddition(m, addition{})
	dialect := tx.View.index.Dialect()
	now := dialect.Time(tx.View.now(nil))
	return tx.create(&session.Document{
		ID: id, CreatedAt: now, LastActive: now,
		Metadata: newMetadata(dialect, name, 1),
		Messages: []session.Run{{Raw: m.encode(now)}},
	})
}

// branchPlace returns the place at which a new tree of an agent branches.
func (v *View) branchPlace(a *agents.Agent, node string, o checkpoint.CutOptions) (*place, checkpoint.Adjustment, error) {
	_, p, err := v.placeOf(a, node, o.Partial)
	if e := explanation(err); e != nil && (e.Code == fault.NotFound || e.Code == fault.Refused) && strings.ContainsAny(node, "@/") {
		p, err = v.place(node, o.Partial)
	}
	if err != nil {
		return nil, checkpoint.Adjustment{}, err
	}
	cut, err := p.cut(o)
	return p, cut, err
}

// branchWith stages a new tree for an agent, a copy of the path to p followed
// by a message, and moves the head there.
func (tx *Tx) branchWith(a *agents.Agent, p *place, name string, m *message) error {
	if err := checkTreeName(a.Agent, name); err != nil {
		return err
	}
	id, err := tx.appendFork(p, m, name)
	if err != nil {
		return err
	}
	return tx.View.addTree(a.Agent, name, id, m.id)
}

// conversation returns the path to a message of a tree as messages for a model.
func (w *Workspace) conversation(ctx context.Context, tree, leaf string) ([]model.Message, error) {
	p, err := w.Line(tree).Path(ctx, leaf, session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	list := make([]model.Message, len(p.Nodes))
	for i, n := range p.Nodes {
		list[i].ID = n.ID
		gjson.ParseBytes(n.Raw).ForEach(func(key, value gjson.Result) bool {
			switch key.Str {
			case "role":
				list[i].Role = value.Str
			case "content":
				list[i].Content = []byte(value.Raw)
			case "metadata":
				list[i].Metadata = []byte(value.Raw)
			}
			return true
		})
	}
	return list, nil
}

// lastWhole returns the last complete message, from which an agent can
// continue.
func (w *Workspace) lastWhole(ctx context.Context, name string) (string, error) {
	a, err := w.Agent(name).Info(ctx)
	if err != nil || a.Turn.Last == "" || a.Turn.Last != a.Head.Node { // there is no such message, or the caller refuses
		return "", err
	}
	path, err := w.conversation(ctx, a.Head.Tree, a.Turn.Last)
	if err != nil {
		return "", err
	}
	for len(path) > 1 && gjson.GetBytes(path[len(path)-1].Metadata, "bough.partial").Bool() {
		path = path[:len(path)-1]
	}
	return path[len(path)-1].ID, nil
}
