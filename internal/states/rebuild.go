package states

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
)

// A Rebuilt says what [Store.RebuildFolders] found.
type Rebuilt struct {
	Read int      // folders that could be read in the damaged file
	More int      // folders known from elsewhere
	Lost []string // IDs of folders with states whose path is unknown
}

// RebuildFolders replaces folders.json, which is damaged, by the folders that can still be read
// in it, and those of known that it lacks. Only folders with states count. Before it replaces the
// file it calls keep, which must keep a copy of it.
func (s *Store) RebuildFolders(known []Folder, keep func() error) (*Rebuilt, error) {
	data, err := durable.ReadFile(s.root, FoldersFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list, err := s.States()
	if _, damaged := errors.AsType[*RecordError](err); err != nil && !damaged {
		return nil, err
	}
	var ids []string
	for _, st := range list {
		if !slices.Contains(ids, st.Folder) {
			ids = append(ids, st.Folder)
		}
	}
	r := &Rebuilt{}
	var folders []Folder
	add := func(from []Folder) (added int) {
		for _, f := range from {
			at := slices.Index(ids, f.ID)
			if at < 0 || !filepath.IsAbs(f.Path) {
				continue
			}
			ids = slices.Delete(ids, at, at+1)
			folders = append(folders, f)
			added++
		}
		return added
	}
	r.Read = add(salvage(data))
	r.More = add(known)
	r.Lost = ids
	if err := keep(); err != nil {
		return nil, err
	}
	return r, s.saveFolders(folders)
}

// salvage returns what can be read as a folder at any place of a damaged file.
func salvage(data []byte) (list []Folder) {
	for at, b := range data {
		if b != '{' {
			continue
		}
		var f Folder
		if json.NewDecoder(bytes.NewReader(data[at:])).Decode(&f) == nil {
			list = append(list, f)
		}
	}
	return list
}
