package treerows_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/treerows"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/imports"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(testsize.LazyGC(m)).Run()) }

// A space is a workspace whose messages are their texts.
type space struct {
	*workspace.Workspace
	t   testing.TB
	ids map[string]string // the message with a text, the session with a title
}

func newSpace(t testing.TB) *space {
	t.Helper()
	w, err := workspace.Open(context.Background(), t.TempDir(), &workspace.Options{Limit: 6})
	if err != nil {
		t.Fatal(err)
	}
	return &space{w, t, map[string]string{}}
}

// do makes changes, one a word: "new:T" a conversation, "T" a message of a person at the head,
// ">T" one of the assistant, "@T" the head to a message, "+T:N" a checkpoint, "+T:" an
// automatic one, "=T:N" a branch, "!T:L" a bookmark, "restore:N", "rm:N", "call" a tool call
// with its result.
func (s *space) do(changes string) {
	s.t.Helper()
	ctx := s.t.Context()
	for _, word := range strings.Fields(changes) {
		op, arg := word[:1], word[1:]
		name, label, _ := strings.Cut(arg, ":")
		var err error
		switch verb, of, _ := strings.Cut(word, ":"); {
		case verb == "new":
			var e *workspace.Entry
			if e, err = s.New(ctx, of); err == nil {
				s.ids[of] = e.ID
			}
		case verb == "restore":
			_, err = s.Restore(ctx, s.ids[of])
		case verb == "rm":
			_, err = s.Remove(ctx, s.ids[of], workspace.RemoveOptions{Force: true})
		case verb == "call":
			if _, err = s.Append(ctx, workspace.Append{Calls: []model.Call{{ID: "c1", Name: "Read", Arguments: "{}"}}}); err == nil {
				_, err = s.Append(ctx, workspace.Append{CallID: "c1", Tool: "Read", Text: "result"})
			}
		case op == "@":
			_, err = s.Rewind(ctx, s.ids[arg], checkpoint.CutOptions{})
		case op == "+":
			var snap *workspace.Snapshot
			if snap, err = s.Checkpoint(ctx, s.ids[name], workspace.SnapshotOptions{Name: label, Auto: label == ""}); err == nil {
				s.ids[label] = snap.ID
			}
		case op == "=":
			var snap *workspace.Snapshot
			if snap, err = s.Branch(ctx, s.ids[name], workspace.SnapshotOptions{Name: label}); err == nil {
				s.ids[label] = snap.ID
			}
		case op == "!":
			_, err = s.Bookmark(ctx, s.ids[name], label, workspace.BookmarkOptions{})
		default:
			a := workspace.Append{Text: strings.TrimPrefix(word, ">"), Role: "user"}
			if op == ">" {
				a.Role = "assistant"
			}
			var m *workspace.AppendResult
			if m, err = s.Append(ctx, a); err == nil {
				s.ids[a.Text] = m.Message
			}
		}
		if err != nil {
			s.t.Fatalf("%s: %v", word, err)
		}
	}
}

// source reads the workspace, with the messages of the named conversations.
func (s *space) source(loaded ...string) treerows.Source {
	s.t.Helper()
	ctx := s.t.Context()
	src := treerows.Source{Messages: map[string]*workspace.MessageTree{}}
	var err error
	if src.Forest, err = s.Tree(ctx, ""); err != nil {
		s.t.Fatal(err)
	}
	if src.Head, err = s.Head(ctx); err != nil {
		s.t.Fatal(err)
	}
	labels, err := s.Bookmarks(ctx, workspace.BookmarksOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	src.Bookmarks = labels.Bookmarks
	for _, name := range loaded {
		id := s.ids[name]
		if src.Messages[id], err = s.MessageTree(ctx, id, session.ReadOptions{}); err != nil {
			s.t.Fatal(err)
		}
	}
	return src
}

var signs = map[treerows.Kind]string{
	treerows.Session: "", treerows.Copy: "=", treerows.Checkpoint: "+", treerows.Fork: "Y", treerows.Branch: "/", treerows.Bookmark: "!", treerows.Message: "-",
}

// text formats rows: each with a dot for each level below the first, a sign of its kind, its
// title and marks. ">" can be expanded, "v" is.
func text(rows []treerows.Row) string {
	var list []string
	for _, r := range rows {
		s := strings.Repeat(".", r.Level-1) + signs[r.Kind] + strings.ReplaceAll(r.Title, " ", "_")
		for _, mark := range []struct {
			has  bool
			sign string
		}{{r.Expandable && !r.Expanded, ">"}, {r.Expanded, "v"}, {r.Head, "*"}, {r.AboveHead, "^"}, {r.Orphaned, "?"}, {r.Auto, "~"}, {r.Match, "="}} {
			if mark.has {
				s += mark.sign
			}
		}
		for _, label := range r.Labels {
			s += "[" + label + "]"
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

func (s *space) check(about string, src treerows.Source, o treerows.Options, want string) {
	s.t.Helper()
	rows := treerows.Rows(src, o)
	if got := text(rows); got != want {
		s.t.Errorf("%s: the rows are\n%s, want\n%s", about, got, want)
	}
	checkRows(s.t, rows)
}

// checkRows: the ids are unique, each row is below its parent, and positions count.
func checkRows(t testing.TB, rows []treerows.Row) {
	t.Helper()
	ids := map[string]bool{}
	below := map[int]int{}
	for i, r := range rows {
		if ids[r.ID] {
			t.Errorf("two rows have the id %s", r.ID)
		}
		ids[r.ID] = true
		if r.Parent >= i || (r.Parent < 0) != (r.Level == 1) || r.Parent >= 0 && (rows[r.Parent].Level != r.Level-1 || !rows[r.Parent].Expanded) {
			t.Errorf("row %d, %s, has level %d and the parent %d", i, r.ID, r.Level, r.Parent)
		}
		if below[r.Parent]++; r.Position != below[r.Parent] {
			t.Errorf("row %s has position %d, want %d", r.ID, r.Position, below[r.Parent])
		}
	}
	for _, r := range rows {
		if r.Siblings != below[r.Parent] {
			t.Errorf("row %s has %d siblings, want %d", r.ID, r.Siblings, below[r.Parent])
		}
	}
}

func TestRows(t *testing.T) {
	s := newSpace(t)
	s.check("nothing", s.source(), treerows.Options{}, "")
	s.do("new:Other x new:Trip a >b c >d @b c2 >d2 !b:here +d:Kept +c: =c2:Train e =e:Night f")
	trip := map[string]bool{"session/" + s.ids["Trip"]: true}
	closed := map[string]bool{"session/" + s.ids["Trip"]: false}
	s.check("the way to the head is open", s.source(), treerows.Options{}, "Tripv^ .+Kept .=Trainv^ ..=Night>* .!here Other")
	s.check("unless it is closed", s.source(), treerows.Options{Open: closed}, "Trip>^ Other")
	outline := "Tripv^ .!here .Ybv^ ../c2v^ ...=Trainv^ ....=Night>* .+Kept Other"
	s.check("with messages, what belongs to them is there", s.source("Trip"), treerows.Options{Open: trip}, outline)
	s.check("all", s.source("Trip"), treerows.Options{Filter: treerows.All},
		"Tripv^ .-a .Ybv^[here] ../c2v^ ...=Trainv^ ....=Night>* ...-d2 .-c .+Trip_(checkpoint)~ .-d .+Kept Other")
	s.check("people", s.source("Trip"), treerows.Options{Filter: treerows.People}, "Tripv^ .-a .!here .Ybv^ ../c2v^ ...=Trainv^ ....=Night>* .-c .+Kept Other")
	s.check("forks", s.source("Trip"), treerows.Options{Filter: treerows.Forks}, "Tripv^ .Ybv^ ../c2v^ ...=Trainv^ ....=Night>* Other")
	s.check("bookmarks", s.source("Trip"), treerows.Options{Filter: treerows.Bookmarks}, "Tripv^ .!here")
	s.check("a text", s.source("Trip"), treerows.Options{Text: " NIGHT"}, "Tripv^ .Ybv^ ../c2v^ ...=Trainv^ ....=Night*=")
	s.check("a label", s.source("Trip"), treerows.Options{Text: "her", Filter: treerows.All}, "Tripv^ .Yb^=[here] Other=")
	s.check("a root", s.source("Trip"), treerows.Options{Root: "session/" + s.ids["Train"], Open: closed}, "=Trainv^ .=Night>*")
	s.check("an unknown root", s.source(), treerows.Options{Root: "session/x"}, "")
	s.do("rm:Train")
	s.check("a deleted origin", s.source("Trip"), treerows.Options{}, "Tripv^ .!here .Ybv ../c2 .+Kept .=Night>*? Other")
}

// TestMessages: a copy has the messages of its own only, tools can be hidden, and a
// conversation of several files is one.
func TestMessages(t *testing.T) {
	s := newSpace(t)
	s.do("new:Trip a call >b =b:Train c call >d !c:mine")
	all := treerows.Options{Filter: treerows.All, Open: map[string]bool{"session/" + s.ids["Trip"]: true}}
	s.check("all", s.source("Trip", "Train"), all, "Tripv^ .-a .-Read({}) .-result .-b .=Trainv^ ..-c[mine] ..-Read({}) ..-result ..-d*")
	all.Filter = treerows.NoTools
	s.check("without tools", s.source("Trip", "Train"), all, "Tripv^ .-a .-b .=Trainv^ ..-c[mine] ..-d*")
	s.do("@c c2")
	s.check("a fork in a copy", s.source("Trip", "Train"), treerows.Options{}, "Tripv^ .=Trainv^ ..!mine ..Ycv^ .../c2*")
	s.do("@a")
	for i := range 9 {
		s.do(fmt.Sprintf("long%d", i))
	}
	rows := treerows.Rows(s.source("Trip"), all)
	if rows[0].Count != 13 {
		t.Errorf("the conversation has %d messages, want 13", rows[0].Count)
	}
	fork := rows[slices.IndexFunc(rows, func(r treerows.Row) bool { return r.Kind == treerows.Fork })]
	if fork.Message != s.ids["a"] || fork.Leaf != s.ids["long8"] || fork.Count != 2 || fork.Session != s.ids["Trip"] || fork.Role != "user" {
		t.Errorf("the fork is %+v", fork)
	}
}

// TestHeadInCheckpoint: the automatic checkpoint with the head is shown.
func TestHeadInCheckpoint(t *testing.T) {
	s := newSpace(t)
	s.do("new:Trip a >b +a:")
	s.check("hidden", s.source("Trip"), treerows.Options{}, "Trip*")
	s.do("restore:")
	s.check("shown", s.source("Trip"), treerows.Options{Filter: treerows.Forks}, "Tripv^ .+Trip_(checkpoint)*~")
}

// TestDeletion: a row says that its conversation cannot be deleted if, and only if, the
// workspace refuses it.
func TestDeletion(t *testing.T) {
	s := newSpace(t)
	s.do("new:Trip a b c d e f g h +h:Kept +g: =g:Train i new:Other x")
	src := s.source()
	src.Agents = map[string]string{s.ids["Other"]: "ada"}
	rows := treerows.Rows(src, treerows.Options{Filter: treerows.All, Open: map[string]bool{"session/" + s.ids["Trip"]: true}})
	for _, r := range rows {
		_, err := s.Remove(t.Context(), r.Session, workspace.RemoveOptions{Line: true})
		if err == nil {
			if _, err := s.Undo(t.Context(), undoLast()); err != nil {
				t.Fatal(err)
			}
		}
		if r.Delete.Agent != "" {
			if r.Session != s.ids["Other"] || r.Delete.Refused != treerows.OwnedByAgent {
				t.Errorf("%s: %+v", r.Title, r.Delete)
			}
			continue
		}
		if (err != nil) != (r.Delete.Refused == treerows.HasCopies) {
			t.Errorf("%s: %+v, but Remove returns %v", r.Title, r.Delete, err)
		}
		for _, by := range r.Delete.By {
			if !strings.Contains(err.Error(), by.ID) {
				t.Errorf("%s depends on %s, not in %v", by.ID, r.Title, err)
			}
		}
	}
	if got := text(rows); got != "Other* Tripv .+Kept .+Trip_(checkpoint)~ .=Train>" {
		t.Errorf("the rows are %s", got)
	}
	if d := rows[1].Delete; len(d.By) != 2 || d.By[0].Title != "Kept" || d.By[1].Title != "Train" {
		t.Errorf("the deletion of Trip is %+v", d)
	}
}

// TestSubAgents: the conversation of a sub-agent is below the call that began it, and the other one
// can be deleted.
func TestSubAgents(t *testing.T) {
	s := newSpace(t)
	dir := t.TempDir()
	for name, data := range map[string]string{
		"top.jsonl": `{"parentUuid":null,"sessionId":"s","uuid":"u","type":"user","message":{"role":"user","content":"Ask around"}}
{"parentUuid":"u","sessionId":"s","uuid":"c","type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Task","input":{}}]}}
{"parentUuid":"c","sessionId":"s","uuid":"r","type":"user","toolUseResult":{"agentId":"a"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"Dust"}]}}
{"parentUuid":"r","sessionId":"s","uuid":"e","type":"assistant","message":{"role":"assistant","content":"There is dust."}}
`,
		"agent-a.jsonl": `{"parentUuid":null,"isSidechain":true,"agentId":"a","sessionId":"s","uuid":"x","type":"user","message":{"role":"user","content":"Look around"}}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := s.Import(t.Context(), []string{dir}, imports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Imported {
		s.ids[r.Title] = string(r.Session)
	}
	top := "session/" + s.ids["Ask around"]
	s.check("not read", s.source(), treerows.Options{Open: map[string]bool{top: true}}, "Ask_aroundv .Look_around")
	src := s.source("Ask around")
	o := treerows.Options{Open: map[string]bool{top: true}}
	s.check("read", src, o, "Ask_aroundv .Look_around")
	rows := treerows.Rows(src, o)
	if d := rows[0].Delete; d.Refused != "" {
		t.Errorf("the deletion is %+v", d)
	}
	if _, err := s.Remove(t.Context(), s.ids["Ask around"], workspace.RemoveOptions{}); err != nil {
		t.Error(err)
	}
	s.check("removed", s.source(), treerows.Options{}, "Look_around")
}

// TestLarge: the rows of a conversation of 10,000 messages with 1,000 forks are not deep.
func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	forest := &workspace.Forest{Roots: []workspace.TreeEntry{{Entry: workspace.Entry{ID: "s", Kind: session.Root, Title: "Large", MessageCount: 10_000}}}}
	tree := &workspace.MessageTree{Session: "s"}
	add := func(parent, count int) {
		i := len(tree.Runs)
		run := workspace.StraightRun{Count: count}
		if parent >= 0 {
			run.Parent = &parent
		}
		for k := range count {
			id := fmt.Sprintf("m%d.%d", i, k)
			run.Messages = append(run.Messages, session.Message{ID: id, Raw: fmt.Appendf(nil, `{"id":%q,"role":"user","content":%q}`, id, id)})
		}
		run.First, run.Last = run.Messages[0].ID, run.Messages[count-1].ID
		tree.Runs = append(tree.Runs, run)
	}
	add(-1, 5)
	open := []int{0}
	for range 1_000 {
		k := r.IntN(len(open))
		at := open[k]
		open = slices.Delete(open, k, k+1)
		for range 2 {
			open = append(open, len(tree.Runs))
			add(at, 5)
		}
	}
	src := treerows.Source{Forest: forest, Messages: map[string]*workspace.MessageTree{"s": tree}}
	rows := treerows.Rows(src, treerows.Options{Filter: treerows.All, Open: map[string]bool{"session/s": true}})
	if len(rows) != 1+2_001*5 {
		t.Errorf("%d rows", len(rows))
	}
	checkRows(t, rows)
	const deep = 2 + 2*12 // a branch has at most half of the messages
	for _, row := range rows {
		if row.Level > deep {
			t.Fatalf("row %s has level %d", row.ID, row.Level)
		}
	}
}

func undoLast() history.UndoOptions { return history.UndoOptions{} }
