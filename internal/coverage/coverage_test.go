package coverage_test

import (
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

// A folder is a tree of files on the disk.
type folder struct {
	testing.TB
	dir string
}

func newFolder(t testing.TB) *folder {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &folder{t, dir}
}

func (f *folder) write(files ...string) {
	f.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(f.dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			f.Fatal(err)
		}
	}
}

func (f *folder) git(dir string, args ...string) {
	f.Helper()
	f.gitInput(dir, "", args...)
}

// gitInput runs git with a standard input.
func (f *folder) gitInput(dir, in string, args ...string) {
	f.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("the program git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = filepath.Join(f.dir, dir), strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// env is an environment without the configuration of the user.
func env(name string) string {
	return map[string]string{"GIT_CONFIG_NOSYSTEM": "1"}[name]
}

// scan returns the files of a state of a subdirectory, and the omitted ones, as PATH WHY.
func (f *folder) scan(dir string, secrets bool) (files, left []string) {
	f.Helper()
	dir = filepath.Join(f.dir, dir)
	c := coverage.Look(dir, coverage.Options{Env: env, Secrets: secrets})
	s, err := scan.Look(f.Context(), dir, nil, scan.Options{Rules: c.Rules()})
	if err != nil {
		f.Fatal(err)
	}
	if p := c.Problems(); len(p) > 0 {
		f.Fatal(p)
	}
	var out bytes.Buffer
	w := pack.NewObjectWriter(&out, 0, 0, true)
	r, err := s.Store(f.Context(), w, func(pack.ID) bool { return false })
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		f.Fatal(err)
	}
	p, err := pack.New("pack", bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		f.Fatal(err)
	}
	for c, err := range filetree.Diff(pack.NewIndex(p).Get, pack.ID{}, r.Tree) {
		if err != nil {
			f.Fatal(err)
		}
		if c.To.Type != filetree.Dir {
			files = append(files, c.Path)
		}
	}
	for _, l := range r.Left {
		left = append(left, l.Path+" "+string(l.Why))
	}
	return files, left
}

// check compares the state of a subdirectory with what it is to have and to omit.
func (f *folder) check(dir string, secrets bool, files, left []string) {
	f.Helper()
	gotFiles, gotLeft := f.scan(dir, secrets)
	slices.Sort(files)
	if slices.Sort(gotFiles); !slices.Equal(gotFiles, files) || !slices.Equal(gotLeft, left) {
		f.Errorf("a state has %q, without %q; want %q, %q", gotFiles, gotLeft, files, left)
	}
}

// TestWithoutGit: without a repository, pattern files and built-in rules decide; secrets are
// named, and stored if the user asks for it.
func TestWithoutGit(t *testing.T) {
	f := newFolder(t)
	f.write(".gitignore", "*.o\n/out/\n", "a.c", "", "a.o", "", "out/x", "", "sub/out/x", "", "sub/.boughignore", "!b.o\nlogs\n",
		"sub/b.o", "", "sub/logs/today", "", "node_modules/x/index.js", "", "py/__pycache__/m.pyc", "", "venv/pyvenv.cfg", "", "venv/lib", "",
		"cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n", "cache/x", "", "notcache/CACHEDIR.TAG", "Signature", "notcache/x", "",
		".env", "TOKEN=x", ".env.example", "TOKEN=")
	held := []string{".gitignore", "a.c", "sub/out/x", "sub/.boughignore", "sub/b.o", "notcache/CACHEDIR.TAG", "notcache/x", ".env.example"}
	f.check("", false, held, []string{".env secret"})
	f.check("", true, append(held, ".env"), nil)
}

// TestOwnFiles: a state of a folder with a workspace in it has none of the files of bough, and
// the same names elsewhere are the user's.
func TestOwnFiles(t *testing.T) {
	f := newFolder(t)
	f.write("chat/.bough/lock", "", "chat/conversations/session.json", "", "chat/states/000001.zst", "", "chat/head.json", "", "chat/notes.md", "",
		"chat/states/machine.py", "", "chat/agents/ada.json", "", "chat/agents/tools/run.py", "", "chat/files/.env", "",
		"app/conversations/talk.go", "", "app/states/x.go", "", "app/head.json", "")
	f.check("", false, []string{"chat/notes.md", "chat/states/machine.py", "chat/agents/tools/run.py", "app/conversations/talk.go", "app/states/x.go", "app/head.json"}, []string{"chat/files/.env secret"})
}

// TestTracked: what git tracks belongs to a state although patterns ignore it, below ignored
// directories too, and nothing else of these; a repository inside adds what it tracks.
func TestTracked(t *testing.T) {
	f := newFolder(t)
	f.git("", "init", "--quiet")
	f.write(".gitignore", "*.log\nbuild/\n", "kept.log", "", "lost.log", "", "build/deep/tracked", "", "build/deep/other", "", "build/x", "",
		"node_modules/patched/a.js", "", "node_modules/other/b.js", "", "conversations/s.json", "", ".bough/x", "", "main.go", "", "key.pem", "")
	f.git("", "add", "-f", "kept.log", "build/deep/tracked", "node_modules/patched/a.js", "main.go", "conversations/s.json", "key.pem")
	f.write("module/.gitignore", "*.tmp\n", "module/a.tmp", "", "module/b.tmp", "", "module/c", "", "module/d.log", "")
	f.git("module", "init", "--quiet")
	f.git("module", "add", "-f", "a.tmp", "d.log")
	f.check("", false, []string{".gitignore", "kept.log", "build/deep/tracked", "node_modules/patched/a.js", "main.go",
		"module/.gitignore", "module/a.tmp", "module/c", "module/d.log"},
		[]string{"conversations/s.json ignored_tracked", "key.pem secret"})
}

// TestReadOnly: no file of a repository is written.
func TestReadOnly(t *testing.T) {
	f := newFolder(t)
	f.git("", "init", "--quiet")
	f.write("a", "a")
	f.git("", "add", "a")
	before := f.contents()
	f.scan("", false)
	if after := f.contents(); !maps.Equal(before, after) {
		t.Errorf("files were %v, and are %v", before, after)
	}
}

// contents returns the content and time of each file.
func (f *folder) contents() map[string]string {
	list := map[string]string{}
	if err := filepath.WalkDir(f.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		list[name] = info.ModTime().String() + string(data)
		return err
	}); err != nil {
		f.Fatal(err)
	}
	return list
}

// TestRepository: a repository, with others inside, and folders below its top.
func TestRepository(t *testing.T) {
	f := newFolder(t)
	tag := "Signature: 8a477f597d28d172789f06886806bc55\n"
	f.write(
		"top/.gitignore", "*.o\nbuild/\n/sub/out\n",
		"top/.boughignore", "*.iso\n!keep.o\nheavy/\n",
		"top/a", "", "top/a.o", "", "top/tracked.o", "", "top/keep.o", "", "top/x.iso", "", "top/tracked.iso", "",
		"top/build/tracked", "", "top/build/other", "", "top/build/deep/tracked", "", "top/build/deep/other", "", "top/build/else/other", "",
		"top/heavy/tracked", "", "top/sub/out", "", "top/sub/in", "",
		"top/node_modules/p/index.js", "", "top/node_modules/q/patched.js", "", "top/py/__pycache__/x.pyc", "",
		"top/env/pyvenv.cfg", "", "top/env/bin/python", "", "top/cache/CACHEDIR.TAG", tag, "top/cache/x", "", "top/notcache/CACHEDIR.TAG", "x", "top/notcache/x", "",
		"top/.env", "", "top/.env.example", "", "top/secret/server.pem", "", "top/.aws/credentials", "", "top/.aws/config", "",
		"top/.hg/x", "", "top/ws/.bough/x", "", "top/ws/conversations/s.json", "", "top/ws/head.json", "", "top/ws/README", "", "top/conversations/mine.json", "",
		"top/nested/.gitignore", "*.log\n", "top/nested/a", "", "top/nested/a.o", "", "top/nested/tracked.o", "", "top/nested/x.log", "", "top/nested/x.tmp", "",
		"top/build/clone/a", "",
	)
	f.git("top", "init", "-q")
	f.git("top", "add", "--force", "a", "tracked.o", "tracked.iso", "build/tracked", "build/deep/tracked", "heavy/tracked", "node_modules/q/patched.js", "secret/server.pem")
	f.git("top/nested", "init", "-q")
	f.git("top/nested", "add", "--force", "tracked.o")
	f.write("top/nested/.git/info/exclude", "*.tmp\n")
	f.git("top/build/clone", "init", "-q")
	f.git("top/build/clone", "add", "a")
	held := strings.Fields(`.gitignore .boughignore a tracked.o keep.o build/tracked build/deep/tracked sub/in node_modules/q/patched.js
		notcache/CACHEDIR.TAG notcache/x .env.example .aws/config ws/README conversations/mine.json nested/.gitignore nested/a nested/tracked.o`)
	f.check("top", false, held, []string{".aws/credentials secret", ".env secret", "heavy ignored_tracked", "secret/server.pem secret", "tracked.iso ignored_tracked"})
	f.check("top", true, append(held, ".env", ".aws/credentials", "secret/server.pem"), []string{"heavy ignored_tracked", "tracked.iso ignored_tracked"})
	f.check("top/sub", false, []string{"in"}, nil)
	f.check("top/build", false, []string{"tracked", "other", "deep/tracked", "deep/other", "else/other", "clone/a"}, nil) // the user chose it
	f.check("top/ws", false, []string{"README"}, nil)
	f.check("top/env", false, []string{"pyvenv.cfg", "bin/python"}, nil)
}

// TestGitData: the data of git belongs to no state under any name, except for files of it that
// git tracks elsewhere.
func TestGitData(t *testing.T) {
	f := newFolder(t)
	f.write("top/a", "", "bare/README", "", "top/fixture/HEAD", "", "top/fixture/objects/x", "", "top/fixture/refs/x", "")
	f.git("top", "init", "-q", "--separate-git-dir", "data")
	f.git("top", "add", "a", "fixture/HEAD")
	f.git("top", "init", "-q", "--bare", "copy.git")
	f.check("top", false, []string{"a", "fixture/HEAD"}, nil)
	f.git("bare", "init", "-q", "--bare")
	f.check("bare", false, []string{"README"}, nil)
}

// TestSubmodule: a submodule below an ignored directory has what it tracks itself.
func TestSubmodule(t *testing.T) {
	f := newFolder(t)
	f.write("other/a", "", "top/.gitignore", "vendor/\n", "top/vendor/x", "")
	f.git("other", "init", "-q")
	f.git("other", "add", "a")
	f.git("other", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x")
	f.git("top", "init", "-q")
	f.git("top", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--force", filepath.Join(f.dir, "other"), "vendor/sub")
	f.write("top/vendor/sub/b", "")
	f.check("top", false, []string{".gitignore", ".gitmodules", "vendor/sub/a"}, nil)
}

// TestProblems: a damaged index is named, and the files are those of the rules.
func TestProblems(t *testing.T) {
	f := newFolder(t)
	f.write("top/.gitignore", "*.o\n", "top/a", "", "top/in/a.o", "", "top/in/b", "")
	f.git("top/in", "init", "-q")
	f.write("top/in/.git/index", "damaged")
	c := coverage.Look(filepath.Join(f.dir, "top"), coverage.Options{Env: env})
	s, err := scan.Look(t.Context(), filepath.Join(f.dir, "top"), nil, scan.Options{Rules: c.Rules()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Store(t.Context(), pack.NewObjectWriter(io.Discard, 0, 0, true), func(pack.ID) bool { return false })
	if err != nil || r.Files != 3 {
		t.Errorf("%d files, %v", r.Files, err)
	}
	if p := c.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "index") {
		t.Errorf("problems are %v", p)
	}
}

// TestLargePatterns: of a pattern file that is too large, the first patterns apply, none of
// them in part, and the file is named.
func TestLargePatterns(t *testing.T) {
	f := newFolder(t)
	c := coverage.Look(f.dir, coverage.Options{Env: env})
	r := c.Rules().Enter(".", nil).Enter("in", []scan.Source{{Name: ".gitignore", Data: []byte("a\n" + strings.Repeat("#", 1<<20-4) + "\nl")}})
	if r.Judge("a", false) != scan.Ignore || r.Judge("l", false) != scan.Hold || len(c.Problems()) != 1 {
		t.Errorf("problems are %v", c.Problems())
	}
}
