package workspace

import (
	"errors"
	"sync"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
)

// penguinCheckpoint reads one of Penguin's checkpoints. An unreadable session
// with the same id hides it.
func (v *View) penguinCheckpoint(id string) (*session.Session, error) {
	if s := v.opened[id]; s != nil {
		return s, nil
	}
	if err := v.index.Err(id); err != nil {
		return nil, err
	}
	s, err := checkpoint.ReadPenguin(v.root, id)
	if err != nil {
		return nil, gone(id, err)
	}
	v.opened[id], v.outlines[id] = s, s.Outline
	return s, nil
}

// gone adds to a not-found error that the session existed.
func gone(id string, err error) error {
	if !errors.Is(err, session.ErrNotFound) {
		return err
	}
	missing := notFound("session", id)
	missing.Err = errGone
	return missing
}

// reopen returns the session of an outline, with its content.
func (v *View) reopen(o *session.Outline) (*session.Session, error) {
	if s := v.opened[o.ID]; s != nil {
		return s, nil
	}
	s, err := v.folder.Open(o)
	if err == nil {
		v.opened[o.ID] = s
	}
	return s, err
}

// outline returns the outline of a session, or of one of Penguin's checkpoints.
func (v *View) outline(id string) (*session.Outline, error) {
	list, err := v.outlineAll([]string{id})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// outlineAll returns the outlines of several sessions. It reads files
// concurrently. If several cannot be read, it returns the error of the first in
// ids.
func (v *View) outlineAll(ids []string) ([]*session.Outline, error) {
	list := make([]*session.Outline, len(ids))
	errs := make([]error, len(ids))
	var total, done int64 // bytes
	var unknown []int
	for i, id := range ids {
		list[i] = v.outlines[id]
		switch {
		case list[i] != nil:
		case v.isPenguin(id):
			var s *session.Session
			if s, errs[i] = v.penguinCheckpoint(id); errs[i] == nil {
				list[i] = s.Outline
			}
		default:
			if errs[i] = v.index.Err(id); errs[i] == nil {
				unknown = append(unknown, i)
				if e := v.index.Entry(id); e != nil {
					total += e.Size()
				}
			}
		}
	}
	var telling sync.Mutex
	parallel.Do(len(unknown), func(k int) {
		i := unknown[k]
		if v.ctx.Err() != nil {
			return
		}
		if list[i], errs[i] = v.readOutline(ids[i]); errs[i] != nil {
			errs[i] = gone(ids[i], errs[i])
			return
		}
		telling.Lock()
		defer telling.Unlock()
		done += list[i].Stat.Size
		v.store.opts.Progress("reading", done, total)
	})
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

// rememberNew adds the new outlines to the cache. A reader does so only if the
// workspace has the folder .bough.
func (v *View) rememberNew() {
	v.kept.Lock()
	defer v.kept.Unlock()
	for _, o := range v.kept.new {
		if _, err := v.root.Stat(stateDir); err != nil && !v.writes {
			break
		}
		v.folder.Remember(o)
	}
	v.kept.new = nil
}

// readOutline reads the outline of a session, to be added to the cache. If the
// session changed since the last operation, another process is writing, and
// readOutline reads the whole file at once.
func (v *View) readOutline(id string) (*session.Outline, error) {
	if v.fresh && !v.writes {
		s, err := v.folder.Read(id)
		if err != nil {
			return nil, err
		}
		return s.Outline, nil
	}
	o, err := v.folder.Outline(id)
	if err == nil && !v.kept.take(o) && v.writes {
		v.folder.Remember(o)
	}
	return o, err
}

// summary returns the index entry of a session. It keeps the outline in memory
// unless there are too many. It is safe for concurrent use.
func (v *View) summary(id string, size, total int64) (session.Summary, error) {
	if err := v.ctx.Err(); err != nil {
		return session.Summary{}, err
	}
	o, err := v.readOutline(id)
	if err != nil {
		return session.Summary{}, err
	}
	v.kept.Lock()
	defer v.kept.Unlock()
	v.kept.read += size
	v.store.opts.Progress("reading", v.kept.read, total)
	if v.kept.messages += o.Len(); v.kept.messages <= maxKept {
		v.outlines[id] = o
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
