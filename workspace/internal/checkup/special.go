package checkup

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
)

// ownFolders are the folders that contain only files of the workspace.
var ownFolders = [...]string{session.Dir, sessions.PackedDir, agent.Dir, store.ExplorationsDir, lines.FilesDir, "checkpoints", store.StateDir}

// isSpecial reports whether a file is neither regular nor a folder nor a link.
func isSpecial(t fs.FileMode) bool {
	return t&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeCharDevice|fs.ModeIrregular) != 0
}

// specialFiles reports named pipes, sockets and devices that are not reported
// yet.
func (d *checkup) specialFiles() error {
	d.special("", func(name string) bool {
		return !strings.Contains(name, "/") && (strings.HasSuffix(name, ".json") || slices.Contains(ownFolders[:], name))
	})
	for _, dir := range ownFolders {
		d.special(dir, func(string) bool { return true })
	}
	return d.v.Ctx.Err()
}

// special reports the special files in dir whose names are own, and all in the
// folders of .bough.
func (d *checkup) special(dir string, own func(name string) bool) {
	entries, err := durable.ReadDir(d.v.Root, path.Join(".", dir))
	if err != nil {
		return // missing, or reported already
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case !own(name):
		case isSpecial(e.Type()) && !d.isReported(name):
			d.found(doctor.SpecialFile, name, durable.TypeName(e.Type())+" instead of a file or folder", false)
		case e.IsDir() && strings.HasPrefix(name, store.StateDir+"/"):
			d.special(name, own)
		}
	}
}

// isReported reports whether there is a problem with this file.
func (d *checkup) isReported(file string) bool {
	return slices.ContainsFunc(d.problems, func(p doctor.Problem) bool { return p.Path == file && !p.Note })
}

// clearIndexPlace moves a non-regular file at the path of the index to the
// trash.
func (d *checkup) clearIndexPlace() error {
	info, err := d.v.Root.Lstat(session.IndexPath)
	if err != nil || !isSpecial(info.Mode()) {
		return nil
	}
	to, err := d.tx.InTrash(session.IndexPath)
	if err != nil {
		return err
	}
	return d.tx.MoveNow(session.IndexPath, to)
}
