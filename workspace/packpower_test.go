package workspace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
)

// TestPackedAfterPowerLoss: a frame that is whole in its header only, as a power failure may
// leave it, is not used by any later checkpoint.
func TestPackedAfterPowerLoss(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.bread()
	s.abandon(func(frame []byte) []byte {
		clear(frame[len(frame)-300:])
		return frame
	})
	for _, text := range []string{"e", "f", "g"} {
		want := s.texts("Bread")
		if got := s.texts(s.packed("Bread").ID); got != want {
			t.Fatalf("the packed checkpoint is %.300q, want %.300q", got, want)
		}
		s.append(workspace.Append{Session: "Bread", Text: text})
	}
}

// TestPackedRewritten: new messages before and after one that the pack has are checksummed
// in their order.
func TestPackedRewritten(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.say("one", "two", "three", "four", "five")
	s.packed("Bread")
	name := session.FileName(id)
	s.write(name, strings.NewReplacer(`"two"`, `"2"`, `"four"`, `"4"`).Replace(s.read(name)))
	cp := s.packed("Bread")
	if got := s.texts(cp.ID); got != "one 2 three 4 five" {
		t.Errorf("the checkpoint is %q", got)
	}
	s.did(unpack(cp.ID))
	if !s.session(cp.ID).FitsSeal {
		t.Error("the checkpoint does not fit its seal")
	}
}

// TestPackedTrash: the pack keeps the messages of a removed checkpoint, also those that no
// other one needs, through later checkpoints and upkeep, so that undo restores it.
func TestPackedTrash(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("Bread")
	s.say("a", "b")
	s.packed("Bread")
	s.say(noise(1))
	removed := s.packed("Bread").ID
	want := s.texts(removed)
	s.did(remove(removed, workspace.RemoveOptions{}))
	name := session.FileName(id)
	s.write(name, strings.Replace(s.read(name), `"content": "1 `, `"content": "2 `, 1))
	other := s.packed("Bread").ID
	s.did(remove(other, workspace.RemoveOptions{}), pruneTo(9))
	s.append(workspace.Append{Session: "Bread", Text: "c"})
	s.packed("Bread")
	s.did(pruneTo(9))
	if _, err := s.Undo(t.Context(), history.UndoOptions{In: removed}); err != nil {
		t.Fatal(err)
	}
	if got := s.texts(removed); got != want {
		t.Errorf("the restored checkpoint is %.100q, want %.100q", got, want)
	}
	s.healthy("restored")
}

// TestTidyVerifies: if the disk changes a byte of a rewritten pack, it does not replace the
// former one.
func TestTidyVerifies(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	kept := s.bread()
	s.lose(s.packed("Bread").ID)
	before, err := os.ReadFile(s.packFile())
	if err != nil {
		t.Fatal(err)
	}
	want, flipped := s.texts(kept), 0
	restore := durable.Interpose(func(root *os.Root, step durable.Step) error {
		if root.Name() == s.Dir() && step.Do == durable.Write && strings.HasSuffix(step.Name, ".zst"+durable.TempSuffix) {
			flipped++
			step.Data[len(step.Data)-1] ^= 1
		}
		return nil
	})
	pruneTo(9)(s) // it notes that packs are not rewritten
	restore()
	after, err := os.ReadFile(s.packFile())
	if flipped == 0 || err != nil || !bytes.Equal(before, after) {
		t.Errorf("%d bytes flipped: the pack is replaced: %v, %v", flipped, !bytes.Equal(before, after), err)
	}
	if got := s.texts(kept); got != want {
		t.Errorf("the checkpoint is %.100q, want %.100q", got, want)
	}
	s.did(pruneTo(9))
	if after, err := os.ReadFile(s.packFile()); err != nil || len(after) >= len(before) {
		t.Errorf("a later prune leaves %d bytes of %d, %v", len(after), len(before), err)
	}
}

// TestPackedName: the name of a pack that no recipe uses is made durable before the recipe
// that uses it: a process may have been killed before it did that.
func TestPackedName(t *testing.T) {
	s := openSpace(t, t.TempDir(), 0)
	s.lose(s.bread())
	for i, want := range []string{"sync syncdir rename syncdir", "sync rename syncdir"} {
		if i == 1 {
			s.append(workspace.Append{Session: "Bread", Text: "more"})
		}
		var steps []string
		restore := durable.Interpose(func(_ *os.Root, step durable.Step) error {
			switch {
			case step.Do == durable.Sync && strings.HasSuffix(step.Name, ".zst"),
				step.Do == durable.SyncDir && step.Name == "packed",
				step.Do == durable.Rename && strings.HasPrefix(step.To, "packed/"):
				steps = append(steps, string(step.Do))
			}
			return nil
		})
		s.packed("Bread")
		restore()
		if got := strings.Join(steps, " "); got != want {
			t.Errorf("packed checkpoint %d does %q, want %q", i, got, want)
		}
	}
}

// TestTidyBounded: a prune rewrites the packs that waste most, as many as the limit allows
// but at least one, and later prunes rewrite the others.
func TestTidyBounded(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	var kept, names []string // by the size of what is not needed
	for i, title := range []string{"Tea", "Soup", "Bread", "Rye"} {
		line := s.new(title)
		s.say("a", noise(i))
		kept = append(kept, s.packed(title).ID)
		for k := range 2 * (i + 2) {
			s.say(noise(10*i + k))
		}
		s.lose(s.packed(title).ID)
		names = append(names, filepath.Join(s.Dir(), sessions.PackFile(line)))
	}
	sizes := func() (list []int64) {
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, info.Size())
		}
		return list
	}
	var want []string
	for _, id := range kept {
		want = append(want, s.texts(id))
	}
	before := sizes()
	if !slices.IsSorted(before) {
		t.Fatalf("the packs have %d bytes", before)
	}
	for _, c := range []struct {
		limit     int64
		rewritten int // so far
	}{{1, 1}, {1 << 20, 4}, {1, 4}} {
		s.SetTidy(c.limit)
		if _, err := s.Prune(t.Context(), workspace.PruneOptions{}); err != nil {
			t.Fatal(err)
		}
		for i, size := range sizes() {
			if rewritten := size < before[i]; rewritten != (i >= len(names)-c.rewritten) {
				t.Errorf("limit %d: the pack of %d bytes has %d bytes", c.limit, before[i], size)
			}
		}
	}
	for i, id := range kept {
		if got := s.texts(id); got != want[i] {
			t.Errorf("the checkpoint is %.100q, want %.100q", got, want[i])
		}
	}
	s.healthy("rewritten")
}

// TestTidyAfterDamaged: a damaged pack, which is not rewritten, does not use the limit of a
// prune.
func TestTidyAfterDamaged(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	var names []string
	for i, title := range []string{"Soup", "Bread"} {
		line := s.new(title)
		s.say(noise(i))
		s.packed(title)
		for k := range 4 * (i + 1) {
			s.say(noise(10*i + k + 2))
		}
		s.lose(s.packed(title).ID)
		names = append(names, sessions.PackFile(line))
	}
	s.flip(names[1], len(s.read(names[1]))/8)
	before, damaged := s.read(names[0]), s.read(names[1])
	s.SetTidy(1)
	if _, err := s.Prune(t.Context(), workspace.PruneOptions{}); err != nil {
		t.Fatal(err)
	}
	if s.read(names[1]) != damaged {
		t.Error("the damaged pack was rewritten")
	}
	if after := s.read(names[0]); len(after) >= len(before) {
		t.Errorf("the other pack has %d bytes, %d before", len(after), len(before))
	}
}
