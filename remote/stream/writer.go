package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace/fault"
)

// A Writer writes the stream of a machine. What it appends is durable in its folder before it is
// uploaded, as the bytes that the store will have. After a crash at any time, a new Writer of the
// same folder continues.
//
// A folder that was copied, with the disk, has a copy of the machine's key. If both copies write,
// one of them gets a CopiedError or a Fetched with Copied set. Then Renew makes it another machine.
//
// A Writer is not safe for concurrent use, and a folder must have at most one.
type Writer struct {
	remote *Remote
	root   *os.Root
	state  machineState
	signer *seal.Signer
	unsent []*verified
	packed map[string]bool // packs that were added, and that no record refers to yet
	most   int             // bytes of a record, see maxAppended

	maxBase int // bytes of an object of a base
}

// machineState is the content of machineFile.
type machineState struct {
	Format int    `json:"format"`
	Remote string `json:"remote"`
	Secret []byte `json:"secret"`

	Published Cursor  `json:"published"`        // the end of the stream in the store
	Former    Cursors `json:"former"`           // ends of the streams of the machines that this one was
	Sent      []sent  `json:"sent,omitempty"`   // since the last Confirm
	Forked    bool    `json:"forked,omitempty"` // see Forked
	Parts     []part  `json:"parts,omitempty"`
}

const (
	machineFile = "machine.json"
	spoolDir    = "spool"
	packDir     = "packs"
)

func (w *Writer) dir() string              { return spoolDir + "/" + string(w.Machine()) }
func (w *Writer) fileOf(seq uint64) string { return w.dir() + "/" + numberName(seq) }
func packFile(name string) string          { return packDir + "/" + name }

// Machine returns the machine whose stream the writer writes.
func (w *Writer) Machine() record.Machine { return w.signer.Machine() }

// Unsent returns the records that are not known to be in the store.
func (w *Writer) Unsent() []*record.Record { return recordsOf(w.unsent) }

// MachineIn returns the machine of a folder, "" if that has none.
func MachineIn(root *os.Root) (record.Machine, error) {
	data, err := durable.ReadFile(root, machineFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var state machineState
	if err := json.Unmarshal(data, &state); err != nil {
		return "", damaged(root, machineFile, err)
	}
	signer, err := seal.ParseSigner(state.Secret)
	if err != nil {
		return "", damaged(root, machineFile, err)
	}
	return signer.Machine(), nil
}

// Published returns the ends of the streams, in the store, of the machine and of those that it was
// before a Renew.
func (w *Writer) Published() Cursors {
	c := w.state.Former.clone()
	if w.state.Published.Seq > 0 {
		c[w.Machine()] = w.state.Published
	}
	return c
}

// Own returns what a fetch must know of the stream.
func (w *Writer) Own() Own {
	own := Own{machine: w.Machine(), published: w.Published(), unsent: map[uint64]string{}}
	for _, v := range w.unsent {
		own.unsent[v.Seq] = v.after.Last
	}
	return own
}

func (w *Writer) end() Cursor { return endOf(w.state.Published, w.unsent) }

func endOf(begin Cursor, list []*verified) Cursor {
	if len(list) == 0 {
		return begin
	}
	return list[len(list)-1].after
}

func recordsOf(list []*verified) []*record.Record {
	records := make([]*record.Record, len(list))
	for i, v := range list {
		records[i] = v.Record
	}
	return records
}

// OpenWriter opens the writer of a folder, which must be for this remote alone. In an empty folder
// it makes a new machine.
func (r *Remote) OpenWriter(root *os.Root) (*Writer, error) {
	w := &Writer{remote: r, root: root, packed: map[string]bool{}, most: maxAppended, maxBase: maxPack}
	data, err := durable.ReadFile(root, machineFile)
	if errors.Is(err, fs.ErrNotExist) {
		return w, w.create()
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(data, &w.state) == nil {
		w.signer, _ = seal.ParseSigner(w.state.Secret) // nil if it is damaged
	}
	switch {
	case w.signer == nil:
		return nil, w.damaged(machineFile, errors.New("it does not have the key of the machine"))
	case w.state.Format > record.Format:
		return nil, &fault.Error{Code: fault.Refused, Message: w.path(machineFile) + " is of a newer version of bough", Err: seal.ErrNewer}
	case w.state.Remote != r.ID:
		return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the remote has the id %s, and this machine writes to %s", r.ID, w.state.Remote),
			Hint: "somebody created the remote anew, or it is another one at the same place"}
	}
	if err := w.readSpool(); err != nil {
		return nil, err
	}
	return w, w.tidy()
}

// create makes a new machine.
func (w *Writer) create() error {
	for _, dir := range []string{spoolDir, packDir} {
		entries, err := durable.ReadDir(w.root, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if dir == spoolDir && len(entries) > 0 {
			return w.damaged(machineFile, errors.New("it is missing, and records of the machine were not uploaded"))
		}
		if err := durable.MakeDir(w.root, dir); err != nil {
			return err
		}
	}
	var err error
	if w.signer, err = seal.NewSigner(); err != nil {
		return err
	}
	if err := w.save(machineState{Format: record.Format, Remote: w.remote.ID, Secret: w.signer.Secret(), Former: Cursors{}}); err != nil {
		return err
	}
	return durable.MakeDir(w.root, w.dir())
}

func (w *Writer) save(s machineState) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := w.write(machineFile, append(data, '\n')); err != nil {
		return err
	}
	w.state = s
	return nil
}

func (w *Writer) write(name string, data []byte) error {
	_, err := durable.Replace(w.root, name, durable.Bytes(data))
	return err
}

func (w *Writer) path(name string) string { return w.root.Name() + "/" + name }

func (w *Writer) damaged(name string, err error) error { return damaged(w.root, name, err) }

// damaged is the error for a file of the folder of a machine.
func damaged(root *os.Root, name string, err error) error {
	return &fault.Error{Code: fault.Damaged, Message: root.Name() + "/" + name + " is damaged: " + err.Error(), Err: err,
		Hint: "remove the remote from this workspace and add it again with its key: then this is a new machine, which sends what the remote lacks"}
}

// readSpool reads the records that were not uploaded. Each was durable before the next one was
// written, so there is no gap.
func (w *Writer) readSpool() error {
	if err := durable.MakeDir(w.root, w.dir()); err != nil { // a crash may have been before it
		return err
	}
	entries, err := durable.ReadDir(w.root, w.dir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		seq := parseNumber(e.Name())
		if seq <= w.state.Published.Seq {
			continue // see tidy
		}
		name := w.fileOf(seq)
		if want := w.end().Seq + 1; seq != want {
			return w.damaged(w.fileOf(want), errors.New("it is missing, and a later record is there"))
		}
		stored, err := durable.ReadFile(w.root, name)
		if err != nil {
			return err
		}
		v, problem := w.remote.verify(w.Machine(), w.end(), stored)
		if problem != nil {
			return w.damaged(name, errors.New(problem.Detail))
		}
		w.unsent = append(w.unsent, v)
	}
	return nil
}

// tidy removes what an interrupted change left: uploaded records, packs without a record, and the
// records and packs of other machines, which were issued anew.
func (w *Writer) tidy() error {
	dirs, err := durable.ReadDir(w.root, spoolDir)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if d.Name() != string(w.Machine()) {
			if err := durable.RemoveAll(w.root, spoolDir+"/"+d.Name()); err != nil {
				return err
			}
		}
	}
	entries, err := durable.ReadDir(w.root, w.dir())
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if parseNumber(e.Name()) <= w.state.Published.Seq {
			names = append(names, w.dir()+"/"+e.Name())
		}
	}
	stale, err := w.stalePacks()
	if err != nil {
		return err
	}
	if err := w.remove(append(names, stale...)); err != nil {
		return err
	}
	return w.tidyMade()
}

// stalePacks returns the files of packs that no record refers to.
func (w *Writer) stalePacks() (names []string, err error) {
	needed := maps.Clone(w.packed)
	for _, v := range w.unsent {
		for _, name := range packsOf(v.Ops) {
			needed[name] = true
		}
	}
	entries, err := durable.ReadDir(w.root, packDir)
	for _, e := range entries {
		if !needed[e.Name()] {
			names = append(names, packFile(e.Name()))
		}
	}
	return names, err
}

func (w *Writer) remove(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return durable.Remove(w.root, names...)
}
