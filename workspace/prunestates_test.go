package workspace_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/restores"
)

// A bounded is a workspace with states of a folder, whose clock is set by the test.
type bounded struct {
	*space
	dir    string
	now    time.Time
	opts   workspace.Options
	states []string // ids, oldest first
}

func newBounded(t *testing.T, r checkpoint.Retention) *bounded {
	b := &bounded{space: &space{t: t}, dir: t.TempDir(), now: time.Date(2026, 5, 25, 12, 0, 0, 0, time.UTC)}
	b.opts = workspace.Options{
		Retention: r, Now: func() time.Time { return b.now },
		Note: func(note string) { b.notes = append(b.notes, note) },
	}
	b.open(t.TempDir(), 0)
	return b
}

func (b *bounded) open(dir string, limit int64) {
	b.t.Helper()
	b.opts.FilesLimit = limit
	w, err := workspace.Open(b.t.Context(), dir, &b.opts)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Workspace = w
}

// snap takes a state with 10 KB of new content, which another program is said to have taken for
// the reason at.
func (b *bounded) snap(ref, at string) {
	b.t.Helper()
	content := make([]byte, 10_000)
	rand.Read(content)
	if err := os.WriteFile(filepath.Join(b.dir, "data"), content, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.snapAt(ref, at)
}

// snapAt is snap without new content.
func (b *bounded) snapAt(ref, at string) {
	b.t.Helper()
	st, err := b.Folder(b.dir).Snap(b.t.Context(), ref, files.SnapOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.states = append(b.states, st.ID)
	lines := strings.SplitAfter(b.read("states/states.jsonl"), "\n")
	last := &lines[len(lines)-2]
	*last = strings.Replace(*last, `"manual"`, fmt.Sprintf("%q", at), 1)
	b.write("states/states.jsonl", strings.Join(lines, ""))
}

// left returns the numbers of the states that exist, and checks that each can be read.
func (b *bounded) left() string {
	b.t.Helper()
	list, err := b.States(b.t.Context(), "")
	if err != nil {
		b.t.Fatal(err)
	}
	var numbers []string
	for _, st := range list.States {
		numbers = append(numbers, fmt.Sprint(slices.Index(b.states, st.ID)))
		if e, err := b.Folder(b.dir).Show(b.t.Context(), st.ID, "data"); err != nil || e.Size != 10_000 {
			b.t.Errorf("the state %s: %v", st.ID, err)
		}
	}
	return strings.Join(numbers, " ")
}

func (b *bounded) size() (bytes int64) {
	packs, err := filepath.Glob(filepath.Join(b.Dir(), "states", "*.zst"))
	for _, name := range packs {
		info, failed := os.Stat(name)
		if failed != nil {
			b.t.Fatal(failed)
		}
		bytes += info.Size()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return bytes
}

// TestFilesLimit: if the states are larger than the limit, the oldest automatic ones go, but
// none that is not automatic, or that a named checkpoint, a branch, a bookmark, an operation of
// the last week or an exploration needs; and the user hears once that nothing more can go.
func TestFilesLimit(t *testing.T) {
	t.Parallel()
	b := newBounded(t, checkpoint.Retention{})
	id := b.new("Bread")
	say := func() string { return b.append(workspace.Append{Session: id, Text: fmt.Sprint(len(b.states))}).Message }
	for _, at := range []string{"manual", "prompt", "prompt", "prompt", "prompt", "prompt", "prompt", "prompt", "end", "end"} {
		message := say()
		b.snap(id+"@"+message, at)
		switch len(b.states) - 1 {
		case 1: // and 2, with the checkpoint's nearest state
			b.checkpoint(id + "@" + message)
		case 2:
			if _, err := b.Branch(t.Context(), id+"@"+message, workspace.SnapshotOptions{}); err != nil {
				t.Fatal(err)
			}
		case 3:
			b.bookmark(id+"@"+message, "here")
		case 4:
			b.write("explorations/x.json", fmt.Sprintf(`{"states":[%q]}`, b.states[4]))
		}
	}
	all := b.size()
	b.open(b.Dir(), all-1)
	dry, err := b.Prune(t.Context(), workspace.PruneOptions{DryRun: true})
	if err != nil || len(dry.States) != 2 || dry.States[0].ID != b.states[5] || dry.States[1].ID != b.states[6] {
		t.Errorf("a dry run: %+v, %v", dry, err)
	}
	if got := b.left(); got != "0 1 2 3 4 5 6 7 8 9" {
		t.Errorf("a dry run leaves %s", got)
	}
	done, err := b.Prune(t.Context(), workspace.PruneOptions{})
	if err != nil || !slices.Equal(done.States, dry.States) {
		t.Errorf("Prune = %+v, %v; want %+v", done, err, dry)
	}
	if got, size := b.left(), b.size(); got != "0 1 2 3 4 7 8 9" || size > all-1 {
		t.Errorf("a prune leaves %s, and %d bytes of %d", got, size, all)
	}
	healthy(t, b.space)

	b.open(b.Dir(), 1)
	b.notes = nil
	for range 3 {
		b.snap(id, "manual")
	}
	if got := b.left(); got != "0 1 2 3 4 7 8 9 10 11 12" { // 8 is the end of the turn of 7
		t.Errorf("a limit of one byte leaves %s", got)
	}
	if len(b.notes) != 1 || !strings.Contains(b.notes[0], "no more can be removed") {
		t.Errorf("the notes are %q", b.notes)
	}
	b.open(b.Dir(), -1)
	b.snap(id, "manual")
	if len(b.notes) != 1 {
		t.Errorf("without a limit the notes are %q", b.notes)
	}
}

// TestPruneStatesOfOperations: a state that an operation names stays for a week.
func TestPruneStatesOfOperations(t *testing.T) {
	t.Parallel()
	b := newBounded(t, checkpoint.Retention{})
	id := b.new("Bread")
	for range 3 {
		b.snap("", "restore")
	}
	if _, err := b.Line(id).AddEvent(t.Context(), b.states[0], nil); err != nil {
		t.Fatal(err)
	}
	b.open(b.Dir(), 1)
	for _, c := range []struct {
		later time.Duration
		want  string
	}{{6 * 24 * time.Hour, "0 2"}, {2 * 24 * time.Hour, "2"}} {
		b.now = b.now.Add(c.later)
		if _, err := b.Prune(t.Context(), workspace.PruneOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := b.left(); got != c.want {
			t.Errorf("after %v more the states are %s, want %s", c.later, got, c.want)
		}
	}
}

// TestPruneClockRanBackwards: what undo needs stays although a later operation has an earlier
// time.
func TestPruneClockRanBackwards(t *testing.T) {
	t.Parallel()
	b := newBounded(t, checkpoint.Retention{})
	id := b.new("Bread")
	for range 3 {
		b.snap("", "restore")
	}
	now := b.now
	for i, at := range []time.Time{now, now.AddDate(0, -1, 0)} {
		b.now = at
		if _, err := b.Line(id).AddEvent(t.Context(), b.states[i], nil); err != nil {
			t.Fatal(err)
		}
	}
	b.now = now.AddDate(0, 0, 1)
	b.open(b.Dir(), 1)
	if _, err := b.Prune(t.Context(), workspace.PruneOptions{}); err != nil || b.left() != "0 2" {
		t.Errorf("the states are %s, %v", b.left(), err)
	}
}

// TestPostponedPrune: a state that is taken in a hurry removes none and merges no packs, and says
// whether that is due; the prune that is made later does both.
func TestPostponedPrune(t *testing.T) {
	t.Parallel()
	b := newBounded(t, checkpoint.Retention{})
	for range 4 {
		b.snap("", "end")
	}
	take := func() (due bool) {
		t.Helper()
		st, err := b.Folder(b.dir).Snap(t.Context(), "", files.SnapOptions{At: "end", KeepOld: true})
		if err != nil {
			t.Fatal(err)
		}
		b.states = append(b.states, st.ID)
		return st.PruneDue
	}
	if take() {
		t.Error("a prune is due, and there is room")
	}
	b.open(b.Dir(), b.size()-1)
	if due := take(); !due || b.left() != "0 1 2 3 4 5" {
		t.Errorf("due is %t, and the states are %s", due, b.left())
	}
	done, err := b.Prune(t.Context(), workspace.PruneOptions{States: true})
	if err != nil || len(done.States) == 0 || strings.HasPrefix(b.left(), "0") || b.size() > b.opts.FilesLimit {
		t.Errorf("the prune removes %+v, %v; the states are %s", done, err, b.left())
	}
	if take() {
		t.Error("a prune is due after a prune")
	}
}

// TestStatesGoWithCheckpoints: when an automatic checkpoint is deleted from the trash, the
// automatic states at its message go, unless another session begins there; until then its prune
// can be undone, with the states.
func TestStatesGoWithCheckpoints(t *testing.T) {
	t.Parallel()
	for _, packing := range []checkpoint.Packing{checkpoint.PackNone, checkpoint.PackAll} {
		t.Run(string(packing), func(t *testing.T) {
			b := newBounded(t, checkpoint.Retention{Limit: 1, EveryNth: 1 << 30})
			b.opts.Packing = packing
			b.open(b.Dir(), 0)
			id := b.new("Bread")
			for i := range 5 {
				b.now = b.now.Add(time.Hour)
				message := b.append(workspace.Append{Session: id, Text: fmt.Sprint(i)}).Message
				if _, err := b.Checkpoint(t.Context(), id, workspace.SnapshotOptions{Auto: true, KeepOld: true}); err != nil {
					t.Fatal(err)
				}
				at := "prompt"
				if i == 1 {
					at = "manual"
				}
				b.snap(id+"@"+message, at)
				if i == 2 {
					b.checkpoint(id + "@" + message)
				}
			}
			prune := func() *workspace.PruneResult {
				t.Helper()
				p, err := b.Prune(t.Context(), workspace.PruneOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			b.now = b.now.Add(48 * time.Hour)
			if p := prune(); len(p.States) != 0 || b.left() != "0 1 2 3 4" {
				t.Errorf("the prune removes %+v", p.States)
			}
			b.now = b.now.Add(8 * 24 * time.Hour)
			p := prune()
			if got := b.left(); got != "1 2 4" || len(p.States) != 2 {
				data, _ := json.Marshal(p)
				t.Errorf("a week later the states are %s: %s", got, data)
			}
			healthy(t, b.space)
		})
	}
}

// TestUndoOfPrunedRestore: for a week, a restore can be undone although the states take more than
// the limit; then undo refuses, says why, and changes nothing.
func TestUndoOfPrunedRestore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		later time.Duration
		code  fault.Code
	}{{6 * 24 * time.Hour, ""}, {8 * 24 * time.Hour, fault.Refused}} {
		b := newBounded(t, checkpoint.Retention{})
		id := b.new("Bread")
		one := b.append(workspace.Append{Session: id, Text: "one"}).Message
		b.snap(id+"@"+one, "manual")
		two := b.append(workspace.Append{Session: id, Text: "two"}).Message
		b.snap(id+"@"+two, "prompt")
		data := filepath.Join(b.dir, "data")
		was, err := os.ReadFile(data)
		if err != nil {
			t.Fatal(err)
		}
		r, err := b.Folder(b.dir).RestoreFiles(t.Context(), id+"@"+one, restores.Options{Whole: true})
		if err != nil || r.Before == "" {
			t.Fatalf("%+v, %v", r, err)
		}
		restored, err := os.ReadFile(data)
		if err != nil {
			t.Fatal(err)
		}
		b.now = b.now.Add(c.later)
		b.snap(id+"@"+two, "prompt") // newer states of each kind
		if err := os.WriteFile(data, restored, 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			b.snapAt(id+"@"+two, "restore")
		}
		b.open(b.Dir(), 1)
		if _, err := b.Prune(t.Context(), workspace.PruneOptions{}); err != nil {
			t.Fatal(err)
		}
		_, err = b.Undo(t.Context(), history.UndoOptions{})
		want := was
		if c.code != "" {
			want = restored
		}
		if got, _ := os.ReadFile(data); string(got) != string(want) {
			t.Errorf("after %v, undo leaves another content", c.later)
		}
		if e := workspace.Explain(err); c.code == "" && err != nil || c.code != "" && (e == nil || e.Code != c.code || !strings.Contains(e.Message, "state")) {
			t.Errorf("after %v: undo: %v", c.later, err)
		}
	}
}

// TestPruneTemporaryFolders: the states of folders that were to be removed go after a day.
func TestPruneTemporaryFolders(t *testing.T) {
	t.Parallel()
	b := newBounded(t, checkpoint.Retention{})
	b.new("Bread")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"prompt", "end"} {
		if _, err := b.Folder(dir).Snap(t.Context(), "", files.SnapOptions{At: at, Temporary: true}); err != nil {
			t.Fatal(err)
		}
	}
	b.snap("", "prompt")
	b.open(b.Dir(), 1)
	for _, c := range []struct {
		later time.Duration
		want  int
	}{{23 * time.Hour, 0}, {2 * time.Hour, 2}} {
		b.now = b.now.Add(c.later)
		p, err := b.Prune(t.Context(), workspace.PruneOptions{})
		if err != nil || len(p.States) != c.want {
			t.Errorf("after %v more %+v go, %v", c.later, p, err)
		}
	}
	if got := b.left(); got != "0" {
		t.Errorf("the states %s are left", got)
	}
}

// TestTurnsGoWithCheckpoints: with the automatic checkpoint before a turn go the states before and
// after the turn, both or, if one is needed, none.
func TestTurnsGoWithCheckpoints(t *testing.T) {
	t.Parallel()
	b := newBounded(t, checkpoint.Retention{Limit: 1, EveryNth: 1 << 30})
	id := b.new("Bread")
	for i := range 4 {
		b.now = b.now.Add(time.Hour)
		if i > 0 {
			if _, err := b.Checkpoint(t.Context(), id, workspace.SnapshotOptions{Auto: true, KeepOld: true}); err != nil {
				t.Fatal(err)
			}
		}
		asked := b.append(workspace.Append{Session: id, Text: fmt.Sprint(i)}).Message
		b.snap(id+"@"+asked, "prompt")
		answered := b.append(workspace.Append{Session: id, Text: fmt.Sprint(i), Role: "assistant"}).Message
		b.snap(id+"@"+answered, "end")
		if i == 2 {
			b.bookmark(id+"@"+answered, "here")
		}
	}
	for range 2 {
		b.now = b.now.Add(8 * 24 * time.Hour)
		if _, err := b.Prune(t.Context(), workspace.PruneOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.left(); got != "0 1 4 5 6 7" {
		t.Errorf("the states are %s", got)
	}
}

// TestPruneDamagedStates: if a line or a pack of the states is damaged, no state is removed, and a
// note says why.
func TestPruneDamagedStates(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*bounded){
		"line": func(b *bounded) { b.write("states/states.jsonl", "{}\n"+b.read("states/states.jsonl")) },
		"pack": func(b *bounded) {
			data := b.read("states/000001.zst")
			b.write("states/000001.zst", data[:len(data)-4])
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBounded(t, checkpoint.Retention{})
			b.new("Bread")
			for range 3 {
				b.snap("", "prompt")
			}
			damage(b)
			b.open(b.Dir(), 1)
			b.notes = nil
			before := b.read("states/states.jsonl")
			p, err := b.Prune(t.Context(), workspace.PruneOptions{})
			if err != nil || len(p.States) > 0 || b.read("states/states.jsonl") != before {
				t.Errorf("%+v, %v", p, err)
			}
			if !strings.Contains(strings.Join(b.notes, "\n"), "no state of a folder is removed") {
				t.Errorf("the notes are %q", b.notes)
			}
		})
	}
}
