package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
)

// TestModels: each provider is asked with its own key, at the address in its variable.
func TestModels(t *testing.T) {
	asked := make(chan string, 10)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		json.NewDecoder(r.Body).Decode(&body)
		asked <- strings.Join([]string{r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), body.Model}, " ")
		http.Error(w, `{"error":{"message":"not today"}}`, http.StatusBadRequest)
	}))
	defer web.Close()
	t.Setenv("OPENAI_API_KEY", "o-key-o-key")
	t.Setenv("OPENAI_BASE_URL", web.URL+"/v1")
	t.Setenv("ANTHROPIC_API_KEY", "a-key-a-key")
	t.Setenv("ANTHROPIC_BASE_URL", web.URL)
	for name, want := range map[string]string{
		"openai:one:1":  "/v1/chat/completions Bearer o-key-o-key  one:1",
		"anthropic:two": "/v1/messages  a-key-a-key two",
	} {
		m, err := (&supply{}).model(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		r := &model.Request{Messages: []model.Message{{ID: "1", Role: "user", Content: json.RawMessage(`"hello"`)}}}
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
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"} {
		t.Setenv(name, "")
	}
	for name, want := range map[string]string{
		"openai:x":    "OPENAI_API_KEY",
		"anthropic:x": "ANTHROPIC_API_KEY",
		"openai:":     `unknown model "openai:"`,
		"gpt":         `unknown model "gpt"`,
		"":            `unknown model ""`,
	} {
		if m, err := (&supply{}).model(t.Context(), name); err == nil || m != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, want %s", name, m, err, want)
		}
	}
}

// TestOpenTools: MCP servers do not get the keys of models unless their configuration
// passes them.
func TestOpenTools(t *testing.T) {
	env := append(withoutKeys(os.Environ()), "OPENAI_API_KEY=o-key-o-key", "ANTHROPIC_API_KEY=a-key-a-key", "OTHER=other")
	tools, err := openTools(t.Context(), []byte(`{"mcpServers":{"a":{"command":"testmcp","env":{"GIVEN":"${OPENAI_API_KEY}"}}}}`), env)
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	for name, want := range map[string]string{"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "OTHER": "other", "GIVEN": "o-key-o-key"} {
		r, err := tools.Call(t.Context(), model.Call{Name: "a__env", Arguments: `{"name":"` + name + `"}`})
		if err != nil || r.Text != want {
			t.Errorf("%s is %q, %v, want %q", name, r.Text, err, want)
		}
	}
	if _, err := openTools(t.Context(), []byte("{\n}"), env); err == nil || err.Error() != `line 1: there is no object "mcpServers"` {
		t.Errorf("the error is %v", err)
	}
	if _, err := openTools(t.Context(), []byte(`{"mcpServers":{"a":{"command":"/none"}}}`), env); err == nil || !strings.Contains(err.Error(), `the MCP server "a" cannot be started`) {
		t.Errorf("the error is %v", err)
	}
}

// TestWithoutKeys: an environment without keys keeps all other variables, and is a new
// slice.
func TestWithoutKeys(t *testing.T) {
	env := []string{"A=1", "OPENAI_API_KEY=x", "OPENAI_API_KEY_OLD=y", "ANTHROPIC_API_KEY="}
	if got := withoutKeys(env); !slices.Equal(got, []string{"A=1", "OPENAI_API_KEY_OLD=y"}) || env[1] != "OPENAI_API_KEY=x" {
		t.Errorf("got %q of %q", got, env)
	}
}
