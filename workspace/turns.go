package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// patient returns w with a longer timeout for the lock, because a turn may run
// for long and must not fail because of a short delay.
func (w *Workspace) patient() *Workspace { return &Workspace{w.store.Patient()} }

// lockTurn acquires the lock for turns of an agent.
func (w *Workspace) lockTurn(ctx context.Context, name string) (unlock func(), err error) {
	unlock, err = hold(ctx, w.store, store.TurnsDir, name, "agent chat")
	var held *writelock.HeldError
	if errors.As(err, &held) {
		return nil, store.Working(name, held)
	}
	return unlock, err
}

// hold acquires the lock in the folder name below dir.
func hold(ctx context.Context, w *store.Store, dir, name, verb string) (unlock func(), err error) {
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := store.MakeLock(root, dir+"/"+name); err != nil {
		return nil, err
	}
	holder := writelock.Holder{PID: os.Getpid(), Verb: verb, Since: w.Opts.Now()}
	return writelock.Lock(ctx, root, dir+"/"+name, holder, 0)
}

// settle ends an interrupted turn of an agent, writes its remaining messages,
// and holds the queue. own reports whether the caller has the lock of the
// agent's turns; otherwise settle changes nothing while another process has it.
func (w *Workspace) settle(ctx context.Context, name string, own bool) error {
	for done := false; !done; {
		a, err := w.Agent(name).Info(ctx)
		if err != nil || !own && store.Settled(a.Agent) {
			return err
		}
		done, err = updateAgent(ctx, w.store, operation.Operation{Verb: "append"}, a.Name, func(tx *store.Tx, a *agents.Agent) (done bool, err error) {
			if !own && tx.View.Works(a.Name) {
				return true, nil
			}
			err = settleOne(tx, a)
			return store.Settled(a.Agent), err
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
	if err != nil && store.Explain(err).Code == fault.Damaged {
		w.store.Opts.Note("an interrupted turn of " + name + " was not completed: " + err.Error())
		return nil
	}
	return err
}

// settleOne stages the end of an interrupted turn and one of its remaining
// messages. Messages whose place no longer exists are dropped, except those of
// the queue, which stay there.
func settleOne(tx *store.Tx, a *agents.Agent) error {
	acts := a.Turn.Recover(&a.Queue)
	if len(a.Turn.Unwritten) > 0 {
		n := a.Turn.Unwritten[0]
		a.Turn.Unwritten = a.Turn.Unwritten[1:]
		err := writeNode(tx, a, &n)
		tx.Op.Args["message"], tx.Op.Args["role"] = n.ID, n.Message().Role
		switch e := store.Explain(err); {
		case err == nil:
			a.Queue.Drop(n.ID)
		case e.Code == fault.NotFound:
			tx.View.Store.Opts.Note(fmt.Sprintf("the remaining messages of a turn of %s are dropped: %s", a.Name, e.Message))
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
	if len(tx.Op.Changes) == 0 { // no message was written
		tx.Op.Verb, tx.Op.Auto = "agent chat", true
		delete(tx.Op.Args, "message")
	}
	for _, act := range acts {
		if act.Kind == turn.DoEmit {
			tx.Op.Args["chat"] = []turnEvent{{Type: events.MessageAdded}, {Type: events.Type(act.Event), Message: act.ID, Ended: turn.Ending(act.Text)}}
		}
	}
	_, err := tx.PutAgent(a.Agent, a.File)
	return err
}

// recoverTurn marks an interrupted turn as ended in a reader's copy of the agent.
func recoverTurn(v *store.View, a *agents.Agent) {
	if !v.Works(a.Name) {
		a.Turn.Recover(&a.Queue)
	}
}

// messageOf returns the message for a node of a turn.
func messageOf(n *turn.Node) *store.Message {
	said := n.Message()
	m := &store.Message{ID: said.ID, Role: said.Role, Content: said.Content}
	root := rawjson.Root(said.Metadata)
	members, _ := rawjson.Members(said.Metadata, root)
	for _, member := range members {
		value := member.Value.Of(said.Metadata)
		if member.Key != "bough" {
			m.Metadata = append(m.Metadata, rawjson.Pair{Key: member.Key, Value: rawjson.Layout(value, 4)})
			continue
		}
		own, _ := rawjson.Members(said.Metadata, member.Value)
		for _, o := range own {
			m.Own = append(m.Own, rawjson.Pair{Key: o.Key, Value: o.Value.Of(said.Metadata)})
		}
	}
	return m
}

// writeNode stages a message of a turn, unless it exists, and moves the head of
// its agent to it.
func writeNode(tx *store.Tx, a *agents.Agent, n *turn.Node) error {
	l, err := tx.View.TreeLine(a.Head.Tree, false)
	if err != nil {
		return err
	}
	if len(l.Find(n.ID)) == 0 {
		p := &store.Place{Line: l, Node: -1}
		if parent := cmp.Or(n.Parent, a.Head.Node); parent != "" {
			nodes := l.Find(parent)
			if len(nodes) != 1 {
				return store.NoSuch("message", parent)
			}
			p.Node = nodes[0]
		}
		if _, err := tx.AppendTo(p, messageOf(n)); err != nil {
			return err
		}
	}
	a.Move(a.Head.Tree, n.ID)
	return nil
}

// writeBeside stages a message of a turn as a sibling of another one of a tree of its agent, and
// moves the head to it.
func writeBeside(tx *store.Tx, a *agents.Agent, other string, n *turn.Node) error {
	tree, p, err := placeOf(tx.View, a, other, false)
	if err != nil {
		return err
	}
	p.Node = p.Parent(p.Node)
	a.Move(tree, p.MessageID())
	return writeNode(tx, a, n)
}

// treeWith stages a new tree for an agent that begins with a message, and moves
// the head there.
func treeWith(tx *store.Tx, a *agents.Agent, name string, m *store.Message) error {
	id, err := tx.View.NewID()
	if err != nil {
		return err
	}
	if err := addTree(tx.View, a.Agent, name, id, m.ID); err != nil {
		return err
	}
	tx.LogAddition(m, store.Addition{})
	dialect := tx.View.Index.Dialect()
	now := dialect.Time(tx.View.Now(nil))
	return tx.Create(&session.Document{
		ID: id, CreatedAt: now, LastActive: now,
		Metadata: store.NewMetadata(dialect, name, 1),
		Messages: []session.Run{{Raw: m.Encode(now)}},
	})
}

// branchPlace returns the place at which a new tree of an agent branches.
func branchPlace(v *store.View, a *agents.Agent, node string, o checkpoint.CutOptions) (*store.Place, checkpoint.Adjustment, error) {
	_, p, err := placeOf(v, a, node, o.Partial)
	if e := store.Explain(err); e != nil && (e.Code == fault.NotFound || e.Code == fault.Refused) && strings.ContainsAny(node, "@/") {
		p, err = v.Place(node, o.Partial)
	}
	if err != nil {
		return nil, checkpoint.Adjustment{}, err
	}
	cut, err := p.Cut(o)
	return p, cut, err
}

// branchWith stages a new tree for an agent, a copy of the path to p followed
// by a message, and moves the head there.
func branchWith(tx *store.Tx, a *agents.Agent, p *store.Place, name string, m *store.Message) error {
	if err := checkTreeName(a.Agent, name); err != nil {
		return err
	}
	id, err := tx.AppendFork(p, m, name)
	if err != nil {
		return err
	}
	return addTree(tx.View, a.Agent, name, id, m.ID)
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
