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
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/eraser"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// PruneOptions are the choices for a prune.
type PruneOptions struct {
	// DryRun reports without changing anything.
	DryRun bool

	// After, if not empty, is the id of the automatic checkpoint whose prune
	// [SnapshotOptions.KeepOld] postponed. The prune is then an automatic operation. It looks for
	// packs to rewrite only if it deleted messages, or if a pack of this checkpoint has messages
	// that are not compressed.
	After session.ID

	// States prunes only the states of folders, if they take more than [Options.FilesLimit], and
	// merges their packs if they are many, as [files.SnapOptions.KeepOld] postpones it.
	States bool
}

// A PruneDecision is an automatic checkpoint, and whether a prune keeps it.
type PruneDecision struct {
	ID        string    `json:"session_id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	Kept      bool      `json:"kept"`
	Reason    string    `json:"reason"` // in words
}

// A PruneResult lists all automatic checkpoints, oldest first, and the states of folders that
// are removed.
type PruneResult struct {
	Checkpoints []PruneDecision `json:"checkpoints"`
	States      []files.Pruned  `json:"states"` // those that are removed
}

// prunedMark is the suffix of a folder that a prune made in the trash, and
// prunedAge is how long it stays there.
const (
	prunedMark = "-pruned"
	prunedAge  = 7 * 24 * time.Hour
)

// Prune moves the automatic checkpoints that [Options.Retention] does not keep to the trash, and
// deletes those that earlier prunes moved there at least a week ago. It keeps named checkpoints,
// those that others depend on, and Penguin's. It also deletes the automatic states of folders that
// were taken at the messages of the deleted checkpoints, and the oldest automatic states if all
// states together are larger than [Options.FilesLimit]. Undo does not restore states.
func (w *Workspace) Prune(ctx context.Context, o PruneOptions) (*PruneResult, error) {
	if o.States && !o.DryRun {
		removed, err := folders.PrunePostponed(ctx, w.store)
		return &PruneResult{Checkpoints: []PruneDecision{}, States: removed}, store.Explained(err)
	}
	return prune(ctx, w.store, o, packedTo{auto: o.After != ""})
}

func prune(ctx context.Context, w *store.Store, o PruneOptions, after packedTo) (*PruneResult, error) {
	decide := func(v *store.View) (*PruneResult, error) {
		list, err := judge(v, w.Opts.Retention, needed)
		return &PruneResult{Checkpoints: list, States: []files.Pruned{}}, err
	}
	if o.DryRun {
		return store.Read(ctx, w, func(v *store.View) (*PruneResult, error) {
			p, err := decide(v)
			if err != nil {
				return p, err
			}
			pruning, err := planStates(v)
			if err == nil {
				p.States = pruning.Removed
			}
			return p, err
		})
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
		pruning, err := planStates(tx.View)
		if err != nil {
			return p, err
		}
		purged, err := eraser.Purge(tx, isPurgeable(tx.View))
		if err == nil {
			p.States, err = pruning.Removed, pruning.Apply(tx.View)
		}
		if err == nil && (!after.auto || purged > 0 || !after.raw && (after.untidy || usesRawPack(tx, string(o.After)))) {
			err = tx.TidyPacks()
		}
		return p, err
	})
}

// planStates decides which states of folders a prune removes.
func planStates(v *store.View) (*folders.Pruning, error) {
	removed, err := eraser.Purgeable(v, isPurgeable(v))
	if err != nil {
		return nil, err
	}
	return folders.PlanPrune(v, removed)
}

// usesRawPack reports whether a packed checkpoint uses a pack with messages that are not
// compressed.
func usesRawPack(tx *store.Tx, id string) bool {
	e := tx.View.Index.Entry(id)
	if e == nil || e.Packed == nil {
		return false
	}
	for line := range e.Packed.Items {
		if tx.HasRawPack(line) {
			return true
		}
	}
	return false
}

// postponed is the number of old checkpoints from which a prune that was postponed is worth its
// time: removing one takes almost as long as removing several.
const postponed = 8

// isPruneDue reports whether a prune after an automatic checkpoint has something to do or, if it
// is postponed, so much that it is worth its time.
func isPruneDue(v *store.View, after packedTo, late bool) bool {
	if after.untidy && !after.raw || eraser.HasPurgeable(v, isPurgeable(v)) {
		return true
	}
	list, err := judge(v, v.Store.Opts.Retention, referred)
	if err != nil {
		return !late // the prune reports it
	}
	old := 0
	for _, c := range list {
		if !c.Kept {
			old++
		}
	}
	return old >= postponed || old > 0 && !late
}

// isPurgeable returns a function that reports whether a folder of the trash is to be deleted.
func isPurgeable(v *store.View) func(name string, at time.Time) bool {
	before := v.Store.Opts.Now().Add(-prunedAge)
	return func(name string, at time.Time) bool { return strings.HasSuffix(name, prunedMark) && at.Before(before) }
}

// judge decides about each automatic checkpoint. needed returns why one is kept although it is
// old, "" if nothing needs it.
func judge(v *store.View, r checkpoint.Retention, needed func(*store.View, string, []bookmark.Bookmark) string) ([]PruneDecision, error) {
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
// refers to it. It reads the checkpoint.
func needed(v *store.View, id string, bookmarks []bookmark.Bookmark) string {
	if why := referred(v, id, bookmarks); why != "" {
		return why
	}
	if o, err := v.Outline(id); err != nil || !o.FitsSeal {
		return "another program wrote to it"
	}
	return ""
}

// referred returns what refers to a checkpoint, "" if nothing does.
func referred(v *store.View, id string, bookmarks []bookmark.Bookmark) string {
	if h, ok := v.Head(); ok && h.Session == id {
		return "the head is in it"
	}
	if slices.ContainsFunc(bookmarks, func(b bookmark.Bookmark) bool { return b.Session == id }) {
		return "a bookmark is in it"
	}
	if v.MayRemove([]string{id}, true) != nil || len(v.PenguinBelow(id)) > 0 {
		return "another session continues it"
	}
	return ""
}
