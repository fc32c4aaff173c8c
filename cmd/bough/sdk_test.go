package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

const sdkDir = "testdata/sdk"

// needSDK skips the test if Acontext's SDK or its runtime is missing, and returns the
// folder with the packages.
func needSDK(t *testing.T) (modules string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: Acontext's TypeScript SDK cannot be tried")
	}
	modules, err := filepath.Abs(filepath.Join(sdkDir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@acontext", "acontext")); err != nil {
		t.Skip("Acontext's TypeScript SDK is not installed: run 'npm ci' in cmd/bough/" + sdkDir)
	}
	return modules
}

// A serving is a running 'bough serve'.
type serving struct {
	cmd  *exec.Cmd
	dir  string // the workspace
	told gjson.Result
	out  *bufio.Reader
	errs *strings.Builder
}

// startServe starts 'bough serve' in a new workspace, or in dir.
func startServe(t *testing.T, dir string, args ...string) *serving {
	t.Helper()
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "ws")
	}
	s := &serving{cmd: exec.Command("bough", append([]string{"-w", dir, "serve", "--json"}, args...)...), dir: dir, errs: &strings.Builder{}}
	s.cmd.Stderr = s.errs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.cmd.Wait()
		t.Fatalf("'bough serve' prints nothing: %v: %s", err, s.errs)
	}
	s.told = gjson.Parse(line)
	return s
}

// stop interrupts the server, which must exit with 0.
func (s *serving) stop(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return // Windows has no interrupt
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("'bough serve' ends with %v: %s", err, s.errs)
	}
	if s.errs.Len() > 0 {
		t.Errorf("'bough serve' says: %s", s.errs)
	}
}

// env is the environment of a client of the server.
func (s *serving) env() []string {
	return append(os.Environ(),
		"ACONTEXT_BASE_URL="+s.told.Get("base_url").String(),
		"ACONTEXT_API_KEY="+s.told.Get("token").String(),
		"WORKSPACE="+s.dir)
}

// TestSDK runs the published TypeScript SDK of Acontext against 'bough serve'.
func TestSDK(t *testing.T) {
	needSDK(t)
	s := startServe(t, "", "--addr", "127.0.0.1:0")
	cmd := exec.Command("node", "drive.js")
	cmd.Dir = sdkDir
	cmd.Env = s.env()
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("the SDK: %v", err)
	}
	if !strings.Contains(string(out), "\nall ") {
		t.Error("the SDK did not finish")
	}
	s.stop(t)
	do(t, "-w", s.dir, "doctor")
}

// TestClientsPage runs the TypeScript example of docs/clients.md.
func TestClientsPage(t *testing.T) {
	modules := needSDK(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, piece := range strings.Split(string(page), "```ts\n")[1:] {
		block, _, _ := strings.Cut(piece, "```")
		blocks = append(blocks, block)
	}
	if len(blocks) != 3 {
		t.Fatalf("the page has %d pieces of TypeScript", len(blocks))
	}
	begin, rest, _ := strings.Cut(blocks[0], "\n")
	dir := t.TempDir()
	files := map[string]string{
		"first.ts":     begin + "\n(async () => {\n" + rest + "})();\n",
		"branching.ts": blocks[1],
		"second.ts":    blocks[2],
		"tsconfig.json": `{"compilerOptions": {"strict": true, "target": "es2022", "module": "node16",
			"moduleResolution": "node16", "skipLibCheck": true, "types": []}}`,
		"globals.d.ts": "declare const console: { log(...args: unknown[]): void };\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Skip(err) // on Windows
	}
	s := startServe(t, "", "--addr", "127.0.0.1:0")
	node := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("node", args...)
		cmd.Dir, cmd.Env = dir, s.env()
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("node %s: %v\n%s%s", args[0], err, out, exit.Stderr)
		} else if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	node(filepath.Join(modules, "typescript", "bin", "tsc"))
	node("first.js")
	var want strings.Builder
	for l := range strings.Lines(blocks[2]) {
		if said, ok := strings.CutPrefix(strings.TrimSpace(l), "// 2 "); ok {
			want.WriteString("2 " + said + "\n")
		}
	}
	if got := node("second.js"); got != want.String() || got == "" {
		t.Errorf("it prints %q, and the page has %q", got, want.String())
	}
	s.stop(t)
}
