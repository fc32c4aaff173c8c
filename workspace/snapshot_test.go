package workspace_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

func TestCheckpoint(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("Bread")
	ids := s.say("a", "b", "c")
	before := s.read(session.FileName(root))
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.Checkpoint(t.Context(), root+"@"+ids[1], workspace.SnapshotOptions{Name: "Before rye"})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(snap.Path)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Kind != session.Checkpoint || snap.Title != "Before rye" || snap.MessageCount != 2 || snap.Bytes != info.Size() ||
		snap.Path != filepath.Join(s.Dir(), "conversations", snap.ID+".json") {
		t.Errorf("the checkpoint is %+v", snap)
	}
	if string(snap.BranchedFrom) != root || string(snap.BranchPoint) != ids[1] || !slices.Equal(snap.Lineage, []string{root, snap.ID}) || !slices.Equal(snap.ContinuedFrom, []string{root}) {
		t.Errorf("the checkpoint comes from %+v", snap.Entry)
	}
	if s.read(session.FileName(root)) != before {
		t.Error("the source changed")
	}
	if after, err := s.Head(t.Context()); err != nil || *after != *head {
		t.Errorf("the head is at %+v, %v", after, err)
	}
	s.say("d")
	if got := s.texts("Before rye"); got != "a b" {
		t.Errorf("the checkpoint shows %q", got)
	}
	for i, want := range []string{"Bread (checkpoint)", "Bread (checkpoint 2)", "Bread (checkpoint 3)"} {
		if snap := s.checkpoint([]string{root, root, "Bread (checkpoint)"}[i]); snap.Title != want {
			t.Errorf("checkpoint %d has the title %q, want %q", i, snap.Title, want)
		}
	}
	if !s.session(snap.ID).FitsSeal {
		t.Error("the checkpoint does not fit its seal")
	}
}

// TestAppendCheckpoint: an append to a checkpoint makes a branch first, each time.
func TestAppendCheckpoint(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root := s.new("Bread")
	s.say("a", "b")
	point := s.checkpoint(root)
	frozen := s.read(session.FileName(point.ID))
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	one := s.append(workspace.Append{Session: point.ID, Text: "c"})
	two := s.append(workspace.Append{Session: point.ID, Text: "d"})
	if one.Session == two.Session || one.Session == point.ID || string(one.ForkedFrom) != point.ID || string(two.ForkedFrom) != point.ID {
		t.Errorf("two messages to a checkpoint went to %+v and %+v", one, two)
	}
	if after, err := s.Head(t.Context()); err != nil || *after != *head {
		t.Errorf("the head moved to %+v, %v", after, err)
	}
	for out, want := range map[*workspace.AppendResult]string{one: "a b c", two: "a b d"} {
		if got := s.texts(out.Session); got != want {
			t.Errorf("the fork shows %q, want %q", got, want)
		}
		e := s.entry(out.Session)
		if e.Kind != session.Branch || e.MessageCount != 3 || string(e.BranchedFrom) != point.ID || !slices.Equal(e.Lineage, []string{root, point.ID, e.ID}) || s.member(e.ID, "message_count") != "3" {
			t.Errorf("the fork is %+v", e)
		}
	}
	if _, err := s.Restore(t.Context(), point.ID); err != nil {
		t.Fatal(err)
	}
	if pos, err := s.Head(t.Context()); err != nil || !pos.ReadOnly || pos.Head.Session != point.ID {
		t.Errorf("after Restore the head is at %+v, %v", pos, err)
	}
	three := s.append(workspace.Append{Text: "e"})
	if string(three.ForkedFrom) != point.ID {
		t.Errorf("the message after Restore went to %+v", three)
	}
	if pos, err := s.Head(t.Context()); err != nil || pos.ReadOnly || pos.Head.Session != three.Session || string(pos.Head.Message) != three.Message {
		t.Errorf("after the fork the head is at %+v, %v", pos, err)
	}
	if four := s.append(workspace.Append{Text: "f"}); four.Session != three.Session || four.ForkedFrom != "" {
		t.Errorf("the message after the fork went to %+v", four)
	}
	middle := s.append(workspace.Append{Session: point.ID, Parent: s.show(point.ID).Messages[0].ID, Text: "g"})
	if got := s.texts(middle.Session); got != "a g" {
		t.Errorf("a fork at the first message shows %q", got)
	}
	if s.read(session.FileName(point.ID)) != frozen {
		t.Error("the checkpoint changed")
	}
	healthy(t, s)
}

// TestSnapshotOfSnapshots: a checkpoint of a branch of a checkpoint has each message once,
// and depends on no other session.
func TestSnapshotOfSnapshots(t *testing.T) {
	t.Parallel()
	for _, dialect := range []session.Dialect{session.Bough, session.Penguin} {
		s := openSpace(t, t.TempDir(), 10)
		var root string
		if dialect == session.Penguin {
			files := testchat.Chat{Messages: 25, PerFile: 10, Text: 10, Odd: true}.Files()
			if err := testchat.Write(s.Dir(), files); err != nil {
				t.Fatal(err)
			}
			root = files[0].ID
		} else {
			root = s.new("")
			for range 25 {
				s.say("x")
			}
		}
		var all []testchat.Message
		for _, m := range s.show(root).Messages {
			all = append(all, testchat.Message{ID: m.ID, Raw: m.Raw})
		}
		one := s.checkpoint(root + "@" + all[14].ID)
		two := s.branch(one.ID)
		three := s.checkpoint(two.ID)
		four := s.branch(three.ID + "@" + all[3].ID)
		above := s.branch(three.ID + "@" + all[20].ID)
		for snap, n := range map[*workspace.Snapshot]int{one: 15, two: 15, three: 15, four: 4, above: 21} {
			sameMessages(t, dialect.String(), s.show(snap.ID), all[:n])
			if last := snap.Lineage[len(snap.Lineage)-1]; last != snap.ID || snap.Lineage[0] != root {
				t.Errorf("%v: the lineage is %q", dialect, snap.Lineage)
			}
		}
		if got, want := four.Lineage[len(four.Lineage)-4:], []string{one.ID, two.ID, three.ID, four.ID}; !slices.Equal(got, want) {
			t.Errorf("%v: the lineage of a branch of a checkpoint of a branch of a checkpoint is %q, want %q at its end", dialect, four.Lineage, want)
		}
		if isList := strings.HasPrefix(s.member(four.ID, "continued_from"), "["); isList != (dialect == session.Bough) {
			t.Errorf("%v: continued_from is %s", dialect, s.member(four.ID, "continued_from"))
		}
		lineage := slices.Clone(four.Lineage)
		for _, id := range allIDs(t, s) {
			if id != four.ID {
				if err := os.Remove(filepath.Join(s.Dir(), session.FileName(id))); err != nil {
					t.Fatal(err)
				}
			}
		}
		sameMessages(t, dialect.String()+", alone", s.show(four.ID), all[:4])
		if got, err := s.Lineage(t.Context(), four.ID, session.ReadOptions{}); err != nil || !slices.Equal(got.IDs, lineage) {
			t.Errorf("%v, alone: the lineage is %q, %v, want %q", dialect, got, err, lineage)
		}
	}
}

func allIDs(t *testing.T, s *space) (ids []string) {
	t.Helper()
	listing, err := s.List(t.Context(), "")
	entries := listing.Sessions
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// TestToolCut: a snapshot steps back from inside a tool call, or is refused with Strict.
func TestToolCut(t *testing.T) {
	t.Parallel()
	files := testchat.Chat{Messages: 30, PerFile: 30, Text: 10}.Files()
	s := openSpace(t, t.TempDir(), 0)
	if err := testchat.Write(s.Dir(), files); err != nil {
		t.Fatal(err)
	}
	at := files[0].ID + "@" + files[0].Messages[7].ID // a tool's call
	for verb, f := range map[string]func(workspace.SnapshotOptions) (*workspace.Snapshot, error){
		"Checkpoint": func(o workspace.SnapshotOptions) (*workspace.Snapshot, error) {
			return s.Checkpoint(t.Context(), at, o)
		},
		"Branch": func(o workspace.SnapshotOptions) (*workspace.Snapshot, error) { return s.Branch(t.Context(), at, o) },
	} {
		if _, err := f(workspace.SnapshotOptions{CutOptions: checkpoint.CutOptions{Strict: true}}); code(err) != fault.ToolCut ||
			!strings.Contains(workspace.Explain(err).Hint, files[0].Messages[6].ID) || !strings.Contains(workspace.Explain(err).Hint, files[0].Messages[8].ID) {
			t.Errorf("%s at a call: %v", verb, workspace.Explain(err))
		}
		snap, err := f(workspace.SnapshotOptions{})
		if err != nil || string(snap.BranchPoint) != files[0].Messages[6].ID || string(snap.Requested) != files[0].Messages[7].ID || !snap.SteppedBack {
			t.Errorf("%s at a call: %+v, %v", verb, snap, err)
		}
	}
	pos, err := s.Rewind(t.Context(), at, checkpoint.CutOptions{})
	if err != nil || string(pos.Head.Message) != files[0].Messages[6].ID || string(pos.Requested) != files[0].Messages[7].ID || !pos.SteppedBack {
		t.Errorf("Rewind to a call: %+v, %v", pos, err)
	}
	sameMessages(t, "Show at a call", s.show(at), files[0].Messages[:8])
	s.append(workspace.Append{Session: files[0].ID, Parent: files[0].Messages[7].ID, Text: "under a call"})
}

func TestPartial(t *testing.T) {
	t.Parallel()
	files := testchat.Chat{Messages: 30, PerFile: 10, Text: 10}.Files()
	s := openSpace(t, t.TempDir(), 0)
	if err := testchat.Write(s.Dir(), slices.Delete(slices.Clone(files), 1, 2)); err != nil {
		t.Fatal(err)
	}
	last := files[2].ID
	if _, err := s.Checkpoint(t.Context(), last, workspace.SnapshotOptions{}); code(err) != fault.Damaged || !strings.Contains(err.Error(), files[1].ID) {
		t.Errorf("Checkpoint of a line with a gap: %v", err)
	}
	snap, err := s.Checkpoint(t.Context(), last, workspace.SnapshotOptions{CutOptions: checkpoint.CutOptions{ReadOptions: session.ReadOptions{Partial: true}}})
	if err != nil {
		t.Fatal(err)
	}
	sameMessages(t, "what is there", s.show(snap.ID), files[2].Messages)
	if c, err := s.Show(t.Context(), last, session.ReadOptions{Partial: true}); err != nil {
		t.Error(err)
	} else {
		sameMessages(t, "Show of what is there", c, files[2].Messages)
	}
	sameMessages(t, "the first file", s.show(files[0].ID), files[0].Messages)
}

// TestPenguinCheckpoint: checkpoints that Penguin keeps apart can be shown and branched
// from, and are never written.
func TestPenguinCheckpoint(t *testing.T) {
	t.Parallel()
	files := testchat.Chat{Messages: 30, PerFile: 10, Text: 10, Odd: true}.Files()
	s := openSpace(t, t.TempDir(), 0)
	if err := testchat.Write(s.Dir(), files[:2]); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(`{"metadata":{"type":"auto","name":"Saved","auto":true,"session_id":"` + files[2].ID + `","created_at":"2026-05-25T18:00:00"},"session":`))
	z.Write(files[2].Data)
	z.Write([]byte("}"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s.write("checkpoints/cp_1.json.gz", packed.String())
	all := testchat.All(files)
	sameMessages(t, "an automatic checkpoint", s.show("cp_1"), all)
	if e := s.show("Saved").Entry; e.Kind != session.Checkpoint || e.ID != "cp_1" || string(e.BranchedFrom) != files[2].ID {
		t.Errorf("the checkpoint is %+v", e)
	}
	branch := s.branch("cp_1@" + all[15].ID)
	sameMessages(t, "a branch of it", s.show(branch.ID), all[:16])
	fork := s.append(workspace.Append{Session: "cp_1", Text: "on"})
	if got := s.show(fork.Session).Messages; len(got) != 31 || string(fork.ForkedFrom) != "cp_1" {
		t.Errorf("a message to it went to %+v, after %d", fork, len(got)-1)
	}
	if _, err := s.Restore(t.Context(), "cp_1"); err != nil {
		t.Error(err)
	}
	listing, err := s.List(t.Context(), session.Checkpoint)
	entries := listing.Sessions
	if err != nil || len(entries) != 1 || entries[0].ID != "cp_1" || entries[0].Title != "Saved" {
		t.Errorf("the checkpoints are %+v, %v", entries, err)
	}
	_, rename := s.Rename(t.Context(), "cp_1", "x")
	_, remove := s.Remove(t.Context(), "cp_1", workspace.RemoveOptions{})
	for verb, err := range map[string]error{"Rename": rename, "Remove": remove} {
		if code(err) != fault.ReadOnly {
			t.Errorf("%s: %v, want read only", verb, err)
		}
	}
	if s.read("checkpoints/cp_1.json.gz") != packed.String() {
		t.Error("the checkpoint changed")
	}
}
