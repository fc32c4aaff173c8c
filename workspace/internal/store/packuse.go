package store

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/sessions"
)

// A PackedCopy is a packed checkpoint in the workspace or in the trash.
type PackedCopy struct {
	ID      string
	Trashed bool
	*sessions.Recipe
}

// PackedCopies returns all packed checkpoints whose recipes are readable, and why another
// one, or the trash, is not, nil if all are.
func (v *View) PackedCopies() (list []PackedCopy, unreadable, err error) {
	stats, _, err := v.Folder.ListPacked(true)
	if err != nil {
		return nil, nil, err
	}
	for _, st := range stats {
		r, _, err := v.Folder.Recipe(st.ID)
		if err != nil {
			unreadable = cmp.Or(unreadable, err)
			continue
		}
		list = append(list, PackedCopy{st.ID, false, r})
	}
	trashed, err := v.InTheTrash()
	if err != nil {
		return list, cmp.Or(unreadable, err), nil
	}
	for _, f := range trashed.Files {
		id := RecipeOf(f.File)
		if id == "" {
			continue
		}
		data, err := durable.ReadFile(v.Root, v.NameOf(f))
		if err != nil {
			unreadable = cmp.Or(unreadable, err)
			continue
		}
		r, err := sessions.DecodeRecipe(id, data)
		if err != nil {
			unreadable = cmp.Or(unreadable, err)
			continue
		}
		list = append(list, PackedCopy{id, true, r})
	}
	return list, unreadable, nil
}

// Packs returns the lines that have a pack.
func (v *View) Packs() (lines []string, err error) {
	entries, err := durable.ReadDir(v.Root, sessions.PackedDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if line := PackOf(sessions.PackedDir + "/" + e.Name()); line != "" {
			lines = append(lines, line)
		}
	}
	return lines, err
}

// PackOf returns the line whose pack a file is, "" if it is none.
func PackOf(name string) string {
	line, ok := strings.CutSuffix(strings.TrimPrefix(name, sessions.PackedDir+"/"), ".zst")
	if !ok || sessions.PackFile(line) != name {
		return ""
	}
	return line
}

// itemsOf returns the numbers of the items of a pack that packed checkpoints need: live[i]
// reports whether one needs item i. live has at least size elements.
func itemsOf(line string, copies []PackedCopy, size int) (live []bool) {
	for _, c := range copies {
		for _, run := range c.Runs {
			if run.Line == line {
				size = max(size, run.To)
			}
		}
	}
	live = make([]bool, size)
	for _, c := range copies {
		for _, run := range c.Runs {
			if run.Line != line {
				continue
			}
			for i := run.From; i < run.To; i++ {
				live[i] = true
			}
		}
	}
	return live
}

// needed reports whether a packed checkpoint needs a pack.
func needed(line string, copies []PackedCopy) bool {
	for _, c := range copies {
		for _, run := range c.Runs {
			if run.Line == line {
				return true
			}
		}
	}
	return false
}

// openPack opens the pack of a line. If it does not exist, openPack returns an empty one.
func (v *View) openPack(line string) (*pack.Pack, error) {
	name := sessions.PackFile(line)
	p, err := pack.Open(v.Root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return pack.New(name, strings.NewReader(""), 0)
	}
	return p, err
}
