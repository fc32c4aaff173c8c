package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/operation"
	"github.com/bough-dev/bough/session"
)

// remove prepares to move a session to the trash, with the older copy that Penguin
// keeps beside it, and takes it out of the index.
func (v *view) remove(id string) error {
	if err := v.discard(session.FileName(id)); err != nil {
		return err
	}
	if err := v.discard(session.FileName(id) + ".bak"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	v.forget(id)
	return nil
}

// forget takes a session that is going to be gone out of all that is known.
func (v *view) forget(id string) {
	v.index.Remove(id)
	delete(v.open, id)
	delete(v.outlines, id)
	v.gone = append(v.gone, id)
}

// discard prepares to move a file to the trash: into a folder named after the time
// of the command, under the path that it had in the workspace.
func (v *view) discard(name string) error {
	info, err := v.root.Lstat(name)
	if err != nil {
		return err
	}
	to, err := v.inTrash(name)
	if err != nil {
		return err
	}
	if err := v.batch.Move(name, to); err != nil {
		return err
	}
	was := &operation.State{Size: info.Size(), MTime: mtimeOf(info.ModTime())}
	id := sessionOf(name)
	if o := v.outlines[id]; o != nil {
		was = stateOf(o)
	}
	v.changes(id, operation.Change{File: name, Was: was, Moved: to})
	return nil
}

// sessionOf returns the id of the session whose file name is, "" if it is none.
func sessionOf(name string) string {
	id, ok := strings.CutSuffix(strings.TrimPrefix(name, session.Dir+"/"), ".json")
	if !ok || session.FileName(id) != name || !session.ValidID(id) {
		return ""
	}
	return id
}

// keepCopy puts a file that is going to be replaced into the trash too.
func (v *view) keepCopy(name string) error {
	to, err := v.inTrash(name)
	if err != nil {
		return err
	}
	return durable.Keep(v.root, name, to)
}

// inTrash returns where the file name goes in the trash, and makes the folder.
func (v *view) inTrash(name string) (string, error) {
	if v.trash == "" {
		stamp := trashDir + "/" + v.opts.Now().UTC().Format(trashStamp)
		v.trash = stamp
		for n := 1; ; n++ {
			if _, err := v.root.Lstat(v.trash); err != nil {
				break
			}
			v.trash = fmt.Sprintf("%s-%d", stamp, n)
		}
	}
	to := path.Join(v.trash, name)
	return to, durable.MakeDir(v.root, path.Dir(to))
}

const trashStamp = "20060102T150405.000000"
