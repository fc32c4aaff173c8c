package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/compare"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/bough-dev/bough/workspace/origin"
	"github.com/bough-dev/bough/workspace/project"
	"github.com/bough-dev/bough/workspace/restores"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/bough-dev/bough/workspace/suggest"
	"github.com/tidwall/gjson"
)

// A jsonPage is docs/json.md: the sample of each heading.
type jsonPage struct {
	samples map[string]any    // by shape or command line
	names   map[string]string // from each heading to the first with its sample
	seen    map[string]bool
}

func readJSONPage(t *testing.T) *jsonPage {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "json.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := &jsonPage{map[string]any{}, map[string]string{}, map[string]bool{}}
	sections := regexp.MustCompile("(?s)\n### ([^\n]+)\n.*?```json\n(.*?)```").FindAllSubmatch(data, -1)
	if headings := bytes.Count(data, []byte("\n### ")); len(sections) != headings || headings < 50 {
		t.Fatalf("%d of %d headings have a sample", len(sections), headings)
	}
	for _, s := range sections {
		var sample any
		if err := json.Unmarshal(s[2], &sample); err != nil {
			t.Fatalf("the sample of %s: %v", s[1], err)
		}
		first, _, _ := strings.Cut(string(s[1]), ", ")
		for name := range strings.SplitSeq(string(s[1]), ", ") {
			page.names[name] = first
			if _, twice := page.samples[name]; twice {
				t.Fatalf("%s has two samples", name)
			}
			page.samples[name] = sample
		}
	}
	return page
}

// A wanted is a member of a sample.
type wanted struct {
	sample   any
	optional bool
	from     string // its path, from the shape that it is part of
}

// members returns the members of a sample that is an object, including those of the shapes
// that it refers to.
func (page *jsonPage) members(t *testing.T, sample map[string]any, from string) map[string]wanted {
	all := map[string]wanted{}
	for name, value := range sample {
		if name == "..." {
			shape := value.(string)
			for name, w := range page.members(t, page.shape(t, shape), shape) {
				all[name] = w
			}
			continue
		}
		name, optional := strings.CutSuffix(name, "?")
		all[name] = wanted{value, optional, from + "." + name}
	}
	return all
}

func (page *jsonPage) shape(t *testing.T, name string) map[string]any {
	t.Helper()
	shape, ok := page.samples[name].(map[string]any)
	if !ok {
		t.Fatalf("the page has no shape %q", name)
	}
	return shape
}

// check compares a value with its sample. where is the path of the value in the output,
// from the heading of the sample.
func (page *jsonPage) check(t *testing.T, value gjson.Result, sample any, where, from string) {
	t.Helper()
	switch sample := sample.(type) {
	case map[string]any:
		page.checkObject(t, value, sample, where, from)
	case []any:
		if !value.IsArray() {
			t.Errorf("%s is %s, not a list", where, value.Raw)
		}
		for i, element := range value.Array() {
			page.check(t, element, sample[0], fmt.Sprintf("%s.%d", where, i), from)
		}
	case string:
		name, nullable := strings.CutSuffix(sample, " or null")
		if nullable && value.Type == gjson.Null && value.Raw == "null" {
			return
		}
		if name == strings.ToUpper(name) {
			page.checkObject(t, value, page.shape(t, name), where, name)
			return
		}
		if !hasType(t, value, name) {
			t.Errorf("%s is %s, not %s", where, value.Raw, sample)
		}
	default:
		t.Fatalf("%s: a sample is no %T", from, sample)
	}
}

func (page *jsonPage) checkObject(t *testing.T, value gjson.Result, sample map[string]any, where, from string) {
	t.Helper()
	if !value.IsObject() {
		t.Errorf("%s is %s, not an object", where, value.Raw)
		return
	}
	members := page.members(t, sample, from)
	printed := map[string]bool{}
	value.ForEach(func(key, member gjson.Result) bool {
		w, ok := members[key.Str]
		if !ok {
			t.Errorf("%s.%s is printed, but is not in docs/json.md", where, key.Str)
			return true
		}
		printed[key.Str], page.seen[w.from] = true, true
		page.check(t, member, w.sample, where+"."+key.Str, w.from)
		return true
	})
	for name, w := range members {
		if !w.optional && !printed[name] {
			t.Errorf("%s has no %s, but its sample in docs/json.md has", where, name)
		}
	}
}

var answerTimes = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$`)

func hasType(t *testing.T, v gjson.Result, name string) bool {
	t.Helper()
	switch name {
	case "string":
		return v.Type == gjson.String
	case "id":
		return v.Type == gjson.String && v.Str != ""
	case "time":
		return v.Type == gjson.String && answerTimes.MatchString(v.Str)
	case "number":
		return v.Type == gjson.Number
	case "boolean":
		return v.Type == gjson.True || v.Type == gjson.False
	case "object":
		return v.IsObject()
	case "any":
		return v.Exists()
	}
	t.Fatalf("the page has no type %q", name)
	return false
}

// unseen returns the members of the page that no document had.
func (page *jsonPage) unseen(t *testing.T) (list []string) {
	var walk func(sample any, from string)
	walk = func(sample any, from string) {
		switch sample := sample.(type) {
		case []any:
			walk(sample[0], from)
		case map[string]any:
			for name, value := range sample {
				if name == "..." {
					continue
				}
				at := from + "." + strings.TrimSuffix(name, "?")
				if !page.seen[at] {
					list = append(list, at)
				}
				walk(value, at)
			}
		}
	}
	for name, sample := range page.samples {
		if notRun[name] == "" {
			walk(sample, page.names[name])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A jsonStory runs verbs with --json.
type jsonStory struct {
	t    *testing.T
	page *jsonPage
	dir  string
	ran  map[string]bool // by heading
}

// do runs a command line and compares its document with the heading of the page that begins
// it, or with the heading before "|".
func (s *jsonStory) do(args ...string) gjson.Result {
	s.t.Helper()
	heading := ""
	if at := slices.Index(args, "|"); at >= 0 {
		heading, args = "bough "+strings.Join(args[:at], " "), args[at+1:]
	}
	var out, talk bytes.Buffer
	code := run(append([]string{"-w", s.dir, "--json"}, args...), strings.NewReader(""), &out, &talk)
	if heading == "" {
		for n := min(len(args), 2); n > 0; n-- {
			if heading = "bough " + strings.Join(args[:n], " "); s.page.samples[heading] != nil {
				break
			}
		}
	}
	if gjson.Get(out.String(), "error").Exists() {
		s.t.Fatalf("bough %q exits with %d: %s%s", args, code, &out, &talk)
	}
	return s.checkDocument(heading, out.String())
}

func (s *jsonStory) checkDocument(heading, out string) gjson.Result {
	s.t.Helper()
	if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") {
		s.t.Errorf("%s does not print one line: %q", heading, out)
	}
	sample, ok := s.page.samples[heading]
	if !ok {
		s.t.Fatalf("the page has no %q, which prints %s", heading, out)
	}
	s.ran[heading] = true
	doc := gjson.Parse(out)
	s.page.check(s.t, doc, sample, heading, s.page.names[heading])
	return doc
}

// stream runs a command line that does not end by itself, and returns its first lines.
func (s *jsonStory) stream(heading string, lines int, args ...string) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	out := &lineWriter{lines: lines, enough: cancel}
	p := &program{stdin: strings.NewReader(""), stdout: bufio.NewWriter(out), stderr: io.Discard, meter: newMeter(io.Discard)}
	if err := p.run(ctx, append([]string{"-w", s.dir, "--json"}, args...)); err != nil && ctx.Err() == nil {
		s.t.Fatalf("bough %q: %v", args, err)
	}
	if len(out.printed) < lines {
		s.t.Fatalf("bough %q printed only %q", args, out.printed)
	}
	for _, l := range out.printed {
		s.checkDocument(heading, l)
	}
}

// A lineWriter calls enough after a number of lines.
type lineWriter struct {
	lines   int
	enough  func()
	printed []string
}

func (w *lineWriter) Write(data []byte) (int, error) {
	for l := range strings.Lines(string(data)) {
		w.printed = append(w.printed, l)
	}
	if len(w.printed) >= w.lines {
		w.enough()
	}
	return len(data), nil
}

// values compares values that a verb prints only if several processes interact with their
// headings.
func (s *jsonStory) values() {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for heading, value := range map[string]any{
		"bough pick": rewrite.Pick{Session: "s", Messages: []rewrite.Copy{{From: turn.Origin{Session: "s", Message: "m"}, Unpaired: true}}, Mixed: true},
		"bough suggest": suggest.List{Suggestions: []suggest.Suggestion{{
			Kind: suggest.Answer, Reasons: []suggest.Reason{{Code: suggest.UnusedAnswer, Count: 1}}, Time: at,
			Place: suggest.Place{Session: "s", Message: "m"}, Base: "b", Main: &suggest.Place{Session: "s", Message: "m"}, Exploration: "e",
		}}},
		"bough edit": rewrite.Edited{Session: "s", From: turn.Origin{Session: "s", Message: "m"}, Mixed: true},
		"bough watch": events.Event{
			Time: at, Role: "user", Kind: turn.KindUser, Mode: turn.Steer, State: "waiting", Tool: "ls", Call: "c",
			Label: "l", Replaces: "m", Agent: "ada", Text: "t", Ended: turn.Failed, Error: "e",
		},
		"bough restore": lines.Position{Head: lines.Head{Session: "s", Message: "m"}, Files: &restores.Restore{
			Written: []string{}, Deleted: []string{}, RawPaths: [][]byte{{0xff}}, Kept: []restores.Kept{{Path: "p", Why: "changed", As: "a"}}, Conflicts: []restores.Conflict{}, Orphan: true, Mapped: "m",
		}},
		"bough queue":  agents.Queue{Queue: []turn.Entry{{ID: "m", Mode: turn.Steer, State: turn.Waiting, Cut: true}}},
		"bough forget": forget.Result{Session: "s", Sources: []forget.Source{{ID: "i", Last: "m"}}, Remotes: []forget.Holder{{Remote: "r", Sessions: []string{"s"}}}},
		"bough import": imports.Report{Imported: []imports.Transcript{{Replaced: 1, Detail: "d"}}},
		"bough watch --import": followedImport{"import_failed", at, imports.Transcript{
			Session: "s", Replaced: 1, Detail: "d", Problems: []string{"p"}, Notes: []string{"n"},
		}},
		"bough checkpoint": workspace.Snapshot{
			Entry: workspace.Entry{ID: "s", CreatedAt: at, LastActive: at}, Folder: &files.Checkout{State: files.State{ID: "s", Time: at, Left: []files.Left{}}, From: "f", Missing: []string{}, Left: []files.Left{}},
			Task: &agents.TaskPoint{
				Tasks: []agents.TaskAt{{ID: "t", Data: []byte("{}"), Messages: []string{"m"}}},
				Queue: []turn.Entry{{ID: "m", Mode: turn.Steer, State: turn.Waiting}},
			},
		},
		"bough compare": compare.Comparison{
			Common: "m",
			Sides: []compare.Side{{
				Session: "s", Message: "m", Models: []string{"m"}, Messages: []compare.Message{},
				Outcome: &compare.Outcome{Message: "m", Confidence: new(0.5), Success: new(true), Metrics: []byte("{}")},
				Files:   &compare.Files{Changes: []files.Change{{Path: "p"}}},
			}},
			Summary: &compare.Summary{Model: "m", Text: "t", Cites: []string{"c"}},
		},
		"bough tree": workspace.Forest{Roots: []workspace.TreeEntry{{
			Entry:  workspace.Entry{ID: "s", CreatedAt: at, LastActive: at, ContinuedFrom: []string{}, ContinuedTo: []string{}, Lineage: []string{}},
			Merges: []merge.Mark{{Message: "m", From: "m", Session: "s", Title: "t"}}, Children: []workspace.TreeEntry{},
		}}},
		"bough merge": merge.Result{
			Session: "s", Message: "m", Parent: "p", ForkedFrom: "c", MovedFrom: "m", Prompt: "p", Merged: &merge.Merged{Session: "s", Message: "m", Base: "b"},
			Files: &restores.Restore{Written: []string{}, Deleted: []string{}, Kept: []restores.Kept{}, Conflicts: []restores.Conflict{}},
		},
		"bough files":         files.Coverage{Left: []files.Left{{RawPath: []byte("\xff")}}},
		"bough files diff":    files.Diff{Changes: []files.Change{{RawPath: []byte("\xff")}}},
		"bough files log":     origin.Log{Changes: []origin.Change{{Files: []origin.FileChange{{RawPath: []byte("\xff"), Patch: "p", Unshown: "u"}}}}},
		"bough files show":    files.Entry{State: files.State{ID: "s", Time: at}, Entries: []files.Name{{RawName: []byte("\xff")}}},
		"bough watch --files": stateTaken{"state_taken", at, files.State{ID: "i", Machine: "m", Time: at, Session: "s", Message: "m", Git: &files.Git{}, Left: []files.Left{}}},
		"bough push": remote.Result{
			Remote: "r", Sent: remote.Traffic{States: 1}, Got: remote.Traffic{States: 1}, Conflicts: []plan.Conflict{{Kind: plan.Appended, Session: "s", Kept: []string{"m"}}}, Sessions: []string{"s"}, Renewed: true,
			Machines: []remote.Machine{{ID: "m", Person: "p", Retired: true}}, Left: []mirror.Left{{What: "s", Why: "w"}},
			Problems: []*stream.Problem{{Kind: stream.Forged, Machine: "m", Seq: 1, Object: "o", Detail: "d"}},
		},
		"bough ls --remote": api.RemoteListing{Remote: "r", Stale: "s", Sessions: []remote.RemoteSession{{ID: "s", Project: &project.Project{ID: "i", Path: "p"}}}},
		"bough remote check": remote.Report{
			Machines: []remote.Machine{}, Problems: []*stream.Problem{}, Held: []stream.Held{{Machine: "m", Seq: 1, Needs: record.Vector{"m": 1}}},
			Copies: []string{"c"}, Packs: []string{"p"},
		},
		"bough remote add":     remote.Added{Info: remote.Info{Name: "n", ID: "i", Machine: "m", Person: "p", Share: true, Files: true, OneWriter: true, Synced: true, Problem: "damaged"}},
		"bough open":           openedPage{Workspace: "w", URL: "u", ByIP: "i", Expires: at},
		"bough daemon status":  daemonStatus{PID: new(1), Since: &at, Log: new("l"), Service: new("s")},
		"bough daemon install": serviceDone{Commands: [][]string{{"c"}}, Problems: []string{"p"}},
	} {
		s.checkDocument(heading, string(rawjson.Answer(value))+"\n")
	}
}

// toolFolderVariables are the variables that move the settings of other programs.
var toolFolderVariables = []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "APPDATA"}

// silent lists the verbs that print nothing, with the reason.
var silent = map[string]string{
	"bough hook run": "a tool would take it for instructions",
	"bough ui":       "it shows a page on a terminal",
}

// notRun lists the headings whose document no test can produce, with the reason.
var notRun = map[string]string{
	"bough mcp":              "a client sends messages on standard input, as the script mcp.txtar does",
	"bough choose":           "a person chooses at a terminal",
	"bough open":             "the test would be the server; the script open starts one",
	"bough daemon run":       "it prints to its log",
	"bough daemon start":     "the test would be the daemon; the script daemon starts one",
	"bough daemon uninstall": "the service is not installed; the script daemon has one",
}

// TestJSONPage: each member that a verb prints with --json is in docs/json.md with its
// type, each member of the page is printed by some verb, and every verb is tested.
func TestJSONPage(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, home)
	}
	for _, name := range toolFolderVariables {
		t.Setenv(name, "")
	}
	s := &jsonStory{t, readJSONPage(t), filepath.Join(t.TempDir(), "ws"), map[string]bool{}}
	s.conversations()
	s.agents()
	s.explorations()
	s.replays()
	s.workspace()
	s.files()
	s.remotes()
	s.values()
	for _, v := range allVerbs((&program{}).verbs()) {
		name := "bough " + v.full()
		if v.action == nil && v.standalone == nil || silent[name] != "" {
			continue // it only has subcommands, or prints no document
		}
		if s.page.samples[name] == nil {
			t.Errorf("docs/json.md has no section \"### %s\" with a sample", name)
		} else if !s.ran[name] && notRun[name] == "" {
			t.Errorf("TestJSONPage does not run %q: run it in a method of jsonStory", name)
		}
	}
	for _, at := range s.page.unseen(t) {
		t.Errorf("%s is in docs/json.md, but no verb of this test printed it", at)
	}
}

func allVerbs(verbs []verb) (all []verb) {
	for _, v := range verbs {
		all = append(append(all, v), allVerbs(v.subs)...)
	}
	return all
}

func (s *jsonStory) conversations() {
	s.do("new", "--title", "Bread")
	first := s.do("append", "How wet is too wet?").Get("message_id").String()
	s.do("append", "It depends.", "--role", "assistant")
	s.do("append", "Bread", "With rye?", "--parent", first)
	s.do("append", "Another way to put it?")
	s.do("bookmark", "Bread@"+first, "start", "--summary", "the first question")
	s.do("bookmarks")
	s.do("bookmark", "start", "--rm")
	s.do("bookmark", "Bread@"+first, "start")
	s.do("branches", "Bread")
	s.do("tree", "--messages", "|", "tree", "Bread", "--messages")
	s.do("tree", "--svg", "|", "tree", "Bread", "--svg")
	s.do("checkpoint", "Bread", "--name", "Before", "--task")
	s.do("append", "Before", "after the checkpoint")
	s.do("checkpoint", "Bread", "--name", "Packed", "--packed")
	s.do("unpack", "Packed")
	s.do("pack", "Packed")
	s.do("pack", "--all")
	s.do("branch", "Bread@"+first, "--name", "Other")
	s.do("rename", "Other", "Another")
	s.do("diff", "Bread", "Another")
	s.do("diff", "Another", "Bread")
	s.do("suggest")
	s.do("pick", "Bread@"+first, "--onto", "Another", "--keep-head")
	s.do("pick", "Bread@"+first, "--onto", "Before", "--dry-run")
	s.do("prune-context", "Bread", "--drop", first, "--dry-run")
	s.do("prune-context", "Bread", "--squash", ".."+first, "--dry-run")
	s.do("prune-context", "Bread", "--squash", ".."+first, "--summary", "Water.", "--keep-head")
	s.do("edit", "Another@first", "--text", "How dry?", "--keep-head")
	s.do("edit", "Another@first", "--text", "How wet?", "--keep-head", "--answer", "--model", "command:canned")
	s.do("append", "Another", "In other words.")
	s.do("compare", "Bread", "Another")
	s.do("compare", "Bread@"+first, "Another")
	s.do("compare", "--prompt", "|", "compare", "Bread", "Another", "--prompt")
	s.do("compare", "--html", "|", "compare", "Bread", "Another", "--html", "-")
	s.do("merge", "Another", "--into", "Bread", "--dry-run")
	s.do("merge", "Another", "--into", "Bread")
	s.do("merge", "Another", "--into", "Bread")
	s.do("replay", "..Bread", "--model", "command:canned", "--dry-run")
	s.do("compare", "Bread", "Another")
	s.do("tree", "--messages", "|", "tree", "Bread", "--messages")
	s.do("undo")
	s.do("lineage", "Another")
	s.do("ls")
	s.do("tree")
	s.do("show", "Bread")
	s.do("search", "wet", "--context", "1")
	s.do("search", "depends", "--context", "1")
	s.do("restore", "Before")
	s.do("rewind", "Bread@"+first)
	s.do("status")
	s.do("ls")
	s.do("rm", "Another")
	s.do("trash")
	s.do("undo")
	s.do("redo")
	s.do("log")
	var out bytes.Buffer
	run([]string{"-w", s.dir, "--json", "show", "nothing"}, strings.NewReader(""), &out, &bytes.Buffer{})
	s.checkDocument("error", out.String())
	s.toolCuts()
}

// toolCuts requests paths that end inside a tool call, and one of two sessions with the
// same title.
func (s *jsonStory) toolCuts() {
	for _, id := range []string{"tools", "other-tools"} {
		file := `{"id":"` + id + `","created_at":"2026-05-25T15:00:00","metadata":{"title":"Tools","continued_from":[]},"messages":[` +
			`{"id":"t0","role":"user","content":"count"},{"id":"t1","role":"assistant","tool_calls":[{"id":"c"}]},{"id":"t2","role":"tool","tool_call_id":"c"}]}`
		if err := os.WriteFile(filepath.Join(s.dir, session.FileName(id)), []byte(file), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.do("checkpoint", "tools@t1")
	s.do("rewind", "tools@t1")
	var out bytes.Buffer
	run([]string{"-w", s.dir, "--json", "show", "Tools"}, strings.NewReader(""), &out, &bytes.Buffer{})
	s.checkDocument("error", out.String())
	s.do("rewind", "Bread@first")
	s.do("rm", "other-tools", "--force")
	s.do("rm", "tools", "--force")
}

func (s *jsonStory) agents() {
	tree := s.do("agent", "create", "ada", "--model", "command:canned").Get("head.tree_id").String()
	s.do("agent", "set", "ada", "--system", "Be brief.", "--memory", filepath.Join(s.dir, "no memory"))
	node := s.do("agent", "chat", "ada", "hello").Get("node_id").String()
	s.do("checkpoint", tree, "--name", "Remembered", "--task")
	s.do("bookmark", tree+"@"+node, "answered")
	other := s.do("agent", "branch", "ada", "--from-node", tree+"@"+node, "--prompt", "again", "--name", "B").Get("tree_id").String()
	s.do("agent", "show", "ada")
	s.do("agent", "ls")
	s.do("agent", "trees", "ada")
	s.do("agent", "switch", "ada", tree)
	s.do("agent", "rewind", "ada", node)
	s.do("agent", "archive", "ada", other)
	s.do("agent", "restore", "ada", other)
	s.do("steer", "ada", "and now")
	s.do("follow-up", "ada", "and then")
	s.queue()
	s.do("agent", "snapshot", "ada")
	s.stream("bough watch", 4, "agent", "chat", "ada", "what?", "--stream")
	s.do("agent", "delete", "ada", other, "--force")
	s.do("agent", "create", "bob")
	s.do("agent", "rm", "bob")
	s.do("agent", "chat", "|", "agent", "chat", "ada", "more")
}

// queue lists and drops a message that waits for the user.
func (s *jsonStory) replays() {
	s.do("replay", "Bread", "--edit", "Bread@first", "--text", "How dry?", "--model", "command:canned")
	s.do("replay", "..Bread", "--model", "command:canned", "--dry-run")
}

func (s *jsonStory) queue() {
	s.hold()
	s.do("queue", "ada")
	s.do("queue", "ada", "--drop", heldID(s.t))
}

// heldID is the id of the message that hold adds.
func heldID(t *testing.T) string {
	id, err := sessionid.NewMessage(strings.NewReader(strings.Repeat("x", 16)))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// hold adds a message to the queue of ada that waits for the user.
func (s *jsonStory) hold() {
	path := filepath.Join(s.dir, "agents", "ada.json")
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	entries := fmt.Sprintf(`"queue":[{"id":%q,"delivery_mode":"follow_up","content":"later","state":"held"}]`, heldID(s.t))
	held := regexp.MustCompile(`"queue":\s*\[\]`).ReplaceAll(data, []byte(entries))
	if bytes.Equal(held, data) {
		s.t.Fatalf("no empty queue in %s", data)
	}
	if err := os.WriteFile(path, held, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// rareEvents prints events that need tools, a terminal, an open message or a reply of several
// chunks, as watch prints them.
func (s *jsonStory) rareEvents() {
	at := time.Now()
	for _, e := range []events.Event{
		{Seq: 1, Time: at, Type: events.ToolStarted, Session: "s", Message: "m", Agent: "ada", Tool: "look", Call: "c1", Verb: "append"},
		{Seq: 2, Time: at, Type: events.QueueChanged, Session: "s", Message: "m", Agent: "ada", Mode: turn.Steer, State: events.QueueHeld, Verb: "steer"},
		{Seq: 3, Time: at, Type: events.MessageReplaced, Session: "s", Message: "m", Replaces: "n", Verb: "import"},
		{Time: at, Type: events.ChatContent, Session: "s", Message: "m", Agent: "ada", Text: "and more", Offset: 5, Verb: "agent chat"},
	} {
		var out bytes.Buffer
		p := &program{stdout: bufio.NewWriter(&out), json: true}
		if err := p.event(e); err != nil {
			s.t.Fatal(err)
		}
		s.checkDocument("bough watch", out.String())
	}
}

// explorations tries strategies with a command that every system has: this test's own.
func (s *jsonStory) explorations() {
	s.do("explore", "--dry-run", "|", "explore", "Bread", "--strategy", "quick=in place", "--dry-run")
	id := s.do("explore", "Bread", "--strategy", "quick=in place", "--strategy", "radix", "--model", "command:canned").Get("id").String()
	s.do("explore", "ls")
	s.do("explore", "show", id)
	s.do("explore", "evaluate", id, "--evaluate", "best")
	s.do("explore", "adopt", id)
	s.do("explore", "stats")
	s.do("learnings")
	s.do("learnings", "--similar", "Another way to put it?")
	s.do("explore", "resume", id)
	s.do("explore", "cancel", id)
	s.do("explore", "rm", id, "--branches")
}

// subAgents returns a folder with a conversation of Claude Code, that of a sub-agent, and that of a
// sub-agent of another conversation.
func (s *jsonStory) subAgents() string {
	dir := s.t.TempDir()
	record := func(session, agent, kind, content, more string) string {
		return fmt.Sprintf(`{"parentUuid":null,"isSidechain":%v,"sessionId":%q,"uuid":%q,"type":%q,"message":{"role":%[4]q,"content":%s}%s}`+"\n",
			agent != "", session, session+agent+kind, kind, content, more)
	}
	for name, data := range map[string]string{
		"top.jsonl": record("top", "", "user", `"Ask around"`, "") +
			record("top", "", "assistant", `[{"type":"tool_use","id":"c1","name":"Task","input":{}}]`, "") +
			record("top", "", "user", `[{"type":"tool_result","tool_use_id":"c1","content":"x"}]`, `,"toolUseResult":{"agentId":"a1"}`),
		"agent-a1.jsonl": record("top", "a1", "user", `"Look"`, `,"agentId":"a1"`),
		"agent-a2.jsonl": record("gone", "a2", "user", `"Look there"`, `,"agentId":"a2"`),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	return dir
}

func (s *jsonStory) workspace() {
	out := filepath.Join(s.t.TempDir(), "bread.jsonl")
	s.do("export", "Bread", "--to", "openai")
	s.do("export", "Bread", "--to", "pi", "-o", out)
	s.do("import", out)
	s.do("import", s.elsewhere())
	s.do("import", s.subAgents())
	s.do("ls")
	s.do("ls", "|", "ls", "--all")
	s.do("tree", "--messages", "|", "tree", "Ask around", "--messages")
	s.do("import", filepath.Join(s.dir, "agents", "ada.json"))
	s.do("log")
	s.do("resume", "Bread", "--in", "pi", "--dir", s.t.TempDir())
	s.do("config")
	s.do("config", "KEY", "|", "config", "import.skip")
	s.do("du")
	s.write("conversations/old.json", `{"created_at":"2026-01-01T00:00:00+00:00","metadata":{"continued_from":["bread"],"flattened_snapshot":true,`+
		`"bough":{"kind":"checkpoint","auto":true}},"messages":[{"id":"m1","role":"user","content":"one"}]}`)
	s.do("prune", "--dry-run")
	s.do("forget", "Bread", "--dry-run")
	s.do("hook", "install", "claude-code", "pi", "--yes")
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), ".pi", "agent", "extensions", "bough.ts"), []byte("// mine"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.do("hook", "status")
	s.do("hook", "uninstall", "claude-code", "--dry-run")
	s.do("setup", "--dry-run")
	s.do("setup", "--undo", "--dry-run")
	s.do("mcp", "install", "zed", "--yes")
	s.do("mcp", "status")
	s.do("mcp", "uninstall", "zed", "--yes")
	s.do("doctor")
	s.do("open", "--stop")
	s.do("daemon", "status")
	s.do("daemon", "stop")
	s.do("daemon", "install", "--dry-run")
	s.do("demo")
	s.do("completion", "bash")
	s.do("man")
	s.do("man", "--dir", filepath.Join(s.t.TempDir(), "man1"))
	s.do("help")
	s.do("version", "|", "--version")
	s.stream("bough watch", 30, "watch", "--from", "0")
	s.rareEvents()
	s.stream("bough serve", 1, "serve", "--addr", "127.0.0.1:0")
	s.stream("bough help --web", 1, "help", "--web", "--print")
	s.write("conversations/torn.json", `{"messages": [`)
	s.write("conversations/joined.json", `{"created_at":"2026-01-01T00:00:00+00:00","metadata":{},"messages":[{"id":"m1","role":"user","content":"one"},`+
		`{"id":"m2","role":"assistant","content":"two","metadata":{"parent_id":"gone","bough":{"joined":"m1"}}}]}`)
	s.do("doctor")
	s.do("du")
	s.do("inspect", filepath.Join(s.dir, "conversations", "torn.json"))
	s.do("inspect", filepath.Join(s.dir, "conversations", "joined.json"))
	s.write("conversations/joined (conflicted copy).json", `{"messages":[{"id":"m1","role":"user","content":"one"}]}`)
	s.do("doctor", "--merge-copies")
	penguin := *s
	penguin.dir = filepath.Join(s.t.TempDir(), "penguin")
	penguin.do("new", "--dialect", "penguin")
	first := penguin.do("append", "one").Get("message_id").Str
	session := penguin.do("append", "two").Get("session_id").Str
	penguin.do("append", session, "other", "--parent", first)
}

// files takes states of a folder in a repository, and of one in none.
func (s *jsonStory) files() {
	dir := s.t.TempDir()
	for name, text := range map[string]string{"flour.txt": "rye\n", ".env": "KEY=1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	s.do("files", dir)
	s.do("files", "snap", "--dir", dir)
	for _, name := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git", name), 0o700); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink("flour.txt", filepath.Join(dir, "link")); err != nil {
		s.t.Fatal(err)
	}
	first := s.do("files", "ls").Get("states.0.id").Str
	s.do("files", "snap", "Bread", "--dir", dir)
	if err := os.WriteFile(filepath.Join(dir, "crumbs"), []byte{0}, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.do("files", dir)
	s.do("files", "ls", "Bread")
	s.do("files", "diff", first, "Bread", "--patch")
	s.do("files", "diff", first, "now", "--patch")
	s.do("files", "diff", "now", first)
	s.do("files", "show", "Bread", "--dir", dir)
	s.do("files", "show", "Bread", "flour.txt", "--dir", dir)
	s.do("files", "show", "Bread", "link", "--dir", dir)
	s.do("checkpoint", "Bread", "--files", "--dir", dir)
	s.do("branch", "Bread", filepath.Join(s.t.TempDir(), "branch"), "--files", "--dir", dir)
	s.restores(dir)
	s.do("files", "forget", "flour.txt", "--dir", dir, "--yes")
	s.do("files", "export", first, filepath.Join(s.t.TempDir(), "out"))
	records, err := os.ReadFile(filepath.Join(s.dir, "states", "states.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("states/states.jsonl", strings.ReplaceAll(string(records), `"manual"`, `"prompt"`)) // as a hook takes them
	s.do("config", "KEY", "|", "config", "files.limit", "1")
	s.do("prune", "--dry-run")
	s.do("config", "KEY", "|", "config", "files.limit", "--unset")
}

// remotes exchanges the workspace with another one.
func (s *jsonStory) remotes() {
	url := "file://" + filepath.ToSlash(s.t.TempDir())
	other := *s
	other.dir = filepath.Join(s.t.TempDir(), "other")
	s.do("remote", "add", "nas", url, "--machine", "here")
	other.do("new", "--title", "Elsewhere")
	other.do("append", "one")
	other.do("remote", "add", "nas", url, "--machine", "there", "--files")
	dir := s.t.TempDir()
	other.do("remote", "map", "PROJECT", "|", "remote", "map", "files", dir)
	other.do("files", "snap", "Elsewhere", "--dir", dir)
	s.do("push", "--dry-run")
	s.do("push")
	other.do("sync")
	s.do("ls", "--remote", "|", "ls", "--remote")
	s.do("pull", "Elsewhere", "--files")
	s.do("remote", "map", "PROJECT", "|", "remote", "map", "files", s.t.TempDir())
	s.do("rewind", "Elsewhere", "--files")
	s.do("ls", "|", "ls", "--title", "Elsewhere")
	s.do("remote", "map", "PROJECT", "|", "remote", "map", "site", s.t.TempDir())
	s.do("remote", "map")
	s.do("remote", "share", "Elsewhere", "file://"+filepath.ToSlash(s.t.TempDir()), "--name", "team", "--with", filepath.Join(s.t.TempDir(), "key"))
	s.do("log", "--remote", "|", "log", "--remote", "--limit", "2")
	s.do("remote", "check")
	s.do("remote", "purge", "Elsewhere", "--yes")
	s.do("remote", "retire", "there")
	s.do("remote", "key")
	s.do("remote", "ls")
	s.do("remote", "set", "nas", "--files", "--as", "Ada")
	s.do("remote", "rm", "nas")
	for _, doc := range []synced{
		{"synced", time.Now(), "nas", &remote.Result{Conflicts: []plan.Conflict{}, Machines: []remote.Machine{}, Sessions: []string{}, Unshared: []string{"session_20260525_153200_4b9ad01c"}}, nil},
		{"sync_failed", time.Now(), "nas", nil, &syncError{fault.Failed, "m", "h"}},
	} {
		s.checkDocument("bough watch --remote", string(rawjson.Answer(doc))+"\n")
	}
}

// restores brings files of a folder back.
func (s *jsonStory) restores(dir string) {
	put := func(dir, text string) {
		if err := os.WriteFile(filepath.Join(dir, "dough\xff.txt"), []byte(text), 0o600); err != nil {
			if err = os.WriteFile(filepath.Join(dir, "dough.txt"), []byte(text), 0o600); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	s.do("new", "--title", "Turns")
	s.do("append", "one")
	s.do("files", "snap", "--dir", dir)
	s.do("append", "two", "--role", "assistant")
	put(dir, "1\n")
	if err := os.WriteFile(filepath.Join(dir, "crumbs"), []byte{0, 1}, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.do("files", "snap", "--dir", dir)
	s.do("checkpoint", "--name", "Turned")
	s.do("files", "turn", "HEAD", "--patch", "--dir", dir)
	s.do("files", "turn", "HEAD", "--undo", "--dir", dir)
	s.do("undo")
	put(dir, "2\n")
	s.do("bisect", "HEAD", "--dir", dir)
	s.do("bisect", "HEAD", "--dir", dir, "--run", "cd "+filepath.ToSlash(s.t.TempDir())+" && mkdir once")
	s.do("files", "log", ".", "--patch", "--dir", dir)
	for _, name := range []string{"dough\xff.txt", "dough.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			s.do("blame", name, "--dir", dir)
			s.do("blame", name, "--at", "HEAD", "--dir", dir)
		}
	}
	s.do("rewind", "HEAD^", "--both", "--dry-run", "--dir", dir)
	var out bytes.Buffer
	if code := run([]string{"-w", s.dir, "--json", "rewind", "HEAD^", "--both", "--dir", dir}, strings.NewReader(""), &out, io.Discard); code != 4 {
		s.t.Errorf("a conflict exits with %d", code)
	}
	s.checkDocument("error", out.String())
	s.do("rewind", "HEAD^", "--both", "--keep", "--dir", dir)
	s.do("restore", "Turned", "--files", "--whole", "--dir", dir)
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	records, err := os.ReadFile(filepath.Join(s.dir, "states", "states.jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("states/states.jsonl", strings.ReplaceAll(string(records), `"at":"manual"`, `"at":"manual","late":true`))
	s.do("rewind", "HEAD", "--files", "--only", "mine", "--dir", dir)
	s.write("states/states.jsonl", string(records))
	rye := filepath.Join(s.t.TempDir(), "rye")
	s.do("branch", "Turned", rye, "--name", "Rye", "--files", "--dir", dir)
	put(rye, "3\n")
	s.do("append", "Rye", "three")
	s.do("files", "snap", "Rye", "--dir", rye)
	s.do("files", "apply", "Rye", "--into", dir)
}

func (s *jsonStory) write(path, text string) {
	if err := os.WriteFile(filepath.Join(s.dir, filepath.FromSlash(path)), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// elsewhere returns a folder with the transcripts of two conversations that another
// workspace has.
func (s *jsonStory) elsewhere() string {
	other, dir := *s, s.t.TempDir()
	other.dir = filepath.Join(s.t.TempDir(), "other")
	for _, title := range []string{"Cake", "Pie"} {
		other.do("new", "--title", title)
		other.do("append", title+", please.")
		other.do("export", title, "--to", "pi", "-o", filepath.Join(dir, title+".jsonl"))
	}
	return dir
}
