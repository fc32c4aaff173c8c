package workspace

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
)

// A view is a workspace at one moment, in the hands of one method.
type view struct {
	*Workspace
	root    *os.Root
	folder  session.Folder
	index   *index.Index
	penguin map[string]checkpoint.Penguin
	open    map[string]*session.Session // read so far
	trash   string                      // where this command discards files, "" before the first
}

func (w *Workspace) load(root *os.Root) (*view, error) {
	v := &view{
		Workspace: w,
		root:      root,
		folder:    session.NewFolder(root),
		penguin:   map[string]checkpoint.Penguin{},
		open:      map[string]*session.Session{},
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

// session reads a session, or one of Penguin's checkpoints.
func (v *view) session(id string) (*session.Session, error) {
	if s := v.open[id]; s != nil {
		return s, nil
	}
	s, err := v.readSession(id)
	if err == nil {
		v.open[id] = s
	}
	return s, err
}

// sessions reads several sessions, as many at once as there are processors. Of
// several errors it returns the one of the first session.
func (v *view) sessions(ids []string) ([]*session.Session, error) {
	list := make([]*session.Session, len(ids))
	errs := make([]error, len(ids))
	var next atomic.Int32
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ids)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(ids); i = int(next.Add(1)) - 1 {
				if list[i] = v.open[ids[i]]; list[i] == nil {
					list[i], errs[i] = v.readSession(ids[i])
				}
			}
		})
	}
	readers.Wait()
	for i, id := range ids {
		if errs[i] != nil {
			return nil, errs[i]
		}
		v.open[id] = list[i]
	}
	return list, nil
}

func (v *view) readSession(id string) (s *session.Session, err error) {
	if err := v.index.Err(id); err != nil {
		return nil, err
	}
	if v.isPenguin(id) {
		s, err = checkpoint.ReadPenguin(v.root, id)
	} else {
		s, err = v.folder.Read(id)
	}
	if errors.Is(err, session.ErrNotFound) {
		gone := notFound("session", id)
		gone.Err = errGone
		return nil, gone
	}
	return s, err
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
		if s, err := v.session(missing.From); err == nil {
			missing.Offset = s.LinkOffset()
		}
		if v.isPenguin(missing.From) {
			missing.File = checkpoint.PenguinFile(missing.From)
		}
	case errors.As(err, &ring):
		if s, err := v.session(ring.IDs[0]); err == nil {
			ring.Offset = s.LinkOffset()
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
