package remote_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
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
	for n, died := 0, true; died; n += testsize.Of(5, 4, 1) {
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

// TestOnlyRemoved: what users remove is removed on all machines, also after the undo of a pull; nothing else is removed.
func TestOnlyRemoved(t *testing.T) {
	ctx := t.Context()
	setUp := func(t *testing.T) (a, b *computer, s, other string) {
		list := computers(t, &bucket.Memory{}, "laptop", "desktop")
		a, b = list[0], list[1]
		for i, id := range []*string{&s, &other} {
			one := must(a.w.New(ctx, fmt.Sprint("S", i)))
			must(a.w.Append(ctx, workspace.Append{Session: one.ID, Text: "Hello"}))
			*id = one.ID
		}
		must(a.w.Bookmark(ctx, other+"@first", "old", workspace.BookmarkOptions{}))
		must(a.w.Agent("ada").Create(ctx, agents.Options{Model: "echo"}))
		must(a.w.Agent("eve").Create(ctx, agents.Options{Model: "echo"}))
		a.push()
		b.pull()
		return a, b, s, other
	}
	settle := func(list ...*computer) {
		for range 3 {
			for _, c := range list {
				must(c.sync())
			}
		}
	}
	lacks := func(t *testing.T, what string, list ...*computer) {
		t.Helper()
		settle(list...)
		for _, c := range list {
			if strings.Contains(c.held(), what) {
				t.Errorf("%s has %s:\n%s", c.name, what, c.held())
			}
		}
	}
	has := func(t *testing.T, what string, list ...*computer) {
		t.Helper()
		settle(list...)
		for _, c := range list {
			if !strings.Contains(c.held(), what) {
				t.Errorf("%s lacks %s:\n%s", c.name, what, c.held())
			}
		}
	}
	t.Run("what was there before the pull", func(t *testing.T) {
		a, b, s, _ := setUp(t)
		must(a.w.Append(ctx, workspace.Append{Session: s, Text: "More"}))
		a.push()
		b.pull()
		must(b.w.Undo(ctx, history.UndoOptions{}))
		must(b.w.RemoveBookmark(ctx, "old"))
		must(b.w.Agent("ada").Remove(ctx))
		b.push()
		lacks(t, "old", a, b)
		lacks(t, "ada", a, b)
	})
	t.Run("a session of which the pull brought no message", func(t *testing.T) {
		a, b, s, _ := setUp(t)
		must(a.w.Rename(ctx, s, "Renamed"))
		a.push()
		b.pull()
		must(b.w.Undo(ctx, history.UndoOptions{}))
		must(b.w.Remove(ctx, s, workspace.RemoveOptions{}))
		b.push()
		lacks(t, s, a, b)
	})
	t.Run("a bookmark that came back by redo", func(t *testing.T) {
		a, b, s, _ := setUp(t)
		must(a.w.Bookmark(ctx, s+"@first", "new", workspace.BookmarkOptions{}))
		a.push()
		b.pull()
		must(b.w.Undo(ctx, history.UndoOptions{}))
		b.push()
		must(b.w.Redo(ctx, history.UndoOptions{}))
		must(b.w.RemoveBookmark(ctx, "new"))
		b.push()
		lacks(t, "new", a, b)
	})
	t.Run("not an agent that cannot be read", func(t *testing.T) {
		a, b, _, _ := setUp(t)
		put(t, a.w.Dir(), "agents/ada.json", `{"id": `)
		model := "echo:other"
		must(a.w.Agent("eve").Set(ctx, agents.Change{Model: &model}))
		a.push()
		has(t, "agent ada", b)
	})
	t.Run("not what another program deleted", func(t *testing.T) {
		a, b, s, _ := setUp(t)
		for _, name := range []string{"agents/ada.json", "bookmarks.json"} {
			if err := os.Remove(filepath.Join(a.w.Dir(), name)); err != nil {
				t.Fatal(err)
			}
		}
		model := "echo:other"
		must(a.w.Agent("eve").Set(ctx, agents.Change{Model: &model}))
		must(a.w.Bookmark(ctx, s+"@first", "new", workspace.BookmarkOptions{}))
		a.push()
		has(t, "agent ada", a, b)
		has(t, "bookmark old", a, b)
	})
	t.Run("after a pull of another session", func(t *testing.T) {
		a, b, s, other := setUp(t)
		must(a.w.Append(ctx, workspace.Append{Session: s, Text: "Undone"}))
		a.push()
		must(a.w.Undo(ctx, history.UndoOptions{}))
		a.push()
		b.pull()
		must(b.w.Append(ctx, workspace.Append{Session: other, Text: "Elsewhere"}))
		b.push()
		must(a.w.Append(ctx, workspace.Append{Session: s, Text: "Last"}))
		must(a.remote().Pull(ctx, remote.PullOptions{Session: other}))
		must(a.w.Remove(ctx, s, workspace.RemoveOptions{}))
		a.push()
		lacks(t, s, a, b)
	})
	t.Run("a bookmark with the name of a machine, after a crash", func(t *testing.T) {
		for n, died := 0, true; died; n += testsize.Of(5, 4, 1) {
			a, b, s, other := setUp(t)
			must(a.w.Bookmark(ctx, s+"@first", "x", workspace.BookmarkOptions{}))
			must(b.w.Bookmark(ctx, other+"@first", "x", workspace.BookmarkOptions{}))
			settle(a, b)
			if !strings.Contains(a.held(), "x@laptop") {
				t.Fatal(a.held())
			}
			must(a.w.Bookmark(ctx, s+"@first", "x@laptop", workspace.BookmarkOptions{Summary: "more", Move: true}))
			end := a.dieAfter(n)
			_ = a.do("push") // it dies
			died = end()
			must(a.w.RemoveBookmark(ctx, "x@laptop"))
			lacks(t, "bookmark x "+s, a, b)
			lacks(t, "x@laptop", a, b)
		}
	})
}

// TestRevived: a session that comes back gets what others added to it meanwhile.
func TestRevived(t *testing.T) {
	ctx := t.Context()
	list := computers(t, &bucket.Memory{}, "laptop", "desktop", "server")
	a, b, c := list[0], list[1], list[2]
	s := must(a.w.New(ctx, "First"))
	must(a.w.Append(ctx, workspace.Append{Session: s.ID, Text: "Hello"}))
	a.push()
	b.pull()
	c.pull()
	must(c.w.Append(ctx, workspace.Append{Session: s.ID, Text: "More"}))
	c.push()
	b.pull()
	must(b.w.Remove(ctx, s.ID, workspace.RemoveOptions{}))
	b.push()
	a.pull()
	must(a.w.Undo(ctx, history.UndoOptions{}))
	for range 3 {
		for _, c := range list {
			must(c.sync())
		}
	}
	for _, c := range list {
		if n := len(must(c.w.Mirror().Messages(ctx, s.ID))); n != 2 {
			t.Errorf("%s has %d messages, and not 2", c.name, n)
		}
	}
}
