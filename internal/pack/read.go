package pack

import (
	"fmt"
	"io"
	"sort"
	"sync"

	"github.com/bough-dev/bough/internal/crc32c"
)

// Read calls each with the items from to to-1, in order, until it returns an error, which
// Read returns. The content of each item is verified, and valid until each returns. If an
// item is missing or damaged, Read returns a *[DamageError] after the items before it.
// Frames are decoded concurrently, ahead of the calls.
func (p *Pack) Read(from, to int, each func(i int, item []byte) error) error {
	parts, missing := p.parts(from, to)
	if err := p.decodeAll(parts, func(pt part, content []byte) error {
		return p.slices(pt, content, each)
	}); err != nil {
		return err
	}
	return missing
}

// Sum returns the checksum and size of the items from to to-1, one after the other. It
// reads only frames of which it needs a part: the checksums of the others are in their
// headers, so it does not detect damage in them.
func (p *Pack) Sum(from, to int) (sum crc32c.Sum, err error) {
	parts, missing := p.parts(from, to)
	for _, pt := range parts {
		if pt.whole() {
			sum.Join(crc32c.Sum{CRC: pt.sum, N: pt.bytes})
			continue
		}
		err := p.decodeAll([]part{pt}, func(pt part, content []byte) error {
			return p.slices(pt, content, func(_ int, item []byte) error {
				sum.Add(item)
				return nil
			})
		})
		if err != nil {
			return crc32c.Sum{}, err
		}
	}
	if missing != nil {
		return crc32c.Sum{}, missing
	}
	return sum, nil
}

// A part is the items from to to-1 of a frame.
type part struct {
	*frame
	from, to int
}

func (pt part) whole() bool { return pt.from == pt.first && pt.to == pt.next() }

// parts returns the parts of frames that hold the items from to to-1, up to the first item
// that is missing, and an error if there is such an item.
func (p *Pack) parts(from, to int) (list []part, missing error) {
	if from < 0 || to < from {
		panic(fmt.Sprintf("pack: invalid range %d to %d", from, to))
	}
	i := sort.Search(len(p.frames), func(i int) bool { return p.frames[i].next() > from })
	for ; i < len(p.frames) && from < to; i++ {
		f := &p.frames[i]
		if from < f.first {
			break
		}
		list = append(list, part{f, from, min(to, f.next())})
		from = f.next()
	}
	if from >= to {
		return list, nil
	}
	for _, g := range p.gaps {
		if g.from <= from && from < g.to {
			return list, p.lost(g, from, min(to, g.to))
		}
	}
	return list, &DamageError{p.name, p.end, from, to, fmt.Sprintf("it has %d items, without number %d", len(p.items), from)}
}

// slices calls each with the items of a part.
func (p *Pack) slices(pt part, content []byte, each func(i int, item []byte) error) error {
	for i := pt.first; i < pt.to; i++ {
		size := p.items[i].Size
		if i >= pt.from {
			if err := each(i, content[:size:size]); err != nil {
				return err
			}
		}
		content = content[size:]
	}
	return nil
}

// decodeAll calls use with each part and the content of its frame, in order.
func (p *Pack) decodeAll(parts []part, use func(part, []byte) error) error {
	return ahead(len(parts), func(i int, buf *buffer) error {
		return p.decode(parts[i].frame, buf)
	}, func(i int, buf *buffer, err error) error {
		if err != nil {
			return err
		}
		return use(parts[i], buf.content)
	})
}

// ahead calls do and then use with each number below n and a buffer: use in increasing
// order, until it returns an error, and do concurrently before it. The error of do is
// passed to use.
func ahead(n int, do func(i int, buf *buffer) error, use func(i int, buf *buffer, err error) error) error {
	type result struct {
		buf *buffer
		err error
	}
	run := func(i int) result {
		buf := newBuffer()
		return result{buf, do(i, buf)}
	}
	parallel := min(n, cores()+1)
	results := make([]chan result, parallel) // in turn
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var working sync.WaitGroup
	defer working.Wait()
	started := 0
	for i := range n {
		var r result
		if parallel == 1 {
			r = run(i)
		} else {
			for ; started < min(i+parallel, n); started++ {
				next := started
				working.Go(func() { results[next%parallel] <- run(next) })
			}
			r = <-results[i%parallel]
		}
		if err := use(i, r.buf, r.err); err != nil {
			return err
		}
		r.buf.release()
	}
	return nil
}

// A buffer holds a frame.
type buffer struct{ stored, content []byte }

// buffers keeps buffers of the usual size.
var buffers sync.Pool

func newBuffer() *buffer {
	if b, ok := buffers.Get().(*buffer); ok {
		return b
	}
	return new(buffer)
}

func (b *buffer) release() {
	if cap(b.stored)+cap(b.content) <= 4*frameSize {
		buffers.Put(b)
	}
}

// grow returns a slice of n bytes, data if it is large enough.
func grow(data []byte, n int) []byte {
	if n > cap(data) {
		return make([]byte, n)
	}
	return data[:n]
}

// readStored reads the Zstandard frame of f into buf.
func (p *Pack) readStored(f *frame, buf *buffer) error {
	buf.stored = grow(buf.stored, f.stored)
	n, err := p.in.ReadAt(buf.stored, f.storedAt())
	switch {
	case n == f.stored:
		return nil
	case err == io.EOF:
		return p.damage(f, "the file became shorter")
	}
	return p.damage(f, err.Error())
}

// decode reads the content of f into buf and verifies its size and checksum.
func (p *Pack) decode(f *frame, buf *buffer) error {
	if err := p.readStored(f, buf); err != nil {
		return err
	}
	buf.content = grow(buf.content, f.bytes)
	if err := decompress(buf.content, buf.stored); err != nil {
		return p.damage(f, err.Error())
	}
	if crc32c.Of(buf.content) != f.sum {
		return p.damage(f, "wrong checksum of the content")
	}
	return nil
}
