//go:build realtools

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var realTools = flag.String("realtools", "", "the folder in which npm installed Claude Code and Codex")

// answer is what the model answers to each request.
const answer = "Hello from the loopback model."

// loopbackModel serves the APIs that Claude Code and Codex use, with the same answer to each
// request.
func loopbackModel(t *testing.T) string {
	type object = map[string]any
	stream := func(w http.ResponseWriter, events []object) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			data, err := json.Marshal(e)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], data)
		}
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := object{"type": "text", "text": answer}
		switch {
		case r.URL.Path == "/v1/messages" && bytes.Contains(body, []byte(`"stream":true`)):
			stream(w, []object{
				{"type": "message_start", "message": object{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []object{}, "usage": usage}},
				{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
				{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": answer}},
				{"type": "content_block_stop", "index": 0},
				{"type": "message_delta", "delta": object{"stop_reason": "end_turn"}, "usage": usage},
				{"type": "message_stop"},
			})
		case r.URL.Path == "/v1/messages":
			json.NewEncoder(w).Encode(object{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []object{text}, "stop_reason": "end_turn", "usage": usage})
		case r.URL.Path == "/v1/responses":
			item := object{"type": "message", "role": "assistant", "id": "msg_1", "content": []object{{"type": "output_text", "text": answer, "annotations": []object{}}}}
			stream(w, []object{
				{"type": "response.created", "response": object{"id": "resp_1"}},
				{"type": "response.output_item.done", "output_index": 0, "item": item},
				{"type": "response.completed", "response": object{"id": "resp_1", "output": []object{item}, "usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}},
			})
		default:
			io.WriteString(w, `{"data":[],"models":[]}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestRealTools runs Claude Code and Codex with the installed hooks: the messages of both
// turns arrive, and a checkpoint of the conversation before the second prompt. After the
// hooks were uninstalled, their settings are as they were.
func TestRealTools(t *testing.T) {
	if *realTools == "" {
		t.Fatal("-realtools names no folder")
	}
	url := loopbackModel(t)
	for _, c := range []struct {
		tool, path, settings string // the file that is changed, and its content before
		env                  []string
		first, second        []string
	}{
		{
			tool: "claude-code", path: ".claude/settings.json", settings: "{\n  \"theme\": \"dark\"\n}\n",
			env:    []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-test", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
			first:  []string{"claude", "-p", "--model", "claude-sonnet-4-5", "What is a bough?"},
			second: []string{"claude", "-p", "--model", "claude-sonnet-4-5", "--continue", "And a twig?"},
		},
		{
			tool: "codex", path: ".codex/hooks.json", settings: "{\"hooks\":{}}\n",
			first:  []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "What is a bough?"},
			second: []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "resume", "--last", "And a twig?"},
		},
	} {
		t.Run(c.tool, func(t *testing.T) {
			h := newHookTest(t)
			write := func(path, text string) {
				path = filepath.Join(h.home, filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(c.path, c.settings)
			write(".codex/config.toml", "model = \"m\"\nmodel_provider = \"loop\"\n[model_providers.loop]\nname = \"loop\"\nbase_url = \""+url+"/v1\"\nwire_api = \"responses\"\n")
			write("project/README.md", "A project.\n")
			write("project/conversations/notes.json", "{}") // not a workspace of bough
			program := func(words ...string) {
				cmd := exec.Command(words[0], words[1:]...)
				cmd.Dir = filepath.Join(h.home, "project")
				cmd.Env = append([]string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh"}, c.env...)
				if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), answer) {
					t.Fatalf("%q: %v\n%s", words, err, out)
				}
			}
			install := exec.Command("bough", "-w", h.dir, "hook", "install", c.tool, "--yes")
			if out, err := install.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for n, words := range [][]string{c.first, c.second} {
				words[0] = filepath.Join(*realTools, "node_modules", ".bin", words[0])
				program(words...)
				want := []string{"root 2", "root 4, checkpoint 2"}[n]
				if got := h.counts(); got != want {
					t.Fatalf("after turn %d: %s, want %s; %s", n+1, got, want, h.log())
				}
			}
			show := h.bough("show", h.bough("ls").Get("sessions.#(kind==\"root\").id").String()).Get("messages.#.content").Raw
			if !strings.Contains(show, "And a twig?") || !strings.Contains(show, answer) {
				t.Errorf("the messages are %s", show)
			}
			if h.log() != "" {
				t.Error(h.log())
			}
			h.bough("hook", "uninstall", c.tool, "--yes")
			data, err := os.ReadFile(filepath.Join(h.home, filepath.FromSlash(c.path)))
			if err != nil || string(data) != c.settings {
				t.Errorf("the settings are %q, %v", data, err)
			}
		})
	}
}
