package folders

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

const defaultLimit = 2 << 30 // bytes of the packs

// Limit returns the maximum size of the states of a workspace in bytes, 0 if there is no limit.
func Limit(w *store.Store) int64 {
	if w.Opts.FilesLimit == 0 {
		return defaultLimit
	}
	return max(w.Opts.FilesLimit, 0)
}

// exceeds reports whether states of some bytes are more than the limit of a workspace.
func exceeds(w *store.Store, size int64) bool { return Limit(w) > 0 && size > Limit(w) }

// isFull reports whether the states of a workspace take more than the limit, and the user does
// not know yet that none can be removed.
func isFull(w *store.Store, root *os.Root, s *states.Store) (bool, error) {
	size, err := s.Size()
	return err == nil && exceeds(w, size) && !isTold(w, root, size), err
}

// isPruneDue reports whether [PrunePostponed] has something to do.
func isPruneDue(w *store.Store, root *os.Root, s *states.Store) bool {
	full, err := isFull(w, root, s)
	if err != nil || full {
		return true // the prune reports the error
	}
	scattered, err := s.IsScattered()
	return scattered || err != nil
}

// PrunePostponed removes states if those of the workspace take more than the limit, and merges
// packs if there are too many. It returns the states that it removed.
func PrunePostponed(ctx context.Context, w *store.Store) ([]files.Pruned, error) {
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := open(root)
	defer s.Close()
	removed, err := bound(ctx, w, root, s, "prune")
	if err == nil {
		err = tidy(ctx, w, s, "prune")
	}
	return removed, explain(err)
}

// prune is PrunePostponed after a state was taken: a problem is a note.
func prune(ctx context.Context, w *store.Store, root *os.Root, s *states.Store, verb string) {
	if _, err := bound(ctx, w, root, s, verb); err != nil {
		w.Opts.Note("old states of folders were not removed: " + err.Error())
	}
	if err := tidy(ctx, w, s, verb); err != nil {
		w.Opts.Note("the packs of states were not merged: " + err.Error())
	}
}

// bound removes states if those of the workspace take more than the limit. The caller has no
// lock of the workspace.
func bound(ctx context.Context, w *store.Store, root *os.Root, s *states.Store, verb string) ([]files.Pruned, error) {
	full, err := isFull(w, root, s)
	if err != nil || !full {
		return []files.Pruned{}, err
	}
	return store.Update(ctx, w, operation.Operation{Verb: verb, Auto: true}, func(tx *store.Tx) ([]files.Pruned, error) { return shrink(tx.View, s) })
}

// tidy merges packs if there are too many. The caller has no lock of the workspace.
func tidy(ctx context.Context, w *store.Store, s *states.Store, verb string) error {
	due, err := s.IsScattered()
	if err != nil || !due {
		return err
	}
	_, err = store.Update(ctx, w, operation.Operation{Verb: verb, Auto: true}, func(*store.Tx) (store.Nothing, error) {
		return store.Nothing{}, s.Tidy(ctx)
	})
	return err
}

// shrink removes states, or reports that none can be removed.
func shrink(v *store.View, s *states.Store) ([]files.Pruned, error) {
	p, err := PlanPrune(v, nil)
	if err == nil {
		err = p.Apply(v)
	}
	if err != nil {
		return nil, err
	}
	size, err := s.Size()
	if err != nil || !exceeds(v.Store, size) {
		return p.Removed, err
	}
	v.Store.Opts.Note(fmt.Sprintf("the states of folders take %d bytes, and files.limit is %d; no more can be removed: the others are not automatic, or are those of named checkpoints, branches and bookmarks, or undo needs them for a week", size, Limit(v.Store)))
	return p.Removed, durable.Cache(v.Root, session.CacheDir, toldFile, []byte(strconv.FormatInt(size, 10)))
}

// toldFile has the size that was reported because no state could be removed.
const toldFile = session.CacheDir + "/" + states.Dir + "/told"

// isTold reports whether the user knows that states of this size are more than the limit:
// after a note, the next one comes when they have grown by a quarter.
func isTold(w *store.Store, root *os.Root, size int64) bool {
	f, err := durable.OpenCache(root, toldFile, 32)
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return false
	}
	told, err := strconv.ParseInt(string(data), 10, 64)
	return err == nil && exceeds(w, told) && size < told+told/4
}
