package store

import (
	"bytes"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/sessions"
)

// EraseFromPacks removes the messages that no packed checkpoint needs, in the trash or not,
// from all packs, and packs that none needs. If a recipe cannot be read, what it needs is
// unknown; then only messages for which forgotten returns true are removed. Parts of packs
// that cannot be read are removed too: their messages are restored from other files, or
// lost. EraseFromPacks may be interrupted and repeated.
func (tx *Tx) EraseFromPacks(forgotten func(line string, item []byte) bool) error {
	for _, name := range tx.View.tempsIn(sessions.PackedDir) {
		if err := durable.Remove(tx.View.Root, name); err != nil {
			return err
		}
	}
	lines, err := tx.View.Packs()
	if err != nil || len(lines) == 0 {
		return err
	}
	copies, unreadable, err := tx.View.PackedCopies()
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := tx.View.Ctx.Err(); err != nil {
			return err
		}
		if unreadable == nil && !needed(line, copies) {
			if err := durable.Remove(tx.View.Root, sessions.PackFile(line)); err != nil {
				return err
			}
			continue
		}
		isDead := func([]byte) bool { return true }
		if unreadable != nil {
			isDead = func(item []byte) bool { return forgotten(line, item) }
		}
		if err := tx.eraseFromPack(line, copies, isDead); err != nil {
			return err
		}
	}
	return nil
}

// eraseFromPack removes the items of the pack of a line that no packed checkpoint needs and
// for which isDead returns true.
func (tx *Tx) eraseFromPack(line string, copies []PackedCopy, isDead func(item []byte) bool) error {
	s, err := tx.View.CheckPack(line, copies)
	if err != nil {
		return err
	}
	defer s.Close()
	live := s.healable()
	dead := len(s.Damage) > 0
	judge := func(i int, item []byte) error {
		live[i] = !isDead(item)
		dead = dead || !live[i]
		return nil
	}
	items := s.pack.Items()
	judged := func(i int) bool { return live[i] && !s.live[i] && !items[i].IsHole() }
	for from := 0; from < len(items); from++ {
		to := from
		for to < len(items) && judged(to) {
			to++
		}
		if err := s.pack.Read(from, to, judge); err != nil {
			return err
		}
		from = to
	}
	if !dead {
		return nil
	}
	return tx.rewritePack(line, s.pack, live, s.Content)
}

// EachText calls each with the text of every item of the pack in a file. It returns an error
// if one cannot be read.
func (v *View) EachText(name string, each func(item []byte)) error {
	p, err := pack.Open(v.Root, name)
	if err != nil {
		return err
	}
	defer p.Close()
	if damage := p.Verify(); len(damage) > 0 {
		return damage[0]
	}
	return p.Read(0, p.Len(), func(_ int, item []byte) error {
		each(item)
		return v.Ctx.Err()
	})
}

// TextOf returns the content of the session whose file, plain or a recipe, has the content
// data: of a packed checkpoint without the messages that cannot be read, and of a damaged
// recipe what it has. whole is false in these two cases.
func (v *View) TextOf(file string, data []byte) (text []byte, whole bool) {
	id := RecipeOf(file)
	if id == "" {
		return data, true
	}
	plain, lost, err := v.Folder.Salvage(id, data)
	if err != nil {
		_, rest, _ := bytes.Cut(data, []byte(`"session": `))
		return rest, false
	}
	return plain, lost == 0
}
