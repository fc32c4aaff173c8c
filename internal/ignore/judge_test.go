package ignore_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/ignore"
)

// A judge asks git which pattern decides on a path.
type judge struct {
	dir string // an empty repository
	// midWord reports that git has ** match several components even after other characters,
	// if none of these is special, as versions before 2.52 do.
	midWord bool
}

// newJudge returns a judge, or skips the test if git is not installed.
func newJudge(t testing.TB) *judge {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	j := &judge{dir: t.TempDir()}
	j.git(t, nil, "init", "-q")
	j.write(t, ".gitignore", "pr**/x\n")
	j.midWord = j.ask(t, false, []string{"prx"})[0] != verdict{}
	j.write(t, ".gitignore", "")
	return j
}

// git runs git without the configuration of the user, and returns its output.
func (j *judge) git(t testing.TB, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = j.dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_DIR="+filepath.Join(j.dir, ".git"), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1 || stderr.Len() > 0) { // 1: no path matches
		t.Fatalf("git %q: %v\n%s", args, err, &stderr)
	}
	return out
}

func (j *judge) write(t testing.TB, name, data string) {
	t.Helper()
	name = filepath.Join(j.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A verdict names the pattern that decides.
type verdict struct {
	source string
	line   int
}

// ask returns git's verdict on each path. Those that end in a slash are directories.
func (j *judge) ask(t testing.TB, fold bool, paths []string) []verdict {
	t.Helper()
	for _, p := range paths {
		if strings.HasSuffix(p, "/") {
			if err := os.MkdirAll(filepath.Join(j.dir, filepath.FromSlash(p)), 0o777); err != nil {
				t.Fatal(err)
			}
		}
	}
	var in bytes.Buffer
	for _, p := range paths {
		in.WriteString("./" + strings.TrimSuffix(p, "/") + "\x00") // a colon at the beginning is magic
	}
	out := j.git(t, in.Bytes(), "-c", "core.ignoreCase="+strconv.FormatBool(fold), "-c", "core.excludesFile="+filepath.Join(j.dir, ".git", "user"),
		"check-ignore", "--no-index", "-z", "--stdin", "-v", "-n")
	fields := strings.Split(string(out), "\x00")
	if len(fields) != 4*len(paths)+1 {
		t.Fatalf("git answers with %d fields on %d paths", len(fields), len(paths))
	}
	verdicts := make([]verdict, len(paths))
	for i := range paths {
		f := fields[4*i:]
		if f[0] != "" {
			line, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			verdicts[i] = verdict{f[0], line}
		}
	}
	return verdicts
}

// midWordPattern matches a line with the ** that old versions of git treat otherwise.
var midWordPattern = regexp.MustCompile(`(?m)^(!?/?[^*?\[\\\n]*[^*?\[\\/\n])\*\*+(/|\\/|\s*$)`)

// compare reports whether git and bough agree on all paths.
func (j *judge) compare(t testing.TB, fold bool, sources func(dir string) []ignore.Source, paths []string) {
	t.Helper()
	root := ignore.Root(fold, sources("")...)
	for i, want := range j.ask(t, fold, paths) {
		var got verdict
		p := decide(root, sources, paths[i])
		if p != nil {
			got = verdict{p.Source, p.Line}
		}
		if got != want {
			t.Errorf("%q: pattern %v decides, git says %v", paths[i], got, want)
			for dir := range parents(paths[i]) {
				for _, s := range sources(dir) {
					t.Logf("%s: %q", s.Name, s.Data)
				}
			}
		}
	}
}

// parents yields the directories above a path, "" first, each with a slash at its end.
func parents(path string) func(yield func(dir string) bool) {
	return func(yield func(dir string) bool) {
		path := strings.TrimSuffix(path, "/")
		if !yield("") {
			return
		}
		for i := range len(path) {
			if path[i] == '/' && !yield(path[:i+1]) {
				return
			}
		}
	}
}

// decide returns the pattern that decides on a path as a walk from the root finds it: also
// the one that ignores a directory above it.
func decide(root *ignore.Rules, sources func(dir string) []ignore.Source, path string) *ignore.Pattern {
	r, rest := root, path
	for dir := range parents(path) {
		if dir != "" {
			name, below, _ := strings.Cut(rest, "/")
			if p := r.Match(name, true); p != nil && !p.Include {
				return p
			}
			r, rest = r.Enter(name, sources(dir)...), below
		}
	}
	name, isDir := strings.CutSuffix(rest, "/")
	return r.Match(name, isDir)
}
