package pack

import (
	"fmt"
	"io"
	"slices"

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
	sums    []crc32c.Sum
	err     error
}

// A batch is a frame that is being filled, encoded or written. Its buffers are reused.
type batch struct {
	frame
	entries
	content []byte
	encoded []byte       // the Zstandard frame
	ready   bool         // it is encoded
	marks   []int        // offsets in content at which a new sum begins, see [Writer.Mark]
	parts   []crc32c.Sum // of the content between the marks
	head    []byte
	err     error
}

// A HashError reports that the content of an item does not have the hash that it was added
// with.
type HashError struct {
	Item int // its number
}

func (e *HashError) Error() string { return fmt.Sprintf("item %d has another hash", e.Item) }

// newBatch returns an empty batch with buffers that earlier writers used, if there are any.
func newBatch() *batch {
	buf := newBuffer()
	return &batch{content: buf.content[:0], encoded: buf.stored[:0]}
}

// release lets later writers use the buffers.
func (b *batch) release() {
	(&buffer{b.encoded, b.content}).release()
	b.content, b.encoded = nil, nil
}

// NewWriter returns a writer of frames to w. The first one is at an offset of the pack and
// begins with the item first: as returned by [Pack.Next], or 0 and 0 in a new pack. If raw,
// frames are not compressed.
func NewWriter(w io.Writer, offset int64, first int, raw bool) *Writer {
	free := make(chan *batch, cores())
	for range cap(free) {
		free <- newBatch()
	}
	turn := make(chan struct{})
	close(turn)
	out := output{w: w, offset: offset, sums: make([]crc32c.Sum, 1)}
	return &Writer{raw: raw, first: first, current: newBatch(), free: free, turn: turn, out: out}
}

// Add adds an item, which it copies. If the item is larger than maxItem, Add adds
// nothing and returns an error. Other errors may also be returned by a later call.
func (w *Writer) Add(item []byte) error {
	if err := checkSize(len(item)); err != nil {
		return err
	}
	_, err := w.add(item)
	return err
}

func checkSize(item int) error {
	if item <= maxItem {
		return nil
	}
	return fmt.Errorf("an item of %d bytes is too large for a pack; at most %d are possible", item, maxItem)
}

// AddFrom adds items whose sizes and hashes are known, and reads their content, one after
// the other, from in. If that is too short, the error is [io.ErrUnexpectedEOF] or [io.EOF],
// and the items that were not read are not added. If the content of an item has another
// hash, this or a later call, or Flush, returns a *[HashError].
func (w *Writer) AddFrom(in io.Reader, items []Item) error {
	for len(items) > 0 {
		if err := checkSize(items[0].Size); err != nil {
			return err
		}
		b := w.room(items[0].Size)
		if w.err != nil {
			return w.err
		}
		at, n, size := len(b.content), 0, 0
		for n < len(items) && (n == 0 || b.fits(n+1, size+items[n].Size)) {
			size += items[n].Size
			n++
		}
		b.content = slices.Grow(b.content, size)[:at+size]
		if _, err := io.ReadFull(in, b.content[at:]); err != nil {
			b.content = b.content[:at]
			return err
		}
		b.items = append(b.items, items[:n]...)
		w.count += n
		items = items[n:]
	}
	return nil
}

// Mark begins a new sum with the next item: see [Writer.Sums].
func (w *Writer) Mark() { w.current.marks = append(w.current.marks, len(w.current.content)) }

// Sums returns the checksums of the items before the first mark, and from each mark to the
// next one or the end. It must be called after Flush.
func (w *Writer) Sums() []crc32c.Sum { return w.out.sums }

// room returns the batch that an item of size bytes is to be added to.
func (w *Writer) room(size int) *batch {
	b := w.current
	if len(b.items) > 0 && !b.fits(1, size) {
		b = w.swap()
	}
	return b
}

// fits reports whether n more items of size bytes together fit into the frame.
func (b *batch) fits(n, size int) bool {
	return len(b.content)+size <= frameSize && len(b.items)+n <= frameItems
}

// add adds an item and returns the batch that it is in.
func (w *Writer) add(item []byte) (*batch, error) {
	b := w.room(len(item))
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
	b.parts = append(b.parts[:0], crc32c.Sum{CRC: f.sum, N: f.bytes})
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
	w.current.release()
	for range cap(w.free) {
		b := <-w.free
		b.release()
		w.free <- b
	}
	return w.err
}

// Len returns the number of items added.
func (w *Writer) Len() int { return w.count }

// Bytes returns the number of bytes that were written before the last Flush returned.
func (w *Writer) Bytes() int64 { return w.out.written }

func (b *batch) reset() {
	b.frame, b.entries = frame{}, entries{b.items[:0], b.ids[:0]}
	b.content, b.marks, b.ready, b.err = b.content[:0], b.marks[:0], false, nil
	if cap(b.content) > 4*frameSize {
		b.content, b.encoded = nil, nil
	}
	if cap(b.content) < frameSize {
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
			hash := HashOf(rest[:it.Size])
			if it.Hash != 0 && it.Hash != hash && b.err == nil {
				b.err = &HashError{b.first + i}
			}
			it.Hash = hash
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
	b.parts = append(b.parts[:0], sum)
	if len(b.marks) > 0 {
		b.parts = b.parts[:0]
		from := 0
		for _, to := range append(b.marks, len(b.content)) {
			b.parts = append(b.parts, crc32c.Sum{CRC: crc32c.Of(b.content[from:to]), N: to - from})
			from = to
		}
	}
}

// write writes an encoded frame, unless an earlier one failed.
func (o *output) write(b *batch) error {
	if o.err == nil {
		o.err = b.err
	}
	if o.err != nil {
		return o.err
	}
	o.sums[len(o.sums)-1].Join(b.parts[0])
	o.sums = append(o.sums, b.parts[1:]...)
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
