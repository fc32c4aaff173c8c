package workspace_test

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
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
