package bough_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// unlinked are prefixes of packages that the command does not link.
var unlinked = map[string]string{
	"github.com/bytedance/sonic":             "it makes tables at start",
	"github.com/dustin/go-humanize":          "it makes tables and compiles a regular expression at start",
	"github.com/openai/openai-go":            "it takes half a minute to compile",
	"github.com/anthropics/anthropic-sdk-go": "it takes half a minute to compile",
}

// inC are the packages with C code that the command links.
var inC = map[string]string{
	// 'bough serve' listens. A build with CGO_ENABLED=0 has no C code, and starts a
	// millisecond faster.
	"net":         "it looks names up as the system does",
	"runtime/cgo": "net needs it",
	// 'bough import' reads tar archives. Package net already links the C code that os/user
	// needs.
	"os/user": "archive/tar asks it who owns a file",
}

// TestUnlinked: the command links no package of the list, and none with C code except for
// those in inC.
func TestUnlinked(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{len .CgoFiles}}", "./cmd/bough")
	list.Env = append(os.Environ(), "CGO_ENABLED=1")
	stdout, _ := output(t, list)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) < 50 {
		t.Fatalf("found only %d packages", len(lines))
	}
	for _, l := range lines {
		pkg, filesInC, _ := strings.Cut(l, " ")
		for begin, why := range unlinked {
			if strings.HasPrefix(pkg, begin) {
				t.Errorf("the command links %s: %s", pkg, why)
			}
		}
		if filesInC != "0" && inC[pkg] == "" {
			t.Errorf("the command links %s, which is written in C", pkg)
		}
	}
}

// initAllocs and initBytes limit the allocations of a package before main begins. The limit
// is 2.5 ms, but the time of an init differs between machines and runs. Half of these
// allocations take a millisecond on a slow machine, and slow inits are those that build
// tables or compile regular expressions.
const (
	initAllocs = 3000
	initBytes  = 1 << 20
)

// programSize is the maximum size of the command in bytes, without -ldflags=-s.
const programSize = 80_000_000

// TestInits holds the allocations of the command's packages before main begins.
func TestInits(t *testing.T) {
	bough := filepath.Join(t.TempDir(), "bough.exe")
	output(t, exec.Command("go", "build", "-o", bough, "./cmd/bough"))
	if info, err := os.Stat(bough); err != nil || info.Size() > programSize {
		t.Errorf("the command has %d bytes, %v; at most %d are allowed", info.Size(), err, programSize)
	}
	start := exec.Command(bough, "--version")
	start.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	_, trace := output(t, start)
	inits := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`).FindAllStringSubmatch(trace, -1)
	if len(inits) < 20 {
		t.Fatalf("found only %d packages in\n%s", len(inits), trace)
	}
	for _, m := range inits {
		bytes, err1 := strconv.Atoi(m[2])
		allocs, err2 := strconv.Atoi(m[3])
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(m[1], module) {
			t.Errorf("%s allocates before main begins; packages of bough must not", m[1])
		}
		if allocs > initAllocs || bytes > initBytes {
			t.Errorf("%s allocates %d bytes in %d pieces before main begins; at most %d in %d are allowed", m[1], bytes, allocs, initBytes, initAllocs)
		}
	}
}

// output runs a program and returns its output.
func output(t *testing.T, cmd *exec.Cmd) (stdout, stderr string) {
	t.Helper()
	var out, talk strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &talk)
	}
	return out.String(), talk.String()
}
