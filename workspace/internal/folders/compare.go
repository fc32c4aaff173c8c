package folders

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// maxPatch is the size of the largest file of which there is a patch.
const maxPatch = 1 << 20

// A side is one of two things that are compared.
type side struct {
	tree  pack.ID
	state *files.State // nil for now
	read  filetree.Reader
}

// Diff compares two states, of which one or both are named [files.Now]: what the folder holds
// now.
func Diff(ctx context.Context, w *store.Store, dir, from, to string, o files.DiffOptions) (*files.Diff, error) {
	for _, p := range o.Paths {
		if err := checkPath(p); err != nil {
			return nil, err
		}
	}
	f, err := only(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	return store.Read(ctx, w, func(v *store.View) (*files.Diff, error) {
		return read(v, func(r *reading) (d *files.Diff, err error) {
			present := &now{reading: r, folder: f}
			defer func() { err = errors.Join(err, present.close()) }()
			sides := [2]*side{}
			for i, name := range []string{from, to} {
				if name == files.Now {
					continue // the state of the other side may say which folder it is
				}
				if sides[i], err = r.side(name, f, present); err != nil {
					return nil, err
				}
			}
			for i := range sides {
				if sides[i] != nil {
					continue
				}
				if sides[i], err = present.side(); err != nil {
					return nil, err
				}
			}
			return compare(sides[0], sides[1], o)
		})
	})
}

// side returns the state that name refers to.
func (r *reading) side(name string, f *Folder, present *now) (*side, error) {
	st, exact, err := r.find(name, f)
	if err != nil {
		return nil, err
	}
	if present.folder == nil { // now is that of the state's folder
		present.path, present.why = r.hereOf(st)
	}
	d, err := r.describe(st, exact)
	return &side{st.Tree, d, r.Get}, err
}

func compare(a, b *side, o files.DiffOptions) (*files.Diff, error) {
	d := &files.Diff{From: a.state, To: b.state, Changes: []files.Change{}}
	get := func(id pack.ID) ([]byte, error) {
		data, err := a.read(id)
		if err != nil {
			data, err = b.read(id)
		}
		return data, err
	}
	for c, err := range filetree.Diff(get, a.tree, b.tree) {
		if err != nil {
			return nil, err
		}
		if !within(c.Path, o.Paths) {
			continue
		}
		change := files.Change{Path: c.Path, RawPath: files.Raw(c.Path), Kind: string(c.Kind), From: versionAt(c.From), To: versionAt(c.To)}
		if o.Patch && c.From.ID != c.To.ID && c.From.Type != filetree.Dir && c.To.Type != filetree.Dir {
			if change.Patch, change.Unshown, err = patch(c, get); err != nil {
				return nil, err
			}
		}
		d.Changes = append(d.Changes, change)
	}
	return d, nil
}

// within reports whether a path is one of some paths or below one. No paths are all.
func within(name string, paths []string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool {
		return p == "." || name == p || strings.HasPrefix(name, p+"/")
	})
}

// patch returns the difference of two files in the unified format, or why it is not shown.
func patch(c filetree.Change, get filetree.Reader) (text, unshown string, err error) {
	var content [2]string
	labels := [2]string{"a/" + c.Path, "b/" + c.Path}
	for i, e := range []filetree.Entry{c.From, c.To} {
		if e.Type == 0 {
			labels[i] = "/dev/null"
			continue
		}
		if e.Size > maxPatch {
			return "", "large", nil
		}
		data, err := get(e.ID)
		if errors.Is(err, states.ErrForgotten) {
			return "", "forgotten", nil
		}
		if err != nil {
			return "", "", err
		}
		if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
			return "", "binary", nil
		}
		content[i] = string(data)
	}
	return udiff.Unified(labels[0], labels[1], content[0], content[1]), "", nil
}

// A now is what a folder holds now. Its new objects are in a temporary file.
type now struct {
	*reading
	folder *Folder
	path   string // of the folder, if folder is nil
	why    error  // why that is no folder, nil if it is one
	file   *os.File
	pack   *pack.Pack
	found  *side
	left   []scan.Left // what a state does not hold
}

// side scans the folder, once.
func (n *now) side() (*side, error) {
	if n.found != nil {
		return n.found, nil
	}
	f := n.folder
	if f == nil && n.why != nil {
		return nil, n.why
	}
	if f == nil || n.view.Store.Confined {
		path := n.path
		if f != nil {
			path = f.Path
		}
		var err error
		if f, err = Find(n.view.Ctx, n.view.Store, path); err != nil {
			return nil, err
		}
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	var err error
	if n.file, err = os.CreateTemp("", "bough-now-"); err != nil {
		return nil, err
	}
	st, left, err := n.Look(n.view.Ctx, f.request(n.view.Store, states.State{Folder: f.ID}, files.SnapOptions{}), n.file)
	if err != nil {
		return nil, err
	}
	n.left = left
	info, err := n.file.Stat()
	if err != nil {
		return nil, err
	}
	if n.pack, err = pack.New(n.file.Name(), n.file, info.Size()); err != nil {
		return nil, err
	}
	index := pack.NewIndex(n.pack)
	n.found = &side{st.Tree, nil, func(id pack.ID) ([]byte, error) {
		if _, ok := index.Size(id); ok {
			return index.Get(id)
		}
		return n.Get(id)
	}}
	return n.found, nil
}

// close removes the temporary file.
func (n *now) close() error {
	if n.file == nil {
		return nil
	}
	return errors.Join(n.file.Close(), os.Remove(n.file.Name()))
}
