package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/mirror"
)

// keyOf returns the key of an agent, "" if it has none.
func keyOf(a mirror.Agent) string { return gjson.GetBytes(a.Settings, "id").Str }

// agentOf returns what a workspace has of an agent.
func agentOf(a mirror.Agent) agentHad {
	is := agentHad{Name: a.Name, Settings: sumOf(a.Settings), Head: a.Head}
	for _, tree := range a.Trees {
		is.Trees = append(is.Trees, string(tree))
	}
	return is
}

func sameHead(a, b *mirror.Head) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func (v *View) agent(key string) *join.Agent {
	i := slices.IndexFunc(v.Agents, func(a join.Agent) bool { return a.Key == key })
	if i < 0 {
		return nil
	}
	return &v.Agents[i]
}

// agentHere returns an agent as a workspace has it. Of the elements with one tree the newest counts.
// The head is in one of the trees, which says so too, whatever machines did at the same time.
func agentHere(a join.Agent) mirror.Agent {
	is := mirror.Agent{Name: a.Name, Settings: a.Settings}
	last := map[string]json.RawMessage{}
	var ids []string
	for _, tree := range a.Trees { // ascending by stamp
		id := gjson.GetBytes(tree.Value, "id").Str
		if last[id] == nil {
			ids = append(ids, id)
		}
		last[id] = tree.Value
	}
	// In the order in which the trees were created: that of the elements changes with their content.
	slices.SortStableFunc(ids, func(a, b string) int {
		return strings.Compare(gjson.GetBytes(last[a], "created_at").Str, gjson.GetBytes(last[b], "created_at").Str)
	})
	if a.Head != nil {
		head := *a.Head
		is.Head = &head
	}
	if len(ids) > 0 && (is.Head == nil || last[is.Head.Session] == nil) {
		id := ids[len(ids)-1]
		is.Head = &mirror.Head{Session: id, Message: gjson.GetBytes(last[id], "node_id").Str}
	}
	for _, id := range ids {
		tree := last[id]
		if id == is.Head.Session {
			tree = withHead(tree, is.Head.Message)
		}
		is.Trees = append(is.Trees, tree)
	}
	return is
}

// withHead returns the tree of an agent as it is while the head is at a message of it.
func withHead(tree json.RawMessage, message string) json.RawMessage {
	if gjson.GetBytes(tree, "node_id").Str != message {
		value := json.RawMessage("null")
		if message != "" {
			value = valueOf(message)
		}
		if with, err := sjson.SetRawBytes(slices.Clone(tree), "node_id", value); err == nil {
			tree = with
		}
	}
	if gjson.GetBytes(tree, "archived").Bool() {
		if with, err := sjson.DeleteBytes(slices.Clone(tree), "archived"); err == nil {
			tree = with
		}
	}
	return tree
}

// agentsOps returns the operations to record for agents.
func (h *Here) agentsOps(f *mirror.Facts, view *View, own Own) (ops []Op) {
	there, taken, removed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, o := range f.Since {
		for _, id := range o.Trees {
			taken[id] = true
		}
		for _, name := range o.Agents {
			removed[name] = true
		}
	}
	for _, a := range f.Agents {
		key := keyOf(a)
		if key == "" || len(key) > 64 {
			continue
		}
		there[key] = true
		ops = append(ops, h.agentOps(key, a, view, taken)...)
		joined := ""
		if in := view.agent(key); in != nil {
			joined = in.Owner
		}
		ops = append(ops, ownerOps(agentPrefix+key, joined, a.Origin, own)...)
	}
	for key, had := range h.Agents {
		if removed[had.Name] && !there[key] && view.agent(key) != nil {
			ops = append(ops, remove(agentPrefix+key))
		}
	}
	return ops
}

// agentOps returns the operations to record for an agent. Taken are the trees that users took from agents.
func (h *Here) agentOps(key string, a mirror.Agent, view *View, taken map[string]bool) (ops []Op) {
	entity := agentPrefix + key
	was, known := h.Agents[key]
	is, in := agentOf(a), view.agent(key)
	var joined mirror.Agent
	var elements []join.Element
	if in != nil {
		joined, elements = agentHere(*in), in.Trees
	}
	if in == nil || is.Name != joined.Name && is.Name != nameMeanwhile(key) && (!known || is.Name != was.Name) {
		ops = append(ops, set(entity, "name", valueOf(a.Name)))
	}
	if in == nil || string(a.Settings) != string(joined.Settings) && (!known || is.Settings != was.Settings) {
		ops = append(ops, set(entity, "settings", a.Settings))
	}
	ops = append(ops, treeOps(entity, is.Trees, was.Trees, joined.Trees, elements, taken)...)
	if a.Head != nil && !sameHead(a.Head, joined.Head) && (!known || !sameHead(a.Head, was.Head)) {
		ops = append(ops, set(entity, "head", valueOf(a.Head)))
	}
	return ops
}

// treeOps returns the operations to record for the trees of an agent: those that are new or changed, and those
// that users took from it.
func treeOps(entity string, is, was []string, joined []json.RawMessage, elements []join.Element, taken map[string]bool) (ops []Op) {
	stampsOf := func(id string) (stamps []record.Stamp) {
		for _, el := range elements {
			if gjson.GetBytes(el.Value, "id").Str == id {
				stamps = append(stamps, el.Stamp)
			}
		}
		return stamps
	}
	there := map[string]bool{}
	for _, tree := range is {
		id := gjson.Get(tree, "id").Str
		there[id] = true
		if slices.Contains(was, tree) || slices.ContainsFunc(joined, func(t json.RawMessage) bool { return string(t) == tree }) {
			continue
		}
		if stamps := stampsOf(id); len(stamps) > 0 {
			ops = append(ops, drop(entity, "trees", stamps))
		}
		ops = append(ops, add(entity, "trees", json.RawMessage(tree)))
	}
	for _, id := range slices.Sorted(maps.Keys(taken)) {
		if stamps := stampsOf(id); !there[id] && len(stamps) > 0 {
			ops = append(ops, drop(entity, "trees", stamps))
		}
	}
	return ops
}

// takeAgents decides which agents change in a workspace with facts.
func (h *Here) takeAgents(f *mirror.Facts, view *View) (put []mirror.Agent, drop []string) {
	byKey := map[string]mirror.Agent{}
	for _, a := range f.Agents {
		byKey[keyOf(a)] = a
	}
	var others []mirror.Agent
	for _, in := range view.Agents {
		joined := agentHere(in)
		is, here := byKey[in.Key]
		switch {
		case joined.Head == nil, here && sameAgent(agentOf(is), agentOf(joined)):
		case here: // before others, one of which may get the name that it had
			put = append(put, joined)
		default:
			others = append(others, joined)
		}
	}
	put = append(inNameOrder(put, f.Agents), others...)
	for _, a := range f.Agents {
		key := keyOf(a)
		if _, known := h.Agents[key]; known && view.agent(key) == nil {
			drop = append(drop, a.Name)
		}
	}
	return put, drop
}

// inNameOrder returns agents that a workspace has with others, in an order in which each gets a name after the one
// that has it got another. If several exchange their names, one has a name of its own meanwhile.
func inNameOrder(put, here []mirror.Agent) (list []mirror.Agent) {
	holder, changed := map[string]string{}, map[string]mirror.Agent{}
	for _, a := range here {
		holder[a.Name] = keyOf(a)
	}
	for _, a := range put {
		changed[keyOf(a)] = a
	}
	begun := map[string]bool{}
	var visit func(a mirror.Agent)
	visit = func(a mirror.Agent) {
		key := keyOf(a)
		begun[key] = true
		if other, ok := changed[holder[a.Name]]; ok && keyOf(other) != key {
			if begun[keyOf(other)] {
				meanwhile := other
				meanwhile.Name = nameMeanwhile(keyOf(other))
				list = append(list, meanwhile)
			} else {
				visit(other)
			}
		}
		list = append(list, a)
		delete(changed, key)
	}
	for _, a := range put {
		if !begun[keyOf(a)] {
			visit(a)
		}
	}
	return list
}

// nameMeanwhile returns the name of an agent while others get its name. It is never recorded.
func nameMeanwhile(key string) string { return "renamed-" + sumOf([]byte(key))[:12] }

func sameAgent(a, b agentHad) bool {
	return a.Name == b.Name && a.Settings == b.Settings && slices.Equal(a.Trees, b.Trees) && sameHead(a.Head, b.Head)
}
