package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
)

var (
	// runsBough matches a line of a script that runs bough, startsBough one that starts a
	// process of it.
	runsBough   = regexp.MustCompile(`^(?:\[.*\] *)?(?:! )?(?:exits \d+ )?bough |^helps\b`)
	startsBough = regexp.MustCompile(`^[^#]*(?:\bexec |\bas-nobody \d+ |^interrupts |')bough `)
	startFile   = regexp.MustCompile(`^-- .+ --$`)
)

// beginning returns the part of a script before the command line of bough that follows the
// first n of them, with all of its files. A command line that starts a process counts as two.
// The part ends behind the wait for a program in the background.
func beginning(script string, n int) string {
	lines := slices.Collect(strings.Lines(script))
	files := slices.IndexFunc(lines, func(l string) bool { return startFile.MatchString(strings.TrimSpace(l)) })
	if files < 0 {
		files = len(lines)
	}
	background := false
	for i, l := range lines[:files] {
		text := strings.TrimSpace(l)
		if n <= 0 && !background && (runsBough.MatchString(text) || startsBough.MatchString(text)) {
			return strings.Join(append(lines[:i:i], lines[files:]...), "")
		}
		switch {
		case startsBough.MatchString(text):
			n -= 2
		case runsBough.MatchString(text):
			n--
		}
		switch {
		case strings.HasSuffix(text, "&"):
			background = true
		case strings.HasPrefix(text, "wait"):
			background = false
		}
	}
	return script
}

// beginnings writes the beginnings of scripts to a folder, and returns their names.
func beginnings(t *testing.T, scripts []string, n int) (files []string) {
	t.Logf("%d command lines of each script; %s=full runs all", n, testsize.Variable)
	dir := t.TempDir()
	for _, name := range scripts {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(file, []byte(beginning(string(script), n)), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// TestBeginning: a beginning has the first command lines with their checks, and all files.
func TestBeginning(t *testing.T) {
	const script = "# bough is\nenv A=b\nbough a\nstdout a\nedit .bough/x\n! bough b\nexec sleep 1 &\nexec bough c &c&\nexits 2 bough d\nwait\nstdout c\nsh -c 'bough e'\n\n-- bough f --\nbough g\n"
	for n, want := range map[int]string{
		1: "# bough is\nenv A=b\nbough a\nstdout a\nedit .bough/x\n-- bough f --\nbough g\n",
		2: "# bough is\nenv A=b\nbough a\nstdout a\nedit .bough/x\n! bough b\nexec sleep 1 &\nexec bough c &c&\nexits 2 bough d\nwait\nstdout c\n-- bough f --\nbough g\n",
		6: script,
	} {
		if got := beginning(script, n); got != want {
			t.Errorf("the beginning with %d command lines is\n%s\nwant\n%s", n, got, want)
		}
	}
}
