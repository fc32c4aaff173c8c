package sessions

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/session"
)

// asChanged converts the error for an unexpected end of the file of a part.
func asChanged(err error, part *session.Outline) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%s %w", session.FileName(part.ID), session.ErrChanged)
	}
	return err
}

// An itemReader reads items of one part, in the order of its file.
type itemReader struct {
	in     *bufio.Reader
	file   io.ReadSeeker // what in reads, nil if that cannot skip bytes
	closer io.Closer     // nil if there is nothing to close
	at     int           // offset in the file
}

// openItems opens the file of a part.
func (p *packing) openItems(part *session.Outline) (*itemReader, error) {
	const buffer = 64 << 10
	if data := part.Bytes(); data != nil {
		in := bytes.NewReader(data)
		return &itemReader{in: bufio.NewReaderSize(in, buffer), file: in}, nil
	}
	in, err := p.folder.openPart(part.ID)
	if err != nil {
		return nil, err
	}
	r := &itemReader{in: bufio.NewReaderSize(in, buffer), closer: in}
	if s, ok := in.(*source); ok && s.file != nil {
		r.in, r.file = bufio.NewReaderSize(s.file, buffer), s.file
	}
	return r, nil
}

// close closes the file, if it is open. r may be nil.
func (r *itemReader) close() {
	if r != nil && r.closer != nil {
		r.closer.Close()
	}
}

// from returns a reader of an item and the bytes after it. The offset of the item must not
// be less than the end of the last one that was read.
func (r *itemReader) from(it *docItem) (io.Reader, error) {
	gap := it.at - r.at
	r.at = it.end()
	if n := r.in.Buffered(); r.file != nil && gap > n {
		if _, err := r.file.Seek(int64(gap-n), io.SeekCurrent); err != nil {
			return nil, err
		}
		r.in.Reset(r.file)
	} else if _, err := r.in.Discard(gap); err != nil {
		return nil, err
	}
	if it.newRun {
		return io.MultiReader(strings.NewReader(session.Separator), r.in), nil
	}
	return r.in, nil
}

// hash returns the hash of an item.
func (r *itemReader) hash(it *docItem) (uint64, error) {
	item := make([]byte, it.Size)
	in, err := r.from(it)
	if err == nil {
		_, err = io.ReadFull(in, item)
	}
	if err != nil {
		return 0, asChanged(err, it.part)
	}
	return pack.HashOf(item), nil
}

// end returns the offset of the end of the item in the file of its part.
func (it *docItem) end() int {
	if it.newRun {
		return it.at + it.Size - len(session.Separator)
	}
	return it.at + it.Size
}

// A progressReader reports what was read of total bytes.
type progressReader struct {
	in          io.Reader
	done, total int64
	watch       func(done, total int64) error // nil if there is none
}

func (r *progressReader) Read(b []byte) (n int, err error) {
	n, err = r.in.Read(b)
	if r.done += int64(n); r.watch != nil && n > 0 {
		if failed := r.watch(r.done, r.total); failed != nil {
			err = failed
		}
	}
	return n, err
}
