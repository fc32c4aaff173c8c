package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
)

// A ChangedError says that a session file does not hold what it held when its
// outline was made: another program changed it.
type ChangedError struct {
	ID string
}

func (e *ChangedError) Error() string { return FileName(e.ID) + " changed while it was being read" }

// A writer writes a layout to a file.
type writer struct {
	folder Folder
	file   *durable.Writer
	buf    []byte
	at     int    // how much is written, in bytes
	summed int    // of that, how much is in the sums
	head   []byte // the first piece, where a seal stands in it
	rest   sum    // of all other pieces
	sealed sum
	last   []byte // the last message, where its time is not known
	layout *layout
	watch  Watch
}

// A Watch is told how much of a file is written, in bytes. Its error stops that.
type Watch func(done, total int64) error

// chunk is how much of a file is copied at once: what stays in the processor's
// cache.
const chunk = 256 << 10

func (f Folder) writer(l *layout, file *durable.Writer, watch Watch) *writer {
	if watch == nil {
		watch = func(int64, int64) error { return nil }
	}
	return &writer{folder: f, file: file, layout: l, watch: watch, buf: make([]byte, min(chunk, l.at))}
}

// write writes the file and completes its outline.
func (w *writer) write() error {
	l := w.layout
	if int64(l.at) > maxFile {
		return fmt.Errorf("%s would be larger than 4 GiB", FileName(l.outline.ID))
	}
	for i := 0; i < len(l.pieces); {
		if l.pieces[i].part == nil {
			if err := w.put(l.pieces[i].raw); err != nil {
				return err
			}
			i++
			continue
		}
		n, err := w.copy(l.pieces[i:])
		if err != nil {
			return err
		}
		i += n
	}
	return w.seal()
}

// put writes bytes. The piece that a seal stands in is summed up when that is
// known.
func (w *writer) put(b []byte) error {
	if w.at == 0 && w.layout.sealDigits > 0 {
		w.head = b
		w.summed = len(b)
		return w.emit(b)
	}
	var s sum
	s.add(b)
	w.join(s)
	return w.emit(b)
}

// emit writes bytes.
func (w *writer) emit(b []byte) error {
	if span := w.layout.untimed; w.at < span.End && w.at+len(b) > span.Start {
		w.last = append(w.last, b[max(span.Start-w.at, 0):min(span.End-w.at, len(b))]...)
	}
	w.at += len(b)
	if _, err := w.file.Write(b); err != nil {
		return err
	}
	return w.watch(int64(w.at), int64(w.layout.at))
}

// join takes in the sum of bytes that are about to be written, or just were.
func (w *writer) join(s sum) {
	if seal := w.layout.sealed; w.summed >= seal.Start && w.summed < seal.End {
		w.sealed.join(s)
	}
	w.rest.join(s)
	w.summed += s.n
}

// copy writes the first of pieces, and those after it that stand further on in
// the same file. It reads all of that file and makes sure that it is the one
// that the outline is of. It returns how many pieces it wrote.
func (w *writer) copy(pieces []piece) (n int, err error) {
	part := pieces[0].part
	in, err := w.folder.root.Open(FileName(part.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, &ChangedError{part.ID}
	}
	if err != nil {
		return 0, err
	}
	defer in.Close()
	r := &partReader{in: in, buf: w.buf}
	for _, p := range pieces {
		switch {
		case p.part == nil:
			err = w.put(p.raw)
		case p.part != part || p.span.Start < r.sum.n:
			return n, r.finish(part)
		default:
			if _, err = r.pass(p.span.Start, nil); err != nil {
				break
			}
			var s sum
			if s, err = r.pass(p.span.End, w.emit); err == nil {
				w.join(s)
			}
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, r.finish(part)
}

// seal completes a checkpoint, and the outline's checksum.
func (w *writer) seal() error {
	o := w.layout.outline
	if w.head != nil {
		digits := []byte(hexSum(w.sealed.crc))
		copy(w.head[w.layout.sealDigits:], digits)
		if err := w.file.Patch(int64(w.layout.sealDigits), digits); err != nil {
			return err
		}
		metadata, _ := rawjson.Find(o.members, keyMetadata)
		o.setMetadata(metadata.Of(w.head), metadata.Start)
	}
	if w.last != nil {
		o.stamps = append(o.stamps, stamp{uint32(o.Len() - 1), timeText(w.last)})
	}
	if o != nil {
		var whole sum
		whole.add(w.head)
		whole.join(w.rest)
		o.CRC32C = whole.crc
	}
	return nil
}

// A partReader goes through a session file once.
type partReader struct {
	in  *os.File
	buf []byte
	sum sum // of what it has passed
}

// pass goes on to the offset end, and hands what it passes to each, if that is
// not nil. It returns the sum of that.
func (r *partReader) pass(end int, each func([]byte) error) (s sum, err error) {
	start := r.sum.n
	for err == nil && start+s.n < end {
		var n int
		n, err = r.in.Read(r.buf[:min(len(r.buf), end-start-s.n)])
		s.add(r.buf[:n])
		if each != nil && err == nil {
			err = each(r.buf[:n])
		}
	}
	r.sum.join(s)
	if err == io.EOF {
		err = nil // finish says what is wrong
	}
	return s, err
}

// finish goes to the end of the file and makes sure that o is its outline.
func (r *partReader) finish(o *Outline) error {
	if _, err := r.pass(math.MaxInt, nil); err != nil {
		return err
	}
	if r.sum != (sum{o.CRC32C, o.size}) {
		return &ChangedError{o.ID}
	}
	return nil
}
