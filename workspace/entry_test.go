package workspace_test

import (
	"errors"
	"testing"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/search"
)

// TestOneTitle: every list gives a session the same title. A session without one has the
// first words of its user.
func TestOneTitle(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	for range 2 {
		s.append(workspace.Append{Session: s.new(""), Text: "How long does it rise?"})
	}
	const want = "How long does it rise?"
	listing, err := s.Sessions(t.Context(), workspace.ListOptions{})
	if err != nil || len(listing.Sessions) != 2 {
		t.Fatalf("%+v, %v", listing, err)
	}
	sizes, err := s.Usage(t.Context(), 0)
	if err != nil || len(sizes.Conversations) != 2 {
		t.Fatalf("%+v, %v", sizes, err)
	}
	found, err := s.Search(t.Context(), search.Options{Text: "rise"})
	if err != nil || len(found.Sessions) != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	_, err = s.Show(t.Context(), listing.Sessions[0].ID[:12], session.ReadOptions{})
	var several *fault.AmbiguousError
	if !errors.As(err, &several) || len(several.Candidates) != 2 {
		t.Fatal(err)
	}
	for i, e := range listing.Sessions {
		if c := several.Candidates[i]; c.Title != want || string(c.Session) != e.ID || c.Kind != string(e.Kind) || c.MessageCount != e.MessageCount {
			t.Errorf("the candidate %+v is the session %+v", c, e)
		}
		if c := found.Sessions[i]; c.Title != want || c.Session != e.ID || !c.LastActive.Equal(e.LastActive) {
			t.Errorf("the search found %+v", c)
		}
		if e.Title != want || sizes.Conversations[i].Title != want {
			t.Errorf("the titles are %q and %q", e.Title, sizes.Conversations[i].Title)
		}
	}
}
