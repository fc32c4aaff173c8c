package join

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/record"
)

func bookmarkOp(message, label string) record.Op {
	return addOp("bookmarks", "all", fmt.Sprintf(`{"session_id":"s","node_id":%q,"label":%q}`, message, label))
}

// three returns three machines that know each other's names: laptop, desktop and laptop again.
func three(t *testing.T) []*pen {
	all := []*pen{newPen(0), newPen(1), newPen(2)}
	for i, name := range []string{"laptop", "desktop", "laptop"} {
		r := all[i].write(setOp("machine/"+string(all[i].machine), "name", `"`+name+`"`))
		sync(t, all, r)
	}
	return all
}

func TestMachineNames(t *testing.T) {
	all := three(t)
	sync(t, all, all[0].write(setOp("machine/"+string(all[1].machine), "name", `"mine"`))) // no machine names another one
	var names []string
	for _, m := range Project(all[1].State).Machines {
		names = append(names, m.Name)
	}
	if want := []string{"laptop", "desktop", "laptop-00000000"}; !slices.Equal(names, want) {
		t.Errorf("the machines are %q, want %q", names, want)
	}
}

func TestLabels(t *testing.T) {
	all := three(t)
	names := func(p *pen) string {
		var list []string
		for _, b := range Project(p.State).Bookmarks {
			list = append(list, b.Name+"="+b.Message)
		}
		return strings.Join(list, " ")
	}
	one, two := all[0].write(bookmarkOp("m1", "here"), bookmarkOp("m1", "only")), all[1].write(bookmarkOp("m2", "here"), bookmarkOp("m1", "only"))
	sync(t, all, one, two)
	for _, p := range all {
		if got := names(p); got != "here@laptop=m1 only=m1 here@desktop=m2" {
			t.Errorf("the bookmarks are %s", got)
		}
	}
	v := Project(all[2].State)
	if n := len(v.Bookmarks[1].Stamps); n != 2 {
		t.Errorf("a bookmark that two machines set has %d elements", n)
	}
	sync(t, all, all[2].write(record.Op{Do: record.Drop, Entity: "bookmarks", Field: "all", Stamps: v.Bookmarks[0].Stamps}))
	if got := names(all[0]); got != "here=m2 only=m1" && got != "only=m1 here=m2" {
		t.Errorf("after one is dropped, the bookmarks are %s", got)
	}
}

func TestAgentNames(t *testing.T) {
	all := three(t)
	long := strings.Repeat("n", maxAgentName)
	sync(t, all,
		all[0].write(setOp("agent/1", "name", `"ada"`), setOp("agent/5", "name", `"`+long+`"`)),
		all[1].write(setOp("agent/2", "name", `"ada"`), setOp("agent/6", "name", `"`+long+`"`)),
		all[1].write(setOp("agent/3", "name", `"ada-desktop"`)),
		all[1].write(setOp("agent/4", "name", `"ada"`)))
	for _, p := range all {
		got := map[string]string{}
		for _, a := range Project(p.State).Agents {
			got[a.Key] = a.Name
			if len(a.Name) > maxAgentName {
				t.Errorf("%s is too long for an agent", a.Name)
			}
		}
		want := map[string]string{"1": "ada", "2": "ada-desktop-2", "3": "ada-desktop", "4": "ada-desktop-3", "5": long, "6": long[:maxAgentName-8] + "-desktop"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the agents are %v, want %v", got, want)
		}
	}
}

func TestPresent(t *testing.T) {
	item := func(id, parent string) record.Item {
		it := record.Item{ID: id, Raw: json.RawMessage(`"` + id + `"`)}
		if parent != "" {
			it.Parent = &parent
		}
		return it
	}
	set := func(ids string) map[string]bool {
		m := map[string]bool{}
		for _, id := range strings.Fields(ids) {
			m[id] = true
		}
		return m
	}
	other := item("b", "a")
	other.Raw = json.RawMessage(`"another"`)
	path := record.Item{Path: &record.Path{Session: "s", First: "x", Last: "y", Count: 2}}
	for _, c := range []struct {
		what         string
		items        []record.Item
		undone, held string
		want, twice  string
	}{
		{"all", []record.Item{item("a", ""), item("b", "a")}, "", "", "a b", ""},
		{"an undone end", []record.Item{item("a", ""), item("b", "a")}, "b", "", "a", ""},
		{"a reply", []record.Item{item("a", ""), item("b", "a"), item("c", "b")}, "b", "", "a b c", ""},
		{"a reply that comes before", []record.Item{item("c", "b"), item("b", "a"), item("a", "")}, "a b", "", "c b a", ""},
		{"an undone reply", []record.Item{item("a", ""), item("b", "a"), item("c", "b")}, "b c", "", "a", ""},
		{"held", []record.Item{item("a", ""), item("b", "a"), item("c", "b")}, "a b c", "b", "a b", ""},
		{"once more", []record.Item{item("a", ""), item("b", "a"), item("b", "a")}, "", "", "a b", ""},
		{"with other content", []record.Item{item("a", ""), item("b", "a"), other}, "", "", "a b", "b"},
		{"a cycle", []record.Item{item("a", "b"), item("b", "a"), item("c", "a")}, "a b", "", "a b c", ""},
		{"a parent that is nowhere", []record.Item{item("b", "a")}, "", "", "b", ""},
		{"paths", []record.Item{path, path, item("z", "y")}, "", "", "- - z", ""},
	} {
		join := func(items []record.Item) string {
			var ids []string
			for _, it := range items {
				ids = append(ids, map[bool]string{true: it.ID, false: "-"}[it.ID != ""])
			}
			return strings.Join(ids, " ")
		}
		present, twice := Present(c.items, set(c.undone), set(c.held))
		if join(present) != c.want || join(twice) != c.twice {
			t.Errorf("%s: there are %q, twice %q; want %q, %q", c.what, join(present), join(twice), c.want, c.twice)
		}
	}
}

// TestMissing: a state with a base lacks what its machine had seen until that is added.
func TestMissing(t *testing.T) {
	a, b := newPen(0), newPen(1)
	old := a.write(setOp("session/s", "title", `"old"`))
	mustAdd(t, b.State, old)
	mine := b.write(setOp("session/s", "title", `"new"`))
	mustAdd(t, a.State, mine)
	s := New()
	s.AddBase(a.Base(a.machine))
	if got := s.Missing(); !reflect.DeepEqual(got, record.Vector{b.machine: 1}) {
		t.Errorf("missing are %v", got)
	}
	mustAdd(t, s, mine)
	if got := s.Missing(); len(got) > 0 || titleIn(s) != "new" {
		t.Errorf("missing are %v, the title is %q", got, titleIn(s))
	}
}

func TestAcknowledged(t *testing.T) {
	all := three(t)
	want := func(p *pen, counts ...uint64) {
		t.Helper()
		v := record.Vector{}
		for i, n := range counts {
			v[all[i].machine] = n
		}
		if got := p.Acknowledged(); !reflect.DeepEqual(got, v) {
			t.Errorf("acknowledged are %v, want %v", got, v)
		}
	}
	want(all[0], 1, 0, 0) // the first one has published nothing since
	for range 2 {
		for _, p := range all {
			sync(t, all, p.write(addOp("learnings", "all", `1`)))
		}
	}
	want(all[0], 3, 2, 2)
	sync(t, all[:2], all[0].write(removeOp("machine/"+string(all[2].machine))))
	sync(t, all[:2], all[1].write(addOp("learnings", "all", `2`)))
	want(all[0], 4, 3, 3) // the third one is retired
	if machines := Project(all[0].State).Machines; machines[0].Retired || machines[1].Retired || !machines[2].Retired {
		t.Errorf("another machine than the third one is retired: %+v", machines)
	}
	mustAdd(t, all[0].State, all[2].write(addOp("learnings", "all", `3`)))
	want(all[0], 3, 3, 3) // and is back
	s := New()
	for _, p := range all {
		s.AddBase(all[0].Base(p.machine))
	}
	if got := s.Acknowledged()[all[0].machine]; got != 4 { // each base was made by one that had seen all
		t.Errorf("by bases, %d are acknowledged", got)
	}
}

func TestPacks(t *testing.T) {
	a, b := newPen(0), newPen(1)
	one, two := strings.Repeat("1", 64), strings.Repeat("2", 64)
	run := func(pack string, at, size int64) record.Op {
		return record.Op{Do: record.Add, Entity: "session/s", Field: "messages", Body: &record.Body{Pack: pack, At: at, Size: size, Count: 1}}
	}
	r := a.write(run(one, 0, 10), run(one, 10, 5), run(one, 12, 8), run(one, 100, 1), run(two, 0, 7))
	mustAdd(t, b.State, r)
	mustAdd(t, a.State, b.write(run(one, 0, 10), removeOp("session/s"), record.Op{Do: record.Drop, Entity: "session/s", Field: "messages", Stamps: []record.Stamp{r.Stamp(4)}}))
	want := []Pack{{one, []record.Machine{a.machine, b.machine}, 21, 101}}
	if got := a.Packs(); !reflect.DeepEqual(got, want) {
		t.Errorf("the packs are %+v, want %+v", got, want)
	}
}

// large returns a state with many sessions of three runs each.
func large(t testing.TB, sessions int) *State {
	p := newPen(0)
	for i := range sessions {
		entity := fmt.Sprintf("session/session_20260525_153200_%08x", i)
		shell := fmt.Sprintf(`{"session_id":%q,"created_at":"2026-05-25T15:32:00.000000+00:00","metadata":{"bough":{"kind":"root"},"project":%q}}`, entity[8:], strings.Repeat("p", 150))
		ops := []record.Op{setOp(entity, "shell", shell), setOp(entity, "title", `"How about Lisbon in spring"`), setOp(entity, "newest", `"6e4b8c1c-43ab-4b1f-9f36-3d2a63a0f7a1"`)}
		for n := range int64(3) {
			ops = append(ops, record.Op{Do: record.Add, Entity: entity, Field: "messages", Body: &record.Body{Pack: fmt.Sprintf("%064x", i/20), At: n * 4000, Size: 4000, Count: 8}})
		}
		p.write(ops...)
	}
	return p.State
}

// TestLarge: a large state is the same after it was stored, and a record changes only its entity.
func TestLarge(t *testing.T) {
	s := large(t, testsize.Of(100, 1000, 100_000))
	data := s.Encode()
	again := mustDecode(t, data)
	if got := again.Vector(); !reflect.DeepEqual(got, s.Vector()) {
		t.Fatal("another vector")
	}
	p := &pen{again, machineID(1)}
	p.write(setOp("session/session_20260525_153200_00000007", "title", `"x"`))
	got, want := strings.SplitAfter(string(p.Encode()), "\n"), strings.SplitAfter(string(data), "\n")
	differ := 0
	for i := 2; i < len(want); i++ {
		if got[i] != want[i] {
			differ++
		}
	}
	if len(got) != len(want) || differ != 1 {
		t.Errorf("%d lines of %d differ from %d", differ, len(got), len(want))
	}
}

func BenchmarkDecode(b *testing.B) {
	data := large(b, 100_000).Encode()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	s := large(b, 100_000)
	for b.Loop() {
		s.Encode()
	}
}

func BenchmarkProject(b *testing.B) {
	s := large(b, 100_000)
	b.Run("decoded", func(b *testing.B) {
		for b.Loop() {
			Project(s)
		}
	})
	data := s.Encode()
	b.Run("stored", func(b *testing.B) {
		for b.Loop() {
			s, err := Decode(data)
			if err != nil {
				b.Fatal(err)
			}
			Project(s)
		}
	})
}

// titleIn returns the title of the first session of a state.
func titleIn(s *State) string {
	for one := range s.Sessions() {
		return one.Title
	}
	return ""
}
