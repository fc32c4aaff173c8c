package scan

import (
	"cmp"
	"slices"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// build makes the trees, and the next cache.
func (s *storing) build() (*Result, error) {
	b := &building{storing: s}
	if s.cache != nil {
		b.cache.out = make([]byte, 0, len(s.cache.data)+len(s.cache.data)/64+4096)
	}
	b.cache.out = append(b.cache.out, cacheMagic...)
	root, at, err := b.tree(s.root)
	if err != nil {
		return nil, err
	}
	r := &Result{Tree: root.id, Files: root.files, Bytes: root.bytes, Added: s.added, Left: sortedLeft(s.left)}
	for _, todo := range s.todo {
		r.Read += len(todo.files)
	}
	if !s.root.same {
		r.Cache = b.cache.finish(at)
	}
	return r, nil
}

type building struct {
	*storing
	cache cacheWriter
}

// tree adds the tree of d and those below it. It returns the record of d and its position in
// the new cache.
func (b *building) tree(d *dir) (r record, at int, err error) {
	if d.same {
		if b.root.same {
			return d.old, 0, nil
		}
		return d.old, b.cache.copy(d.old.cache, d.old.at-recordSize), nil
	}
	t := make(filetree.Tree, 0, len(d.entries))
	places := make([]int, len(d.entries)) // of the records of subdirectories
	for i := range d.entries {
		e := &d.entries[i]
		switch {
		case e.absent:
			continue
		case e.sub != nil && e.sub.absent:
			e.flag, e.stat.mode = left, typeDir
			r.entries++
			continue
		}
		held := filetree.Entry{Name: e.name, Type: filetree.File, Perm: e.stat.perm(), Size: e.size, ID: e.id}
		switch {
		case e.sub != nil:
			sub, at, err := b.tree(e.sub)
			if err != nil {
				return r, 0, err
			}
			places[i] = at
			r.files += sub.files
			r.bytes += sub.bytes
			e.id, e.stat = sub.id, stat{mode: e.sub.mode}
			held.Type, held.Perm, held.Size, held.ID = filetree.Dir, e.stat.perm(), sub.size, sub.id
		case e.stat.kind() == typeLink:
			held.Type, held.Perm = filetree.Link, 0
			fallthrough
		default:
			r.files++
			r.bytes += e.size
		}
		t = append(t, held)
	}
	slices.SortFunc(t, func(a, b filetree.Entry) int { return cmp.Compare(a.Name, b.Name) })
	data := t.Encode()
	r.id, r.size, r.entries = pack.IDOf(data), int64(len(data)), r.entries+len(t)
	at = b.cache.begin(r)
	for i := range d.entries {
		if e := &d.entries[i]; !e.absent {
			b.cache.add(e.name, e.flag, e.stat, e.id, places[i])
		}
	}
	return r, at, b.put(r.id, data)
}
