package states_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

// TestStateScript: the script of docs/format.md, as it is printed there, restores states with
// standard tools.
func TestStateScript(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(states=.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("docs/format.md has %d scripts for states", len(blocks))
	}
	for _, program := range []string{"sh", "zstd", "jq", "grep", "od", "awk"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the script needs %s: %v", program, err)
		}
	}
	if runtime.GOOS != "linux" {
		t.Skip("the script needs the grep of GNU")
	}
	s := newSpace(t)
	noise := make([]byte, 2<<20+5)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	s.write("large", string(noise))
	s.write("text\r", "one\r\ntwo")
	s.write("deep/er/ 'name' $HOME  ", "\x00\xff\n\n")
	s.write("deep/none", "")
	for i := range 4 {
		s.write(fmt.Sprintf("many/%d", i), fmt.Sprint(i*i))
	}
	for _, err := range []error{
		os.Mkdir(filepath.Join(s.dir, "empty"), 0o700),
		os.Symlink("../else where", filepath.Join(s.dir, "deep", "link")),
		os.Chmod(filepath.Join(s.dir, "large"), 0o751),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	one := s.take()
	checkScript(t, s, blocks[0][1], one.ID)
	s.write("deep/none", "some")
	if err := os.RemoveAll(filepath.Join(s.dir, "many")); err != nil {
		t.Fatal(err)
	}
	checkScript(t, s, blocks[0][1], s.take().ID)
}

// checkScript compares what the script restores with the folder.
func checkScript(t *testing.T, s *space, script []byte, id string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "state.sh")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("sh", file, filepath.Join(s.workspace, "states"), id, out)
	if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
		t.Fatalf("the script: %v\n%s", err, said)
	}
	for _, pair := range [][2]string{{s.dir, out}, {out, s.dir}} {
		if err := filepath.WalkDir(pair[0], func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == pair[0] {
				return err
			}
			rel, err := filepath.Rel(pair[0], name)
			if err != nil {
				return err
			}
			other := filepath.Join(pair[1], rel)
			a, _ := os.Lstat(name)
			b, err := os.Lstat(other)
			if err != nil || a.Mode() != b.Mode() {
				return fmt.Errorf("%q has another mode: %v", rel, err)
			}
			if d.Type()&fs.ModeSymlink != 0 {
				x, _ := os.Readlink(name)
				if y, err := os.Readlink(other); x != y {
					return fmt.Errorf("%q is a link to %q: %v", rel, y, err)
				}
				return nil
			}
			if d.IsDir() {
				return nil
			}
			x, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if y, err := os.ReadFile(other); err != nil || !bytes.Equal(x, y) {
				return fmt.Errorf("%q has %d bytes, want %d: %v", rel, len(y), len(x), err)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}
