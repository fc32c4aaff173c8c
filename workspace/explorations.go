package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/tidwall/gjson"
)

// Write replaces the file of an exploration, whose id must be a UUID. Package
// explore describes the content. Write is not logged and cannot be undone.
func (x Exploration) Write(ctx context.Context, data []byte) error {
	if !sessionid.IsUUID(x.id) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid exploration id %q", x.id)}
	}
	_, err := store.Update(ctx, x.w.patient().store, operation.Operation{Verb: "explore"}, func(tx *store.Tx) (store.Nothing, error) {
		if err := durable.MakeDir(tx.View.Root, store.ExplorationsDir); err != nil {
			return store.Nothing{}, err
		}
		_, err := tx.Batch.Replace(store.ExplorationsDir+"/"+x.id+".json", durable.Bytes(data))
		return store.Nothing{}, err
	})
	return err
}

// Read returns the file of the exploration.
func (x Exploration) Read(ctx context.Context) (data []byte, err error) {
	defer func() { err = store.Explained(err) }()
	id, err := x.w.ExplorationID(ctx, x.id)
	if err != nil {
		return nil, err
	}
	root, err := x.w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return durable.ReadFile(root, store.ExplorationsDir+"/"+id+".json")
}

// ExplorationID returns the id of an exploration. name is an id or a unique
// prefix of one.
func (w *Workspace) ExplorationID(ctx context.Context, name string) (string, error) {
	ids, err := w.Explorations(ctx)
	if err != nil {
		return "", err
	}
	kind := lookup.Kind[string]{
		What: "exploration", Next: fault.Do(fault.ListExplorations),
		Names:     func(id string) []lookup.Name { return []lookup.Name{{ID: id}} },
		Candidate: func(id string) fault.Candidate { return fault.Candidate{Kind: "exploration", Title: id} },
	}
	return kind.Find(name, ids)
}

// Explorations returns the ids of the explorations.
func (w *Workspace) Explorations(ctx context.Context) (ids []string, err error) {
	return w.store.Explorations(ctx)
}

// Hold acquires the lock for running an exploration. It is held until release
// is called or the process exits. If another process has it, the error has the
// code [fault.Busy].
func (x Exploration) Hold(ctx context.Context) (release func(), err error) {
	release, err = hold(ctx, x.w.store, store.ExplorationLocks, x.id, "explore")
	var held *writelock.HeldError
	if errors.As(err, &held) {
		e := &fault.Error{
			Code: fault.Busy, Message: "the exploration " + x.id + " is running in another process",
			Next: fault.Do(fault.WatchExploration, x.id), Err: held,
		}
		if held.Holder.PID != 0 {
			e.Message += fmt.Sprintf(" (process %d, since %s)", held.Holder.PID, held.Holder.Since.Format(time.TimeOnly))
		}
		return nil, e
	}
	return release, err
}

// Conversation returns the path to leaf, a message of a session, as it is sent
// to a model.
func (w *Workspace) Conversation(ctx context.Context, name, leaf string) ([]model.Message, error) {
	path, err := w.conversation(ctx, name, leaf)
	return turn.Context(path), err
}

// An Outcome is an assistant's message that reports a result, with its source
// in the member From of metadata.bough.
type Outcome struct {
	ID              string // a UUID
	Session, Parent string // where to add it
	Text            string
	From            string // name of the member
	Origin          any    // value of the member, encoded as JSON
}

// AddOutcome adds an outcome to a conversation unless it has a message with
// that ID. The head does not move.
func (w *Workspace) AddOutcome(ctx context.Context, o Outcome) error {
	if !sessionid.IsUUID(o.ID) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid message id %q", o.ID)}
	}
	origin, err := json.Marshal(o.Origin)
	if err != nil {
		return err
	}
	text, err := json.Marshal(o.Text)
	if err != nil {
		return err
	}
	c := lines.Content{Role: "assistant", Value: text, Own: []lines.Member{{Name: o.From, Value: origin}}}
	op := operation.Operation{Verb: "append", Args: store.Args{"session": o.Session, "role": c.Role, "message": o.ID}}
	_, err = store.Update(ctx, w.patient().store, op, func(tx *store.Tx) (store.Nothing, error) {
		p, err := storePlace(tx.View, o.Session, o.Parent)
		if err != nil || len(p.Find(o.ID)) > 0 {
			return store.Nothing{}, err
		}
		m, err := storeMessage(tx.View, p, lines.Message{Content: func(func() ([]lines.Node, error)) (lines.Content, error) { return c, nil }})
		if err != nil {
			return store.Nothing{}, err
		}
		m.ID = o.ID
		tx.Op.Args["session"] = p.SessionID()
		head := headOf(tx.View, p.Line)
		if _, err := tx.AppendTo(p, m); err != nil || head < 0 {
			return store.Nothing{}, err
		}
		_, err = tx.MoveHead(p.Parts[p.Part(head)].ID, p.ID(head), m.ID)
		return store.Nothing{}, err
	})
	return err
}

// decisions returns the adopted results of an agent, from the files of
// explorations.
func decisions(v *store.View, name string) ([]agents.Decision, error) {
	ids, err := v.Store.Explorations(v.Ctx)
	if err != nil {
		return nil, err
	}
	type dated struct {
		agents.Decision
		at string
	}
	var list []dated
	for _, id := range ids {
		data, err := durable.ReadFile(v.Root, store.ExplorationsDir+"/"+id+".json")
		if err != nil {
			continue // removed meanwhile
		}
		e := gjson.ParseBytes(data)
		if node := e.Get("adopted_node_id"); e.Get("agent").Str == name && node.Str != "" {
			d := dated{agents.Decision{Exploration: id, Question: e.Get("question").Str, Strategies: []string{}, Node: node.Str}, e.Get("created_at").Str}
			for _, s := range e.Get("branches.#.strategy").Array() {
				d.Strategies = append(d.Strategies, s.Str)
			}
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b dated) int { return cmp.Compare(a.at, b.at) })
	var decisions []agents.Decision
	for _, d := range list {
		decisions = append(decisions, d.Decision)
	}
	return decisions, nil
}
