package workspace_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
)

// TestPackedAfterPowerLoss: a frame that is whole in its header only, as a power failure may
// leave it, is not used by any later checkpoint.
func TestPackedAfterPowerLoss(t *testing.T) {
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
