package states

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
)

// FoldersFile is the path of the list of folders in a workspace, a JSON object with the member
// folders.
const FoldersFile = Dir + "/folders.json"

// A Folder is a registered folder.
type Folder struct {
	ID       string   `json:"id"`
	Path     string   `json:"path"` // absolute, without symbolic links
	Identity Identity `json:"identity"`

	// Machine is the name of the machine that has the folder, "" if it is this one. No directory
	// here is a folder of another machine, whatever its path is.
	Machine string `json:"machine,omitempty"`
	// Project is what a folder of another machine is about, zero if that is not known.
	Project Project `json:"project,omitzero"`
}

// A Project is what a folder is about on each machine.
type Project struct {
	ID   string `json:"id"`   // address of a repository, or a name
	Path string `json:"path"` // below the top of the repository or the folder with the name, with slashes
}

// An Identity is that of a directory in its file system. It stays when the directory is
// renamed. Some systems number devices anew when they start. A number of a file is used again
// when that was removed, so its time of creation counts too.
type Identity struct {
	Device uint64 `json:"device"`
	File   uint64 `json:"file"`           // the inode, or the file ID of Windows
	Born   int64  `json:"born,omitempty"` // when it was created, in nanoseconds since 1970; 0 if unknown
}

// Folders returns the registered folders.
func (s *Store) Folders() ([]Folder, error) {
	data, err := durable.ReadFile(s.root, FoldersFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct{ Folders []Folder }
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, &RecordError{FoldersFile, 0, err}
	}
	return file.Folders, nil
}

// Register returns the folder dir, which it adds with the ID id if it is not registered. A
// folder is recognized by its path if the number of the file is the same, and at another path
// by its identity. Its path and identity are then updated. A directory that took the path of
// another one is a new folder.
func (s *Store) Register(dir, id string) (Folder, error) {
	real, err := realPath(dir)
	if err != nil {
		return Folder{}, err
	}
	identity, err := identify(real)
	if err != nil {
		return Folder{}, err
	}
	list, err := s.Folders()
	if err != nil {
		return Folder{}, err
	}
	now := Folder{ID: id, Path: real, Identity: identity}
	i := slices.IndexFunc(list, func(f Folder) bool { return f.Path == real && f.Identity.File == identity.File })
	if i < 0 {
		i = slices.IndexFunc(list, func(f Folder) bool { return f.Identity == identity })
	}
	switch {
	case i >= 0:
		now.ID = list[i].ID
		if list[i] == now {
			return now, nil
		}
		list[i] = now
	case slices.ContainsFunc(list, func(f Folder) bool { return f.ID == id }):
		return Folder{}, fmt.Errorf("folder %s: %w", id, fs.ErrExist)
	default:
		list = append(list, now)
	}
	return now, s.saveFolders(list)
}

// RegisterTemporary adds the folder dir, which will be removed, with the ID id. It has no
// identity, because a later directory may have the same one. Temporary folders of which there
// is no state any more are removed from the list.
func (s *Store) RegisterTemporary(dir, id string) (Folder, error) {
	real, err := realPath(dir)
	if err != nil {
		return Folder{}, err
	}
	list, err := s.Folders()
	if err != nil {
		return Folder{}, err
	}
	if taken, err := s.States(); err == nil {
		list = slices.DeleteFunc(list, func(f Folder) bool {
			return f.Identity == Identity{} && !slices.ContainsFunc(taken, func(st *State) bool { return st.Folder == f.ID })
		})
	}
	now := Folder{ID: id, Path: real}
	return now, s.saveFolders(append(list, now))
}

func (s *Store) saveFolders(list []Folder) error {
	data, err := json.MarshalIndent(map[string]any{"folders": list}, "", "  ")
	if err != nil {
		return err
	}
	if err := durable.MakeDir(s.root, Dir); err != nil {
		return err
	}
	_, err = durable.Replace(s.root, FoldersFile, durable.Bytes(data, []byte("\n")))
	return err
}

// realPath returns the path of a directory without symbolic links.
func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = &durable.NotRegularError{Op: "open", Path: real, Mode: info.Mode(), Dir: true}
	}
	return real, err
}
