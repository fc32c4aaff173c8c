package workspace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/trash"
)

func (s *space) bookmark(ref, label string) *bookmark.Bookmark {
	s.t.Helper()
	b, err := s.Bookmark(s.t.Context(), ref, label, workspace.BookmarkOptions{})
	if err != nil {
		s.t.Fatalf("Bookmark(%q, %q): %v", ref, label, err)
	}
	return b
}

// labels returns the labels in a session, or of all sessions if in is "".
func (s *space) labels(in string) string {
	s.t.Helper()
	list, err := s.Bookmarks(s.t.Context(), workspace.BookmarksOptions{In: in})
	if err != nil {
		s.t.Fatal(err)
	}
	var labels []string
	for _, b := range list.Bookmarks {
		labels = append(labels, b.Label)
	}
	return strings.Join(labels, " ")
}

// TestBookmark: a label marks a message in any file of its line, and changes no session
// file.
func TestBookmark(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	bread := s.new("Bread")
	said := s.say("a", "b", "c", "d", "e") // three files
	last := s.entry(bread)
	for len(last.ContinuedTo) > 0 {
		last = s.entry(last.ContinuedTo[0])
	}
	point := s.checkpoint(bread + "@" + said[2])
	copied := s.branch(bread + "@" + said[2])
	cake := s.new("Cake")
	before := s.truth()
	for _, c := range []struct{ ref, label, in, message string }{
		{last.ID + "@" + said[0], "first", bread, said[0]},
		{last.ID, "last", bread, said[4]},
		{point.ID + "@" + said[1], "kept", point.ID, said[1]},
		{copied.ID, "copied", copied.ID, said[2]},
		{point.ID + "@" + said[4], "above", bread, said[4]}, // in the source of the checkpoint
		{"  first ", "again", "", ""},
		{"first", " again ", bread, said[0]},
	} {
		b, err := s.Bookmark(t.Context(), c.ref, c.label, workspace.BookmarkOptions{})
		if c.in == "" {
			if code(err) != fault.NotFound {
				t.Errorf("Bookmark(%q) = %v", c.ref, err)
			}
			continue
		}
		if err != nil || b.Session != c.in || b.Message != c.message || b.Label != strings.TrimSpace(c.label) || b.Scope != bookmark.Message {
			t.Errorf("Bookmark(%q) = %+v, %v", c.ref, b, err)
		}
	}
	after := s.truth()
	delete(after, bookmark.Path)
	sameFiles(t, "bookmarks", before, after)
	for in, want := range map[string]string{
		"": "first last kept copied above again", bread: "first last above again", last.ID: "first last above again",
		point.ID: "kept", copied.ID: "copied", cake: "",
	} {
		if got := s.labels(in); got != want {
			t.Errorf("the labels in %q are %q, want %q", in, got, want)
		}
	}
	s.append(workspace.Append{Session: bread, Text: "f"})
	s.append(workspace.Append{Session: bread, Text: "g"})
	if got := s.texts("last"); got != "a b c d e" {
		t.Errorf("the bookmark resolves to %q", got)
	}
	healthy(t, s)
}

// TestBookmarkRef: a label is a REF if the string has no other meaning.
func TestBookmarkRef(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	said := s.say("a", "b", "c")
	cake := s.new("Cake")
	s.say("x")
	for _, c := range []struct {
		label, want string
		other       bool // it has another meaning
	}{
		{label: "here", want: "a b"},
		{label: "Bread@here", want: "a b"},
		{label: "me@example.org", want: "a b"},
		{label: "a/b", want: "a b"},
		{label: "end@", want: "a b"},
		{label: "two words ä", want: "a b"},
		{label: "Cake", want: "x", other: true},
		{label: cake, want: "x", other: true},
		{label: cake[len(cake)-8:], want: "a b"},
		{label: "Bread@" + said[0], want: "a b"},
		{label: "end^", want: "a b"},
		{label: "end~2", want: "a b"},
	} {
		s.notes = nil
		s.bookmark(bread+"@"+said[1], c.label)
		if noted := len(s.notes) > 0; noted != c.other {
			t.Errorf("%q: the notes are %q", c.label, s.notes)
		}
		if got := s.texts(c.label); got != c.want {
			t.Errorf("%q resolves to %q, want %q", c.label, got, c.want)
		}
	}
	if _, err := s.Show(t.Context(), "urn:uuid:here", session.ReadOptions{}); code(err) != fault.NotFound {
		t.Errorf("a strict UUID: %v", err)
	}
	if pos, err := s.Rewind(t.Context(), "here", checkpoint.CutOptions{}); err != nil || string(pos.Head.Message) != said[1] {
		t.Errorf("Rewind = %+v, %v", pos, err)
	}
	if got := s.branch("two words ä"); string(got.BranchPoint) != said[1] {
		t.Errorf("Branch = %+v", got)
	}
}

// TestBookmarkRefused: an invalid change changes nothing.
func TestBookmarkRefused(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.say("a")
	s.new("Empty")
	s.bookmark(bread, "here")
	before := s.files()
	for _, c := range []struct {
		ref, label string
		o          workspace.BookmarkOptions
		want       fault.Code
	}{
		{bread, "", workspace.BookmarkOptions{}, fault.Usage},
		{bread, " \t\n", workspace.BookmarkOptions{}, fault.Usage},
		{bread, "two\nlines", workspace.BookmarkOptions{}, fault.Usage},
		{bread, "two\u2028lines", workspace.BookmarkOptions{}, fault.Usage},
		{bread, "\x1b[2J", workspace.BookmarkOptions{}, fault.Usage},
		{bread, "\xff", workspace.BookmarkOptions{}, fault.Usage},
		{bread, "HEAD", workspace.BookmarkOptions{}, fault.Usage},
		{bread, " @ ", workspace.BookmarkOptions{}, fault.Usage},
		{bread, "-", workspace.BookmarkOptions{}, fault.Usage},
		{bread, strings.Repeat("ä", 101), workspace.BookmarkOptions{}, fault.Usage},
		{bread, "x", workspace.BookmarkOptions{Scope: "all"}, fault.Usage},
		{bread, "x", workspace.BookmarkOptions{Summary: "\xff"}, fault.Usage},
		{bread, "x", workspace.BookmarkOptions{Summary: strings.Repeat("x", 2001)}, fault.Usage},
		{bread, "here", workspace.BookmarkOptions{}, fault.Refused},
		{"Empty", "x", workspace.BookmarkOptions{}, fault.Refused},
		{"nothing", "x", workspace.BookmarkOptions{}, fault.NotFound},
		{bread + "@nothing", "x", workspace.BookmarkOptions{Move: true}, fault.NotFound},
	} {
		if _, err := s.Bookmark(t.Context(), c.ref, c.label, c.o); code(err) != c.want {
			t.Errorf("Bookmark(%q, %q, %+v) = %v, want %s", c.ref, c.label, c.o, err, c.want)
		}
	}
	if _, err := s.RemoveBookmark(t.Context(), "nothing"); code(err) != fault.NotFound {
		t.Errorf("RemoveBookmark = %v", err)
	}
	if _, err := s.Bookmarks(t.Context(), workspace.BookmarksOptions{In: "nothing"}); code(err) != fault.NotFound {
		t.Errorf("Bookmarks = %v", err)
	}
	sameFiles(t, "refused", before, s.files())
	s.bookmark(bread, strings.Repeat("ä", 100))
}

// TestBookmarkMove: moving a label keeps unknown members and the fields that are not set.
func TestBookmarkMove(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	said := s.say("a", "b")
	const theirs = `{"v": NaN, "bookmarks": [{"label": "here", "session_id": %q, "node_id": %q, "summary": "why", "scope": "subtree", "colour": 1e400}]}`
	s.write(bookmark.Path, fmt.Sprintf(theirs, bread, said[0]))
	b, err := s.Bookmark(t.Context(), bread, "here", workspace.BookmarkOptions{Move: true})
	if err != nil || b.Message != said[1] || b.Summary != "why" || b.Scope != bookmark.Subtree {
		t.Errorf("moved, it is %+v, %v", b, err)
	}
	if got := s.read(bookmark.Path); !strings.HasPrefix(got, strings.TrimSuffix(fmt.Sprintf(theirs, bread, said[1]), "}]}")) {
		t.Errorf("the file is %s", got)
	}
	b, err = s.Bookmark(t.Context(), bread, "here", workspace.BookmarkOptions{Move: true, Summary: "else", Scope: bookmark.Branch})
	if err != nil || b.Summary != "else" || b.Scope != bookmark.Branch {
		t.Errorf("moved again, the bookmark is %+v, %v", b, err)
	}
	if _, err := s.Bookmark(t.Context(), bread, "new", workspace.BookmarkOptions{Move: true}); err != nil {
		t.Errorf("a move of a missing bookmark: %v", err)
	}
}

// TestBookmarkTwice: a label that another program put on two messages is ambiguous.
func TestBookmarkTwice(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	said := s.say("a", "b")
	s.write(bookmark.Path, s.bookmarked("here", bread, said[0], "here", bread, said[1]))
	if _, err := s.Show(t.Context(), "here", session.ReadOptions{}); code(err) != fault.Ambiguous {
		t.Errorf("Show = %v", err)
	}
	if _, err := s.RemoveBookmark(t.Context(), "here"); code(err) != fault.Ambiguous {
		t.Errorf("RemoveBookmark = %v", err)
	}
	if b, err := s.RemoveBookmark(t.Context(), bread+"@"+said[1]); err != nil || b.Message != said[1] {
		t.Errorf("RemoveBookmark = %+v, %v", b, err)
	}
	if got := s.texts("here"); got != "a" {
		t.Errorf("it resolves to %q", got)
	}
}

// TestBookmarkOfRemoved: the bookmarks of a removed session come back with it, and are deleted
// when it is deleted from the trash.
func TestBookmarkOfRemoved(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.say("a")
	s.bookmark(bread, "here")
	cake := s.new("Cake")
	s.say("b")
	s.bookmark(cake, "there")
	if _, err := s.Remove(t.Context(), bread, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := s.labels(""); got != "there" || len(s.notes) != 1 {
		t.Errorf("the labels are %q, the notes %q", got, s.notes)
	}
	if _, err := s.Show(t.Context(), "here", session.ReadOptions{}); code(err) != fault.NotFound || !strings.Contains(err.Error(), bread) {
		t.Errorf("Show = %v", err)
	}
	healthy(t, s)
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}
	if got := s.labels("") + "/" + s.texts("here"); got != "here there/a" {
		t.Errorf("after undo they are %q", got)
	}
	if _, err := s.redo(""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PurgeTrash(t.Context(), trash.PurgeOptions{}); err != nil {
		t.Fatal(err)
	}
	healthy(t, s)
	if got := s.read(bookmark.Path); strings.Contains(got, `"here"`) || !strings.Contains(got, `"there"`) {
		t.Errorf("the file is %s", got)
	}
}

// TestBookmarkLost: a bookmark is lost only if no file, including the files in the trash,
// has its message.
func TestBookmarkLost(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 2)
	bread := s.new("Bread")
	s.say("a", "b")
	last := s.append(workspace.Append{Text: "c"}) // in a file of its own
	s.bookmark(last.Session, "here")
	if _, err := s.Remove(t.Context(), last.Session, workspace.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Show(t.Context(), "here", session.ReadOptions{}); code(err) != fault.NotFound {
		t.Errorf("Show = %v", err)
	}
	healthy(t, s)
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}
	if got := s.texts("here"); got != "a b c" {
		t.Errorf("it resolves to %q", got)
	}
	s.write(bookmark.Path, s.bookmarked("there", bread, "gone"))
	s.expect(doctor.Options{}, "lost_bookmark")
}

// TestBookmarksDamaged: if the bookmarks file cannot be read, a verb that needs it fails
// with the place of the damage, and any other verb reports it once.
func TestBookmarksDamaged(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.say("a")
	s.bookmark(bread, "here")
	whole := s.read(bookmark.Path)
	for _, data := range []string{whole[:40], "", "[]", "{}", whole + "x", "\xff"} {
		s.write(bookmark.Path, data)
		before := s.files()
		_, set := s.Bookmark(t.Context(), bread, "there", workspace.BookmarkOptions{})
		_, removed := s.RemoveBookmark(t.Context(), "here")
		_, listed := s.Bookmarks(t.Context(), workspace.BookmarksOptions{})
		for _, err := range []error{set, removed, listed} {
			if code(err) != fault.Damaged || !strings.Contains(err.Error(), bookmark.Path) {
				t.Errorf("%q: %v", data, err)
			}
		}
		s.notes = nil
		if got := s.texts(bread); got != "a" || len(s.notes) > 0 {
			t.Errorf("%q, notes %q", got, s.notes)
		}
		if _, err := s.Show(t.Context(), "here", session.ReadOptions{}); code(err) != fault.NotFound || len(s.notes) != 1 {
			t.Errorf("%v, notes %q", err, s.notes)
		}
		sameFiles(t, "damaged bookmarks", before, s.files())
	}
	s.delete(bookmark.Path)
	if got := s.labels(""); got != "" {
		t.Errorf("without the file there are %q", got)
	}
}

// TestBookmarkUndo: undo of a session takes back its bookmarks and leaves those that were
// set elsewhere since; redo sets them again.
func TestBookmarkUndo(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	said := s.say("a", "b")
	s.bookmark(bread, "here")
	cake := s.new("Cake")
	s.say("c")
	s.bookmark(cake, "there")
	want := func(labels string) {
		t.Helper()
		if got := s.labels(""); got != labels {
			t.Errorf("the labels are %q, want %q", got, labels)
		}
	}
	for range 2 {
		if o, err := s.undo(bread); err != nil || o.Args["verb"] != "bookmark" {
			t.Errorf("undo = %+v, %v", o, err)
		}
		want("there")
		if _, err := s.redo(bread); err != nil {
			t.Fatal(err)
		}
		want("here there")
	}
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}
	want("here")
	if _, err := s.undo(bread); err != nil {
		t.Fatal(err)
	}
	want("")

	s.bookmark(bread, "here")
	s.write(bookmark.Path, s.bookmarked("here", bread, said[0]))
	before := s.truth()
	if _, err := s.undo(bread); code(err) != fault.Refused || !strings.Contains(err.Error(), bookmark.Path+" was changed since") {
		t.Errorf("undo = %v", err)
	}
	sameFiles(t, "refused", before, s.truth())
}
