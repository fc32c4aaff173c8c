package gitrepo_test

import (
	"path/filepath"
	"testing"
)

// TestOutside: the pattern files outside of a folder are those above it and of the repository.
func TestOutside(t *testing.T) {
	m := newMachine(t)
	m.git(m.home, "init", "-q", m.work)
	m.write("work/.git/info/exclude", "exclude\n")
	m.write("work/.gitignore", "top\n")
	m.write("work/a/.gitignore", "a\n")
	m.write("work/a/b/.boughignore", "own\n")
	for dir, want := range map[string]string{"": "exclude\n", "a": "exclude\ntop\n", "a/b": "exclude\ntop\na\n"} {
		got := ""
		for _, s := range m.look(filepath.Join(m.work, filepath.FromSlash(dir))).Outside {
			got += string(s.Data)
		}
		if got != want {
			t.Errorf("outside of %q: %q, not %q", dir, got, want)
		}
	}
}
