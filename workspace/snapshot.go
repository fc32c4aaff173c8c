package workspace

import (
	"context"
	"errors"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// SnapshotOptions are the choices for a checkpoint or a branch.
type SnapshotOptions struct {
	// Name is the title, one line of at most [MaxTitle] bytes. If empty, it is derived from
	// the conversation's title.
	Name string
	// Auto makes an automatic checkpoint, which has no name and is pruned as
	// [Options.Retention] says. If any checkpoint of this path exists, it is
	// returned instead. Branch ignores Auto.
	Auto bool
	// Packed packs the checkpoint, whatever [Options.Packing] is. In Penguin's dialect
	// a note says that Penguin does not see it. Branch ignores Packed.
	Packed bool
	// Task stores in a checkpoint what was being done: see [agents.TaskPoint]. Branch ignores Task.
	Task bool
	// KeepOld keeps Checkpoint from pruning after an automatic checkpoint.
	// [Snapshot.PruneDue] says then whether the caller should call [Workspace.Prune], with
	// [PruneOptions.After].
	KeepOld bool
	// KeepHead keeps Branch from moving the head.
	KeepHead bool
	// ID is the id of the branch. If a branch of this path with the id exists, it is
	// returned. If empty, an id is generated. Checkpoint ignores ID.
	ID string
	// Files keeps the files of a folder too. If the path ends with the newest message of its
	// conversation, a new state of the folder is taken. Otherwise the state at the end of the path
	// is used, or the nearest earlier one; if there is none, the error has the code
	// [fault.NotFound].
	//
	// Branch makes a folder with this state, to work in; see [Folder.Checkout].
	Files bool
	Dir   string // the folder, as for [Workspace.Folder]
	// Into is the folder that Branch makes, which must be new or empty. If empty, it is a new
	// one beside the folder, or beside the repository that contains it.
	Into string
	checkpoint.CutOptions
}

// cut resolves ref and moves back to the nearest message at which a path can
// end.
func cut(v *store.View, ref string, o checkpoint.CutOptions) (*store.Place, checkpoint.Adjustment, error) {
	p, err := v.Place(ref, o.Partial)
	if err != nil {
		return nil, checkpoint.Adjustment{}, err
	}
	c, err := p.Cut(o)
	return p, c, err
}

// Checkpoint creates a read-only copy of the path to ref, which depends on no
// other session. If the path would separate a tool call from its result, it
// ends before the call, unless o is strict. After an automatic checkpoint it
// prunes if that is due, unless o.KeepOld is set; see [Workspace.Prune].
func (w *Workspace) Checkpoint(ctx context.Context, ref string, o SnapshotOptions) (*Snapshot, error) {
	if err := store.CheckTitle("name", o.Name); err != nil {
		return nil, err
	}
	if !o.Files {
		return w.checkpoint(ctx, ref, o)
	}
	kept, err := folders.Keep(ctx, w.store, "checkpoint", o.Dir, ref, o.CutOptions)
	if err != nil {
		return nil, store.Explained(err)
	}
	snap, err := w.checkpoint(ctx, kept.Ref, o)
	if err == nil {
		snap.Files = kept.State
	}
	return snap, err
}

func (w *Workspace) checkpoint(ctx context.Context, ref string, o SnapshotOptions) (*Snapshot, error) {
	type snapshot struct {
		*Snapshot
		packed packedTo
	}
	op := operation.Operation{Verb: "checkpoint", Args: store.Args{"ref": ref, "name": o.Name}, Auto: o.Auto}
	snap, err := store.Update(ctx, w.store, op, func(tx *store.Tx) (snap snapshot, err error) {
		p, cut, err := cut(tx.View, ref, o.CutOptions)
		if err != nil {
			return snap, err
		}
		if o.Auto {
			if existing, err := taken(tx.View, p); existing != nil || err != nil {
				return snapshot{existing, packedTo{}}, err
			}
		}
		made, packed, err := takeCheckpoint(tx, p, o)
		if err != nil {
			return snap, err
		}
		made.Adjustment = cut
		if o.Auto {
			made.PruneDue = isPruneDue(tx.View, packed, o.KeepOld)
		}
		return snapshot{made, packed}, nil
	})
	if err == nil && snap.packed.hidden {
		w.store.Opts.Note("Penguin does not see this checkpoint, because it is packed")
	}
	if err == nil && snap.PruneDue && !o.KeepOld {
		snap.PruneDue = false
		if _, err := prune(ctx, w.store, PruneOptions{}, snap.packed); err != nil {
			w.store.Opts.Note("old automatic checkpoints are not pruned: " + err.Error())
		}
	}
	return snap.Snapshot, err
}

// Branch creates a session with a copy of the path to ref, and moves the head
// to its end unless o.KeepHead is set. Like [Workspace.Checkpoint], it ends
// before an incomplete tool call.
func (w *Workspace) Branch(ctx context.Context, ref string, o SnapshotOptions) (*Snapshot, error) {
	if err := store.CheckTitle("name", o.Name); err != nil {
		return nil, err
	}
	if o.Files {
		return w.branchFiles(ctx, ref, o)
	}
	return w.branch(ctx, ref, o)
}

// branchFiles creates a branch and its folder. The folder comes first, so that a branch is
// never without it.
func (w *Workspace) branchFiles(ctx context.Context, ref string, o SnapshotOptions) (_ *Snapshot, err error) {
	defer func() { err = store.Explained(err) }()
	if w.store.Confined {
		return nil, &fault.Error{Code: fault.Refused, Message: "a new folder with files can be anywhere on the machine"}
	}
	kept, err := folders.Keep(ctx, w.store, "branch", o.Dir, ref, o.CutOptions)
	if err != nil {
		return nil, err
	}
	folder, err := kept.CheckOut(ctx, w.store, o.Into, o.Name)
	if err != nil {
		return nil, err
	}
	snap, err := w.branch(ctx, kept.Ref, o)
	if err != nil {
		return nil, errors.Join(err, folders.Discard(folder))
	}
	snap.Files, snap.Folder = kept.State, folder
	if err := folders.Settle(ctx, w.store, folder.Dir, snap.ID, string(snap.BranchPoint)); err != nil {
		w.store.Opts.Note("no state of the folder of the branch: " + err.Error())
	}
	return snap, nil
}

func (w *Workspace) branch(ctx context.Context, ref string, o SnapshotOptions) (*Snapshot, error) {
	op := operation.Operation{Verb: "branch", Args: store.Args{"ref": ref, "name": o.Name}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*Snapshot, error) {
		p, cut, err := cut(tx.View, ref, o.CutOptions)
		if err != nil {
			return nil, err
		}
		if existing, err := madeBranch(tx.View, o.ID, p); existing != nil || err != nil {
			return existing, err
		}
		snap, err := takeSnapshot(tx, p, checkpoint.Spec{ID: o.ID, Kind: session.Branch, Title: o.Name})
		if err != nil {
			return nil, err
		}
		snap.Adjustment = cut
		if o.KeepHead {
			return snap, nil
		}
		_, err = tx.MoveHead(snap.ID, p.MessageID(), p.MessageID())
		return snap, err
	})
}

// madeBranch returns the branch with an id, nil if there is none.
func madeBranch(v *store.View, id string, p *store.Place) (*Snapshot, error) {
	if id == "" || v.Index.Entry(id) == nil && v.Index.Err(id) == nil {
		return nil, nil
	}
	if err := v.Index.Err(id); err != nil {
		return nil, err
	}
	e := v.Index.Entry(id)
	if e.Kind() != session.Branch || e.BranchPoint != p.MessageID() {
		return nil, &fault.Error{Code: fault.Refused, Message: "the session " + id + " already exists and is not a branch of this message"}
	}
	return snapshotOf(v, id), nil
}

// taken returns an existing checkpoint of the path to p, nil if there is none.
func taken(v *store.View, p *store.Place) (*Snapshot, error) {
	list, err := v.Index.CheckpointsAt(p.MessageID())
	for _, e := range list {
		if e.Origin() == p.Source().ID || isOfPath(v, e.ID, p) {
			return snapshotOf(v, e.ID), nil
		}
	}
	return nil, err
}

// isOfPath reports whether a snapshot has the messages of the path to p. Their
// sessions may differ, because a branch begins with copies.
func isOfPath(v *store.View, id string, p *store.Place) bool {
	path := p.Path(p.Node)
	s, err := v.Folder.Read(id)
	if err != nil || len(s.Messages) != len(path) {
		return false
	}
	for i, m := range s.Messages {
		if m.ID != p.ID(path[i]) {
			return false
		}
	}
	return true
}

// takeSnapshot stages a snapshot of the path to p. spec has its kind, its title,
// and whether it is automatic.
func takeSnapshot(tx *store.Tx, p *store.Place, spec checkpoint.Spec) (*Snapshot, error) {
	d, err := tx.View.Document(p, spec)
	if err != nil {
		return nil, err
	}
	if err := tx.Create(d); err != nil {
		return nil, err
	}
	return snapshotOf(tx.View, d.ID), nil
}

// packedFrom is the size of the messages in bytes from which an automatic checkpoint is
// packed.
const packedFrom = 128 << 10

// A packedTo is the result of a checkpoint that matters to the upkeep after it.
type packedTo struct {
	auto   bool
	line   string // whose pack got its messages, "" if it is not packed
	raw    bool   // these are not compressed
	untidy bool   // earlier ones of the pack are not
	hidden bool   // packing was requested, in the dialect of Penguin, which does not see packed checkpoints
}

// takeCheckpoint stages a checkpoint of the path to p.
func takeCheckpoint(tx *store.Tx, p *store.Place, o SnapshotOptions) (made *Snapshot, to packedTo, err error) {
	to.auto = o.Auto
	spec := checkpoint.Spec{Kind: session.Checkpoint, Title: o.Name, Auto: o.Auto}
	var at *agents.TaskPoint
	if o.Task {
		if at, err = taskPoint(tx.View, p); err != nil {
			return nil, to, err
		}
		spec.Task = rawjson.Value(at, 3)
	}
	defer func() {
		if made != nil {
			made.Task = at
		}
	}()
	d, err := tx.View.Document(p, spec)
	if err != nil {
		return nil, to, err
	}
	packed := o.Packed
	switch packing := tx.View.Store.Opts.Packing; {
	case packing == checkpoint.PackNone:
	case packing == checkpoint.PackAll && tx.View.Index.Dialect() == session.Bough:
		packed = true
	default:
		packed = packed || o.Auto && d.MessageBytes() >= packedFrom
	}
	if !packed {
		if err := tx.Create(d); err != nil {
			return nil, to, err
		}
		return snapshotOf(tx.View, d.ID), to, nil
	}
	to.line = p.Parts[0].ID
	lineage, _ := tx.View.Lineage(p.Source().ID)
	staged, err := tx.CreatePacked(d, to.line, lineage)
	if err != nil {
		return nil, to, err
	}
	to.raw, to.untidy, to.hidden = staged.Raw, staged.Untidy, o.Packed && tx.View.Index.Dialect() == session.Penguin
	made = snapshotOf(tx.View, d.ID)
	made.Stored = staged.Stored
	return made, to, nil
}

// snapshotOf returns the entry and the file of a snapshot.
func snapshotOf(v *store.View, id string) *Snapshot {
	return &Snapshot{Entry: entryOf(v, id), Path: v.Path(v.File(id)), Bytes: v.Index.Entry(id).Size()}
}
