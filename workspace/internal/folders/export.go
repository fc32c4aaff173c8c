package folders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Export writes what a state holds to the folder out, which must be new or empty. After an
// error out is as it was.
func Export(ctx context.Context, w *store.Store, dir, name, out string, o files.ExportOptions) (*files.Export, error) {
	if w.Confined {
		return nil, &fault.Error{Code: fault.Refused, Message: "an export writes to any folder of the machine"}
	}
	f, err := only(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	st, err := named(ctx, w, name, f)
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	if o.Git {
		return st.exportCommit(ctx, w, abs)
	}
	return st.export(ctx, w, abs, (*export).into)
}

// A described is a state, and its description as results have it.
type described struct {
	*states.State
	description *files.State
	here        string // of a folder of another machine: that of this one which stands for it, "" if none does
}

// describedFor returns a state that was found for a folder, which may be nil.
func (r *reading) describedFor(st *states.State, d *files.State, f *Folder) described {
	switch {
	case r.machines[st.Folder] == "":
		return described{st, d, ""}
	case f == nil:
		return described{st, d, r.mapped(st.Folder)}
	}
	return described{st, d, f.Path}
}

// named returns the state that name refers to. If f is not nil, only its states are at a REF.
func named(ctx context.Context, w *store.Store, name string, f *Folder) (described, error) {
	return store.Read(ctx, w, func(v *store.View) (described, error) {
		return read(v, func(r *reading) (described, error) {
			st, exact, err := r.find(name, f)
			if err != nil {
				return described{}, err
			}
			d, err := r.describe(st, exact)
			return r.describedFor(st, d, f), err
		})
	})
}

// export calls write to write the tree of the state to dir.
func (st described) export(ctx context.Context, w *store.Store, dir string, write func(x *export, dir string, tree pack.ID) error) (*files.Export, error) {
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := open(root)
	defer s.Close()
	x := &export{ctx: ctx, store: s, result: &files.Export{State: *st.description, Dir: dir, Missing: []string{}}}
	if err := write(x, dir, st.Tree); err != nil {
		return nil, explain(err)
	}
	return x.result, nil
}

// An export writes a tree.
type export struct {
	ctx    context.Context
	store  *states.Store
	root   *os.Root
	result *files.Export

	created []string // so far
}

// into writes a tree to a folder that is new or empty.
func (x *export) into(dir string, tree pack.ID) (err error) {
	return x.prepared(dir, func() error { return x.fill(dir, tree) })
}

// prepared calls write with a folder that is new or empty, and removes a new one if that
// fails.
func (x *export) prepared(dir string, write func() error) error {
	made, err := prepare(dir)
	if err != nil {
		return err
	}
	if err = write(); err != nil && made {
		os.Remove(dir)
	}
	return err
}

// fill writes a tree to a folder that has none of its names.
func (x *export) fill(dir string, tree pack.ID) (err error) {
	if x.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	defer x.root.Close()
	top, err := x.decode(tree)
	if err == nil {
		err = x.write(".", top)
	}
	if err != nil {
		for _, name := range slices.Backward(x.created) {
			x.root.Remove(name) // a folder that has something else stays
		}
	}
	return err
}

// prepare makes a folder, unless it exists and is empty.
func prepare(dir string) (made bool, err error) {
	if err := outsideNew(dir); err != nil {
		return false, err
	}
	if err = os.Mkdir(dir, 0o700); err == nil {
		return true, nil
	}
	info, statErr := os.Lstat(dir)
	if errors.Is(statErr, fs.ErrNotExist) && errors.Is(err, fs.ErrNotExist) {
		return false, &fault.Error{Code: fault.NotFound, Message: "no folder " + filepath.Dir(dir), Hint: "only the last folder of a path is created", Err: err}
	}
	if statErr != nil {
		return false, err
	}
	if info.IsDir() {
		names, err := os.ReadDir(dir)
		if err != nil || len(names) == 0 {
			return false, err
		}
	}
	return false, &fault.Error{Code: fault.Refused, Message: dir + " exists and is not an empty folder", Hint: "name a new folder"}
}

func (x *export) decode(id pack.ID) (filetree.Tree, error) {
	data, err := x.store.Get(id)
	if err != nil {
		return nil, err
	}
	return filetree.Decode(data)
}

// write writes what a directory holds.
func (x *export) write(dir string, t filetree.Tree) error {
	for _, e := range t {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		name := path.Join(dir, e.Name)
		if err := x.entry(name, e); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (x *export) entry(name string, e filetree.Entry) error {
	if e.Type == filetree.Dir {
		t, err := x.decode(e.ID)
		if err != nil {
			return err
		}
		if err := x.root.Mkdir(name, 0o700); err != nil {
			return err
		}
		x.created = append(x.created, name)
		return cmp.Or(x.write(name, t), x.root.Chmod(name, e.Perm))
	}
	data, err := x.store.Get(e.ID)
	if errors.Is(err, states.ErrForgotten) {
		x.result.Missing = append(x.result.Missing, name)
		return nil
	}
	if err != nil {
		return err
	}
	x.result.Files++
	x.result.Bytes += int64(len(data))
	if e.Type == filetree.Link {
		if err := x.root.Symlink(string(data), name); err != nil {
			return err
		}
		x.created = append(x.created, name)
		return nil
	}
	return x.file(name, e.Perm, data)
}

func (x *export) file(name string, perm fs.FileMode, data []byte) error {
	f, err := x.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	x.created = append(x.created, name)
	_, err = f.Write(data)
	return cmp.Or(err, f.Chmod(perm), f.Close())
}
