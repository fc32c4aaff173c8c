package bough_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unlinked are packages that the command does not link, because every start
// would pay for them.
var unlinked = map[string]string{
	"github.com/bytedance/sonic":    "it makes tables at start",
	"github.com/dustin/go-humanize": "it makes tables and compiles a regular expression at start",
}

// inCompanion begin the names of packages that only the companion links, bough-models:
// the libraries of providers and protocols, and what uses them.
var inCompanion = []string{
	"github.com/openai/",
	"github.com/anthropics/",
	"github.com/modelcontextprotocol/",
	module + "agent/model/openai",
	module + "agent/model/anthropic",
	module + "agent/mcp",
}

// inC are the packages that the command links although they are written in C.
var inC = map[string]string{
	// 'bough serve' listens. Who builds it with CGO_ENABLED=0 has no C in it, and a
	// millisecond less at each start.
	"net":         "it looks names up as the system does",
	"runtime/cgo": "net needs it",
	// 'bough import' reads tar archives. What os/user needs of C, net has brought.
	"os/user": "archive/tar asks it who owns a file",
}

// TestUnlinked holds what the command links: nothing of the list, and nothing
// that is written in C but what listens.
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
		if slices.ContainsFunc(inCompanion, func(begin string) bool { return strings.HasPrefix(pkg, begin) }) {
			t.Errorf("the command links %s, which only bough-models may", pkg)
		}
		if why, ok := unlinked[pkg]; ok {
			t.Errorf("the command links %s: %s", pkg, why)
		} else if filesInC != "0" && inC[pkg] == "" {
			t.Errorf("the command links %s, which is written in C", pkg)
		}
	}
}

// initAllocs is how often a package may allocate before main begins. How long
// its init takes differs from one machine to the next; this does not, and what
// takes long there makes tables or compiles regular expressions.
const initAllocs = 64

// longInits are the packages that may allocate more often.
var longInits = map[string]int{
	// The parser of the command line links it to make manual pages; only a build tag
	// would leave it out. So package explore reads replies with it, too.
	"github.com/russross/blackfriday/v2": 1000,
	// The tokenizer links it to cut texts into words; a tenth of a millisecond.
	"github.com/dlclark/regexp2/v2/syntax": 100,
}

// TestInits holds what the packages of the command do before main begins.
func TestInits(t *testing.T) {
	bough := filepath.Join(t.TempDir(), "bough.exe")
	output(t, exec.Command("go", "build", "-o", bough, "./cmd/bough"))
	start := exec.Command(bough, "--version")
	start.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	_, trace := output(t, start)
	inits := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`).FindAllStringSubmatch(trace, -1)
	if len(inits) < 20 {
		t.Fatalf("found only %d packages in\n%s", len(inits), trace)
	}
	for _, m := range inits {
		allocs, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(m[1], module) {
			t.Errorf("%s does something before main begins; packages of bough do not", m[1])
		}
		if most := max(initAllocs, longInits[m[1]]); allocs > most {
			t.Errorf("%s allocates %d times before main begins; at most %d are allowed", m[1], allocs, most)
		}
	}
}

// output runs a program and returns what it prints.
func output(t *testing.T, cmd *exec.Cmd) (stdout, stderr string) {
	t.Helper()
	var out, talk strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &talk)
	}
	return out.String(), talk.String()
}
