package stream

import (
	"fmt"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
)

// The content of a pack is lines, each an item in JSON. It is compressed in frames, whose headers
// have their sizes, so that a run is read without decompressing the frames before it.

const (
	maxPack  = 16 << 20 // bytes of a pack in the store, unless it has a single item
	maxFrame = 4 << 20  // bytes of a frame before it is compressed, unless it is a single item
	maxItem  = 96 << 20 // bytes of an item as a line
)

// A Packer adds packs to a writer's folder. It must be closed before an Append that refers to them,
// and before an Upload.
type Packer struct {
	w *Writer

	maxPack, maxFrame int

	stored []byte         // whole frames
	size   int64          // of the content in stored
	frame  []byte         // the content after that
	open   []*record.Body // of the pack, to be named when it is full
}

// Packer returns a new Packer.
func (w *Writer) Packer() *Packer { return &Packer{w: w, maxPack: maxPack, maxFrame: maxFrame} }

// Fits reports whether an item can be in a pack, of its own if it is large. It compresses the item.
func Fits(it record.Item) bool {
	line, err := it.MarshalJSON()
	const overhead = 64 << 10 // of the encryption: a header, and 16 bytes of each 64 KiB
	return err == nil && len(line) < maxItem && len(seal.Compress(append(line, '\n')))+overhead <= bucket.MaxObject
}

// Add adds a run of items, and returns its parts: one, or more if a pack is full. The names of their
// packs are set by a later call or by Close. An item that is too large for an object is an error,
// and no item after it was added.
func (p *Packer) Add(items []record.Item) ([]*record.Body, error) {
	if len(p.stored) > p.maxPack/4*3 {
		if err := p.flush(); err != nil { // so that most runs are in one pack
			return nil, err
		}
	}
	var bodies []*record.Body
	for i := range items {
		line, err := items[i].MarshalJSON()
		if err != nil {
			return bodies, err
		}
		if err := p.makeRoom(len(line) + 1); err != nil {
			return bodies, err
		}
		if len(p.open) == 0 || len(bodies) == 0 || p.open[len(p.open)-1] != bodies[len(bodies)-1] {
			body := &record.Body{At: p.size + int64(len(p.frame))}
			p.open, bodies = append(p.open, body), append(bodies, body)
		}
		p.frame = append(append(p.frame, line...), '\n')
		body := bodies[len(bodies)-1]
		body.Size += int64(len(line)) + 1
		body.Count++
	}
	return bodies, nil
}

// makeRoom ends the frame or the pack if n bytes more are too many for it.
func (p *Packer) makeRoom(n int) error {
	if n > maxItem {
		return fmt.Errorf("an item has %d bytes, and %d are possible", n, maxItem)
	}
	if len(p.frame) > 0 && len(p.frame)+n > p.maxFrame {
		p.endFrame()
	}
	if len(p.stored)+len(p.frame)+n > p.maxPack {
		return p.flush() // nothing happens if the item is the first one
	}
	return nil
}

func (p *Packer) endFrame() {
	if len(p.frame) > 0 {
		p.stored = append(p.stored, seal.Compress(p.frame)...)
		p.size += int64(len(p.frame))
		p.frame = p.frame[:0]
	}
}

// flush ends the pack, and adds it to the folder.
func (p *Packer) flush() error {
	p.endFrame()
	if len(p.stored) == 0 {
		return nil
	}
	stored, err := p.w.remote.Key.Encrypt(p.stored)
	if err != nil {
		return err
	}
	if len(stored) > bucket.MaxObject {
		return fmt.Errorf("a pack with an item of this size has %d bytes, and %d are possible", len(stored), bucket.MaxObject)
	}
	name := hashOf(stored)
	if err := p.w.noteMade(name); err != nil {
		return err
	}
	if err := p.w.write(packFile(name), stored); err != nil {
		return err
	}
	p.w.packed[name] = true
	for _, b := range p.open {
		b.Pack = name
	}
	p.stored, p.size, p.frame, p.open = p.stored[:0], 0, p.frame[:0], nil
	return nil
}

// Close adds the last pack. All bodies then have the name of theirs.
func (p *Packer) Close() error { return p.flush() }
