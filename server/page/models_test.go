package page

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/compare"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/search"
	"github.com/bough-dev/bough/workspace/trash"
	"golang.org/x/net/html"
)

func TestChunksOf(t *testing.T) {
	for _, c := range []struct {
		total int
		want  []span
	}{
		{0, nil}, {1, []span{{0, 1}}}, {50, []span{{0, 50}}}, {51, []span{{0, 1}, {1, 51}}},
		{100, []span{{0, 50}, {50, 100}}}, {123, []span{{0, 50}, {50, 73}, {73, 123}}},
	} {
		if got := chunksOf(c.total); !reflect.DeepEqual(got, c.want) {
			t.Errorf("chunksOf(%d) = %v, want %v", c.total, got, c.want)
		}
	}
}

// runsOf returns a tree. Each run is FIRST<PARENT, where the parent is the index of a run.
func runsOf(count int, parents ...int) *workspace.MessageTree {
	t := &workspace.MessageTree{Session: "s"}
	at := time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	inner := map[int]bool{}
	for i, p := range parents {
		r := workspace.StraightRun{First: fmt.Sprint("f", i), Last: fmt.Sprint("l", i), Count: count, Depth: count, Text: fmt.Sprint("text ", i), LastActive: at.Add(time.Duration(i) * time.Minute)}
		if p >= 0 {
			r.Parent, r.Depth = &p, t.Runs[p].Depth+count
			inner[p] = true
		}
		t.Runs = append(t.Runs, r)
	}
	for i := range t.Runs {
		t.Runs[i].Leaf = !inner[i]
	}
	return t
}

func TestForks(t *testing.T) {
	p := place(runsOf(2, -1, 0, 0, 2, 2, -1))
	f := p.fork("f2")
	if f == nil || f.At != 2 || f.Count != 2 || f.Next != "" || f.Prev != "/c/s?leaf=l1#m-f1" || len(f.Siblings) != 2 {
		t.Fatalf("the fork is %+v", f)
	}
	if s := f.Siblings[1]; !s.Current || s.Href != "/c/s?leaf=l4#m-f2" || s.Below != 4 || s.Words != "text 2" {
		t.Errorf("the sibling is %+v", s)
	}
	for _, id := range []string{"l0", "l2", "nothing"} {
		if p.fork(id) != nil {
			t.Errorf("%s is at a fork", id)
		}
	}
	if f := p.fork("f0"); f == nil || f.Count != 2 { // two beginnings
		t.Errorf("the fork of the roots is %+v", f)
	}
	for _, c := range []struct{ path, want string }{{"f0 l0", "l4"}, {"f0 l0 f2 x", "l4"}, {"f0 l0 f3", "l3"}, {"f0 l0 f1", "l1"}, {"", ""}} {
		if got := p.tip(strings.Fields(c.path)); got != c.want {
			t.Errorf("the tip below %q is %q, not %q", c.path, got, c.want)
		}
	}
	// The default leaf wins, and what was replaced is no leaf.
	tree := runsOf(1, -1, 0, 0, 0)
	tree.Runs[1].Newest, tree.Runs[3].Leaf = true, false
	if got := place(tree).tip([]string{"f0"}); got != "l1" {
		t.Errorf("the tip is %s", got)
	}
	if far := place(runsOf(60, -1, 0, 0)).fork("f1"); !strings.Contains(far.Next, "at=f2") {
		t.Errorf("the address of a message that is not loaded by itself is %s", far.Next)
	}
}

// TestManySiblings: a fork lists those around the current one.
func TestManySiblings(t *testing.T) {
	parents := []int{-1}
	for range 100 {
		parents = append(parents, 0)
	}
	p := place(runsOf(1, parents...))
	for _, c := range []struct{ at, first, last int }{{1, 1, 9}, {50, 46, 54}, {100, 92, 100}} {
		f := p.fork(fmt.Sprint("f", c.at))
		if f.At != c.at || f.Siblings[0].Number != c.first || f.Siblings[len(f.Siblings)-1].Number != c.last || f.Hidden != 100-maxSiblings {
			t.Errorf("fork %d lists %d to %d", c.at, f.Siblings[0].Number, f.Siblings[len(f.Siblings)-1].Number)
		}
	}
}

func TestLocation(t *testing.T) {
	for want, l := range map[string]location{
		"/c/s":                      {Session: "s"},
		"/k/s":                      {Checkpoint: true, Session: "s"},
		"/c/a%20b?leaf=x%26y#m-x&y": {Session: "a b", Leaf: "x&y", Anchor: "x&y"},
		"/c/s?at=m&from=50&leaf=l":  {Session: "s", Leaf: "l", At: "m", From: 50},
		"/c/s?at=%3Ca%3E#m-%3Ca%3E": {Session: "s", At: "<a>", Anchor: "<a>"},
	} {
		if got := l.String(); got != want {
			t.Errorf("%+v is %s, not %s", l, got, want)
		}
	}
}

// TestDifferences: the segments are the texts again, and those that did not change are the
// same in both.
func TestDifferences(t *testing.T) {
	join := func(list []segment, all bool) string {
		var b strings.Builder
		for _, s := range list {
			if all || !s.Changed {
				b.WriteString(s.Text)
			}
		}
		return b.String()
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func() string {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString([]string{"the ", "sea", ", ", "train ", "\n", "é", "日本 ", "a_b", "\x80", "."}[random.IntN(10)])
		}
		return b.String()
	}
	for range 300 {
		a, b := pick(), pick()
		x, y, alike := differences(a, b)
		if join(x, true) != a || join(y, true) != b || join(x, false) != join(y, false) {
			t.Fatalf("%q and %q have the segments %v and %v", a, b, x, y)
		}
		if alike < 0 || alike > 1 || a == b && a != "" && alike != 1 {
			t.Fatalf("%q and %q are %v alike", a, b, alike)
		}
	}
	x, y, _ := differences("take the train to the sea", "take the bus to the sea")
	want := []segment{{"take the ", false}, {"train", true}, {" to the sea", false}}
	if !reflect.DeepEqual(x, want) || y[1] != (segment{"bus", true}) {
		t.Errorf("the segments are %v and %v", x, y)
	}
	if x, _, alike := differences(strings.Repeat("a", maxMarked+1), "a"); x != nil || alike != 0 {
		t.Error("a text that is too long is compared")
	}
}

func message1(role, text string) session.Message {
	raw, _ := json.Marshal(map[string]any{"id": text, "role": role, "content": text})
	return session.Message{ID: text, Raw: raw}
}

// TestMarked: the differences of long texts by the same author are marked.
func TestMarked(t *testing.T) {
	long := strings.Repeat("The train goes along the water. ", 8)
	other := strings.Repeat("Nothing of that kind, at all! ", 8)
	for _, c := range []struct {
		name   string
		a, b   session.Message
		marked bool
	}{
		{"similar", message1("assistant", long+"Yes."), message1("assistant", long+"No."), true},
		{"short", message1("assistant", "Yes."), message1("assistant", "No."), false},
		{"equal", message1("assistant", long), message1("assistant", long), false},
		{"other authors", message1("user", long+"Yes."), message1("assistant", long+"No."), false},
		{"unlike", message1("user", long), message1("user", other), false},
	} {
		r := newRenderer("s", time.Now())
		x, y := []*comparedMessage{r.compared(c.a)}, []*comparedMessage{r.compared(c.b), r.compared(c.b)}
		markSides(x, y, []compare.Message{{Message: c.a}}, []compare.Message{{Message: c.b}, {Message: c.b}})
		if marked := x[0].Segments != nil && y[0].Segments != nil; marked != c.marked || y[1].Segments != nil {
			t.Errorf("%s: marked is %v, not %v", c.name, marked, c.marked)
		}
	}
}

// TestLogRows: a group is one row, with the undo beside what it would undo.
func TestLogRows(t *testing.T) {
	args := func(pairs ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	log := []history.Operation{
		{Seq: 8, Verb: "undo", Undoes: 7, Args: args("verb", "rename"), Sessions: []string{"s"}},
		{Seq: 7, Verb: "rename", Args: args("title", "B"), Sessions: []string{"s"}, Undone: true},
		{Seq: 6, Verb: "external", Sessions: []string{"s"}},
		{Seq: 5, Verb: "checkpoint", Args: map[string]any{"auto": true}, Sessions: []string{"s"}},
		{Seq: 4, Verb: "import", Group: 2, Sessions: []string{"c"}},
		{Seq: 3, Verb: "import", Group: 2, Sessions: []string{"b"}},
		{Seq: 2, Verb: "import", Group: 2, Sessions: []string{"a"}},
		{Seq: 1, Verb: "external"},
	}
	rows := logRows(log, map[string]string{"s": "Lisbon"}, 4, time.Now())
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%d %s %s undone=%v undo=%d redo=%d", r.Seq, r.Text, r.Mark, r.Undone, r.Undo, r.Redo))
	}
	want := []string{
		"8 Undid: renamed to “B”  undone=false undo=0 redo=8",
		"7 Renamed to “B” undone undone=true undo=0 redo=0",
		"6 Another program changed “Lisbon”  undone=false undo=0 redo=0",
		"5 Saved checkpoint “Lisbon” automatic undone=false undo=0 redo=0",
		"4 Imported 3 conversations  undone=false undo=4 redo=0",
		"1 Another program changed the workspace  undone=false undo=0 redo=0",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the rows are\n%s", strings.Join(got, "\n"))
	}
	var linked []events.Seq // undone changes, groups, and what is gone have no link
	for _, r := range rows {
		if r.Href == "/c/s" {
			linked = append(linked, r.Seq)
		}
	}
	if want := []events.Seq{8, 6, 5}; !reflect.DeepEqual(linked, want) {
		t.Errorf("the rows with a link are %d, want %d", linked, want)
	}
}

func TestTrashRows(t *testing.T) {
	at := time.Now()
	files := []trash.File{
		{Session: "removed", Title: "A", Bytes: 2_500, RemovedAt: at}, {Session: "undone", RemovedAt: at, File: "conversations/undone.json"},
		{File: "conversations/session_index.json", RemovedAt: at}, {Session: "removed", Title: "A", RemovedAt: at}, {Session: "pruned", RemovedAt: at},
	}
	log := []history.Operation{
		{Seq: 4, Verb: "undo", Undoes: 1, Sessions: []string{"undone"}}, {Seq: 3, Verb: "prune", Sessions: []string{"pruned"}},
		{Seq: 2, Verb: "rm", Sessions: []string{"removed"}}, {Seq: 1, Verb: "new", Sessions: []string{"undone"}},
	}
	var restores []bool
	for _, r := range trashRows(files, log, at) {
		restores = append(restores, r.Restores)
		if r.Title == "" || r.Restores != (r.Why == "") {
			t.Errorf("the row is %+v", r)
		}
	}
	if want := []bool{true, false, false, false, false}; !reflect.DeepEqual(restores, want) {
		t.Errorf("%v can be restored, not %v", restores, want)
	}
}

func TestSegmentsOf(t *testing.T) {
	for _, c := range []struct {
		text  string
		spans [][2]int
		want  []segment
	}{
		{"", nil, nil},
		{"ferry", nil, []segment{{"ferry", false}}},
		{"é ferry here", [][2]int{{2, 7}}, []segment{{"é ", false}, {"ferry", true}, {" here", false}}},
		{"ab", [][2]int{{0, 1}, {0, 9}, {-3, 1}, {5, 2}}, []segment{{"a", true}, {"b", true}}},
	} {
		if got := segmentsOf(c.text, c.spans); !reflect.DeepEqual(got, c.want) {
			t.Errorf("segmentsOf(%q, %v) = %v", c.text, c.spans, got)
		}
	}
}

// TestSnippet: the text around a match is plain, unless the match is in what a reader does not see.
func TestSnippet(t *testing.T) {
	for _, c := range []struct {
		m    search.Match
		want []segment
	}{
		{search.Match{Snippet: "**by ferry** `now`", Spans: [][2]int{{5, 10}}}, []segment{{"by ", false}, {"ferry", true}, {" now", false}}},
		{search.Match{Snippet: "[map](https://ferry.example)", Spans: [][2]int{{14, 19}}}, []segment{{"[map](https://", false}, {"ferry", true}, {".example)", false}}},
	} {
		if got := snippetOf(c.m); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: %v", c.m.Snippet, got)
		}
	}
}

func TestFormats(t *testing.T) {
	now := time.Date(2026, 5, 4, 9, 30, 0, 0, time.Local)
	for since, want := range map[time.Duration]string{
		0: "now", 59 * time.Second: "now", 3 * time.Minute: "3 min ago", 5 * time.Hour: "5 h ago", 50 * time.Hour: "2 d ago",
		15 * 24 * time.Hour: "2 w ago", 60 * 24 * time.Hour: "2 mo ago", 800 * 24 * time.Hour: "2 y ago", -3 * time.Hour: "in 3 h",
	} {
		if got := ago(now.Add(-since), now); got != want {
			t.Errorf("%v ago is %q, not %q", since, got, want)
		}
	}
	for at, want := range map[time.Time]string{
		{}: "", now: "09:30", now.AddDate(0, 0, -1): "3 May, 09:30", now.AddDate(-1, 0, 0): "4 May 2025, 09:30",
	} {
		if got := clock(at, now); got != want {
			t.Errorf("%v is %q, not %q", at, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1500: "1.5 kB", 2e6: "2.0 MB", 3e9: "3.0 GB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d is %q, not %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0 s", 400 * time.Millisecond: "0.4 s", 9960 * time.Millisecond: "10.0 s", 59700 * time.Millisecond: "1 min", 3 * time.Minute: "3 min",
		80 * time.Second: "1 min 20 s", 2*time.Hour + 5*time.Second: "2 h", 25*time.Hour + 3*time.Minute: "25 h 3 min",
	} {
		if got := durationText(d); got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
	for file, want := range map[string]string{
		"head.json": "Position of the head", "bookmarks.json": "Bookmarks", "agents/ada.json": "Agent ada", "conversations/session_index.json": "List of conversations",
		"conversations/x.json": "x.json", "packed/a.zst": "a.zst",
	} {
		if got := fileText(file); got != want {
			t.Errorf("%s is %q, not %q", file, got, want)
		}
	}
	if got := count(1234567, "copy"); got != "1,234,567 copies" {
		t.Errorf("count returns %q", got)
	}
}

// TestExplorationStates holds the state of an exploration in words.
func TestExplorationStates(t *testing.T) {
	one := func(change func(*explore.Exploration)) *explorationPage {
		e := &explore.Exploration{ID: "e", Session: "s", Node: "m", Method: explore.Best, Branches: []explore.Branch{{ID: "b", Strategy: "one", Status: explore.Completed, Result: "yes", Metrics: json.RawMessage(`{"a":1,"b":[2]}`)}}}
		change(e)
		return explorationPageOf(e, time.Now())
	}
	b := "b"
	for _, c := range []struct {
		change    func(*explore.Exploration)
		state     string
		adoptable bool
	}{
		{func(e *explore.Exploration) {}, "finished", true},
		{func(e *explore.Exploration) { e.Adopted = &b }, "adopted", true},
		{func(e *explore.Exploration) { e.Active = []string{"b"}; e.Branches[0].Status = explore.Executing }, "trying 1", false},
		{func(e *explore.Exploration) { e.Branches[0].Status = explore.Pending }, "not finished", false},
	} {
		p := one(c.change)
		if p.State != c.state || p.Branches[0].Adoptable != c.adoptable || len(p.Branches[0].Metrics) != 2 {
			t.Errorf("the page is %+v", p)
		}
	}
	for want, change := range map[string]func(*explore.Exploration){
		"the best result is going to be selected": func(*explore.Exploration) {},
		"the results were combined":               func(e *explore.Exploration) { e.Evaluation = &explore.Evaluation{Strategy: explore.Synthesis} },
		"the best result was selected": func(e *explore.Exploration) {
			e.Evaluation = &explore.Evaluation{Strategy: explore.Consensus, Fallback: explore.Best}
		},
	} {
		if got := one(change).Facts[1]; got != want {
			t.Errorf("the method is %q, not %q", got, want)
		}
	}
}

// TestAgentModes: the input of a running agent steers or queues, and the queue can be
// delivered if it is held.
func TestAgentModes(t *testing.T) {
	a := &agents.Agent{Agent: &agent.Agent{Name: "guide", Model: "m"}}
	tree := agents.Tree{ID: "s", Title: "Trams", MessageCount: 3, LeafCount: 2, Current: true}
	other := agents.Tree{ID: "o", Name: "Boats"}
	queue := []turn.Entry{{ID: "1", Mode: turn.FollowUp, Content: "<b>And</b> then?", State: turn.Held}}
	steers := []turn.Entry{{ID: "2", Mode: turn.Steer, Content: "Stop.", State: turn.Waiting}}
	marks := []bookmark.Bookmark{{Session: "s", Message: "m", Label: "L"}, {Session: "s", Message: "n", Label: "N", Summary: "All of it", Scope: bookmark.Subtree}}
	for _, c := range []struct {
		state turn.State
		modes string
		says  []string
	}{
		{turn.Idle, "send", []string{"idle", "Message to guide"}},
		{turn.Streaming, "steer follow-up", []string{"answering", "Steer guide, or follow up", "Steer interrupts it; follow up waits until it has finished."}},
		{turn.InTool, "steer follow-up", []string{"running a tool"}},
		{turn.Confirming, "steer follow-up", []string{"waiting for a confirmation"}},
	} {
		p := agentPageOf(a, &agents.Snapshot{Session: "s", Turn: turn.Turn{State: c.state, Error: "it failed"}, FollowUpQueue: queue, SteerQueue: steers, Bookmarks: marks}, []agents.Tree{tree, other}, time.Now())
		p.Crumbs = append(p.Crumbs, p.lastBookmark(&conversation{Chunks: []chunk{{Messages: []message{{ID: "m", Link: "/x"}, {ID: "x"}}}}}, marks)...)
		text, err := execute("agent", p)
		if err != nil {
			t.Fatal(err)
		}
		root, err := html.Parse(strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		d := &drawn{t, "agent", string(text), root}
		d.check()
		d.contains(append(c.says, "it failed", "<b>And</b> then?", "Stop.", "held", "Deliver held messages", "Trams", "All of it", "Boats", "Switch to it", "3 messages · 2 branches")...)
		var modes []string
		for _, b := range d.find(func(n *html.Node) bool { return n.Data == "button" && has(n, "data-mode") }) {
			modes = append(modes, attr(b, "data-mode"))
			if attr(b, "title") == "" || words(b) == "" {
				t.Errorf("the button %s has no title or no label", attr(b, "data-mode"))
			}
		}
		if strings.Join(modes, " ") != c.modes {
			t.Errorf("%s: the modes are %v, not %s", c.state, modes, c.modes)
		}
		if at := d.with("aria-current", "location"); len(at) != 1 || words(at[0]) != "L" {
			t.Errorf("the last crumb is not the bookmark: %d", len(at))
		}
	}
}
