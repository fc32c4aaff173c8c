package workspace_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/search"
	"github.com/bough-dev/bough/workspace/trash"
)

// packs makes a conversation of six messages with two packed checkpoints, of three and of
// all, each with a frame of its own, and returns the name of their pack.
func (s *space) packs() (root string, ids []string, first, second, pack string) {
	s.t.Helper()
	root = s.new("A trip")
	ids = s.say("one", "two", "three")
	first = s.packedAs(root, "First")
	ids = append(ids, s.say("four", "five", "six")...)
	second = s.packedAs(root, "Second")
	return root, ids, first, second, "packed/" + root + ".zst"
}

const (
	firstText  = "one two three"
	secondText = firstText + " four five six"
)

// textsOr returns the texts of a session, or the code of the error.
func (s *space) textsOr(ref string) string {
	s.t.Helper()
	c, err := s.Show(s.t.Context(), ref, session.ReadOptions{})
	var failed *fault.Error
	switch {
	case errors.As(err, &failed):
		return "error: " + string(failed.Code)
	case err != nil:
		s.t.Fatal(err)
	}
	var list []string
	for _, m := range c.Messages {
		list = append(list, m.Text())
	}
	return strings.Join(list, " ")
}

const damaged = "error: damaged"

// frames returns the offsets of the frames of a pack, and its size.
func (s *space) frames(name string) (offsets []int) {
	s.t.Helper()
	data := s.read(name)
	for at := 0; at < len(data); at++ {
		if strings.HasPrefix(data[at:], "P*M\x18") {
			offsets = append(offsets, at)
		}
	}
	return append(offsets, len(data))
}

// flip changes a byte of a file.
func (s *space) flip(name string, at int) {
	s.t.Helper()
	data := []byte(s.read(name))
	data[at] ^= 0x10
	s.write(name, string(data))
}

// TestPackedNumbers: a checkpoint that is taken after messages of a pack were lost does not
// get their numbers, so that no other checkpoint shows its messages.
func TestPackedNumbers(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(s *space, pack string){
		"torn":    func(s *space, pack string) { s.write(pack, s.read(pack)[:s.frames(pack)[1]+10]) },
		"header":  func(s *space, pack string) { s.flip(pack, s.frames(pack)[1]+20) },
		"cut":     func(s *space, pack string) { s.write(pack, s.read(pack)[:s.frames(pack)[1]]) },
		"missing": func(s *space, pack string) { s.delete(pack) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openSpace(t, t.TempDir(), 0)
			root, ids, first, second, pack := s.packs()
			lose(s, pack)
			s.append(workspace.Append{Session: root, Parent: ids[2], Text: "four'"})
			s.say("five'", "six'")
			third := s.packedAs("@", "Third")
			if got := s.texts(third); got != firstText+" four' five' six'" {
				t.Errorf("the new checkpoint is %q", got)
			}
			if got := s.textsOr(second); got != damaged {
				t.Errorf("the damaged checkpoint is %q", got)
			}
			if got := s.textsOr(first); got != firstText && got != damaged {
				t.Errorf("the first checkpoint is %q", got)
			}
			s.expect(doctor.Options{Fix: true}, doctor.DamagedPack+" fixed")
			s.healthy("healed")
			for id, want := range map[string]string{first: firstText, second: secondText, third: firstText + " four' five' six'"} {
				if got := s.texts(id); got != want {
					t.Errorf("%s is %q after the repair, want %q", id, got, want)
				}
			}
		})
	}
}

// TestPackedOther: a recipe whose pack has other messages of the same sizes is not shown.
func TestPackedOther(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	_, _, first, _, pack := s.packs()
	other := s.new("A trip")
	s.say("ONE", "TWO", "THREE")
	s.packedAs(other, "First")
	s.write(pack, s.read("packed/"+other+".zst"))
	if got := s.textsOr(first); got != damaged {
		t.Errorf("with the messages of another pack the checkpoint is %q", got)
	}
}

// problems returns the details of the problems of a kind.
func (s *space) problems(o doctor.Options, kind string) (details []string) {
	s.t.Helper()
	report, err := s.Doctor(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range report.Problems {
		if p.Kind != kind {
			s.t.Errorf("doctor finds %+v", p)
			continue
		}
		details = append(details, p.Detail)
	}
	return details
}

// TestPackedHeal: doctor names the messages and checkpoints of a damaged frame, and restores
// it from any place that has its messages.
func TestPackedHeal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(s *space, root, second string)
		header  bool // the header is damaged, too: size and hash of the messages are unknown
		lost    bool
		numbers string // of the damaged messages, if not 3 to 5
	}{
		"session":         {},
		"session, header": {header: true},
		"branch":          {prepare: func(s *space, root, _ string) { s.branch(root); s.removed(root); s.purged() }},
		"branch, header":  {prepare: func(s *space, root, _ string) { s.branch(root); s.removed(root); s.purged() }, header: true},
		"another pack": {prepare: func(s *space, root, second string) {
			copied := s.append(workspace.Append{Session: second, Text: "seven"}).Session
			s.packElsewhere(copied, "Third")
			s.removed(copied)
			s.removed(root)
			s.purged()
		}},
		"packed plain in trash": {prepare: func(s *space, root, second string) {
			if _, err := s.Unpack(s.t.Context(), second); err != nil {
				s.t.Fatal(err)
			}
			s.removed(root)
			s.purged()
			if _, err := s.Pack(s.t.Context(), second); err != nil { // the trash has the plain file
				s.t.Fatal(err)
			}
		}, header: true, numbers: "6 to 8"},
		"plain in trash":  {prepare: func(s *space, root, _ string) { s.removed(root) }},
		"nothing":         {prepare: func(s *space, root, _ string) { s.removed(root); s.purged() }, lost: true},
		"nothing, header": {prepare: func(s *space, root, _ string) { s.removed(root); s.purged() }, header: true, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := openSpace(t, t.TempDir(), 0)
			root, ids, first, second, pack := s.packs()
			if c.prepare != nil {
				c.prepare(s, root, second)
			}
			at := s.frames(pack)[1]
			if c.header {
				s.flip(pack, at+20)
			} else {
				s.flip(pack, len(s.read(pack))-8)
			}
			if got := s.texts(first); got != firstText {
				t.Errorf("the checkpoint of the other frame is %q", got)
			}
			if got := s.textsOr(second); got != damaged {
				t.Errorf("the checkpoint of the damaged frame is %q", got)
			}
			details := s.problems(doctor.Options{}, doctor.DamagedPack)
			want := []string{fmt.Sprintf("byte %d", at), cmp.Or(c.numbers, "3 to 5"), second}
			if !c.lost {
				want = append(want, ids[3], ids[5], "restores")
			}
			for _, part := range want {
				if len(details) != 1 || !strings.Contains(details[0], part) || strings.Contains(details[0], first) {
					t.Fatalf("doctor finds %q, without %q", details, part)
				}
			}
			if c.lost {
				s.expect(doctor.Options{Fix: true}, doctor.DamagedPack)
				s.expect(doctor.Options{}, doctor.DamagedPack)
			} else {
				s.expect(doctor.Options{Fix: true}, doctor.DamagedPack+" fixed")
				s.healthy("healed")
				if got := s.texts(second); got != secondText {
					t.Errorf("the healed checkpoint is %q", got)
				}
			}
			if got := s.texts(first); got != firstText {
				t.Errorf("the checkpoint of the other frame is %q after the repair", got)
			}
		})
	}
}

// packElsewhere packs a session into a pack that shares no messages with others, as if these
// did not exist.
func (s *space) packElsewhere(ref, title string) {
	s.t.Helper()
	away := filepath.Join(s.Dir(), "away")
	if err := os.Rename(filepath.Join(s.Dir(), "packed"), away); err != nil {
		s.t.Fatal(err)
	}
	id := s.packedAs(ref, title)
	line := s.lineOf(id)
	s.write("away/x.zst", s.read("packed/"+line+".zst"))
	s.write("away/"+id+".json", sealed(strings.Replace(s.read("packed/"+id+".json"), line+".zst", "x.zst", 1)))
	if err := os.RemoveAll(filepath.Join(s.Dir(), "packed")); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(away, filepath.Join(s.Dir(), "packed")); err != nil {
		s.t.Fatal(err)
	}
}

// TestPackedRuns: a checkpoint whose recipe names other messages, because a digit of a number
// was changed, is not shown.
func TestPackedRuns(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	_, _, _, second, _ := s.packs()
	name := "packed/" + second + ".json"
	recipe := s.read(name)
	start := strings.Index(recipe, `zst",`) + len(`zst",`)
	for at := start; recipe[at] != ']'; at++ {
		for digit := byte('0'); digit <= '9'; digit++ {
			if recipe[at] == ',' || recipe[at] == digit {
				continue
			}
			s.write(name, recipe[:at]+string(digit)+recipe[at+1:])
			if got := s.textsOr(second); got != damaged {
				t.Errorf("with %s the checkpoint is %q", s.read(name)[start-6:start+6], got)
			}
			s.expect(doctor.Options{}, doctor.DamagedSession)
		}
	}
}

// TestPackedHuge: a recipe with huge numbers and a valid checksum is damaged: no verb
// allocates memory for the messages that it names, and no number of a message is used that
// no recipe can name.
func TestPackedHuge(t *testing.T) {
	const last = 1<<22 - 1
	for _, c := range []struct {
		first, count int64
		kind         string // of the problem that doctor finds
		refused      bool   // the next checkpoint
	}{
		{0, 1 << 40, doctor.DamagedSession, false},
		{1 << 40, 1, doctor.DamagedSession, false},
		{0, math.MaxInt64, doctor.DamagedSession, false},
		{last + 1, 1, doctor.DamagedSession, false},
		{last, 1, doctor.DamagedPack, true},
	} {
		s := openSpace(t, t.TempDir(), 0)
		root, _, first, second, pack := s.packs()
		name := "packed/" + second + ".json"
		huge := strings.Replace(s.read(name), `.zst",0,6]],"messages":6,`, fmt.Sprintf(`.zst",%d,%d]],"messages":%[2]d,`, c.first, c.count), 1)
		s.write(name, sealed(huge))
		before := s.read(pack)
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		if got := s.textsOr(second); got != damaged {
			t.Errorf("%d, %d: the checkpoint is %q", c.first, c.count, got)
		}
		s.expect(doctor.Options{}, c.kind)
		s.append(workspace.Append{Session: root, Text: "seven"})
		_, err := s.Checkpoint(t.Context(), root, workspace.SnapshotOptions{Packed: true})
		if c.refused != (err != nil) || c.refused && !strings.Contains(err.Error(), pack) {
			t.Errorf("%d, %d: the next checkpoint: %v", c.first, c.count, err)
		}
		runtime.ReadMemStats(&end)
		if got := end.TotalAlloc - start.TotalAlloc; got > 128<<20 {
			t.Errorf("%d, %d: %d bytes of memory", c.first, c.count, got)
		}
		if grown := len(s.read(pack)) - len(before); grown > 4<<10 {
			t.Errorf("%d, %d: the pack grew by %d bytes", c.first, c.count, grown)
		}
		if got := s.texts(first); got != firstText {
			t.Errorf("%d, %d: the other checkpoint is %q", c.first, c.count, got)
		}
	}
}

// TestPackedPartial: a lost frame takes only its own messages; with partial a checkpoint is
// read without them.
func TestPackedPartial(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root, _, _, second, pack := s.packs()
	s.removed(root)
	s.purged()
	s.flip(pack, s.frames(pack)[1]-8)
	if got := s.textsOr(second); got != damaged {
		t.Fatalf("the damaged checkpoint is %q", got)
	}
	for _, repair := range []bool{false, true} {
		if repair {
			s.expect(doctor.Options{Fix: true}, doctor.DamagedPack)
		}
		c, err := s.Show(t.Context(), second, session.ReadOptions{Partial: true})
		if err != nil || len(c.Messages) != 3 || c.Messages[0].Text() != "four" {
			t.Fatalf("with partial it is %+v, %v", c, err)
		}
		if !slices.ContainsFunc(s.notes, func(note string) bool { return strings.Contains(note, "3 messages of "+second) }) {
			t.Errorf("the notes are %q", s.notes)
		}
	}
	if got := s.textsOr(second); got != damaged {
		t.Errorf("after the repair the damaged checkpoint is %q", got)
	}
}

// TestPackedDamage: a prefix of a pack or a recipe, and one with a flipped bit,
// is read right or refused, and doctor restores a pack.
func TestPackedDamage(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root, _, first, second, pack := s.packs()
	want := map[string]string{first: firstText, second: secondText}
	step := testsize.Of(101, 47, 7)
	bits := []byte{0x01, 0x10, 0x80}
	for _, name := range []string{pack, "packed/" + second + ".json"} {
		data := s.read(name)
		mends := 0
		try := func(what string, content string) {
			s.write(name, content)
			for id, want := range want {
				if got := s.textsOr(id); got != want && got != damaged {
					t.Fatalf("%s, %s: %s is %q", name, what, id, got)
				}
			}
			if mends++; name == pack && mends%20 == 0 {
				s.kinds(doctor.Options{Fix: true})
				for id, want := range want {
					if got := s.texts(id); got != want {
						t.Fatalf("%s, %s: after the repair %s is %q", name, what, id, got)
					}
				}
				s.healthy(what)
				if got := s.texts(root); got != secondText {
					t.Fatalf("%s, %s: after the repair the source is %q", name, what, got)
				}
			}
		}
		for at := 0; at < len(data); at += step {
			try(fmt.Sprintf("cut at byte %d", at), data[:at])
			for i, bit := range bits {
				if !testsize.Full() && i != at%len(bits) {
					continue // one bit of each byte, in turns
				}
				changed := []byte(data)
				changed[at] ^= bit
				try(fmt.Sprintf("bit %#x of byte %d", bit, at), string(changed))
			}
		}
		s.write(name, data)
	}
	s.healthy("the end")
}

// TestPackedDamagedOthers: while a checkpoint cannot be read, the verbs work for everything
// else.
func TestPackedDamagedOthers(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	root, _, first, second, pack := s.packs()
	s.flip(pack, s.frames(pack)[2]-8)
	ctx := t.Context()
	hits, err := s.Search(ctx, search.Options{Text: "two"})
	if err != nil || !strings.Contains(fmt.Sprintf("%+v", hits), first) {
		t.Errorf("the search finds %+v, %v", hits, err)
	}
	for _, verb := range []struct {
		name string
		do   func() error
	}{
		{"list", func() error { _, err := s.Sessions(ctx, workspace.ListOptions{}); return err }},
		{"tree", func() error { _, err := s.Tree(ctx, ""); return err }},
		{"usage", func() error { _, err := s.Usage(ctx, 0); return err }},
		{"branches", func() error { _, err := s.Branches(ctx, root, workspace.BranchesOptions{}); return err }},
		{"trash", func() error { _, err := s.Trash(ctx); return err }},
		{"prune", func() error { _, err := s.Prune(ctx, workspace.PruneOptions{}); return err }},
		{"remove", func() error { _, err := s.Remove(ctx, second, workspace.RemoveOptions{}); return err }},
		{"undo", func() error { _, err := s.undo(""); return err }},
		{"purge", func() error { _, err := s.PurgeTrash(ctx, trash.PurgeOptions{}); return err }},
	} {
		if err := verb.do(); err != nil {
			t.Errorf("%s: %v", verb.name, err)
		}
	}
	if got := s.texts(first); got != firstText {
		t.Errorf("the other checkpoint is %q", got)
	}
	s.append(workspace.Append{Session: root, Text: "seven"})
	s.packed(root)
	if got := s.texts(root); got != secondText+" seven" {
		t.Errorf("the conversation is %q", got)
	}
}
