package travel_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/travel"
	"github.com/bough-dev/bough/workspace/mirror"
)

const (
	ada, bo = record.Machine("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), record.Machine("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")
	here    = "session_20260525_153200_11111111"
	other   = "session_20260525_153200_22222222"
)

// A remote is the records of machines.
type remote struct {
	*testing.T
	*join.State
	seq map[record.Machine]uint64
}

func newRemote(t *testing.T) *remote { return &remote{t, join.New(), map[record.Machine]uint64{}} }

// add adds a record of a machine that has seen all others.
func (r *remote) add(m record.Machine, ops ...record.Op) {
	r.Helper()
	r.seq[m]++
	seen := r.Vector()
	delete(seen, m)
	if err := r.Add(&record.Record{Format: 1, Machine: m, Seq: r.seq[m], Lamport: r.Lamport() + 1, Seen: seen, Ops: ops}); err != nil {
		r.Fatal(err)
	}
}

// tell adds what a workspace with files records, as a machine, and returns the ids of the states.
func (r *remote) tell(m record.Machine, f *mirror.Files) (ids []string) {
	r.Helper()
	there := travel.Project(r.State)
	unsent := travel.Unsent(f, there, plan.NewView(r.State))
	ops := travel.FolderOps(f, there, unsent)
	for i := range unsent {
		ids = append(ids, unsent[i].ID)
		ops = append(ops, unsent[i].Ops()...)
	}
	var list []record.Op
	for _, op := range ops {
		list = append(list, op.Op)
	}
	r.add(m, list...)
	return ids
}

// take returns what a workspace receives, as ID:LINKS.
func (r *remote) take(f *mirror.Files, had []string, scope plan.Scope) (list []string, folders []mirror.Folder) {
	c := travel.Take(f, travel.Project(r.State), plan.NewView(r.State), func(id string) bool { return slices.Contains(had, id) }, scope)
	for _, st := range c.States {
		list = append(list, fmt.Sprintf("%s:%d", st.ID, len(st.Links)))
	}
	return list, c.Folders
}

func state(id, folder, session string, links ...json.RawMessage) mirror.State {
	st := mirror.State{ID: id, Folder: folder, Sessions: []string{session}, Record: json.RawMessage(fmt.Sprintf(`{"folder":%q,"session_id":%q}`, folder, session)), Links: links}
	for _, l := range links {
		var at struct {
			Session string `json:"session_id"`
		}
		_ = json.Unmarshal(l, &at)
		st.Sessions = append(st.Sessions, at.Session)
	}
	return st
}

func link(session, message string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"session_id":%q,"message_id":%q,"time":"now"}`, session, message))
}

func files(sessions []string, states ...mirror.State) *mirror.Files {
	f := &mirror.Files{States: states, Sessions: map[string]bool{}, Folders: []mirror.Folder{{ID: "f", Path: "/home/ada/f"}}}
	for _, id := range sessions {
		f.Sessions[id] = true
	}
	return f
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestUnsent: recorded are states of sessions that travel, each once, later only its new links; the folder once, and
// by its own machine.
func TestUnsent(t *testing.T) {
	r := newRemote(t)
	mine := files([]string{here}, state("1", "f", here, link(here, "m")), state("2", "f", other), state("3", "f", other, link(here, "n"), link(other, "o")))
	same(t, "recorded first", r.tell(ada, mine), "1", "3")
	same(t, "recorded again", r.tell(ada, mine))
	there := travel.Project(r.State)
	if len(there.States) != 2 || len(there.States[1].Links) != 1 || len(there.Folders) != 1 || string(there.Folders[0].About.Value) != `{"path":"/home/ada/f"}` {
		t.Fatalf("there is %+v", there)
	}
	mine.States[0].Links = append(mine.States[0].Links, link(here, "later"))
	same(t, "recorded with a link", r.tell(ada, mine), "1")
	if st := travel.Project(r.State).States[0]; len(st.Records) != 1 || len(st.Links) != 2 {
		t.Errorf("the state has %d records and %d links", len(st.Records), len(st.Links))
	}
	theirs := files([]string{here}, state("4", "f", here))
	theirs.Folders[0] = mirror.Folder{ID: "f", Path: "/elsewhere", Machine: "ada"}
	same(t, "recorded by another machine", r.tell(bo, theirs), "4")
	if about := string(travel.Project(r.State).Folders[0].About.Value); !strings.Contains(about, "/home/ada/f") {
		t.Errorf("another machine says that the folder is %s", about)
	}
	r.add(bo, record.Op{Do: record.Set, Entity: "session/" + here, Field: "purged", Value: json.RawMessage("true")})
	same(t, "recorded of a purged session", r.tell(ada, files([]string{here}, state("5", "f", here))))
}

// TestTake: received are states of sessions that are here, with the links that are missing; what was removed here comes
// back only for its session.
func TestTake(t *testing.T) {
	r := newRemote(t)
	r.add(ada, record.Op{Do: record.Set, Entity: "machine/" + string(ada), Field: "name", Value: json.RawMessage(`"desk"`)})
	r.tell(ada, files([]string{here, other}, state("1", "f", here, link(here, "m"), link(here, "n")), state("2", "f", here), state("3", "f", other), state("4", "f", other, link(here, "x"))))
	got, folders := r.take(files([]string{here}), nil, plan.Scope{})
	same(t, "with nothing", got, "1:2", "2:0", "4:1")
	if len(folders) != 1 || folders[0].Machine != "desk" || folders[0].Path != "/home/ada/f" {
		t.Errorf("the folders are %+v", folders)
	}
	got, folders = r.take(files([]string{here}, state("1", "f", here, link(here, "m")), state("2", "f", here), state("4", "f", other, link(here, "x"))), nil, plan.Scope{})
	same(t, "with a link less", got, "1:1")
	if len(folders) != 1 {
		t.Errorf("the folders are %+v", folders)
	}
	got, _ = r.take(files([]string{here}), []string{"1", "2"}, plan.Scope{})
	same(t, "with two that were removed", got, "4:1")
	got, _ = r.take(files([]string{here, other}), []string{"1", "2"}, plan.Scope{Session: here})
	same(t, "for one session", got, "1:2", "2:0", "4:1")
	got, _ = r.take(files([]string{here, other}), nil, plan.Scope{Session: other})
	same(t, "for another session", got, "3:0", "4:1")
	r.add(bo, record.Op{Do: record.Set, Entity: "session/" + here, Field: "purged", Value: json.RawMessage("true")})
	got, _ = r.take(files([]string{here}), nil, plan.Scope{})
	same(t, "of a purged session", got)
}

// TestPurge: a machine takes out only what it recorded: states of purged sessions alone, and links to these sessions.
func TestPurge(t *testing.T) {
	r := newRemote(t)
	r.tell(ada, files([]string{here, other}, state("1", "f", here, link(here, "m")), state("2", "f", here, link(other, "n"), link(here, "o"))))
	r.tell(bo, files([]string{here}, state("1", "f", here, link(here, "p")), state("3", "f", here)))
	there := travel.Project(r.State)
	if got := there.Holders(here); len(got) != 2 {
		t.Errorf("the holders are %v", got)
	}
	ops, dead := travel.Purge(there, ada, func(id string) bool { return id == here })
	var drops []string
	for _, op := range ops {
		drops = append(drops, fmt.Sprintf("%s %s %s %d", op.Do, op.Entity, op.Field, len(op.Stamps)))
		for _, s := range op.Stamps {
			if s.Machine != ada {
				t.Errorf("%+v drops what another machine recorded", op)
			}
		}
	}
	same(t, "dropped", drops, "drop state/1 record 1", "drop state/1 links 1", "drop state/2 links 1")
	if len(dead) != 2 || !dead["1"] || !dead["3"] {
		t.Errorf("dead are %v", dead)
	}
}

// TestObjects: runs of objects are recognized, and what was deleted permanently is recorded once.
func TestObjects(t *testing.T) {
	r := newRemote(t)
	op := travel.Objects("f", []byte("pack"))
	if !travel.IsObjects(op.Op) || len(op.Items) != 1 || string(op.Items[0].Content) != "pack" {
		t.Errorf("the operation is %+v", op)
	}
	for _, o := range []record.Op{{Do: record.Set, Entity: "folder/f", Field: "objects"}, {Do: record.Add, Entity: "folder/", Field: "objects"}, {Do: record.Add, Entity: "state/f", Field: "objects"}, {Do: record.Add, Entity: "folder/f", Field: "about"}} {
		if travel.IsObjects(o) {
			t.Errorf("%+v adds objects", o)
		}
	}
	run := record.Stamp{Lamport: 1, Machine: ada, Seq: 1}
	if ops := travel.ReplaceObjects("f", run, nil); len(ops) != 1 || ops[0].Do != record.Drop {
		t.Errorf("a run that is dropped: %+v", ops)
	}
	if ops := travel.ReplaceObjects("f", run, []byte("less")); len(ops) != 2 || ops[0].Do != record.Add || ops[1].Do != record.Drop {
		t.Errorf("a run that is replaced: %+v", ops)
	}
	for _, op := range travel.Forget(travel.Project(r.State), []string{"1", "2"}) {
		r.add(ada, op.Op)
	}
	same(t, "forgotten", travel.Project(r.State).Forgotten, "1", "2")
	if ops := travel.Forget(travel.Project(r.State), []string{"2", "3"}); len(ops) != 1 || string(ops[0].Value) != `"3"` {
		t.Errorf("forgotten again: %+v", ops)
	}
}
