package remote

import (
	"fmt"

	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
)

const (
	maxInline = 64 << 10 // bytes of items in records that are appended together; more are in packs
	maxItem   = 24 << 20 // bytes of an item; larger ones do not travel
)

// A batch collects operations and stores their items.
type batch struct {
	writer  *stream.Writer // nil for a dry run, which stores no items
	entries []entry
	inline  int // bytes of items, also of those in the pack
	packer  *stream.Packer
}

type entry struct {
	op     record.Op
	items  []record.Item
	bodies []*record.Body
}

// add adds operations.
func (b *batch) add(ops ...plan.Op) error {
	for _, op := range ops {
		e := entry{op: op.Op, items: op.Items}
		for _, it := range op.Items {
			b.inline += len(it.Raw) + len(it.Content)
		}
		if len(e.items) > 0 && b.packer != nil {
			if err := b.pack(&e); err != nil {
				return err
			}
		}
		if b.writer == nil {
			e.items = nil
		}
		b.entries = append(b.entries, e)
		if b.inline > maxInline && b.packer == nil && b.writer != nil {
			b.packer = b.writer.Packer()
			for i := range b.entries {
				if err := b.pack(&b.entries[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pack moves the items of an entry to the pack.
func (b *batch) pack(e *entry) (err error) {
	if len(e.items) > 0 {
		e.bodies, err = b.packer.Add(e.items)
		e.items = nil
	}
	return err
}

// ops ends the batch and returns its operations: several for items that are in several packs.
func (b *batch) ops() (list []record.Op, err error) {
	if b.packer != nil {
		if err := b.packer.Close(); err != nil {
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
		if n := len(it.Raw) + len(it.Content); n > maxItem {
			large = append(large, fmt.Sprintf("%s has %d bytes, and %d are possible", it.ID, n, maxItem))
		} else {
			items = append(items, it)
		}
	}
	if large != nil {
		op.Items = items
	}
	return op, large
}
