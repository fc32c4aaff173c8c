package workspace

import (
	"context"
	"errors"
	"os"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
)

// A View is a consistent state of a workspace, for reading.
type View struct {
	store  *base
	ctx    context.Context
	root   *os.Root
	folder session.Folder
	mode
	index     *index.Index
	penguin   map[string]checkpoint.Penguin
	outlines  map[string]*session.Outline // read so far
	kept      keeping
	opened    map[string]*session.Session // opened so far
	own       map[string]bool             // sessions of an interrupted operation
	asLogged  map[string]bool             // whether each session that the index lacks is as logged; nil if not computed
	noted     string                      // the last note about the index
	forgetful bool                        // add nothing to the cache
}

// A Tx is a transaction on a workspace: its commit writes the staged changes.
type Tx struct {
	View      *View
	batch     *durable.Batch         // the staged changes
	written   []written              // the staged sessions
	gone      []string               // sessions that it moves to the trash
	op        *operation.Operation   // the operation for the log
	earlier   []*operation.Operation // earlier operations of the same commit, see begin
	grouped   bool                   // the operations form a group
	group     operation.Seq          // number of the group, 0 for a new one
	completed bool                   // it completes an interrupted operation, without a new one
	logEmpty  bool                   // log the operation even if it has no changes
	seq       operation.Seq          // of the last line of the log
	highest   operation.Seq          // highest number in a log that was replaced
	trash     string                 // folder of this command in the trash, "" before the first file
	mark      string                 // suffix of that folder
}

// A mode is how a method opens the workspace.
type mode struct {
	writes bool // with the lock
	fresh  bool // without the cache of sessions
	every  bool // check every session
	// Change nothing if the sessions folder is missing: it may have been moved,
	// which does not mean that every session was removed.
	present bool
}

// errAway is the error of an operation that must not run while the sessions
// folder is missing.
var errAway = errors.New("the sessions folder is missing")

// checkPresent returns errAway if the sessions folder is missing and m.present
// is set.
func (v *View) checkPresent() error {
	if v.present && !v.isThere(session.Dir) {
		return errAway
	}
	return nil
}

// load opens a workspace.
func (w *base) load(ctx context.Context, root *os.Root, m mode) (*View, error) {
	v := &View{
		store:    w,
		ctx:      ctx,
		root:     root,
		mode:     m,
		folder:   session.NewFolder(root, w.memory),
		penguin:  map[string]checkpoint.Penguin{},
		outlines: map[string]*session.Outline{},
		opened:   map[string]*session.Session{},
		own:      map[string]bool{},
	}
	if v.fresh {
		v.folder = v.folder.Fresh()
	}
	checkpoints, err := checkpoint.ListPenguin(root)
	if err != nil {
		return nil, err
	}
	aliases := map[string]string{}
	for _, cp := range checkpoints {
		v.penguin[cp.ID] = cp
		if cp.Session != "" {
			aliases[cp.ID] = cp.Session
		}
	}
	if v.index, err = index.Open(root, aliases, v.summary); err != nil {
		return nil, err
	}
	if !m.writes {
		v.follow("the log of operations cannot be read", v.hidePending())
	}
	return v, ctx.Err()
}

// newTx begins a transaction on the state v.
func newTx(v *View) *Tx {
	tx := &Tx{View: v, batch: durable.NewBatch(v.root), op: &operation.Operation{}}
	tx.batch.Around = v.index.Change
	return tx
}

// whole checks every session and notes the problems.
func (v *View) whole() error {
	err := v.index.Whole()
	if err == nil {
		v.noteTrouble()
	}
	return err
}

// noteTrouble notes, once, why the index was not usable. A reader does not note
// it if a write in progress may be the reason.
func (v *View) noteTrouble() {
	if !v.writes && v.index.Trouble != "" && !v.index.Torn && writelock.Held(v.root, stateDir) {
		v.index.Trouble = ""
	}
	if v.index.Trouble != "" && v.index.Trouble != v.noted {
		v.noted = v.index.Trouble
		v.store.opts.Note(v.noted + "; the sessions are read from their files")
	}
}

func (v *View) isPenguin(id string) bool {
	_, ok := v.penguin[id]
	return ok && v.index.Entry(id) == nil
}

// kind returns the kind of a session; Penguin's checkpoints have the kind
// checkpoint.
func (v *View) kind(id string) session.Kind {
	if e := v.index.Entry(id); e != nil {
		return e.Kind()
	}
	return session.Checkpoint
}

// locate adds the position in the file to an error about a link.
func (v *View) locate(err error) error {
	var missing *index.MissingError
	var ring *index.CycleError
	switch {
	case errors.As(err, &missing):
		if o, err := v.outline(missing.From); err == nil {
			missing.Offset = o.LinkOffset
		}
		if v.isPenguin(missing.From) {
			missing.File = checkpoint.PenguinFile(missing.From)
		}
	case errors.As(err, &ring):
		if o, err := v.outline(ring.IDs[0]); err == nil {
			ring.Offset = o.LinkOffset
		}
	}
	return err
}

// lineage returns the ids from the root to id.
func (v *View) lineage(id string) ([]string, error) {
	list, err := v.lineageOf(id)
	return list, v.locate(err)
}

// lineageOf is lineage, but reads no file, so its error does not locate a
// dangling link.
func (v *View) lineageOf(id string) ([]string, error) {
	if !v.isPenguin(id) {
		return v.index.Lineage(id)
	}
	from := v.penguin[id].Session
	if v.index.Entry(from) == nil {
		if from == "" {
			return []string{id}, nil
		}
		return []string{from, id}, nil
	}
	list, err := v.index.Lineage(from)
	return append(list, id), err
}
