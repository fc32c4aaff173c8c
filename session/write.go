package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/bough-dev/bough/internal/crc32c"
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
	id     string
	file   *durable.Writer
	pipe   *pipe
	at     int        // how much is written, in bytes
	summed int        // of that, how much is in the sums
	head   []byte     // the first piece, where a seal stands in it
	rest   crc32c.Sum // of all other pieces
	sealed crc32c.Sum
	last   []byte // the last message, where its time is not known
	layout *layout
	watch  Watch
}

// A Watch is told how much of a file is written, in bytes. Its error stops that.
type Watch func(done, total int64) error

// write writes the file of a session and completes its outline.
func (f Folder) write(l *layout, id string, watch Watch, file *durable.Writer) error {
	if l.err != nil {
		return l.err
	}
	if int64(l.at) > maxFile {
		return fmt.Errorf("%s would be larger than 4 GiB", FileName(id))
	}
	if watch == nil {
		watch = func(int64, int64) error { return nil }
	}
	w := &writer{folder: f, id: id, file: file, pipe: newPipe(file, l.at, f.memory), layout: l, watch: watch}
	if err := cmp.Or(w.pieces(), w.pipe.close()); err != nil {
		return err
	}
	return w.seal()
}

// pieces writes the pieces of the file.
func (w *writer) pieces() error {
	pieces := w.layout.pieces
	for len(pieces) > 0 {
		n := 1
		var err error
		if pieces[0].part == nil {
			var raw []byte
			if raw, err = pieces[0].bytes(); err == nil {
				err = w.put(raw)
			}
		} else {
			n, err = w.copy(pieces)
		}
		if err != nil {
			return err
		}
		pieces = pieces[n:]
	}
	return nil
}

// put writes bytes. The piece that a seal stands in is summed up when that is
// known.
func (w *writer) put(b []byte) error {
	if w.at == 0 && w.layout.sealDigits > 0 {
		w.head = b
		w.summed = len(b)
	} else {
		var s crc32c.Sum
		s.Add(b)
		w.join(s)
	}
	w.pass(b)
	return cmp.Or(w.pipe.copy(b), w.watch(int64(w.at), int64(w.layout.at)))
}

// emit writes the bytes in a buffer of the pipe.
func (w *writer) emit(b []byte) error {
	w.pass(b)
	return cmp.Or(w.pipe.send(b), w.watch(int64(w.at), int64(w.layout.at)))
}

// pass takes note of bytes that are about to be written.
func (w *writer) pass(b []byte) {
	if span := w.layout.untimed; w.at < span.End && w.at+len(b) > span.Start {
		w.last = append(w.last, b[max(span.Start-w.at, 0):min(span.End-w.at, len(b))]...)
	}
	w.at += len(b)
}

// join takes in the sum of bytes that are about to be written, or just were.
func (w *writer) join(s crc32c.Sum) {
	if seal := w.layout.sealed; w.summed >= seal.Start && w.summed < seal.End {
		w.sealed.Join(s)
	}
	w.rest.Join(s)
	w.summed += s.N
}

// copy writes the first of pieces, and those after it that stand further on in
// the same file. It reads all of that file and makes sure that it is the one
// that the outline is of. It returns how many pieces it wrote.
func (w *writer) copy(pieces []piece) (n int, err error) {
	part := pieces[0].part
	in, _, err := w.folder.open(part.ID)
	if errors.Is(err, ErrNotFound) {
		return 0, &ChangedError{part.ID}
	}
	if err != nil {
		return 0, err
	}
	defer in.Close()
	r := &partReader{in: in, pipe: w.pipe}
	for _, p := range pieces {
		switch {
		case p.part == nil:
			var raw []byte
			if raw, err = p.bytes(); err == nil {
				err = w.put(raw)
			}
		case p.part != part || p.span.Start < r.sum.N:
			return n, r.finish(part)
		default:
			if _, err = r.pass(p.span.Start, nil); err != nil {
				break
			}
			var s crc32c.Sum
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
		digits := []byte(hexSum(w.sealed.CRC))
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
	var whole crc32c.Sum
	whole.Add(w.head)
	whole.Join(w.rest)
	o.CRC32C = whole.CRC
	return nil
}

// A partReader goes through a session file once.
type partReader struct {
	in   *os.File
	pipe *pipe
	sum  crc32c.Sum // of what it has passed
}

// pass goes on to the offset end, and hands what it passes to emit, if that is
// not nil, in buffers of the pipe. It returns the sum of that.
func (r *partReader) pass(end int, emit func([]byte) error) (s crc32c.Sum, err error) {
	start := r.sum.N
	for err == nil && start+s.N < end {
		buffer := r.pipe.buffer()
		var n int
		n, err = r.in.Read(buffer[:min(len(buffer), end-start-s.N)])
		s.Add(buffer[:n])
		if emit != nil && err == nil {
			err = emit(buffer[:n])
		} else {
			r.pipe.free <- buffer
		}
	}
	r.sum.Join(s)
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
	if r.sum != (crc32c.Sum{CRC: o.CRC32C, N: o.size}) {
		return &ChangedError{o.ID}
	}
	return nil
}
