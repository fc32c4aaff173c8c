package bough_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
)

// unlinked are prefixes of packages that the command does not link. Of the large ones it links
// modernc.org/sqlite, for the databases of other programs (docs/architecture.md): it takes 10 s of
// a first go run, and 0.14 ms of a start.
var unlinked = map[string]string{
	"github.com/bytedance/sonic":             "it makes tables at start",
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

// programSize is the maximum size of the command in bytes, without symbols and debug
// information, as go run builds it. They add a third.
const programSize = 60_000_000

// TestMain starts the command instead, if go run has started this program to do so.
func TestMain(m *testing.M) {
	if os.Getenv(startVariable) == "" {
		os.Exit(testsize.LazyGC(m).Run())
	}
	if err := start(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// startVariable is set for a process of this program that go run starts.
const startVariable = "BOUGH_TEST_START"

// start prints the size of a program and runs it. Standard error is that of the program and
// lists its inits.
func start(name string, args []string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	fmt.Println(info.Size())
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// TestInits holds the allocations of the command's packages before main begins, and its
// size. It starts the command with go run, which links it only if it has changed.
func TestInits(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-exec", `"`+self+`"`, "./cmd/bough", "--version")
	cmd.Env = append(os.Environ(), startVariable+"=1")
	size, trace := output(t, cmd)
	if n, err := strconv.Atoi(strings.TrimSpace(size)); err != nil || n > programSize {
		t.Errorf("the command has %d bytes, %v; at most %d are allowed", n, err, programSize)
	}
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
