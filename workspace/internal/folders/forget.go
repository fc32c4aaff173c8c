package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Forget deletes the content that states of a folder have at a path permanently: in every
// state, and at every path that has the same content.
func Forget(ctx context.Context, w *store.Store, dir, name string, o files.ForgetOptions) (*files.Forgotten, error) {
	if err := checkPath(name); err != nil {
		return nil, err
	}
	f, err := Find(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		return store.Read(ctx, w, func(v *store.View) (*files.Forgotten, error) { return f.contents(v, name, true) })
	}
	h, err := hold(ctx, w, f, "files forget")
	if err != nil {
		return nil, err
	}
	defer h.Release()
	return store.Update(ctx, h.w, operation.Operation{Verb: "files forget"}, func(tx *store.Tx) (*files.Forgotten, error) {
		found, err := f.contents(tx.View, name, false)
		if err != nil {
			return nil, err
		}
		s := open(tx.View.Root)
		defer s.Close()
		_, err = s.Forget(ctx, f.ID, name)
		return found, explain(err)
	})
}

// contents returns what states of the folder have at a path.
func (f *Folder) contents(v *store.View, name string, dryRun bool) (*files.Forgotten, error) {
	return read(v, func(r *reading) (*files.Forgotten, error) {
		found := &files.Forgotten{Folder: f.Path, Path: name, Objects: []string{}, DryRun: dryRun}
		for _, st := range r.list {
			if f.ID == "" || st.Folder != f.ID {
				continue
			}
			e, err := r.Store.Find(st, name)
			if _, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if e.Type != filetree.File {
				continue
			}
			found.States++
			if id := e.ID.String(); !slices.Contains(found.Objects, id) {
				found.Objects = append(found.Objects, id)
			}
		}
		if found.States == 0 {
			return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no state of %s has a file %q", f.Path, name),
				Hint: "paths are relative to the folder", Next: fault.Do(fault.ListStates)}
		}
		return found, nil
	})
}
