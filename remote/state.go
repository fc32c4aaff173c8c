package remote

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/internal/rows"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

// synced is the content of the row syncRow: all that has no row of its own. All rows may be lost: then
// everything is read and compared anew.
type synced struct {
	Format    int              `json:"format"`
	Machine   record.Machine   `json:"machine"`
	Cursors   stream.Cursors   `json:"cursors"`
	Here      *plan.Here       `json:"here"`
	From      uint64           `json:"from,omitempty"`      // the first own record that Here knows, if it was lost
	Compared  uint64           `json:"compared,omitempty"`  // the last one
	Based     uint64           `json:"based,omitempty"`     // the last own record in a base
	Collected uint64           `json:"collected,omitempty"` // the own record up to which records were deleted
	Purged    map[string]bool  `json:"purged,omitempty"`    // sessions of which this machine has nothing in the store any more, but for garbage
	Garbage   []garbage        `json:"garbage,omitempty"`
	Strip     []string         `json:"strip,omitempty"` // purged sessions of which the rows are to forget the content
	Owed      int              `json:"owed,omitempty"`  // records of others since the last own one, see ackAfter
	Left      []mirror.Left    `json:"left,omitempty"`  // said by the last pull of all, see quiet
	Newer     []record.Machine `json:"newer,omitempty"` // that wrote members or formats that this version does not know; a version that does has another syncFormat
}

const (
	syncRow    = "sync"
	syncFormat = 1
)

// stored is what a folder has of a remote.
type stored struct {
	synced
	rows  *rows.Rows
	root  *os.Root
	state *join.State
}

// openStored reads what the folder of a remote has. The error has the code Damaged if it cannot be used.
func openStored(root *os.Root) (_ *stored, err error) {
	s := &stored{}
	if s.root, err = root.OpenRoot(stateDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.rows, err = rows.Open(s.root); err != nil {
		return nil, err
	}
	if s.state, err = join.Open(s.rows); err != nil {
		return nil, err
	}
	if data := s.rows.Get(syncRow); data != nil {
		if err := json.Unmarshal(data, &s.synced); err != nil || s.Format != syncFormat || s.Here == nil {
			return nil, &fault.Error{Code: fault.Damaged, Message: s.root.Name() + " is damaged", Err: err}
		}
	} else {
		s.synced = synced{Format: syncFormat, Cursors: stream.Cursors{}, Here: plan.NewHere()}
	}
	s.Here.Open(s.rows)
	return s, s.rows.Err()
}

// Close closes the rows.
func (s *stored) Close() {
	if s.rows != nil {
		s.rows.Close()
	}
	s.root.Close()
}

// load reads the state. If it is damaged, it begins anew.
func (j *job) load() error {
	if err := durable.MakeDir(j.root, stateDir); err != nil {
		return err
	}
	for _, former := range []string{"state", "sync.json"} { // of versions before the rows
		if err := durable.Remove(j.root, former); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	s, err := openStored(j.root)
	if errors.Is(err, fault.Damaged) {
		j.opts.note("what was read of the remote is damaged and is read again")
		if err := resetStored(j.root); err != nil {
			return err
		}
		s, err = openStored(j.root)
	}
	if err != nil {
		return err
	}
	before := j.close
	j.close = func() { s.Close(); before() }
	j.synced, j.rows = s.synced, s.rows
	if j.Machine == "" {
		j.Machine = j.writer.Machine()
	}
	j.renumber() // a process may have ended after the writer became another machine
	touched, err := j.completeHere()
	if err != nil {
		return err
	}
	if err := j.rebuild(); err != nil || len(touched) == 0 {
		return err
	}
	j.Here.TouchOwn(j.view(), slices.Sorted(maps.Keys(touched)))
	return nil
}

// completeHere notes in Here the own records that a process stored before it ended, without Here. It returns the sessions
// that these are about.
func (j *job) completeHere() (touched map[string]bool, err error) {
	unsent := j.writer.Unsent()
	if len(unsent) == 0 || unsent[len(unsent)-1].Seq <= j.Compared {
		return nil, nil
	}
	if j.Compared == 0 && j.Here.Since == 0 {
		j.From = unsent[0].Seq
	}
	state, err := j.published()
	if err != nil {
		return nil, err
	}
	touched = map[string]bool{}
	before := plan.NewView(state)
	for _, r := range unsent {
		var held *join.HeldError
		if err := state.Add(r); err != nil && !errors.As(err, &held) {
			return nil, err
		}
		after := plan.NewView(state)
		if r.Seq > j.Compared {
			j.Here.Recorded(r, before, after)
			touch(touched, r)
			j.Compared, j.changed = r.Seq, true
		}
		before = after
	}
	return touched, nil
}

func resetStored(root *os.Root) error {
	dir, err := root.OpenRoot(stateDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return rows.Reset(dir)
}

// published returns the state of the records in the store.
func (j *job) published() (*join.State, error) {
	s, err := join.Open(j.rows)
	if err != nil {
		return nil, err
	}
	for _, one := range j.joined {
		if err := one.addTo(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// rebuild sets the state from the records in the store and those that are not uploaded.
func (j *job) rebuild() (err error) {
	if j.state, err = j.published(); err != nil {
		return err
	}
	j.known = nil
	for _, r := range j.writer.Unsent() {
		if err := j.state.Add(r); err != nil {
			var held *join.HeldError
			if !errors.As(err, &held) {
				return err
			}
			return nil // the state was lost, and has to be read first
		}
	}
	return nil
}

// view returns the view of the state.
func (j *job) view() *plan.View {
	if j.known == nil {
		j.known = plan.NewView(j.state)
	}
	return j.known
}

// save stores the state and what was compared. A crash in between has records read again.
func (j *job) save() error {
	if j.dry || !j.changed && !j.Here.IsChanged() {
		return j.rows.Err()
	}
	state := j.state
	if len(j.writer.Unsent()) > 0 {
		var err error
		if state, err = j.published(); err != nil {
			return err
		}
	}
	if len(j.writer.Unsent()) == 0 && len(j.Strip) > 0 { // what refers to them is replaced
		for _, id := range j.Strip {
			state.Strip(id)
		}
		j.Strip, j.toErase = nil, true
	}
	state.Save(j.rows.Put)
	j.Here.Save(j.rows.Put)
	data, err := json.Marshal(j.synced)
	if err != nil {
		return err
	}
	j.rows.Put(syncRow, data)
	if err := j.rows.Commit(); err != nil {
		return err
	}
	j.joined, j.changed = nil, false
	return nil
}
