package store

import (
	"fmt"
	"io"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/sessions"
)

// TidyPacks removes packs that no packed checkpoint needs, in the trash or not. It rewrites
// those with messages that are not compressed, and those of which less than half is needed,
// except for damaged ones. If a recipe cannot be read, TidyPacks does nothing, since what
// that recipe needs is unknown. Each pack is replaced by itself, so TidyPacks may be
// interrupted at any time.
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
	for _, line := range names {
		if err := tx.View.Ctx.Err(); err != nil {
			return err
		}
		if err := tx.tidyPack(line, copies); err != nil {
			tx.View.Warn(sessions.PackFile(line)+" is not tidied", err)
		}
	}
	return tx.View.Ctx.Err()
}

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

// tidyPack removes or rewrites the pack of a line, if that is worth it.
func (tx *Tx) tidyPack(line string, copies []PackedCopy) error {
	if !needed(line, copies) {
		return durable.Remove(tx.View.Root, sessions.PackFile(line))
	}
	p, err := tx.View.openPack(line)
	if err != nil {
		return err
	}
	defer p.Close()
	live := itemsOf(line, copies, p.Len())
	var all, needed int64
	for i, it := range p.Items() {
		if it.IsHole() || it.Lost() {
			continue
		}
		all += int64(it.Size)
		if live[i] {
			needed += int64(it.Size)
		}
	}
	if !p.Raw() && 2*needed >= all {
		return nil
	}
	return tx.rewritePack(line, p, live, nil)
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
