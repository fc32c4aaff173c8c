package session

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

const (
	// Dir is the folder of the session files inside a workspace.
	Dir = "conversations"
	// IndexFile is the name of the index in it.
	IndexFile = indexStem + ext
	// IndexPath is the path of the index inside the workspace.
	IndexPath = Dir + "/" + IndexFile

	indexStem = "session_index"
	ext       = ".json"
)

// FileName returns the path of a session's file inside the workspace.
func FileName(id string) string { return Dir + "/" + id + ext }

// A Folder holds the session files of a workspace. It refuses ids that are not
// [ValidID] and links that lead out of the workspace.
type Folder struct {
	root *os.Root
}

// NewFolder returns the session files of the workspace root.
func NewFolder(root *os.Root) Folder { return Folder{root} }

// A Stat is what the file system says of a session file: enough to tell
// whether it changed.
type Stat struct {
	ID      string // the file's stem, whether or not it is a [ValidID]
	Size    int64
	ModTime time.Time
}

// List returns every JSON file of the folder but the index, by id. Folders in
// it, which other assistants keep for themselves, are left alone. A workspace
// without the folder has no sessions.
func (f Folder) List() ([]Stat, error) {
	dir, err := f.root.Open(Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	list := make([]Stat, 0, len(entries))
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ext)
		if !ok || e.IsDir() || id == indexStem {
			continue
		}
		st := Stat{ID: id}
		info, err := e.Info()
		if err == nil && !info.Mode().IsRegular() {
			info, err = f.root.Stat(FileName(id))
		}
		if err == nil {
			st.Size, st.ModTime = info.Size(), info.ModTime()
		}
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, b Stat) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// Read decodes the session id. The error is [ErrNotFound] if there is none, a
// *[DamageError] with its path if it is no session.
func (f Folder) Read(id string) (*Session, error) {
	if !ValidID(id) {
		return nil, ErrNotFound
	}
	info, err := f.root.Stat(FileName(id))
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: FileName(id), Err: errors.New("not a regular file")}
	}
	var data []byte
	if err == nil {
		data, err = f.root.ReadFile(FileName(id))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	s, err := Decode(id, data)
	var damage *DamageError
	if errors.As(err, &damage) {
		damage.Path = FileName(id)
	}
	return s, err
}

// Create writes a new session file. The error is [fs.ErrExist] if the id is
// taken.
func (f Folder) Create(id string, pieces [][]byte) (Stat, error) {
	if err := durable.MakeDir(f.root, Dir); err != nil {
		return Stat{}, err
	}
	info, err := durable.Create(f.root, FileName(id), durable.Bytes(pieces...))
	return statOf(id, info), err
}

// Replace writes a session file that is there.
func (f Folder) Replace(id string, pieces [][]byte) (Stat, error) {
	info, err := durable.Replace(f.root, FileName(id), durable.Bytes(pieces...))
	return statOf(id, info), err
}

// Stat returns what the file system says of the file of a session.
func (f Folder) Stat(id string) (Stat, error) {
	info, err := f.root.Stat(FileName(id))
	return statOf(id, info), err
}

func statOf(id string, info fs.FileInfo) Stat {
	if info == nil {
		return Stat{}
	}
	return Stat{id, info.Size(), info.ModTime()}
}
