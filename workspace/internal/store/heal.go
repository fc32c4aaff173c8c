package store

import (
	"bytes"
	"errors"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// A PackDamage is a part of a pack that cannot be read.
type PackDamage struct {
	Offset  int64
	Problem string
	Items   []int // that packed checkpoints need

	all []int // items
}

// A PackState is the result of verifying the pack of a line.
type PackState struct {
	Line    string
	Unused  bool // no packed checkpoint needs it
	Exists  bool
	Damage  []PackDamage
	Content map[int][]byte // of damaged items, as far as other files have them

	live []bool
	pack *pack.Pack
}

// Close closes the pack.
func (s *PackState) Close() error { return s.pack.Close() }

// CheckPack verifies the pack of a line, which need not exist, and finds the content of its
// damaged items in other files.
func (v *View) CheckPack(line string, copies []PackedCopy) (*PackState, error) {
	p, err := v.openPack(line)
	if err != nil {
		return nil, err
	}
	s := &PackState{Line: line, Unused: !needed(line, copies), Exists: v.IsThere(sessions.PackFile(line)), Content: map[int][]byte{}, pack: p}
	s.live = itemsOf(line, copies, p.Len())
	for _, d := range p.Verify() {
		s.add(d.Offset, d.Problem, d.From, d.To)
	}
	for i, it := range p.Items() {
		if it.IsHole() && s.live[i] {
			s.add(0, "a message was lost before", i, i+1)
		}
	}
	if rest := len(s.live); rest > p.Len() {
		problem := "the end is missing"
		if p.Size() == 0 {
			problem = "the file is missing or empty"
		}
		if n := len(s.Damage); n > 0 && s.Damage[n-1].Offset == p.End() && p.End() < p.Size() {
			problem = s.Damage[n-1].Problem
			s.Damage = s.Damage[:n-1]
		}
		s.add(p.End(), problem, p.Len(), rest)
	}
	if err := v.heal(s, copies); err != nil {
		p.Close()
		return nil, err
	}
	return s, nil
}

// add adds a damaged range of items. Lost messages are one range.
func (s *PackState) add(offset int64, problem string, from, to int) {
	if n := len(s.Damage); n == 0 || s.Damage[n-1].Problem != problem || s.Damage[n-1].Offset != offset {
		s.Damage = append(s.Damage, PackDamage{Offset: offset, Problem: problem})
	}
	d := &s.Damage[len(s.Damage)-1]
	d.all = slices.Grow(d.all, to-from)
	for i := from; i < to; i++ {
		d.all = append(d.all, i)
		if s.live[i] {
			d.Items = append(d.Items, i)
		}
	}
}

// CanHeal reports whether [Tx.HealPack] restores a message, or none that is needed is lost.
func (s *PackState) CanHeal() bool {
	needed := 0
	for _, d := range s.Damage {
		needed += len(d.Items)
	}
	return len(s.Damage) > 0 && (needed == 0 || len(s.Content) > 0)
}

// HealPack replaces a damaged pack. All items that are readable remain; damaged ones whose
// content is not known become holes.
func (tx *Tx) HealPack(s *PackState) error {
	return tx.rewritePack(s.Line, s.pack, s.healable(), s.Content)
}

// healable reports of each item whether it is readable or can be restored.
func (s *PackState) healable() (items []bool) {
	items = make([]bool, len(s.live))
	for i := range items {
		items[i] = true
	}
	for _, d := range s.Damage {
		for _, i := range d.all {
			items[i] = s.Content[i] != nil
		}
	}
	return items
}

// heal finds the content of the damaged items.
func (v *View) heal(s *PackState, copies []PackedCopy) error {
	described := map[pack.Item][]int{}
	unknown := map[int]bool{}
	for _, d := range s.Damage {
		for _, i := range d.Items {
			if i < s.pack.Len() && !s.pack.Items()[i].Lost() && !s.pack.Items()[i].IsHole() {
				it := s.pack.Items()[i]
				described[it] = append(described[it], i)
			}
			unknown[i] = true
		}
	}
	for _, c := range copies {
		if err := v.Ctx.Err(); err != nil {
			return err
		}
		if len(unknown) > 0 && needs(c, s.Line, unknown) {
			for i, item := range v.itemsAgain(c, s.Line, unknown) {
				s.Content[i] = item
				delete(unknown, i)
			}
		}
	}
	for it, numbers := range described {
		if !unknown[numbers[0]] {
			delete(described, it)
		}
	}
	return v.findItems(described, func(i int, item []byte) { s.Content[i] = item })
}

// needs reports whether a packed checkpoint needs one of the items of the pack of a line.
func needs(c PackedCopy, line string, items map[int]bool) bool {
	for _, run := range c.Runs {
		if run.Line != line {
			continue
		}
		for i := range items {
			if run.From <= i && i < run.To {
				return true
			}
		}
	}
	return false
}

// itemsAgain returns items of the pack of a line that a packed checkpoint needs, from the
// sessions that it was made from. It returns none if these no longer have exactly the
// messages of the checkpoint: its checksum is compared.
func (v *View) itemsAgain(c PackedCopy, line string, wanted map[int]bool) map[int][]byte {
	var runs []session.Run
	if o := v.trashedPlain(c.ID); o != nil {
		runs = []session.Run{{Part: o, To: o.Len()}}
		if found := v.matching(c, runs, line, wanted); found != nil {
			return found
		}
	}
	meta := c.Summary().Meta
	origin := meta.BranchedFrom
	if origin == "" && len(meta.ContinuedFrom) > 0 {
		origin = meta.ContinuedFrom[0]
	}
	if found := v.remade(c, origin, line, wanted); found != nil {
		return found
	}
	for _, e := range v.Index.Entries() {
		if e.Packed != nil || e.ID == origin || !v.hasMessage(e.ID, meta.BranchPoint) {
			continue
		}
		if found := v.remade(c, e.ID, line, wanted); found != nil {
			return found
		}
	}
	return nil
}

// hasMessage reports whether the file of a session has a message.
func (v *View) hasMessage(id, message string) bool {
	o, err := v.Outline(id)
	if err != nil || o.Brief() {
		return false
	}
	for i := range o.Len() {
		if o.MessageID(i) == message {
			return true
		}
	}
	return false
}

// remade returns the wanted items from a checkpoint that is made of a session again, nil if
// it would have other messages.
func (v *View) remade(c PackedCopy, id, line string, wanted map[int]bool) map[int][]byte {
	if v.Index.Entry(id) == nil {
		return nil
	}
	p, err := v.PlaceAt(id, c.Summary().Meta.BranchPoint, false)
	if err != nil {
		return nil
	}
	d, err := v.Document(p, checkpoint.Spec{ID: c.ID, Kind: session.Checkpoint, Title: c.ID})
	if err != nil {
		return nil
	}
	return v.matching(c, d.Messages, line, wanted)
}

// matching returns the wanted items if the items of runs are those of a packed checkpoint.
func (v *View) matching(c PackedCopy, runs []session.Run, line string, wanted map[int]bool) map[int][]byte {
	var sum crc32c.Sum
	found := map[int][]byte{}
	at, in := 0, 0 // the next item is c.Runs[in].From+at
	err := v.eachItem(runs, func(item []byte) error {
		if in == len(c.Runs) {
			return errMismatch
		}
		run := c.Runs[in]
		if number := run.From + at; run.Line == line && wanted[number] {
			found[number] = bytes.Clone(item)
		}
		sum.Add(item)
		if at++; run.From+at == run.To {
			at, in = 0, in+1
		}
		return nil
	})
	if err != nil || in < len(c.Runs) || !c.Fits(sum) {
		return nil
	}
	return found
}

var errMismatch = errors.New("other messages")

// eachItem calls each with the items of runs, in order.
func (v *View) eachItem(runs []session.Run, each func(item []byte) error) error {
	for _, run := range runs {
		if run.Part == nil {
			item, err := run.Single()
			if err != nil {
				return err
			}
			if err := each(item); err != nil {
				return err
			}
			continue
		}
		s, err := v.Folder.Open(run.Part)
		if err != nil {
			return err
		}
		for i := range run.Len() {
			if err := each(itemOf(s, run, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// itemOf returns the item of message i of a run of s.
func itemOf(s *session.Session, run session.Run, i int) []byte {
	at, size, _, plain := run.Item(i)
	if plain {
		return append([]byte(session.Separator), s.Messages[run.From+i].Raw...)
	}
	return s.Bytes()[at : at+size]
}

// trashedPlain returns the plain file of a checkpoint that was packed, nil if it is not in
// the trash.
func (v *View) trashedPlain(id string) (found *session.Outline) {
	v.eachTrashed(func(s *session.Session) bool {
		if s.ID == id {
			found = s.Outline
		}
		return found == nil
	})
	return found
}

// eachTrashed calls each with the sessions in the trash that are not packed, last removed
// first, until it returns false.
func (v *View) eachTrashed(each func(*session.Session) bool) {
	list, err := v.InTheTrash()
	if err != nil {
		return
	}
	for _, f := range list.Files {
		id := SessionOf(f.File)
		if id == "" || isRecipe(f.File) {
			continue
		}
		data, err := durable.ReadFile(v.Root, v.NameOf(f))
		if err != nil {
			continue
		}
		if s, err := session.Decode(id, data); err == nil && !each(s) {
			return
		}
	}
}

// findItems calls found with items and the numbers that wanted has for them, as far as a
// session, a pack or a session in the trash has them. It removes them from wanted.
func (v *View) findItems(wanted map[pack.Item][]int, found func(number int, item []byte)) error {
	take := func(it pack.Item, item []byte) {
		if (pack.Item{Size: len(item), Hash: pack.HashOf(item)}) != it {
			return
		}
		for _, number := range wanted[it] {
			found(number, bytes.Clone(item))
		}
		delete(wanted, it)
	}
	inSession := func(o *session.Outline, open func() (*session.Session, error)) {
		run := session.Run{Part: o, To: o.Len()}
		for i := range o.Len() {
			_, size, hash, plain := run.Item(i)
			it := pack.Item{Size: size, Hash: hash}
			if plain && wanted[it] == nil {
				continue
			}
			s, err := open()
			if err != nil {
				return
			}
			item := itemOf(s, run, i)
			if it.Hash = pack.HashOf(item); wanted[it] != nil {
				take(it, item)
			}
		}
	}
	for _, e := range v.Index.Entries() {
		if err := v.Ctx.Err(); err != nil || len(wanted) == 0 {
			return err
		}
		if e.Packed != nil {
			continue
		}
		o, err := v.Outline(e.ID)
		if err != nil || o.Brief() {
			continue
		}
		var s *session.Session
		inSession(o, func() (*session.Session, error) {
			if s == nil {
				s, err = v.Folder.Open(o)
			}
			return s, err
		})
	}
	if err := v.findInPacks(wanted, take); err != nil {
		return err
	}
	if len(wanted) > 0 {
		v.eachTrashed(func(s *session.Session) bool {
			inSession(s.Outline, func() (*session.Session, error) { return s, nil })
			return len(wanted) > 0
		})
	}
	return v.Ctx.Err()
}

// findInPacks calls take with the wanted items of all packs.
func (v *View) findInPacks(wanted map[pack.Item][]int, take func(pack.Item, []byte)) error {
	lines, err := v.Packs()
	for _, line := range lines {
		if len(wanted) == 0 {
			break
		}
		p, err := pack.Open(v.Root, sessions.PackFile(line))
		if err != nil {
			continue
		}
		for i, it := range p.Items() {
			if wanted[it] != nil {
				_ = p.Read(i, i+1, func(_ int, item []byte) error { take(it, item); return nil }) // it may be damaged
			}
		}
		p.Close()
	}
	return err
}
