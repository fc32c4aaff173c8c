package mirrorer

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// takeAgent stages a new agent, or the new state of one with the same id, which may have another
// name. Its queue and its turn stay. Its model may be a command, which the caller of a turn must
// not run before the user of this machine approved it.
func takeAgent(tx *store.Tx, g mirror.Agent) ([]mirror.Left, error) {
	if tx.Batch.Len() > 0 {
		return nil, errLater // it refers to sessions
	}
	if !agent.ValidName(g.Name) {
		return leave(g.Name, "invalid name of an agent")
	}
	if g.Head == nil {
		return leave(g.Name, "it has no head")
	}
	was, named, err := agentHere(tx.View, gjson.GetBytes(g.Settings, "id").Str, g.Name)
	if err != nil {
		return leaveFor(tx, g.Name, err)
	}
	if named {
		return leave(g.Name, "another agent has this name")
	}
	for _, name := range []string{g.Name, nameOf(was)} {
		if name != "" && tx.View.Works(name) {
			return leave(g.Name, "busy")
		}
	}
	if was != nil && !store.Settled(was.Agent) {
		return leave(g.Name, "busy")
	}
	data, err := agentFile(g, was)
	if err != nil {
		return leave(g.Name, err.Error())
	}
	is, err := agent.Decode(g.Name, data)
	if err != nil {
		return leave(g.Name, err.Error())
	}
	if why := whyNotOwned(tx.View, is); why != "" {
		return leave(g.Name, why)
	}
	tx.Op.Args["agent"] = g.Name
	switch {
	case was == nil:
		_, err = tx.PutAgent(is, nil)
	case was.Name != g.Name:
		if _, err = tx.PutAgent(is, nil); err == nil {
			err = tx.Discard(agent.Path(was.Name))
		}
	case !bytes.Equal(was.File, is.Encode()):
		_, err = tx.PutAgent(is, was.File)
	}
	return nil, err
}

func nameOf(a *agents.Agent) string {
	if a == nil {
		return ""
	}
	return a.Name
}

// agentHere returns the agent with an id, nil if there is none, and reports whether another agent
// has the name.
func agentHere(v *store.View, id, name string) (is *agents.Agent, named bool, err error) {
	err = v.EachAgent(func(other string, a *agents.Agent, err error) error {
		switch {
		case err != nil && other == name:
			named = true
		case err != nil:
		case a.ID == id:
			is = a
		case other == name:
			named = true
		}
		return nil
	})
	return is, named, err
}

// agentFile returns the content of the file of an agent: settings, trees and head of g, and the
// queue and the turn of was, if it is not nil.
func agentFile(g mirror.Agent, was *agents.Agent) ([]byte, error) {
	if err := rawjson.Check(g.Settings); err != nil {
		return nil, err
	}
	root := rawjson.Root(g.Settings)
	if _, err := rawjson.Members(g.Settings, root); err != nil || g.Settings[root.Start] != '{' {
		return nil, fmt.Errorf("its settings are malformed")
	}
	var ids []string
	var trees []byte
	for i, tree := range g.Trees {
		if rawjson.Check(tree) != nil {
			return nil, fmt.Errorf("a tree of it is malformed")
		}
		if i > 0 {
			trees = append(trees, ',')
		}
		trees = append(append(trees, "\n    "...), rawjson.Layout(tree, 2)...)
		ids = append(ids, gjson.GetBytes(tree, "id").String())
	}
	head := struct {
		Tree session.ID `json:"tree_id"`
		Node session.ID `json:"node_id"`
	}{session.ID(g.Head.Session), session.ID(g.Head.Message)}
	queue, turn := []byte("[]"), rawjson.Value(map[string]string{"state": "idle"}, 1)
	if was != nil {
		for key, value := range map[string]*[]byte{"queue": &queue, "turn": &turn} {
			if now := gjson.GetBytes(was.File, key); now.Exists() {
				*value = []byte(now.Raw)
			}
		}
	}
	own := []rawjson.Pair{
		{Key: "tree_ids", Value: rawjson.Value(store.List(ids), 1)},
		{Key: "trees", Value: slices.Concat([]byte("["), trees, []byte("\n  ]"))},
		{Key: "head", Value: rawjson.Value(head, 1)},
		{Key: "queue", Value: queue},
		{Key: "turn", Value: turn},
	}
	var pairs []rawjson.Pair // in the order of a new file
	for _, p := range rawjson.Pairs(g.Settings, root) {
		if slices.Contains(keptHere, p.Key) {
			continue
		}
		if p.Key == "steer_policy" {
			pairs, own = append(pairs, own...), nil
		}
		p.Value = rawjson.Layout(p.Value, 1)
		if pairs = append(pairs, p); p.Key == "id" {
			pairs = append(pairs, rawjson.Pair{Key: "name", Value: rawjson.Compact(g.Name)})
		}
	}
	return append(rawjson.AppendObject(nil, append(pairs, own...), 0), '\n'), nil
}

// whyNotOwned returns why an agent cannot have its trees or its head, "" if it can.
func whyNotOwned(v *store.View, a *agent.Agent) string {
	for _, t := range a.Trees {
		if e := v.Index.Entry(t.ID); e == nil || e.Err != nil {
			return "its tree " + t.ID + " is not here"
		}
		l, err := v.TreeLine(t.ID, true)
		if err != nil {
			return err.Error()
		}
		if l.Parts[0].ID != t.ID {
			return "its tree " + t.ID + " continues another session"
		}
		if t.Node != "" && len(l.Find(t.Node)) == 0 {
			return fmt.Sprintf("its tree %s does not have the message %q", t.ID, t.Node)
		}
	}
	why := ""
	_ = v.EachAgent(func(name string, other *agents.Agent, err error) error {
		for i := 0; err == nil && other.ID != a.ID && i < len(other.Trees); i++ {
			if a.Tree(other.Trees[i].ID) != nil {
				why = "its tree " + other.Trees[i].ID + " belongs to " + name
			}
		}
		return nil
	})
	return why
}

// dropAgent stages the removal of an agent. Its trees stay.
func dropAgent(tx *store.Tx, name string) ([]mirror.Left, error) {
	path := agent.Path(name)
	if !agent.ValidName(name) || !tx.View.IsThere(path) {
		return nil, nil
	}
	if tx.Batch.Touches(path) {
		return nil, errLater
	}
	a, err := tx.View.Agent(name)
	if err != nil {
		return leaveFor(tx, name, err)
	}
	if tx.View.Works(name) || !store.Settled(a.Agent) {
		return leave(name, "busy")
	}
	tx.Op.Args["agent"] = name
	for _, t := range a.Trees {
		tx.Op.Sessions = append(tx.Op.Sessions, t.ID)
	}
	return nil, tx.Discard(path)
}
