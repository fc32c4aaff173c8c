package explore_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/testsize"
)

// continuing is a runner that prints the contents of its folder, adds a line to the file log in
// it, and proposes a branch below it.
const continuing = `cat > /dev/null; said=$(cat mine log built 2> /dev/null | tr '\n' ' ')
echo "$BOUGH_STRATEGY" >> log; echo built > built
printf '{"result":"has %s","strategies":[{"name":"deeper %s"}]}' "$said" "$BOUGH_DEPTH"`

// TestNestedFolders: a branch begins with the folder as its parent left it, including
// commits and files that git ignores, and its siblings do not.
func TestNestedFolders(t *testing.T) {
	t.Parallel()
	git := func(t *testing.T, dir string, args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "maintenance.auto=false"}, args...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	kinds := []string{"empty", "copy", "clone", "folder of a clone"}
	for _, kind := range testsize.Sample(t, "kinds of folders", kinds, testsize.Of(1, 2, 4)) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			dir, mine := "", "has "
			if kind != "empty" {
				dir, mine = t.TempDir(), "has first "
			}
			top := dir
			if kind == "folder of a clone" {
				dir = filepath.Join(dir, "sub")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if dir != "" {
				if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("first\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			line := continuing
			if strings.Contains(kind, "clone") {
				if _, err := exec.LookPath("git"); err != nil {
					t.Skip("git is not installed")
				}
				if err := os.WriteFile(filepath.Join(top, ".gitignore"), []byte("built\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				git(t, top, "init", "--quiet")
				git(t, top, "add", ".")
				git(t, top, "commit", "--quiet", "-m", "one")
				line += "\ngit add log >&2 && git -c user.name=a -c user.email=a@b.c -c maintenance.auto=false commit --quiet -m two >&2"
			}
			c := explore.Defaults()
			if kind == "folder of a clone" {
				c.MaxDepth = testsize.Of(2, 2, c.MaxDepth)
			}
			e := l.explore(line, c, "a", "b")
			e.Runner.Dir = dir
			before := bytesIn(t, filepath.Join(top, ".git"))
			l.run(e)
			if after := bytesIn(t, filepath.Join(top, ".git")); !maps.Equal(before, after) {
				t.Errorf("the repository has %v, had %v", after, before)
			}
			if (e.State != "") != (dir != "") {
				t.Errorf("the state at the beginning is %q", e.State)
			}
			for _, b := range e.Branches {
				want := mine
				switch b.Depth {
				case 2:
					want += e.Branch(b.Parent).Strategy + " built "
				case 3:
					want += e.Branch(e.Branch(b.Parent).Parent).Strategy + " deeper 1 built "
				}
				if b.Depth <= c.MaxDepth && (b.Status != explore.Completed || b.Result != want) {
					t.Errorf("at depth %d %s is %s, %q, want %q: %s", b.Depth, b.Strategy, b.Status, b.Result, want, b.Reason)
				}
				if dir != "" && b.Status == explore.Completed {
					log := "log"
					if kind == "folder of a clone" {
						log = "sub/log"
					}
					entry, err := l.w.Folder("").Show(t.Context(), b.Session+"@"+b.ID, log)
					if err != nil || entry.State.ID != b.State || entry.State.At != "end" || !strings.HasSuffix(string(entry.Content), b.Strategy+"\n") {
						t.Errorf("the state of %s is %+v, %v", b.Strategy, entry, err)
					}
				}
				if b.Folder != "" {
					t.Errorf("%s has the folder %q afterwards", b.Strategy, b.Folder)
				}
			}
			if want := 2 * (c.MaxDepth + 1); len(e.Branches) != want {
				t.Errorf("there are %d branches, want %d", len(e.Branches), want)
			}
			if left, _ := filepath.Glob(filepath.Join(l.work, e.ID, "*")); len(left) > 0 {
				t.Errorf("the folders %q still exist", left)
			}
		})
	}
}

// TestSameBeginning: all branches begin with the files at the beginning, whatever happens to
// the folder meanwhile, and no runner sees what another one does.
func TestSameBeginning(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	l, dir := newLab(t), t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "maintenance.auto=false"}, args...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("committed")
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "-m", "one")
	put("changed")
	c := explore.Defaults()
	c.MaxConcurrent = 1
	e := l.explore(`cat > /dev/null; echo later > "$HOME_DIR/file"; echo later > "$HOME_DIR/new"; cat file; ls; git log --format=%s`, c, "a", "b", "c")
	e.Runner.Dir, e.Runner.Bindings = dir, map[string]string{"HOME_DIR": dir}
	l.run(e)
	for _, b := range e.Branches {
		if b.Status != explore.Completed || b.Result != "changedfile\none" {
			t.Errorf("%s is %s, %q: %s", b.Strategy, b.Status, b.Result, b.Reason)
		}
	}
}

// bytesIn returns the content of the files in a folder, which may be missing.
func bytesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	content := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		content[path] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return content
}

// interruptedBelow returns an exploration whose runner was interrupted in a branch below
// another one, after it had changed files of that one.
func interruptedBelow(l *lab) *explore.Exploration {
	l.Helper()
	started := filepath.Join(l.work, "started")
	e := l.explore(`if [ $BOUGH_DEPTH = 1 ]; then echo above > mine; printf '{"result":"up","strategies":[{"name":"below"}]}'; exit; fi
[ -e "$STARTED" ] || { echo > "$STARTED"; echo spoilt > mine; sleep 100; }
cat mine`, explore.Defaults(), "above")
	e.Runner.Bindings = map[string]string{"STARTED": started}
	return l.interrupt(e, func() bool {
		_, err := os.Stat(started)
		return err == nil
	})
}

// TestNestedInterrupted: a nested branch that runs again after an interrupt begins with the
// files that its parent left.
func TestNestedInterrupted(t *testing.T) {
	l := newLab(t)
	e := interruptedBelow(l)
	if e.Branches[0].Folder != e.Branches[0].ID {
		t.Errorf("the folder is %q", e.Branches[0].Folder)
	}
	l.run(e)
	if b := e.Branches[1]; b.Status != explore.Completed || b.Result != "above" {
		t.Errorf("the branch below is %+v", b)
	}
	if left, _ := filepath.Glob(filepath.Join(l.work, e.ID, "*")); len(left) > 0 {
		t.Errorf("the folders %q still exist", left)
	}
}

// TestNestedGone: a branch fails if its parent's folder is gone or is not below the
// exploration's, and does not begin with the explored one instead.
func TestNestedGone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason string
		change       func(l *lab, e *explore.Exploration) error
	}{
		{"gone", "is gone", func(l *lab, e *explore.Exploration) error {
			return os.RemoveAll(filepath.Join(l.work, e.ID, e.Branches[0].Folder))
		}},
		{"elsewhere", "is not in that of the exploration", func(l *lab, e *explore.Exploration) error {
			e.Branches[0].Folder = "../.."
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			e := interruptedBelow(l)
			if err := c.change(l, e); err != nil {
				t.Fatal(err)
			}
			l.run(e)
			if b := e.Branches[1]; b.Status != explore.Failed || !strings.Contains(b.Reason, c.reason) {
				t.Errorf("the branch below is %+v", b)
			}
		})
	}
}
