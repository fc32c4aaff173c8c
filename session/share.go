package session

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/bough-dev/bough/internal/rawjson"
)

// On some file systems two files can share blocks of the disk, if the offsets of the
// shared bytes in both files are multiples of the size of a block. So white space, which
// has no meaning in JSON, aligns long runs of messages.

// minBlocks is the minimum number of blocks of bytes that are shared: the white space
// before them is at most a 16th of their size.
const minBlocks = 16

// editGrain is the number of blocks that an edit shares as a unit. A file that grows by one
// block at a time would consist of many extents, each of which takes time and space in every
// file that shares them.
const editGrain = 4

// A cloner is a target that can share blocks with the file in, which has the bytes from up
// to from+n, and copies them if it cannot. The error is [io.ErrUnexpectedEOF] if in has
// fewer bytes.
type cloner interface {
	Clone(in io.ReaderAt, from, n int64) error
}

// gap returns the number of bytes to add to the offset at to make it equal to from modulo
// block.
func gap(at, from, block int) int { return ((from-at)%block + block) % block }

// blanks returns n bytes of white space.
func blanks(n int) []byte { return bytes.Repeat([]byte{' '}, n) }

// inFile reports whether the content of o is read from its file.
func (o *Outline) inFile() bool { return o.data == nil || o.Stat != (Stat{}) }

// pad aligns a run whose first message will begin n bytes after the end of the layout, and
// reports whether that needed white space.
func (l *layout) pad(r Run, n int) bool {
	span := r.Part.span(r.From, r.To)
	if l.block == 0 || !r.Part.inFile() || span.End-span.Start < minBlocks*l.block {
		return false
	}
	white := gap(l.at+n, span.Start, l.block)
	l.raw(blanks(white))
	return white > 0
}

// Align makes Write share blocks of size bytes with the old file, where the target can:
// white space before the member messages keeps the offsets of messages modulo size. It
// must be called before the first use of the changes; 0 changes nothing.
func (e *Edit) Align(size int) { e.block = size }

// aligned adds a splice of white space to the splices of e, unless the messages keep their
// offset modulo the size of a block.
func (e *Edit) aligned(list []splice) []splice {
	messages := slices.IndexFunc(e.o.members, func(m rawjson.Member) bool { return m.Key == keyMessages })
	if e.block == 0 || messages < 1 || !e.o.inFile() {
		return list
	}
	space := rawjson.Span{Start: e.o.members[messages-1].Value.End, End: e.o.members[messages].KeyStart}
	shift, before := 0, 0 // by the splices before the messages, and their number
	for before < len(list) && list[before].End <= space.Start {
		shift += len(list[before].with) - (list[before].End - list[before].Start)
		before++
	}
	end := e.o.size
	if before < len(list) {
		end = list[before].Start
	}
	white := gap(shift, 0, e.block)
	if white == 0 || end-space.End < minBlocks*e.block {
		return list
	}
	added := splice{rawjson.Span{Start: space.End, End: space.End}, blanks(white), replacing}
	// Between two members is one comma, and else only white space, which shrinks if it can.
	const least = ",\n" + rawjson.Indent
	if n := space.End - space.Start - (e.block - white); n >= len(least) {
		added = splice{space, append([]byte(least), blanks(n-len(least))...), replacing}
	}
	return slices.Insert(list, before, added)
}

// readerAt returns the file of a part, nil if it cannot share blocks with the target.
func (w *writer) readerAt(in io.Reader) io.ReaderAt {
	if _, ok := w.file.(cloner); !ok || w.layout.block == 0 {
		return nil
	}
	if file, ok := in.(interface{ ReaderAt() io.ReaderAt }); ok {
		return file.ReaderAt()
	}
	return nil
}

// span writes a piece of a part that r has read up to its start.
func (w *writer) span(r *partReader, p piece) error {
	if block := w.layout.block; r.at != nil && gap(w.at, p.span.Start, block) == 0 {
		from := (p.span.Start + block - 1) / block * block
		to := p.span.End / (block * w.layout.grain) * (block * w.layout.grain)
		if to-from >= minBlocks*block {
			if err := w.through(r, from, w.emit); err != nil {
				return err
			}
			if err := w.share(r, p.part, to); err != nil {
				return err
			}
		}
	}
	return w.through(r, p.span.End, w.emit)
}

// through reads up to the offset end with pass and joins the checksum.
func (w *writer) through(r *partReader, end int, emit func([]byte) error) error {
	s, err := r.pass(end, emit)
	if err == nil {
		w.join(s)
	}
	return err
}

// share makes the file share the blocks of part up to the offset end. It reads them
// afterwards: a part that had changed before is detected by its checksum.
func (w *writer) share(r *partReader, part *Outline, end int) error {
	from := int64(r.sum.N)
	err := w.pipe.do(func() error { return w.file.(cloner).Clone(r.at, from, int64(end)-from) })
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return changed(part.ID)
	}
	if err != nil {
		return err
	}
	return w.through(r, end, func(b []byte) error {
		w.pass(b)
		w.pipe.free <- b[:cap(b)]
		return w.watch(int64(w.at), int64(w.layout.at))
	})
}
