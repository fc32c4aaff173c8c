package bucket

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
)

// List returns objects, as [Store] says.
func (f *Folder) List(ctx context.Context, o ListOptions) ([]Object, error) {
	if err := begin(ctx, o.Check()); err != nil {
		return nil, err
	}
	var list []Object
	var visit visitor
	seen := 0
	visit = func(name string, info fs.FileInfo) error {
		if seen++; seen > f.maxList {
			return TooManyError{}
		}
		switch {
		case !validName(name):
		case info.Mode().IsRegular():
			list = append(list, Object{name, info.Size()})
		case info.IsDir() && o.Shallow && strings.HasPrefix(name, o.Prefix):
			if some, err := f.hasObject(ctx, name); err != nil || !some {
				return err
			}
			list = append(list, Object{Name: name + "/"})
		case info.IsDir():
			return f.walk(ctx, name, visit)
		}
		return nil
	}
	if err := f.walk(ctx, path.Dir(o.Prefix+"x"), visit); err != nil {
		return nil, err
	}
	return o.Select(list), nil
}

// errFound ends a walk.
var errFound = errors.New("found")

// hasObject reports whether there is an object below a directory.
func (f *Folder) hasObject(ctx context.Context, dir string) (bool, error) {
	var visit visitor
	visit = func(name string, info fs.FileInfo) error {
		switch {
		case !validName(name):
		case info.Mode().IsRegular():
			return errFound
		case info.IsDir():
			return f.walk(ctx, name, visit)
		}
		return nil
	}
	err := f.walk(ctx, dir, visit)
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// A visitor gets a name below the folder and its FileInfo.
type visitor func(name string, info fs.FileInfo) error

// walk calls visit for the entries of a directory. It ignores a directory that does not exist, or
// that is none.
func (f *Folder) walk(ctx context.Context, dir string, visit visitor) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := durable.OpenDir(f.root, dir)
	if _, other := errors.AsType[*durable.NotRegularError](err); other || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return f.fail("list", dir, err)
	}
	defer d.Close()
	names, err := d.Names()
	if err != nil {
		return f.fail("list", dir, err)
	}
	for _, name := range names {
		info, err := d.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			continue
		}
		if err != nil {
			return f.fail("list", dir, err)
		}
		if err := visit(path.Join(dir, name), info); err != nil {
			return err
		}
	}
	return nil
}
