package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/testmcp"
	"github.com/bough-dev/bough/internal/testsize"
)

// asServer is the environment variable that makes a test program act as a server.
const asServer = "TEST_AS_MCP_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		testmcp.Main()
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the programs that the tests start: under the race detector each sleeps for a second
	os.Exit(m.Run())
}

// program returns this program as a server, with its arguments.
func program(name string, args ...string) Server {
	return Server{Name: name, Command: os.Args[0], Args: args, Env: map[string]string{asServer: "yes"}}
}

func open(t *testing.T, o *Options, servers ...Server) *Tools {
	t.Helper()
	tools, err := Open(t.Context(), &Config{Servers: servers}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tools.Close() })
	return tools
}

// call calls a tool with arguments in pairs.
func call(ctx context.Context, tools *Tools, name string, args ...any) (model.Result, error) {
	var members []string
	for i := 0; i < len(args); i += 2 {
		members = append(members, fmt.Sprintf("%q:%s", args[i], quote(args[i+1])))
	}
	return tools.Call(ctx, model.Call{ID: "1", Name: name, Arguments: "{" + strings.Join(members, ",") + "}"})
}

func quote(v any) string {
	if s, ok := v.(string); ok {
		return strconv.Quote(s)
	}
	return fmt.Sprint(v)
}

// check fails the test unless a call has this answer.
func check(t *testing.T, tools *Tools, want, name string, args ...any) {
	t.Helper()
	r, err := call(t.Context(), tools, name, args...)
	if err != nil || r.Failed || r.Text != want {
		t.Fatalf("%s: %+v, %v, want %q", name, r, err, want)
	}
}

// wrong fails the test unless an error contains all of these.
func wrong(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error is %q, without %q", err, s)
		}
	}
}

func TestTools(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out")
	tools := open(t, nil, program("one"), program("the other", "noise"))
	list, err := tools.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string]bool{}
	for _, tool := range list {
		writes[tool.Name] = tool.Writes
		if tool.Name == "one__echo" && (tool.Description != "The tool echo." || string(tool.Schema) != `{"properties":{"text":{"type":"string"}},"type":"object"}`) {
			t.Errorf("the tool is %+v, with the schema %s", tool, tool.Schema)
		}
	}
	if len(list) != 24 || writes["one__echo"] || !writes["the_other__write"] {
		t.Errorf("the tools are %v", writes)
	}
	check(t, tools, "a ü", "one__echo", "text", "a ü")
	check(t, tools, "b", "the_other__echo", "text", "b")
	check(t, tools, "written", "one__write", "text", "c", "path", filepath.ToSlash(file))
	if data, err := os.ReadFile(file); string(data) != "c\n" {
		t.Errorf("the file has %q: %v", data, err)
	}
	check(t, tools, "{\"n\":[1,2]}", "one__data")
	check(t, tools, "first\n[image: image/png, 3 bytes]\n[audio: audio/wav, 2 bytes]\n[resource: a, file:///a.txt]\n"+
		"[resource: file:///b.txt]\ninside\n[resource: file:///c, application/zip, 4 bytes]\nlast", "one__mixed")
	if r, err := call(t.Context(), tools, "one__fail", "text", "no"); err != nil || !r.Failed || r.Text != "no" {
		t.Errorf("a tool that fails: %+v, %v", r, err)
	}
	_, err = call(t.Context(), tools, "one__missing")
	wrong(t, err, `there is no tool "one__missing"`)
	_, err = tools.Call(t.Context(), model.Call{Name: "one__echo", Arguments: "[]"})
	wrong(t, err, "the arguments are not a JSON object")
}

// TestToolsChange: the next List includes a new tool of a server.
func TestToolsChange(t *testing.T) {
	tools := open(t, nil, program("a"))
	check(t, tools, "grown", "a__grow")
	for range 1000 {
		if _, err := tools.List(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, err := call(t.Context(), tools, "a__grown"); err == nil && r.Text == "new" {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the new tool is not listed")
}

// largeMessage is the maximum size of a message in a test that exceeds it, in bytes.
func largeMessage() int { return testsize.Of(1<<20, maxMessage/4, maxMessage) }

func TestResultTooLarge(t *testing.T) {
	tools := open(t, &Options{MaxResult: 1000, maxMessage: largeMessage()}, program("a"))
	check(t, tools, strings.Repeat("x", 1000), "a__huge", "bytes", 1000)
	_, err := call(t.Context(), tools, "a__huge", "bytes", 1001)
	wrong(t, err, `"a__huge"`, "1001 bytes", "1000")
	_, err = call(t.Context(), tools, "a__huge", "bytes", largeMessage())
	wrong(t, err, `"a"`, `"huge"`)
	check(t, tools, "after", "a__echo", "text", "after")
}

func TestTooManyTools(t *testing.T) {
	_, err := Open(t.Context(), &Config{Servers: []Server{program("a", "many", "20")}}, &Options{MaxTools: 30})
	wrong(t, err, `"a"`, "more than 30 tools")
	tools := open(t, nil, program("a", "many", "988")) // more than one page has
	check(t, tools, "", "a__tool987")
}

// TestCancel: a call that exceeds its timeout, or whose context ends, is cancelled.
func TestCancel(t *testing.T) {
	note := filepath.Join(t.TempDir(), "note")
	tools := open(t, &Options{CallTime: 100 * time.Millisecond}, program("a"))
	_, err := call(t.Context(), tools, "a__slow", "note", filepath.ToSlash(note)+"1")
	wrong(t, err, `"a"`, `"slow"`, "within 100ms")
	waitFor(t, note+"1")

	tools = open(t, nil, program("a"))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err = call(ctx, tools, "a__slow", "note", filepath.ToSlash(note)+"2"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	waitFor(t, note+"2")
	check(t, tools, "x", "a__echo", "text", "x")
}

func waitFor(t *testing.T, file string) {
	t.Helper()
	for range 1000 {
		if _, err := os.Stat(file); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%s does not come", file)
}

// TestCrash: the error of a call has the reason why its server ended, and the next call
// starts the server again.
func TestCrash(t *testing.T) {
	s := program("a")
	s.Env["SECRET"] = "hunter2-hunter2"
	tools := open(t, nil, s)
	_, err := call(t.Context(), tools, "a__crash", "text", "out of cheese hunter2-hunter2")
	wrong(t, err, `"a"`, `"crash"`, "exit status 3", "out of cheese …")
	check(t, tools, "hunter2-hunter2", "a__env", "name", "SECRET")
}

// TestGone: each call reports a server that cannot be restarted, and List has its last
// known tools.
func TestGone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	if err := os.WriteFile(file, data, 0o700); err != nil {
		t.Fatal(err)
	}
	s := program("a")
	s.Command = file
	tools := open(t, nil, s)
	_, err = call(t.Context(), tools, "a__crash")
	wrong(t, err, "exit status 3")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if list, err := tools.List(t.Context()); err != nil || len(list) != 12 {
		t.Errorf("there are %d tools: %v", len(list), err)
	}
	_, err = call(t.Context(), tools, "a__echo")
	wrong(t, err, `the MCP server "a" cannot be started`)
}

func TestOpenErrors(t *testing.T) {
	late := &Options{StartTime: 200 * time.Millisecond}
	missing := Server{Name: "none", Command: filepath.Join(t.TempDir(), "none")}
	unset := Server{Name: "unset", Command: "x", Args: []string{"${BOUGH_TEST_UNSET}"}}
	for _, c := range []struct {
		options *Options
		servers []Server
		says    []string
	}{
		{nil, []Server{missing}, []string{`the MCP server "none" cannot be started`}},
		{nil, []Server{unset}, []string{`the MCP server "unset"`, "BOUGH_TEST_UNSET is not set"}},
		{nil, []Server{program("good"), program("a", "die", "no configuration")}, []string{`the MCP server "a" cannot be started: it exited with exit status 3`, `"no configuration"`}},
		{late, []Server{program("a", "hang"), program("b", "hang")}, []string{`"a" did not start within 200ms`, `"b" did not start within 200ms`}},
	} {
		tools, err := Open(t.Context(), &Config{Servers: c.servers}, c.options)
		wrong(t, err, c.says...)
		if tools != nil {
			t.Error("List returns tools and an error")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := Open(ctx, &Config{Servers: []Server{program("a", "hang")}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestClose: the programs end with the tools, including one that ignores the request, and
// all processes that they started.
func TestClose(t *testing.T) {
	tools := open(t, &Options{Grace: 50 * time.Millisecond}, program("a"), program("b", "stubborn"))
	var sleeping []int
	for _, name := range []string{"a__spawn", "b__spawn"} {
		r, err := call(t.Context(), tools, name)
		pid, bad := strconv.Atoi(r.Text)
		if err != nil || bad != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		sleeping = append(sleeping, pid)
	}
	waiting := make(chan error)
	go func() {
		_, err := call(context.Background(), tools, "a__slow")
		waiting <- err
	}()
	tools.Close()
	tools.Close()
	wrong(t, <-waiting, `the MCP server "a"`)
	_, err := call(t.Context(), tools, "a__echo")
	wrong(t, err, `the MCP server "a" is closed`)
	if runtime.GOOS == "windows" {
		return // a process id identifies no process there
	}
	for _, pid := range sleeping {
		for n := 0; alive(pid); n++ {
			if n == 1000 {
				t.Fatalf("the process %d still runs", pid)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// alive reports whether a process runs.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || !strings.Contains(string(stat), ") Z ") // not reaped yet
}

func TestHTTP(t *testing.T) {
	web := httptest.NewServer(testmcp.Handler("Bearer let-me-in"))
	t.Cleanup(web.Close)
	s := Server{Name: "web", URL: web.URL, Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}}
	tools := open(t, &Options{Env: []string{"TOKEN=let-me-in"}, maxMessage: largeMessage()}, s)
	check(t, tools, "over HTTP", "web__echo", "text", "over HTTP")
	_, err := call(t.Context(), tools, "web__huge", "bytes", largeMessage())
	wrong(t, err, `"web"`)
	check(t, tools, "again", "web__echo", "text", "again")

	_, err = Open(t.Context(), &Config{Servers: []Server{s}}, &Options{Env: []string{"TOKEN=not-the-token"}})
	wrong(t, err, `the MCP server "web" cannot be started`, "Unauthorized")
	if strings.Contains(err.Error(), "not-the-token") {
		t.Errorf("the error shows the token: %v", err)
	}
}

// TestRedirect: the headers of a server are not sent to another one.
func TestRedirect(t *testing.T) {
	got := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("X-Key")
		http.Error(w, "no", http.StatusTeapot)
	}))
	t.Cleanup(other.Close)
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(web.Close)
	s := Server{Name: "web", URL: web.URL, Headers: map[string]string{"X-Key": "let-me-in"}}
	_, err := Open(t.Context(), &Config{Servers: []Server{s}}, nil)
	wrong(t, err, `the MCP server "web" cannot be started`)
	if key := <-got; key != "" {
		t.Errorf("another server got %q", key)
	}
}
