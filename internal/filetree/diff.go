package filetree

import (
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/bough-dev/bough/internal/pack"
)

// A Reader returns the content of an object.
type Reader func(id pack.ID) ([]byte, error)

// tree reads and decodes a tree; the zero ID is that of no tree.
func (read Reader) tree(id pack.ID) (Tree, error) {
	if id == (pack.ID{}) {
		return nil, nil
	}
	data, err := read(id)
	if err != nil {
		return nil, err
	}
	t, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("tree %v: %w", id, err)
	}
	return t, nil
}

// A Kind is what happened to a path.
type Kind string

const (
	Added   Kind = "added"
	Changed Kind = "changed" // the content, and perhaps the permission bits
	Deleted Kind = "deleted"
	Mode    Kind = "mode" // only the permission bits
	Retyped Kind = "type" // a file became a directory, for example
)

// A Change is the difference of two trees at a path.
type Change struct {
	Path     string // names with slashes between them
	Kind     Kind
	From, To Entry // zero if there is none
}

// Diff yields the changes from one tree to another, sorted by path, where a directory comes
// before what it holds. Of a directory that is added, deleted or retyped, everything in it
// is a change too; one whose content changed is no change itself. Diff reads only trees that
// differ. The zero ID means that there is no tree, so a Diff from it yields everything. After
// an error Diff ends.
func Diff(read Reader, from, to pack.ID) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) { read.diff("", from, to, yield) }
}

// diff reports whether the iteration continues.
func (read Reader) diff(dir string, from, to pack.ID, yield func(Change, error) bool) bool {
	if from == to {
		return true
	}
	a, err := read.tree(from)
	if err != nil {
		return fail(dir, err, yield)
	}
	b, err := read.tree(to)
	if err != nil {
		return fail(dir, err, yield)
	}
	for len(a) > 0 || len(b) > 0 {
		var c Change
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Name < b[0].Name:
			c.From, a = a[0], a[1:]
		case len(a) == 0 || b[0].Name < a[0].Name:
			c.To, b = b[0], b[1:]
		default:
			c.From, c.To, a, b = a[0], b[0], a[1:], b[1:]
		}
		c.Path = path.Join(dir, c.From.Name)
		if c.From.Type == 0 {
			c.Path = path.Join(dir, c.To.Name)
		}
		if c.Kind = kindOf(c.From, c.To); c.Kind != "" && !yield(c, nil) {
			return false
		}
		if !read.diff(c.Path, c.From.subtree(), c.To.subtree(), yield) {
			return false
		}
	}
	return true
}

func fail(dir string, err error, yield func(Change, error) bool) bool {
	if dir != "" {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	yield(Change{}, err)
	return false
}

// subtree returns the ID of the tree of a directory, the zero ID of anything else.
func (e Entry) subtree() pack.ID {
	if e.Type != Dir {
		return pack.ID{}
	}
	return e.ID
}

func kindOf(from, to Entry) Kind {
	switch {
	case from.Type == 0:
		return Added
	case to.Type == 0:
		return Deleted
	case from.Type != to.Type:
		return Retyped
	case from.Type != Dir && from.ID != to.ID:
		return Changed
	case from.Perm != to.Perm:
		return Mode
	}
	return ""
}

// At returns the entry at a path of a tree, whose names have slashes between them. The path
// "." is the tree itself. The error is [fs.ErrNotExist] if there is no entry.
func At(read Reader, tree pack.ID, name string) (Entry, error) {
	e := Entry{Name: ".", Type: Dir, Perm: maxPerm, ID: tree}
	if name == "." {
		return e, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		t, err := read.tree(e.subtree())
		if err != nil {
			return Entry{}, err
		}
		next, ok := t.Find(part)
		if !ok {
			return Entry{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		e = next
	}
	return e, nil
}
