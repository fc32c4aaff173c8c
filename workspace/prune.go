package workspace

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
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
	return w.store.prune(ctx, o, false)
}

func (w *base) prune(ctx context.Context, o PruneOptions, auto bool) (*PruneResult, error) {
	decide := func(v *View) (*PruneResult, error) {
		list, err := v.judge(w.opts.Retention)
		return &PruneResult{list}, err
	}
	if o.DryRun {
		return read(ctx, w, decide)
	}
	return update(ctx, w, operation.Operation{Verb: "prune", Auto: auto}, func(tx *Tx) (*PruneResult, error) {
		p, err := decide(tx.View)
		if err != nil {
			return p, err
		}
		tx.mark = prunedMark
		for _, c := range p.Checkpoints {
			if c.Kept {
				continue
			}
			if err := tx.remove(c.ID); err != nil {
				return p, err
			}
		}
		before := tx.View.store.opts.Now().Add(-prunedAge)
		return p, tx.purge(func(name string, at time.Time) bool { return strings.HasSuffix(name, prunedMark) && at.Before(before) })
	})
}

// judge decides about each automatic checkpoint.
func (v *View) judge(r checkpoint.Retention) ([]PruneDecision, error) {
	if err := v.whole(); err != nil {
		return nil, err
	}
	bookmarks, _, err := v.bookmarks()
	if err != nil {
		return nil, err // a damaged agent may refer to any session
	}
	list := []PruneDecision{}
	var taken []checkpoint.Taken
	for _, e := range v.index.Entries() {
		if e.Kind() != session.Checkpoint || !e.Auto {
			continue
		}
		t := checkpoint.Taken{ID: e.ID, Line: e.Origin(), Created: e.CreatedAt, Auto: true}
		if len(e.Lineage) > 0 {
			t.Line = e.Lineage[0]
		}
		taken = append(taken, t)
		list = append(list, PruneDecision{ID: e.ID, Title: v.title(e), CreatedAt: instant(e.CreatedAt)})
	}
	for i, verdict := range r.Apply(taken, v.store.opts.Now()) {
		list[i].Kept, list[i].Reason = verdict.Keep, verdict.Reason
		if verdict.Keep {
			continue
		}
		if why := v.needed(list[i].ID, bookmarks.Bookmarks); why != "" {
			list[i].Kept, list[i].Reason = true, why
		}
	}
	return list, nil
}

// needed returns why a checkpoint is kept although it is old, "" if nothing
// refers to it.
func (v *View) needed(id string, bookmarks []bookmark.Bookmark) string {
	if h, ok := v.head(); ok && h.Session == id {
		return "the head is in it"
	}
	if slices.ContainsFunc(bookmarks, func(b bookmark.Bookmark) bool { return b.Session == id }) {
		return "a bookmark is in it"
	}
	if v.mayRemove([]string{id}, true) != nil || len(v.penguinBelow(id)) > 0 {
		return "another session continues it"
	}
	if o, err := v.outline(id); err != nil || !o.FitsSeal {
		return "another program wrote to it"
	}
	return ""
}
