package workspace_test

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	folderstates "github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/restores"
)

var (
	walkSeed  = flag.Uint64("walk", 5, "the first seed of TestFilesWalk")
	moreWalks = flag.Int("walks", 2, "how many walks TestFilesWalk has in a full run")
)

// A fileWalk drives bough, git and an editor over one folder. Only what bough does is checked:
// what git deletes is deleted.
type fileWalk struct {
	*space
	*rand.Rand
	dir    string
	store  *folderstates.Store
	done   []string          // the last actions
	n      int               // number of contents that were written
	owed   map[string]heldAt // the contents that bough replaced or removed
	counts map[string]int    // of actions that succeeded
}

// A heldAt is where a state has a content.
type heldAt struct {
	state *folderstates.State
	path  string
}

var walkSessions = []string{"trip", "cake"}

const walkMessages = 12 // of each session

func newFileWalk(t *testing.T, seed uint64) *fileWalk {
	w := &fileWalk{
		space: openSpace(t, t.TempDir(), 0), Rand: rand.New(rand.NewPCG(seed, 0)), dir: t.TempDir(),
		owed: map[string]heldAt{}, counts: map[string]int{},
	}
	for _, id := range walkSessions {
		var list []string
		for i := range walkMessages {
			role := []string{"user", "assistant"}[i%2]
			list = append(list, fmt.Sprintf(`{"id":"%s%d","role":%q,"content":"text"}`, id, i, role))
		}
		w.messages(id, "", list...)
	}
	w.mend()
	root, err := os.OpenRoot(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	w.store = folderstates.Open(root, ".bough/cache")
	t.Cleanup(func() { w.store.Close(); root.Close() })
	w.git("init", "-q", "-b", "main")
	w.git("commit", "-q", "--allow-empty", "-m", "one")
	w.git("branch", "other")
	return w
}

// git runs git, which may refuse.
func (w *fileWalk) git(args ...string) error {
	c := exec.Command("git", append([]string{
		"-C", w.dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false", "-c", "gc.auto=0",
	}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	return c.Run()
}

// holds returns the content of each file of the folder, and the target of each link.
func (w *fileWalk) holds() map[string]string {
	w.t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(w.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == filepath.Join(w.dir, ".git") {
			return cmpSkip(err)
		}
		rel, _ := filepath.Rel(w.dir, name)
		switch {
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(name)
			list[filepath.ToSlash(rel)] = "-> " + target
			return err
		case d.Type().IsRegular():
			data, err := os.ReadFile(name)
			list[filepath.ToSlash(rel)] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func cmpSkip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

var walkNames = []string{
	"a", "b", "dir/a", "dir/b", "dir/sub/a", "dir/sub/b", "new/a", "build/out", "build/log", ".env", "link", "dir/link", "caf\xe9",
}

func (w *fileWalk) name() string { return walkNames[w.IntN(len(walkNames))] }

// existing returns a path that the folder has, or any.
func (w *fileWalk) existing() string {
	names := slices.Sorted(maps.Keys(w.holds()))
	if len(names) == 0 || w.IntN(8) == 0 {
		return w.name()
	}
	return names[w.IntN(len(names))]
}

// content returns a content that no file had before, of several lines.
func (w *fileWalk) content() string {
	w.n++
	return fmt.Sprintf("one\n\ntwo %d\n\nthree\n", w.n)
}

// edit makes a change as an editor or a shell does, if it is possible.
func (w *fileWalk) edit() string {
	name := w.existing()
	full := filepath.Join(w.dir, filepath.FromSlash(name))
	switch w.IntN(12) {
	case 0, 1, 2, 3:
		name = w.name()
		full = filepath.Join(w.dir, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(full), 0o755)
		os.WriteFile(full, []byte(w.content()), 0o644)
		return "write " + name
	case 4, 5:
		w.n++
		if f, err := os.OpenFile(full, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			fmt.Fprintf(f, "%d\n", w.n)
			f.Close()
		}
		return "append " + name
	case 6:
		w.n++
		if data, err := os.ReadFile(full); err == nil {
			os.WriteFile(full, []byte(strings.Replace(string(data), "one", fmt.Sprint("one ", w.n), 1)), 0o644)
		}
		return "edit " + name
	case 7:
		to := w.name()
		os.MkdirAll(filepath.Join(w.dir, path.Dir(to)), 0o755)
		os.Rename(full, filepath.Join(w.dir, to))
		return "rename " + name + " " + to
	case 8:
		os.RemoveAll(full)
		if w.IntN(3) == 0 {
			os.RemoveAll(filepath.Dir(full) + "/sub")
		}
		return "remove " + name
	case 9:
		os.Chmod(full, []fs.FileMode{0o600, 0o644, 0o755, 0o400}[w.IntN(4)])
		return "chmod " + name
	case 10:
		target := []string{"a", "../a", "dir", "nowhere"}[w.IntN(4)]
		os.Remove(full)
		os.Symlink(target, full)
		return "link " + name
	default:
		ignore := filepath.Join(w.dir, ".gitignore")
		if os.Remove(ignore) != nil {
			os.WriteFile(ignore, []byte([]string{"build/\n", "*.log\na\n", "dir/sub\n"}[w.IntN(3)]), 0o644)
		}
		return "change .gitignore"
	}
}

func (w *fileWalk) useGit() string {
	list := [][]string{
		{"add", "-A"}, {"commit", "-q", "-a", "-m", "more"}, {"checkout", "-q", "main"}, {"checkout", "-q", "other"},
		{"stash", "-q", "-u"}, {"stash", "pop", "-q"}, {"clean", "-fdq"}, {"reset", "-q", "--hard"},
	}
	args := list[w.IntN(len(list))]
	w.git(args...)
	return "git " + strings.Join(args, " ")
}

func (w *fileWalk) ref() string {
	if w.IntN(4) == 0 {
		if list, err := w.store.States(); err == nil && len(list) > 0 {
			return list[w.IntN(len(list))].ID
		}
	}
	id := walkSessions[w.IntN(len(walkSessions))]
	return fmt.Sprintf("%s@%s%d", id, id, w.IntN(walkMessages))
}

// useBough takes a state, restores one or undoes, and returns what it did.
func (w *fileWalk) useBough() (did string, err error) {
	ctx := w.t.Context()
	switch n := w.IntN(10); {
	case n < 4:
		o := files.SnapOptions{At: []string{"", "prompt", "end"}[w.IntN(3)]}
		id := walkSessions[w.IntN(len(walkSessions))]
		ref := fmt.Sprintf("%s@%s%d", id, id, w.IntN(walkMessages))
		_, err = w.Folder(w.dir).Snap(ctx, ref, o)
		return "snap " + o.At + " " + ref, err
	case n < 8:
		o := restores.Options{Conflicts: []string{restores.Refuse, restores.Keep, restores.Take, restores.Merge}[w.IntN(4)], DryRun: w.IntN(10) == 0}
		if w.IntN(4) == 0 {
			o.Whole, o.Conflicts = true, restores.Refuse
		}
		if w.IntN(6) == 0 {
			o.Only = []string{w.name()}
		}
		ref := w.ref()
		f := w.Folder(w.dir)
		restore := f.RestoreFiles
		did = "restore"
		if w.IntN(4) == 0 && !o.Whole {
			restore, did = f.UndoTurn, "turn"
		}
		did = fmt.Sprintf("%s %s %+v", did, ref, o)
		r, err := restore(ctx, ref, o)
		if err == nil && len(r.Written)+len(r.Deleted) > 0 && !o.DryRun {
			w.counts["changed"]++
		}
		return did, err
	case n < 9:
		_, err = w.Undo(ctx, history.UndoOptions{})
		return "undo", err
	default:
		_, err = w.Redo(ctx, history.UndoOptions{})
		return "redo", err
	}
}

// step makes a step. After an action of bough, each content that was in the folder is in its
// place, elsewhere in the folder, or in a state; after one that failed, the folder is unchanged.
func (w *fileWalk) step() {
	w.t.Helper()
	switch n := w.IntN(20); {
	case n < 10:
		w.did(w.edit())
		return
	case n < 13:
		w.did(w.useGit())
		return
	}
	before := w.holds()
	did, err := w.useBough()
	w.did(fmt.Sprint(did, ": ", err))
	after := w.holds()
	if err != nil {
		if code := workspace.Explain(err).Code; code != fault.Refused && code != fault.NotFound {
			w.fatalf("%v", err)
		}
		if !maps.Equal(before, after) {
			w.fatalf("the folder changed although it failed")
		}
		return
	}
	verb, _, _ := strings.Cut(did, " ")
	w.counts[verb]++
	if verb == "snap" && !maps.Equal(before, after) {
		w.fatalf("a state changed the folder")
	}
	present := map[string]bool{}
	for _, content := range after {
		present[content] = true
	}
	for name, content := range before {
		if after[name] == content || present[content] {
			continue
		}
		at, ok := w.find(name, content)
		if !ok {
			w.fatalf("%q had %q, which is lost", name, content)
		}
		w.owed[content] = at
	}
}

// find finds a content in a state of a path, the newest first.
func (w *fileWalk) find(name, content string) (heldAt, bool) {
	w.t.Helper()
	list, err := w.store.States()
	if err != nil {
		w.fatalf("%v", err)
	}
	for _, st := range slices.Backward(list) {
		if at := (heldAt{st, name}); w.has(at, content) {
			return at, true
		}
	}
	return heldAt{}, false
}

func (w *fileWalk) has(at heldAt, content string) bool {
	e, err := w.store.Find(at.state, at.path)
	if err != nil {
		return false
	}
	data, err := w.store.Get(e.ID)
	return err == nil && (string(data) == content || e.Type == 'l' && "-> "+string(data) == content)
}

func (w *fileWalk) did(action string) {
	if w.done = append(w.done, action); len(w.done) > 30 {
		w.done = w.done[1:]
	}
}

func (w *fileWalk) fatalf(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(format+"; the last steps are\n%s", append(args, strings.Join(w.done, "\n"))...)
}

// TestFilesWalk: whatever bough, git and an editor do in a folder, in any order, no restore and no
// undo of one loses a byte: each content that it replaces or removes is in a state, and stays
// there while packs are merged.
func TestFilesWalk(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is needed")
	}
	walks, steps := testsize.Of(1, 1, *moreWalks), testsize.Of(25, 80, 1500)
	for i := range walks {
		t.Run(fmt.Sprint(*walkSeed+uint64(i)), func(t *testing.T) {
			t.Parallel()
			walkFiles(t, *walkSeed+uint64(i), steps)
		})
	}
}

func walkFiles(t *testing.T, seed uint64, steps int) {
	w := newFileWalk(t, seed)
	for i := range steps {
		w.step()
		if i%100 == 99 {
			if err := w.store.Tidy(t.Context()); err != nil {
				w.fatalf("%v", err)
			}
		}
	}
	for content, at := range w.owed {
		if !w.has(at, content) {
			t.Errorf("the state %s lost %q of %s", at.state.ID, content, at.path)
		}
	}
	t.Logf("%d contents were replaced or removed; %v", len(w.owed), w.counts)
	if steps >= 150 && (len(w.owed) == 0 || w.counts["changed"] == 0) {
		t.Errorf("nothing was tested: %d contents, %v", len(w.owed), w.counts)
	}
	healthy(t, w.space)
}
