package pack

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
)

// A DamageError reports a part of a pack that is not readable.
type DamageError struct {
	Name     string // of the pack
	Offset   int64  // of the damaged frame, or of the place where a frame is missing
	From, To int    // the items From to To-1 are affected
	Problem  string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged at offset %d: %s", e.Name, e.Offset, e.Problem)
}

// A Pack is an open pack. It is safe for concurrent use. Frames that are appended later
// are not part of it.
type Pack struct {
	name   string
	in     io.ReaderAt
	file   *os.File // nil if the caller has to close in
	size   int64
	end    int64
	frames []frame
	gaps   []gap
	tail   string // the problem of the bytes after end, "" if there are none
	entries
}

// A gap is a part of the file between whole frames that is not one.
type gap struct {
	offset   int64
	from, to int // the numbers of the lost items
	problem  string
}

// Open opens the pack name. It reads the headers and skips the content. It fails if the
// file cannot be read, not if it is damaged.
func Open(root *os.Root, name string) (*Pack, error) {
	f, err := durable.OpenRegular(root, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	p, err := New(name, f, info.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	p.file = f
	return p, nil
}

// New opens a pack of size bytes, as [Open] does. Errors refer to it as name.
func New(name string, in io.ReaderAt, size int64) (*Pack, error) {
	p := &Pack{name: name, in: in, size: size}
	h := headers{in: in, size: size, guess: 4 << 10, budget: 4*size + headerSize}
	for p.end < size {
		found, err := p.add(&h)
		if err != nil {
			return nil, err
		}
		if !found {
			break
		}
	}
	return p, nil
}

// add adds the next whole frame, and the gap before it. It reports whether there is one.
func (p *Pack) add(h *headers) (bool, error) {
	at, gap := p.end, ""
	for {
		f, all, problem, err := h.read(at, p.entries)
		if err != nil {
			return false, err
		}
		if problem == "" {
			problem = p.misplaced(f)
		}
		if problem == "" {
			if at > p.end {
				items, ids := slices.Clone(all.items[len(p.items):]), slices.Clone(all.ids[len(p.ids):])
				p.lose(f, gap)
				all = entries{append(p.items, items...), append(p.ids, ids...)}
			}
			p.entries, p.frames, p.end = all, append(p.frames, f), f.end()
			return true, nil
		}
		if gap == "" {
			gap = problem
		}
		if at, err = h.search(at + 1); err != nil {
			return false, err
		}
		if at < 0 {
			p.tail = gap
			return false, nil
		}
	}
}

// misplaced returns why f cannot be the next frame, "" if it can.
func (p *Pack) misplaced(f frame) string {
	lost := f.first - len(p.items)
	switch {
	case lost < 0 || int64(lost) > (f.offset-p.end)/itemSize:
		return "wrong number of the first item"
	case len(p.frames) > 0 && f.objects != p.frames[0].objects:
		return "frame of another kind"
	case f.end() > p.size:
		return "incomplete frame"
	}
	return ""
}

// lose adds a gap before f.
func (p *Pack) lose(f frame, problem string) {
	p.gaps = append(p.gaps, gap{p.end, len(p.items), f.first, problem})
	for len(p.items) < f.first {
		p.items = append(p.items, Item{Size: -1})
		if f.objects {
			p.ids = append(p.ids, ID{})
		}
	}
}

// headers reads headers of a file.
type headers struct {
	in     io.ReaderAt
	size   int64
	buf    []byte
	guess  int   // number of bytes to read
	budget int64 // number of bytes of damaged headers that may still be checked
}

// read reads the header at an offset and appends its items to e. If there is none, it returns
// the problem.
func (h *headers) read(at int64, e entries) (f frame, all entries, problem string, err error) {
	data, err := h.bytes(at, h.guess)
	if err != nil {
		return f, e, "", err
	}
	n := headerLen(data)
	switch {
	case n == 0:
		return f, e, "no header", nil
	case int64(n) > h.size-at:
		return f, e, "incomplete header", nil
	case n > len(data):
		if !isHeaderOf(data, at) {
			return f, e, "no header", nil
		}
		if data, err = h.bytes(at, n); err != nil {
			return f, e, "", err
		}
	}
	h.guess = max(n+n/4, 512) // the next one is likely similar
	f, all, problem = parseHeader(data[:n], at, e)
	if problem != "" {
		h.budget -= int64(n)
	}
	return f, all, problem, nil
}

// bytes reads n bytes at an offset, or less at the end. They are valid until the next call.
func (h *headers) bytes(at int64, n int) ([]byte, error) {
	n = int(min(int64(n), h.size-at))
	if n > cap(h.buf) {
		h.buf = make([]byte, n)
	}
	got, err := h.in.ReadAt(h.buf[:n], at)
	if err == io.EOF && got < n {
		err = io.ErrUnexpectedEOF // the file became shorter
	}
	if got == n {
		err = nil
	}
	return h.buf[:got], err
}

// search returns the offset of the next header from at, probably a valid one, or -1.
func (h *headers) search(at int64) (int64, error) {
	const step = 32 << 10
	for h.budget >= 0 && at < h.size {
		data, err := h.bytes(at, step+lineSize)
		if err != nil {
			return 0, err
		}
		last := int64(len(data)) == h.size-at
		for i := 0; ; i++ {
			n := bytes.Index(data[i:], []byte(preamble))
			if n < 0 || !last && i+n >= step {
				break
			}
			i += n
			if headerLen(data[i:]) > 0 && isHeaderOf(data[i:], at+int64(i)) {
				return at + int64(i), nil
			}
		}
		if last {
			break
		}
		at += step
	}
	return -1, nil
}

// Close closes the file.
func (p *Pack) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// Len returns the number of items.
func (p *Pack) Len() int { return len(p.items) }

// Items describes all items. The slice must not be modified.
func (p *Pack) Items() []Item { return p.items }

// HasObjects reports whether the items are objects: see [NewIndex].
func (p *Pack) HasObjects() bool { return len(p.frames) > 0 && p.frames[0].objects }

// Size returns the size of the file when it was opened, and End the offset after its last
// whole frame. If they differ, an append was interrupted.
func (p *Pack) Size() int64 { return p.size }

// End returns the offset after the last whole frame.
func (p *Pack) End() int64 { return p.end }

// Raw reports whether the pack has raw frames.
func (p *Pack) Raw() bool {
	for _, f := range p.frames {
		if f.raw {
			return true
		}
	}
	return false
}

// lost returns an error on items of a gap.
func (p *Pack) lost(g gap, from, to int) *DamageError {
	return &DamageError{p.name, g.offset, from, to, g.problem}
}

// damage returns an error on the items of f.
func (p *Pack) damage(f *frame, problem string) *DamageError {
	return &DamageError{p.name, f.offset, f.first, f.next(), problem}
}
