package workspace

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/internal/eraser"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// PruneOptions are the choices for a prune.
type PruneOptions struct {
	// DryRun reports without changing anything.
	DryRun bool
}

// A PruneDecision is an automatic checkpoint, and whether a prune keeps it.
type PruneDecision struct {
	ID        string    `json:"session_id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	Kept      bool      `json:"kept"`
	Reason    string    `json:"reason"` // in words
}

// A PruneResult lists all automatic checkpoints, oldest first.
type PruneResult struct {
	Checkpoints []PruneDecision `json:"checkpoints"`
}

// prunedMark is the suffix of a folder that a prune made in the trash, and
// prunedAge is how long it stays there.
const (
	prunedMark = "-pruned"
	prunedAge  = 7 * 24 * time.Hour
)

// Prune moves the automatic checkpoints that [Options.Retention] does not keep
// to the trash, and deletes those that earlier prunes moved there at least a
// week ago. It keeps named checkpoints, those that others depend on, and
// Penguin's.
func (w *Workspace) Prune(ctx context.Context, o PruneOptions) (*PruneResult, error) {
	return prune(ctx, w.store, o, packedTo{})
}

func prune(ctx context.Context, w *store.Store, o PruneOptions, after packedTo) (*PruneResult, error) {
	decide := func(v *store.View) (*PruneResult, error) {
		list, err := judge(v, w.Opts.Retention)
		return &PruneResult{list}, err
	}
	if o.DryRun {
		return store.Read(ctx, w, decide)
	}
	return store.Update(ctx, w, operation.Operation{Verb: "prune", Auto: after.auto}, func(tx *store.Tx) (*PruneResult, error) {
		p, err := decide(tx.View)
		if err != nil {
			return p, err
		}
		tx.Mark = prunedMark
		for _, c := range p.Checkpoints {
			if c.Kept {
				continue
			}
			if err := tx.Remove(c.ID); err != nil {
				return p, err
			}
		}
		before := tx.View.Store.Opts.Now().Add(-prunedAge)
		purged, err := eraser.Purge(tx, func(name string, at time.Time) bool { return strings.HasSuffix(name, prunedMark) && at.Before(before) })
		if err == nil && (!after.auto || purged > 0 || !after.raw && tx.HasRawPack(after.line)) {
			err = tx.TidyPacks()
		}
		return p, err
	})
}

// judge decides about each automatic checkpoint.
func judge(v *store.View, r checkpoint.Retention) ([]PruneDecision, error) {
	checkpoints, err := v.Index.AutoCheckpoints()
	if err != nil {
		return nil, err
	}
	bookmarks, _, err := v.Bookmarks()
	if err != nil {
		return nil, err // a damaged agent may refer to any session
	}
	list := []PruneDecision{}
	var taken []checkpoint.Taken
	for _, e := range checkpoints {
		t := checkpoint.Taken{ID: e.ID, Line: e.Origin(), Created: e.CreatedAt, Auto: true}
		if len(e.Lineage) > 0 {
			t.Line = e.Lineage[0]
		}
		taken = append(taken, t)
		list = append(list, PruneDecision{ID: e.ID, Title: v.Title(e), CreatedAt: store.Instant(e.CreatedAt)})
	}
	for i, verdict := range r.Apply(taken, v.Store.Opts.Now()) {
		list[i].Kept, list[i].Reason = verdict.Keep, verdict.Reason
		if verdict.Keep {
			continue
		}
		if why := needed(v, list[i].ID, bookmarks.Bookmarks); why != "" {
			list[i].Kept, list[i].Reason = true, why
		}
	}
	return list, nil
}

// needed returns why a checkpoint is kept although it is old, "" if nothing
// refers to it.
func needed(v *store.View, id string, bookmarks []bookmark.Bookmark) string {
	if h, ok := v.Head(); ok && h.Session == id {
		return "the head is in it"
	}
	if slices.ContainsFunc(bookmarks, func(b bookmark.Bookmark) bool { return b.Session == id }) {
		return "a bookmark is in it"
	}
	if v.MayRemove([]string{id}, true) != nil || len(v.PenguinBelow(id)) > 0 {
		return "another session continues it"
	}
	if o, err := v.Outline(id); err != nil || !o.FitsSeal {
		return "another program wrote to it"
	}
	return ""
}
