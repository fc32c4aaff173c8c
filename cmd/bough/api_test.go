package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/testmodel"
	"github.com/bough-dev/bough/workspace"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"
	"github.com/urfave/cli/v2"
)

// wordOf returns the name of a verb of package api for the words of a command line.
func wordOf(v verb) string { return strings.ReplaceAll(v.full(), " ", "/") }

// TestVerbTable: package api has each verb of the command, or a reason why not, and an
// argument for each of its flags, or a reason.
func TestVerbTable(t *testing.T) {
	commands := map[string]verb{}
	omitted, flagsOmitted := omittedVerbs(), omittedFlags()
	for _, v := range allVerbs((&program{}).verbs()) {
		if v.action == nil && v.standalone == nil {
			continue // it only has subcommands
		}
		name := wordOf(v)
		commands[name] = v
		_, served := api.Find(name)
		switch {
		case served && omitted[name] != "":
			t.Errorf("internal/api has %s, but it is in omittedVerbs because %q", name, omitted[name])
		case !served && omittedBecause(omitted, name) == "":
			t.Errorf("internal/api has no %s: add it to a table there, or to omittedVerbs with the reason", name)
		}
		if !served {
			continue
		}
		for _, f := range v.flags {
			flag := f.Names()[0]
			reason := flagsOmitted[name][flag]
			switch has := hasArgument(name, flag); {
			case has && reason != "":
				t.Errorf("internal/api has an argument for --%s of %s, but it is in omittedFlags because %q", flag, name, reason)
			case !has && reason == "" && !hidden(f):
				t.Errorf("internal/api has no argument for --%s of %s: add it, or add it to omittedFlags with the reason", flag, name)
			}
			delete(flagsOmitted[name], flag)
		}
	}
	for name, flags := range flagsOmitted {
		for flag := range flags {
			t.Errorf("the command has no flag %s of %s, which is omitted", flag, name)
		}
	}
	names := slices.Collect(maps.Keys(omitted))
	for _, v := range api.Verbs() {
		names = append(names, v.Name)
	}
	for _, name := range names {
		if !isOfCommand(commands, name) {
			t.Errorf("internal/api names %s, but the command has neither such a verb nor such a flag", name)
		}
	}
}

// omittedBecause returns why a verb, or one above it, is omitted.
func omittedBecause(omitted map[string]string, name string) string {
	for ; omitted[name] == ""; name = path.Dir(name) {
		if name == "." {
			return ""
		}
	}
	return omitted[name]
}

// isOfCommand reports whether a name is that of a verb of the command, of the parent of
// verbs, or of a flag below a verb.
func isOfCommand(commands map[string]verb, name string) bool {
	for command := range commands {
		if command == name || strings.HasPrefix(command, name+"/") {
			return true
		}
	}
	return findFlag(commands[path.Dir(name)].flags, path.Base(name)) != nil ||
		slices.Contains([]string{"config/get", "config/set"}, name)
}

func hidden(f cli.Flag) bool {
	visible, ok := f.(cli.VisibleFlag)
	return ok && !visible.IsVisible()
}

// hasArgument reports whether a verb, or one that a flag selects, has an argument for a
// flag of the command, or is selected by it.
func hasArgument(name, flag string) bool {
	word := strings.ReplaceAll(flag, "-", "_")
	for _, v := range api.Verbs() {
		if v.Name == name+"/"+flag {
			return true
		}
		if v.Name != name && !strings.HasPrefix(v.Name, name+"/") {
			continue
		}
		p := v.In().Properties
		if slices.ContainsFunc([]string{word, word + "_id", word + "s", strings.TrimSuffix(word, "y") + "ies"}, func(name string) bool { return p[name] != nil }) {
			return true
		}
	}
	return flag == "drop" && name == "queue"
}

// A twin is a pair of workspaces that change in the same way: one by the command, the other
// by package api.
type twin struct {
	t       *testing.T
	command string
	api     string
	w       *workspace.Workspace // in api
	ran     map[string]bool
	ids     map[string]map[string]string // what a word in capitals in arguments stands for, in each workspace
}

// same runs a verb in both workspaces: as a command line and with the arguments in. The
// documents must be equal but for ids and times, and as the schema of the result says.
func (s *twin) same(name, in string, args ...string) {
	s.t.Helper()
	s.sameInput(name, in, "", args...)
}

// sameInput is same for a command that reads standard input.
func (s *twin) sameInput(name, in, stdin string, args ...string) {
	s.t.Helper()
	v, ok := api.Find(name)
	if !ok {
		s.t.Fatalf("package api has no %s", name)
	}
	s.ran[name] = true
	for word, id := range s.ids {
		in = strings.ReplaceAll(in, word, id[s.api])
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], word, id[s.command])
		}
	}
	var printed, talk bytes.Buffer
	run(append([]string{"-w", s.command, "--json"}, args...), strings.NewReader(stdin), &printed, &talk)
	here := machine()
	result, err := v.Call(s.t.Context(), api.Env{Workspace: s.w, Models: servedModel, Machine: &here, Remotes: (&program{}).servedRemote}, json.RawMessage(in))
	if err != nil {
		s.t.Fatalf("%s %s: %v; the command prints %s%s", name, in, err, &printed, &talk)
	}
	document := api.Encode(result)
	want, got := neutral(printed.Bytes(), s.command), neutral(document, s.api)
	if want != got {
		s.t.Errorf("%s %s:\n%s\nthe command:\n%s", name, in, got, want)
	}
	if err := conforms(v.Out(), document); err != nil {
		s.t.Errorf("%s %s: %v in %s", name, in, err, document)
	}
}

// both runs a command line in both workspaces, and returns what it prints in each.
func (s *twin) both(args ...string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	for _, dir := range []string{s.command, s.api} {
		var out, talk bytes.Buffer
		if code := run(append([]string{"-w", dir, "--json"}, args...), strings.NewReader(""), &out, &talk); code != 0 {
			s.t.Fatalf("bough %q exits with %d: %s%s", args, code, &out, &talk)
		}
		all[dir] = out.String()
	}
	return all
}

// name lets a word stand for a member of what a command line prints.
func (s *twin) name(word, member string, args ...string) {
	s.t.Helper()
	s.ids[word] = map[string]string{}
	for dir, printed := range s.both(args...) {
		s.ids[word][dir] = gjson.Get(printed, member).Str
	}
}

var (
	anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\d[T_ ]\d\d[:-]?\d\d[:-]?\d\d(\.\d+)?(\+00:00|Z)?|\d+ [A-Z][a-z]+ 20\d\d(, \d\d:\d\d UTC)?`)
	anyID   = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|session_\d{8}_\d{6}_[0-9a-f]{8}`)
	anyPart = regexp.MustCompile(`\b[0-9a-f]{8}\b|\b[0-9a-f]{32}\b|\d{8}T?\d{6}[\w.-]*|"(seconds|stored|bytes)": [0-9.e-]+`)
)

// neutral returns a document with its members sorted, and without what differs between
// workspaces: each id is replaced by the number of its first occurrence.
func neutral(document []byte, dir string) string {
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		return err.Error() + ": " + string(document)
	}
	data, _ := json.MarshalIndent(v, "", " ")
	quotedDir, _ := json.Marshal(dir)
	text := strings.ReplaceAll(string(data), strings.Trim(string(quotedDir), `"`), "DIR")
	text = anyTime.ReplaceAllString(text, "TIME")
	seen := map[string]string{}
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		if seen[id] == "" {
			seen[id] = fmt.Sprintf("ID%d", len(seen))
		}
		return seen[id]
	})
	return anyPart.ReplaceAllString(text, "PART")
}

// conforms validates a document against a schema, whose objects must then have no other
// members.
func conforms(s *jsonschema.Schema, document []byte) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var schema any
	if err := json.Unmarshal(data, &schema); err != nil {
		return err
	}
	closeObjects(schema)
	if data, err = json.Marshal(schema); err != nil {
		return err
	}
	var closed jsonschema.Schema
	if err := json.Unmarshal(data, &closed); err != nil {
		return err
	}
	resolved, err := closed.Resolve(nil)
	if err != nil {
		return err
	}
	var instance any
	if err := json.Unmarshal(document, &instance); err != nil {
		return err
	}
	return resolved.Validate(instance)
}

// closeObjects forbids members that the objects of a schema do not list.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, e := range s {
			closeObjects(e)
		}
	case map[string]any:
		if _, lists := s["properties"].(map[string]any); lists && s["additionalProperties"] == nil {
			s["additionalProperties"] = false
		}
		for _, e := range s {
			closeObjects(e)
		}
	}
}

// TestVerbs: each verb of package api returns what the command prints with --json.
func TestVerbs(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, home)
	}
	kept := filepath.Join(home, ".claude", "projects", "-src")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	record := `{"type":"user","uuid":"849dde0b-0001-4000-8000-000000000001","parentUuid":null,"sessionId":"849dde0b-0000-4000-8000-000000000000",` +
		`"timestamp":"2026-05-01T10:00:00.000Z","cwd":"/src","message":{"role":"user","content":"Does it rise?"}}` + "\n"
	if err := os.WriteFile(filepath.Join(kept, "849dde0b-0000-4000-8000-000000000000.jsonl"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	m := testmodel.OpenAI(t)
	m.Answer = func(r *testmodel.Request) testmodel.Reply {
		if bytes.Contains(r.Body, []byte("radix")) { // so that the sizes of the two conversations differ
			return testmodel.Reply{Text: []string{"By an ", "airplane."}}
		}
		return testmodel.Reply{Text: []string{"By ", "train."}}
	}
	t.Setenv("OPENAI_BASE_URL", m.URL()+"/v1")
	s := &twin{t: t, command: filepath.Join(t.TempDir(), "ws"), api: filepath.Join(t.TempDir(), "ws"), ran: map[string]bool{}, ids: map[string]map[string]string{}}
	var err error
	if s.w, err = workspace.Open(t.Context(), s.api, nil); err != nil {
		t.Fatal(err)
	}
	s.conversations()
	s.agents()
	s.explorations()
	s.workspace()
	s.files()
	r := &twin{t: t, command: filepath.Join(t.TempDir(), "ws"), api: filepath.Join(t.TempDir(), "ws"), ran: s.ran, ids: s.ids}
	if r.w, err = workspace.Open(t.Context(), r.api, nil); err != nil {
		t.Fatal(err)
	}
	r.remotes()
	for _, v := range api.Verbs() {
		if !s.ran[v.Name] {
			t.Errorf("%s is not compared", v.Name)
		}
	}
}

func (s *twin) conversations() {
	s.same("new", `{"title":"Bread"}`, "new", "--title", "Bread")
	s.same("append", `{"text":"How wet is too wet?"}`, "append", "How wet is too wet?")
	s.name("FIRST", "message.id", "status")
	s.same("bookmark", `{"label":"start","summary":"the first question","scope":"branch"}`,
		"bookmark", "start", "--summary", "the first question", "--scope", "branch")
	s.same("append", `{"text":"It depends.","role":"assistant"}`, "append", "It depends.", "--role", "assistant")
	s.same("append", `{"session_id":"Bread","text":"With rye?","parent_id":"FIRST"}`, "append", "Bread", "With rye?", "--parent", "FIRST")
	s.same("append", `{"text":"Another way to put it?"}`, "append", "Another way to put it?")
	s.same("bookmark", `{"ref":"Bread@first","label":"again"}`, "bookmark", "Bread@first", "again")
	s.same("bookmark", `{"ref":"HEAD","label":"again","move":true}`, "bookmark", "HEAD", "again", "--move")
	s.same("bookmarks", `{}`, "bookmarks")
	s.same("bookmarks", `{"session_id":"Bread"}`, "bookmarks", "Bread")
	s.same("bookmark/rm", `{"label":"again"}`, "bookmark", "again", "--rm")
	s.same("branches", `{"session_id":"Bread"}`, "branches", "Bread")
	s.same("branches", ``, "branches")
	s.same("tree/messages", `{"session_id":"Bread"}`, "tree", "Bread", "--messages")
	s.same("checkpoint", `{"ref":"Bread","name":"Before","strict":true}`, "checkpoint", "Bread", "--name", "Before", "--strict")
	s.same("append", `{"session_id":"Before","text":"after the checkpoint"}`, "append", "Before", "after the checkpoint")
	s.same("checkpoint", `{"ref":"Bread","name":"Packed","packed":true}`, "checkpoint", "Bread", "--name", "Packed", "--packed")
	s.same("unpack", `{"session_id":"Packed"}`, "unpack", "Packed")
	s.same("pack", `{"session_id":"Packed"}`, "pack", "Packed")
	s.same("pack", `{"all":true}`, "pack", "--all")
	s.same("branch", `{"ref":"start","name":"Other"}`, "branch", "start", "--name", "Other")
	s.same("rename", `{"session_id":"Other","title":"Another"}`, "rename", "Other", "Another")
	s.same("diff", `{"a":"Bread","b":"Another"}`, "diff", "Bread", "Another")
	s.same("suggest", ``, "suggest")
	s.same("suggest", `{"session_id":"Bread","limit":1}`, "suggest", "Bread", "-n", "1")
	s.same("pick", `{"refs":["start"],"onto":"Another","keep_head":true}`, "pick", "start", "--onto", "Another", "--keep-head")
	s.same("pick", `{"refs":["Bread"],"onto":"Another","turn":true,"dry_run":true}`, "pick", "Bread", "--onto", "Another", "--turn", "--dry-run")
	s.same("edit", `{"ref":"Bread@first","text":"How dry?","keep_head":true}`, "edit", "Bread@first", "--text", "How dry?", "--keep-head")
	s.same("prune-context", `{"ref":"Bread@FIRST","squash":"..FIRST","summary":"Water.","name":"Wet","keep_head":true}`,
		"prune-context", "Bread@FIRST", "--squash", "..FIRST", "--summary", "Water.", "--name", "Wet", "--keep-head")
	s.same("replay", `{"ref":"..Bread","name":"Again","dry_run":true}`, "replay", "..Bread", "--name", "Again", "--dry-run")
	s.same("replay", `{"ref":"Bread","edit":"Bread@first","text":"How dry?","dry_run":true}`, "replay", "Bread", "--edit", "Bread@first", "--text", "How dry?", "--dry-run")
	s.same("prune-context", `{"ref":"Another","drop":["FIRST"],"dry_run":true}`, "prune-context", "Another", "--drop", "FIRST", "--dry-run")
	s.same("append", `{"session_id":"Another","text":"In other words."}`, "append", "Another", "In other words.")
	s.same("compare", `{"refs":["Bread","Another","Before"]}`, "compare", "Bread", "Another", "Before")
	s.same("compare/prompt", `{"refs":["Bread@first","Another"]}`, "compare", "Bread@first", "Another", "--prompt")
	s.same("merge", `{"branch":"Another","into":"Bread","dry_run":true,"digest":true}`, "merge", "Another", "--into", "Bread", "--dry-run", "--digest")
	s.same("merge", `{"branch":"Another","into":"Bread","summary":"It is said better."}`, "merge", "Another", "--into", "Bread", "--summary", "It is said better.")
	s.same("merge", `{"branch":"Another","into":"Bread"}`, "merge", "Another", "--into", "Bread")
	s.same("lineage", `{"session_id":"Another"}`, "lineage", "Another")
	s.same("ls", `{}`, "ls")
	s.same("ls", `{"kind":"checkpoint","sort":"title","limit":1}`, "ls", "--kind", "checkpoint", "--sort", "title", "--limit", "1")
	s.same("ls", `{"since":"yesterday","title":"bre","tool":"claude-code","dir":"/src"}`,
		"ls", "--since", "yesterday", "--title", "bre", "--tool", "claude-code", "--dir", "/src")
	s.same("tree", ``, "tree")
	s.same("tree", `{"session_id":"Another"}`, "tree", "Another")
	s.same("show", `{}`, "show")
	s.same("show", `{"ref":"Bread","last":1}`, "show", "Bread", "--last", "1")
	s.same("show", `{"ref":"Bread","since":"2026-01"}`, "show", "Bread", "--since", "2026-01")
	s.same("search", `{"text":"wet","context":1}`, "search", "wet", "--context", "1")
	s.same("search", `{"regexp":"(?i)RYE","limit":0,"per_session":0}`, "search", "--regexp", "(?i)RYE", "--limit", "0", "--per-session", "0")
	s.same("search", `{"role":"user","until":"today","in":"Bread","from":"pi"}`, "search", "--role", "user", "--until", "today", "--in", "Bread", "--from", "pi")
	s.same("restore", `{"session_id":"Before"}`, "restore", "Before")
	s.same("rewind", `{"ref":"start"}`, "rewind", "start")
	s.same("status", `{}`, "status")
	s.same("rm", `{"session_id":"Another"}`, "rm", "Another")
	s.same("undo", `{"conflicts":"keep"}`, "undo", "--keep")
	s.same("redo", `{"conflicts":"keep"}`, "redo", "--keep")
	s.same("rename", `{"session_id":"Before","title":"Prior"}`, "rename", "Before", "Prior")
	s.same("undo", `{"in":"Prior"}`, "undo", "--in", "Prior")
	s.same("undo", `{"limit":2}`, "undo", "-n", "2")
	s.same("trash", ``, "trash")
	s.same("log", `{"limit":3}`, "log", "--limit", "3")
	s.same("log", `{"in":"Bread"}`, "log", "--in", "Bread")
}

// remotes: each workspace has a remote of its own, and one session, since those of a remote are listed by
// their ids.
func (s *twin) remotes() {
	s.both("new", "--title", "Bread")
	for _, dir := range []string{s.command, s.api} {
		folder := dir + "-remote"
		if err := os.Mkdir(folder, 0o700); err != nil {
			s.t.Fatal(err)
		}
		var out bytes.Buffer
		if code := run([]string{"-w", dir, "remote", "add", "home", "file://" + filepath.ToSlash(folder), "--key", dir + "-key", "--machine", "laptop"}, strings.NewReader(""), &out, &out); code != 0 {
			s.t.Fatalf("remote add exits with %d: %s", code, &out)
		}
	}
	s.same("remote/ls", `{}`, "remote", "ls")
	s.same("push", `{"dry_run":true}`, "push", "--dry-run")
	s.same("push", `{"remote":"home"}`, "push", "home")
	s.both("append", "Bread", "After the push.")
	s.same("sync", `{"dry_run":true}`, "sync", "--dry-run")
	s.same("sync", `{"remote":"home"}`, "sync", "home")
	s.same("ls/remote", `{}`, "ls", "--remote")
	s.same("pull", `{"only":["sessions","bookmarks"],"dry_run":true}`, "pull", "--only", "sessions", "--only", "bookmarks", "--dry-run")
	s.same("pull", `{"session_id":"Bread"}`, "pull", "Bread")
	s.same("pull", `{"remote":"home"}`, "pull", "--remote", "home")
	s.same("remote/check", `{"remote":"home"}`, "remote", "check", "home")
}

func (s *twin) agents() {
	s.same("agent/create", `{"name":"ada","model":"command:canned"}`, "agent", "create", "ada", "--model", "command:canned")
	s.both("agent", "set", "ada", "--model", "command:canned") // typed, so that the command may run
	s.same("agent/set", `{"agent":"ada","system":"Be brief.","auto_checkpoint":false,"steer_policy":"finish_batch"}`,
		"agent", "set", "ada", "--system", "Be brief.", "--auto-checkpoint", "off", "--steer-policy", "finish_batch")
	s.both("agent", "chat", "ada", "hello")
	s.both("agent", "branch", "ada", "--fresh", "--prompt", "again", "--name", "B")
	s.both("agent", "branch", "ada", "--fresh", "--prompt", "once more", "--name", "C")
	s.name("NODE", "head.node_id", "agent", "show", "ada")
	s.same("agent/show", `{"agent":"ada"}`, "agent", "show", "ada")
	s.same("agent/ls", ``, "agent", "ls")
	s.same("agent/switch", `{"agent":"ada","tree_id":"B"}`, "agent", "switch", "ada", "B")
	s.same("agent/rewind", `{"agent":"ada","node_id":"NODE"}`, "agent", "rewind", "ada", "NODE")
	s.same("agent/archive", `{"agent":"ada","tree_id":"B"}`, "agent", "archive", "ada", "B")
	s.same("agent/trees", `{"agent":"ada"}`, "agent", "trees", "ada")
	s.same("agent/trees", `{"agent":"ada","all":true}`, "agent", "trees", "ada", "--all")
	s.same("agent/restore", `{"agent":"ada","tree_id":"B"}`, "agent", "restore", "ada", "B")
	s.same("agent/snapshot", `{"agent":"ada"}`, "agent", "snapshot", "ada")
	s.same("agent/delete", `{"agent":"ada","tree_id":"B","force":true}`, "agent", "delete", "ada", "B", "--force")
	for _, dir := range []string{s.command, s.api} {
		(&jsonStory{t: s.t, dir: dir}).hold()
	}
	s.same("queue", `{"agent":"ada"}`, "queue", "ada")
	s.same("queue/drop", `{"agent":"ada","id":"`+heldID(s.t)+`"}`, "queue", "ada", "--drop", heldID(s.t))
	s.both("agent", "set", "ada", "--model", "openai:m")
	s.same("steer", `{"agent":"ada","text":"How?"}`, "steer", "ada", "How?")
	s.same("follow-up", `{"agent":"ada","text":"And back?"}`, "follow-up", "ada", "And back?")
	s.same("agent/chat", `{"agent":"ada","prompt":"To Oslo?","model":"openai:n"}`, "agent", "chat", "ada", "To Oslo?", "--model", "openai:n")
	s.same("agent/chat", `{"agent":"ada","prompt":"To Porto?","fresh":true,"name":"P"}`, "agent", "chat", "ada", "To Porto?", "--fresh", "--name", "P")
	s.same("agent/branch", `{"agent":"ada","from_node":"NODE","prompt":"By sea?","name":"S"}`, "agent", "branch", "ada", "--from-node", "NODE", "--prompt", "By sea?", "--name", "S")
	s.same("agent/branch", `{"agent":"ada","fresh":true,"prompt":"By air?"}`, "agent", "branch", "ada", "--fresh", "--prompt", "By air?")
	for _, dir := range []string{s.command, s.api} {
		(&jsonStory{t: s.t, dir: dir}).hold()
	}
	s.same("queue/resume", `{"agent":"ada"}`, "queue", "ada", "--resume")
	s.same("agent/create", `{"name":"bob"}`, "agent", "create", "bob")
	s.same("agent/rm", `{"agent":"bob"}`, "agent", "rm", "bob")
}

func (s *twin) explorations() {
	s.both("explore", "Bread", "--strategy", "quick=in place", "--strategy", "radix", "--model", "command:canned")
	s.name("EXPLORATION", "explorations.0.id", "explore", "ls")
	same := func(name, more string, args ...string) {
		s.t.Helper()
		s.same(name, `{"id":"EXPLORATION"`+more+`}`, append(append(strings.Split(name, "/"), "EXPLORATION"), args...)...)
	}
	s.same("explore/ls", ``, "explore", "ls")
	same("explore/show", ``)
	same("explore/evaluate", `,"evaluate":"best"`, "--evaluate", "best")
	same("explore/adopt", ``)
	same("explore/adopt", `,"branch_id":"quick"`, "quick")
	s.same("explore", `{"ref":"Bread","strategies":[{"name":"quick","description":"in place"},{"name":"radix"}],"model":"openai:m","evaluate":"synthesis",`+
		`"max_depth":2,"max_concurrent":1,"timeout":"20s","prune":0.1,"synthesize":0.2,"metrics":{"speed":"higher"},"adopt":true}`,
		"explore", "Bread", "--strategy", "quick=in place", "--strategy", "radix", "--model", "openai:m", "--evaluate", "synthesis",
		"--max-depth", "2", "--max-concurrent", "1", "--timeout", "20s", "--prune", "0.1", "--synthesize", "0.2", "--metric", "speed=higher", "--adopt")
	s.same("explore/dry-run", `{"ref":"Bread","strategies":[{"name":"radix"}]}`, "explore", "Bread", "--strategy", "radix", "--dry-run")
	s.same("explore/dry-run", `{"ref":"HEAD","from_reply":true,"min_confidence":0.9}`, "explore", "HEAD", "--from-reply", "--min-confidence", "0.9", "--dry-run")
	s.name("ASKED", "explorations.0.id", "explore", "ls")
	s.same("explore/evaluate", `{"id":"ASKED","evaluate":"consensus"}`, "explore", "evaluate", "ASKED", "--evaluate", "consensus")
	s.same("explore/evaluate", `{"id":"ASKED","evaluate":"synthesis","adopt":true}`, "explore", "evaluate", "ASKED", "--evaluate", "synthesis", "--adopt")
	s.same("explore/resume", `{"id":"ASKED","adopt":true}`, "explore", "resume", "ASKED", "--adopt")
	s.same("explore/stats", ``, "explore", "stats")
	s.same("learnings", ``, "learnings")
	s.same("learnings", `{"similar":"Another way to put it?"}`, "learnings", "--similar", "Another way to put it?")
	same("explore/cancel", ``)
	same("explore/rm", `,"branches":true`, "--branches")
}

func (s *twin) workspace() {
	s.same("export", `{"ref":"Bread","to":"openai","redact":true}`, "export", "Bread", "--to", "openai", "--redact")
	s.same("export", `{"ref":"Bread","to":"html","tree":true}`, "export", "Bread", "--to", "html", "--tree")
	transcript := `{"messages":[{"role":"user","content":"pie?"},{"role":"assistant","content":"Apple."}]}`
	in, _ := json.Marshal(map[string]any{"content": transcript, "format": "openai"})
	s.sameInput("import", string(in), transcript, "import", "-", "--format", "openai")
	s.same("import", `{"from":["claude-code","codex"],"skip":["tmp"],"dry_run":true}`, "import", "--from", "claude-code", "--from", "codex", "--skip", "tmp", "--dry-run")
	s.same("import", `{"from":["claude-code"]}`, "import", "--from", "claude-code")
	s.same("du", `{"limit":3}`, "du", "--limit", "3")
	s.same("prune", `{"dry_run":true}`, "prune", "--dry-run")
	s.same("forget", `{"session_id":"pie?","dry_run":true}`, "forget", "pie?", "--dry-run")
	s.both("config", "import.skip", "tmp")
	s.same("config/set", `{"key":"retention.max_age","value":["90","d"]}`, "config", "retention.max_age", "90", "d")
	s.same("config/set", `{"key":"explore.prefer","value":["radix","quick"]}`, "config", "explore.prefer", "radix", "quick")
	s.same("config/set", `{"key":"explore.prefer","value":["heap"],"add":true}`, "config", "explore.prefer", "heap", "--add")
	s.same("config/set", `{"key":"explore.metrics","value":["speed=higher"]}`, "config", "explore.metrics", "speed=higher")
	s.same("config", ``, "config")
	s.same("config/unset", `{"key":"retention.max_age"}`, "config", "retention.max_age", "--unset")
	s.same("config/get", `{"key":"import.skip"}`, "config", "import.skip")
	s.same("config/get", `{"key":"pager"}`, "config", "pager")
	s.same("doctor", ``, "doctor")
	for _, dir := range []string{s.command, s.api} {
		(&jsonStory{t: s.t, dir: dir}).write("conversations/joined.json", `{"created_at":"2026-01-01T00:00:00+00:00","metadata":{},"messages":[{"id":"m1","role":"user","content":"one"}]}`)
		(&jsonStory{t: s.t, dir: dir}).write("conversations/joined (conflicted copy).json", `{"messages":[{"id":"m1","role":"user","content":"one"},{"id":"m2","role":"user","content":"two"}]}`)
	}
	s.both("trash", "--purge") // whose order depends on ids
	s.same("doctor/merge-copies", ``, "doctor", "--merge-copies")
	s.same("doctor/fix", ``, "doctor", "--fix")
	s.same("trash/purge", `{"older":"1d"}`, "trash", "--purge", "--older", "1d")
	s.same("trash/purge", ``, "trash", "--purge")
	s.same("forget", `{"session_id":"joined","yes":"joined"}`, "forget", "joined", "--yes", "joined")
}

// files compares the verbs on files, with one folder of which both workspaces have states.
func (s *twin) files() {
	dir := filepath.Join(s.t.TempDir(), "bread")
	write := func(name, text string) {
		s.t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	write("flour", "rye\n")
	s.both("rewind", "Bread")
	s.name("BEFORE", "id", "files", "snap", "--dir", dir)
	real := gjson.Get(s.both("files", "snap", "--dir", dir)[s.api], "dir").Raw
	write("sub/salt", "2 %\n")
	s.both("files", "snap", "Bread@first", "--dir", dir)
	write("flour", "rye\nwheat\n")
	s.same("files/ls", ``, "files", "ls")
	s.same("files/ls", `{"session_id":"Bread"}`, "files", "ls", "Bread")
	s.same("files/diff", `{"dir":`+real+`}`, "files", "diff", "--dir", dir)
	s.same("files/diff", `{"from":"BEFORE","to":"Bread@first","paths":["sub"],"patch":true}`, "files", "diff", "BEFORE", "Bread@first", "sub", "--patch")
	s.same("files/diff", `{"from":"BEFORE","to":"now"}`, "files", "diff", "BEFORE", "now", "--dir", dir)
	s.same("rewind/files", `{"ref":"BEFORE","dry_run":true,"dir":`+real+`}`, "rewind", "BEFORE", "--files", "--dry-run", "--dir", dir)
	s.same("rewind/both", `{"ref":"Bread@first","dry_run":true,"whole":true,"only":["flour"]}`, "rewind", "Bread@first", "--both", "--dry-run", "--whole", "--only", "flour", "--dir", dir)
	s.both("checkpoint", "Bread@first", "--name", "Baked")
	s.same("restore/files", `{"session_id":"Baked","dry_run":true,"conflicts":"keep"}`, "restore", "Baked", "--files", "--dry-run", "--keep", "--dir", dir)
	s.same("restore/both", `{"session_id":"Baked","dry_run":true,"conflicts":"take"}`, "restore", "Baked", "--both", "--dry-run", "--take", "--dir", dir)
	for _, role := range []string{"user", "assistant"} {
		s.both("append", "Bread", "More "+role, "--role", role)
		write("flour", role+"\n")
		s.both("files", "snap", "Bread", "--dir", dir)
	}
	s.same("files/log", `{"path":"flour","patch":true,"limit":2,"dir":`+real+`}`, "files", "log", "flour", "--patch", "--limit", "2", "--dir", dir)
	s.same("files/log", `{"path":".","session_id":"Bread"}`, "files", "log", ".", "Bread", "--dir", dir)
	s.same("blame", `{"file":"flour","dir":`+real+`}`, "blame", "flour", "--dir", dir)
	s.same("blame", `{"file":"flour","at":"BEFORE","first":1,"last":1}`, "blame", "flour:1", "--at", "BEFORE", "--dir", dir)
	s.same("bisect", `{"ref":"Bread","good":"Bread@first","dir":`+real+`}`, "bisect", "Bread", "--good", "Bread@first", "--dir", dir)
	s.same("files/turn", `{"ref":"Bread","patch":true}`, "files", "turn", "Bread", "--patch", "--dir", dir)
	s.same("files/turn/undo", `{"ref":"Bread","dry_run":true}`, "files", "turn", "Bread", "--undo", "--dry-run", "--dir", dir)
	s.both("explore", "Bread", "--strategy", "quick", "--strategy", "radix", "--run", "canned", "--dir", dir)
	s.name("TRIED", "explorations.0.id", "explore", "ls")
	s.same("explore/adopt/files", `{"id":"TRIED","branch_id":"quick","dry_run":true,"conflicts":"keep"}`, "explore", "adopt", "TRIED", "quick", "--files", "--dry-run", "--keep")
	s.same("files/show", `{"state":"BEFORE"}`, "files", "show", "BEFORE")
	s.same("files/show", `{"state":"BEFORE","path":"flour","dir":`+real+`}`, "files", "show", "BEFORE", "flour", "--dir", dir)
}
