package restore

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// change makes operation i. If it returns a reason, the path is kept.
func (a *applying) change(i int, o op) (why string, err error) {
	d, err := durable.OpenDir(a.folder, path.Dir(o.path))
	if _, ok := errors.AsType[*durable.NotRegularError](err); o.to.Type == 0 && (ok || errors.Is(err, fs.ErrNotExist)) {
		return "", nil // it is gone with its directory
	}
	if err != nil {
		return "", err
	}
	defer d.Close()
	a.dirs[d.Path()] = true
	name := path.Base(o.path)
	switch o.do {
	case mkdir:
		return a.mkdir(d, name, o)
	case rmdir:
		if later, err := a.isFinal(d, name, o); later || err != nil {
			return "", err
		}
		if err := d.Rmdir(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return "", nil
	case chmod:
		return a.chmod(d, name, o)
	case remove:
		return a.remove(d, name, i, o)
	case create:
		return a.create(d, name, i, o)
	}
	return a.replace(d, name, i, o)
}

// isFinal reports whether an interrupted restore already made what a path has in the end.
func (a *applying) isFinal(d *durable.Dir, name string, o op) (bool, error) {
	final := a.final[o.path]
	if !a.resumed || final.Type == 0 {
		return false, nil
	}
	is, err := a.compare(d, name, anyPerm(d, name, final))
	return is == equal, err
}

func (a *applying) mkdir(d *durable.Dir, name string, o op) (why string, err error) {
	if is, err := a.compare(d, name, o.to); is != absent || err != nil {
		if is == other {
			why = Changed
		}
		return why, err
	}
	if err := d.Mkdir(name, 0o700); err != nil {
		return "", err
	}
	info, err := d.Lstat(name)
	if err != nil {
		return "", err
	}
	return "", d.Chmod(name, o.to.Perm|0o700|info.Mode()&special)
}

// special are the bits of modes that states do not hold, and that stay. A new directory can
// have them from the one above it.
const special = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func (a *applying) chmod(d *durable.Dir, name string, o op) (why string, err error) {
	info, err := d.Lstat(name)
	if err != nil {
		return "", err
	}
	isType := info.IsDir() && o.to.Type == filetree.Dir || info.Mode().IsRegular() && o.to.Type == filetree.File
	switch {
	case isType && info.Mode().Perm() == o.to.Perm:
		return "", nil
	case !isType || info.Mode().Perm() != o.from.Perm:
		return Changed, nil
	}
	return "", d.Chmod(name, o.to.Perm|info.Mode()&special)
}

// remove moves a file into the stage, where it stays if it is the expected one.
func (a *applying) remove(d *durable.Dir, name string, i int, o op) (why string, err error) {
	old := oldName(i)
	was, err := a.compare(a.stage, old, o.from)
	if err != nil {
		return "", err
	}
	switch was {
	case other: // interrupted before it was compared
		return a.putBack(d, name, old, o)
	case equal:
		// A crash may have left both names.
		if is, err := a.compare(d, name, o.from); is != equal || err != nil {
			return "", err
		}
		if err := a.stage.Unlink(old); err != nil {
			return "", err
		}
	}
	switch is, err := a.compare(d, name, o.from); {
	case err != nil:
		return "", err
	case is == absent:
		return "", nil
	case is == other:
		if later, err := a.isFinal(d, name, o); later || err != nil {
			return "", err
		}
		return Changed, nil
	}
	if err := d.Move(name, a.stage, old); err != nil {
		return "", err
	}
	if a.final[o.path].Type == filetree.Dir { // which is not durable before the rename is
		a.dirs[a.stage.Path()] = true
	}
	if was, err := a.compare(a.stage, old, o.from); was != equal || err != nil {
		return a.putBack(d, name, old, o)
	}
	return "", nil
}

// putBack gives a file in the stage that is not the expected one its name back.
func (a *applying) putBack(d *durable.Dir, name, staged string, o op) (why string, err error) {
	err = a.stage.Move(staged, d, name)
	if errors.Is(err, fs.ErrExist) {
		return kept, a.preserve(staged, o)
	}
	return Changed, err
}

// preserve gives a file in the stage, which another program wrote, a name of its own beside
// its path.
func (a *applying) preserve(staged string, o op) error {
	dir := path.Dir(o.path)
	d, err := durable.OpenDir(a.folder, dir)
	for err != nil && dir != "." {
		dir = path.Dir(dir)
		d, err = durable.OpenDir(a.folder, dir)
	}
	if err != nil {
		return err
	}
	defer d.Close()
	a.dirs[dir] = true
	for n := 1; ; n++ {
		as := fmt.Sprintf("%s.bough-kept-%d", path.Base(o.path), n)
		err := a.stage.Move(staged, d, as)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			a.keep(o.path, Changed, path.Join(dir, as))
		}
		return err
	}
}

// create gives a new file its name.
func (a *applying) create(d *durable.Dir, name string, i int, o op) (why string, err error) {
	staged, err := a.stagedNew(i, o)
	switch {
	case err != nil || staged == absent:
		return "", err
	case staged == other:
		return Damaged, nil
	}
	if a.resumed { // a crash may have left both names
		if is, err := a.compare(d, name, anyPerm(d, name, o.to)); is == equal || err != nil {
			return "", err
		}
	}
	return "", a.stage.Move(newName(i), d, name)
}

// anyPerm returns e with the permission bits that a file has: the system may have refused
// those of e.
func anyPerm(d *durable.Dir, name string, e filetree.Entry) filetree.Entry {
	if info, err := d.Lstat(name); err == nil && e.Type == filetree.File {
		e.Perm = info.Mode().Perm()
	}
	return e
}

// replace exchanges a file and a new one.
func (a *applying) replace(d *durable.Dir, name string, i int, o op) (why string, err error) {
	staged, old := newName(i), oldName(i)
	if a.resumed {
		if done, why, err := a.replaced(d, name, i, o); done || err != nil {
			return why, err
		}
	}
	if is, err := a.compare(d, name, o.from); is != equal || err != nil {
		return Changed, err
	}
	err = a.stage.Swap(staged, d, name)
	if errors.Is(err, errors.ErrUnsupported) {
		if err := d.Move(name, a.stage, old); err != nil {
			return "", err
		}
		if was, err := a.compare(a.stage, old, o.from); was != equal || err != nil {
			return a.putBack(d, name, old, o)
		}
		return "", a.stage.Move(staged, d, name)
	}
	if err != nil {
		return "", err
	}
	if was, err := a.compare(a.stage, staged, o.from); was != equal || err != nil {
		return a.swapBack(d, name, i, o)
	}
	return "", nil
}

// replaced completes an exchange that was interrupted. done is false if it did not begin.
func (a *applying) replaced(d *durable.Dir, name string, i int, o op) (done bool, why string, err error) {
	staged, old := newName(i), oldName(i)
	was, err := a.compare(a.stage, old, o.from)
	if err != nil {
		return false, "", err
	}
	switch was {
	case other:
		why, err = a.putBack(d, name, old, o)
		return true, why, err
	case equal: // without an exchange, in two renames
		is, err := a.compare(d, name, o.from)
		if err == nil && is == equal { // a crash left both names
			err = a.stage.Unlink(old)
		}
		if is == equal || err != nil {
			return false, "", err
		}
		why, err = a.create(d, name, i, o)
		return true, why, err
	}
	is, err := a.compare(a.stage, staged, anyPerm(a.stage, staged, o.to))
	switch {
	case err != nil:
		return false, "", err
	case is == absent:
		return true, "", nil
	case is == equal: // a crash may have left both names
		now, err := a.compare(d, name, anyPerm(d, name, o.to))
		return now == equal, "", err
	}
	if was, err := a.compare(a.stage, staged, o.from); was == equal || err != nil {
		return true, "", err
	}
	if is, err := a.compare(d, name, anyPerm(d, name, o.to)); is == equal && err == nil {
		why, err = a.swapBack(d, name, i, o)
		return true, why, err
	}
	if is, err := a.compare(d, name, o.from); is == equal || err != nil {
		return true, Damaged, err
	}
	return true, kept, a.preserve(staged, o)
}

// swapBack exchanges a file that is not the expected one with the new one again.
func (a *applying) swapBack(d *durable.Dir, name string, i int, o op) (why string, err error) {
	staged := newName(i)
	if err := a.stage.Swap(staged, d, name); err != nil {
		return kept, a.preserve(staged, o)
	}
	if is, err := a.compare(a.stage, staged, anyPerm(a.stage, staged, o.to)); is != equal || err != nil {
		return kept, a.preserve(staged, o) // another program was faster once more
	}
	return Changed, nil
}

// A finding is what a name is, compared with an entry.
type finding int

// compare compares a name in a directory with an entry: the type, and the content and
// permission bits of a file. It reads the content.
func compare(d *durable.Dir, name string, e filetree.Entry) (finding, error) {
	info, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return other, err
	}
	switch {
	case e.Type == filetree.Dir && info.IsDir():
		return equal, nil
	case e.Type == filetree.Link && info.Mode()&fs.ModeSymlink != 0:
		target, err := d.Readlink(name)
		if err == nil && pack.IDOf([]byte(target)) == e.ID {
			return equal, nil
		}
		return other, err
	case e.Type == filetree.File && info.Mode().IsRegular() && info.Size() == e.Size && info.Mode().Perm() == e.Perm:
	default:
		return other, nil
	}
	f, err := d.Open(name)
	if err != nil {
		return other, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return other, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return other, err
	}
	after, err := f.Stat()
	if err != nil || !bytes.Equal(sum.Sum(nil), e.ID[:]) || durable.Identify(before) != durable.Identify(after) {
		return other, err
	}
	return equal, nil
}
