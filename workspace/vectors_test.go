package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
)

// eachVector runs f for every vector that keep accepts, on a copy of its files.
func eachVector(t *testing.T, keep func(*fixtures.Vector) bool, f func(*testing.T, *fixtures.Vector, *workspace.Workspace)) {
	t.Helper()
	vectors, err := fixtures.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, v := range vectors {
		if !keep(&v) {
			continue
		}
		ran++
		t.Run(v.Name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range slices.Sorted(maps.Keys(v.Files)) {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, v.Files[name], 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w, err := workspace.Open(context.Background(), dir, &workspace.Options{Settle: -1})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(v.About)
			f(t, &v, w)
		})
	}
	if ran == 0 {
		t.Fatal("no vectors")
	}
}

// ofEachClause returns keep, which with -short accepts only the first vector of each clause
// and result.
func ofEachClause(keep func(*fixtures.Vector) bool) func(*fixtures.Vector) bool {
	seen := map[string]bool{}
	return func(v *fixtures.Vector) bool {
		kind := fmt.Sprint(v.Clause, v.Expect)
		if !keep(v) || testsize.Of(seen[kind], false, false) {
			return false
		}
		seen[kind] = true
		return true
	}
}

// checkFiles fails the test if a file of dir differs from want, is missing, or is not in
// want, except for new files whose names begin with one of made.
func checkFiles(t *testing.T, dir string, want map[string][]byte, made ...string) {
	t.Helper()
	found := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, ok := want[name]
		if !ok {
			if !slices.ContainsFunc(made, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
				t.Errorf("%s was made", name)
			}
			return nil
		}
		found++
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil && !bytes.Equal(got, content) {
			t.Errorf("%s changed to\n%s", name, got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != len(want) {
		t.Errorf("%d of %d files exist", found, len(want))
	}
}

// messageIDs returns the ids of messages.
func messageIDs(messages []session.Message) []string {
	var ids []string
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// rawMessages returns the bytes of messages.
func rawMessages(messages []session.Message) []string {
	var raw []string
	for _, m := range messages {
		raw = append(raw, string(m.Raw))
	}
	return raw
}

func TestVectorsData(t *testing.T) {
	t.Parallel()
	data := func(v *fixtures.Vector) bool { return v.Expect == fixtures.Data }
	eachVector(t, data, func(t *testing.T, v *fixtures.Vector, w *workspace.Workspace) {
		conv, err := w.Show(t.Context(), v.Session, session.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := messageIDs(conv.Messages); !slices.Equal(got, v.Messages) {
			t.Errorf("messages = %q, want %q", got, v.Messages)
		}
		packed := slices.ContainsFunc(slices.Collect(maps.Keys(v.Files)), func(name string) bool { return strings.HasSuffix(name, ".gz") })
		for _, m := range conv.Messages {
			stored := packed
			for _, content := range v.Files {
				stored = stored || bytes.Contains(content, m.Raw)
			}
			if !stored || !bytes.Contains(conv.Document(), m.Raw) {
				t.Errorf("message %s is not in its file and in the document as %s", m.ID, m.Raw)
			}
		}
		times := 0
		for _, m := range conv.Messages {
			if _, ok := m.Time(); ok {
				times++
			}
		}
		if v.Times >= 0 && times != v.Times {
			t.Errorf("%d times can be read, want %d", times, v.Times)
		}
		if got := string(conv.Entry.Kind); v.Kind != "" && got != v.Kind {
			t.Errorf("kind = %s, want %s", got, v.Kind)
		}
		ancestry, err := w.Lineage(t.Context(), v.Session, session.ReadOptions{})
		lineage := ancestry.IDs
		if err != nil {
			t.Error(err)
		}
		if v.Lineage != nil && !slices.Equal(lineage, v.Lineage) {
			t.Errorf("lineage = %q, want %q", lineage, v.Lineage)
		}
		checkUsable(t, v, w)
		checkSeal(t, v, w)
		checkRefused(t, v, w)
	})
}

// checkUsable opens the other sessions of a vector.
func checkUsable(t *testing.T, v *fixtures.Vector, w *workspace.Workspace) {
	t.Helper()
	var listed []string
	for _, kind := range []session.Kind{"", session.Checkpoint} {
		listing, err := w.List(t.Context(), kind)
		entries := listing.Sessions
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			listed = append(listed, e.ID)
		}
	}
	for _, id := range v.Usable {
		conv, err := w.Show(t.Context(), id, session.ReadOptions{})
		if err != nil {
			t.Errorf("show %s: %v", id, err)
		} else if len(conv.Messages) == 0 {
			t.Errorf("show %s: no messages", id)
		}
		if !slices.Contains(listed, id) {
			t.Errorf("%s is not among %q", id, listed)
		}
	}
	if v.Expect == fixtures.Data {
		checkWhole(t, v, w, listed)
	}
	checkFiles(t, w.Dir(), v.Files)
}

// checkWhole fails the test if an undamaged vector has a problem, or a file that is not a
// session is listed.
func checkWhole(t *testing.T, v *fixtures.Vector, w *workspace.Workspace, listed []string) {
	t.Helper()
	want := append([]string{v.Session}, v.Usable...)
	slices.Sort(want)
	slices.Sort(listed)
	if listed = slices.Compact(listed); !slices.Equal(listed, want) {
		t.Errorf("sessions are %q, want %q", listed, want)
	}
	report, err := w.Doctor(t.Context(), doctor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		switch p.Kind {
		case doctor.DamagedSession, doctor.UnreadableSession, doctor.DamagedCheckpoint, doctor.Cycle, doctor.MissingAncestor:
			t.Errorf("doctor finds %s in %s: %s", p.Kind, p.Path, p.Detail)
		}
	}
}

func checkSeal(t *testing.T, v *fixtures.Vector, w *workspace.Workspace) {
	t.Helper()
	if v.Seal == "" {
		return
	}
	report, err := w.Doctor(t.Context(), doctor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	broken := slices.ContainsFunc(report.Problems, func(p doctor.Problem) bool {
		return p.Kind == doctor.BrokenSeal && p.Path == session.FileName(v.Session)
	})
	if want := v.Seal == "broken"; broken != want {
		t.Errorf("the seal is broken: %v, want %v: %v", broken, want, report.Problems)
	}
}

// checkRefused calls cuts that must be refused. It comes last, because it takes the lock.
func checkRefused(t *testing.T, v *fixtures.Vector, w *workspace.Workspace) {
	t.Helper()
	if v.Refused == nil {
		return
	}
	at := v.Session + "@" + v.Refused.At
	_, err := w.Checkpoint(t.Context(), at, workspace.SnapshotOptions{CutOptions: checkpoint.CutOptions{Strict: true}})
	var cut *checkpoint.ToolCutError
	if !errors.As(err, &cut) {
		t.Fatalf("checkpoint at %s: %v", v.Refused.At, err)
	}
	if got := (fixtures.Refused{At: cut.Message, Before: cut.Before, After: cut.After}); got != *v.Refused {
		t.Errorf("refused = %q, want %q", got, *v.Refused)
	}
	checkFiles(t, w.Dir(), v.Files, ".bough/")
	snap, err := w.Checkpoint(t.Context(), at, workspace.SnapshotOptions{})
	switch {
	case v.Refused.Before == "":
		if !errors.As(err, &cut) {
			t.Errorf("checkpoint at %s, without an allowed place before: %v", v.Refused.At, err)
		}
	case err != nil || string(snap.BranchPoint) != v.Refused.Before || string(snap.Requested) != v.Refused.At:
		t.Errorf("checkpoint at %s: %+v, %v, want one at %s", v.Refused.At, snap, err, v.Refused.Before)
	}
}

func TestVectorsBroken(t *testing.T) {
	t.Parallel()
	broken := func(v *fixtures.Vector) bool { return v.Expect != fixtures.Data }
	eachVector(t, broken, func(t *testing.T, v *fixtures.Vector, w *workspace.Workspace) {
		_, err := w.Show(t.Context(), v.Session, session.ReadOptions{})
		if err == nil {
			t.Fatal("it opens")
		}
		var damage *session.DamageError
		var missing *index.MissingError
		var cycle *index.CycleError
		switch {
		case v.Expect == fixtures.Damage && errors.As(err, &damage):
			if damage.Path != v.Path || damage.Offset != v.Offset {
				t.Errorf("damage in %s at %d, want %s at %d: %v", damage.Path, damage.Offset, v.Path, v.Offset, err)
			}
		case v.Expect == fixtures.Missing && errors.As(err, &missing):
			if missing.ID != v.IDs[0] {
				t.Errorf("%s is missing, want %s", missing.ID, v.IDs[0])
			}
		case v.Expect == fixtures.Cycle && errors.As(err, &cycle):
			got, want := slices.Sorted(slices.Values(cycle.IDs)), slices.Sorted(slices.Values(v.IDs))
			if !slices.Equal(got, want) {
				t.Errorf("cycle of %q, want %q", got, want)
			}
		default:
			t.Errorf("want %s, got: %v", v.Expect, err)
		}
		if v.Expect != fixtures.Damage {
			if lineage, err := w.Lineage(t.Context(), v.Session, session.ReadOptions{}); workspace.Explain(err) == nil || workspace.Explain(err).Code != fault.Damaged {
				t.Errorf("lineage = %q, %v, want it %s", lineage, err, fault.Damaged)
			}
		}
		if code := workspace.Explain(err).Code; code != fault.Damaged {
			t.Errorf("code = %s, want %s", code, fault.Damaged)
		}
		checkUsable(t, v, w)

		for verb, change := range map[string]func() error{
			"append": func() error {
				_, err := w.Append(t.Context(), workspace.Append{Session: v.Session, Text: "Hm."})
				return err
			},
			"checkpoint": func() error { _, err := w.Checkpoint(t.Context(), v.Session, workspace.SnapshotOptions{}); return err },
		} {
			if err := change(); err == nil {
				t.Errorf("%s succeeds", verb)
			}
		}
		checkFiles(t, w.Dir(), v.Files, ".bough/")
	})
}

// TestVectorsSnapshot makes a checkpoint of each conversation and deletes all its sources:
// nothing is missing, and no byte of a message changed. A path with two messages of one id
// cannot be one file, and is refused.
func TestVectorsSnapshot(t *testing.T) {
	t.Parallel()
	data := func(v *fixtures.Vector) bool { return v.Expect == fixtures.Data }
	eachVector(t, ofEachClause(data), func(t *testing.T, v *fixtures.Vector, w *workspace.Workspace) {
		before, err := w.Show(t.Context(), v.Session, session.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		snap, err := w.Checkpoint(t.Context(), v.Session, workspace.SnapshotOptions{Name: "kept"})
		if ids := slices.Sorted(slices.Values(v.Messages)); len(slices.Compact(slices.Clone(ids))) < len(ids) {
			if err == nil {
				t.Error("a checkpoint has a duplicate id")
			}
			checkFiles(t, w.Dir(), v.Files, ".bough/")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		sources := maps.Clone(v.Files)
		const journal = session.Dir + "/session_index.journal"
		delete(sources, session.Dir+"/"+session.IndexFile)
		delete(sources, journal)
		maps.DeleteFunc(sources, func(name string, _ []byte) bool { return strings.HasSuffix(name, durable.TempSuffix) })
		checkFiles(t, w.Dir(), sources, ".bough/", "conversations/session_")
		for name := range v.Files {
			if err := os.Remove(filepath.Join(w.Dir(), filepath.FromSlash(name))); err != nil && name != journal && !strings.HasSuffix(name, durable.TempSuffix) {
				t.Fatal(err)
			}
		}
		after, err := w.Show(t.Context(), snap.ID, session.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := rawMessages(after.Messages), rawMessages(before.Messages); !slices.Equal(got, want) {
			t.Errorf("messages = %s, want %s", got, want)
		}
	})
}

// TestVectorsIndex: an unusable index or journal is reported, in one line, and repaired by
// the next change.
func TestVectorsIndex(t *testing.T) {
	t.Parallel()
	told := func(v *fixtures.Vector) bool { return slices.Contains([]string{"12.6", "12.13", "12.14"}, v.Clause) }
	eachVector(t, told, func(t *testing.T, v *fixtures.Vector, w *workspace.Workspace) {
		var notes []string
		w, err := workspace.Open(t.Context(), w.Dir(), &workspace.Options{Note: func(s string) { notes = append(notes, s) }})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{1, 0} {
			notes = nil
			if _, err := w.Show(t.Context(), v.Session, session.ReadOptions{}); err != nil {
				t.Fatal(err)
			}
			if len(notes) != want || want == 1 && !strings.Contains(notes[0], "the index") {
				t.Errorf("notes are %q, want %d", notes, want)
			}
			if _, err := w.Rename(t.Context(), v.Session, "Renamed"); err != nil {
				t.Fatal(err)
			}
		}
		old, there := v.Files["conversations/session_index.json"]
		torn := there && !(json.Valid(old) && old[0] == '{')
		trash, err := filepath.Glob(filepath.Join(w.Dir(), ".bough", "trash", "*", session.Dir, "session_index.json"))
		if err != nil {
			t.Fatal(err)
		}
		if torn != (len(trash) == 1) {
			t.Errorf("the index is not an object: %v; in the trash: %q", torn, trash)
		}
	})
}
