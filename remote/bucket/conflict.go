package bucket

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A Conflict is a copy of an object with other bytes, which a program that syncs folders has kept
// because two machines created the object.
type Conflict struct {
	File   string // path in the folder, with slashes
	Object string // name of the object
}

// Conflicts returns the copies that Syncthing, Dropbox and similar programs have left in the
// folder, ascending by path. Neither Get nor List returns them.
func (f *Folder) Conflicts(ctx context.Context) ([]Conflict, error) {
	var list []Conflict
	var visit visitor
	visit = func(name string, info fs.FileInfo) error {
		switch {
		case info.IsDir() && validName(name):
			return f.walk(ctx, name, visit)
		case info.Mode().IsRegular():
			if object := path.Join(path.Dir(name), original(path.Base(name))); object != name && validName(object) {
				list = append(list, Conflict{name, object})
			}
		}
		return nil
	}
	err := f.walk(ctx, ".", visit)
	slices.SortFunc(list, func(a, b Conflict) int { return cmp.Compare(a.File, b.File) })
	return list, err
}

// syncthingCopy is a part of the names of the copies that Syncthing makes.
const syncthingCopy = ".sync-conflict-"

// original returns the name of the file that a sync program has copied to a file name, or name:
//
//	bough.sync-conflict-20261124-101500-7XYZABC.json     Syncthing
//	bough (laptop's conflicted copy 2026-11-24).json     Dropbox, Nextcloud, in some language
//	bough (1).json, bough 2.json                         Google Drive, iCloud
//	bough-LAPTOP.json                                    OneDrive
func original(name string) string {
	if before, after, ok := strings.Cut(name, syncthingCopy); ok {
		return before + extension(after)
	}
	if before, after, ok := strings.Cut(name, " "); ok {
		if i := strings.LastIndexByte(after, ')'); i >= 0 {
			return before + after[i+1:]
		}
		return before + extension(after)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return 'A' <= r && r <= 'Z' }); i > 0 {
		if dash := strings.LastIndexByte(name[:i], '-'); dash >= 0 {
			return name[:dash] + extension(name[i:])
		}
	}
	return name
}

// extension returns s from its first dot.
func extension(s string) string {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return s[i:]
	}
	return ""
}
