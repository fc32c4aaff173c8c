package workspace_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

func (s *space) agent(name string) *agents.Agent {
	s.t.Helper()
	a, err := s.Agent(name).Create(context.Background(), agents.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// tree makes an empty tree for an agent and returns its id.
func (s *space) tree(name, title string) string {
	s.t.Helper()
	made, err := s.Agent(name).NewTree(context.Background(), title)
	if err != nil {
		s.t.Fatal(err)
	}
	return made.Tree
}

// head returns the head of an agent.
func (s *space) head(name string) agent.Head {
	s.t.Helper()
	a, err := s.Agent(name).Info(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Head
}

// answer adds messages below the head of an agent and moves the head to the last one.
func (s *space) answer(name string, texts ...string) (ids []string) {
	s.t.Helper()
	for _, text := range texts {
		h := s.head(name)
		m := s.append(workspace.Append{Session: h.Tree, Parent: h.Node, Text: text})
		if _, err := s.Agent(name).Rewind(context.Background(), h.Tree+"/"+m.Message, checkpoint.CutOptions{}); err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, m.Message)
	}
	return ids
}

// TestAgentTrees creates an agent with three trees (an original, a branch and an empty one)
// and moves its head between them.
func TestAgentTrees(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 3)
	ctx := t.Context()
	a := s.agent("assistant")
	first := a.Head.Tree
	if a.Head.Node != "" || len(a.Trees) != 1 {
		t.Errorf("a new agent is %+v", a.Agent)
	}
	if head, err := s.Head(ctx); head != nil || err != nil {
		t.Errorf("the head of the workspace is %v, %v", head, err)
	}
	said := s.answer("assistant", "api?", "rest", "graphql?", "graphql", "more?")
	made, err := s.Agent("assistant").BranchTree(ctx, said[1], "rest", checkpoint.CutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (agent.Head{Tree: made.Tree, Node: said[1]}); s.head("assistant") != want || made.Bytes == 0 {
		t.Errorf("after a branch the head is %v, want %v", s.head("assistant"), want)
	}
	s.answer("assistant", "go on with rest")
	if got := s.texts(made.Tree); got != "api? rest go on with rest" {
		t.Errorf("the branch is %q", got)
	}
	s.tree("assistant", "")
	trees, err := s.Agent("assistant").Trees(ctx, agents.TreesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tree := range trees.Trees {
		got = append(got, fmt.Sprintf("%q %v %d/%d %v", tree.Name, tree.Root == session.ID(said[0]), tree.LeafCount, tree.MessageCount, tree.Current))
	}
	if want := []string{`"" true 1/5 false`, `"rest" true 1/3 false`, `"" false 0/0 true`}; !slices.Equal(got, want) {
		t.Errorf("the trees are %q, want %q", got, want)
	}

	// A message is looked up in the head's tree first, then in the other trees, oldest
	// first.
	for _, c := range []struct{ node, tree, at string }{
		{said[1], first, said[1]},
		{"rest/" + said[1], made.Tree, said[1]},
		{said[0], made.Tree, said[0]},
		{said[4][:13], first, said[4]},
	} {
		pos, err := s.Agent("assistant").Rewind(ctx, c.node, checkpoint.CutOptions{})
		if err != nil || pos.Head.Tree != c.tree || string(pos.Head.Node) != c.at {
			t.Errorf("rewind to %s: %+v, %v, want %s/%s", c.node, pos, err, c.tree, c.at)
		}
	}
	if got := s.texts(first); got != "api? rest graphql? graphql more?" {
		t.Errorf("after rewinds the first tree is %q", got)
	}

	// A tree without a node means the head's last position in it, else its newest leaf.
	for _, c := range []struct{ to, tree, at string }{
		{"rest", made.Tree, said[0]},
		{first, first, said[4]},
		{first + "/" + said[2], first, said[2]},
		{trees.Trees[2].ID, trees.Trees[2].ID, ""},
	} {
		pos, err := s.Agent("assistant").Switch(ctx, c.to, checkpoint.CutOptions{})
		if err != nil || pos.Head.Tree != c.tree || string(pos.Head.Node) != c.at {
			t.Errorf("switch to %s: %+v, %v, want %s/%s", c.to, pos, err, c.tree, c.at)
		}
	}
	m := s.append(workspace.Append{Session: trees.Trees[2].ID, Text: "from elsewhere"})
	pos, err := s.Agent("assistant").Switch(ctx, trees.Trees[2].ID, checkpoint.CutOptions{})
	if err != nil || string(pos.Head.Node) != m.Message {
		t.Errorf("switch to a tree that is no longer empty: %+v, %v", pos, err)
	}
	healthy(t, s)
}

func TestAgentSnapshot(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	a := s.agent("ada")
	look := func() string {
		t.Helper()
		snap, err := s.Agent("ada").Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(rawjson.Compact(snap)), a.ID, "ID")
	}
	const rest = `"bookmarks":[],"follow_up_queue":[],"steer_queue":[],"turn":{"state":"idle"},"decisions":[]}`
	if got, want := look(), `{"agent_id":"ID","session_id":"`+a.Head.Tree+`","active_branch_id":null,"head_node_id":null,`+rest; got != want {
		t.Errorf("the snapshot is\n%s\nwant\n%s", got, want)
	}
	said := s.answer("ada", "a", "b", "c")
	s.append(workspace.Append{Session: a.Head.Tree, Parent: said[0], Text: "other"})
	if _, err := s.Agent("ada").Rewind(t.Context(), said[0], checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	other := s.answer("ada", "another", "on")
	for _, ref := range []string{a.Head.Tree + "@" + other[1], s.new("Nobody's") + "@" + s.say("x")[0]} {
		if _, err := s.Bookmark(t.Context(), ref, ref[len(ref)-4:], workspace.BookmarkOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := s.Agent("ada").Snapshot(t.Context())
	if err != nil || len(snap.Bookmarks) != 1 || snap.Bookmarks[0].Message != other[1] {
		t.Errorf("the bookmarks are %+v, %v", snap.Bookmarks, err)
	}
	if _, err := s.RemoveBookmark(t.Context(), other[1][len(other[1])-4:]); err != nil {
		t.Fatal(err)
	}
	if got, want := look(), `{"agent_id":"ID","session_id":"`+a.Head.Tree+`","active_branch_id":"`+other[0]+`","head_node_id":"`+other[1]+`",`+rest; got != want {
		t.Errorf("the snapshot is\n%s\nwant\n%s", got, want)
	}
}

// TestAgentRefused: an invalid change is refused and changes nothing.
func TestAgentRefused(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	ctx := t.Context()
	ada, bob := s.agent("ada"), s.agent("bob")
	said := s.answer("ada", "a", "b")
	other := s.tree("ada", "rest")
	theirs := s.answer("bob", "x")
	s.messages("calls", `"continued_from":[]`,
		`{"id":"c1","role":"assistant","tool_calls":[{"id":"t1"}],"content":[{"type":"tool_use","id":"t1"}]}`,
		`{"id":"c2","role":"tool","tool_call_id":"t1","content":"1"}`)
	s.mend()
	switchTo := func(to string) func() error {
		return func() error {
			_, err := s.Agent("ada").Switch(ctx, to, checkpoint.CutOptions{})
			return err
		}
	}
	rewindTo := func(node string) func() error {
		return func() error {
			_, err := s.Agent("ada").Rewind(ctx, node, checkpoint.CutOptions{})
			return err
		}
	}
	branchAt := func(node, name string) func() error {
		return func() error {
			_, err := s.Agent("ada").BranchTree(ctx, node, name, checkpoint.CutOptions{})
			return err
		}
	}
	create := func(name string) func() error {
		return func() error {
			_, err := s.Agent(name).Create(ctx, agents.Options{})
			return err
		}
	}
	drop := func(name string, o workspace.RemoveOptions) func() error {
		return func() error {
			_, err := s.Remove(ctx, name, o)
			return err
		}
	}
	for _, c := range []struct {
		what string
		do   func() error
		want fault.Code
	}{
		{"a name in use", create("ada"), fault.Refused},
		{"a name that no file should have", create("../x"), fault.Usage},
		{"a tree of another agent", switchTo(bob.Head.Tree), fault.Refused},
		{"a tree without an agent", switchTo("calls"), fault.NotFound},
		{"a message of another tree", switchTo(other + "/" + said[0]), fault.NotFound},
		{"no message after the slash", switchTo("rest/"), fault.Usage},
		{"a tree that may be both", switchTo("session_"), fault.Ambiguous},
		{"no tree", switchTo(""), fault.NotFound},
		{"a message of another agent", rewindTo(theirs[0]), fault.NotFound},
		{"a missing message", rewindTo("nothing"), fault.NotFound},
		{"a branch that parts a call from its result", branchAt("calls@c1", ""), fault.ToolCut},
		{"a name that a tree has", branchAt(said[0], "rest"), fault.Refused},
		{"a name with a slash", branchAt(said[0], "a/b"), fault.Usage},
		{"rm of a tree", drop(other, workspace.RemoveOptions{}), fault.Refused},
		{"rm of the only tree", drop(bob.Head.Tree, workspace.RemoveOptions{Line: true, Force: true}), fault.Refused},
		{"a missing agent", func() error { _, err := s.Agent("eve").Remove(ctx); return err }, fault.NotFound},
		{"no agent", func() error { _, err := s.Agent("").Info(ctx); return err }, fault.NotFound},
	} {
		before := s.files()
		if err := c.do(); code(err) != c.want {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
		sameFiles(t, c.what, before, s.files())
	}
	made, err := s.Agent("ada").BranchTree(ctx, bob.Head.Tree+"@"+theirs[0], "", checkpoint.CutOptions{})
	if err != nil || s.texts(made.Tree) != "x" {
		t.Errorf("a branch of another agent's tree: %+v, %v", made, err)
	}
	for _, name := range []string{"ada", ada.ID, strings.ToUpper(ada.ID), ada.ID[:13]} {
		if a, err := s.Agent(name).Info(ctx); err != nil || a.ID != ada.ID {
			t.Errorf("%s is %+v, %v", name, a, err)
		}
	}
	healthy(t, s)
}

// TestAgentToolCut: an agent's head never separates a tool call from its result: it steps
// back, or the move is refused with Strict.
func TestAgentToolCut(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	ctx := t.Context()
	s.messages("calls", `"continued_from":[]`, `{"id":"c0","role":"user","content":"count"}`,
		`{"id":"c1","role":"assistant","tool_calls":[{"id":"t1"}],"content":[{"type":"tool_use","id":"t1"}]}`,
		`{"id":"c2","role":"tool","tool_call_id":"t1","content":"1"}`)
	s.mend()
	s.agent("ada")
	if _, err := s.Agent("ada").BranchTree(ctx, "calls@c2", "calls", checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Agent("ada").Rewind(ctx, "c1", checkpoint.CutOptions{Strict: true}); code(err) != fault.ToolCut {
		t.Errorf("rewind = %v", err)
	}
	if _, err := s.Agent("ada").Switch(ctx, "calls/c1", checkpoint.CutOptions{Strict: true}); code(err) != fault.ToolCut {
		t.Errorf("switch = %v", err)
	}
	pos, err := s.Agent("ada").Rewind(ctx, "c1", checkpoint.CutOptions{})
	if err != nil || s.head("ada").Node != "c0" || pos.Requested != "c1" || !pos.SteppedBack {
		t.Errorf("rewind to a boundary = %+v, %v, %v", pos, s.head("ada"), err)
	}
	pos, err = s.Agent("ada").Switch(ctx, "calls/c1", checkpoint.CutOptions{})
	if err != nil || pos.Head.Node != "c0" || !pos.SteppedBack {
		t.Errorf("switch = %+v, %v", pos, err)
	}
	made, err := s.Agent("ada").BranchTree(ctx, "c1", "short", checkpoint.CutOptions{})
	if err != nil || made.Node != "c0" || made.Requested != "c1" {
		t.Errorf("branch = %+v, %v", made, err)
	}
}

// TestAgentTreeRemoved: removing a tree removes it from its agent, and undo adds it again.
func TestAgentTreeRemoved(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	ctx := t.Context()
	a := s.agent("ada")
	s.answer("ada", "first")
	tree := s.tree("ada", "rest")
	said := s.answer("ada", "a", "b", "c")
	before := s.truth()
	last := s.line(tree)[1]
	if _, err := s.Remove(ctx, last, workspace.RemoveOptions{Force: true}); code(err) != fault.Refused {
		t.Errorf("rm of the file with the head = %v", err)
	}
	if _, err := s.Remove(ctx, tree, workspace.RemoveOptions{Line: true, Force: true}); err != nil {
		t.Fatal(err)
	}
	if h := s.head("ada"); h.Tree != a.Head.Tree || h.Node == "" {
		t.Errorf("the head is %v", h)
	}
	healthy(t, s)
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "undo", before, s.truth())
	if _, err := s.Agent("ada").Rewind(ctx, said[0], checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(ctx, last, workspace.RemoveOptions{}); err != nil {
		t.Errorf("rm of a file without the head = %v", err)
	}
	healthy(t, s)
}

// quiet calls do and fails the test if a file changes.
func (s *space) quiet(what string, do func() error) {
	s.t.Helper()
	before := s.files()
	if err := do(); err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	sameFiles(s.t, what, before, s.files())
}

// TestAgentArchive: an archived tree is hidden until it is restored.
func TestAgentArchive(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	ctx := t.Context()
	first := s.agent("ada").Head.Tree
	said := s.answer("ada", "a", "b", "c")
	rest := s.tree("ada", "rest")
	here := s.answer("ada", "x")
	archive := func(tree string) func() error {
		return func() error {
			about, err := s.Agent("ada").ArchiveTree(ctx, tree)
			if err == nil && (!about.Archived || about.Current) {
				t.Errorf("the tree is %+v", about)
			}
			return err
		}
	}
	restore := func() error {
		about, err := s.Agent("ada").RestoreTree(ctx, first)
		if err == nil && (about.Archived || about.MessageCount != 3) {
			t.Errorf("the tree is %+v", about)
		}
		return err
	}
	list := func(o agents.TreesOptions) string {
		trees, err := s.Agent("ada").Trees(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, tree := range trees.Trees {
			words = append(words, fmt.Sprint(tree.ID == rest, tree.Archived))
		}
		return fmt.Sprint(words, trees.Omitted)
	}

	before := s.truth()
	if err := archive("rest")(); code(err) != fault.Refused {
		t.Errorf("archive of the tree with the head = %v", err)
	}
	s.quiet("restore of a tree that is not archived", restore)
	if err := archive(first)(); err != nil {
		t.Fatal(err)
	}
	s.quiet("archive again", archive(first))
	if got := list(agents.TreesOptions{}) + list(agents.TreesOptions{All: true}); got != "[true false] 1[false true true false] 0" {
		t.Errorf("the trees are %s", got)
	}
	o, err := s.undo(first)
	if err != nil || o.Args["verb"] != "agent archive" {
		t.Fatalf("undo = %+v, %v", o, err)
	}
	sameFiles(t, "undo", before, s.truth())
	if err := archive(first)(); err != nil {
		t.Fatal(err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if got := list(agents.TreesOptions{}); got != "[false false true false] 0" {
		t.Errorf("the trees are %s", got)
	}

	// A message is not looked up in an archived tree unless the tree is named.
	if err := archive(first)(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Agent("ada").Rewind(ctx, said[0], checkpoint.CutOptions{})
	if code(err) != fault.NotFound || !strings.Contains(workspace.Explain(err).Hint, "archived") {
		t.Errorf("rewind = %v", err)
	}
	if _, err := s.Agent("ada").BranchTree(ctx, said[0], "", checkpoint.CutOptions{}); code(err) != fault.NotFound {
		t.Errorf("a branch = %v", err)
	}
	if _, err := s.Agent("ada").Rewind(ctx, here[0], checkpoint.CutOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := s.Agent("ada").BranchTree(ctx, first+"/"+said[1], "copy", checkpoint.CutOptions{}); err != nil {
		t.Error(err)
	}
	if got := list(agents.TreesOptions{All: true}); got != "[false true true false false false] 0" {
		t.Errorf("after a branch from it the trees are %s", got)
	}
	for _, there := range []func() (*agents.Position, error){
		func() (*agents.Position, error) {
			return s.Agent("ada").Rewind(ctx, first+"/"+said[0], checkpoint.CutOptions{})
		},
		func() (*agents.Position, error) {
			return s.Agent("ada").Switch(ctx, first, checkpoint.CutOptions{})
		},
	} {
		pos, err := there()
		if err != nil || pos.Head.Tree != first || string(pos.Head.Node) != said[0] {
			t.Errorf("the head moves to %+v, %v", pos, err)
		}
		if got := list(agents.TreesOptions{}); got != "[false false true false false false] 0" {
			t.Errorf("with the head in it the trees are %s", got)
		}
		if _, err := s.Agent("ada").Switch(ctx, "rest", checkpoint.CutOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := archive(first)(); err != nil {
			t.Fatal(err)
		}
	}
	healthy(t, s)

	// The head does not move to an archived tree if there is another.
	if err := archive("copy")(); err != nil {
		t.Fatal(err)
	}
	for _, tree := range []string{s.tree("ada", "other"), rest} {
		if _, err := s.Remove(ctx, tree, workspace.RemoveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if h := s.head("ada").Tree; tree != rest && h != rest {
			t.Errorf("the head goes to %s, and not to %s", h, rest)
		}
	}
	if got := list(agents.TreesOptions{}); got != "[false false] 1" {
		t.Errorf("with archived trees only they are %s", got)
	}
	healthy(t, s)
}

// TestAgentDelete: deleting a tree removes all its files if no other session needs them,
// and undo restores them.
func TestAgentDelete(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	ctx := t.Context()
	first := s.agent("ada").Head.Tree
	s.answer("ada", "a", "b", "c", "d", "e")
	files := s.line(first)
	remove := func(agent, tree string, force bool) (*agents.Tree, error) {
		return s.Agent(agent).DeleteTree(ctx, tree, agents.DeleteTreeOptions{Force: force})
	}
	refuse := func(what, agent, tree string, force bool, want fault.Code) {
		t.Helper()
		before := s.files()
		if _, err := remove(agent, tree, force); code(err) != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
		sameFiles(t, what, before, s.files())
	}
	refuse("the only tree", "ada", first, true, fault.Refused)
	s.tree("ada", "rest")
	theirs := s.agent("bob").Head.Tree
	refuse("the tree with the head", "ada", "rest", true, fault.Refused)
	refuse("a tree of another agent", "ada", theirs, true, fault.Refused)
	refuse("no tree", "ada", "nothing", true, fault.NotFound)

	if _, err := s.Rewind(ctx, first, checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	before := s.truth()
	was, err := remove("ada", first, false)
	if err != nil || was.ID != first || was.MessageCount != 5 || was.Current {
		t.Fatalf("DeleteTree = %+v, %v", was, err)
	}
	if trees, err := s.Agent("ada").Trees(ctx, agents.TreesOptions{All: true}); err != nil || len(trees.Trees) != 1 {
		t.Errorf("the trees are %+v, %v", trees, err)
	}
	for _, id := range files {
		if _, err := s.Show(ctx, id, session.ReadOptions{}); code(err) != fault.NotFound {
			t.Errorf("%s is still there: %v", id, err)
		}
	}
	if head, err := s.Head(ctx); head != nil || err != nil {
		t.Errorf("the head of the workspace is %v, %v", head, err)
	}
	healthy(t, s)
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "undo", before, s.truth())

	point := s.checkpoint(first)
	refuse("a tree that a checkpoint was made of", "ada", first, false, fault.HasChildren)
	if _, err := remove("ada", first, true); err != nil || s.texts(point.ID) != "a b c d e" {
		t.Errorf("with --force: %v, and the checkpoint is %q", err, s.texts(point.ID))
	}
	healthy(t, s)
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}

	name := agent.Path("bob")
	mine := s.read(name)
	s.write(name, strings.ReplaceAll(mine, theirs, first))
	refuse("a tree of two agents", "ada", first, true, fault.Refused)
	s.write(name, mine)
	s.write("conversations/"+files[0]+".json", "{")
	refuse("a tree with a torn file", "ada", first, true, fault.Damaged)
}

// TestSetAgent changes the given fields, and writes nothing if all are equal.
func TestSetAgent(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	ctx := t.Context()
	made, err := s.Agent("ada").Create(ctx, agents.Options{Model: "command:cat", Policy: turn.FinishBatch, NoCheckpoint: true})
	if err != nil || made.Policy != turn.FinishBatch || !made.NoCheckpoint {
		t.Fatalf("CreateAgent = %+v, %v", made, err)
	}
	name := agent.Path("ada")
	s.write(name, strings.Replace(s.read(name), "{", `{"notes":  [1e-07],`, 1))
	for _, c := range []struct {
		what   string
		change agents.Change
		want   string
	}{
		{"the instructions", agents.Change{System: new("Be brief.")}, "command:cat Be brief. finish_batch true"},
		{"the model", agents.Change{Model: new("")}, " Be brief. finish_batch true"},
		{"the policy", agents.Change{Policy: new(turn.AfterCall)}, " Be brief. after_call true"},
		{"all", agents.Change{Model: new("m"), System: new(""), Policy: new(turn.FinishBatch), NoCheckpoint: new(false)}, "m  finish_batch false"},
		{"the policy, to the default", agents.Change{Policy: new(turn.SteerPolicy(""))}, "m  after_call false"},
	} {
		is, err := s.Agent("ada").Set(ctx, c.change)
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		s.quiet(c.what+" again", func() error { is, err = s.Agent("ada").Set(ctx, c.change); return err })
		read, err := s.Agent("ada").Info(ctx)
		if err != nil || string(read.File) != string(is.File) {
			t.Errorf("%s: the file is %s, %v, and the result %s", c.what, read.File, err, is.File)
		}
		if got := fmt.Sprint(read.Model, " ", read.System, " ", read.Policy, " ", read.NoCheckpoint); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		if read.Head != made.Head || !strings.HasPrefix(string(read.File), `{"notes":  [1e-07],`) {
			t.Errorf("%s: the file is %s", c.what, read.File)
		}
	}
	for what, c := range map[string]agents.Change{
		"no policy": {Policy: new(turn.SteerPolicy("never"))},
		"no UTF-8":  {Model: new("m"), System: new("\xff")},
	} {
		before := s.files()
		if _, err := s.Agent("ada").Set(ctx, c); code(err) != fault.Usage {
			t.Errorf("%s = %v", what, err)
		}
		sameFiles(t, what, before, s.files())
	}
	if _, err := s.Agent("eve").Create(ctx, agents.Options{Policy: "never"}); code(err) != fault.Usage {
		t.Errorf("CreateAgent = %v", err)
	}
	healthy(t, s)
}

// TestAgentUndo: undo is refused if the agent has changed since or one of its trees is
// gone.
func TestAgentUndo(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	ctx := t.Context()
	a := s.agent("ada")
	other := s.tree("ada", "rest")
	if _, err := s.Agent("ada").Switch(ctx, a.Head.Tree, checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.undo(other); code(err) != fault.Refused {
		t.Errorf("undo of a tree with a later switch = %v", err)
	}
	if _, err := s.Agent("ada").Remove(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remove(ctx, other, workspace.RemoveOptions{}); err != nil {
		t.Errorf("rm of a tree without an agent = %v", err)
	}
	if _, err := s.undo(a.Head.Tree); code(err) != fault.Refused {
		t.Errorf("undo of agent rm without one of its trees = %v", err)
	}
	for range 2 {
		if _, err := s.undo(""); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.head("ada"); got != a.Head {
		t.Errorf("the head is %v, want %v", got, a.Head)
	}
	healthy(t, s)
}

// TestAgentUnknown: unknown members of an agent's file are kept.
func TestAgentUnknown(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	a := s.agent("ada")
	name := agent.Path("ada")
	s.write(name, strings.Replace(s.read(name), "{", `{"notes":  [1e-07],`, 1))
	other := s.tree("ada", "rest")
	if _, err := s.Agent("ada").Switch(t.Context(), a.Head.Tree, checkpoint.CutOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := s.read(name); !strings.HasPrefix(got, `{"notes":  [1e-07],`) || !strings.Contains(got, other) {
		t.Errorf("the file is %s", got)
	}
	if err := rawjson.Check(rawjson.Compact(agents.List{Agents: []agents.Agent{*a}})); err != nil {
		t.Error(err)
	}
	s.write(agent.Path("bob"), `{"id":`)
	list, err := s.Agents(t.Context())
	if err != nil || len(list.Agents) != 1 || len(s.notes) != 1 {
		t.Errorf("Agents = %+v, %v, notes %q", list, err, s.notes)
	}
	if _, err := s.Agent("bob").Info(t.Context()); code(err) != fault.Damaged {
		t.Errorf("a torn agent = %v", err)
	}
	if _, err := s.Agent("bob").Create(t.Context(), agents.Options{}); code(err) != fault.Refused {
		t.Errorf("an agent in place of a torn one = %v", err)
	}
}

// TestAgentEvents: the event of a moved head names its agent, and the event of a new tree
// its kind.
func TestAgentEvents(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	a := s.agent("ada")
	said := s.answer("ada", "a")
	made, err := s.Agent("ada").BranchTree(t.Context(), said[0], "", checkpoint.CutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Agent("ada").Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.new("Bread")
	e := s.events(0)
	var got []string
	for range 8 {
		next := <-e.list
		got = append(got, fmt.Sprintf("%s %s@%s %s", next.Type, next.Session, next.Message, next.Agent))
	}
	bread := got[len(got)-2]
	want := []string{
		"session_created " + a.Head.Tree + "@ ", "head_moved " + a.Head.Tree + "@ ada",
		"message_added " + a.Head.Tree + "@" + said[0] + " ", "head_moved " + a.Head.Tree + "@" + said[0] + " ada",
		"branch_created " + made.Tree + "@ ", "head_moved " + made.Tree + "@" + said[0] + " ada",
		bread, "head_moved " + strings.TrimSuffix(strings.TrimPrefix(bread, "session_created "), "@ ") + "@ ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
