package main

import (
	"bufio"
	"bytes"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// httpPage returns the blocks of docs/http.md in a language.
func httpPage(t *testing.T, language string, want int) (blocks []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "http.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllSubmatch(page, -1) {
		blocks = append(blocks, string(m[1]))
	}
	if len(blocks) != want {
		t.Fatalf("the page has %d blocks of %s, want %d", len(blocks), language, want)
	}
	return blocks
}

// writeFiles writes the files of a program to a new folder.
func writeFiles(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A pageClient is a program of docs/http.md, which uses verbs and then prints "added ID" for
// each message that is added.
type pageClient struct {
	t     *testing.T
	dir   string // the workspace
	addr  string
	lines chan string
	ids   []string // the messages that the test added
}

// runPage runs a program of the page against a new server.
func runPage(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	s := startServe(t, "", "--addr", "127.0.0.1:0")
	at, err := url.Parse(s.told.Get("url").Str)
	if err != nil {
		t.Fatal(err)
	}
	c := &pageClient{t: t, dir: s.dir, addr: at.Host, lines: make(chan string)}
	cmd.Env = append(os.Environ(), s.boughEnv()...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			c.lines <- in.Text()
		}
	}()
	defer func() {
		cmd.Process.Kill()
		for range c.lines {
		}
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s", &errs)
		}
	}()
	for _, want := range []string{"To Lisbon.", "To Oslo.", "not_found"} {
		if got := c.next(20 * time.Second); got != want {
			t.Fatalf("the program prints %q, want %q", got, want)
		}
	}
	c.follow(s)
}

// boughEnv is the environment of a client of the native interface.
func (s *serving) boughEnv() []string {
	return []string{"BOUGH_URL=" + s.told.Get("url").Str, "BOUGH_TOKEN=" + s.told.Get("token").Str}
}

// next returns the next line of the program, "" if none comes in time.
func (c *pageClient) next(wait time.Duration) string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the program has ended")
		}
		return line
	case <-time.After(wait):
		return ""
	}
}

func (c *pageClient) add() {
	c.ids = append(c.ids, gjson.Get(do(c.t, "-w", c.dir, "--json", "append", "more"), "message_id").Str)
}

// follow checks that the program prints every message that is added while it follows the
// events: also those that are added while the server does not run.
func (c *pageClient) follow(s *serving) {
	c.t.Helper()
	line := ""
	for line == "" { // until the program follows the events
		c.add()
		line = c.next(50 * time.Millisecond)
	}
	first := strings.TrimPrefix(line, "added ")
	c.add()
	s.stop(c.t)
	c.add()
	startServe(c.t, c.dir, "--addr", c.addr)
	c.add()
	at := 0
	for c.ids[at] != first {
		at++
	}
	for _, id := range c.ids[at+1:] {
		if got := c.next(20 * time.Second); got != "added "+id {
			c.t.Fatalf("the program prints %q, want %q", got, id)
		}
	}
}

// TestHTTPPageTypeScript runs the TypeScript program of docs/http.md with types that are
// generated from the running server.
func TestHTTPPageTypeScript(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: the TypeScript program of docs/http.md cannot be tried")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt")
	}
	modules, err := filepath.Abs("testdata/http/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(modules); err != nil {
		t.Skip("openapi-typescript is not installed: run 'npm ci' in cmd/bough/testdata/http")
	}
	t.Parallel()
	blocks := httpPage(t, "ts", 2)
	dir := writeFiles(t, map[string]string{
		"bough.ts": blocks[0], "main.ts": blocks[1], "package.json": `{"type":"module"}`,
		"globals.d.ts": "declare const process: { env: Record<string, string | undefined> };\n",
		"tsconfig.json": `{"compilerOptions": {"strict": true, "target": "es2023", "module": "nodenext", "skipLibCheck": true,
			"lib": ["es2023", "dom", "dom.iterable", "dom.asynciterable"], "types": []}}`,
	})
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, "", "--addr", "127.0.0.1:0")
	for _, args := range [][]string{
		{"node_modules/openapi-typescript/bin/cli.js", s.told.Get("url").Str + "/v1/openapi.json", "-o", "v1.d.ts"},
		{"node_modules/typescript/bin/tsc"},
	} {
		cmd := exec.Command("node", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	s.stop(t)
	cmd := exec.Command("node", "main.js")
	cmd.Dir = dir
	runPage(t, cmd)
}

// TestHTTPPagePython runs the Python program of docs/http.md.
func TestHTTPPagePython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the Python program of docs/http.md cannot be tried")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no interrupt")
	}
	t.Parallel()
	blocks := httpPage(t, "python", 2)
	cmd := exec.Command(python, "main.py")
	cmd.Dir = writeFiles(t, map[string]string{"bough.py": blocks[0], "main.py": blocks[1]})
	runPage(t, cmd)
}

// TestHTTPPageCurl runs the command lines of docs/http.md.
func TestHTTPPageCurl(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed: the command lines of docs/http.md cannot be tried")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed: the command lines of docs/http.md cannot be tried")
	}
	t.Parallel()
	blocks := httpPage(t, "sh", 4)
	s := startServe(t, "", "--addr", "127.0.0.1:0")
	cmd := exec.Command(bash, "-e", "-c", blocks[2])
	cmd.Env = append(os.Environ(), s.boughEnv()...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var documents []gjson.Result
	gjson.ForEachLine(strings.ReplaceAll(string(out), "}{", "}\n{"), func(line gjson.Result) bool {
		documents = append(documents, line)
		return true
	})
	if len(documents) != 4 || documents[0].Get("title").Str != "Plan the trip" || documents[2].Get("messages.0.id").Str != documents[1].Get("message_id").Str || documents[3].Get("operations.#").Int() != 2 {
		t.Errorf("the command lines print %s", out)
	}
	const source = "package main\n"
	project := writeFiles(t, map[string]string{"src/main.go": source})
	do(t, "-w", s.dir, "files", "snap", "--dir", project)
	cmd = exec.Command(bash, "-e", "-c", blocks[0])
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), s.boughEnv()...)
	if out, err = cmd.Output(); err != nil || strings.Count(string(out), `"dir":`) < 3 {
		t.Errorf("the command lines on files print %s, %v", out, err)
	}
	if got, err := os.ReadFile(filepath.Join(cmd.Dir, "main.go")); err != nil || string(got) != source {
		t.Errorf("the file is %q, %v", got, err)
	}
	at := do(t, "-w", s.dir, "--json", "log")
	cmd = exec.Command(bash, "-c", "exec "+blocks[3])
	cmd.Env = append(os.Environ(), append(s.boughEnv(), "LAST=0-0")...)
	stream, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var lines []string
	in := bufio.NewScanner(stream)
	for in.Scan() && in.Text() != "event: ready" {
		lines = append(lines, in.Text())
	}
	if text := strings.Join(lines, "\n"); !strings.Contains(text, documents[1].Get("message_id").Str) || strings.Count(text, "id: ") != int(gjson.Get(at, "operations.#").Int())+1 {
		t.Errorf("the events are %s", text)
	}
	s.stop(t)
}
