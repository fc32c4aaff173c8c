package store

import (
	"context"
	"errors"
	"os"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/provenance"
)

// A View is a consistent state of a workspace, for reading.
type View struct {
	Store  *Store
	Ctx    context.Context
	Root   *os.Root
	Folder sessions.Folder
	Mode
	Index     *index.Index
	Penguin   map[string]checkpoint.Penguin
	Outlines  map[string]*session.Outline // read so far
	kept      keeping
	Opened    map[string]*session.Session // opened so far
	own       map[string]bool             // sessions of an interrupted operation
	asLogged  map[string]bool             // whether each session that the index lacks is as logged; nil if not computed
	noted     string                      // the last note about the index
	published map[Published]bool          // nil before the file was read
	origins   *provenance.List            // nil before the file was read
	places    places
	begun     map[index.Source]*begunGroup // found so far
	callers   map[string]map[string]string // by the first file of a line: the messages with its calls
	Forgetful bool                         // add nothing to the cache
}

// A Tx is a transaction on a workspace: its commit writes the staged changes.
type Tx struct {
	View      *View
	Batch     *durable.Batch         // the staged changes
	Written   []written              // the staged sessions
	gone      []string               // sessions that it moves to the trash
	Op        *operation.Operation   // the operation for the log
	earlier   []*operation.Operation // earlier operations of the same commit, see [Tx.Begin]
	Grouped   bool                   // the operations form a group
	Group     operation.Seq          // number of the group, 0 for a new one
	HeadMove  *HeadMove              // the staged change of the head, nil if there is none
	completed bool                   // it completes an interrupted operation, without a new one
	LogEmpty  bool                   // log the operation even if it has no changes
	Seq       operation.Seq          // of the last line of the log
	highest   operation.Seq          // highest number in a log that was replaced
	trash     string                 // folder of this command in the trash, "" before the first file
	Mark      string                 // suffix of that folder
}

// A Mode is how a method opens the workspace.
type Mode struct {
	writes bool // with the lock
	fresh  bool // without the cache of sessions
	Every  bool // check every session
	// Change nothing if the sessions folder is missing: it may have been moved,
	// which does not mean that every session was removed.
	Present bool
}

// ErrAway is the error of an operation that must not run while the sessions
// folder is missing.
var ErrAway = errors.New("the sessions folder is missing")

// CheckPresent returns ErrAway if the sessions folder is missing and the mode
// requires it.
func (v *View) CheckPresent() error {
	if v.Present && !v.IsThere(session.Dir) {
		return ErrAway
	}
	return nil
}

// load opens a workspace.
func (w *Store) load(ctx context.Context, root *os.Root, m Mode) (*View, error) {
	v := &View{
		Store:    w,
		Ctx:      ctx,
		Root:     root,
		Mode:     m,
		Folder:   sessions.New(root, w.Memory),
		Penguin:  map[string]checkpoint.Penguin{},
		Outlines: map[string]*session.Outline{},
		Opened:   map[string]*session.Session{},
		own:      map[string]bool{},
	}
	if v.fresh {
		v.Folder = v.Folder.Fresh()
	}
	checkpoints, err := checkpoint.ListPenguin(root)
	if err != nil {
		return nil, err
	}
	aliases := map[string]string{}
	for _, cp := range checkpoints {
		v.Penguin[cp.ID] = cp
		if cp.Session != "" {
			aliases[cp.ID] = cp.Session
		}
	}
	packed := w.packed
	if v.fresh {
		packed = nil
	}
	if v.Index, err = index.Open(root, aliases, v.summary, packed); err != nil {
		return nil, err
	}
	if !m.writes {
		v.Warn("the log of operations cannot be read", v.hidePending())
	}
	return v, ctx.Err()
}

// NewTx begins a transaction on the state v.
func NewTx(v *View) *Tx {
	tx := &Tx{View: v, Batch: durable.NewBatch(v.Root), Op: &operation.Operation{}}
	tx.Batch.Around, tx.Batch.Folder = v.Index.Change, session.Dir
	return tx
}

// Whole checks every session and notes the problems.
func (v *View) Whole() error {
	err := v.Index.Whole()
	if err == nil {
		v.noteTrouble()
	}
	return err
}

// noteTrouble notes, once, why the index was not usable. A reader does not note
// it if a write in progress may be the reason.
func (v *View) noteTrouble() {
	if !v.writes && v.Index.Trouble != "" && !v.Index.Torn && writelock.Held(v.Root, StateDir) {
		v.Index.Trouble = ""
	}
	if v.Index.Trouble != "" && v.Index.Trouble != v.noted {
		v.noted = v.Index.Trouble
		v.Store.Opts.Note(v.noted + "; the sessions are read from their files")
	}
}

// IsPenguin reports whether id is a checkpoint of Penguin that no session hides.
func (v *View) IsPenguin(id string) bool {
	_, ok := v.Penguin[id]
	return ok && v.Index.Entry(id) == nil
}

// Kind returns the kind of a session; Penguin's checkpoints have the kind
// checkpoint.
func (v *View) Kind(id string) session.Kind {
	if e := v.Index.Entry(id); e != nil {
		return e.Kind()
	}
	return session.Checkpoint
}

// locate adds the position in the file to an error about a link.
func (v *View) locate(err error) error {
	var missing *index.MissingError
	var cycle *index.CycleError
	switch {
	case errors.As(err, &missing):
		if o, err := v.Outline(missing.From); err == nil {
			missing.Offset = o.LinkOffset
		}
		if v.IsPenguin(missing.From) {
			missing.File = checkpoint.PenguinFile(missing.From)
		}
	case errors.As(err, &cycle):
		if o, err := v.Outline(cycle.IDs[0]); err == nil {
			cycle.Offset = o.LinkOffset
		}
	}
	return err
}

// Lineage returns the ids from the root to id.
func (v *View) Lineage(id string) ([]string, error) {
	list, err := v.LineageOf(id)
	return list, v.locate(err)
}

// LineageOf is Lineage, but reads no file, so its error does not locate a
// dangling link.
func (v *View) LineageOf(id string) ([]string, error) {
	if !v.IsPenguin(id) {
		return v.Index.Lineage(id)
	}
	from := v.Penguin[id].Session
	if v.Index.Entry(from) == nil {
		if from == "" {
			return []string{id}, nil
		}
		return []string{from, id}, nil
	}
	list, err := v.Index.Lineage(from)
	return append(list, id), err
}
