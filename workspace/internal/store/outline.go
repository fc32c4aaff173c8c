package store

import (
	"errors"
	"sync"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
)

// PenguinCheckpoint reads one of Penguin's checkpoints. An unreadable session
// with the same id hides it.
func (v *View) PenguinCheckpoint(id string) (*session.Session, error) {
	if s := v.Opened[id]; s != nil {
		return s, nil
	}
	if err := v.Index.Err(id); err != nil {
		return nil, err
	}
	s, err := checkpoint.ReadPenguin(v.Root, id)
	if err != nil {
		return nil, Gone(id, err)
	}
	v.Opened[id], v.Outlines[id] = s, s.Outline
	return s, nil
}

// Gone adds to a not-found error that the session existed.
func Gone(id string, err error) error {
	if !errors.Is(err, session.ErrNotFound) {
		return err
	}
	missing := NoSuch("session", id)
	missing.Err = ErrGone
	return missing
}

// Reopen returns the session of an outline, with its content.
func (v *View) Reopen(o *session.Outline) (*session.Session, error) {
	if s := v.Opened[o.ID]; s != nil {
		return s, nil
	}
	s, err := v.Folder.Open(o)
	if err == nil {
		v.Opened[o.ID] = s
	}
	return s, err
}

// ReopenAll returns the sessions of outlines by id, with their content. It reads files
// concurrently.
func (v *View) ReopenAll(list []*session.Outline) (map[string]*session.Session, error) {
	opened, errs := make([]*session.Session, len(list)), make([]error, len(list))
	parallel.Do(len(list), func(i int) {
		if opened[i] = v.Opened[list[i].ID]; opened[i] == nil {
			opened[i], errs[i] = v.Folder.Open(list[i])
		}
	})
	all := make(map[string]*session.Session, len(list))
	for i, s := range opened {
		if errs[i] != nil {
			return nil, errs[i]
		}
		v.Opened[s.ID], all[s.ID] = s, s
	}
	return all, nil
}

// Outline returns the outline of a session, or of one of Penguin's checkpoints.
func (v *View) Outline(id string) (*session.Outline, error) {
	list, err := v.OutlineAll([]string{id})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// OutlineAll returns the outlines of several sessions. It reads files
// concurrently. If several cannot be read, it returns the error of the first in
// ids.
func (v *View) OutlineAll(ids []string) ([]*session.Outline, error) {
	list := make([]*session.Outline, len(ids))
	errs := make([]error, len(ids))
	var total, done int64 // bytes
	var unknown []int
	for i, id := range ids {
		list[i] = v.Outlines[id]
		switch {
		case list[i] != nil:
		case v.IsPenguin(id):
			var s *session.Session
			if s, errs[i] = v.PenguinCheckpoint(id); errs[i] == nil {
				list[i] = s.Outline
			}
		default:
			if errs[i] = v.Index.Err(id); errs[i] == nil {
				unknown = append(unknown, i)
				if e := v.Index.Entry(id); e != nil {
					total += e.Size()
				}
			}
		}
	}
	var telling sync.Mutex
	parallel.Do(len(unknown), func(k int) {
		i := unknown[k]
		if v.Ctx.Err() != nil {
			return
		}
		if list[i], errs[i] = v.ReadOutline(ids[i]); errs[i] != nil {
			errs[i] = Gone(ids[i], errs[i])
			return
		}
		telling.Lock()
		defer telling.Unlock()
		done += list[i].Stat.Size
		v.Store.Opts.Progress("reading", done, total)
	})
	if err := v.Ctx.Err(); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if errs[i] != nil {
			return nil, errs[i]
		}
		v.Outlines[id] = list[i]
	}
	return list, nil
}

// rememberNew adds the new outlines to the cache. A reader does so only if the
// workspace has the folder .bough.
func (v *View) rememberNew() {
	v.kept.Lock()
	list := v.kept.new
	v.kept.new = nil
	v.kept.Unlock()
	if len(list) == 0 {
		return
	}
	if _, err := v.Root.Stat(StateDir); err == nil || v.writes {
		v.Folder.Remember(list...)
	}
}

// rememberMeanwhile calls rememberNew while the caller writes a file. The View waits for it
// when it is done.
func (v *View) rememberMeanwhile() { v.kept.caching.Go(v.rememberNew) }

// ReadOutline reads the outline of a session, to be added to the cache. If the
// session changed since the last operation, another process is writing, and
// ReadOutline reads the whole file at once.
func (v *View) ReadOutline(id string) (*session.Outline, error) {
	if v.fresh && !v.writes {
		s, err := v.Folder.Read(id)
		if err != nil {
			return nil, err
		}
		return s.Outline, nil
	}
	o, err := v.Folder.Outline(id)
	if err == nil && !v.kept.take(o) && v.writes {
		v.Folder.Remember(o)
	}
	return o, err
}

// summary returns the index entry of a session. It keeps the outline in memory
// unless there are too many. It is safe for concurrent use.
func (v *View) summary(id string, size, total int64) (session.Summary, error) {
	if err := v.Ctx.Err(); err != nil {
		return session.Summary{}, err
	}
	o, err := v.ReadOutline(id)
	if err != nil {
		return session.Summary{}, err
	}
	v.kept.Lock()
	defer v.kept.Unlock()
	v.kept.read += size
	v.Store.Opts.Progress("reading", v.kept.read, total)
	if v.kept.messages += o.Len(); v.kept.messages <= maxKept {
		v.Outlines[id] = o
	}
	return o.Summary(), nil
}

// maxKept is the maximum number of messages in the outlines that are kept while
// the index is completed.
const maxKept = 1 << 20

// A keeping is the shared state of concurrent readers.
type keeping struct {
	sync.Mutex
	read     int64              // bytes that were read to complete the index
	messages int                // messages in the outlines that are kept
	new      []*session.Outline // to be added to the cache
	caching  sync.WaitGroup     // see [View.rememberMeanwhile]
}

// take keeps an outline for the cache, unless there are too many.
func (k *keeping) take(o *session.Outline) bool {
	const most = 64
	k.Lock()
	defer k.Unlock()
	if len(k.new) == most {
		return false
	}
	k.new = append(k.new, o)
	return true
}
