package explore_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
)

// words returns the words of the command lines in a text, as a shell with only double
// quotes parses them.
func words(text string) (lines [][]string) {
	word := regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`)
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		list := word.FindAllString(line, -1)
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], `"`, "")
		}
		lines = append(lines, list)
	}
	return lines
}

// TestPage runs the example of docs/explore.md with its files, program and flags.
func TestPage(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program of the page is a shell script")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	page, err := os.ReadFile("../docs/explore.md")
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	repo := filepath.Join(base, "words")
	if err := os.Mkdir(repo, 0o700); err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, f := range regexp.MustCompile("(?s)\n`([^`\n]+)`([^\n]*):\n\n```[a-z]*\n(.*?)```\n").FindAllStringSubmatch(string(page), -1) {
		dir := repo
		if strings.Contains(f[2], "outside") {
			dir = base
		}
		if err := os.WriteFile(filepath.Join(dir, f[1]), []byte(f[3]), 0o600); err != nil {
			t.Fatal(err)
		}
		files++
	}
	var commands [][]string
	for _, c := range regexp.MustCompile("(?s)\n```sh\n((?:bough|git) .*?)```\n").FindAllStringSubmatch(string(page), -1) {
		commands = append(commands, words(c[1])...)
	}
	if files != 4 || len(commands) != 5 {
		t.Fatalf("the page has %d files and the commands %q", files, commands)
	}
	// Except in a full run, go test finds the packages and its results in its cache although
	// each folder is new, and links without debug information.
	goFlags := testsize.Of("-trimpath -vet=off -ldflags=-w", "-trimpath -vet=off -ldflags=-w", "")
	do := func(name string, arg ...string) (string, error) {
		cmd := exec.Command(name, arg...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GOFLAGS="+goFlags)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, arg := range []string{"init -q", "add .", "-c user.name=A -c user.email=a@example.com commit -qm begin"} {
		if out, err := do("git", strings.Fields(arg)...); err != nil {
			t.Fatalf("git %s: %v, %s", arg, err, out)
		}
	}
	if out, err := do("go", "test", "./..."); err == nil || !strings.Contains(out, "Reverse(") {
		t.Fatalf("the test does not fail: %s", out)
	}

	w, err := workspace.Open(t.Context(), filepath.Join(base, "workspace"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := w.New(t.Context(), commands[0][3])
	if err != nil {
		t.Fatal(err)
	}
	said, err := w.Append(t.Context(), workspace.Append{Session: tree.ID, Text: commands[1][2]})
	if err != nil {
		t.Fatal(err)
	}
	e := &explore.Exploration{
		ID: uuid.NewString(), Session: tree.ID, Node: said.Message, Question: commands[1][2], Config: explore.Defaults(),
		Runner: explore.Runner{Bindings: map[string]string{"GOFLAGS": goFlags}},
	}
	patch := ""
	var list []explore.Strategy
	for arg := commands[2][3:]; len(arg) > 0; arg = arg[2:] {
		name, value, _ := strings.Cut(arg[1], "=")
		switch arg[0] {
		case "--strategy":
			list = append(list, explore.Strategy{Name: name, Description: value})
		case "--run":
			e.Runner.Command = strings.ReplaceAll(arg[1], "$PWD", repo)
		case "--dir":
			e.Runner.Dir = filepath.Join(repo, arg[1])
		case "--bind":
			e.Runner.Bindings[name] = value
		case "--timeout":
			d, err := time.ParseDuration(arg[1])
			if err != nil {
				t.Fatal(err)
			}
			e.Config.Timeout = explore.Duration(d)
		case "--evaluate":
			if e.Method, err = explore.ParseMethod(arg[1]); err != nil {
				t.Fatal(err)
			}
		case ">":
			patch = filepath.Join(repo, arg[1])
		default:
			t.Fatalf("unexpected argument %q", arg)
		}
	}
	e.Begin(list, uuid.NewString, at(0))
	x := &explore.Explorer{Workspace: w, Folder: filepath.Join(base, "work"), Note: func(s string) { t.Error(s) }}
	if err := x.Try(t.Context(), e, nil); err != nil {
		t.Fatal(err)
	}
	if err := x.Conclude(t.Context(), e, e.Method, nil); err != nil {
		t.Fatal(err)
	}
	b := e.Branches
	if len(b) != 3 || b[0].Status != explore.Failed || !strings.Contains(b[0].Reason, "TestReverse") ||
		b[1].Status != explore.Completed || b[2].Status != explore.Completed || *b[1].Confidence != 0.98 || e.Evaluation.Selected != b[1].ID {
		t.Fatalf("the branches are %+v", b)
	}
	if out, err := do("git", "status", "--porcelain"); err != nil || out != "" {
		t.Errorf("the repository has changed: %s, %v", out, err)
	}
	if out, err := do("git", "worktree", "list"); err != nil || strings.Count(out, "\n") != 1 {
		t.Errorf("worktrees are left: %s, %v", out, err)
	}
	if err := os.WriteFile(patch, []byte(e.Evaluation.Result), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands[3:] {
		if out, err := do(c[0], c[1:]...); err != nil {
			t.Errorf("%q: %v, %s", c, err, out)
		}
	}
}
