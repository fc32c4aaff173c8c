package scan

import (
	"context"
	"crypto/sha256"
	"io"
	"path"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/parallel"
)

const (
	attempts = 3               // to read a file that changes
	pieces   = 1 << 20         // size of a file that is read at once
	settling = 2 * time.Second // age of a file that does not change within the resolution of its times
	together = 32              // maximum number of files of a reading
)

// A reading is files of one directory that must be read.
type reading struct {
	dir   *dir
	files []*entry
	size  int64 // as it was listed
}

// collect lists what must be read, and what was omitted.
func (d *dir) collect(s *Scan) {
	s.left = append(s.left, d.left...)
	if d.kept {
		s.kept[d.path] = true
	}
	if d.kept {
		return
	}
	var r reading
	for i := range d.entries {
		e := &d.entries[i]
		if e.sub != nil || e.known {
			continue
		}
		if len(r.files) == 0 {
			r.dir = d
		}
		r.size += e.stat.size
		if r.files = append(r.files, e); len(r.files) == together {
			s.todo = append(s.todo, r)
			r = reading{}
		}
	}
	if len(r.files) > 0 {
		s.todo = append(s.todo, r)
	}
	for _, sub := range d.subs {
		sub.collect(s)
	}
}

// Store reads the files that are not in the cache, and adds objects to out for which known
// returns false. It may be called once. If the folder is [Scan.Same], out may be nil. After
// an error there is no state, and the objects in out are of no use. Known is not called
// concurrently.
func (s *Scan) Store(ctx context.Context, out *pack.ObjectWriter, known func(id pack.ID) bool) (*Result, error) {
	st := &storing{Scan: s, ctx: ctx, out: out, known: known, seen: map[pack.ID]bool{}}
	st.buffers.New = func() any { return new([pieces]byte) }
	root, err := openFolder(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.close()
	for _, r := range s.todo {
		st.total += r.size
	}
	parallel.Do(len(s.todo), func(i int) {
		st.readAll(root, s.todo[i])
		st.progress(s.todo[i])
	})
	if st.err != nil {
		return nil, st.err
	}
	return st.build()
}

// A storing is a call of [Scan.Store].
type storing struct {
	*Scan
	ctx     context.Context
	known   func(id pack.ID) bool
	buffers sync.Pool // of *[pieces]byte

	mu    sync.Mutex
	out   *pack.ObjectWriter
	seen  map[pack.ID]bool // the objects so far
	added int
	err   error

	done, total int64 // size of the files that were read, and of all that must be
}

// progress reports that the files of r were read.
func (s *storing) progress(r reading) {
	if s.opts.Progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += r.size
	s.opts.Progress(s.done, s.total)
}

func (s *storing) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// failed returns the error that ends the scan.
func (s *storing) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	return s.err
}

func (s *storing) readAll(root *folder, r reading) {
	if s.failed() != nil {
		return
	}
	f, err := openPath(root, r.dir.path)
	if err == nil {
		defer f.close()
	}
	for _, e := range r.files {
		why, problem := Reason(""), err
		if err == nil {
			why, problem = s.read(f, e)
		}
		if problem != nil {
			var ok bool
			if why, ok = reasonOf(problem); !ok {
				s.fail(problem)
				return
			}
			e.absent = true // it no longer exists, unless there is a reason
		}
		if why == "" {
			continue
		}
		e.absent = true
		s.mu.Lock()
		s.left = append(s.left, Left{path.Join(r.dir.path, e.name), why, 1, e.stat.size})
		s.mu.Unlock()
	}
}

// A sinkError is an error that is not about a path.
type sinkError struct{ error }

func (e sinkError) Unwrap() error { return e.error }

// read reads a file or link into e and adds its object. It returns why it is omitted, if it
// is, or the error that prevents to read it.
func (s *storing) read(f *folder, e *entry) (why Reason, err error) {
	for attempt := range attempts {
		if attempt > 0 {
			if e.stat, err = f.lstat(e.name); err != nil {
				return "", err
			}
		}
		ok := false // whether it was read as it is
		switch e.stat.kind() {
		case typeFile:
			if e.stat.size > s.opts.File {
				return Large, nil
			}
			ok, err = s.readFile(f, e)
		case typeLink:
			ok, err = s.readLink(f, e)
		}
		if err != nil && !isOtherType(err) {
			return "", err
		}
		switch {
		case ok && s.refused(e.id):
			return IsSecret, nil
		case ok:
			if e.known = true; e.stat.before(s.start.Add(-settling).UnixNano()) {
				e.flag = settled
			}
			return "", nil
		}
	}
	return Unsettled, nil
}

// readLink reports whether the link did not change meanwhile.
func (s *storing) readLink(f *folder, e *entry) (ok bool, err error) {
	target, err := f.readlink(e.name)
	if err != nil {
		return false, err
	}
	if after, err := f.lstat(e.name); err != nil || after != e.stat {
		return false, err
	}
	e.id, e.size = pack.IDOf([]byte(target)), int64(len(target))
	return true, s.put(e.id, []byte(target))
}

// readFile reports whether the file did not change meanwhile.
func (s *storing) readFile(f *folder, e *entry) (ok bool, err error) {
	buf := s.buffers.Get().(*[pieces]byte)
	defer s.buffers.Put(buf)
	small, sum := 0, sha256.New()
	read := func(in io.Reader) (err error) {
		if e.size, err = 0, nil; e.stat.size < pieces {
			small, err = io.ReadFull(in, buf[:])
			e.size = int64(small)
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = nil
			}
			return err
		}
		e.size, err = io.CopyBuffer(sum, onlyReader{in}, buf[:])
		return err
	}
	ok, err = s.around(f, e, read)
	if err != nil || !ok {
		return false, err
	}
	if e.stat.size < pieces {
		e.id = pack.IDOf(buf[:small])
		if s.refused(e.id) {
			return true, nil
		}
		return true, s.put(e.id, buf[:small])
	}
	sum.Sum(e.id[:0])
	if s.refused(e.id) {
		return true, nil
	}
	// The second time, because the object is added while it is read.
	want := e.id
	ok, err = s.around(f, e, func(in io.Reader) (err error) {
		e.id, e.size, err = s.putFrom(want, e.size, in)
		return err
	})
	return ok && e.id == want, err
}

// onlyReader hides other methods of a reader.
type onlyReader struct{ io.Reader }

// around opens a file, calls read, and reports whether the file is the one of e before and
// after.
func (s *storing) around(f *folder, e *entry, read func(io.Reader) error) (ok bool, err error) {
	in, err := f.openFile(e.name)
	if err != nil {
		return false, err
	}
	defer in.close()
	if now, err := in.stat(); err != nil || now != e.stat {
		return false, err
	}
	if err := read(in); err != nil {
		return false, err
	}
	now, err := in.stat()
	return now == e.stat && e.size == e.stat.size, err
}

func (s *storing) refused(id pack.ID) bool { return s.opts.Refused != nil && s.opts.Refused(id) }

// wanted reports whether an object must be added. The caller holds the lock.
func (s *storing) wanted(id pack.ID) bool { return !s.seen[id] && !s.known(id) }

// put adds an object unless it is known.
func (s *storing) put(id pack.ID, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.wanted(id) {
		return nil
	}
	if err := s.out.Add(id, data); err != nil {
		return sinkError{err}
	}
	s.seen[id] = true
	s.added++
	return nil
}

// putFrom adds the object id, which it reads, unless it is known. It returns the ID and size
// of what it read.
func (s *storing) putFrom(id pack.ID, size int64, in io.Reader) (pack.ID, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.wanted(id) {
		return id, size, nil
	}
	from := &watchedReader{in: in}
	id, size, err := s.out.AddFrom(from)
	switch {
	case err != nil && from.err == nil:
		return id, size, sinkError{err}
	case err != nil:
		return id, size, from.err
	}
	if !s.seen[id] { // a file that changes meanwhile may become what another one is
		s.seen[id] = true
		s.added++
	}
	return id, size, nil
}

// A watchedReader keeps the error of a reader.
type watchedReader struct {
	in  io.Reader
	err error
}

func (r *watchedReader) Read(p []byte) (n int, err error) {
	n, err = r.in.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
