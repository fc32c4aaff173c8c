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

// gone adds to a not-found error that the session existed once.
func gone(id string, err error) error {
	if !errors.Is(err, session.ErrNotFound) {
		return err
	}
	missing := notFound("session", id)
	missing.Err = errGone
	return missing
}

// reopen returns the session of an outline, with its bytes.
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

// outlineAll returns the outlines of several sessions. Files are read by as many
// readers as there are processors. Of several errors it returns the one of the
// first session.
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

// rememberNew caches the new outlines. The writes can wait until the disk is busy
// with others. A reader caches only in a workspace that has the folder of bough
// already.
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

// readOutline reads the outline of a session and marks it for the cache. A
// reader beside a writer that has seen the session change reads all bytes at
// once.
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

// summary returns the index entry of a session. The outline is kept in memory
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
	if v.kept.messages += o.Len(); v.kept.messages <= mostKept {
		v.outlines[id] = o
	}
	return o.Summary(), nil
}

// mostKept is of how many messages the outlines are kept that were made to
// complete the index.
const mostKept = 1 << 20

// A keeping is the shared state of concurrent readers.
type keeping struct {
	sync.Mutex
	read     int64              // how many bytes of files were read to complete the index
	messages int                // of the outlines that were kept
	new      []*session.Outline // to be remembered
}

// take keeps an outline that is to be remembered, unless there are many.
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
