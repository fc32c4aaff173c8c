package workspace_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
)

// TestRefs: each REF of a conversation names its message, for any ids, and is one word of a
// command line.
func TestRefs(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	message := func(id string) string { return `{"id":"` + id + `","role":"user","content":"text"}` }
	var odd []string
	for _, id := range []string{
		"u1", "a@b", "x~1", "x^", "TREE/x", "first", "last", "HEAD", "-v", "$(id)", "two words", "日本", "é",
		"01990000-0000-7000-8000-000000000001", "01990000-0000-7000-8000-000000000002",
		"B7C3AA10-0000-4000-8000-000000000003", "c7c3aa10-0000-4000-8000-000000000004",
	} {
		odd = append(odd, message(id))
	}
	s.messages("odd", `"title":"Odd"`, odd...)
	for _, id := range []string{"my chat", "-flag", "~x", "a^", "$HOME", "HEAD", "session_20260101_000000_4b9ad01c", "other_4b9ad01c", "long-id-日本語です"} {
		s.messages(id, `"title":"`+id+` title"`, message("u1"), message("d7c3aa10-0000-4000-8000-000000000005"))
	}
	s.checkpoint("odd")
	list, err := s.List(t.Context(), "")
	if err != nil || len(list.Sessions) != 11 {
		t.Fatalf("%d sessions (%v)", len(list.Sessions), err)
	}
	word := regexp.MustCompile(`^[\pL\d_.:][\pL\d_.:-]*@[\pL\d_.:][\pL\d_.:-]*$`)
	for _, e := range list.Sessions {
		c := s.show("urn:uuid:" + sessionid.UUID(e.ID))
		for i, ref := range c.Refs {
			if !word.MatchString(ref) {
				t.Errorf("%q is not one plain word", ref)
			}
			to, err := s.Show(t.Context(), ref, session.ReadOptions{})
			if err != nil {
				t.Errorf("%s of %s: %v", ref, c.Messages[i].ID, err)
			} else if last := to.Messages[len(to.Messages)-1]; to.Entry.ID != e.ID || last.ID != c.Messages[i].ID {
				t.Errorf("%s is %s@%s, want %s@%s", ref, to.Entry.ID, last.ID, e.ID, c.Messages[i].ID)
			}
		}
		if e.ID == "odd" && !slices.Contains(c.Refs, "odd@c7c3aa10") {
			t.Errorf("no UUID is shortened in %q", c.Refs)
		}
	}
}
