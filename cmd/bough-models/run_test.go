package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model/pipe"
	"github.com/bough-dev/bough/internal/testmcp"
)

const (
	asProgram = "TEST_AS_BOUGH_MODELS"
	asServer  = "TEST_AS_MCP_SERVER"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asServer) != "":
		testmcp.Main()
	case os.Getenv(asProgram) != "":
		main()
	default:
		os.Exit(m.Run())
	}
}

// start starts the program with more environment variables.
func start(t *testing.T, env ...string) *pipe.Client {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(withoutKeys(os.Environ()), asProgram+"=yes"), env...)
	c, err := pipe.Start(t.Context(), cmd, &pipe.Options{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Each provider is asked with its own key, where its variable says.
func TestModels(t *testing.T) {
	asked := make(chan string, 10)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		json.NewDecoder(r.Body).Decode(&body)
		asked <- strings.Join([]string{r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), body.Model}, " ")
		http.Error(w, `{"error":{"message":"not today"}}`, http.StatusBadRequest)
	}))
	defer web.Close()
	c := start(t, "OPENAI_API_KEY=o-key-o-key", "OPENAI_BASE_URL="+web.URL+"/v1", "ANTHROPIC_API_KEY=a-key-a-key", "ANTHROPIC_BASE_URL="+web.URL)
	for name, want := range map[string]string{
		"openai:one:1":  "/v1/chat/completions Bearer o-key-o-key  one:1",
		"anthropic:two": "/v1/messages  a-key-a-key two",
	} {
		m, err := c.Model(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		r := &agent.Request{Messages: []agent.Message{{ID: "1", Role: "user", Content: json.RawMessage(`"hello"`)}}}
		_, err = m.Ask(t.Context(), r, func(string) {})
		if err == nil || !strings.Contains(err.Error(), "not today") || strings.Contains(err.Error(), "-key") {
			t.Errorf("%s: %v", name, err)
		}
		if got := <-asked; got != want {
			t.Errorf("%s asks %q, want %q", name, got, want)
		}
	}
}

func TestNoModel(t *testing.T) {
	c := start(t, "OPENAI_BASE_URL=", "ANTHROPIC_BASE_URL=")
	for name, want := range map[string]string{
		"openai:x":    "OPENAI_API_KEY",
		"anthropic:x": "ANTHROPIC_API_KEY",
		"openai:":     `the model "openai:" has no name after the colon`,
		"gpt":         `there is no model "gpt"; there are openai:NAME and anthropic:NAME`,
		"":            `there is no model ""`,
	} {
		if _, err := c.Model(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// Tools come from MCP servers, which do not get the keys of models unless they are given
// them.
func TestTools(t *testing.T) {
	c := start(t, "OPENAI_API_KEY=o-key-o-key", "ANTHROPIC_API_KEY=a-key-a-key", "OTHER=other")
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"a": map[string]any{
		"command": os.Args[0], "env": map[string]string{asServer: "yes", "GIVEN": "${OPENAI_API_KEY}"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.Tools(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "OTHER": "other", "GIVEN": "o-key-o-key"} {
		r, err := tools.Call(t.Context(), agent.Call{Name: "a__env", Arguments: `{"name":"` + name + `"}`})
		if err != nil || r.Text != want {
			t.Errorf("%s is %q, %v, want %q", name, r.Text, err, want)
		}
	}
	if _, err := c.Tools(t.Context(), []byte("{\n}")); err == nil || err.Error() != `line 1: there is no object "mcpServers"` {
		t.Errorf("the error is %v", err)
	}
	if _, err := c.Tools(t.Context(), []byte(`{"mcpServers":{"a":{"command":"/none"}}}`)); err == nil || !strings.Contains(err.Error(), `the MCP server "a" cannot be started`) {
		t.Errorf("the error is %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"--version"}, 0, "bough-models version " + version + "\n", ""},
		{[]string{"--help"}, 0, help, ""},
		{[]string{"what"}, 2, "", help},
		{nil, 0, `{"program":"bough-models","version":"` + version + `"}` + "\n", ""},
	} {
		var stdout, stderr strings.Builder
		if code := run(c.args, strings.NewReader(""), &stdout, &stderr); code != c.code || stdout.String() != c.stdout || stderr.String() != c.stderr {
			t.Errorf("%q: %d, %q, %q", c.args, code, &stdout, &stderr)
		}
	}
	var stderr strings.Builder
	if code := run(nil, strings.NewReader(""), fullDisk{}, &stderr); code != 1 || stderr.String() != "bough-models: disk full\n" {
		t.Errorf("%d, %q", code, &stderr)
	}
}

// Version is the one of bough, which else does not use this program.
func TestVersion(t *testing.T) {
	data, err := os.ReadFile("../bough/run.go")
	if err != nil || !strings.Contains(string(data), `const version = "`+version+`"`) {
		t.Errorf("bough has another version than %s: %v", version, err)
	}
}

// An environment without keys has all else, and is another slice.
func TestWithoutKeys(t *testing.T) {
	env := []string{"A=1", "OPENAI_API_KEY=x", "OPENAI_API_KEY_OLD=y", "ANTHROPIC_API_KEY="}
	if got := withoutKeys(env); !slices.Equal(got, []string{"A=1", "OPENAI_API_KEY_OLD=y"}) || env[1] != "OPENAI_API_KEY=x" {
		t.Errorf("got %q of %q", got, env)
	}
	if m, err := model("openai:x", append(env, "OPENAI_API_KEY=last-of-all")); err != nil || m == nil {
		t.Errorf("got %v, %v", m, err)
	}
}
