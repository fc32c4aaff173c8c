package remote

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
)

// synced is the content of syncFile. It and stateFile may be lost: then everything is read and
// compared anew.
type synced struct {
	Format  int             `json:"format"`
	Machine record.Machine  `json:"machine"`
	Cursors stream.Cursors  `json:"cursors"`
	Here    *plan.Here      `json:"here"`
	Based   uint64          `json:"based,omitempty"`  // the last own record in a base
	Purged  map[string]bool `json:"purged,omitempty"` // sessions of which this machine has nothing in the store any more, but for garbage
	Garbage []garbage       `json:"garbage,omitempty"`
	Owed    int             `json:"owed,omitempty"`    // records of others since the last own one, see ackAfter
	Unknown bool            `json:"unknown,omitempty"` // there are operations, members or formats that this version does not know
}

const syncFormat = 1

// readSynced returns what was stored, or the beginning if that cannot be read.
func readSynced(root *os.Root) (s synced) {
	data, err := durable.ReadFile(root, syncFile)
	if err != nil || json.Unmarshal(data, &s) != nil || s.Format != syncFormat || s.Here == nil {
		return synced{Format: syncFormat, Cursors: stream.Cursors{}, Here: plan.NewHere()}
	}
	fresh := plan.NewHere()
	if s.Here.Sessions == nil {
		s.Here.Sessions = fresh.Sessions
	}
	if s.Here.Agents == nil {
		s.Here.Agents = fresh.Agents
	}
	if s.Here.Explorations == nil {
		s.Here.Explorations = fresh.Explorations
	}
	if s.Here.Pending == nil {
		s.Here.Pending = fresh.Pending
	}
	return s
}

// load reads the state.
func (j *job) load() error {
	j.synced = readSynced(j.root)
	data, err := durable.ReadFile(j.root, stateFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if _, err := join.Decode(append([]byte(nil), data...)); err == nil {
			j.encoded = data
		}
	}
	if j.encoded == nil && len(j.Cursors) > 0 {
		j.opts.note("what was read of the remote is damaged and is read again")
		j.Cursors = stream.Cursors{}
	}
	j.Machine = j.writer.Machine()
	return j.rebuild()
}

// published returns the state of what is in the store.
func (j *job) published() (*join.State, error) {
	s := join.New()
	if j.encoded != nil {
		var err error
		if s, err = join.Decode(append([]byte(nil), j.encoded...)); err != nil {
			return nil, err
		}
	}
	for _, one := range j.joined {
		if err := one.addTo(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// rebuild sets the state from what is in the store and what is not uploaded.
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
	if j.dry || !j.changed {
		return nil
	}
	state := j.state
	if len(j.writer.Unsent()) > 0 {
		var err error
		if state, err = j.published(); err != nil {
			return err
		}
	}
	data := state.Encode()
	if string(data) != string(j.encoded) {
		if _, err := durable.Replace(j.root, stateFile, durable.Bytes(data)); err != nil {
			return err
		}
		j.encoded, j.joined = data, nil
	}
	data, err := json.Marshal(j.synced)
	if err != nil {
		return err
	}
	if _, err := durable.Replace(j.root, syncFile, durable.Bytes(data, []byte("\n"))); err != nil {
		return err
	}
	j.changed = false
	return nil
}
