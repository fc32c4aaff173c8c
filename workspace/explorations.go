package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
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
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/tidwall/gjson"
)

// explorationsDir has a file for each exploration.
const explorationsDir = "explorations"

// explorationSettings has the settings of explorations only.
const explorationSettings = explorationsDir + "/config.json"

// explorationLocks has a folder for each running exploration.
const explorationLocks = stateDir + "/explorations"

// Write replaces the file of an exploration, whose id must be a UUID. Package
// explore describes the content. Write is not logged and cannot be undone.
func (x Exploration) Write(ctx context.Context, data []byte) error {
	if !sessionid.IsUUID(x.id) {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("invalid exploration id %q", x.id)}
	}
	_, err := update(ctx, x.w.patient().store, operation.Operation{Verb: "explore"}, func(tx *Tx) (nothing, error) {
		if err := durable.MakeDir(tx.View.root, explorationsDir); err != nil {
			return nothing{}, err
		}
		_, err := tx.batch.Replace(explorationsDir+"/"+x.id+".json", durable.Bytes(data))
		return nothing{}, err
	})
	return err
}

// Read returns the file of the exploration.
func (x Exploration) Read(ctx context.Context) (data []byte, err error) {
	defer func() { err = explained(err) }()
	id, err := x.w.ExplorationID(ctx, x.id)
	if err != nil {
		return nil, err
	}
	root, err := x.w.store.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return durable.ReadFile(root, explorationsDir+"/"+id+".json")
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
	return w.store.explorations(ctx)
}

func (w *base) explorations(ctx context.Context) (ids []string, err error) {
	defer func() { err = explained(err) }()
	root, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := durable.ReadDir(root, explorationsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && sessionid.IsUUID(id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Hold acquires the lock for running an exploration. It is held until release
// is called or the process exits. If another process has it, the error has the
// code [fault.Busy].
func (x Exploration) Hold(ctx context.Context) (release func(), err error) {
	release, err = x.w.store.hold(ctx, explorationLocks, x.id, "explore")
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
	op := operation.Operation{Verb: "append", Args: args{"session": o.Session, "role": c.Role, "message": o.ID}}
	_, err = update(ctx, w.patient().store, op, func(tx *Tx) (nothing, error) {
		p, err := tx.View.storePlace(o.Session, o.Parent)
		if err != nil || len(p.Find(o.ID)) > 0 {
			return nothing{}, err
		}
		m, err := tx.View.storeMessage(p, lines.Message{Content: func(func() ([]lines.Node, error)) (lines.Content, error) { return c, nil }})
		if err != nil {
			return nothing{}, err
		}
		m.id = o.ID
		tx.op.Args["session"] = p.id()
		head := tx.View.headOf(p.line)
		if _, err := tx.appendTo(p, m); err != nil || head < 0 {
			return nothing{}, err
		}
		_, err = tx.moveHead(p.Parts[p.Part(head)].ID, p.ID(head), m.id)
		return nothing{}, err
	})
	return err
}

// decisions returns the adopted results of an agent, from the files of
// explorations.
func (v *View) decisions(name string) ([]agents.Decision, error) {
	ids, err := v.store.explorations(v.ctx)
	if err != nil {
		return nil, err
	}
	type dated struct {
		agents.Decision
		at string
	}
	var list []dated
	for _, id := range ids {
		data, err := durable.ReadFile(v.root, explorationsDir+"/"+id+".json")
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
