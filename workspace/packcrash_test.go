package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/crashdisk"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/trash"
)

// packScenarios are the verbs that write to packs and recipes.
var packScenarios = []scenario{
	{name: "packed checkpoint, the first", packs: true, setup: func(s *space) verb {
		s.new("Bread")
		s.say(noise(1), noise(2))
		return packedAt("Bread")
	}},
	{name: "packed checkpoint, the next", packs: true, setup: func(s *space) verb {
		s.bread()
		return packedAt("Bread")
	}},
	{name: "packed checkpoint after a torn frame", packs: true, notes: []string{doctor.DamagedPack}, setup: func(s *space) verb {
		s.bread()
		s.abandon(func(frame []byte) []byte { return append(frame[:100], make([]byte, 4096)...) })
		return packedAt("Bread")
	}},
	{name: "packed checkpoint after a frame without content", packs: true, notes: []string{doctor.DamagedPack}, setup: func(s *space) verb {
		s.bread()
		s.abandon(func(frame []byte) []byte {
			clear(frame[len(frame)-300:])
			return frame
		})
		return packedAt("Bread")
	}},
	{name: "packed checkpoint of a checkpoint", packs: true, setup: func(s *space) verb {
		s.bread()
		return packedAt(s.packed("Bread").ID)
	}},
	{name: "undo of packed checkpoint", packs: true, setup: func(s *space) verb {
		s.bread()
		s.packed("Bread")
		return undo
	}},
	{name: "redo of packed checkpoint", packs: true, setup: func(s *space) verb {
		s.bread()
		return s.did(packedAt("Bread"), undo).then(redo)
	}},
	{name: "pack", packs: true, apart: true, setup: func(s *space) verb {
		s.plain()
		return packAll
	}},
	{name: "undo of pack", packs: true, apart: true, setup: func(s *space) verb {
		s.plain()
		return s.did(packAll).then(undo)
	}},
	{name: "redo of pack", packs: true, apart: true, setup: func(s *space) verb {
		s.plain()
		return s.did(packAll, undo).then(redo)
	}},
	{name: "unpack", packs: true, setup: func(s *space) verb {
		return unpack(s.bread())
	}},
	{name: "undo of unpack", packs: true, setup: func(s *space) verb {
		return s.did(unpack(s.bread())).then(undo)
	}},
	{name: "redo of unpack", packs: true, setup: func(s *space) verb {
		return s.did(unpack(s.bread()), undo).then(redo)
	}},
	{name: "rename of a packed checkpoint", packs: true, setup: func(s *space) verb {
		return rename(s.bread(), "Rye")
	}},
	{name: "undo of rename of a packed checkpoint", packs: true, setup: func(s *space) verb {
		return s.did(rename(s.bread(), "Rye")).then(undo)
	}},
	{name: "redo of rename of a packed checkpoint", packs: true, setup: func(s *space) verb {
		return s.did(rename(s.bread(), "Rye"), undo).then(redo)
	}},
	{name: "rm of a packed checkpoint", packs: true, setup: func(s *space) verb {
		return remove(s.bread(), workspace.RemoveOptions{})
	}},
	{name: "undo of rm of a packed checkpoint", packs: true, setup: func(s *space) verb {
		return s.did(remove(s.bread(), workspace.RemoveOptions{})).then(undo)
	}},
	{name: "redo of rm of a packed checkpoint", packs: true, setup: func(s *space) verb {
		return s.did(remove(s.bread(), workspace.RemoveOptions{}), undo).then(redo)
	}},
	{name: "packed checkpoint after a removed one", packs: true, setup: func(s *space) verb {
		s.bread()
		return s.did(remove(s.packed("Bread").ID, workspace.RemoveOptions{})).then(packedAt("Bread"))
	}},
	{name: "prune that compresses a pack", packs: true, setup: func(s *space) verb {
		s.bread()
		s.rawPack()
		return pruneTo(9)
	}},
	{name: "prune that rewrites a pack", packs: true, setup: func(s *space) verb {
		s.bread()
		s.lose(s.packed("Bread").ID)
		return pruneTo(9)
	}},
	{name: "prune that removes a pack", packs: true, notes: []string{doctor.UnusedPack}, setup: func(s *space) verb {
		s.lose(s.bread())
		return pruneTo(9)
	}},
	{name: "prune of packed checkpoints, with a purge", packs: true, setup: func(s *space) verb {
		s.new("Bread")
		for i := range 3 {
			s.say(noise(i))
			if _, err := s.Checkpoint(s.t.Context(), "Bread", workspace.SnapshotOptions{Auto: true, Packed: true}); err != nil {
				s.t.Fatal(err)
			}
		}
		return s.did(pruneOn(2, 2)).then(pruneOn(20, 1))
	}},
	{name: "trash --purge of a packed checkpoint", packs: true, erases: noise(3), setup: func(s *space) verb {
		id := s.new("Bread")
		s.say(noise(1), noise(2))
		s.packed("Bread")
		s.say(noise(3))
		s.did(remove(s.packed("Bread").ID, workspace.RemoveOptions{}), remove(id, workspace.RemoveOptions{Force: true}))
		return purge
	}},
}

// packRecoveries are the completions of interrupted verbs of packScenarios by the next
// writer.
func packRecoveries() (list []scenario) {
	for _, sc := range packScenarios {
		switch sc.name {
		case "packed checkpoint, the first", "packed checkpoint, the next", "pack", "undo of pack", "unpack", "undo of unpack",
			"rename of a packed checkpoint", "rm of a packed checkpoint":
			list = append(list, scenario{
				name: "recovery of " + sc.name, packs: true, apart: true, interrupted: sc.setup,
				setup: func(s *space) verb {
					s.new("Tea")
					s.say("a")
					return add(workspace.Append{Session: "Tea", Text: "b"})
				},
			})
		}
	}
	return list
}

// hasTornPack reports whether a pack has bytes after its last whole frame.
func hasTornPack(t crashdisk.Tree) bool {
	for name, f := range t {
		if f == nil || !strings.HasPrefix(name, place+"/"+sessions.PackedDir+"/") || !strings.HasSuffix(name, packExt) {
			continue
		}
		p, err := pack.New(name, bytes.NewReader(f.Data), int64(len(f.Data)))
		if err != nil || p.End() != p.Size() {
			return true
		}
	}
	return false
}

// rawPack replaces the pack with one whose frames are not compressed.
func (s *space) rawPack() {
	s.t.Helper()
	name := s.packFile()
	data, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := pack.New("pack", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		s.t.Fatal(err)
	}
	var raw bytes.Buffer
	w := pack.NewWriter(&raw, 0, 0, true)
	err = p.Read(0, p.Len(), func(_ int, item []byte) error { return w.Add(item) })
	if err := errors.Join(err, w.Flush(), os.WriteFile(name, raw.Bytes(), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

// pruneTo returns a prune that keeps a number of automatic checkpoints.
func pruneTo(limit int) verb { return pruneOn(2, limit) }

// pruneOn returns a prune at a day.
func pruneOn(day, limit int) verb {
	return func(s *space) error {
		w, err := workspace.Open(context.Background(), s.Dir(), &workspace.Options{
			Retention: checkpoint.Retention{KeepAll: -1, MaxAge: -1, Limit: limit},
			Now:       func() time.Time { return time.Date(2026, 5, day, 15, 32, 2, 0, time.UTC) },
		})
		if err == nil {
			_, err = w.Prune(context.Background(), workspace.PruneOptions{})
		}
		return err
	}
}

func purge(s *space) error {
	_, err := s.PurgeTrash(context.Background(), trash.PurgeOptions{})
	return err
}

// repackOnce calls repack, but not again for a folder with the same content: the next writer
// turns most of the states that a crash leaves into a few. The times of files do not count,
// nor the index, which doctor has compared with the files.
func (c *crash) repackOnce(v *verdict, base string) {
	t := withoutLock(c.read(base))
	delete(t, place+"/"+session.IndexPath)
	for name, f := range t {
		if f != nil {
			t[name] = &crashdisk.File{Data: f.Data}
		}
	}
	if log := t[place+"/"+operation.Path]; log != nil {
		log.Data = loggedTime.ReplaceAll(log.Data, nil)
	}
	sum := t.Sum()
	if _, known := c.repacked[sum]; !known {
		again := &verdict{}
		c.repack(again, base)
		c.repacked[sum] = again.wrong
	}
	v.wrong = append(v.wrong, c.repacked[sum]...)
}

// loggedTime matches what differs in the lines of two logs if only the times of files do.
var loggedTime = regexp.MustCompile(`,"mtime":"[0-9]+"|,"crc32c":"[0-9a-f]+"\}\n`)

// repack checks that packed checkpoints can be taken of what a crash left: of the same
// messages, and of more, and that they leave the others as they are.
func (c *crash) repack(v *verdict, base string) {
	s := c.open(base, 6)
	if c.erases != "" {
		c.purgeAgain(v, base, s)
	}
	was, err := c.look(base, "")
	if err != nil {
		v.is("cannot be read before the next packed checkpoint", "%v", err)
		return
	}
	for i := range 3 {
		if _, ok := c.sessionNamed(s, "Bread"); !ok {
			return
		}
		if i > 0 {
			if _, err := s.Append(context.Background(), workspace.Append{Session: "Bread", Text: fmt.Sprint("more ", i)}); err != nil {
				v.is("no append before the next packed checkpoint", "%v", err)
				return
			}
		}
		snap, err := s.Checkpoint(context.Background(), "Bread", workspace.SnapshotOptions{Packed: true, Name: fmt.Sprint("next ", i)})
		if err != nil {
			v.is("no next packed checkpoint", "%v", err)
			return
		}
		if i == 2 {
			if err := pruneOn(7, 9)(s); err != nil {
				v.is("no upkeep", "%v", err)
			}
		}
		want, err := s.Show(context.Background(), "Bread", session.ReadOptions{})
		got, failed := s.Show(context.Background(), snap.ID, session.ReadOptions{})
		if err = errors.Join(err, failed); err != nil {
			v.is("the next packed checkpoint cannot be read", "%d: %v", i, err)
			return
		}
		same := func(a, b session.Message) bool { return bytes.Equal(a.Raw, b.Raw) }
		if !slices.EqualFunc(got.Messages, want.Messages, same) {
			v.is("the next packed checkpoint has other messages", "%d: %q, want %q", i, got.Messages, want.Messages)
		}
	}
	is, err := c.look(base, "")
	if err != nil {
		v.is("cannot be read after the next packed checkpoint", "%v", err)
		return
	}
	bread, _ := c.sessionNamed(s, "Bread")
	for id, text := range was.sessions {
		if id != bread && is.sessions[id] != text {
			v.is("the next packed checkpoint changes another one", "%s is %.200q, was %.200q", id, is.sessions[id], text)
		}
	}
}

// purgeAgain checks that a purge after an interrupted one leaves no text that no session has.
func (c *crash) purgeAgain(v *verdict, base string, s *space) {
	if err := purge(s); err != nil {
		v.is("no purge afterwards", "%v", err)
	}
	is, err := c.look(base, "")
	if err != nil {
		v.is("cannot be read after a purge", "%v", err)
	}
	for _, text := range is.sessions {
		if strings.Contains(text, c.erases) {
			return
		}
	}
	for name, f := range c.read(base) {
		if f != nil && strings.Contains(string(f.Data)+decompressed(f.Data), c.erases) {
			v.is("text left after a purge", "%s has it", name)
		}
	}
}

const packExt = ".zst"

// sessionNamed returns the line with a title.
func (c *crash) sessionNamed(s *space, title string) (id string, ok bool) {
	list, err := s.List(context.Background(), "")
	if err != nil {
		return "", false
	}
	for _, e := range list.Sessions {
		if e.Title == title && e.Kind == session.Root {
			return e.ID, true
		}
	}
	return "", false
}
