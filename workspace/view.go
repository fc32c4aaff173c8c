package workspace

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
)

// A view is a workspace at one moment, in the hands of one method.
type view struct {
	*Workspace
	ctx      context.Context
	root     *os.Root
	folder   session.Folder
	writes   bool // the method has the lock
	fresh    bool // nothing that is remembered of sessions is believed
	index    *index.Index
	penguin  map[string]checkpoint.Penguin
	outlines map[string]*session.Outline // known so far
	open     map[string]*session.Session // read so far
	batch    *durable.Batch              // what the method is going to change
	written  []*session.Outline          // the sessions among that, in order, before anything else
	removed  bool                        // sessions are in the trash already
	trash    string                      // where this command discards files, "" before the first
}

// load looks at a workspace.
func (w *Workspace) load(ctx context.Context, root *os.Root, fresh bool) (*view, error) {
	v := &view{
		Workspace: w,
		ctx:       ctx,
		root:      root,
		fresh:     fresh,
		folder:    session.NewFolder(root),
		batch:     durable.NewBatch(root),
		penguin:   map[string]checkpoint.Penguin{},
		outlines:  map[string]*session.Outline{},
		open:      map[string]*session.Session{},
	}
	if fresh {
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
	if v.index, err = index.Load(root, aliases); err != nil {
		return nil, err
	}
	return v, nil
}

// noteTrouble says why the index could not be used as it was.
func (v *view) noteTrouble() {
	if v.index.Trouble != "" {
		v.opts.Note(v.index.Trouble + "; the sessions are read from their files")
	}
}

// session reads a session, or one of Penguin's checkpoints, and believes nothing
// that is remembered of it.
func (v *view) session(id string) (*session.Session, error) {
	if s := v.open[id]; s != nil {
		return s, nil
	}
	if err := v.index.Err(id); err != nil {
		return nil, err
	}
	read := v.folder.Read
	if v.isPenguin(id) {
		read = func(id string) (*session.Session, error) { return checkpoint.ReadPenguin(v.root, id) }
	}
	s, err := read(id)
	if err != nil {
		return nil, known(id, err)
	}
	v.open[id], v.outlines[id] = s, s.Outline
	return s, nil
}

// known makes of the error for a session that is not there one that says that
// it was.
func known(id string, err error) error {
	if !errors.Is(err, session.ErrNotFound) {
		return err
	}
	gone := notFound("session", id)
	gone.Err = errGone
	return gone
}

// reopen returns the session of an outline, with its bytes.
func (v *view) reopen(o *session.Outline) (*session.Session, error) {
	if s := v.open[o.ID]; s != nil {
		return s, nil
	}
	s, err := v.folder.Open(o)
	if err == nil {
		v.open[o.ID] = s
	}
	return s, err
}

// outline returns the outline of a session, or of one of Penguin's checkpoints.
func (v *view) outline(id string) (*session.Outline, error) {
	list, err := v.outlineAll([]string{id})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// outlineAll returns the outlines of several sessions. Files are read by as many
// readers as there are processors. Of several errors it returns the one of the
// first session.
func (v *view) outlineAll(ids []string) ([]*session.Outline, error) {
	list := make([]*session.Outline, len(ids))
	errs := make([]error, len(ids))
	var total, done, next atomic.Int64
	var unknown []int
	for i, id := range ids {
		list[i] = v.outlines[id]
		switch {
		case list[i] != nil:
		case v.isPenguin(id):
			var s *session.Session
			if s, errs[i] = v.session(id); errs[i] == nil {
				list[i] = s.Outline
			}
		default:
			if errs[i] = v.index.Err(id); errs[i] == nil {
				unknown = append(unknown, i)
				if e := v.index.Entry(id); e != nil {
					total.Add(e.Size())
				}
			}
		}
	}
	var readers sync.WaitGroup
	var telling sync.Mutex
	for range min(runtime.GOMAXPROCS(0), len(unknown)) {
		readers.Go(func() {
			scratch := &session.Scratch{}
			for k := int(next.Add(1)) - 1; k < len(unknown) && v.ctx.Err() == nil; k = int(next.Add(1)) - 1 {
				i := unknown[k]
				list[i], errs[i] = v.readOutline(ids[i], scratch)
				if errs[i] != nil {
					errs[i] = known(ids[i], errs[i])
					continue
				}
				if v.writes {
					v.folder.Remember(list[i])
				}
				telling.Lock()
				v.opts.Progress("reading", done.Add(list[i].Stat.Size), total.Load())
				telling.Unlock()
			}
		})
	}
	readers.Wait()
	if err := v.ctx.Err(); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if errs[i] != nil {
			return nil, errs[i]
		}
		v.outlines[id] = list[i]
	}
	return list, nil
}

// readOutline reads the outline of a session. One who reads beside a writer, and
// found that a session changed meanwhile, takes its bytes with it.
func (v *view) readOutline(id string, scratch *session.Scratch) (*session.Outline, error) {
	if !v.fresh || v.writes {
		return v.folder.Outline(id, scratch)
	}
	s, err := v.folder.Read(id)
	if err != nil {
		return nil, err
	}
	return s.Outline, nil
}

func (v *view) isPenguin(id string) bool {
	_, ok := v.penguin[id]
	return ok && v.index.Entry(id) == nil
}

// kind returns what the session is; Penguin's checkpoints are checkpoints.
func (v *view) kind(id string) session.Kind {
	if e := v.index.Entry(id); e != nil {
		return e.Kind()
	}
	return session.Checkpoint
}

// locate adds to an error about links where in the file the link stands.
func (v *view) locate(err error) error {
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
func (v *view) lineage(id string) ([]string, error) {
	if !v.isPenguin(id) {
		list, err := v.index.Lineage(id)
		return list, v.locate(err)
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
