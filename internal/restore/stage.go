package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// newName and oldName are the names in the stage of what an operation writes, and of what it
// removes. If two files are exchanged, the old one has the new name.
func newName(i int) string { return fmt.Sprintf("%d.new", i) }
func oldName(i int) string { return fmt.Sprintf("%d.old", i) }

// fill makes the stage.
func (a *applying) fill(ctx context.Context, r *record, store Store, merged map[pack.ID][]byte) error {
	top, err := durable.OpenDir(a.folder, ".")
	if err != nil {
		return err
	}
	defer top.Close()
	if err := top.Mkdir(r.Stage, durable.DirMode); err != nil {
		return err
	}
	if a.stage, err = durable.OpenDir(a.folder, r.Stage); err != nil {
		return err
	}
	f := &filling{applying: a, ops: r.ops, users: map[pack.ID][]int{}}
	var ids []pack.ID
	for i, o := range r.ops {
		if o.do != create && o.do != replace {
			continue
		}
		if f.users[o.to.ID] = append(f.users[o.to.ID], i); len(f.users[o.to.ID]) == 1 {
			ids = append(ids, o.to.ID)
		}
	}
	ids = slices.DeleteFunc(ids, func(id pack.ID) bool {
		data, ok := merged[id]
		if ok && err == nil {
			err = f.add(id, data, true)
		}
		return ok
	})
	if err == nil && len(ids) > 0 {
		err = store.Read(ids, func(id pack.ID, piece []byte, last bool) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f.add(id, piece, last)
		})
	}
	for _, file := range f.open {
		file.Close() // an error is that of reading
	}
	if err := cmp.Or(f.flusher.Wait(), err); err != nil {
		return err
	}
	for _, i := range slices.Concat(slices.Collect(maps.Values(f.users))...) {
		if _, err := a.stage.Lstat(newName(i)); err != nil {
			return &MissingError{r.ops[i].path}
		}
	}
	return cmp.Or(ctx.Err(), a.stage.Sync(), top.Sync())
}

// A filling writes contents into the stage.
type filling struct {
	*applying
	ops     []op
	users   map[pack.ID][]int // the operations that write a content
	open    []*durable.NewFile
	target  []byte // of a link
	flusher durable.Flusher
}

// add adds a piece of a content.
func (f *filling) add(id pack.ID, piece []byte, last bool) error {
	if f.open == nil && f.target == nil {
		for _, i := range f.users[id] {
			if o := f.ops[i]; o.to.Type == filetree.File {
				file, err := f.create(i, o)
				if err != nil {
					return err
				}
				f.open = append(f.open, file)
			}
		}
	}
	for _, file := range f.open {
		if _, err := file.Write(piece); err != nil {
			return err
		}
	}
	f.target = append(f.target, piece...)
	if len(f.open) > 0 && len(f.open) == len(f.users[id]) {
		f.target = f.target[:0]
	}
	if !last {
		return nil
	}
	for _, i := range f.users[id] {
		if f.ops[i].to.Type == filetree.Link {
			if err := f.stage.Symlink(string(f.target), newName(i)); err != nil {
				return err
			}
		}
	}
	for _, file := range f.open {
		f.flusher.Add(file)
	}
	f.open, f.target = nil, nil
	return nil
}

// create creates the file that operation i writes.
func (f *filling) create(i int, o op) (*durable.NewFile, error) {
	if o.do == create {
		return f.stage.Create(newName(i), o.to.Perm, nil, "")
	}
	like, err := durable.OpenDir(f.folder, path.Dir(o.path))
	if err != nil {
		return f.stage.Create(newName(i), o.to.Perm, nil, "")
	}
	defer like.Close()
	return f.stage.Create(newName(i), o.to.Perm, like, path.Base(o.path))
}

// discard removes a stage whose restore does not exist, and the journal.
func (a *applying) discard(j Journal, name string) error {
	if a.stage != nil {
		a.stage.Close()
	}
	stage, err := durable.OpenDir(a.folder, name)
	if err == nil {
		defer stage.Close()
		names, err := stage.Names()
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := stage.Unlink(name); err != nil {
				return err
			}
		}
		if err := a.removeStage(name); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return j.Remove()
}

// Stages returns the paths of the stages in a folder.
func Stages(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(dir, stagePrefix+"*"+durable.TempSuffix)) // the pattern is valid
	return list
}

func (a *applying) removeStage(name string) error {
	top, err := durable.OpenDir(a.folder, ".")
	if err != nil {
		return err
	}
	defer top.Close()
	return cmp.Or(top.Rmdir(name), top.Sync())
}

// stagedNew compares the new file of an operation, which a crash may have left with its final
// name alone.
func (a *applying) stagedNew(i int, o op) (finding, error) {
	if !a.resumed {
		return equal, nil
	}
	is, err := a.compare(a.stage, newName(i), anyPerm(a.stage, newName(i), o.to))
	return is, err
}

// drop removes a file in the stage if the store has its content. It reads the file, because what
// a program writes through a mapping need not change the metadata.
func (a *applying) drop(name string, o op) error {
	for _, e := range []filetree.Entry{o.from, o.to} {
		if e.Type == 0 {
			continue
		}
		switch is, err := a.compare(a.stage, name, anyPerm(a.stage, name, e)); {
		case is == absent || err != nil:
			return err
		case is == equal:
			return a.stage.Unlink(name)
		}
	}
	return a.preserve(name, o)
}
