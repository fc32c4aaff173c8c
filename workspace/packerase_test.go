package workspace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/trash"
)

// packedAs takes a packed checkpoint with a title.
func (s *space) packedAs(ref, title string) string {
	s.t.Helper()
	snap, err := s.Checkpoint(s.t.Context(), ref, workspace.SnapshotOptions{Name: title, Packed: true})
	if err != nil {
		s.t.Fatal(err)
	}
	return snap.ID
}

func (s *space) removed(name string) {
	s.t.Helper()
	if _, err := s.Remove(s.t.Context(), name, workspace.RemoveOptions{Force: true}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) forgotten(name string, copies bool) *forget.Result {
	s.t.Helper()
	done, err := s.Forget(s.t.Context(), name, forget.Options{Copies: copies})
	if err != nil {
		s.t.Fatal(err)
	}
	return done
}

func (s *space) purged() {
	s.t.Helper()
	if _, err := s.PurgeTrash(s.t.Context(), trash.PurgeOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// packSecrets makes a conversation with packed checkpoints of every state, and returns its
// id.
func (s *space) packSecrets(word string) string {
	s.t.Helper()
	id, _ := s.fill(word)
	s.purged() // of a session that fill removed
	first := s.packedAs(id, "checkpoint of "+word)
	s.append(workspace.Append{Session: id, Text: word + " more"})
	second := s.packedAs(id, "second of "+word)
	if _, err := s.Rename(s.t.Context(), first, "renamed "+word); err != nil { // the log has the recipe
		s.t.Fatal(err)
	}
	s.append(workspace.Append{Session: id, Text: word + " again"})
	plain := s.checkpoint(id)
	if _, err := s.Pack(s.t.Context(), plain.ID); err != nil { // the trash has the plain file
		s.t.Fatal(err)
	}
	s.removed(second) // the trash has the recipe
	fork := s.append(workspace.Append{Session: first, Text: word + " in a branch"})
	s.packedAs(fork.Session, "of the branch of "+word)
	if _, err := s.Unpack(s.t.Context(), s.packedAs(id, "unpacked "+word)); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// TestPackedForget: a forgotten conversation leaves no text, compressed or not, and the
// packed checkpoints of another one are unchanged.
func TestPackedForget(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id, other := s.packSecrets(secret), s.packSecrets(kept)
	keep := s.packed(other)
	want := s.texts(keep.ID)
	if n := len(s.holding(secret)); n < 10 {
		t.Fatalf("before the forget only %q hold the text", s.holding(secret))
	}
	done := s.forgotten(id, true)
	if len(done.Copies) < 5 {
		t.Errorf("the copies are %+v", done.Copies)
	}
	if names := s.holding(secret); len(names) > 0 {
		t.Errorf("after the forget %q hold the text", names)
	}
	if got := s.texts(keep.ID); got != want {
		t.Errorf("the other conversation's checkpoint is %q, want %q", got, want)
	}
	s.healthy("forgotten")
}

// TestPackedForgetCached: the cache of packed checkpoints keeps no title of a forgotten one,
// even if it is written at the end of the forget.
func TestPackedForgetCached(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openSpace(t, dir, 0)
	s.new("About " + secret)
	for i := range 20 {
		s.say(fmt.Sprint(secret, i))
		s.packedAs("@", fmt.Sprint(secret, " ", i))
	}
	other := s.new("Other")
	for i := range 40 {
		s.packedAs(other, fmt.Sprint("Kept ", i))
	}
	settled(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, session.CacheDir)); err != nil {
		t.Fatal(err)
	}
	s = openSpace(t, dir, 0)
	s.forgotten("About "+secret, true)
	if names := s.holding(secret); len(names) > 0 {
		t.Errorf("after the forget %q hold the text", names)
	}
	if cache := s.read(session.CacheDir + "/packed"); !strings.Contains(cache, "Kept 39") {
		t.Errorf("the cache has only %d bytes", len(cache))
	}
}

// settled waits until the recipes in a folder are so old that they are cached.
func settled(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, sessions.PackedDir, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no recipes: %v", err)
	}
	if info, err := os.Lstat(names[0]); err == nil && durable.Identify(info).Changed <= 0 {
		t.Skip("the system does not report when a file was changed")
	}
	age(t, names...)
}

// age waits until the files are so old that their next change gives them another time.
func age(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		for is := durable.Identify(info); !durable.Settled(max(is.Changed, is.ModTime), time.Now()); {
			time.Sleep(time.Millisecond)
		}
	}
}

// age waits until the next change of the sessions gives their files another time.
func (s *space) age(ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		age(s.t, filepath.Join(s.Dir(), session.FileName(id)))
	}
}

// TestPackedForgetShared: a message that the packed checkpoint of another conversation needs
// stays, and the others leave the pack at once.
func TestPackedForgetShared(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	id := s.new("About " + secret)
	ids := s.say("shared one", "shared two", secret+" three")
	of := s.packedAs(id, "")
	branch := s.branch(id + "@" + ids[1])
	s.append(workspace.Append{Session: branch.ID, Text: "in the branch"})
	cp := s.packedAs(branch.ID, "Mine")
	s.removed(branch.ID)
	s.purged()
	s.forgotten(of, false)
	if _, err := s.Rename(t.Context(), id, "Plain"); err != nil {
		t.Fatal(err)
	}
	if names := s.holding(secret); strings.Contains(strings.Join(names, " "), "packed/") {
		t.Errorf("the pack has a forgotten message: %q", names)
	}
	s.forgotten(id, false)
	if names := s.holding(secret); len(names) > 0 {
		t.Errorf("after the forget %q hold the text", names)
	}
	if got := s.texts(cp); got != "shared one shared two in the branch" {
		t.Errorf("the checkpoint of the branch is %q", got)
	}
	s.healthy("forgotten")
}

// TestPackedForgetDamaged: neither a recipe nor a frame that cannot be read keeps forgotten
// text, and the readable rest remains.
func TestPackedForgetDamaged(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(s *space, id, other string){
		"another recipe": func(s *space, id, other string) { s.tearFile("packed/"+other+".json", 20) },
		"its recipe":     func(s *space, id, other string) { s.tearFile("packed/"+id+".json", 20) },
		"a frame": func(s *space, id, other string) {
			data := s.read("packed/" + s.lineOf(id) + ".zst")
			s.write("packed/"+s.lineOf(id)+".zst", data[:len(data)/3]+"\x00\x01\x02"+data[len(data)/3+3:])
		},
		"a temporary file": func(s *space, id, other string) {
			s.write("packed/.x.zst.bough-tmp", s.read("packed/"+s.lineOf(id)+".zst"))
		},
		"a pack in the trash": func(s *space, id, other string) {
			s.write(".bough/trash/20260525T153200.000000/packed/x.zst", s.read("packed/"+s.lineOf(id)+".zst"))
		},
		"a torn append": func(s *space, id, other string) {
			name := "packed/" + s.lineOf(other) + ".zst"
			data := s.read("packed/" + s.lineOf(id) + ".zst")
			s.write(name, s.read(name)+data[1:])
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openSpace(t, t.TempDir(), 0)
			root := s.new("About " + secret)
			s.say(secret+" one", secret+" two")
			s.removed(s.packedAs(root, "dropped "+secret))
			s.purged()
			id := s.packedAs(root, "of "+secret)
			s.new("Other")
			s.say("plugh one", "plugh two")
			other := s.packedAs("Other", "Kept")
			alone := s.packedAs("Other", "Also kept")
			spoil(s, id, other)
			s.forgotten(root, true)
			if names := s.holding(secret); len(names) > 0 {
				t.Errorf("after the forget %q hold the text", names)
			}
			if got := s.texts(alone); got != "plugh one plugh two" {
				t.Errorf("the other checkpoint is %q", got)
			}
		})
	}
}

func (s *space) tearFile(name string, by int) {
	s.t.Helper()
	data := s.read(name)
	s.write(name, data[:len(data)-by])
}

// lineOf returns the first session of the line whose pack has a packed checkpoint.
func (s *space) lineOf(id string) string {
	s.t.Helper()
	_, rest, _ := strings.Cut(s.read("packed/"+id+".json"), `[["`)
	line, _, ok := strings.Cut(rest, ".zst")
	if !ok {
		s.t.Fatalf("the recipe of %s names no pack", id)
	}
	return line
}

// TestPackedPurge: a purge gives the space of removed packed checkpoints back, with their
// text and their attachments.
func TestPackedPurge(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.attach("x")
	s.append(workspace.Append{Session: "x", Text: secret})
	cp := s.packedAs("x", "Kept")
	held := s.held()
	s.removed("x")
	s.purged()
	if got := s.held(); got != held || held == 0 {
		t.Errorf("%d of %d attachments are left while a packed checkpoint needs them", got, held)
	}
	s.healthy("purged")
	s.removed(cp)
	if list := s.trashed(); len(list) != 1 || string(list[0].Session) != cp || list[0].Title != "Kept" || list[0].File != "packed/"+cp+".json" || list[0].Bytes == 0 {
		t.Errorf("the trash has %+v", list)
	}
	if _, err := s.Show(t.Context(), cp, session.ReadOptions{}); err == nil || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("the removed checkpoint is %v", err)
	}
	s.purged()
	if names := s.holding(secret); len(names) > 0 {
		t.Errorf("after the purge %q hold the text", names)
	}
	if got := s.held(); got != 0 {
		t.Errorf("%d attachments are left", got)
	}
	if left, err := os.ReadDir(filepath.Join(s.Dir(), "packed")); err != nil || len(left) > 0 {
		t.Errorf("packed holds %v, %v", left, err)
	}
	s.healthy("purged again")
}

// held returns the number of attachments.
func (s *space) held() int {
	s.t.Helper()
	entries, err := os.ReadDir(filepath.Join(s.Dir(), lines.FilesDir))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(entries)
}
