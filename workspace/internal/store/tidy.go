package store

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/sessions"
)

// TidyPacks removes packs that no packed checkpoint needs, in the trash or not. It rewrites
// those with messages that are not compressed, and those of which less than half is needed,
// except for damaged ones: those first that waste most, until it has rewritten tx.View.Store.Tidy
// bytes. If a recipe cannot be read, TidyPacks does nothing, since what that recipe needs is
// unknown. Each pack is replaced by itself, so TidyPacks may be interrupted at any time.
func (tx *Tx) TidyPacks() error {
	names, err := tx.View.Packs()
	if err != nil || len(names) == 0 {
		return err
	}
	copies, unreadable, err := tx.View.PackedCopies()
	if err != nil {
		return err
	}
	if unreadable != nil {
		tx.View.Warn("packs are not tidied", unreadable)
		return nil
	}
	var list []packUse
	for _, line := range names {
		if err := tx.View.Ctx.Err(); err != nil {
			return err
		}
		if !needed(line, copies) {
			tx.warnUntidy(line, durable.Remove(tx.View.Root, sessions.PackFile(line)))
			continue
		}
		use, err := tx.View.packUse(line, copies)
		if tx.warnUntidy(line, err); err == nil && use.wasteful() {
			list = append(list, use)
		}
	}
	slices.SortStableFunc(list, func(a, b packUse) int { return cmp.Compare(b.waste(), a.waste()) })
	return tx.rewriteWorst(list, copies)
}

// tidyBytes is the number of bytes of messages that one [Tx.TidyPacks] rewrites, which takes
// a few seconds: other writers wait for the lock for 30 seconds only.
const tidyBytes = 256 << 20

// rewriteWorst rewrites packs in the order of list, as many as Store.Tidy allows, and the
// first one in any case: a larger one would never be rewritten otherwise. A pack that cannot
// be rewritten does not count, so that it does not keep others from being rewritten.
func (tx *Tx) rewriteWorst(list []packUse, copies []PackedCopy) error {
	done := int64(0)
	for _, use := range list {
		if err := tx.View.Ctx.Err(); err != nil {
			return err
		}
		if done > 0 && done+use.needed > tx.View.Store.Tidy {
			break
		}
		err := tx.tidyPack(use.line, copies)
		if tx.warnUntidy(use.line, err); err == nil {
			done += max(use.needed, 1)
		}
	}
	return tx.View.Ctx.Err()
}

func (tx *Tx) warnUntidy(line string, err error) {
	tx.View.Warn(sessions.PackFile(line)+" is not tidied", err)
}

// A packUse describes what packed checkpoints need of the pack of a line.
type packUse struct {
	line   string
	size   int64 // of the file
	items  int64 // size of the items before compression
	needed int64 // size of those items that are needed
	raw    bool  // some items are not compressed
}

// packUse returns the use of the pack of a line.
func (v *View) packUse(line string, copies []PackedCopy) (packUse, error) {
	p, err := v.openPack(line)
	if err != nil {
		return packUse{}, err
	}
	defer p.Close()
	use := packUse{line: line, size: p.Size(), raw: p.Raw()}
	live := itemsOf(line, copies, p.Len())
	for i, it := range p.Items() {
		if it.IsHole() || it.Lost() {
			continue
		}
		use.items += int64(it.Size)
		if live[i] {
			use.needed += int64(it.Size)
		}
	}
	return use, nil
}

// wasteful reports whether it is worth rewriting the pack.
func (u packUse) wasteful() bool { return u.raw || 2*u.needed < u.items }

// waste estimates how much smaller the file would be after it is rewritten: conversations
// are compressed to about a fifth.
func (u packUse) waste() int64 { return u.size - u.needed/5 }

// HasRawPack reports whether the pack of a line has messages that are not compressed.
func (tx *Tx) HasRawPack(line string) bool {
	if line == "" {
		return false
	}
	p, err := pack.Open(tx.View.Root, sessions.PackFile(line))
	if err != nil {
		return false
	}
	defer p.Close()
	return p.Raw()
}

// tidyPack rewrites the pack of a line with the items that are needed.
func (tx *Tx) tidyPack(line string, copies []PackedCopy) error {
	p, err := tx.View.openPack(line)
	if err != nil {
		return err
	}
	defer p.Close()
	return tx.rewritePack(line, p, itemsOf(line, copies, p.Len()), nil)
}

// rewritePack replaces a pack. Items that are not live become holes. If content is nil, a
// live item that cannot be read is an error; otherwise it is replaced by its content, or
// becomes a hole if there is none.
func (tx *Tx) rewritePack(line string, p *pack.Pack, live []bool, content map[int][]byte) error {
	name := sessions.PackFile(line)
	isLive := func(i int) bool { return live[i] }
	heal := func(i int) []byte { return content[i] }
	if content == nil {
		heal = nil
	}
	b := durable.NewBatch(tx.View.Root)
	defer b.Discard()
	if _, err := b.Replace(name, func(w *durable.Writer) error {
		out := &counter{w: w}
		if err := p.Rewrite(out, isLive, heal); err != nil {
			return err
		}
		if content == nil || len(live) <= p.Len() {
			return nil
		}
		rest := pack.NewWriter(w, out.n, p.Len(), false)
		err := addRest(rest, p.Len(), len(live), content)
		if flushed := rest.Flush(); err == nil {
			err = flushed
		}
		return err
	}); err != nil {
		return err
	}
	if err := verifyPack(tx.View, tempOf(name), p, live, content); err != nil {
		return err
	}
	_, _, err := b.Commit(tx.View.Ctx)
	return err
}

// addRest adds the items from to to-1: their content, or holes.
func addRest(w *pack.Writer, from, to int, content map[int][]byte) error {
	for i := from; i < to; i++ {
		item := content[i]
		if item == nil {
			item = []byte(pack.Hole)
		}
		if err := w.Add(item); err != nil {
			return err
		}
	}
	return nil
}

// A counter counts the bytes that it writes.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// verifyPack returns an error unless the pack in a file has the live items of p, or their
// content.
func verifyPack(v *View, name string, p *pack.Pack, live []bool, content map[int][]byte) error {
	again, err := pack.Open(v.Root, name)
	if err != nil {
		return err
	}
	defer again.Close()
	if damage := again.Verify(); len(damage) > 0 {
		return damage[0]
	}
	size := p.Len()
	if content != nil {
		size = max(size, len(live))
	}
	if again.Len() != size {
		return fmt.Errorf("it would have %d items, not %d", again.Len(), size)
	}
	for i, it := range again.Items() {
		switch restored := content[i]; {
		case !live[i]:
		case restored != nil && it != (pack.Item{Size: len(restored), Hash: pack.HashOf(restored)}),
			restored == nil && i < p.Len() && it != p.Items()[i]:
			return fmt.Errorf("item %d would differ", i)
		}
	}
	return nil
}
