package checkup

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// packs checks the packs, and the recipes that session files hide. Other recipes are
// checked as sessions.
func (d *checkup) packs() error {
	copies, unreadable, err := d.v.PackedCopies()
	if err != nil {
		return err
	}
	lines, err := d.v.Packs()
	if err != nil {
		d.found(doctor.UnreadableSession, sessions.PackedDir, err.Error(), false)
		return nil
	}
	for _, c := range copies {
		if !c.Trashed && !d.v.IsPacked(c.ID) {
			if err := d.hiddenRecipe(c); err != nil {
				return err
			}
		}
		for _, run := range c.Runs {
			lines = append(lines, run.Line)
		}
	}
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		state, err := d.v.CheckPack(line, copies)
		if d.v.Ctx.Err() != nil {
			return d.v.Ctx.Err()
		}
		if err != nil {
			d.found(doctor.UnreadableSession, sessions.PackFile(line), err.Error(), false)
			continue
		}
		err = d.pack(state, copies, unreadable == nil)
		state.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// hiddenRecipe reports a recipe that a session file hides. If both have the same bytes,
// packing or unpacking was not completed, and a repair moves the recipe to the trash: what
// readers see does not change.
func (d *checkup) hiddenRecipe(c store.PackedCopy) error {
	name := sessions.RecipeFile(c.ID)
	p := doctor.Problem{Kind: doctor.HiddenRecipe, Path: name, Detail: session.FileName(c.ID) + " exists and is used instead of this packed checkpoint"}
	if d.repairs() && d.sameBytes(c) {
		if err := d.tx.Discard(name); err != nil {
			return err
		}
		p.Fixed = true
	}
	p.Note = !p.Fixed
	d.problems = append(d.problems, p)
	return nil
}

// sameBytes reports whether the plain file of a packed checkpoint would have the bytes of
// the session file with its id.
func (d *checkup) sameBytes(c store.PackedCopy) bool {
	plain, err := d.v.Folder.Plain(c.ID, c.Encode())
	if err != nil {
		return false
	}
	file, err := durable.ReadFile(d.v.Root, session.FileName(c.ID))
	return err == nil && bytes.Equal(plain, file)
}

// pack reports the problems of a pack and repairs them. known reports whether all recipes
// are readable.
func (d *checkup) pack(s *store.PackState, copies []store.PackedCopy, known bool) error {
	name := sessions.PackFile(s.Line)
	if s.Unused && known {
		if d.repairs() {
			if err := d.tx.Discard(name); err != nil {
				return err
			}
		}
		d.problems = append(d.problems, doctor.Problem{Kind: doctor.UnusedPack, Path: name, Detail: "no packed checkpoint needs this pack", Fixed: d.repairs(), Note: !d.repairs()})
		return nil
	}
	healed := d.repairs() && s.CanHeal()
	if healed {
		if s.Exists {
			to, err := d.tx.InTrash(name)
			if err != nil {
				return err
			}
			if err := durable.KeepOriginal(d.v.Root, name, to); err != nil {
				return err
			}
		}
		if err := d.tx.HealPack(s); err != nil {
			return err
		}
	}
	for _, damage := range s.Damage {
		d.packDamage(s, damage, copies, healed)
	}
	return nil
}

// packDamage reports a damaged part of a pack.
func (d *checkup) packDamage(s *store.PackState, damage store.PackDamage, copies []store.PackedCopy, healed bool) {
	p := doctor.Problem{Kind: doctor.DamagedPack, Path: sessions.PackFile(s.Line)}
	place := fmt.Sprintf("byte %d: %s", damage.Offset, damage.Problem)
	if len(damage.Items) == 0 {
		p.Detail, p.Fixed, p.Note = place+"; no checkpoint needs this part", healed, !healed
		d.problems = append(d.problems, p)
		return
	}
	lost := 0
	for _, i := range damage.Items {
		if s.Content[i] == nil {
			lost++
		}
	}
	p.Detail = fmt.Sprintf("%s; %s cannot be read, which affects %s", place, damagedMessages(s, damage.Items), affected(s.Line, damage.Items, copies))
	switch restored := len(damage.Items) - lost; {
	case lost == 0 && healed:
		p.Detail, p.Fixed = fmt.Sprintf("%s; %s restored in %s", place, damagedMessages(s, damage.Items), affected(s.Line, damage.Items, copies)), true
	case lost == 0:
		p.Detail += "; a repair restores them from other files"
	case restored == 0:
		p.Detail += "; no other file has them"
	case healed:
		p.Detail += fmt.Sprintf("; %s restored, and %s lost", plural.Of(restored, "message"), plural.Of(lost, "message"))
	default:
		p.Detail += fmt.Sprintf("; a repair restores %s from other files, and no other file has %d", plural.Of(restored, "message"), lost)
	}
	d.problems = append(d.problems, p)
}

// damagedMessages describes items of a pack: their numbers, and the ids that are known.
func damagedMessages(s *store.PackState, items []int) string {
	var ids []string
	for _, i := range items {
		if c := s.Content[i]; c != nil {
			ids = append(ids, gjson.Get(strings.TrimPrefix(string(c), ","), "id").Str)
		}
	}
	text := fmt.Sprintf("%s (%s", plural.Of(len(items), "message"), numbers(items))
	if len(ids) > 0 {
		text += ": " + listed(ids)
	}
	return text + ")"
}

// numbers formats increasing numbers as ranges, such as "2 to 4, 7".
func numbers(items []int) string {
	var ranges []string
	for i := 0; i < len(items); {
		n := i + 1
		for n < len(items) && items[n] == items[n-1]+1 {
			n++
		}
		if n == i+1 {
			ranges = append(ranges, fmt.Sprint(items[i]))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d to %d", items[i], items[n-1]))
		}
		i = n
	}
	return listed(ranges)
}

// affected describes the packed checkpoints that need one of the items of a pack.
func affected(line string, items []int, copies []store.PackedCopy) string {
	var ids []string
	for _, c := range copies {
		if slices.ContainsFunc(c.Runs, func(run sessions.PackRun) bool {
			at, _ := slices.BinarySearch(items, run.From)
			return run.Line == line && at < len(items) && items[at] < run.To
		}) {
			if c.Trashed {
				ids = append(ids, c.ID+" in the trash")
				continue
			}
			ids = append(ids, c.ID)
		}
	}
	noun := "the checkpoint "
	if len(ids) > 1 {
		noun = fmt.Sprintf("the %d checkpoints ", len(ids))
	}
	return noun + listed(ids)
}

// listed joins texts, of many the first ones.
func listed(texts []string) string {
	const most = 10
	if len(texts) <= most {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d others", strings.Join(texts[:most], ", "), len(texts)-most)
}
