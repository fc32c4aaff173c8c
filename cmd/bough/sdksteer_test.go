package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testmodel"
	"github.com/tidwall/gjson"
)

// TestSteerTools lets a model of each provider call five tools of an MCP server, each in a
// process of its own. A steer comes during the second call: three calls are not run, and
// both providers accept the resulting conversation.
func TestSteerTools(t *testing.T) {
	for _, first := range []string{"openai:m", "anthropic:m"} {
		t.Run(first, func(t *testing.T) { steerTools(t, first) })
	}
}

func steerTools(t *testing.T, first string) {
	dir := t.TempDir()
	openAI, anthropic := testmodel.OpenAI(t), testmodel.Anthropic(t)
	servers := map[string]*testmodel.Server{"openai:m": openAI, "anthropic:m": anthropic}
	t.Setenv("OPENAI_API_KEY", "o-key")
	t.Setenv("OPENAI_BASE_URL", openAI.URL()+"/v1")
	t.Setenv("ANTHROPIC_API_KEY", "a-key")
	t.Setenv("ANTHROPIC_BASE_URL", anthropic.URL())
	tools := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(tools, []byte(`{"mcpServers":{"t":{"command":"testmcp"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(args []string) []string { return append([]string{"-w", filepath.Join(dir, "ws")}, args...) }
	bough := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := run(in(args), strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("bough %q: exit code %d\n%s", args, code, &out)
		}
		return out.String()
	}

	// The second call waits until the steer is queued: it calls the model's own tool
	// server, which waits for a file.
	here, steered := filepath.Join(dir, "here"), filepath.Join(dir, "steered")
	calls := []testmodel.Call{{ID: "c1", Name: "t__echo", Arguments: []string{`{"te`, `xt":"one"}`}}}
	calls = append(calls, testmodel.Call{ID: "c2", Name: "t__wait", Arguments: []string{fmt.Sprintf(`{"path":%q,"note":%q}`, here, steered)}})
	for _, id := range []string{"c3", "c4", "c5"} {
		calls = append(calls, testmodel.Call{ID: id, Name: "t__write", Arguments: []string{fmt.Sprintf(`{"path":%q,"text":"x"}`, filepath.Join(dir, id))}})
	}
	servers[first].Add(testmodel.Reply{Text: []string{"Let me ", "dig"}, Calls: calls}, testmodel.Reply{Text: []string{"Stopped"}})
	bough("agent", "create", "ada", "--model", first)
	chat := exec.Command("bough", in([]string{"agent", "chat", "ada", "Dig five holes", "--tools", tools, "--allow", "t__w*"})...)
	var out bytes.Buffer
	chat.Stdout, chat.Stderr = &out, &out
	if err := chat.Start(); err != nil {
		t.Fatal(err)
	}
	if err := await(here); err != nil {
		t.Fatal(err)
	}
	steer := gjson.Get(bough("steer", "ada", "No more", "--json"), "queue.0.id").String()
	if err := os.WriteFile(steered, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := chat.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	want := "Let me dig\n" +
		"t__echo {\"text\":\"one\"}\n  3 B\n" +
		"t__wait"
	if got := out.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n  skipped\n") != 3 || !strings.HasSuffix(got, "> (steer) No more\nStopped\n") {
		t.Errorf("it says\n%s", got)
	}
	tree := gjson.Get(bough("agent", "snapshot", "ada"), "session_id").String()
	skipped := gjson.Get(bough("show", tree, "--json"), `messages.#(metadata.bough.skipped_by=="`+steer+`")#.metadata.tool_call_id`)
	if skipped.String() != `["c3","c4","c5"]` {
		t.Errorf("skipped are %s", skipped)
	}
	for _, id := range []string{"c3", "c4", "c5"} {
		if _, err := os.Stat(filepath.Join(dir, id)); err == nil {
			t.Errorf("%s was run", id)
		}
	}
	for id, s := range servers {
		s.Add(testmodel.Reply{Text: []string{"Yes"}})
		if got := bough("agent", "chat", "ada", "Is all well?", "--model", id, "--tools", tools); got != "Yes\n" {
			t.Errorf("%s says %q", id, got)
		}
		if problems := s.Problems(); len(problems) > 0 {
			t.Errorf("%s rejects it: %q", id, problems)
		}
	}
	bough("doctor")
}
