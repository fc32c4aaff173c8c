package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

const (
	one = record.Machine("11111111111111111111111111111111")
	two = record.Machine("22222222222222222222222222222222")
	sid = "session_20260525_153200_4b9ad01c"
)

// A desk is a machine of a test without a workspace: facts, and what was compared.
type desk struct {
	id    record.Machine
	here  *plan.Here
	facts mirror.Facts
	list  map[string][]mirror.Message
	notes map[string]plan.Notes
	seq   uint64
}

func newDesk(id record.Machine) *desk {
	return &desk{id: id, here: plan.NewHere(), facts: mirror.Facts{Whole: true}, list: map[string][]mirror.Message{}, notes: map[string]plan.Notes{}}
}

func (d *desk) notesOf(id string) plan.Notes {
	if d.notes[id] == nil {
		d.notes[id] = plan.Notes{}
	}
	return d.notes[id]
}

// tell returns the operations that a machine records, and notes that it did.
func (d *desk) tell(s *join.State) (ops []plan.Op) {
	view := plan.NewView(s)
	for _, f := range d.facts.Sessions {
		if !d.here.Unread(f) {
			continue
		}
		t := d.here.OpsFor(&d.facts, f, d.list[f.ID], view.Session(f.ID), plan.Own{Machine: d.id, Name: string(d.id[:1])}, d.notesOf)
		ops = append(ops, t.Ops...)
		for _, n := range t.Notes {
			d.notesOf(f.ID)[n.ID] = n
		}
		d.here.SetSession(f.ID, t.Is)
		if t.Missing {
			d.here.SetPending(f.ID, true)
		}
	}
	ops = append(ops, d.here.OpsSince(&d.facts, view, d.notesOf)...)
	ops = append(ops, d.here.OtherOps(&d.facts, view, plan.Own{Machine: d.id, Name: string(d.id[:1])}, func(string, string) bool { return true })...)
	d.here.Compared(&d.facts)
	d.facts.Since = nil
	return ops
}

// publish adds the operations of a machine to a state, as seen by it.
func (d *desk) publish(t *testing.T, s *join.State, ops []plan.Op, seen record.Vector) {
	t.Helper()
	if len(ops) == 0 {
		return
	}
	d.seq++
	r := &record.Record{Format: 1, Machine: d.id, Seq: d.seq, Lamport: s.Lamport() + 1, Seen: seen}
	for _, op := range ops {
		if op.Items != nil {
			op.Body = &record.Body{Items: op.Items}
		}
		r.Ops = append(r.Ops, op.Op)
	}
	if err := s.Add(r); err != nil {
		t.Fatal(err)
	}
}

func message(id, parent, text string) mirror.Message {
	return mirror.Message{ID: id, Parent: session.ID(parent), Raw: json.RawMessage(fmt.Sprintf(`{"id":%q,"role":"user","content":%q}`, id, text))}
}

func aSession(id, version, title string) mirror.Session {
	return mirror.Session{ID: id, Kind: session.Root, Version: version, Title: title, Shell: json.RawMessage(`{"id":"` + id + `","metadata":{},"messages":[]}`)}
}

func said(ops []plan.Op) string {
	var list []string
	for _, op := range ops {
		kind, _, _ := strings.Cut(op.Entity, "/")
		list = append(list, op.Do+" "+kind+" "+op.Field)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// TestOps: each change is recorded once.
func TestOps(t *testing.T) {
	d, s := newDesk(one), join.New()
	step := func(what, want string, change func()) {
		t.Helper()
		change()
		ops := d.tell(s)
		if got := said(ops); got != want {
			t.Errorf("%s: recorded %s, and not %s", what, got, want)
		}
		d.publish(t, s, ops, nil)
		if got := said(d.tell(s)); got != "" {
			t.Errorf("%s: recorded again %s", what, got)
		}
	}
	session := func(version, title string, more ...mirror.Message) func() {
		return func() {
			d.facts.Sessions = []mirror.Session{aSession(sid, version, title)}
			d.list[sid] = append(d.list[sid], more...)
		}
	}
	mark := bookmark.Bookmark{Session: sid, Message: "a", Label: "x"}
	step("a session", "add session messages, set machine name, set session newest, set session shell, set session title", session("1", "T", message("a", "", "one")))
	step("nothing", "", func() {})
	step("a message", "add session messages, set session newest", session("2", "T", message("b", "a", "two")))
	step("a title", "set session title", session("3", "U"))
	step("a bookmark", "add bookmarks all", func() { d.facts.Bookmarks = []bookmark.Bookmark{mark} })
	step("a lost file of bookmarks", "", func() { d.facts.Bookmarks = nil })
	step("the file again", "", func() { d.facts.Bookmarks = []bookmark.Bookmark{mark} })
	step("a removed bookmark", "drop bookmarks all", func() {
		d.facts.Bookmarks, d.facts.Since = nil, []mirror.Operation{{Seq: 9, Verb: "bookmark --rm", Unmarked: []bookmark.Bookmark{mark}}}
	})
	step("an undone message", "add session undone", func() {
		d.facts.Sessions[0].Version, d.list[sid] = "4", d.list[sid][:1]
		d.facts.Since = []mirror.Operation{{Seq: 10, Undone: []mirror.Ref{{Session: sid, Message: "b"}}}}
	})
	step("a message that was undone before it was told", "", func() {
		d.facts.Since = []mirror.Operation{{Seq: 11, Undone: []mirror.Ref{{Session: sid, Message: "never"}}}}
	})
	step("a redone message", "drop session undone", func() {
		d.facts.Sessions[0].Version, d.list[sid] = "5", append(d.list[sid], message("b", "a", "two"))
		d.facts.Since = []mirror.Operation{{Seq: 12, Redone: []mirror.Ref{{Session: sid, Message: "b"}}}}
	})
	step("a session whose file is gone", "", func() { d.facts.Sessions = nil })
	step("a removed session", "remove session ", func() {
		d.facts.Since = []mirror.Operation{{Seq: 13, Removed: []string{sid}}}
	})
	step("the session comes back", "set session shell", func() {
		d.facts.Sessions = []mirror.Session{aSession(sid, "5", "U")}
		d.facts.Since = []mirror.Operation{{Seq: 14, Returned: []string{sid}}}
	})
	step("an automatic checkpoint", "", func() {
		auto := aSession("session_20260525_153200_00000000", "1", "A")
		auto.Auto = true
		d.facts.Sessions = append(d.facts.Sessions, auto)
	})
	step("an agent", "add agent trees, set agent head, set agent name, set agent settings", func() {
		d.facts.Agents = []mirror.Agent{agentAt("ada", "a")}
	})
	step("its head", "add agent trees, drop agent trees, set agent head", func() { d.facts.Agents = []mirror.Agent{agentAt("ada", "b")} })
	step("a lost file of an agent", "", func() { d.facts.Agents = nil })
	step("the agent again", "", func() { d.facts.Agents = []mirror.Agent{agentAt("ada", "b")} })
	step("another name", "set agent name", func() { d.facts.Agents = []mirror.Agent{agentAt("bob", "b")} })
	step("a removed agent", "remove agent ", func() {
		d.facts.Agents, d.facts.Since = nil, []mirror.Operation{{Seq: 15, Agents: []string{"bob"}}}
	})
	step("others", "add learnings all, set exploration file", func() {
		d.facts.Explorations = []mirror.File{{ID: "e", Data: json.RawMessage(`{}`)}}
		d.facts.Learnings = []json.RawMessage{json.RawMessage(`{"l":1}`)}
	})
}

func agentAt(name, message string) mirror.Agent {
	return mirror.Agent{
		Name: name, Settings: json.RawMessage(`{"id":"4f3c0a52"}`), Head: &mirror.Head{Session: sid, Message: message},
		Trees: []json.RawMessage{json.RawMessage(`{"id":"` + sid + `","node_id":"` + message + `"}`)},
	}
}

// TestNoEcho: a machine records no change that it applied, and applies each once.
func TestNoEcho(t *testing.T) {
	a, b, s := newDesk(one), newDesk(two), join.New()
	a.facts.Sessions = []mirror.Session{aSession(sid, "1", "T")}
	a.list[sid] = []mirror.Message{message("a", "", "one"), message("b", "a", "two")}
	a.facts.Bookmarks = []bookmark.Bookmark{{Session: sid, Message: "a", Label: "x"}}
	a.facts.Agents = []mirror.Agent{agentAt("ada", "b")}
	a.publish(t, s, a.tell(s), nil)
	b.publish(t, s, b.tell(s), nil)

	view := plan.NewView(s)
	b.here.SetPending(sid, true) // as a pull does that reads of it
	take := func() (c mirror.Changes) {
		for _, id := range b.here.Wanted(&b.facts, view, plan.Scope{}) {
			items, notes, err := plan.Expand(view.Session(id).Runs[0].Body.Items, new(plan.Quota))
			if err != nil {
				t.Fatal(err)
			}
			view.Take(&c, id, items, b.list[id], b.list[id] != nil, view.Session(id).Undone)
			for _, n := range notes {
				b.notesOf(id)[n.ID] = n
			}
		}
		b.here.TakeRest(&c, &b.facts, view, plan.Scope{})
		return c
	}
	c := take()
	if len(c.New) != 1 || len(c.New[0].Messages) != 2 || len(c.AddBookmarks) != 1 || len(c.Agents) != 1 {
		t.Fatalf("the changes are %+v", c)
	}
	b.facts.Sessions, b.list[sid] = []mirror.Session{aSession(sid, "7", "T")}, c.New[0].Messages
	b.facts.Bookmarks, b.facts.Agents = c.AddBookmarks, c.Agents
	b.here.Applied(&c, &mirror.Applied{}, view)
	b.here.Settle(sid)
	if ops := b.tell(s); len(ops) > 0 {
		t.Errorf("what was received is recorded: %s", said(ops))
	}
	if c := take(); len(c.New)+len(c.Messages)+len(c.AddBookmarks)+len(c.Agents)+len(c.Titles)+len(c.Shells)+len(c.Removed)+len(c.DropBookmarks) > 0 {
		t.Errorf("it is received again: %+v", c)
	}
}

// TestPath: a snapshot is recorded as a path of what was published, and is the same messages again; a path
// that is not as it says is refused.
func TestPath(t *testing.T) {
	d, s := newDesk(one), join.New()
	long := strings.Repeat("long ", 200)
	all := []mirror.Message{message("a", "", long), message("b", "a", long), message("c", "b", long)}
	copied := aSession("session_20260525_153200_11111111", "1", "")
	copied.Shell = json.RawMessage(`{"metadata":{"branched_from":"` + sid + `","branch_point":"b"}}`)
	d.facts.Sessions = []mirror.Session{aSession(sid, "1", "T"), copied}
	d.list[sid] = all
	d.list[copied.ID] = append(slices.Clone(all[:2]), message("d", "b", "own"))
	d.publish(t, s, d.tell(s), nil)
	view := plan.NewView(s)
	stored := view.Session(copied.ID).Runs[0].Body.Items
	if len(stored) != 2 || stored[0].Path == nil || stored[0].Path.Count != 2 || stored[1].ID != "d" {
		t.Fatalf("the snapshot is stored as %+v", stored)
	}
	items, notes, err := plan.Expand(stored, new(plan.Quota), func(id string) (map[string]record.Item, error) { return plan.ByID(d.list[id]), nil })
	if err != nil || len(items) != 3 || len(notes) != 3 {
		t.Fatalf("it expands to %+v, %v, %v", items, notes, err)
	}
	for i, it := range items {
		if want := d.list[copied.ID][i]; it.ID != want.ID || string(it.Raw) != string(want.Raw) {
			t.Errorf("message %d is %+v", i, it)
		}
	}
	cycle := map[string]record.Item{}
	for id, it := range plan.ByID(all) {
		parent := "c"
		it.Parent = &parent
		cycle[id] = it
	}
	for what, held := range map[string]map[string]record.Item{
		"absent": {}, "a cycle": cycle, "another text": plan.ByID([]mirror.Message{message("a", "", "other"), all[1]}),
	} {
		if _, _, err := plan.Expand(stored, new(plan.Quota), func(string) (map[string]record.Item, error) { return held, nil }); err == nil {
			t.Errorf("%s: it is expanded", what)
		}
	}
	for what, quota := range map[string]*plan.Quota{"messages": plan.QuotaLeft(1<<30, 199), "bytes": plan.QuotaLeft(100*len(all[0].Raw), 1_000_000)} {
		many := slices.Repeat(stored[:1], 100) // of two messages each
		if _, _, err := plan.Expand(many, quota, func(string) (map[string]record.Item, error) { return plan.ByID(all), nil }); !errors.Is(err, fault.Damaged) {
			t.Errorf("a path that is repeated takes too many %s: %v", what, err)
		}
	}
	if _, _, err := plan.Expand([]record.Item{{}}, new(plan.Quota)); err == nil {
		t.Error("an empty item is expanded")
	}
}

// TestHeads: whatever two machines do to an agent at the same time, it has one head in one of its trees.
func TestHeads(t *testing.T) {
	a, b, s := newDesk(one), newDesk(two), join.New()
	a.facts.Agents = []mirror.Agent{agentAt("ada", "a")}
	a.publish(t, s, a.tell(s), nil)
	b.publish(t, s, b.tell(s), record.Vector{one: 1})
	view := plan.NewView(s)
	var c mirror.Changes
	b.here.TakeRest(&c, &b.facts, view, plan.Scope{})
	b.facts.Agents = c.Agents
	b.here.Applied(&c, &mirror.Applied{}, view)

	a.facts.Agents = []mirror.Agent{agentAt("ada", "b")}
	b.facts.Agents = []mirror.Agent{agentAt("ada", "c")}
	first, second := a.tell(s), b.tell(s)
	a.publish(t, s, first, nil)
	b.publish(t, s, second, record.Vector{one: 1})
	for _, d := range []*desk{a, b} {
		var c mirror.Changes
		d.here.TakeRest(&c, &d.facts, plan.NewView(s), plan.Scope{})
		is := d.facts.Agents[0]
		if len(c.Agents) > 0 {
			is = c.Agents[0]
		}
		if is.Head == nil || is.Head.Message != "c" || len(is.Trees) != 1 || !strings.Contains(string(is.Trees[0]), `"node_id":"c"`) {
			t.Errorf("the agent is %s at %+v", is.Trees, is.Head)
		}
	}
}

// TestNameOrder: agents get their names one after the other, and none while another agent has it, whatever names
// they exchange.
func TestNameOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + rnd.IntN(6)
		agent := func(key, name int) mirror.Agent {
			return mirror.Agent{Name: fmt.Sprint("name-", name), Settings: json.RawMessage(fmt.Sprintf(`{"id":"%d"}`, key))}
		}
		var here, put []mirror.Agent
		names := map[string]string{}
		for key, name := range rnd.Perm(n) {
			here = append(here, agent(key, name))
			names[here[key].Name] = fmt.Sprint(key)
		}
		for key, name := range rnd.Perm(n + 1)[:n] {
			if string(here[key].Name) != fmt.Sprint("name-", name) {
				put = append(put, agent(key, name))
			}
		}
		rnd.Shuffle(len(put), func(i, j int) { put[i], put[j] = put[j], put[i] })
		for _, a := range plan.InNameOrder(put, here) {
			key := gjson.GetBytes(a.Settings, "id").Str
			if by, taken := names[a.Name]; taken && by != key {
				t.Fatalf("%s gets %s, which %s has: from %+v to %+v", key, a.Name, by, here, put)
			}
			maps.DeleteFunc(names, func(_, by string) bool { return by == key })
			names[a.Name] = key
		}
		for _, a := range put {
			if names[a.Name] != gjson.GetBytes(a.Settings, "id").Str {
				t.Fatalf("%s is not called so in the end: %v", a.Name, names)
			}
		}
	}
}
