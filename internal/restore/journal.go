package restore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
)

// A Journal names the file in which the store keeps a restore that is not complete. A folder
// has one Journal.
type Journal struct {
	Root *os.Root // of the store
	Name string

	// Begin, if not nil, is called by [Apply] when all is staged, just before the restore exists.
	// After an error it does not.
	Begin func() error
}

// JournalDir is the folder of the journals in a workspace. It exists only while there are some.
const JournalDir = "states/restoring"

const journalSuffix = ".journal"

// JournalOf returns the journal of the folder with an ID in a workspace.
func JournalOf(workspace *os.Root, folder string) Journal {
	return Journal{Root: workspace, Name: JournalDir + "/" + folder + journalSuffix}
}

// Journals returns the IDs of the folders that have a journal in a workspace.
func Journals(workspace *os.Root) (folders []string, err error) {
	entries, err := durable.ReadDir(workspace, JournalDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), journalSuffix); ok {
			folders = append(folders, id)
		}
	}
	return folders, err
}

// HasJournals reports whether a workspace, whose lock the caller has, has journals. Without one,
// it removes their folder, and what an interrupted write of a journal left there.
func HasJournals(workspace *os.Root) (bool, error) {
	entries, err := durable.ReadDir(workspace, JournalDir)
	if err != nil {
		return false, err
	}
	var temps []string
	for _, e := range entries {
		switch {
		case strings.HasSuffix(e.Name(), journalSuffix):
			return true, nil
		case strings.HasSuffix(e.Name(), durable.TempSuffix):
			temps = append(temps, JournalDir+"/"+e.Name())
		}
	}
	err = durable.Remove(workspace, temps...)
	durable.RemoveEmpty(workspace, JournalDir)
	return false, err
}

// Note returns what the caller of [Apply] had to know when the restore is complete. It is nil
// if there is no restore, or none that exists: [Resume] discards it.
func (j Journal) Note() ([]byte, error) {
	r, err := j.read()
	if errors.Is(err, fs.ErrNotExist) || err == nil && !r.Staged {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.Note, nil
}

// Remove ends a restore that had a note.
func (j Journal) Remove() error {
	err := durable.Remove(j.Root, j.Name)
	if err == nil {
		durable.RemoveEmpty(j.Root, path.Dir(j.Name)) // fails if there are others
	}
	return err
}

// ErrPending reports that an interrupted restore must be resumed first.
var ErrPending = errors.New("an interrupted restore is not complete")

// Pending reports whether there is a restore that is not complete.
func (j Journal) Pending() (bool, error) {
	_, err := j.Root.Lstat(j.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// stagePrefix begins the name of a stage.
const stagePrefix = ".restore-"

// A record is the content of a journal: a line with a JSON object, and the operations. Each
// has four fields that end in a NUL byte: what it does, the path, and what the path has
// before and after it, as an entry of a tree, empty if there is none.
type record struct {
	Stage  string          `json:"stage"`  // name of the stage in the folder
	Staged bool            `json:"staged"` // the restore exists
	Count  int             `json:"operations"`
	Note   json.RawMessage `json:"note,omitempty"`
	ops    []op
}

// An op changes one path.
type op struct {
	do       action
	path     string
	from, to filetree.Entry
}

// An action is what an op does.
type action string

const (
	create  action = "create"  // a file or link where nothing is
	replace action = "replace" // a file or link by another one
	remove  action = "remove"  // a file or link
	mkdir   action = "mkdir"
	rmdir   action = "rmdir" // an empty directory
	chmod   action = "chmod" // of a file or directory
)

var actions = [...]action{create, replace, remove, mkdir, rmdir, chmod}

// operations returns what must be done for changes, in order: permissions that the rest
// needs, removals, directories from the deepest one, new directories, files, and the other
// permissions.
func operations(changes []Change) []op {
	var first, removed, left, made, files, last []op
	perm := func(c Change) {
		o := op{chmod, c.Path, c.From, c.To}
		if c.To.Type == filetree.Dir && c.To.Perm&0o700 == 0o700 {
			first = append(first, o)
		} else {
			last = append(last, o)
		}
	}
	for _, c := range changes {
		none := filetree.Entry{}
		from, to := c.From.Type, c.To.Type
		switch {
		case from == to && (from == filetree.Dir || c.From.ID == c.To.ID):
			perm(c)
			continue
		case from != 0 && from != filetree.Dir && to != 0 && to != filetree.Dir:
			files = append(files, op{replace, c.Path, c.From, c.To})
			continue
		}
		switch from {
		case 0:
		case filetree.Dir:
			left = append(left, op{rmdir, c.Path, c.From, none})
		default:
			removed = append(removed, op{remove, c.Path, c.From, none})
		}
		switch to {
		case 0:
		case filetree.Dir:
			made = append(made, op{mkdir, c.Path, none, c.To})
			if now := c.To; now.Perm|0o700 != now.Perm {
				now.Perm |= 0o700
				last = append(last, op{chmod, c.Path, now, c.To})
			}
		default:
			files = append(files, op{create, c.Path, none, c.To})
		}
	}
	slices.Reverse(left)
	return slices.Concat(first, removed, left, made, files, last)
}

func (r *record) encode() []byte {
	r.Count = len(r.ops)
	out, _ := json.Marshal(r) // it has only valid values
	out = append(out, '\n')
	for _, o := range r.ops {
		out = append(out, string(o.do)+"\x00"+o.path+"\x00"...)
		for _, e := range []filetree.Entry{o.from, o.to} {
			if e.Type == 0 {
				out = append(out, 0)
				continue
			}
			e.Name = path.Base(o.path)
			out = append(out, filetree.Tree{e}.Encode()...)
		}
	}
	return out
}

// decode decodes a journal. The error says where it is damaged.
func decode(data []byte) (*record, error) {
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	r := &record{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, err
	}
	if !filetree.ValidName(r.Stage) || !strings.HasPrefix(r.Stage, stagePrefix) || !strings.HasSuffix(r.Stage, durable.TempSuffix) {
		return nil, fmt.Errorf("invalid stage %q", r.Stage)
	}
	fields := strings.SplitAfter(string(rest), "\x00")
	if len(fields) != 4*r.Count+1 || fields[4*r.Count] != "" {
		return nil, fmt.Errorf("%d fields, want %d", len(fields)-1, 4*r.Count)
	}
	for f := range slices.Chunk(fields[:4*r.Count], 4) {
		o := op{do: action(strings.TrimSuffix(f[0], "\x00")), path: strings.TrimSuffix(f[1], "\x00")}
		err := o.parse(f[2], f[3])
		if err != nil {
			return nil, fmt.Errorf("operation %d, %q: %w", len(r.ops)+1, o.path, err)
		}
		r.ops = append(r.ops, o)
	}
	return r, nil
}

// parse parses the entries of o and checks it.
func (o *op) parse(from, to string) error {
	for i, text := range []string{from, to} {
		if text == "\x00" {
			continue
		}
		t, err := filetree.Decode([]byte(text))
		if err != nil {
			return err
		}
		if t[0].Name != path.Base(o.path) {
			return errors.New("the entry has another name")
		}
		if i == 0 {
			o.from = t[0]
		} else {
			o.to = t[0]
		}
	}
	for name := range strings.SplitSeq(o.path, "/") {
		if !filetree.ValidName(name) {
			return errors.New("invalid path")
		}
	}
	if !slices.Contains(actions[:], o.do) {
		return errors.New("unknown operation")
	}
	return nil
}

func (j Journal) read() (*record, error) {
	data, err := durable.ReadFile(j.Root, j.Name)
	if err != nil {
		return nil, err
	}
	r, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.Name, err)
	}
	return r, nil
}

func (j Journal) write(r *record) (err error) {
	dir := path.Dir(j.Name)
	parent := path.Dir(dir)
	if err := durable.MakeDir(j.Root, parent); err != nil {
		return err
	}
	made := false
	for range 3 { // another process may remove the folder, which is empty
		if made, err = durable.NewDir(j.Root, dir); err != nil {
			return err
		}
		if _, err = durable.Replace(j.Root, j.Name, durable.Bytes(r.encode())); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err == nil && (made || !r.Staged) { // whoever made the folder may have been interrupted
		err = durable.SyncNames(j.Root, parent)
	}
	return err
}
