package remote

import (
	"fmt"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/remote/travel"
	"github.com/bough-dev/bough/workspace/mirror"
)

const (
	maxInline = 64 << 10 // bytes of items of a kind in records that are appended together; more are in packs
	maxItem   = 24 << 20 // bytes of an item that fits into a pack in any case, see fits
)

// A batch collects operations and stores their items. Those of files have packs of their own, which a
// machine that receives no files need not read.
type batch struct {
	writer   *stream.Writer // nil for a dry run, which stores no items
	entries  []entry
	inline   int // bytes of items, also of those in packs
	messages bundle
	files    bundle
	objects  [][]mirror.Object // of the runs of objects, in their order
}

// A bundle is the items of a kind: in the records if they are small together, else in packs.
type bundle struct {
	size   int
	packer *stream.Packer
}

type entry struct {
	op     record.Op
	items  []record.Item
	bodies []*record.Body
	in     *bundle
}

// add adds operations.
func (b *batch) add(ops ...plan.Op) error {
	for _, op := range ops {
		e := entry{op: op.Op, items: op.Items, in: &b.messages}
		if travel.IsObjects(op.Op) {
			e.in = &b.files
		}
		for _, it := range op.Items {
			e.in.size += len(it.Raw) + len(it.Content)
			b.inline += len(it.Raw) + len(it.Content)
		}
		if b.writer == nil {
			e.items = nil
		}
		if e.in.packer != nil {
			if err := e.pack(); err != nil {
				return err
			}
		}
		b.entries = append(b.entries, e)
		if e.in.size > maxInline && e.in.packer == nil && b.writer != nil {
			e.in.packer = b.writer.Packer()
			for i := range b.entries {
				if one := &b.entries[i]; one.in == e.in {
					if err := one.pack(); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// pack moves the items of an entry to a pack.
func (e *entry) pack() (err error) {
	if len(e.items) > 0 {
		e.bodies, err = e.in.packer.Add(e.items)
		e.items = nil
	}
	return err
}

// ops ends the batch and returns its operations: several for items that are in several packs.
func (b *batch) ops() (list []record.Op, err error) {
	for _, in := range []bundle{b.messages, b.files} {
		if in.packer == nil {
			continue
		}
		if err := in.packer.Close(); err != nil {
			return nil, err
		}
	}
	for _, e := range b.entries {
		switch {
		case len(e.bodies) > 0:
			for _, body := range e.bodies {
				e.op.Body = body
				list = append(list, e.op)
			}
			continue
		case len(e.items) > 0:
			e.op.Body = &record.Body{Items: e.items}
		}
		list = append(list, e.op)
	}
	return list, nil
}

// fits returns an operation without the items that are too large, and these.
func fits(op plan.Op) (plan.Op, []string) {
	var large []string
	var items []record.Item
	for _, it := range op.Items {
		if n := len(it.Raw) + len(it.Content); n > maxItem && !stream.Fits(it) {
			large = append(large, fmt.Sprintf("%s has %d bytes, and compressed it is too large for an object of %d", it.ID, n, bucket.MaxObject))
		} else {
			items = append(items, it)
		}
	}
	if large != nil {
		op.Items = items
	}
	return op, large
}
