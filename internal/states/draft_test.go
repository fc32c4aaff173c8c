package states_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/internal/testsize"
)

// draft scans the folder as another process does: with a store of its own.
func (s *space) draft() *states.Draft {
	s.Helper()
	s.n++
	d, err := s.Draft(s.Context(), states.Request{
		State: states.State{ID: fmt.Sprintf("state-%d", s.n), Folder: "folder", At: states.Prompt}, Dir: s.dir, Scan: s.opts, Sources: sources(),
	})
	if err != nil {
		s.Fatal(err)
	}
	return d
}

// beside calls f with the store as another process has it, and a folder of its own.
func (s *space) beside(f func(other *space)) {
	s.Helper()
	root, err := os.OpenRoot(s.workspace)
	if err != nil {
		s.Fatal(err)
	}
	defer root.Close()
	other := &space{TB: s, Store: states.Open(root, ".bough/cache"), workspace: s.workspace, dir: s.TempDir(), opts: s.opts}
	defer other.Close()
	f(other)
}

// takeOther takes a state of the other folder.
func (s *space) takeOther(id string) {
	s.Helper()
	if _, err := s.Take(s.Context(), states.Request{
		State: states.State{ID: id, Folder: "other", At: states.Manual}, Dir: s.dir, Scan: s.opts, Sources: sources(),
	}); err != nil {
		s.Fatal(err)
	}
}

// TestDraft: what other processes do to the store while a folder is read either leaves what
// the state needs, or makes the draft stale; then another draft can be committed.
func TestDraft(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup func(*space)
		do    func(*space) // by the other process
		stale bool
	}{
		{"nothing", nil, func(*space) {}, false},
		{"a state of another folder", nil, func(o *space) { o.write("x", "new"); o.takeOther("other") }, false},
		{"another process removes temporary files", nil, func(o *space) { o.must(o.Tidy(context.Background())) }, false},
		{"the last state is removed", (*space).lastTwo, func(o *space) {
			o.must(o.Remove("state-2"))
			o.must(o.Tidy(context.Background()))
		}, true},
		{"the pack with a content that returns is removed", (*space).returns, func(o *space) {
			o.must(o.Remove("state-2"))
			o.must(o.Tidy(context.Background()))
		}, true},
		{"the content is forgotten", (*space).lastTwo, func(o *space) {
			if ids, err := o.Forget(context.Background(), "folder", "token"); err != nil || len(ids) != 1 {
				o.Errorf("Forget: %v, %v", ids, err)
			}
		}, true},
		{"content that only the draft has is taken elsewhere and forgotten", func(s *space) {
			s.take()
			s.write("token", "secret")
		}, func(o *space) {
			o.write("token", "secret")
			o.takeOther("other")
			_, err := o.Forget(context.Background(), "other", "token")
			o.must(err)
		}, true},
		{"the last state of an unchanged folder is removed", (*space).unchanged, func(o *space) {
			o.must(o.Remove("state-1"))
			o.must(o.Tidy(context.Background()))
		}, true},
		{"the file of the draft is removed", nil, func(o *space) {
			for _, name := range o.files() {
				if strings.HasPrefix(name, ".draft-") {
					o.must(os.Remove(filepath.Join(o.workspace, states.Dir, name)))
				}
			}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSpace(t)
			s.write("a", "1")
			if tt.setup != nil {
				tt.setup(s)
			}
			s.write("b", "2")
			d := s.draft()
			s.beside(tt.do)
			st, err := d.Commit(t.Context())
			if tt.stale != errors.Is(err, states.ErrStale) || !tt.stale && err != nil {
				t.Fatalf("the commit: %v", err)
			}
			if tt.stale {
				s.reopen()
				if st, err = s.draft().Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.holds(st); got["a"] != "1" || got["b"] != "2" {
				t.Errorf("the state holds %q", got)
			}
			s.healthy()
		})
	}
}

func (s *space) must(err error) {
	s.Helper()
	if err != nil {
		s.Error(err)
	}
}

func (s *space) lastTwo() {
	s.write("token", "secret")
	s.take()
	s.write("c", "3")
	s.take()
}

// returns takes states such that the draft needs content that only state-2 has.
func (s *space) returns() {
	s.take()
	s.write("b", "2")
	s.take()
	s.must(os.Remove(filepath.Join(s.dir, "b")))
	s.take()
}

func (s *space) unchanged() {
	s.write("b", "2")
	s.take()
}

// TestDraftFlushes: the objects are durable before the commit, which may wait for a lock.
func TestDraftFlushes(t *testing.T) {
	s := newSpace(t)
	s.take()
	s.write("a", "1")
	d := s.draft()
	var flushed []string
	restore := durable.Interpose(func(_ *os.Root, st durable.Step) error {
		if st.Do == durable.Sync || st.Do == durable.SyncDir {
			flushed = append(flushed, st.Name)
		}
		return nil
	})
	_, err := d.Commit(t.Context())
	restore()
	s.must(err)
	if want := []string{"states", "states/states.jsonl"}; !slices.Equal(flushed, want) {
		t.Errorf("flushed %v, want %v", flushed, want)
	}
}

// TestDiscardedDraft: a draft that is discarded, or whose process is killed, leaves nothing
// after the next one, and after a day nothing for any writer.
func TestDiscardedDraft(t *testing.T) {
	s := newSpace(t)
	s.write("a", "1")
	s.draft().Discard()
	if list := s.files(); len(list) != 0 {
		t.Errorf("%v is left", list)
	}
	s.draft() // killed
	s.reopen()
	s.take()
	s.healthy()
	s.write("a", "2")
	s.draft() // killed
	old := time.Now().Add(-25 * time.Hour)
	for _, name := range s.files() {
		if strings.HasPrefix(name, ".") {
			s.must(os.Chtimes(filepath.Join(s.workspace, states.Dir, name), old, old))
		}
	}
	s.reopen()
	s.must(s.Tidy(t.Context()))
	s.healthy()
}

// TestDraftsLaw: whatever writers do in any order while drafts are open, each state that
// exists is whole, and has what its folder had when it was scanned.
func TestDraftsLaw(t *testing.T) {
	for seed := range testsize.Of(3, 6, 100) {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		s := newSpace(t)
		want := map[string]map[string]string{}
		forgot := false
		for range 12 {
			for range random.IntN(3) {
				s.write(fmt.Sprint(random.IntN(4)), fmt.Sprint(random.IntN(6)))
			}
			s.write("always", "there")
			d := s.draft()
			for range random.IntN(3) {
				s.beside(func(o *space) {
					list, err := o.States()
					o.must(err)
					switch n := random.IntN(4); {
					case n == 0:
						o.must(o.Tidy(context.Background()))
					case n == 1 && len(list) > 0:
						id := list[random.IntN(len(list))].ID
						delete(want, id)
						o.must(o.Remove(id))
					case n == 2 && random.IntN(8) == 0:
						ids, err := o.Forget(context.Background(), "folder", "0")
						o.must(err)
						forgot = forgot || len(ids) > 0
					default:
						o.write("x", fmt.Sprint(random.IntN(6)))
						o.takeOther(fmt.Sprintf("other-%d-%d", s.n, random.Uint64()))
					}
				})
			}
			st, err := d.Commit(t.Context())
			if errors.Is(err, states.ErrStale) {
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !forgot {
				want[st.ID] = s.holds(st)
				for name := range want[st.ID] {
					data, err := os.ReadFile(filepath.Join(s.dir, name))
					if err != nil || string(data) != want[st.ID][name] {
						t.Fatalf("seed %d: %s has %q of %s, and the folder %q", seed, st.ID, want[st.ID][name], name, data)
					}
				}
			}
			s.healthy()
			for id, was := range want {
				st, err := s.State(id)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if !forgot {
					s.check(st, was)
				}
			}
		}
	}
}
