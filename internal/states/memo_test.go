package states_test

import (
	"fmt"
	"testing"

	"github.com/bough-dev/bough/internal/states"
)

// again takes a state as a process does that remembers the last one and knows which directories
// changed.
func (s *space) again(m *states.Memo, changed ...string) (*states.State, *states.Memo) {
	s.Helper()
	s.n++
	opts := s.opts
	if opts.Changed = changed; changed == nil {
		opts.Changed = []string{}
	}
	d, err := s.Draft(s.Context(), states.Request{
		State: states.State{ID: fmt.Sprintf("state-%d", s.n), Folder: "folder", At: states.Prompt}, Dir: s.dir, Scan: opts, Sources: sources(), Memo: m,
	})
	if err != nil {
		s.Fatal(err)
	}
	st, err := d.Commit(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return st, d.Memo()
}

// TestMemo: with a memo, only the directories that changed are read; without one that can be used,
// all are.
func TestMemo(t *testing.T) {
	s := newSpace(t)
	s.write("a/1", "1")
	s.write("b/2", "2")
	first, m := s.again(nil)
	s.check(first, map[string]string{"a/1": "1", "b/2": "2"})
	s.write("a/1", "new")
	s.write("b/2", "new")
	second, m := s.again(m, "a")
	s.check(second, map[string]string{"a/1": "new", "b/2": "2"})
	third, m := s.again(m)
	if third.Tree != second.Tree || third.NewBytes != 0 {
		t.Errorf("%+v, although nothing changed", third)
	}

	// The state of the memo is gone, or what it relies on was forgotten.
	s.must(s.Remove(third.ID))
	fourth, m := s.again(m)
	s.check(fourth, map[string]string{"a/1": "new", "b/2": "new"})
	s.write("a/1", "newer")
	if ids, err := s.Forget(t.Context(), "folder", "b/2"); err != nil || len(ids) == 0 {
		t.Fatal(ids, err)
	}
	fifth, m := s.again(m)
	s.check(fifth, map[string]string{"a/1": "newer"})
	if m == nil {
		t.Error("there is no memo of it")
	}
	s.healthy()
}

// TestUnchangedDraft: a draft says whether anything changed, and one that is discarded then has a
// memo.
func TestUnchangedDraft(t *testing.T) {
	s := newSpace(t)
	s.write("a", "1")
	d := s.draft()
	if d.Unchanged() || d.Memo() != nil {
		t.Error("the first draft is unchanged, or has a memo although it may be discarded")
	}
	if _, err := d.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	d = s.draft()
	defer d.Discard()
	if !d.Unchanged() || d.Memo() == nil {
		t.Error("another draft is not unchanged, or has no memo")
	}
	if list, err := s.States(); err != nil || len(list) != 1 {
		t.Errorf("%d states, %v", len(list), err)
	}
}
