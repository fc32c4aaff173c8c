// Package states stores what folders held at moments. A [State] names a tree (package
// filetree), and its objects are in packs (package pack). No program beside bough is needed.
//
// # Files
//
// Below the folder of a workspace:
//
//	states/folders.json     the registered folders
//	states/states.jsonl     a record for each state, oldest first
//	states/links.jsonl      the messages that states belong to
//	states/forgotten.jsonl  the IDs of objects that were deleted permanently
//	states/NUMBER.zst       packs of objects
//
// A pack never changes once it has its name. A state with new objects brings a pack of its
// own; [Store.Tidy] merges packs.
//
// # The law
//
// A record names only objects that are durable, and each of them is in a pack or forgotten.
// So what a state needs is complete as soon as its record exists, and as long as it does.
//
//   - Take: the pack is written to a temporary file, fsynced, renamed, and the folder is
//     fsynced; then the record is appended and fsynced. With that the state exists. A pack
//     without a record, of an interrupted Take, is used by the next one. Up to the rename,
//     others may write: before it, a [Draft] checks that what it relies on still exists.
//   - Remove: states.jsonl is replaced. Objects stay until Tidy.
//   - Tidy: the new pack is complete before an old one is removed. If an object that a record
//     names cannot be read, no pack is removed.
//   - Forget: the IDs are appended and fsynced, and then Tidy removes the objects. Forgotten
//     content is never stored again.
//
// A torn last line of a .jsonl file is no line. A damaged line is ignored by readers and by
// Take; as long as states.jsonl has one, no object is removed. [Store.Repair] removes it.
//
// The caller ensures that one process at a time writes, except that a [Draft] may be made
// meanwhile, one of each folder. Readers take no lock: they list the packs again if one that
// they need is gone.
package states

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// Dir is the folder of states in a workspace.
const Dir = "states"

const (
	recordsFile   = Dir + "/states.jsonl"
	forgottenFile = Dir + "/forgotten.jsonl"
	packSuffix    = ".zst"
)

// A State is what a folder held at a moment.
type State struct {
	ID        string  `json:"id"`
	Folder    string  `json:"folder"` // ID of the folder
	Time      string  `json:"time"`
	SessionID string  `json:"session_id,omitempty"`
	MessageID string  `json:"message_id,omitempty"`
	At        Moment  `json:"at"`
	Git       *Git    `json:"git,omitempty"`
	Late      bool    `json:"late,omitempty"`  // the scan ended after what it belongs to went on
	Since     string  `json:"since,omitempty"` // after a restore: the ID of the state before it
	Tree      pack.ID `json:"tree"`
	Files     int     `json:"files"`     // number of files and links
	Bytes     int64   `json:"bytes"`     // their size
	NewBytes  int64   `json:"new_bytes"` // of the pack that came with it
	Coverage  pack.ID `json:"coverage"`  // the object of a [Coverage]
}

// A Moment says why a state was taken.
type Moment string

const (
	Prompt     Moment = "prompt" // before a turn
	End        Moment = "end"    // after a turn
	Checkpoint Moment = "checkpoint"
	Restore    Moment = "restore" // before files were restored or, with Since, after it
	Manual     Moment = "manual"
)

// Git is the position of a repository.
type Git struct {
	Head   string `json:"head"`
	Branch string `json:"branch"`
}

// A Store is the states of a workspace. It is safe for concurrent use by readers.
type Store struct {
	root     *os.Root
	cacheDir string

	states decoded[State]
	linked decoded[Link]

	mu        sync.Mutex
	packs     []*pack.Pack
	names     []string // of the packs
	index     *pack.Index
	forgotten map[pack.ID]bool
	unknown   int              // number of damaged lines of forgotten.jsonl that name no object
	absent    map[pack.ID]bool // see loadRefused
}

// Open returns the states of the workspace in root. Caches are below cacheDir.
func Open(root *os.Root, cacheDir string) *Store {
	return &Store{root: root, cacheDir: path.Join(cacheDir, Dir)}
}

// Close closes the packs.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closePacks()
}

func (s *Store) closePacks() error {
	var errs []error
	for _, p := range s.packs {
		errs = append(errs, p.Close())
	}
	s.packs, s.names, s.index = nil, nil, nil
	return errors.Join(errs...)
}

// States returns all states, oldest first. If lines are damaged, it returns the others, and
// the *[RecordError] of the first one. The caller must not change them.
func (s *Store) States() ([]*State, error) {
	return s.states.read(s.root, recordsFile, (*State).check)
}

// State returns the state with an id. The error is [fs.ErrNotExist] if there is none.
func (s *Store) State(id string) (*State, error) {
	list, err := s.States()
	if i := slices.IndexFunc(list, func(st *State) bool { return st.ID == id }); i >= 0 {
		return list[i], nil
	}
	if err == nil {
		err = fmt.Errorf("state %s: %w", id, fs.ErrNotExist)
	}
	return nil, err
}

func (st *State) check() error {
	if st.ID == "" || st.Folder == "" || st.Tree == (pack.ID{}) || st.Coverage == (pack.ID{}) {
		return errIncomplete
	}
	return nil
}

// packNames returns the names of the packs, without the folder.
func (s *Store) packNames() ([]string, error) {
	entries, err := durable.ReadDir(s.root, Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if _, ok := packNumber(e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// packNumber returns the number of a pack.
func packNumber(name string) (n int, ok bool) {
	number, isPack := strings.CutSuffix(name, packSuffix)
	_, err := fmt.Sscanf(number, "%d", &n)
	return n, isPack && err == nil && n > 0 && packName(n) == name
}

func packName(n int) string { return fmt.Sprintf("%06d%s", n, packSuffix) }

// load opens the packs and makes the index. The caller holds s.mu.
func (s *Store) load() error {
	for attempt := 0; s.index == nil; attempt++ {
		err := s.openPacks()
		if err == nil {
			err = s.loadForgotten()
		}
		if err == nil {
			s.index = pack.NewIndex(s.packs...)
			break
		}
		s.closePacks()
		if attempt == 5 || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// openPacks opens all packs. The error is [fs.ErrNotExist] if one was removed meanwhile.
func (s *Store) openPacks() error {
	names, err := s.packNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		p, err := pack.Open(s.root, path.Join(Dir, name))
		if err != nil {
			return err
		}
		s.packs, s.names = append(s.packs, p), append(s.names, name)
	}
	return nil
}

// withIndex calls f with the index, and once more with a new one if an object is missing: a
// writer may have added or replaced packs.
func (s *Store) withIndex(f func(*pack.Index) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.index == nil
	for {
		if err := s.load(); err != nil {
			return err
		}
		err := f(s.index)
		if fresh || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		fresh = true
		s.closePacks()
	}
}

// Get returns the content of an object. The error is [ErrForgotten] or a *[pack.MissingError]
// if there is none, or a *[pack.DamageError].
func (s *Store) Get(id pack.ID) (data []byte, err error) {
	err = s.withIndex(func(x *pack.Index) error {
		if s.forgotten[id] {
			return ErrForgotten
		}
		data, err = x.Get(id)
		return err
	})
	return data, err
}

// Read passes the content of objects to each, as [pack.Index.Read] does. It omits forgotten
// ones.
func (s *Store) Read(ids []pack.ID, each func(id pack.ID, piece []byte, last bool) error) error {
	return s.withIndex(func(x *pack.Index) error {
		kept := make([]pack.ID, 0, len(ids))
		for _, id := range ids {
			if !s.forgotten[id] {
				kept = append(kept, id)
			}
		}
		return x.Read(kept, each)
	})
}

// SizeOf returns the size of an object, and whether the store has it. It is false for a
// forgotten one.
func (s *Store) SizeOf(id pack.ID) (size int64, ok bool) {
	s.withIndex(func(x *pack.Index) error { // without the packs, there is none
		if size, ok = x.Size(id); !ok {
			return fs.ErrNotExist
		}
		ok = !s.forgotten[id]
		return nil
	})
	return size, ok
}

// Forgotten reports whether a content was deleted permanently. If that cannot be read, it was
// not.
func (s *Store) Forgotten(id pack.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load() == nil && s.forgotten[id]
}

// Find returns the entry at a path of a state, see [filetree.At].
func (s *Store) Find(st *State, name string) (filetree.Entry, error) {
	return filetree.At(s.Get, st.Tree, name)
}
