package pack

import (
	"fmt"
	"io"

	"github.com/bough-dev/bough/internal/crc32c"
)

// A Writer writes frames. Encoding and writing happen on other goroutines, one write at a
// time, so [Writer.Flush] must be called in the end, after an error too.
type Writer struct {
	raw     bool
	objects bool // items are objects
	fast    bool // of two levels of compression the faster one
	first   int  // number of the next item
	count   int  // number of items added
	current *batch
	free    chan *batch
	turn    chan struct{} // closed when the frames so far are written
	out     output
	err     error
}

// An output belongs to the goroutine whose turn it is.
type output struct {
	w       io.Writer
	offset  int64
	written int64
	err     error
}

// A batch is a frame that is being filled, encoded or written. Its buffers are reused.
type batch struct {
	frame
	entries
	content []byte
	encoded []byte // the Zstandard frame
	ready   bool   // it is encoded
	head    []byte
	err     error
}

// NewWriter returns a writer of frames to w. The first one is at an offset of the pack and
// begins with the item first: as returned by [Pack.Next], or 0 and 0 in a new pack. If raw,
// frames are not compressed.
func NewWriter(w io.Writer, offset int64, first int, raw bool) *Writer {
	free := make(chan *batch, cores())
	for range cap(free) {
		free <- new(batch)
	}
	turn := make(chan struct{})
	close(turn)
	return &Writer{raw: raw, first: first, current: new(batch), free: free, turn: turn, out: output{w: w, offset: offset}}
}

// Add adds an item, which it copies. If the item is larger than [MaxItem], Add adds
// nothing and returns an error. Other errors may also be returned by a later call.
func (w *Writer) Add(item []byte) error {
	if len(item) > MaxItem {
		return fmt.Errorf("an item of %d bytes is too large for a pack; at most %d are possible", len(item), MaxItem)
	}
	_, err := w.add(item)
	return err
}

// add adds an item and returns the batch that it is in.
func (w *Writer) add(item []byte) (*batch, error) {
	b := w.current
	if len(b.items) > 0 && len(b.content)+len(item) > frameSize || len(b.items) == frameItems {
		b = w.swap()
	}
	if w.err != nil {
		return b, w.err
	}
	b.content = append(b.content, item...)
	b.items = append(b.items, Item{Size: len(item)})
	w.count++
	return b, nil
}

// reuse adds the items of another pack's frame, list, with its Zstandard frame. Both are
// copied.
func (w *Writer) reuse(f frame, list []Item, stored []byte) error {
	b := w.current
	if len(b.items) > 0 {
		b = w.swap()
	}
	b.frame, b.items, b.encoded = f, append(b.items, list...), append(b.encoded[:0], stored...)
	b.ready = true
	w.count += len(list)
	w.swap()
	return w.err
}

// swap writes the current frame on another goroutine and begins a new one.
func (w *Writer) swap() *batch {
	b, before, done := w.current, w.turn, make(chan struct{})
	b.first, w.turn = w.first, done
	w.first += len(b.items)
	go func() {
		if !b.ready {
			b.encode(w)
		}
		<-before
		b.err = w.out.write(b)
		close(done)
		w.free <- b
	}()
	w.current = <-w.free
	if w.err == nil {
		w.err = w.current.err
	}
	w.current.reset()
	return w.current
}

// Flush writes the last frame, and waits until all frames are written.
func (w *Writer) Flush() error {
	if b := w.current; len(b.items) > 0 {
		b.first = w.first
		w.first += len(b.items)
		b.encode(w)
		<-w.turn
		w.out.write(b)
		b.reset()
	}
	<-w.turn
	w.err = w.out.err
	return w.err
}

// Len returns the number of items added.
func (w *Writer) Len() int { return w.count }

// Bytes returns the number of bytes that were written before the last Flush returned.
func (w *Writer) Bytes() int64 { return w.out.written }

func (b *batch) reset() {
	b.frame, b.entries = frame{}, entries{b.items[:0], b.ids[:0]}
	b.content, b.ready = b.content[:0], false
	if cap(b.content) > 4*frameSize {
		b.content, b.encoded = nil, nil
	}
	if b.content == nil {
		b.content = make([]byte, 0, frameSize)
	}
}

// encode encodes the content for w, and computes hashes and checksums.
func (b *batch) encode(w *Writer) {
	rest := b.content
	for i := range b.items {
		it := &b.items[i]
		switch {
		case !w.objects:
			it.Hash = HashOf(rest[:it.Size])
		case b.part > 0:
			b.ids[i] = IDOf(rest[:it.Size])
		}
		rest = rest[it.Size:]
	}
	b.count, b.bytes, b.raw, b.objects = len(b.items), len(b.content), w.raw, w.objects
	var sum, storedSum crc32c.Sum
	if w.raw {
		b.encoded, sum, storedSum = appendRaw(b.encoded[:0], b.content)
	} else {
		b.encoded = compress(b.encoded[:0], b.content, w.fast)
		sum.Add(b.content)
		storedSum.Add(b.encoded)
	}
	b.stored, b.sum, b.storedSum = storedSum.N, sum.CRC, storedSum.CRC
}

// write writes an encoded frame, unless an earlier one failed.
func (o *output) write(b *batch) error {
	if o.err != nil {
		return o.err
	}
	b.offset = o.offset
	b.head = appendHeader(b.head[:0], b.frame, b.entries)
	o.put(b.head)
	o.put(b.encoded)
	o.offset += int64(len(b.head) + b.stored)
	return o.err
}

func (o *output) put(data []byte) {
	if o.err == nil {
		var n int
		n, o.err = o.w.Write(data)
		o.written += int64(n)
	}
}
