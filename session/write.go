package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/rawjson"
)

// ErrChanged is the error for a session file that another program changed after its
// outline was made. It is wrapped with the path of the file.
var ErrChanged = errors.New("changed while it was being read")

func changed(id string) error { return fmt.Errorf("%s %w", FileName(id), ErrChanged) }

// A writer writes a layout to a file.
type writer struct {
	open   open
	file   target
	pipe   *pipe
	at     int        // number of bytes written
	summed int        // number of bytes included in the sums
	head   []byte     // the first piece if it contains a seal
	rest   crc32c.Sum // of all other pieces
	sealed crc32c.Sum
	last   []byte // the last message if its time is unknown
	layout *layout
	watch  watch
}

type (
	target = interface {
		io.Writer
		io.WriterAt
	}
	open  = func(id string) (io.ReadCloser, error)
	watch = func(done, total int64) error
)

// Write writes the file to w and returns its outline, without a Stat. open opens the file
// of a session for a part; its error is [ErrNotFound] if there is none. watch, unless it
// is nil, is called with the number of bytes written so far, and its error aborts the
// write. The error is [ErrChanged] if the file of a part has changed since its outline
// was made.
func (d *Document) Write(w interface {
	io.Writer
	io.WriterAt
}, open func(id string) (io.ReadCloser, error), watch func(done, total int64) error) (*Outline, error) {
	return d.layout().write(d.ID, w, open, watch)
}

// Write writes the edited file to w as [Document.Write] does and returns its outline. The
// error is a [*DamageError] if the edited file is not a valid session.
func (e *Edit) Write(w interface {
	io.Writer
	io.WriterAt
}, open func(id string) (io.ReadCloser, error), watch func(done, total int64) error) (*Outline, error) {
	l := e.layout()
	if l.outline == nil {
		data, err := l.bytes(func(o *Outline) (*Session, error) { return o.from(open) })
		if err != nil {
			return nil, err
		}
		o, err := outline(e.o.ID, data)
		if err != nil {
			return nil, err
		}
		if l.outline = o; l.block == 0 {
			l = &layout{outline: o}
			l.raw(data)
		}
	}
	return l.write(e.o.ID, w, open, watch)
}

// from returns the session of o, from memory or from its file.
func (o *Outline) from(open open) (*Session, error) {
	if o.data != nil {
		return o.Session(o.data), nil
	}
	in, err := open(o.ID)
	if errors.Is(err, ErrNotFound) {
		return nil, changed(o.ID)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return o.Read(in)
}

// write writes the file of a session and completes its outline.
func (l *layout) write(id string, file target, open open, watch watch) (*Outline, error) {
	if l.err != nil {
		return nil, l.err
	}
	if int64(l.at) > MaxFile {
		return nil, fmt.Errorf("%s would be larger than 4 GiB", FileName(id))
	}
	if watch == nil {
		watch = func(int64, int64) error { return nil }
	}
	w := &writer{open: open, file: file, pipe: newPipe(file, l.at), layout: l, watch: watch}
	if err := cmp.Or(w.pieces(), w.pipe.close()); err != nil {
		return nil, err
	}
	return l.outline, w.seal()
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

// put writes bytes. If they contain the seal, their checksum is added in seal.
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

// emit writes a buffer of the pipe.
func (w *writer) emit(b []byte) error {
	w.pass(b)
	return cmp.Or(w.pipe.send(b), w.watch(int64(w.at), int64(w.layout.at)))
}

// pass counts bytes that are about to be written and keeps the last message if
// needed.
func (w *writer) pass(b []byte) {
	if span := w.layout.untimed; w.at < span.End && w.at+len(b) > span.Start {
		w.last = append(w.last, b[max(span.Start-w.at, 0):min(span.End-w.at, len(b))]...)
	}
	w.at += len(b)
}

// join adds the checksum of written bytes.
func (w *writer) join(s crc32c.Sum) {
	if seal := w.layout.sealed; w.summed >= seal.Start && w.summed < seal.End {
		w.sealed.Join(s)
	}
	w.rest.Join(s)
	w.summed += s.N
}

// copy writes the first piece and the following ones at increasing offsets of the
// same file. It reads that file completely and verifies its checksum against the
// outline. It returns the number of pieces written.
func (w *writer) copy(pieces []piece) (n int, err error) {
	part := pieces[0].part
	in, err := w.open(part.ID)
	if errors.Is(err, ErrNotFound) {
		return 0, changed(part.ID)
	}
	if err != nil {
		return 0, err
	}
	defer in.Close()
	r := &partReader{in: in, at: w.readerAt(in), pipe: w.pipe}
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
			if _, err = r.pass(p.span.Start, nil); err == nil {
				err = w.span(r, p)
			}
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, r.finish(part)
}

// seal fills in the checksum of a checkpoint and completes the outline.
func (w *writer) seal() error {
	o := w.layout.outline
	if w.head != nil {
		digits := []byte(hexSum(w.sealed.CRC))
		copy(w.head[w.layout.sealDigits:], digits)
		if _, err := w.file.WriteAt(digits, int64(w.layout.sealDigits)); err != nil {
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

// A partReader reads a session file once, from start to end.
type partReader struct {
	in   io.Reader
	at   io.ReaderAt // if not nil, the target can share the blocks of the file
	pipe *pipe
	sum  crc32c.Sum // of the bytes read so far
}

// pass reads up to the offset end. If emit is not nil, it is called with the bytes
// in buffers of the pipe. pass returns their checksum.
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
		err = nil // finish reports it
	}
	return s, err
}

// finish reads to the end of the file and verifies its checksum against o.
func (r *partReader) finish(o *Outline) error {
	if _, err := r.pass(math.MaxInt, nil); err != nil {
		return err
	}
	if r.sum != (crc32c.Sum{CRC: o.CRC32C, N: o.size}) {
		return changed(o.ID)
	}
	return nil
}
