package server_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace/fault"
)

// A modelFunc is a function as a model.
type modelFunc func(ctx context.Context) (string, error)

func (f modelFunc) Ask(ctx context.Context, _ *model.Request, _ func(string)) (*model.Reply, error) {
	text, err := f(ctx)
	if err != nil {
		return nil, err
	}
	return &model.Reply{Text: text}, nil
}

// withModel returns options of a server whose only model is m, with the id m.
func withModel(m model.Model) server.Options {
	return server.Options{Models: func(_ context.Context, id string) (model.Model, error) {
		if id != "m" {
			return nil, &fault.Error{Code: fault.Usage, Message: "unknown model " + id}
		}
		return m, nil
	}}
}

// TestV1Explore: a model tries strategies, and everything else is refused before anything is
// written.
func TestV1Explore(t *testing.T) {
	t.Parallel()
	s := newSite(t, withModel(modelFunc(func(context.Context) (string, error) { return "By bike.", nil })))
	s.v1("new", `{"title":"Commute"}`).want(200)
	question := s.append("How do I get there?")
	const two = `"strategies":[{"name":"quick","description":"the shortest"},{"name":"cheap"}]`
	plan := s.v1("explore/dry-run", `{`+two+`,"model":"m","max_depth":1}`).want(200)
	if !plan.Get("explores").Bool() || plan.Get("strategies.#").Int() != 2 || plan.Get("config.max_depth").Int() != 1 {
		t.Errorf("the plan is %s", plan.Raw)
	}
	for _, c := range []struct {
		in     string
		status int
		code   fault.Code
		part   string
	}{
		{`{` + two + `}`, 400, fault.Usage, "give a model"},
		{`{` + two + `,"model":"command:true"}`, 400, fault.Usage, "unknown model command:true"},
		{`{` + two + `,"model":"m","run":"true"}`, 400, fault.Usage, `unknown argument "run"`},
		{`{` + two + `,"model":"m","dir":"/"}`, 400, fault.Usage, `unknown argument "dir"`},
		{`{` + two + `,"model":"m","ref":"nothing"}`, 404, fault.NotFound, "nothing"},
		{`{"from_reply":true,"model":"m"}`, 409, fault.Refused, "from_reply takes an assistant's message"},
	} {
		s.v1("explore", c.in).fails(c.status, c.code, c.part)
	}
	if got := s.v1("explore/ls", "").want(200).Get("explorations.#").Int(); got != 0 {
		t.Errorf("there are %d explorations", got)
	}
	e := s.v1("explore", `{`+two+`,"model":"m","evaluate":"synthesis","synthesize":0.5}`).want(200)
	if got := e.Get(`branches.#(status=="completed")#.result`).Raw; got != `["By bike.","By bike."]` {
		t.Errorf("the results are %s of %s", got, e.Raw)
	}
	if e.Get("outcome_node_id").Str == "" || e.Get("adopted_node_id").Str != "" || e.Get("evaluation.from.#").Int() != 2 {
		t.Errorf("the exploration is %s", e.Raw)
	}
	if got := s.v1("status", "").Get("head.message_id").Str; got != question {
		t.Errorf("the head is at %s", got)
	}
	id := e.Get("id").Str
	if got := s.v1("explore/evaluate", `{"id":"`+id+`","evaluate":"synthesis","adopt":true}`).want(200); got.Get("adopted_node_id").Str == "" {
		t.Errorf("evaluated again: %s", got.Raw)
	}
	s.v1("append", `{"text":"You could take the bike.","role":"assistant"}`).want(200)
	s.v1("explore", `{"from_reply":true}`).fails(409, fault.Refused, "the reply is not explored: ")
	s.v1("config/set", `{"key":"explore.enabled","value":["false"]}`).want(200)
	s.v1("explore", `{`+two+`,"model":"m"}`).fails(409, fault.Refused, "explorations are disabled")
}

// TestV1Resume: an exploration whose client disconnects is continued by another request, but
// not one that runs a command.
func TestV1Resume(t *testing.T) {
	t.Parallel()
	asked, may := make(chan struct{}, 2), make(chan struct{})
	s := newSite(t, withModel(modelFunc(func(ctx context.Context) (string, error) {
		asked <- struct{}{}
		select {
		case <-may:
			return "By bike.", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})))
	s.v1("new", `{"title":"Commute"}`).want(200)
	s.append("How do I get there?")
	ctx, leave := context.WithCancel(t.Context())
	r := s.request("POST", "/v1/explore", strings.NewReader(`{"strategies":[{"name":"quick"}],"model":"m"}`))
	done := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(r.WithContext(ctx))
		done <- err
	}()
	<-asked
	id := s.v1("explore/ls", "").want(200).Get("explorations.0.id").Str
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(may)
	resume := func() *v1Reply { return s.v1("explore/resume", `{"id":"`+id+`","adopt":true}`) }
	got := resume()
	for got.status == http.StatusServiceUnavailable { // until the request has ended
		got = resume()
	}
	if got.want(200).Get("branches.0.result").Str != "By bike." || got.Get("adopted_node_id").Str == "" {
		t.Errorf("resumed: %s", got.Raw)
	}

	ctx, leave = context.WithCancel(t.Context())
	x := &explore.Explorer{Workspace: s.w, Progress: func(e *explore.Exploration) {
		if len(e.Active) > 0 {
			leave()
		}
	}}
	plan, err := x.Plan(ctx, explore.Request{Ref: "HEAD", Strategies: []explore.Strategy{{Name: "quick"}}, Runner: explore.Runner{Command: "sleep 60"}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := x.Run(ctx, plan)
	if e == nil || err == nil {
		t.Fatalf("the exploration was not interrupted: %v, %v", e, err)
	}
	s.v1("explore/evaluate", `{"id":"`+e.ID+`","evaluate":"best"}`).fails(409, fault.Refused, "explore/resume continues it")
	s.v1("explore/resume", `{"id":"`+e.ID+`"}`).fails(409, fault.Refused, "a command that is not approved")
}

// TestV1Settings: a client sets settings of the workspace, but none that names programs or
// folders: that error has the command for a shell.
func TestV1Settings(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	if got := s.v1("config/set", `{"key":"retention.limit","value":["7"]}`).want(200); got.Get("value").Int() != 7 || got.Get("from").Str != "workspace" {
		t.Errorf("set: %s", got.Raw)
	}
	if got := s.v1("config/get?key=retention.limit", "").want(200); got.Get("value").Int() != 7 {
		t.Errorf("get: %s", got.Raw)
	}
	s.v1("config/set", `{"key":"explore.prefer","value":["a"]}`).want(200)
	if got := s.v1("config/set", `{"key":"explore.prefer","value":["b","c"],"add":true}`).want(200).Get("value").Raw; got != `["a","b","c"]` {
		t.Errorf("the list is %s", got)
	}
	s.v1("config/set", `{"key":"retention.limit","value":["x"]}`).fails(400, fault.Usage, "want a whole number")
	s.v1("config/set", `{"key":"retention.limit","value":["1","2"]}`).fails(400, fault.Usage, "want a whole number")
	s.v1("config/unset", `{"key":"retention.limit"}`).want(200)
	before, err := os.ReadFile(filepath.Join(s.w.Dir(), "config.json"))
	if err != nil || strings.Contains(string(before), "limit") {
		t.Fatalf("the file is %s, %v", before, err)
	}
	for _, key := range []string{"pager", "trust", "import.skip", "mcp.commands"} {
		for verb, in := range map[string]string{"config/set": `{"key":"` + key + `","value":["a=b"]}`, "config/unset": `{"key":"` + key + `"}`} {
			e := s.v1(verb, in).want(409).Get("error")
			if e.Get("code").Str != "refused" || e.Get("hint").Str != "a person can run this in a shell: bough -w "+s.w.Dir()+" config "+key+" VALUE" {
				t.Errorf("%s of %s: %s", verb, key, e.Raw)
			}
		}
	}
	if after, err := os.ReadFile(filepath.Join(s.w.Dir(), "config.json")); string(after) != string(before) {
		t.Errorf("the file became %s, %v", after, err)
	}
}

// TestV1ImportFrom: the server finds the conversations of a program, where it is configured that
// programs keep them.
func TestV1ImportFrom(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	kept := filepath.Join(home, ".claude", "projects", "-src")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	const record = `{"type":"user","uuid":"849dde0b-0001-4000-8000-000000000001","parentUuid":null,"sessionId":"849dde0b-0000-4000-8000-000000000000",` +
		`"timestamp":"2026-05-01T10:00:00.000Z","cwd":"/src","message":{"role":"user","content":"Does it rise?"}}` + "\n"
	if err := os.WriteFile(filepath.Join(kept, "849dde0b-0000-4000-8000-000000000000.jsonl"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, server.Options{Machine: &transcript.Machine{Home: home, Dir: home, Env: func(string) string { return "" }, Read: os.ReadFile}})
	session := ""
	for _, dry := range []string{"true", "false"} {
		got := s.v1("import", `{"from":["claude-code","codex"],"dry_run":`+dry+`}`).want(200)
		if got.Get("imported.#").Int() != 1 || got.Get("imported.0.status").Str != "new" {
			t.Errorf("imported: %s", got.Raw)
		}
		session = got.Get("imported.0.session_id").Str
	}
	if got := s.v1("show?ref="+session, "").want(200).Get("messages.#").Int(); got != 1 {
		t.Errorf("there are %d messages", got)
	}
	s.v1("import", `{"from":["codex"]}`).fails(404, fault.NotFound, "no conversations of codex in ")
	s.v1("import", `{"from":["opencode"]}`).fails(404, fault.NotFound, "no conversations of opencode in ")
	s.v1("import", `{"from":["goose"]}`).fails(404, fault.NotFound, "no conversations of goose in ")
	s.v1("import", `{"from":["roo"]}`).fails(404, fault.NotFound, "no conversations of roo in ")
	task := filepath.Join(home, ".kilocode", "cli", "global", "tasks", "1")
	if err := os.MkdirAll(task, 0o700); err != nil {
		t.Fatal(err)
	}
	const said = `[{"role":"user","content":"<task>Paint the fence</task>","ts":1750000000001},{"role":"assistant","content":"Done.","ts":1750000000002}]`
	if err := os.WriteFile(filepath.Join(task, "api_conversation_history.json"), []byte(said), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.v1("import", `{"from":["kilo","cline"]}`).want(200); got.Get("imported.#").Int() != 1 || got.Get("imported.0.format").Str != "cline" {
		t.Errorf("imported of Kilo Code: %s", got.Raw)
	}
	if got := s.v1("ls?tool=kilo", "").want(200); got.Get("sessions.#").Int() != 1 {
		t.Errorf("the sessions of Kilo Code: %s", got.Raw)
	}
	s.v1("import", `{"from":["../../etc"]}`).fails(400, fault.Usage, "programs are ")
	newSite(t, server.Options{}).v1("import", `{"from":["codex"]}`).fails(409, fault.Refused, "imports only content")
}

// TestV1AdoptFiles: a client brings home what a branch changed, after a dry run, and undo reverts
// it. What changed in both folders is a conflict.
func TestV1AdoptFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	s.v1("new", `{"title":"Bread"}`).want(200)
	s.append("Which flour?")
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.txt")
	read := func() string {
		data, _ := os.ReadFile(plan)
		return strings.TrimSpace(string(data))
	}
	x := &explore.Explorer{Workspace: s.w}
	p, err := x.Plan(t.Context(), explore.Request{
		Ref: "HEAD", Strategies: []explore.Strategy{{Name: "rye"}, {Name: "wheat"}},
		Runner: explore.Runner{Command: "echo tried> plan.txt&& echo done", Dir: dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	e, err := x.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	adopt := func(more string) *v1Reply {
		return s.v1("explore/adopt/files", `{"id":"`+e.ID+`","branch_id":"wheat"`+more+`}`)
	}
	if got := adopt(`,"dry_run":true`).want(200); got.Get("files.written").Raw != `["plan.txt"]` || got.Get("adopted_node_id").Str != "" || read() != "" {
		t.Errorf("dry run: %s", got.Raw)
	}
	writeFiles(t, dir, map[string]string{"plan.txt": "mine"})
	refused := adopt("")
	refused.fails(409, fault.Refused, "keep, take or merge")
	if got := refused.Get("error.conflicts.#.path").Raw; got != `["plan.txt"]` || read() != "mine" {
		t.Errorf("the conflicts are %s, the plan is %s", got, read())
	}
	adopt(`,"whole":true,"conflicts":"take"`).fails(400, fault.Usage, "exclude each other")
	adopt(`,"dir":"/"`).fails(400, fault.Usage, `unknown argument "dir"`)
	got := adopt(`,"conflicts":"take"`).want(200)
	if head := s.v1("status", "").Get("head.message_id").Str; read() != "tried" || head != got.Get("adopted_node_id").Str || head == "" {
		t.Errorf("the plan is %s, the head is at %s: %s", read(), head, got.Raw)
	}
	s.v1("undo", `{}`).want(200)
	if read() != "mine" {
		t.Errorf("after undo the plan is %s", read())
	}
	if err := os.Rename(dir, dir+"-renamed"); err != nil {
		t.Fatal(err)
	}
	adopt("").fails(404, fault.NotFound, "renamed, removed or replaced")
}
