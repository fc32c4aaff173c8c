package states

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"syscall"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
)

// Remove removes the states with these ids. Their objects stay until [Store.Tidy], and damaged
// lines stay.
func (s *Store) Remove(ids ...string) error {
	data, err := wholeLines(s.root, recordsFile)
	if err != nil {
		return err
	}
	var kept [][]byte
	removed := false
	for record := range bytes.Lines(data) {
		var st State
		if err := json.Unmarshal(record, &st); err == nil && slices.Contains(ids, st.ID) {
			removed = true
		} else {
			kept = append(kept, record)
		}
	}
	if removed {
		_, err = durable.Replace(s.root, recordsFile, durable.Bytes(kept...))
	}
	return err
}

const (
	maxTidy   = 256 << 20 // size in bytes of the packs that are rewritten at once, without those that must be
	smallPack = 8 << 20   // size in bytes of packs that are merged
	manyPacks = 16        // number of small packs from which they are merged
	scattered = 64        // number of small packs from which each take becomes slow
)

// IsScattered reports whether there are so many small packs that [Store.Tidy] is due. After each
// Tidy, also one that fails, it returns false for some time.
func (s *Store) IsScattered() (bool, error) {
	names, err := s.packNames()
	if err != nil || len(names) < scattered {
		return false, err
	}
	small := 0
	for _, name := range names {
		if info, err := s.root.Lstat(path.Join(Dir, name)); err == nil && info.Size() < smallPack {
			small++
		}
	}
	return small >= scattered && small%(scattered/4) == 0, nil
}

// Tidy gives space back: it removes packs of which no state needs an object, and writes one
// new pack for those of which states need less than half, those with forgotten objects, and
// small ones if there are many, of up to 256 MiB together. If an object that a state needs
// cannot be found, it changes nothing and returns the error. It needs room for the new pack; if
// there is none, it only removes packs, and returns the error.
func (s *Store) Tidy(ctx context.Context) error { return s.tidy(ctx, math.MaxInt64) }

// Shrink is [Store.Tidy], and also rewrites the packs with the most bytes that no state needs
// until all packs together have at most limit bytes, if states need no more.
func (s *Store) Shrink(ctx context.Context, limit int64) error { return s.tidy(ctx, limit) }

func (s *Store) tidy(ctx context.Context, limit int64) error {
	if err := s.prepare(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.closePacks(); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	m, err := s.mark()
	if err != nil {
		return err
	}
	removed, rewritten := s.plan(m, limit)
	if len(rewritten) > 0 {
		if err = s.merge(ctx, rewritten, m); errors.Is(err, syscall.ENOSPC) {
			rewritten = nil // what is removed makes room for the next time
		} else if err != nil {
			return err
		}
	}
	names := s.names
	if err := s.closePacks(); err != nil {
		return err
	}
	var gone []string
	for _, i := range append(removed, rewritten...) {
		gone = append(gone, path.Join(Dir, names[i]))
	}
	return errors.Join(err, durable.Remove(s.root, gone...))
}

// plan decides which packs are removed, and which are rewritten.
func (s *Store) plan(m *marking, limit int64) (removed, rewritten []int) {
	var small []int
	var size, all int64
	waste := make([]int64, len(s.packs)) // of packs that stay
	rewrite := func(i int) {
		if size += s.packs[i].End(); size <= maxTidy || len(rewritten) == 0 {
			rewritten = append(rewritten, i)
		}
	}
	for i, use := range s.index.Uses(m.keeps) {
		needed := int64(float64(s.packs[i].End()) * float64(use.Live) / float64(max(use.Size, 1)))
		all += needed
		switch {
		case use.Objects == 0:
			removed = append(removed, i)
		case s.hasForgotten(s.packs[i]):
			rewritten = append(rewritten, i)
		case use.Live < use.Size/2:
			rewrite(i)
		default:
			if s.packs[i].End() < smallPack {
				small = append(small, i)
			}
			waste[i] = s.packs[i].End() - needed
			all += waste[i]
		}
	}
	for all > limit && len(waste) > 0 {
		i := slices.Index(waste, slices.Max(waste))
		if waste[i] <= 0 {
			break
		}
		rewrite(i)
		all -= waste[i]
		waste[i] = 0
	}
	small = slices.DeleteFunc(small, func(i int) bool { return slices.Contains(rewritten, i) })
	if len(small) >= manyPacks {
		for _, i := range small {
			rewrite(i)
		}
	}
	slices.Sort(rewritten)
	return removed, rewritten
}

// hasForgotten reports whether a pack has an object that was deleted permanently.
func (s *Store) hasForgotten(p *pack.Pack) bool {
	if len(s.forgotten) == 0 {
		return false
	}
	for id := range pack.NewIndex(p).All() {
		if s.forgotten[id] {
			return true
		}
	}
	return false
}

// merge writes the live objects of some packs to a new one.
func (s *Store) merge(ctx context.Context, numbers []int, m *marking) error {
	var packs []*pack.Pack
	for _, i := range numbers {
		packs = append(packs, s.packs[i])
	}
	x := pack.NewIndex(packs...)
	wanted := 0
	for id := range x.All() {
		if m.keeps(id) {
			wanted++
		}
	}
	name, err := s.nextPack()
	if err != nil {
		return err
	}
	b := durable.NewBatch(s.root)
	defer b.Discard()
	if _, err := b.Create(name, func(w *durable.Writer) error { return x.Rewrite(w, m.keeps) }); err != nil {
		return err
	}
	if err := s.verifyTemp(name, wanted); err != nil {
		return err
	}
	_, later, err := b.Commit(ctx)
	return errors.Join(err, later)
}

// verifyTemp reads a new pack, which has its temporary name, completely.
func (s *Store) verifyTemp(name string, objects int) error {
	p, err := pack.Open(s.root, path.Join(Dir, "."+path.Base(name)+durable.TempSuffix))
	if err != nil {
		return err
	}
	defer p.Close()
	if bad := p.Verify(); len(bad) > 0 {
		return bad[0]
	}
	if n := pack.NewIndex(p).Len(); n != objects {
		return fmt.Errorf("the new pack has %d objects, not %d", n, objects)
	}
	return nil
}
