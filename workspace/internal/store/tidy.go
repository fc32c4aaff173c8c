package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/sessions"
)

// A Tidying is how thoroughly [Tx.TidyPacks] rewrites packs.
type Tidying int

const (
	// Sparingly rewrites a pack with messages that are not compressed, and one of which
	// less than half is in use.
	Sparingly Tidying = iota
	// Completely rewrites every pack that has a message that no checkpoint needs.
	Completely
)

// TidyPacks removes packs that no packed checkpoint needs, in the trash or not, and
// rewrites others. If a recipe cannot be read, it does nothing:
// what that recipe needs is unknown. Each pack is replaced by itself, so TidyPacks may be
// interrupted at any time.
func (tx *Tx) TidyPacks(how Tidying) error {
	names, err := tx.View.packs()
	if err != nil || len(names) == 0 {
		return err
	}
	used, err := tx.View.usedItems()
	if err != nil {
		tx.View.Warn("packs are not tidied", err)
		return nil
	}
	for _, line := range names {
		if err := tx.View.Ctx.Err(); err != nil {
			return err
		}
		runs := used[line]
		if len(runs) == 0 {
			if err := durable.Remove(tx.View.Root, sessions.PackFile(line)); err != nil {
				return err
			}
			continue
		}
		if err := tx.tidyPack(line, runs, how); err != nil {
			return fmt.Errorf("%s: %w", sessions.PackFile(line), err)
		}
	}
	return nil
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

// packs returns the lines that have a pack.
func (v *View) packs() (lines []string, err error) {
	entries, err := durable.ReadDir(v.Root, sessions.PackedDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if line, ok := strings.CutSuffix(e.Name(), ".zst"); ok && sessions.PackFile(line) == sessions.PackedDir+"/"+e.Name() {
			lines = append(lines, line)
		}
	}
	return lines, err
}

// usedItems returns the runs of all recipes by the line of the pack, including those in the
// trash.
func (v *View) usedItems() (map[string][]sessions.PackRun, error) {
	used := map[string][]sessions.PackRun{}
	add := func(r *sessions.Recipe) {
		for _, run := range r.Runs {
			used[run.Line] = append(used[run.Line], run)
		}
	}
	list, _, err := v.Folder.ListPacked()
	if err != nil {
		return nil, err
	}
	for _, st := range list {
		r, _, err := v.Folder.Recipe(st.ID)
		if err != nil {
			return nil, err
		}
		add(r)
	}
	trashed, err := v.InTheTrash()
	if err != nil {
		return nil, err
	}
	for _, f := range trashed.Files {
		id := RecipeOf(f.File)
		if id == "" {
			continue
		}
		data, err := durable.ReadFile(v.Root, v.NameOf(f))
		if err != nil {
			return nil, err
		}
		r, err := sessions.DecodeRecipe(id, data)
		if err != nil {
			return nil, err
		}
		add(r)
	}
	return used, nil
}

// tidyPack rewrites the pack of a line of which runs are used, if that is worth it.
func (tx *Tx) tidyPack(line string, runs []sessions.PackRun, how Tidying) error {
	name := sessions.PackFile(line)
	p, err := pack.Open(tx.View.Root, name)
	if err != nil {
		return err
	}
	defer p.Close()
	live := make([]bool, p.Len())
	for _, run := range runs {
		for i := run.From; i < min(run.To, len(live)); i++ {
			live[i] = true
		}
	}
	var all, needed int64
	dead := false
	for i, it := range p.Items() {
		if it.IsHole() || it.Lost() {
			continue
		}
		all += int64(it.Size)
		if live[i] {
			needed += int64(it.Size)
		} else {
			dead = true
		}
	}
	if !p.Raw() && 2*needed >= all && !(how == Completely && dead) {
		return nil
	}
	b := durable.NewBatch(tx.View.Root)
	defer b.Discard()
	if _, err := b.Replace(name, func(w *durable.Writer) error {
		return p.Rewrite(w, func(i int) bool { return live[i] }, nil)
	}); err != nil {
		return err
	}
	if err := verifyPack(tx.View, tempOf(name), p, live); err != nil {
		return err
	}
	_, _, err = b.Commit(tx.View.Ctx)
	return err
}

// verifyPack returns an error unless the pack in a file has the live items of p.
func verifyPack(v *View, name string, p *pack.Pack, live []bool) error {
	again, err := pack.Open(v.Root, name)
	if err != nil {
		return err
	}
	defer again.Close()
	if damage := again.Verify(); len(damage) > 0 {
		return damage[0]
	}
	if again.Len() != p.Len() {
		return fmt.Errorf("it would have %d items, not %d", again.Len(), p.Len())
	}
	for i, it := range p.Items() {
		if live[i] && again.Items()[i] != it {
			return fmt.Errorf("item %d would differ", i)
		}
	}
	return nil
}
