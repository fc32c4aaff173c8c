package gitrepo_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/gitconfig"
	"github.com/bough-dev/bough/internal/gitindex"
	"github.com/bough-dev/bough/internal/gitrepo"
	"github.com/bough-dev/bough/internal/ignore"
	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

// A machine is a user with a home and a folder for repositories.
type machine struct {
	*testing.T
	home, work string
}

// newMachine makes a machine, or skips the test if git is not installed.
func newMachine(t *testing.T) machine {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := machine{t, filepath.Join(dir, "home"), filepath.Join(dir, "home", "work")}
	m.write("work/.keep", "")
	m.write(".gitconfig", "[user]\nname = a\nemail = a@example.org\n[protocol \"file\"]\nallow = always\n[init]\ndefaultBranch = main\n")
	return m
}

// env is the environment of the user.
func (m machine) env(name string) string {
	return map[string]string{"HOME": m.home, "GIT_CONFIG_NOSYSTEM": "1"}[name]
}

func (m machine) git(dir string, args ...string) string {
	m.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+m.home, "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		m.Fatalf("git %q: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

// write writes a file below the home.
func (m machine) write(name, data string) {
	m.Helper()
	name = filepath.Join(m.home, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		m.Fatal(err)
	}
}

// look reads a folder without problems.
func (m machine) look(dir string) *gitrepo.Folder {
	m.Helper()
	f := gitrepo.Look(dir, m.env)
	if len(f.Problems) > 0 {
		m.Fatal(f.Problems)
	}
	return f
}

// check compares the files that belong to a folder with those that git lists.
func (m machine) check(dir string) {
	m.Helper()
	f := m.look(dir)
	var got []string
	var walk func(path string, r *ignore.Rules, p gitindex.Paths)
	walk = func(path string, r *ignore.Rules, p gitindex.Paths) {
		entries, err := os.ReadDir(filepath.Join(dir, path))
		if err != nil {
			m.Fatal(err)
		}
		for _, e := range entries {
			name, below := e.Name(), filepath.Join(path, e.Name())
			_, err := os.Lstat(filepath.Join(dir, below, ".git"))
			switch nested := err == nil; {
			case name == ".git" || nested:
			case e.IsDir():
				tracked := p.Enter(name)
				if ignored := r.Ignored(name, true); !ignored {
					sources, _ := gitrepo.Patterns(filepath.Join(dir, below))
					walk(below, r.Enter(name, sources...), tracked)
				} else if tracked.Len() > 0 {
					walk(below, ignore.Root(false, ignore.Source{Data: []byte("*\n")}), tracked)
				}
			case !r.Ignored(name, false) || p.Has(name):
				got = append(got, below)
			}
		}
	}
	walk("", f.Rules, f.Tracked)
	var want []string
	for p := range strings.SplitSeq(m.git(dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00") {
		if info, err := os.Lstat(filepath.Join(dir, p)); err == nil && !info.IsDir() {
			want = append(want, p)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		m.Errorf("%s: the files are\n%q, git lists\n%q", dir, got, want)
	}
	if len(got) == 0 {
		m.Errorf("%s: no files", dir)
	}
}

// TestLook: the files of a folder are those that git lists, in a repository, below its top,
// in a worktree and in a submodule.
func TestLook(t *testing.T) {
	m := newMachine(t)
	random := rand.New(rand.NewPCG(21, 4))
	names := []string{"a", "b", "c", "d.o", "e.log", "build", "x.tmp"}
	lines := []string{"*.o", "!d.o", "/build", "build/", "a/b", "/a/**/c", "*.log", "!e.log", "c/", "/*/*.tmp", "x*", "!x.tmp"}
	some := func() string {
		var b strings.Builder
		for range random.IntN(4) {
			b.WriteString(lines[random.IntN(len(lines))] + "\n")
		}
		return b.String()
	}
	tree := func(top string) {
		for range 60 {
			path := top
			for range random.IntN(4) {
				path += "/" + names[random.IntN(len(names))] + ".d"
			}
			m.write(path+"/"+names[random.IntN(len(names))], "x")
			if random.IntN(4) == 0 {
				m.write(path+"/.gitignore", some())
			}
		}
	}
	for i := range testsize.Of(2, 3, 8) {
		top := fmt.Sprintf("work/%d", i)
		dir := filepath.Join(m.home, top)
		m.write(".config/git/ignore", some())
		m.git(m.home, "init", "-q", dir)
		tree(top)
		m.git(dir, "add", ".")
		for i, p := range strings.Split(m.git(dir, "ls-files", "--others", "-z"), "\x00") {
			if p != "" && i%3 == 0 {
				m.git(dir, "add", "--force", "--", p)
			}
		}
		m.git(dir, "commit", "-q", "-m", "x")
		m.git(dir, "worktree", "add", "-q", filepath.Join(m.work, fmt.Sprintf("worktree%d", i)))
		m.git(dir, "submodule", "--quiet", "add", "--", dir, "sub.module")
		m.write(top+"/.git/info/exclude", some())
		tree(top)
		tree(fmt.Sprintf("work/worktree%d", i))
		tree(top + "/sub.module")
		m.check(dir)
		m.check(filepath.Join(m.work, fmt.Sprintf("worktree%d", i)))
		m.check(filepath.Join(dir, "sub.module"))
		m.write("work/patterns", some())
		m.git(dir, "config", "core.excludesFile", "~/work/patterns")
		m.check(dir)
		m.check(filepath.Join(m.work, fmt.Sprintf("worktree%d", i)))
	}
}

// TestBare: a worktree of a bare repository has files, the repository has none.
func TestBare(t *testing.T) {
	m := newMachine(t)
	bare, linked := filepath.Join(m.work, "bare", ".git"), filepath.Join(m.work, "linked")
	m.git(m.home, "init", "-q", "--bare", bare)
	tree := strings.TrimSpace(m.git(bare, "mktree"))
	m.git(bare, "update-ref", "refs/heads/x", strings.TrimSpace(m.git(bare, "commit-tree", "-m", "x", tree)))
	m.git(bare, "worktree", "add", "-q", linked, "x")
	m.write("work/linked/a", "")
	m.write("work/linked/b.o", "")
	m.write("work/bare/.git/info/exclude", "*.o\n")
	m.check(linked)
	if f := m.look(filepath.Dir(bare)); f.Repository != nil {
		t.Errorf("the top is %s", f.Repository.Top)
	}
}

// TestSubfolder: the rules above a folder apply in it, also those of .boughignore, but not to
// the folder itself.
func TestSubfolder(t *testing.T) {
	m := newMachine(t)
	m.git(m.home, "init", "-q", m.work)
	m.write("work/.gitignore", "/out\n*.o\n/out/x\n")
	m.write("work/.boughignore", "*.big\n!k.o\n")
	m.write("work/out/.gitignore", "!l.o\n")
	m.write("work/out/t", "")
	m.git(m.work, "add", "--force", "out/t")
	f := m.look(filepath.Join(m.work, "out"))
	for name, want := range map[string]bool{"a": false, "a.o": true, "k.o": false, "l.o": false, "x": true, "c.big": true} {
		if got := f.Rules.Ignored(name, false); got != want {
			t.Errorf("%s: ignored is %v", name, got)
		}
	}
	if f.Tracked.Len() != 1 || !f.Tracked.Has("t") || f.Repository.Top != m.work {
		t.Errorf("%d paths in %s", f.Tracked.Len(), f.Repository.Top)
	}
}

// TestNoRepository: a folder without one has its own patterns and the user's.
func TestNoRepository(t *testing.T) {
	m := newMachine(t)
	m.write(".config/git/ignore", "*.o\n")
	m.write("work/.gitignore", "*.log\n")
	m.write("work/.git/HEAD", "ref: refs/heads/main\n") // no repository: it has no objects
	f := m.look(m.work)
	if f.Repository != nil || f.Tracked.Len() > 0 || !f.Rules.Ignored("a.o", false) || !f.Rules.Ignored("a.log", false) || f.Rules.Ignored("a", false) {
		t.Errorf("%+v", f)
	}
	f = gitrepo.Look(m.work, func(string) string { return "" })
	if f.Rules.Ignored("a.o", false) || !f.Rules.Ignored("a.log", false) {
		t.Error("the environment has no home, and its patterns apply")
	}
}

// TestProblems: what cannot be read is named, and the rest applies.
func TestProblems(t *testing.T) {
	m := newMachine(t)
	m.git(m.home, "init", "-q", m.work)
	m.write("work/.gitignore", "*.o\n")
	for name, damage := range map[string]func(){
		".gitconfig":   func() { m.write(".gitconfig", "[core\n") },
		".git/index":   func() { m.write("work/.git/index", "DIRC") },
		".boughignore": func() { os.Symlink(".gitignore", filepath.Join(m.work, ".boughignore")) },
		".git/info/exclude": func() {
			os.Remove(filepath.Join(m.work, ".git/info/exclude"))
			os.Mkdir(filepath.Join(m.work, ".git/info/exclude"), 0o777)
		},
		"nobody": func() { m.write("work/.git/config", "[core]\nexcludesFile = ~nobody/x\n") },
	} {
		damage()
		f := gitrepo.Look(m.work, m.env)
		if f.Repository == nil || !f.Rules.Ignored("a.o", false) || !slices.ContainsFunc(f.Problems, func(err error) bool { return strings.Contains(filepath.ToSlash(err.Error()), name) }) {
			t.Errorf("%s: problems are %v", name, f.Problems)
		}
	}
}

// TestConfig: the entries of a repository are those that git lists, with includes.
func TestConfig(t *testing.T) {
	m := newMachine(t)
	repo := filepath.Join(m.work, "Repo")
	m.git(m.home, "init", "-q", repo)
	m.git(repo, "commit", "-q", "--allow-empty", "-m", "x")
	m.git(repo, "checkout", "-q", "-b", "feature/one")
	m.git(repo, "worktree", "add", "-q", filepath.Join(m.work, "linked"), "-b", "other")
	conditions := []string{"gitdir:~/work/", "gitdir:work/", "gitdir:~/work/Repo/.git", "gitdir:~/work/repo/.git", "gitdir/i:~/work/repo/.git", "gitdir:./work/", "gitdir:**/Repo/**", "gitdir:/nowhere/", "gitdir:Repo",
		"gitdir:.git", "onbranch:feature/", "onbranch:feature/*", "onbranch:one", "onbranch:*", "onbranch:other", "hasconfig:remote.*.url:https://example.org/**", "hasconfig:remote.*.url:https://*", "unknown:x", "gitdir:"}
	var b strings.Builder
	b.WriteString("[user]\nname = a\nemail = b\n[include]\npath = other.inc\npath = missing.inc\npath = ~/work/home.inc\n")
	for i, c := range conditions {
		fmt.Fprintf(&b, "[includeIf %q]\npath = work/c%d.inc\n", c, i)
		m.write(fmt.Sprintf("work/c%d.inc", i), fmt.Sprintf("[c]\nmatched = %s\n", strings.ReplaceAll(c, ":", " ")))
	}
	m.write(".gitconfig", b.String())
	m.write("other.inc", "[include]\npath = work/deep.inc\n[x]\ny = 1\n")
	m.write("work/deep.inc", "[x]\ny = 2\n")
	m.write("work/home.inc", "[x]\ny = 3\n")
	m.write(".config/git/config", "[x]\ny = 0\n")
	m.git(repo, "remote", "add", "origin", "https://example.org/a/b.git")
	m.git(repo, "config", "extensions.worktreeConfig", "true")
	m.git(filepath.Join(m.work, "linked"), "config", "--worktree", "x.y", "4")
	for _, dir := range []string{repo, filepath.Join(m.work, "linked")} {
		r, problems := gitrepo.Find(dir, m.env)
		if r == nil || len(problems) > 0 {
			t.Fatalf("%s: %v, %v", dir, r, problems)
		}
		if got, want := listed(r.Config()), m.git(dir, "config", "--list", "-z"); got != want {
			t.Errorf("%s: the entries are\n%q, git lists\n%q", dir, got, want)
		}
	}
	m.write("loop.inc", "[include]\npath = loop.inc\n")
	m.write(".gitconfig", "[include]\npath = loop.inc\n")
	if _, problems := gitrepo.Find(repo, m.env); len(problems) != 1 {
		t.Errorf("a cycle of includes: %v", problems)
	}
}

// listed formats entries as git config --list -z.
func listed(c gitconfig.Config) string {
	var b strings.Builder
	for _, e := range c {
		b.WriteString(e.Key)
		if !e.Bare {
			b.WriteString("\n" + e.Value)
		}
		b.WriteString("\x00")
	}
	return b.String()
}

// TestHead: the commit and the branch are those of git.
func TestHead(t *testing.T) {
	m := newMachine(t)
	m.git(m.home, "init", "-q", "-b", "trunk", m.work)
	linked := filepath.Join(m.home, "linked")
	check := func(dir, branch, what string) {
		t.Helper()
		r, problems := gitrepo.Find(dir, m.env)
		if r == nil {
			t.Fatal(problems)
		}
		commit, got, err := r.Head()
		if err != nil || got != branch {
			t.Errorf("%s: the branch is %q, want %q: %v", what, got, branch, err)
		}
		want := ""
		if what != "no commit" {
			want = strings.TrimSpace(m.git(dir, "rev-parse", "HEAD"))
		}
		if commit != want {
			t.Errorf("%s: the commit is %q, want %q", what, commit, want)
		}
	}
	check(m.work, "trunk", "no commit")
	m.git(m.work, "commit", "-q", "--allow-empty", "-m", "x")
	check(m.work, "trunk", "a commit")
	m.git(m.work, "worktree", "add", "-q", linked, "-b", "feature/x")
	m.git(linked, "commit", "-q", "--allow-empty", "-m", "y")
	check(linked, "feature/x", "a worktree")
	m.git(m.work, "pack-refs", "--all")
	check(m.work, "trunk", "packed refs")
	check(linked, "feature/x", "packed refs in a worktree")
	m.git(m.work, "symbolic-ref", "refs/heads/alias", "refs/heads/trunk")
	m.git(m.work, "symbolic-ref", "HEAD", "refs/heads/alias")
	check(m.work, "alias", "a ref that names another one")
	m.git(m.work, "checkout", "-q", "--detach")
	check(m.work, "", "no branch")
}

// TestReadOnly: reading a repository changes nothing in it.
func TestReadOnly(t *testing.T) {
	m := newMachine(t)
	m.git(m.home, "init", "-q", m.work)
	m.write("work/a", "x")
	m.git(m.work, "add", "a")
	before := m.list()
	m.look(m.work)
	if after := m.list(); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// list describes every file below the home.
func (m machine) list() string {
	var b strings.Builder
	err := filepath.WalkDir(m.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		m.Fatal(err)
	}
	return b.String()
}
