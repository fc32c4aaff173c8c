package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(testsize.LazyGC(m)).Run()) }

func open(t *testing.T) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestVerbs: each verb has a name of its own, says what it does, and has schemas of objects,
// of which each argument is described.
func TestVerbs(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range api.Verbs() {
		if seen[v.Name] || v.Title == "" || !strings.HasSuffix(v.Summary, ".") {
			t.Errorf("%+v", v)
		}
		seen[v.Name] = true
		in, out := v.In(), v.Out()
		if in.Type != "object" || out.Type != "object" || in.AdditionalProperties == nil {
			t.Errorf("%s: the types are %q and %q", v.Name, in.Type, out.Type)
		}
		for name, p := range in.Properties {
			if p.Description == "" || p.Type == "" {
				t.Errorf("%s: argument %s has the type %q and the description %q", v.Name, name, p.Type, p.Description)
			}
		}
		if _, err := in.Resolve(nil); err != nil {
			t.Errorf("%s: arguments: %v", v.Name, err)
		}
		if _, err := out.CloneSchemas().Resolve(nil); err != nil {
			t.Errorf("%s: result: %v", v.Name, err)
		}
	}
	if _, ok := api.Find("nothing"); ok || len(seen) < 50 {
		t.Errorf("there are %d verbs, and nothing: %v", len(seen), ok)
	}
}

// TestArguments: wrong arguments are refused by name, and nothing changes.
func TestArguments(t *testing.T) {
	w := open(t)
	for _, c := range []struct{ verb, in, message string }{
		{"new", `[]`, "the arguments must be a JSON object"},
		{"new", `{"title":`, "the arguments are not JSON: unexpected end of JSON input"},
		{"new", `{"titel":"x"}`, `unknown argument "titel"`},
		{"new", `{"Title":"x"}`, `unknown argument "Title"`},
		{"new", `{"title":7}`, `the argument "title" is a number; it must be a string`},
		{"append", `{}`, `the argument "text" is missing`},
		{"append", `{"text":null}`, `the argument "text" is missing`},
		{"ls", `{"limit":"7"}`, `the argument "limit" is a string; it must be a whole number`},
		{"ls", `{"limit":1.5}`, `the argument "limit" is a number 1.5; it must be a whole number`},
		{"ls", `{"limit":-1}`, "limit must be 0 or more, not -1"},
		{"ls", `{"tool":"nothing"}`, `unknown tool "nothing"`},
		{"ls", `{"since":"soon"}`, "since: "},
		{"ls", `{"date":"2026-02-03 10:00"}`, "date is a day, a week, a month or a year"},
		{"rm", `{"session_id":"x","force":1}`, `the argument "force" is a number; it must be a boolean`},
		{"import", `{"content":"x","skip":"y"}`, `the argument "skip" is a string; it must be a list`},
		{"import", `{"content":"x","format":"html"}`, "bough writes html but does not read it"},
		{"search", `{"dir":"/x"}`, "no argument selects messages"},
		{"undo", `{"limit":1,"to":1}`, "limit and to exclude each other"},
		{"pack", `{"all":true,"session_id":"x"}`, "all and session_id exclude each other"},
		{"trash/purge", `{"older":"soon"}`, "older: "},
		{"agent/set", `{"agent":"ada"}`, "no setting is given"},
		{"new", `{"dialect":""}`, `unknown dialect ""`},
		{"ls", `{"sort":"size"}`, `unknown sort "size"`},
		{"config/get", `{"key":"retention"}`, `unknown setting "retention"`},
		{"steer", `{"agent":"ada","text":" "}`, "the message is empty"},
		{"agent/chat", `{"agent":"ada"}`, "the prompt is empty"},
		{"agent/chat", `{"agent":"ada","prompt":"x","name":"B"}`, "name requires fresh"},
		{"agent/chat", `{"agent":"ada","prompt":"x","retry":true}`, "retry repeats the last turn"},
		{"agent/chat", `{"agent":"ada","prompt":"x","tools":"f"}`, `unknown argument "tools"`},
		{"agent/branch", `{"agent":"ada","prompt":"x"}`, "one of from_node and fresh is needed"},
		{"agent/branch", `{"agent":"ada","prompt":"","fresh":true}`, "the prompt is empty"},
		{"explore", `{}`, "one of strategies and from_reply is needed"},
		{"explore", `{"from_reply":true,"strategies":[{"name":"a"}]}`, "strategies and from_reply exclude each other"},
		{"explore", `{"strategies":[{"name":" "}]}`, "strategy 1 has no name"},
		{"explore", `{"strategies":[{"name":"a"}],"run":"true"}`, `unknown argument "run"`},
		{"explore", `{"strategies":[{"name":"a"}],"evaluate":"worst"}`, `unknown evaluate "worst"`},
		{"explore", `{"strategies":[{"name":"a"}],"prune":7}`, "prune is 7"},
		{"explore", `{"strategies":[{"name":"a"}],"metrics":{"x":"up"}}`, "metrics is "},
		{"explore/dry-run", `{"strategies":[{"name":"a"},{"name":"a"}]}`, "two strategies are named"},
		{"rewind/files", `{"ref":"x","whole":true,"conflicts":"take"}`, "whole and conflicts exclude each other"},
		{"restore/both", `{"session_id":"x","conflicts":"mine"}`, `unknown conflicts "mine"`},
		{"import", `{}`, "one of content and from is needed"},
		{"import", `{"content":"","from":["codex"]}`, "content and from exclude each other"},
		{"import", `{"from":["/etc/passwd"]}`, `unknown program "/etc/passwd"`},
		{"import", `{"from":["chatgpt","openai"]}`, `unknown program "chatgpt"`},
		{"import", `{"from":["pi",""]}`, `unknown program ""`},
		{"ls", `{"tool":"html"}`, `unknown tool "html"`},
		{"export", `{"ref":"x","to":"word"}`, `unknown format "word"`},
		{"config/set", `{"key":"retention","value":["1"]}`, `unknown setting "retention"`},
		{"config/set", `{"key":"wait","value":["soon"]}`, `wait is "soon", want a duration`},
		{"config/set", `{"key":"wait","value":[]}`, "value has no words"},
		{"config/set", `{"key":"wait","value":["1s"],"add":true}`, "wait is not a list"},
	} {
		v, ok := api.Find(c.verb)
		if !ok {
			t.Fatalf("no verb %s", c.verb)
		}
		_, err := v.Call(t.Context(), api.Env{Workspace: w}, json.RawMessage(c.in))
		if !errors.Is(err, fault.Usage) || !strings.HasPrefix(err.Error(), c.message) {
			t.Errorf("%s %s: %v, want %q", c.verb, c.in, err, c.message)
		}
	}
	if files, err := os.ReadDir(w.Dir()); err != nil || len(files) > 0 {
		t.Errorf("the workspace has %v, %v", files, err)
	}
}

// call calls a verb.
func call(t *testing.T, w *workspace.Workspace, verb, in string) (any, error) {
	t.Helper()
	v, ok := api.Find(verb)
	if !ok {
		t.Fatalf("no verb %s", verb)
	}
	return v.Call(t.Context(), api.Env{Workspace: w}, json.RawMessage(in))
}

// TestSayIdle: a message to an idle agent is refused, because no model can answer, and
// changes nothing.
func TestSayIdle(t *testing.T) {
	w := open(t)
	if _, err := w.Agent("ada").Create(t.Context(), agents.Options{Model: "command:canned"}); err != nil {
		t.Fatal(err)
	}
	changes := func() int {
		ops, err := w.Log(t.Context(), history.LogOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(ops.Operations)
	}
	before := changes()
	for verb, in := range map[string]string{
		"steer": `{"agent":"ada","text":"now"}`, "follow-up": `{"agent":"ada","text":"now"}`,
		"agent/chat": `{"agent":"ada","prompt":"now"}`, "agent/branch": `{"agent":"ada","prompt":"now","fresh":true}`,
	} {
		if _, err := call(t, w, verb, in); !errors.Is(err, fault.Refused) || !strings.Contains(err.Error(), "idle") {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if after := changes(); after != before {
		t.Errorf("the log has %d operations, was %d", after, before)
	}
}

// TestForget: forget needs the id of the conversation as a confirmation.
func TestForget(t *testing.T) {
	w := open(t)
	e, err := w.New(t.Context(), "Bread")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, w, "forget", `{"session_id":"Bread","yes":"Bread"}`); !errors.Is(err, fault.Usage) || !strings.Contains(err.Error(), e.ID) {
		t.Errorf("confirmed with the title: %v", err)
	}
	if _, err := call(t, w, "forget", `{"session_id":"Bread","yes":"`+e.ID+`"}`); err != nil {
		t.Error(err)
	}
	if _, err := call(t, w, "show", `{"ref":"Bread"}`); !errors.Is(err, fault.NotFound) {
		t.Errorf("after forget: %v", err)
	}
}

// TestRestoreContinues: a restore does not end halfway because the client disconnects.
func TestRestoreContinues(t *testing.T) {
	ctx, disconnect := context.WithCancel(t.Context())
	dir, begun := t.TempDir(), false
	w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{Progress: func(string, int64, int64) {
		if begun {
			disconnect()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "flour")
	for _, text := range []string{"rye", "wheat"} {
		if _, err := w.Append(t.Context(), workspace.Append{Text: text}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	v, _ := api.Find("rewind/files")
	begun = true
	_, err = v.Call(ctx, api.Env{Workspace: w}, json.RawMessage(`{"ref":"Bread@first"}`))
	data, readErr := os.ReadFile(file)
	if err != nil || readErr != nil || string(data) != "rye" || ctx.Err() == nil {
		t.Errorf("%v, %q, %v; disconnected: %v", err, data, readErr, ctx.Err())
	}
	if problems, err := w.Doctor(t.Context(), doctor.Options{}); err != nil || !problems.OK {
		t.Errorf("%+v, %v", problems, err)
	}
}

// TestEncode: a document is valid JSON although a file has NaN.
func TestEncode(t *testing.T) {
	w := open(t)
	if _, err := w.New(t.Context(), "Bread"); err != nil {
		t.Fatal(err)
	}
	file := `{"created_at":"2026-05-25T15:00:00","metadata":{},"messages":[{"id":"m1","role":"user","content":"a NaN","tokens":NaN}]}`
	if err := os.WriteFile(w.Dir()+"/conversations/odd.json", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := call(t, w, "show", `{"ref":"odd"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(api.Encode(c)); !json.Valid([]byte(got)) || !strings.Contains(got, `"content":"a NaN","tokens":null`) {
		t.Errorf("the document is %s", got)
	}
}
