package main

import (
	"encoding/json"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/tidwall/gjson"
)

const mcpDir = "testdata/mcp"

// needMCP skips the test if a package of the clients of MCP or their runtime is missing.
func needMCP(t *testing.T, pkg string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: clients of MCP cannot be tried")
	}
	if _, err := os.Stat(filepath.Join(mcpDir, "node_modules", "@modelcontextprotocol", pkg)); err != nil {
		t.Skip("@modelcontextprotocol/" + pkg + " is not installed: run 'npm ci' in cmd/bough/" + mcpDir)
	}
}

// mcpServing starts 'bough serve' in a workspace with a conversation, two states of a folder, an
// agent, an exploration and a remote, and returns the environment of a client.
func mcpServing(t *testing.T) (s *serving, env []string) {
	t.Helper()
	dir, trip := filepath.Join(t.TempDir(), "ws"), t.TempDir()
	plan := func(text string) {
		if err := os.WriteFile(filepath.Join(trip, "plan.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		do(t, "-w", dir, "files", "snap", "--dir", trip)
	}
	do(t, "-w", dir, "new", "--title", "Plan the trip")
	do(t, "-w", dir, "append", "Where to go in May?")
	plan("May\n")
	do(t, "-w", dir, "append", "Lisbon.", "--role", "assistant")
	plan("May\nLisbon\n")
	do(t, "-w", dir, "agent", "create", "ada")
	do(t, "-w", dir, "remote", "add", "home", "file://"+filepath.ToSlash(t.TempDir()), "--key", filepath.Join(t.TempDir(), "key"))
	explored := do(t, "-w", dir, "explore", "Plan the trip", "--strategy", "tram=by tram", "--strategy", "walk=on foot", "--run", "echo Done.", "--json")
	s = startServe(t, dir, "--addr", "127.0.0.1:0")
	return s, append(os.Environ(),
		"WORKSPACE="+dir, "URL_MCP="+s.told.Get("url").String()+"/mcp", "TOKEN="+s.told.Get("token").String(),
		"EXPLORATION="+gjson.Get(explored, "id").String())
}

// TestMCPClient runs the official TypeScript client against 'bough mcp' and /mcp of 'bough
// serve'.
func TestMCPClient(t *testing.T) {
	t.Parallel()
	needMCP(t, "sdk")
	s, env := mcpServing(t)
	cmd := exec.Command("node", "drive.mjs")
	cmd.Dir, cmd.Env = mcpDir, env
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nall ok") {
		t.Errorf("the client: %v\n%s", err, out)
	}
	s.stop(t)
	do(t, "-w", s.dir, "doctor")
}

// TestMCPInspector runs the command-line mode of the MCP Inspector, which is a client for
// one request, over both transports. Each run takes a second of node's time.
func TestMCPInspector(t *testing.T) {
	t.Parallel()
	needMCP(t, "inspector")
	s, env := mcpServing(t)
	lines := []string{"bough", "-w", s.dir, "mcp"}
	web := []string{withToken(t, s) + "/mcp", "--transport", "http"}
	inspect := func(target []string, args ...string) gjson.Result {
		t.Helper()
		cmd := exec.Command("node", append(append([]string{"node_modules/@modelcontextprotocol/inspector/cli/build/cli.js", "--cli"}, target...), args...)...)
		cmd.Dir, cmd.Env = mcpDir, env
		var talk strings.Builder
		cmd.Stderr = &talk
		out, err := cmd.Output()
		if err != nil || !json.Valid(out) {
			t.Fatalf("the inspector with %q: %v\n%s%s", args, err, out, &talk)
		}
		return gjson.ParseBytes(out)
	}
	for _, target := range [][]string{lines, web} {
		checks := []struct {
			args []string
			path string
			want string
		}{
			{[]string{"--method", "tools/list"}, "tools.#", "38"},
			{[]string{"--method", "resources/templates/list"}, "resourceTemplates.#", "5"},
			{[]string{"--method", "resources/read", "--uri", "bough://agents/ada/snapshot"}, "contents.0.uri", "bough://agents/ada/snapshot"},
			{[]string{"--method", "prompts/list"}, "prompts.#", "5"},
			{[]string{"--method", "tools/call", "--tool-name", "show_conversation", "--tool-arg", "ref=Plan the trip", "--tool-arg", "last=1"}, "structuredContent.messages.#", "1"},
			{[]string{"--method", "tools/call", "--tool-name", "show_conversation", "--tool-arg", "ref=nowhere"}, "isError", "true"},
		}
		for _, c := range checks[:testsize.Of(1, 1, len(checks))] {
			if got := inspect(target, c.args...).Get(c.path).String(); got != c.want {
				t.Errorf("the inspector with %q: %s is %q, want %q", c.args, c.path, got, c.want)
			}
		}
	}
	s.stop(t)
}

// TestMCPConformance runs the server scenarios of the official conformance suite against /mcp,
// all of them in a full run.
// The scenarios that need the suite's own tools, prompts and resources are in conformance.yml;
// one of them that passes, or another one that fails, is an error of the suite.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	needMCP(t, "conformance")
	node := newNode(t)
	s, env := mcpServing(t)
	args, want := []string{"--scenario", "dns-rebinding-protection"}, "Passed: 2/2, 0 failed"
	if testsize.Of(false, false, true) {
		args, want = []string{"--expected-failures", "conformance.yml"}, "Total: 10 passed, 22 failed"
	}
	cmd := exec.Command(node, append([]string{"node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", withToken(t, s) + "/mcp"}, args...)...)
	cmd.Dir, cmd.Env = mcpDir, env
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("the suite: %v\n%s", err, out)
	}
	s.stop(t)
	do(t, "-w", s.dir, "doctor")
}

// newNode returns the path of a Node that the conformance suite can use, or skips the test.
func newNode(t *testing.T) string {
	t.Helper()
	const oldest = 22
	list, err := filepath.Glob(filepath.Join(mcpDir, "node_modules", "node-*", "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range append(list, "node") {
		out, err := exec.Command(node, "-p", "parseInt(process.versions.node)").Output()
		if err != nil {
			continue
		}
		if version, err := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || version < oldest {
			continue
		}
		if node == "node" {
			return node
		}
		if node, err = filepath.Abs(node); err != nil {
			t.Fatal(err)
		}
		return node
	}
	t.Skipf("no Node from version %d on: the conformance suite of MCP cannot be run", oldest)
	return ""
}

// withToken returns the address of a proxy that adds the token to requests, which this
// version of the Inspector cannot send.
func withToken(t *testing.T, s *serving) string {
	t.Helper()
	at, err := url.Parse(s.told.Get("url").String())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(at)
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+s.told.Get("token").String())
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}
