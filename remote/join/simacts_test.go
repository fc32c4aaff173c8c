package join_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/record"
)

// An act is something that a user did, with what the user's machine knew then. The history of acts
// is what the judge judges by. An act that was issued again is another act with the same number.
type act struct {
	number  int
	kind    string // create, append, rename, rm, return, undo, redo, bookmark, unbookmark, agent, move
	session string
	message string
	parent  string
	text    string // a title, a label or the name of an agent
	key     string // of an agent
	known   map[int]bool
}

// Acts are all acts, and which of them are in a stored record or base.
type acts struct {
	list []act
	of   map[string][]int
}

// repeat adds an act again, which knew those of its machine that were issued again before it.
func (h *acts) repeat(n int, again map[int]int) int {
	a := h.list[n]
	a.known = map[int]bool{}
	for k := range h.list[n].known {
		if now, ok := again[k]; ok {
			k = now
		}
		a.known[k] = true
	}
	h.list = append(h.list, a)
	return len(h.list) - 1
}

// do lets the user of m do something.
func (m *machine) do() {
	if len(m.published.Missing()) > 0 {
		return // the view is not complete
	}
	v := join.Project(m.view)
	sessions := slices.DeleteFunc(slices.Collect(m.view.Sessions()), func(s join.Session) bool { return !s.Alive })
	if len(sessions) == 0 || len(sessions) < 4 && m.random.IntN(12) == 0 {
		id := fmt.Sprintf("s%d", len(m.acts.list))
		m.act(act{kind: "create", session: id}, set("session/"+id, "shell", map[string]string{"session_id": id}))
		return
	}
	s := sessions[m.random.IntN(len(sessions))]
	entity := "session/" + s.ID
	messages := present(v, s)
	pick := func() string {
		if len(messages) == 0 {
			return ""
		}
		return messages[m.random.IntN(len(messages))].ID
	}
	switch kind := m.random.IntN(22); {
	case kind < 7:
		id := fmt.Sprintf("m%d", len(m.acts.list))
		item := record.Item{ID: id, Raw: json.RawMessage(quoted(id))}
		if parent := pick(); parent != "" {
			item.Parent = &parent
		}
		a := act{kind: "append", session: s.ID, message: id, parent: orEmpty(item.Parent)}
		add := record.Op{Do: record.Add, Entity: entity, Field: "messages", Body: &record.Body{Items: []record.Item{item}}}
		m.act(a, add, set(entity, "newest", id))
	case kind < 9:
		title := fmt.Sprint("title ", len(m.acts.list))
		m.act(act{kind: "rename", session: s.ID, text: title}, set(entity, "title", title))
	case kind < 10:
		m.act(act{kind: "rm", session: s.ID}, record.Op{Do: record.Remove, Entity: entity})
	case kind < 11:
		for one := range m.view.Sessions() {
			if !one.Alive && one.Shell != nil {
				m.act(act{kind: "return", session: one.ID}, record.Op{Do: record.Set, Entity: "session/" + one.ID, Field: "shell", Value: one.Shell})
				return
			}
		}
	case kind < 13:
		if id := pick(); id != "" && !slices.ContainsFunc(messages, func(item record.Item) bool { return orEmpty(item.Parent) == id }) {
			m.act(act{kind: "undo", session: s.ID, message: id}, add(entity, "undone", id))
		}
	case kind < 14:
		if undone := slices.Sorted(maps.Keys(s.Undone)); len(undone) > 0 {
			again, op := undone[0], record.Op{Do: record.Drop, Entity: entity, Field: "undone"}
			for _, el := range m.view.Entity(entity).Sets["undone"] {
				if string(el.Value) == quoted(again) {
					op.Stamps = append(op.Stamps, el.Stamp)
				}
			}
			m.act(act{kind: "redo", session: s.ID, message: again}, op)
		}
	case kind < 17:
		if id := pick(); id != "" {
			label := []string{"here", "there", "x"}[m.random.IntN(3)]
			ops := append(m.dropLabel(v, label), add("bookmarks", "all", map[string]string{"session_id": s.ID, "node_id": id, "label": label}))
			m.act(act{kind: "bookmark", session: s.ID, message: id, text: label}, ops...)
		}
	case kind < 18:
		if len(v.Bookmarks) > 0 {
			label := v.Bookmarks[m.random.IntN(len(v.Bookmarks))].Label
			m.act(act{kind: "unbookmark", text: label}, m.dropLabel(v, label)...)
		}
	case kind < 19:
		name, key := []string{"ada", "bob", "ada-laptop"}[m.random.IntN(3)], fmt.Sprint("k", len(m.acts.list))
		if !slices.ContainsFunc(v.Agents, func(a join.Agent) bool { return a.Name == name }) {
			m.act(act{kind: "agent", text: name, key: key}, set("agent/"+key, "name", name), add("agent/"+key, "trees", s.ID))
		}
	case kind < 21:
		if id := pick(); id != "" && len(v.Agents) > 0 {
			key := v.Agents[m.random.IntN(len(v.Agents))].Key
			m.act(act{kind: "move", key: key, message: id}, set("agent/"+key, "head", map[string]string{"session_id": s.ID, "message_id": id}))
		}
	default:
		m.act(act{kind: "new"}, record.Op{Do: "flip", Entity: "something/new"})
	}
}

// act writes a record of an act. Each adds to the log and sets the name of the machine.
func (m *machine) act(a act, ops ...record.Op) {
	n := len(m.acts.list)
	a.number, a.known = n, maps.Clone(m.known)
	m.acts.list = append(m.acts.list, a)
	m.known[n] = true
	me := "machine/" + string(m.id)
	ops = append(ops, add(me, "log", n))
	if m.view.Entity(me) == nil {
		ops = append(ops, set(me, "name", m.name))
	}
	m.write(n, ops...)
}

// dropLabel returns the operations that take a label away, as far as the machine knows it.
func (m *machine) dropLabel(v *join.View, label string) []record.Op {
	op := record.Op{Do: record.Drop, Entity: "bookmarks", Field: "all", Value: asJSON(label)}
	for _, b := range v.Bookmarks {
		if b.Label == label {
			op.Stamps = append(op.Stamps, b.Stamps...)
		}
	}
	if op.Stamps == nil {
		return nil
	}
	return []record.Op{op}
}

func set(entity, field string, value any) record.Op {
	return record.Op{Do: record.Set, Entity: entity, Field: field, Value: asJSON(value)}
}

func add(entity, field string, value any) record.Op {
	return record.Op{Do: record.Add, Entity: entity, Field: field, Value: asJSON(value)}
}

func asJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// present returns the messages of a session.
func present(v *join.View, s join.Session) []record.Item {
	var items []record.Item
	for _, run := range s.Runs {
		items = append(items, run.Body.Items...)
	}
	there, _ := join.Present(items, s.Undone, v.Held())
	return there
}
