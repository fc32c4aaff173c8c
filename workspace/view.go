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

// A View is a workspace at one moment, for reading.
type View struct {
	store  *base
	ctx    context.Context
	root   *os.Root
	folder session.Folder
	mode
	index     *index.Index
	penguin   map[string]checkpoint.Penguin
	outlines  map[string]*session.Outline // known so far
	kept      keeping
	opened    map[string]*session.Session // read so far
	own       map[string]bool             // sessions of an operation that was interrupted
	asLogged  map[string]bool             // of the sessions that the index lacks, whether they are as logged; nil if not computed
	noted     string                      // the last note about the index
	forgetful bool                        // nothing is remembered when it is done
}

// A Tx is a change of a workspace: its commit writes the staged changes.
type Tx struct {
	View      *View
	batch     *durable.Batch         // the staged changes
	written   []written              // the sessions among that
	gone      []string               // the sessions that it moves to the trash
	op        *operation.Operation   // the operation for the log
	earlier   []*operation.Operation // the operations before it, see begin
	grouped   bool                   // the operations form one group
	group     operation.Seq          // its number, 0 for a new one
	completed bool                   // an interrupted operation is being completed, without a new one
	always    bool                   // the operation is logged even if it changes no file of the log
	seq       operation.Seq          // of the last line of the log
	highest   operation.Seq          // that a log named which was replaced
	trash     string                 // where this command discards files, "" before the first
	mark      string                 // ends the name of that folder
}

// A mode is how a method looks at the workspace.
type mode struct {
	writes bool // it has the lock
	fresh  bool // it believes nothing that is remembered of sessions
	every  bool // it looks at every session
	// If the sessions folder was moved away, the writer must change nothing: that
	// does not mean that every session was removed.
	present bool
}

// errAway is the error of a method that changes nothing while the folder of the sessions
// is gone.
var errAway = errors.New("the sessions folder is missing")

// checkPresent returns errAway if the sessions folder is missing and must not be.
func (v *View) checkPresent() error {
	if v.present && !v.isThere(session.Dir) {
		return errAway
	}
	return nil
}

// load looks at a workspace.
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

// newTx begins a change of the workspace as v has it.
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

// noteTrouble notes, once, why the index was not usable. A write in progress is
// no reason to note it for a reader.
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

// kind returns the kind of a session; Penguin's checkpoints are checkpoints.
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

// lineageOf is lineage without the position of a dangling link, so that it reads no
// file.
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
