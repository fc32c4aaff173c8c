package session

import (
	"bufio"
	"io"
	"slices"

	"github.com/bough-dev/bough/internal/crc32c"
)

// Size returns the size of the file of o in bytes.
func (o *Outline) Size() int { return o.size }

// Read reads the content of the file of o. The error is [ErrChanged] if the file has
// changed since the outline was made.
func (o *Outline) Read(in io.Reader) (*Session, error) {
	data := make([]byte, o.size+1)
	switch n, err := io.ReadFull(in, data); {
	case err == nil || err == io.ErrUnexpectedEOF && n != o.size:
		return nil, changed(o.ID)
	case err != io.ErrUnexpectedEOF && err != io.EOF:
		return nil, err
	}
	data = data[:o.size]
	if crc32c.Of(data) != o.CRC32C {
		return nil, changed(o.ID)
	}
	return o.Session(data), nil
}

// Each reads the file of o and calls each for every message, in order. The bytes are
// valid only until each returns. The error is that of each, or [ErrChanged] if the file
// has changed since the outline was made; then the caller must discard the messages.
func (o *Outline) Each(in io.Reader, each func(i int, m Message) error) error {
	r := &eachReader{in: bufio.NewReaderSize(in, min(o.size+1, 1<<20))}
	for i := range o.Len() {
		span := o.span(i, i+1)
		if err := r.skip(span.Start); err != nil {
			return r.changed(o, err)
		}
		raw, err := r.next(span.End)
		if err != nil {
			return r.changed(o, err)
		}
		if err := each(i, Message{ID: o.MessageID(i), Raw: raw}); err != nil {
			return err
		}
	}
	if err := r.skip(o.size); err != nil {
		return r.changed(o, err)
	}
	if _, err := r.in.ReadByte(); err != io.EOF || r.sum.CRC != o.CRC32C {
		return changed(o.ID)
	}
	return nil
}

// An eachReader reads a session file once, from start to end.
type eachReader struct {
	in  *bufio.Reader
	buf []byte
	sum crc32c.Sum
}

// next returns the bytes up to the offset end.
func (r *eachReader) next(end int) ([]byte, error) {
	n := end - r.sum.N
	r.buf = slices.Grow(r.buf[:0], n)[:n]
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		return nil, err
	}
	r.sum.Add(r.buf)
	return r.buf, nil
}

// skip discards the bytes up to the offset end.
func (r *eachReader) skip(end int) error {
	for r.sum.N < end {
		if _, err := r.next(min(end, r.sum.N+1<<20)); err != nil {
			return err
		}
	}
	return nil
}

// changed converts the error for an unexpected end of the file.
func (r *eachReader) changed(o *Outline, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return changed(o.ID)
	}
	return err
}
