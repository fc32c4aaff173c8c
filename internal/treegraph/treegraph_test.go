package treegraph_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/treegraph"
	"github.com/bough-dev/bough/internal/treepicture"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/merge"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(testsize.LazyGC(m)).Run()) }

// A space is a workspace whose messages are their texts.
type space struct {
	*workspace.Workspace
	t   testing.TB
	ids map[string]string // the message with a text
}

func newSpace(t testing.TB) *space {
	t.Helper()
	w, err := workspace.Open(context.Background(), t.TempDir(), &workspace.Options{Limit: 6})
	if err != nil {
		t.Fatal(err)
	}
	return &space{w, t, map[string]string{}}
}

func must[T any](s *space) func(v T, err error) T {
	return func(v T, err error) T {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
		return v
	}
}

func (s *space) new(title string) string {
	s.t.Helper()
	return must[*workspace.Entry](s)(s.New(s.t.Context(), title)).ID
}

// say adds messages at the head. A text that begins with ">" is the assistant's.
func (s *space) say(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		a := workspace.Append{Text: strings.TrimPrefix(text, ">"), Role: "user"}
		if a.Text != text {
			a.Role = "assistant"
		}
		s.ids[a.Text] = must[*workspace.AppendResult](s)(s.Append(s.t.Context(), a)).Message
	}
}

func (s *space) rewind(text string) {
	s.t.Helper()
	if _, err := s.Rewind(s.t.Context(), s.ids[text], checkpoint.CutOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) branch(text, name string) string {
	s.t.Helper()
	return must[*workspace.Snapshot](s)(s.Branch(s.t.Context(), s.ids[text], workspace.SnapshotOptions{Name: name})).ID
}

func (s *space) checkpoint(text, name string) string {
	s.t.Helper()
	return must[*workspace.Snapshot](s)(s.Checkpoint(s.t.Context(), s.ids[text], workspace.SnapshotOptions{Name: name, Auto: name == ""})).ID
}

func (s *space) bookmark(text, label string) {
	s.t.Helper()
	if _, err := s.Bookmark(s.t.Context(), s.ids[text], label, workspace.BookmarkOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) remove(id string) {
	s.t.Helper()
	if _, err := s.Remove(s.t.Context(), id, workspace.RemoveOptions{Force: true}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *space) load(name string, o treegraph.Options) *treegraph.Graph {
	s.t.Helper()
	return must[*treegraph.Graph](s)(treegraph.Load(s.t.Context(), s.Workspace, name, o))
}

// graph formats a graph: each node as its words, its parent and its marks. "=" begins a copy, "@" the conversation of a sub-agent.
func graph(g *treegraph.Graph) string {
	var list []string
	for _, n := range g.Nodes {
		s := n.Label
		if n.Kind == treepicture.Conversation {
			s = "#" + s
		}
		if n.Parent >= 0 {
			edge := map[treepicture.Edge]string{treepicture.Follows: "<", treepicture.Copied: "=", treepicture.Joined: "~", treepicture.Begun: "@"}[n.Edge]
			s += edge + g.Nodes[n.Parent].Label
		}
		for _, m := range n.Marks {
			s += map[treepicture.MarkKind]string{
				treepicture.Title: "'", treepicture.Checkpoint: "+", treepicture.AutoCheckpoint: "auto", treepicture.Bookmark: "!", treepicture.Head: "*", treepicture.Merge: "&",
			}[m.Kind]
			if m.Kind != treepicture.Head && m.Kind != treepicture.AutoCheckpoint {
				s += m.Label
			}
		}
		for _, end := range n.Merged {
			s += "<-" + g.Nodes[end].Label
		}
		switch {
		case strings.HasSuffix(n.Note, ", its origin is deleted"): // after the date
			s += "(its origin is deleted)"
		case n.Note != "" && (n.Note[0] < '0' || n.Note[0] > '9'):
			s += "(" + n.Note + ")"
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

func (s *space) check(about, name, want string) {
	s.t.Helper()
	if got := graph(s.load(name, treegraph.Options{})); got != want {
		s.t.Errorf("%s: the graph is\n%s, want\n%s", about, got, want)
	}
}

func TestLoad(t *testing.T) {
	s := newSpace(t)
	s.check("an empty workspace", "", "")
	trip := s.new("Trip")
	s.check("an empty conversation", "", "#Trip*")
	s.say("a", ">b", "c", ">d")
	s.check("one path", trip, "#Trip a<Trip b<a c<b d<c*")
	s.rewind("b")
	s.say("c2", ">d2")
	s.check("a fork", trip, "#Trip a<Trip b<a c<b d<c c2<b d2<c2*")
	s.checkpoint("d", "Kept")
	s.checkpoint("c", "")
	s.bookmark("b", "here")
	s.check("marks", trip, "#Trip a<Trip b<a!here c<bauto d<c+Kept c2<b d2<c2*")
	train := s.branch("c2", "Train")
	s.check("an empty branch has the head", trip, "#Trip a<Trip b<a!here c<bauto d<c+Kept c2<b d2<c2 #Train=c2*(no messages of its own)")
	s.say("e")
	s.check("a branch", trip, "#Trip a<Trip b<a!here c<bauto d<c+Kept c2<b d2<c2 e=c2'Train*")
	s.branch("e", "Night")
	s.say("f", ">g")
	other := s.new("Other")
	s.say("x")
	want := "#Trip a<Trip b<a!here c<bauto d<c+Kept c2<b d2<c2 e=c2'Train f=e'Night g<f"
	s.check("a branch of a branch", trip, want)
	s.check("of any of its sessions", train, want)
	s.check("another tree", other, "#Other x<Other*")
	s.check("all trees", "", want+" #Other x<Other*")

	s.remove(train)
	s.check("a deleted origin", trip, "#Trip a<Trip b<a!here c<bauto d<c+Kept c2<b d2<c2 e=c2'Night(its origin is deleted) f<e g<f")
	if _, err := s.Remove(t.Context(), trip, workspace.RemoveOptions{Force: true, Line: true}); err != nil {
		t.Fatal(err)
	}
	all := graph(s.load("", treegraph.Options{}))
	for _, want := range []string{
		"#Night(its origin is deleted) a<Night b<a c2<b e<c2 f<e g<f", "#+Kept(its origin is deleted) a< b<a c<b d<c",
	} {
		if !strings.Contains(strings.ReplaceAll(all, "!here", ""), want) {
			t.Errorf("without its origin, the graph is\n%s, want in it\n%s", all, want)
		}
	}
}

// TestMerged: a message that merged a branch has a mark with its name, and the end of the branch.
func TestMerged(t *testing.T) {
	s := newSpace(t)
	trip := s.new("Trip")
	s.say("a", ">b")
	train := s.branch("b", "Train")
	s.say("c")
	s.rewind("b")
	must[*merge.Result](s)(s.Merge(t.Context(), train, merge.Options{Into: trip, Summary: "d"}))
	s.check("merged", trip, "#Trip a<Trip b<a d<b&Train*<-c c=b'Train")
	s.say("x")
	if _, err := s.Merge(t.Context(), s.ids["x"], merge.Options{Into: s.ids["c"], Summary: "e"}); err != nil {
		t.Fatal(err)
	}
	s.check("merged back", trip, "#Trip a<Trip b<a d<b&Train<-c x<d* c=b'Train e<c&Trip<-x")
}

// TestRestored: a branch of a checkpoint leaves the conversation at the checkpoint's last
// message, and the head in a checkpoint is there too.
func TestRestored(t *testing.T) {
	s := newSpace(t)
	trip := s.new("Trip")
	s.say("a", ">b", "c")
	kept := s.checkpoint("b", "Kept")
	if _, err := s.Restore(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	s.check("restored", trip, "#Trip a<Trip b<a+Kept* c<b")
	s.say("d")
	s.check("written to", trip, "#Trip a<Trip b<a+Kept c<b d=b'Kept (branch)*")
	active := ""
	for _, n := range s.load(trip, treegraph.Options{}).Nodes {
		if n.Active {
			active += n.Label + " "
		}
	}
	if active != "Trip a b d " {
		t.Errorf("the active path is %q", active)
	}
}

// TestHeadFollows: a message that names its conversation, not the head, moves no head. If that
// is there, it continues from the new message.
func TestHeadFollows(t *testing.T) {
	s := newSpace(t)
	trip := s.new("Trip")
	s.say("a", ">b", "c")
	s.rewind("b")
	s.ids["d"] = must[*workspace.AppendResult](s)(s.Append(t.Context(), workspace.Append{Session: trip, Text: "d"})).Message
	s.check("added by its name", trip, "#Trip a<Trip b<a c<b d<b*")
}

// TestContinuations: the files of a conversation are one, and branches may leave any of them.
func TestContinuations(t *testing.T) {
	s := newSpace(t)
	trip := s.new("Trip")
	want := "#Trip"
	before := "Trip"
	for i := range 15 {
		text := fmt.Sprintf("m%d", i)
		s.say(text)
		want += " " + text + "<" + before
		before = text
	}
	s.branch("m13", "Train")
	s.say("n")
	s.check("three files", trip, want+" n=m13'Train*")
	entries := must[*workspace.Listing](s)(s.List(t.Context(), session.Continuation))
	if len(entries.Sessions) == 0 {
		t.Fatal("the conversation has one file")
	}
	s.check("named by its last file", entries.Sessions[0].ID, want+" n=m13'Train*")
}

// TestNamedByFirst: the first message of a conversation is not drawn twice.
func TestNamedByFirst(t *testing.T) {
	s := newSpace(t)
	id := s.new("")
	s.say("How do I bake?", ">With flour.")
	s.check("a title from the first message", id, "'How do I bake? With flour.<*")
	s.rewind("How do I bake?")
	s.say(">With rye.")
	s.check("a fork", id, "'How do I bake? With flour.< With rye.<*")
	if _, err := s.Workspace.Rename(t.Context(), id, "Bread"); err != nil {
		t.Fatal(err)
	}
	s.check("another title", id, "#Bread How do I bake?<Bread With flour.<How do I bake? With rye.<How do I bake?*")
}

// TestLinks: each node and mark has the link of the caller.
func TestLinks(t *testing.T) {
	s := newSpace(t)
	trip := s.new("Trip")
	s.say("a", "b")
	kept := s.checkpoint("a", "Kept")
	train := s.branch("a", "Train")
	o := treegraph.Options{Links: treegraph.Links{
		Session:    func(id string) string { return "s " + id },
		Message:    func(session, message string) string { return "m " + session + " " + message },
		Checkpoint: func(id string) string { return "k " + id },
	}}
	g := s.load(trip, o)
	var links []string
	for _, n := range g.Nodes {
		links = append(links, n.Link)
		for _, m := range n.Marks {
			if m.Kind != treepicture.Head {
				links = append(links, m.Link)
			}
		}
	}
	want := []string{"s " + trip, "m " + trip + " " + s.ids["a"], "k " + kept, "m " + trip + " " + s.ids["b"], "s " + train}
	if strings.Join(links, "\n") != strings.Join(want, "\n") {
		t.Errorf("the links are %q, want %q", links, want)
	}
	auto := s.checkpoint("b", "")
	if _, err := s.Remove(t.Context(), trip, workspace.RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	s.check("an automatic checkpoint without its origin", auto, "#Trip (checkpoint)auto(its origin is deleted) a<Trip (checkpoint) b<a")
	g = s.load(kept, o)
	if first := g.Nodes[0]; first.Link != "k "+kept || g.Nodes[1].Link != "m "+kept+" "+s.ids["a"] {
		t.Errorf("a checkpoint without its origin has the links %q and %q", first.Link, g.Nodes[1].Link)
	}
}

// TestJoined: messages that are joined, and those whose parent is missing, say so.
func TestJoined(t *testing.T) {
	s := newSpace(t)
	file := `{"id":"s1","created_at":"2026-01-01T00:00:00+00:00","last_active":"2026-01-01T00:00:00+00:00","metadata":{"title":"Imported"},"messages":[
{"id":"m1","role":"user","content":"a","metadata":{"parent_id":"gone"}},
{"id":"m2","role":"assistant","content":"b","metadata":{}},
{"id":"m3","role":"user","content":"c","metadata":{"parent_id":"lost","bough":{"joined":"m2"}}},
{"id":"m4","role":"assistant","content":"d","metadata":{}}]}`
	if err := os.MkdirAll(filepath.Join(s.Dir(), "conversations"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir(), "conversations", "s1.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s.check("joined", "s1", "#Imported a<Imported(parent missing) b<a c~b(joined: parent missing) d<c")
}

// TestDamage: a conversation that cannot be read does not hide the others.
func TestDamage(t *testing.T) {
	s := newSpace(t)
	trip := s.new("Trip")
	s.say("a")
	train := s.branch("a", "Train")
	s.say("b")
	damage := func(id string) {
		t.Helper()
		path := filepath.Join(s.Dir(), "conversations", id+".json")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// The id of the message is damaged, its length stays.
		if err := os.WriteFile(path, []byte(strings.Replace(string(data), `"role"`, `"role\x`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(train)
	g := s.load("", treegraph.Options{})
	if len(g.Unreadable) > 1 || strings.Contains(graph(g), "b") || !strings.Contains(graph(g), "#Trip a<Trip") {
		t.Errorf("the graph is %s, %v", graph(g), g.Unreadable)
	}
	damage(trip)
	if g, err := treegraph.Load(t.Context(), s.Workspace, trip, treegraph.Options{}); err == nil {
		t.Errorf("nothing can be read, and the graph is %s", graph(g))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := treegraph.Load(ctx, s.Workspace, "", treegraph.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context returns %v", err)
	}
}

// TestPenguin: Penguin's checkpoints are marks, and those that it makes by itself are
// automatic.
func TestPenguin(t *testing.T) {
	s := newSpace(t)
	if err := os.CopyFS(s.Dir(), fixtures.Penguin()); err != nil {
		t.Fatal(err)
	}
	marks := map[treepicture.MarkKind]int{}
	for _, n := range s.load("", treegraph.Options{}).Nodes {
		for _, m := range n.Marks {
			marks[m.Kind]++
		}
	}
	if marks[treepicture.Checkpoint] == 0 || marks[treepicture.AutoCheckpoint] == 0 {
		t.Errorf("the marks are %v", marks)
	}
}

// TestLoadSubAgents: the conversation of a sub-agent is below the call that began it, also with a
// copy of messages of the conversation above, and with its own branches.
func TestLoadSubAgents(t *testing.T) {
	s := newSpace(t)
	codex := func(name string) string {
		return filepath.Join("..", "..", "convert", "testdata", "codex", name)
	}
	report := must[*imports.Report](s)(s.Import(t.Context(), []string{codex("spawns.jsonl"), codex("subagent.jsonl")}, imports.Options{}))
	if len(report.Imported) != 2 {
		t.Fatalf("imported %v", report.Imported)
	}
	got := graph(s.load("", treegraph.Options{}))
	const call = `spawn_agent({"message":"Check the roof"})`
	for _, want := range []string{"'Fix the house I look.< " + call + "<I look.", " @" + call + "'Fix the house I look.< Check the roof<I look. It leaks.<Check the roof"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
