package states_test

import (
	"testing"

	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/states"
)

// TestDeciding: a state has the files that its rules depend on, whatever bytes their names have,
// also after packs were merged; and a state of an earlier version has none.
func TestDeciding(t *testing.T) {
	s := newSpace(t)
	s.write("a", "1")
	early := s.take()
	s.write("a", "2")
	list := []scan.Source{{Name: ".bough", IsDir: true}, {Name: "v\xff/pyvenv.cfg"}, {Name: "x/CACHEDIR.TAG", Data: []byte("Signature")}}
	st, err := s.Take(t.Context(), states.Request{
		State: states.State{ID: "later", Folder: "folder", At: states.Manual},
		Dir:   s.dir, Scan: s.opts, Deciding: func() []scan.Source { return list },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := s.CoverageOf(st)
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := s.SourcesOf(c)
	if err != nil || len(got) != len(list) {
		t.Fatalf("deciding are %v: %v", got, err)
	}
	for i := range got {
		if got[i].Name != list[i].Name || got[i].IsDir != list[i].IsDir || string(got[i].Data) != string(list[i].Data) {
			t.Errorf("%q is %+v", list[i].Name, got[i])
		}
	}
	if c, err = s.CoverageOf(early); err != nil {
		t.Fatal(err)
	}
	if outside, got, err := s.SourcesOf(c); err != nil || len(outside) != 1 || len(got) != 0 {
		t.Errorf("sources of an earlier state: %v, %v, %v", outside, got, err)
	}
	if problems, err := s.Verify(); err != nil || len(problems) > 0 {
		t.Errorf("problems: %v, %v", problems, err)
	}
}
