package page

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/workspace/history"
)

// TestSentences: each operation that a form makes has a sentence of its own, with the names in
// it shortened.
func TestSentences(t *testing.T) {
	long := strings.Repeat("long \n", 40)
	for name, a := range actions() {
		ops := a.ops
		if len(ops) == 0 {
			ops = a.operations(name)
		}
		for _, verb := range ops {
			if verb == "undo" || verb == "redo" { // these have the sentence of another one
				continue
			}
			op := history.Operation{Verb: verb, Sessions: []string{"s"}, Args: map[string]any{
				"title": long, "name": long, "label": long, "agent": long, "message": "m",
			}}
			for _, titles := range []map[string]string{nil, {"s": long}} {
				text := sentence.Of(op, titles, 1)
				if strings.HasPrefix(text, "Done") || strings.Contains(text, "\n") || len(text) > 150 {
					t.Errorf("%s: %q is %q", name, verb, text)
				}
			}
			op.Args = nil
			if text := sentence.Of(op, nil, 3); strings.Contains(text, "“”") || strings.HasSuffix(text, " ") {
				t.Errorf("%s: %q without arguments is %q", name, verb, text)
			}
		}
	}
	if text := sentence.Of(history.Operation{Verb: "import"}, nil, 3); text != "Imported 3 conversations" {
		t.Errorf("an import is %q", text)
	}
	one := history.Operation{Verb: "import", Sessions: []string{"s"}}
	for want, titles := range map[string]map[string]string{"Imported “Bread”": {"s": "Bread"}, "Imported a conversation": nil} {
		if text := sentence.Of(one, titles, 1); text != want {
			t.Errorf("an import of one conversation is %q, want %q", text, want)
		}
	}
}

// TestWords holds the sentences of operations that differ by their arguments.
func TestWords(t *testing.T) {
	agent := func(role string) map[string]any { return map[string]any{"agent": "ada", "role": role} }
	for want, op := range map[string]history.Operation{
		"Pulled changes from “home”":                   {Verb: "pull", Args: map[string]any{"remote": "home"}},
		"Pulled changes":                               {Verb: "pull"},
		"Sent to agent “ada”":                          {Verb: "append", Args: agent("user")},
		"Agent “ada” answered":                         {Verb: "append", Args: agent("assistant")},
		"Agent “ada” used a tool":                      {Verb: "append", Args: agent("tool")},
		"Agent “ada” continued its turn":               {Verb: "agent chat", Args: agent("")},
		"Saved a checkpoint":                           {Verb: "checkpoint", Sessions: []string{"gone"}},
		"Created a branch":                             {Verb: "branch", Sessions: []string{"gone"}},
		"Saved checkpoint “Trip (branch)”":             {Verb: "checkpoint", Sessions: []string{"s"}},
		"Moved old automatic checkpoints to the trash": {Verb: "prune"},
	} {
		if got := sentence.Of(op, map[string]string{"s": "Trip (branch)"}, 1); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestPanic: a view that panics is an error of one request, and is logged.
func TestPanic(t *testing.T) {
	var logged []string
	w := open(t)
	p := &Page{workspace: w, opts: Options{Log: func(s string) { logged = append(logged, s) }}}
	a := httptest.NewRecorder()
	p.show(func(*request) (view, error) { panic("odd") })(a, httptest.NewRequest("GET", "/", nil))
	if a.Code != http.StatusInternalServerError || len(logged) != 1 || !strings.Contains(logged[0], "odd") || strings.Contains(a.Body.String(), "odd") {
		t.Errorf("status %d, logged %q: %s", a.Code, logged, a.Body)
	}
}

// TestDamagedSession: a damaged file is an error in the shell, and other conversations can be
// read.
func TestDamagedSession(t *testing.T) {
	w := open(t)
	good, err := w.New(t.Context(), "Bread")
	if err != nil {
		t.Fatal(err)
	}
	const bad = "session_20260101_000000_0badbad0"
	if err := os.WriteFile(filepath.Join(w.Dir(), "conversations", bad+".json"), []byte(`{"messages": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Page{workspace: w, opts: Options{Now: time.Now, Log: func(string) {}}}
	mux := http.NewServeMux()
	for _, v := range views() {
		mux.HandleFunc("GET "+v.path, p.show(v.view))
	}
	for path, want := range map[string]int{"/c/" + bad: http.StatusInternalServerError, "/c/" + good.ID: http.StatusOK, "/": http.StatusOK} {
		a := httptest.NewRecorder()
		mux.ServeHTTP(a, httptest.NewRequest("GET", path, nil))
		if text := a.Body.String(); a.Code != want || !strings.Contains(text, `<main id="main"`) || want != http.StatusOK && !strings.Contains(text, bad) {
			t.Errorf("%s: status %d: %s", path, a.Code, text)
		}
	}
}
