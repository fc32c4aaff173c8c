package remote_test

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/mirror"
)

// lose deletes the objects of a machine in a store but for its first records, and returns them.
func lose(t *testing.T, store bucket.Store, machine string, keep int) map[string][]byte {
	t.Helper()
	lost := map[string][]byte{}
	for i, o := range must(store.List(t.Context(), bucket.ListOptions{Prefix: "m/" + machine + "/"})) {
		if i < keep {
			continue
		}
		lost[o.Name] = must(store.Get(t.Context(), o.Name))
		if err := store.Delete(t.Context(), o.Name); err != nil {
			t.Fatal(err)
		}
	}
	return lost
}

// TestRetireLost: if the store lost records of a machine that is gone, and others have seen them, a new machine reads
// what those wrote once the machine is retired, by one that had read it or by the new one. The loss is reported, and the
// records count if they appear again.
func TestRetireLost(t *testing.T) {
	for _, c := range []struct {
		name string
		keep int  // records that are not lost
		base bool // what another machine wrote is in a base
		late bool // the new machine retires it
	}{{"whole", 0, false, false}, {"the last", 1, false, false}, {"base", 0, true, false}, {"base and the last", 1, true, true}, {"by the new machine", 0, false, true}} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop")
			gone, a := list[0], list[1]
			machine := string(must(gone.remote().Info()).Machine)
			first := must(gone.w.New(ctx, "First"))
			gone.push()
			second := must(gone.w.New(ctx, "Second"))
			must(gone.w.Append(ctx, workspace.Append{Session: first.ID, Text: "one"}))
			gone.push()
			for range 8 { // more than the others have together
				must(gone.w.New(ctx, "One of many"))
				gone.push()
			}
			a.pull()
			must(a.w.Append(ctx, workspace.Append{Session: first.ID, Text: "two"}))
			must(a.w.Rename(ctx, second.ID, "Second again"))
			seen := must(a.w.New(ctx, "Seen"))
			a.push()
			objects := lose(t, store, machine, c.keep)
			must(a.w.New(ctx, "Later"))
			a.push()

			n := a.friend("newcomer")
			if got := n.pull(); slices.Contains(got.Sessions, seen.ID) {
				t.Fatalf("before the machine is retired, a new one gets %+v", got)
			}
			if c.base {
				must(a.w.New(ctx, "One more"))
				a.syncEvery(1)
			}
			if c.late {
				must(n.remote().Retire(ctx, machine))
			} else {
				must(a.remote().Retire(ctx, "laptop"))
			}
			var got *remote.Result
			for range 4 {
				if got = n.pull(); slices.Contains(got.Sessions, seen.ID) {
					break
				}
			}
			lost := isLost(machine)
			if !slices.Contains(got.Sessions, seen.ID) || !slices.ContainsFunc(got.Problems, lost) {
				t.Fatalf("when the machine is retired, a new one gets %+v", got)
			}
			for _, c := range []*computer{n, a, a.friend("phone")} {
				var problems []*stream.Problem
				for range 5 {
					problems = append(problems, must(c.sync()).Problems...)
				}
				if len(problems) > 1 || len(problems) == 1 && !lost(problems[0]) {
					t.Errorf("%s reports %v", c.name, problems)
				}
				if report := must(c.remote().Check(ctx, remote.CheckOptions{})); !report.OK || !slices.ContainsFunc(report.Problems, lost) {
					t.Errorf("the check of %s: %+v, %v", c.name, report, report.Problems)
				}
			}
			// What the new machine writes counts as later than what it has seen, and others read the base of it.
			must(n.w.Rename(ctx, seen.ID, "Renamed"))
			n.syncEvery(1)
			if name := "m/" + string(must(n.remote().Info()).Machine) + "/base-"; len(must(store.List(ctx, bucket.ListOptions{Prefix: name}))) != 1 {
				t.Errorf("the new machine stored no base, but %v", names(t, store))
			}
			must(a.sync())
			tablet := a.friend("tablet")
			for range 4 {
				must(tablet.sync())
			}
			if report := must(tablet.remote().Check(ctx, remote.CheckOptions{ReadData: true})); !report.OK {
				t.Errorf("the check of another new machine: %+v, %v", report, report.Problems)
			}
			for _, c := range []*computer{n, a, tablet} {
				if got := must(c.w.Show(ctx, seen.ID, session.ReadOptions{})).Entry; got.Title != "Renamed" {
					t.Errorf("%s has the title %q", c.name, got.Title)
				}
			}
			must(n.w.Append(ctx, workspace.Append{Session: seen.ID, Text: "three"}))
			n.push()
			a.pull()
			if ms := must(a.w.Mirror().Messages(ctx, seen.ID)); len(ms) != 1 || textOf(ms[0]) != "three" {
				t.Errorf("what the new machine adds: %v", ms)
			}

			for name, data := range objects {
				if strings.HasPrefix(path.Base(name), "base") {
					continue
				}
				if err := store.Put(ctx, name, data); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				must(n.sync())
				must(a.sync())
			}
			if x, y := a.answers(), n.answers(); x != y {
				t.Errorf("with the lost records, they differ: %s", difference(x, y))
			}
			if report := must(n.remote().Check(ctx, remote.CheckOptions{})); !report.OK || len(report.Problems) > 0 {
				t.Errorf("with the lost records, the check: %+v, %v", report, report.Problems)
			}
		})
	}
}

// TestRetireBack: what a machine wrote after it was retired is not given up.
func TestRetireBack(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop", "other")
	gone, a, b := list[0], list[1], list[2]
	must(gone.w.New(ctx, "First"))
	gone.push()
	a.pull()
	must(a.remote().Retire(ctx, "laptop"))
	must(gone.w.New(ctx, "Second"))
	gone.push()
	b.pull()
	seen := must(b.w.New(ctx, "Seen"))
	b.push()
	lose(t, store, string(must(gone.remote().Info()).Machine), 1)
	n := a.friend("newcomer")
	for range 4 {
		if got := n.pull(); slices.Contains(got.Sessions, seen.ID) {
			t.Fatalf("the new machine gets %+v", got)
		}
	}
	got := n.pull()
	if !slices.ContainsFunc(got.Problems, func(p *stream.Problem) bool { return p.Kind == stream.Withheld && p.Seq == 2 }) {
		t.Errorf("the new machine reports %v", got.Problems)
	}
	must(b.remote().Retire(ctx, "laptop"))
	for range 3 {
		got = n.pull()
	}
	if has := must(n.w.Mirror().Facts(ctx, noKnown)).Sessions; !slices.ContainsFunc(has, func(s mirror.Session) bool { return s.ID == seen.ID }) {
		t.Errorf("retired again, the new machine gets %+v", got)
	}
}

// TestRetireRescue: a machine that has what was lost sends it again when the remote is added to it anew.
func TestRetireRescue(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	gone, a := list[0], list[1]
	lost := must(gone.w.New(ctx, "Lost"))
	must(gone.w.Append(ctx, workspace.Append{Session: lost.ID, Text: "one"}))
	gone.push()
	a.pull()
	must(a.w.New(ctx, "Seen"))
	a.push()
	info := must(a.remote().Info())
	lose(t, store, string(must(gone.remote().Info()).Machine), 0)
	must(a.remote().Retire(ctx, "laptop"))
	if err := remote.Remove(ctx, a.w, "home"); err != nil {
		t.Fatal(err)
	}
	a.add(info.Key)
	for range 3 {
		must(a.sync())
	}
	n := a.friend("newcomer")
	for range 3 {
		n.pull()
	}
	if x, y := a.answers(), n.answers(); x != y || len(must(n.w.Mirror().Messages(ctx, lost.ID))) != 1 {
		t.Errorf("they differ: %s", difference(x, y))
	}
}

// TestRetireLook: a look for something new makes no request for a machine that is retired; one with a listing does, in
// case it has come back.
func TestRetireLook(t *testing.T) {
	ctx := t.Context()
	list := computers(t, &bucket.Memory{}, "laptop", "desktop", "old")
	a := list[0]
	for _, c := range list {
		must(c.w.New(ctx, c.name))
	}
	for range 2 {
		for _, c := range list {
			must(c.sync())
		}
	}
	must(a.remote().Retire(ctx, "old"))
	must(list[1].w.New(ctx, "More")) // which says what it has seen
	for range 2 {
		for _, c := range list[:2] {
			must(c.sync())
		}
	}
	a.pull() // confirms what was sent
	look := func(known bool) int64 {
		return must(a.remote().Pull(ctx, remote.PullOptions{Known: known})).Requests
	}
	if known, all := look(true), look(false); known != 2 || all != 4 {
		t.Errorf("a look makes %d requests, and one with a listing %d", known, all)
	}
	old := list[2]
	must(old.w.New(ctx, "Back"))
	old.push()
	if got := a.pull(); got.Got.Records == 0 {
		t.Errorf("a machine that came back: %+v", got)
	}
}

// isLost reports whether a problem says that records of a machine are lost.
func isLost(machine string) func(*stream.Problem) bool {
	return func(p *stream.Problem) bool { return p.Kind == stream.Lost && string(p.Machine) == machine }
}

// TestRetireLater: who has read all of a retired machine says once that its stream is gone, however often it pulls, and the
// check always does; a stream that comes back and goes again is another loss.
func TestRetireLater(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	gone, a := list[0], list[1]
	machine := string(must(gone.remote().Info()).Machine)
	must(gone.w.New(ctx, "First"))
	gone.push()
	a.pull()
	must(a.remote().Retire(ctx, "laptop"))
	for round := range 2 {
		must(a.sync())
		objects := lose(t, store, machine, 0)
		var requests []int64
		for i := range 6 {
			got := a.pull()
			if reported := slices.ContainsFunc(got.Problems, isLost(machine)); reported != (i == 2) {
				t.Errorf("round %d, pull %d reports %v", round, i, got.Problems)
			}
			requests = append(requests, got.Requests)
		}
		if requests[5] != 3 { // a list, the next record of the machine, and the own one
			t.Errorf("round %d: the pulls make %v requests", round, requests)
		}
		if report := must(a.remote().Check(ctx, remote.CheckOptions{})); !report.OK || !slices.ContainsFunc(report.Problems, isLost(machine)) {
			t.Errorf("round %d: the check: %+v, %v", round, report, report.Problems)
		}
		for name, data := range objects {
			if err := store.Put(ctx, name, data); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRetirePatience: what a retired machine wrote is given up only when three pulls in a row did not find it: not at the
// first look at an object that is half copied, and not because one pull reads in portions.
func TestRetirePatience(t *testing.T) {
	for _, c := range []struct {
		name string
		half bool // the record is there, and incomplete
	}{{"absent", false}, {"half copied", true}} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			store := &bucket.Memory{}
			list := computers(t, store, "laptop", "desktop", "other")
			gone, a, b := list[0], list[1], list[2]
			machine := string(must(gone.remote().Info()).Machine)
			must(gone.w.New(ctx, "First"))
			gone.push()
			a.pull()
			seen := must(a.w.New(ctx, "Seen"))
			a.push()
			for name, data := range lose(t, store, machine, 0) {
				if err := store.Put(ctx, name, data[:len(data)/2]); c.half && err != nil {
					t.Fatal(err)
				}
				if !c.half {
					must(0, store.Delete(ctx, name))
				}
			}
			n := a.friend("newcomer")
			must(n.remote().Retire(ctx, machine))
			for i := range 4 {
				for range 6 * (i % 2) { // some portions
					must(b.w.New(ctx, strings.Repeat("many words ", 90)))
					b.push()
				}
				r := n.remote()
				r.SetFetchBytes(3000)
				got := must(r.Pull(ctx, remote.PullOptions{}))
				r.Close()
				if has := slices.Contains(got.Sessions, seen.ID); has != (i == 2) {
					t.Errorf("pull %d gets %v, with the problems %v", i, got.Sessions, got.Problems)
				}
			}
		})
	}
}

// TestRetireEvidence: a record claims that its writer has seen more records of a machine than
// there are. The retirement of that machine then covers too many. It ends when the machine has read the retirement and writes again.
func TestRetireEvidence(t *testing.T) {
	ctx := t.Context()
	store := &bucket.Memory{}
	list := computers(t, store, "laptop", "desktop")
	back, a := list[0], list[1]
	must(back.w.New(ctx, "First"))
	back.push()
	a.pull()
	machine := must(back.remote().Info()).Machine
	root := must(os.OpenRoot(t.TempDir()))
	defer root.Close()
	w := must(must(stream.Open(ctx, store, must(seal.ReadKeyFile(must(a.remote().Info()).Key)).Key)).OpenWriter(root))
	must(w.Append(stream.Cursors{machine: stream.Cursor{Seq: 1000, Lamport: 1000}}, nil, []record.Op{{Do: record.Set, Entity: "x/y", Field: "z", Value: json.RawMessage("1")}}))
	if err := w.Upload(ctx); err != nil {
		t.Fatal(err)
	}
	retired := func(c *computer) bool {
		t.Helper()
		got := must(c.sync())
		i := slices.IndexFunc(got.Machines, func(m remote.Machine) bool { return m.ID == machine })
		return got.Machines[i].Retired
	}
	must(a.remote().Retire(ctx, string(machine)))
	if !retired(a) {
		t.Fatal("it is not retired")
	}
	must(back.sync())
	must(back.w.New(ctx, "Back"))
	must(back.sync())
	for _, c := range []*computer{a, back, a.friend("newcomer")} {
		if retired(c) {
			t.Errorf("for %s it is retired, and it is back", c.name)
		}
	}
}
