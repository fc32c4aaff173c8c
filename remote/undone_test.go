package remote_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/mirror"
)

// TestUndonePull: what the undo of a pull takes back was not removed by the user, whatever they do until the next
// exchange: others keep it, and the next pull brings it again.
func TestUndonePull(t *testing.T) {
	ctx := t.Context()
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	kept, removed := must(a.w.New(ctx, "Kept")), must(a.w.New(ctx, "Removed"))
	say := func(id, text string) { must(a.w.Append(ctx, workspace.Append{Session: id, Text: text})) }
	say(kept.ID, "Hello")
	say(removed.ID, "Hello")
	must(a.w.Agent("shared").Create(ctx, agents.Options{Model: "echo"}))
	a.push()
	b.pull()
	say(removed.ID, "How are you?")
	must(a.w.Bookmark(ctx, kept.ID+"@first", "here", workspace.BookmarkOptions{}))
	must(a.w.Agent("ada").Create(ctx, agents.Options{Model: "echo"}))
	tree := must(a.w.Agent("shared").NewTree(ctx, ""))
	a.push()
	b.pull()
	for _, step := range []func(context.Context, history.UndoOptions) (*history.Operations, error){b.w.Undo, b.w.Redo, b.w.Undo} {
		must(step(ctx, history.UndoOptions{}))
	}
	must(b.w.Bookmark(ctx, kept.ID+"@first", "there", workspace.BookmarkOptions{}))
	must(b.w.Agent("eve").Create(ctx, agents.Options{Model: "echo"}))
	must(b.w.Remove(ctx, removed.ID, workspace.RemoveOptions{}))
	b.push()
	a.pull()
	b.pull()
	for _, c := range list {
		f := must(c.w.Mirror().Facts(ctx, mirror.Known{}))
		if n := len(must(c.w.Mirror().Messages(ctx, removed.ID))); n != 2 || len(f.Bookmarks) != 2 || len(f.Agents) != 3 {
			t.Errorf("%s has %d messages, %v and %d agents", c.name, n, f.Bookmarks, len(f.Agents))
		}
		if trees := must(c.w.Agent("shared").Trees(ctx, agents.TreesOptions{})).Trees; !slices.ContainsFunc(trees, func(o agents.Tree) bool { return o.ID == tree.Tree }) {
			t.Errorf("the agent of %s has the trees %+v, without %s", c.name, trees, tree.Tree)
		}
	}
	if x, y := a.answers(), b.answers(); x != y {
		t.Errorf("one has\n%s\nand the other one\n%s", x, y)
	}
}

// TestToldBeforeCrash: what a user takes back after a process died that had recorded it is taken back on all machines,
// wherever the process died.
func TestToldBeforeCrash(t *testing.T) {
	ctx := t.Context()
	for n, died := 0, true; died; n++ {
		list := computers(t, &bucket.Memory{}, "laptop", "desktop")
		a, b := list[0], list[1]
		s := must(a.w.New(ctx, "First"))
		must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "Hello"}))
		must(a.w.Bookmark(ctx, s.ID+"@first", "old", workspace.BookmarkOptions{}))
		must(a.w.Agent("ada").Create(ctx, agents.Options{Model: "echo"}))
		a.push()
		b.pull()
		before := a.held()
		must(a.w.Rename(ctx, s.ID, "Second"))
		must(a.w.Bookmark(ctx, s.ID+"@first", "new", workspace.BookmarkOptions{}))
		must(a.w.RemoveBookmark(ctx, "old"))
		model := "echo:other"
		must(a.w.Agent("ada").Set(ctx, agents.Change{Model: &model}))
		must(a.w.Agent("ada").NewTree(ctx, ""))
		end := a.dieAfter(n)
		err := a.do("sync")
		died = end()
		for range 5 {
			must(a.w.Undo(ctx, history.UndoOptions{}))
		}
		for range 2 {
			must(a.sync())
			must(b.sync())
		}
		for _, c := range list {
			if got := c.held(); got != before {
				t.Fatalf("%s, after a crash before step %d (%v), has\n%s\nand not\n%s", c.name, n, err, got, before)
			}
		}
	}
}

// held returns the titles, bookmarks and agents of a computer.
func (c *computer) held() string {
	f := must(c.w.Mirror().Facts(c.t.Context(), mirror.Known{}))
	var b strings.Builder
	for _, s := range f.Sessions {
		fmt.Fprintln(&b, s.ID, s.Title)
	}
	for _, m := range f.Bookmarks {
		fmt.Fprintln(&b, "bookmark", m.Label, m.Session, m.Message)
	}
	for _, a := range f.Agents {
		fmt.Fprintf(&b, "agent %s %s %s %v\n", a.Name, a.Settings, a.Trees, *a.Head)
	}
	return b.String()
}

// TestRemovedAfterPush: a removal is recorded although the last push had to compare the session with what others have.
func TestRemovedAfterPush(t *testing.T) {
	ctx := t.Context()
	list := computers(t, &bucket.Memory{}, "laptop", "desktop")
	a, b := list[0], list[1]
	s := must(a.w.New(ctx, "First"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "Hello"}))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "How are you?"}))
	must(a.w.Agent("ada").Create(ctx, agents.Options{Model: "echo"}))
	a.push()
	b.pull()
	before := a.held()
	tree := must(a.w.Agent("ada").NewTree(ctx, ""))
	a.push()
	must(a.w.Undo(ctx, history.UndoOptions{})) // of the tree
	a.push()
	for range 2 {
		a.pull()
		b.pull()
		for _, c := range list {
			if got := c.held(); got != before {
				t.Errorf("with the tree %s removed, %s has\n%s\nand not\n%s", tree.Tree, c.name, got, before)
			}
		}
	}
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "Bye"}))
	a.push()
	must(a.w.Undo(ctx, history.UndoOptions{})) // of the message
	a.push()
	must(a.w.Remove(ctx, s.ID, workspace.RemoveOptions{}))
	a.push()
	for range 2 {
		a.pull()
		b.pull()
		for _, c := range list {
			if strings.Contains(c.held(), s.ID) {
				t.Errorf("%s has %s, which was removed", c.name, s.ID)
			}
		}
	}
}
