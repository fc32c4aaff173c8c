package workspace_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/workspace"
)

// noise returns a text that is as large when it is compressed.
func noise(seed int) string {
	random := rand.New(rand.NewPCG(uint64(seed), 7))
	text := fmt.Appendf(nil, "%d ", seed)
	for len(text) < 600 {
		text = append(text, '0'+byte(random.IntN(75)))
	}
	return strings.ReplaceAll(string(text), `\`, "/")
}

// bread makes a line, a packed checkpoint of it, which is returned, and further messages,
// which are larger.
func (s *space) bread() string {
	s.new("Bread")
	s.say("a", noise(1))
	id := s.packed("Bread").ID
	s.say(noise(2), noise(3))
	return id
}

// plain makes two lines with a plain checkpoint each.
func (s *space) plain() {
	for i, title := range []string{"Soup", "Bread"} {
		s.new(title)
		s.say(noise(i))
		s.checkpoint(title)
	}
}

// did calls verbs that must succeed.
func (s *space) did(verbs ...verb) *space {
	s.t.Helper()
	for _, v := range verbs {
		if err := v(s); err != nil {
			s.t.Fatal(err)
		}
	}
	return s
}

func (s *space) then(v verb) verb { return v }

// packFile returns the path of the only pack.
func (s *space) packFile() string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.Dir(), sessions.PackedDir, "*.zst"))
	if err != nil || len(list) != 1 {
		s.t.Fatalf("the packs are %q, %v", list, err)
	}
	return list[0]
}

// lose removes the recipe of a packed checkpoint, as another program does.
func (s *space) lose(id string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.Dir(), sessions.RecipeFile(id))); err != nil {
		s.t.Fatal(err)
	}
}

// abandon leaves the frame of a packed checkpoint of Bread that was not acknowledged, and
// is as damage returns it.
func (s *space) abandon(damage func(frame []byte) []byte) {
	s.t.Helper()
	name := s.packFile()
	before, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	log := s.read(".bough/operations.jsonl")
	s.lose(s.packed("Bread").ID)
	s.write(".bough/operations.jsonl", log)
	after, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, append(before, damage(after[len(before):])...), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// sealed returns a recipe with the right checksum.
func sealed(recipe string) string {
	before, after, _ := strings.Cut(recipe, `"recipe_crc32c":"`)
	before += `"recipe_crc32c":"`
	sum := crc32c.Of([]byte(before + "00000000" + after[8:]))
	return fmt.Sprintf("%s%08x%s", before, sum, after[8:])
}

func packedAt(ref string) verb {
	return func(s *space) error {
		_, err := s.Checkpoint(context.Background(), ref, workspace.SnapshotOptions{Packed: true})
		return err
	}
}

func packAll(s *space) error {
	_, err := s.Pack(context.Background(), "")
	return err
}

func unpack(id string) verb {
	return func(s *space) error {
		_, err := s.Unpack(context.Background(), id)
		return err
	}
}
