package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/bough-dev/bough/internal/crc32c"
)

// Rewrite writes the pack anew to w, from offset 0: items for which live returns false
// become holes, raw frames are compressed, and small ones merged. All items keep their
// numbers. If live is nil, all items are live. For packs of objects see [Index.Rewrite].
//
// If a live item is damaged, Rewrite calls heal, if not nil, and writes the item that it
// returns. If that is nil, or not the item that the header describes, Rewrite returns a
// *[DamageError]. Nothing describes a lost item, see [Item.Lost], so heal must return the
// right one or nil. Rewrite also calls heal for a live item that is a hole, which remains
// one if heal returns nil.
func (p *Pack) Rewrite(w io.Writer, live func(i int) bool, heal func(i int) []byte) error {
	if p.HasObjects() {
		return fmt.Errorf("%s is a pack of objects", p.name)
	}
	if live == nil {
		live = func(int) bool { return true }
	}
	fills := heal != nil
	if heal == nil {
		heal = func(int) []byte { return nil }
	}
	r := &rewriting{p, NewWriter(w, 0, 0, false), live, heal, fills}
	err := r.all()
	if flushed := r.out.Flush(); err == nil {
		err = flushed
	}
	return err
}

type rewriting struct {
	*Pack
	out   *Writer
	live  func(i int) bool
	heal  func(i int) []byte
	fills bool // heal may return the content of a hole
}

// A disposal is what happens to a frame.
type disposal int

const (
	empty disposal = iota // all items become holes
	merge                 // the live items are compressed again
	reuse                 // the Zstandard frame is copied
)

func (r *rewriting) all() error {
	list := make([]disposal, len(r.frames))
	for i := range r.frames {
		list[i] = r.dispose(&r.frames[i])
	}
	gaps := r.gaps
	fill := func(to int) error {
		for ; len(gaps) > 0 && gaps[0].to <= to; gaps = gaps[1:] {
			g := gaps[0]
			if err := r.restore(g.from, g.to, r.lost(g, g.from, g.to)); err != nil {
				return err
			}
		}
		return nil
	}
	return ahead(len(list), func(i int, buf *buffer) error {
		switch f := &r.frames[i]; list[i] {
		case merge:
			return r.decode(f, buf)
		case reuse:
			return r.readVerified(f, buf)
		}
		return nil
	}, func(i int, buf *buffer, err error) error {
		f := &r.frames[i]
		if err := fill(f.first); err != nil {
			return err
		}
		switch {
		case err != nil:
			return r.restore(f.first, f.next(), err)
		case list[i] == reuse:
			return r.out.reuse(*f, r.items[f.first:f.next()], buf.stored)
		case list[i] == empty:
			return r.restore(f.first, f.next(), nil)
		}
		return r.slices(part{f, f.first, f.next()}, buf.content, func(i int, item []byte) error {
			switch {
			case !r.live(i):
				item = []byte(Hole)
			case r.items[i].IsHole():
				item = r.fill(i)
			}
			return r.out.Add(item)
		})
	})
}

// dispose decides what happens to a frame.
func (r *rewriting) dispose(f *frame) disposal {
	live, same := false, true
	for i := f.first; i < f.next(); i++ {
		if r.items[i].IsHole() {
			if r.fills && r.live(i) {
				live, same = true, false
			}
			continue
		}
		if r.live(i) {
			live = true
		} else {
			same = false
		}
	}
	switch {
	case !live:
		return empty
	case same && !f.raw && f.bytes >= frameSize/2:
		return reuse
	}
	return merge
}

// restore adds the items from to to-1, which are not readable because of the error damage:
// holes, and live items that heal returns.
func (r *rewriting) restore(from, to int, damage error) error {
	for i := from; i < to; i++ {
		item := []byte(Hole)
		switch it := r.items[i]; {
		case !r.live(i):
		case it.IsHole():
			item = r.fill(i)
		default:
			item = r.heal(i)
			if item == nil || !it.Lost() && (Item{len(item), HashOf(item)}) != it {
				return damage
			}
		}
		if err := r.out.Add(item); err != nil {
			return err
		}
	}
	return nil
}

// fill returns the content of a live item that is a hole.
func (r *rewriting) fill(i int) []byte {
	if item := r.heal(i); item != nil {
		return item
	}
	return []byte(Hole)
}

// Verify reads everything and compares it with the headers, their checksums and the hashes
// of the items. It returns the damaged ranges of items, in order. The range is empty, at
// the end, if there are bytes after the last whole frame.
func (p *Pack) Verify() []*DamageError {
	list := make([]*DamageError, 0, len(p.gaps))
	for _, g := range p.gaps {
		list = append(list, p.lost(g, g.from, g.to))
	}
	ahead(len(p.frames), func(i int, buf *buffer) error {
		return p.verify(&p.frames[i], buf)
	}, func(_ int, _ *buffer, err error) error {
		if damage, ok := errors.AsType[*DamageError](err); ok {
			list = append(list, damage)
		}
		return nil
	})
	if p.end < p.size {
		list = append(list, &DamageError{p.name, p.end, len(p.items), len(p.items), p.tail})
	}
	slices.SortFunc(list, func(a, b *DamageError) int { return cmp.Compare(a.Offset, b.Offset) })
	return list
}

// verify reads f into buf and verifies all of it.
func (p *Pack) verify(f *frame, buf *buffer) error {
	if err := p.decode(f, buf); err != nil {
		return err
	}
	if crc32c.Of(buf.stored) != f.storedSum {
		return p.damage(f, "wrong checksum of the Zstandard frame")
	}
	return p.slices(part{f, f.first, f.next()}, buf.content, func(i int, item []byte) error {
		return p.verifyHash(f, i, item)
	})
}

func (p *Pack) verifyHash(f *frame, i int, item []byte) error {
	if f.objects && IDOf(item) != p.ids[i] || !f.objects && HashOf(item) != p.items[i].Hash {
		return p.damage(f, "wrong hash of item "+strconv.Itoa(i))
	}
	return nil
}

// readVerified reads the Zstandard frame of f into buf and verifies its checksum.
func (p *Pack) readVerified(f *frame, buf *buffer) error {
	err := p.readStored(f, buf)
	if err == nil && crc32c.Of(buf.stored) != f.storedSum {
		err = p.damage(f, "wrong checksum of the Zstandard frame")
	}
	return err
}
