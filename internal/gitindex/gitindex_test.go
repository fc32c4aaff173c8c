package gitindex_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/gitindex"
	"github.com/bough-dev/bough/internal/testsize"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

// A repository is one that git made.
type repository struct {
	t   testing.TB
	dir string
}

// newRepository makes a repository, or skips the test if git is not installed.
func newRepository(t testing.TB, args ...string) repository {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	r := repository{t, t.TempDir()}
	r.git("", append([]string{"init", "-q"}, args...)...)
	return r
}

// git runs git without the configuration of the user, and returns its output.
func (r repository) git(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "splitIndex.maxPercentChange=100"}, args...)...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, &stderr)
	}
	return string(out)
}

// track adds paths to the index without files, and removes others.
func (r repository) track(add, remove []string) {
	r.t.Helper()
	blob := strings.TrimSpace(r.git("x", "hash-object", "-w", "--stdin"))
	var in strings.Builder
	for _, p := range add {
		fmt.Fprintf(&in, "100644 %s 0\t%s\x00", blob, p)
	}
	for _, p := range remove {
		fmt.Fprintf(&in, "0 %s 0\t%s\x00", strings.Repeat("0", len(blob)), p)
	}
	r.git(in.String(), "update-index", "-z", "--index-info")
}

// read reads a file of the repository.
func (r repository) read(name string) []byte {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, ".git", name))
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// shared returns the names of the files that share the index.
func (r repository) shared() []string {
	list, err := filepath.Glob(filepath.Join(r.dir, ".git", "sharedindex.*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := range list {
		list[i] = filepath.Base(list[i])
	}
	return list
}

// parse parses the index.
func (r repository) parse(f gitindex.Format) gitindex.Paths {
	r.t.Helper()
	paths, err := gitindex.Parse(r.read("index"), f, func(name string) ([]byte, error) { return r.read(name), nil })
	if err != nil {
		r.t.Fatal(err)
	}
	return paths
}

// check compares the index with what git lists.
func (r repository) check(f gitindex.Format, what string) {
	r.t.Helper()
	var want []string
	for p := range strings.SplitSeq(r.git("", "ls-files", "--sparse", "-z"), "\x00") {
		if p != "" && !strings.HasSuffix(p, "/") {
			want = append(want, p)
		}
	}
	want = slices.Compact(want)
	paths := r.parse(f)
	if paths.Len() != len(want) {
		r.t.Fatalf("%s: %d paths, git lists %d", what, paths.Len(), len(want))
	}
	for _, p := range want {
		if !has(paths, p) {
			r.t.Errorf("%s: %q is missing", what, p)
		}
		for _, other := range []string{p + "x", p[:len(p)-1], p + "/" + p, filepath.Dir(p)} {
			if has(paths, other) != slices.Contains(want, other) {
				r.t.Errorf("%s: tracked %q is %v", what, other, has(paths, other))
			}
		}
	}
}

// has looks a path up as a walk does.
func has(p gitindex.Paths, path string) bool {
	for {
		dir, rest, more := strings.Cut(path, "/")
		if !more {
			return p.Has(path)
		}
		p, path = p.Enter(dir), rest
	}
}

// some returns n random paths, with names that sort before and after a slash.
func some(random *rand.Rand, n int) []string {
	names := []string{"a", "b", "a-b", "a.b", "a0", "ab", "é", "\xff", "a b", strings.Repeat("long", 30), "!"}
	var list []string
	for range n {
		dir := ""
		for range random.IntN(4) {
			dir += names[random.IntN(len(names))] + "/"
		}
		list = append(list, dir+names[random.IntN(len(names))]+".f")
	}
	return list
}

// TestGit: the paths are those that git lists, in each form of an index.
func TestGit(t *testing.T) {
	for _, f := range []struct {
		format gitindex.Format
		name   string
	}{{gitindex.SHA1, "sha1"}, {gitindex.SHA256, "sha256"}} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t, "--object-format="+f.name)
			random := rand.New(rand.NewPCG(3, 9))
			r.track(some(random, 300), nil)
			r.check(f.format, "version 2")
			listed := strings.Split(r.git("", "ls-files", "-z"), "\x00")
			r.git("", "update-index", "--skip-worktree", listed[3], listed[7])
			r.check(f.format, "version 3")
			r.git("", "update-index", "--index-version", "4")
			r.check(f.format, "version 4")
			r.git("", "update-index", "--index-version", "2") // git does not split version 4
			r.git("", "update-index", "--split-index")
			r.check(f.format, "split")
			for range testsize.Of(4, 8, 80) {
				old := strings.Split(strings.TrimSuffix(r.git("", "ls-files", "-z"), "\x00"), "\x00")
				r.track(some(random, random.IntN(30)), old[:random.IntN(1+len(old)/4)])
				r.git("", "update-index", "--assume-unchanged", strings.SplitN(r.git("", "ls-files", "-z"), "\x00", 2)[0])
				r.check(f.format, "split and changed")
			}
			if len(r.shared()) != 1 {
				t.Errorf("the index is in %q", r.shared())
			}
		})
	}
}

// TestConflict: a path in conflict is one path. A submodule is one, too.
func TestConflict(t *testing.T) {
	r := newRepository(t)
	blob := strings.TrimSpace(r.git("x", "hash-object", "-w", "--stdin"))
	r.git(fmt.Sprintf("100644 %[1]s 1\ta/b\x00100644 %[1]s 2\ta/b\x00100644 %[1]s 3\ta/b\x00160000 %[1]s 0\tsub\x00", blob), "update-index", "-z", "--index-info")
	paths := r.parse(gitindex.SHA1)
	if paths.Len() != 2 || !has(paths, "a/b") || !has(paths, "sub") || paths.Enter("sub").Len() != 0 {
		t.Errorf("%d paths", paths.Len())
	}
}

// TestSparse: a directory outside of a sparse checkout is not tracked, the others are.
func TestSparse(t *testing.T) {
	r := newRepository(t)
	for _, p := range []string{"in/a", "out/a", "out/b/c", "top"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.dir, p)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, p), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r.git("", "add", ".")
	r.git("", "commit", "-q", "-m", "x")
	r.git("", "sparse-checkout", "set", "--cone", "--sparse-index", "in")
	r.check(gitindex.SHA1, "sparse")
	if p := r.parse(gitindex.SHA1); p.Len() != 2 || !has(p, "in/a") {
		t.Errorf("%d paths", p.Len())
	}
}

// TestDamage: no prefix of an index is read, and none with another number of entries.
func TestDamage(t *testing.T) {
	r := newRepository(t)
	r.track(some(rand.New(rand.NewPCG(1, 1)), 20), nil)
	data := r.read("index")
	for n := range data {
		if _, err := gitindex.Parse(data[:n], gitindex.SHA1, nil); err == nil {
			t.Fatalf("the first %d of %d bytes are read", n, len(data))
		}
	}
	for _, n := range []byte{data[11] - 1, data[11] + 1} {
		other := bytes.Clone(data)
		other[11] = n
		if _, err := gitindex.Parse(other, gitindex.SHA1, nil); err == nil {
			t.Fatalf("the index is read with %d entries", n)
		}
	}
	if _, err := gitindex.Parse(data, gitindex.SHA1, nil); err != nil {
		t.Error(err)
	}
}

// FuzzParse: of any two files, Parse reads paths that are sorted, unique and found again, or
// returns an error.
func FuzzParse(f *testing.F) {
	for _, split := range []bool{true, false} {
		r := newRepository(f)
		random := rand.New(rand.NewPCG(5, 5))
		r.track(some(random, 12), nil)
		var base []byte
		if split {
			r.git("", "update-index", "--split-index")
			r.track(some(random, 4), strings.Split(r.git("", "ls-files", "-z"), "\x00")[:3])
			base = r.read(r.shared()[0])
		} else {
			r.git("", "update-index", "--index-version", "4")
		}
		f.Add(unsigned(r.read("index")), unsigned(base))
	}
	f.Fuzz(func(t *testing.T, index, base []byte) {
		index, base = append(index, make([]byte, 20)...), append(base, make([]byte, 20)...)
		paths, err := gitindex.Parse(index, gitindex.SHA1, func(string) ([]byte, error) { return base, nil })
		if err != nil {
			return
		}
		previous := ""
		for i, p := range paths.List() {
			if i > 0 && p <= previous || p == "" || strings.HasSuffix(p, "/") {
				t.Fatalf("%q follows %q", p, previous)
			}
			if !has(paths, p) {
				t.Fatalf("%q is not found", p)
			}
			previous = p
		}
	})
}

// unsigned returns an index without its checksum.
func unsigned(index []byte) []byte { return index[:max(len(index)-20, 0)] }
