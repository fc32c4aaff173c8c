package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/restores"
)

// TestCanceledRestore: a verb on files whose context ends at any step either changes nothing and
// says so, or is completed and succeeds.
func TestCanceledRestore(t *testing.T) {
	for _, row := range []struct {
		what  string
		setup func(*shelf)
		verb  func(context.Context, *shelf) error
	}{
		{"files", func(*shelf) {}, func(ctx context.Context, s *shelf) error {
			_, err := s.Folder(s.dir()).RestoreFiles(ctx, "Kept", restores.Options{})
			return err
		}},
		{"both", func(*shelf) {}, func(ctx context.Context, s *shelf) error {
			_, err := s.Folder(s.dir()).Rewind(ctx, "HEAD^", checkpoint.CutOptions{}, restores.Options{})
			return err
		}},
		{"a turn", func(s *shelf) { s.turn(true, "a", "3", "c", "") }, func(ctx context.Context, s *shelf) error {
			_, err := s.Folder(s.dir()).UndoTurn(ctx, "HEAD", restores.Options{})
			return err
		}},
		{"undo", func(s *shelf) { s.rewindFiles("HEAD^") }, func(ctx context.Context, s *shelf) error {
			_, err := s.Undo(ctx, history.UndoOptions{})
			return err
		}},
		{"redo", func(s *shelf) {
			s.rewindFiles("HEAD^")
			if _, err := s.Undo(s.Context(), history.UndoOptions{}); err != nil {
				s.Fatal(err)
			}
		}, func(ctx context.Context, s *shelf) error {
			_, err := s.Redo(ctx, history.UndoOptions{})
			return err
		}},
	} {
		t.Run(row.what, func(t *testing.T) {
			done, refused := 0, 0
			for k := 0; ; k += testsize.Of(31, 23, 1) {
				s := shelfWithStates(t)
				row.setup(s)
				before := outcome{s.has(), s.head(), s.newest()}
				ctx, cancel := context.WithCancel(t.Context())
				n := 0
				stop := durable.Interpose(func(*os.Root, durable.Step) error {
					if n++; n > k {
						cancel()
					}
					return nil
				})
				err := row.verb(ctx, s)
				stop()
				cancel()
				after := outcome{s.has(), s.head(), s.newest()}
				journals, _ := filepath.Glob(filepath.Join(s.base, "ws", "states", "restoring", "*.journal"))
				switch {
				case len(journals) > 0:
					t.Errorf("canceled at step %d: %q is left, %v", k, journals, err)
				case err == nil && after == before:
					t.Errorf("canceled at step %d: nothing happened", k)
				case err == nil:
					done++
				case !errors.Is(err, context.Canceled) || after != before:
					t.Errorf("canceled at step %d: %v, and there is %+v", k, err, after)
				default:
					refused++
				}
				if n <= k {
					break
				}
			}
			if done < 2 || refused == 0 {
				t.Errorf("%d were completed, %d refused", done, refused)
			}
		})
	}
}

// rewindFiles brings files and head back.
func (s *shelf) rewindFiles(ref string) {
	s.Helper()
	if _, err := s.Folder(s.dir()).Rewind(s.Context(), ref, checkpoint.CutOptions{}, restores.Options{}); err != nil {
		s.Fatal(err)
	}
}
