package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

// notes are the files that say what was published: one of each session, with a line for each message
// and a checksum in it. A lost line has the message published again, with the bytes that it has here;
// [job.renote] restores those that a killed process did not write.
type notes struct {
	root  *os.Root
	cache map[string]plan.Notes
	torn  map[string]bool // files whose last line has no end
	err   error           // the first one
}

func newNotes(root *os.Root) *notes {
	return &notes{root: root, cache: map[string]plan.Notes{}, torn: map[string]bool{}}
}

func (n *notes) of(session string) plan.Notes {
	if list, ok := n.cache[session]; ok {
		return list
	}
	list := plan.Notes{}
	if sessionid.Valid(session) {
		data, err := durable.ReadFile(n.root, notesDir+"/"+session)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && n.err == nil {
			n.err = err
		}
		for line := range bytes.Lines(data) {
			if note, ok := parseNote(line); ok {
				list[note.ID] = note
			}
		}
		n.torn[session] = len(data) > 0 && data[len(data)-1] != '\n'
	}
	n.cache[session] = list
	return list
}

// add adds notes, if they are not there.
func (n *notes) add(session string, list []plan.Note) error {
	known := n.of(session)
	var lines []byte
	for _, note := range list {
		if !known.Has(note.ID) {
			known[note.ID] = note
			lines = append(lines, encodeNote(note)...)
		}
	}
	if len(lines) == 0 || !sessionid.Valid(session) {
		return nil
	}
	if n.torn[session] {
		lines = append([]byte{'\n'}, lines...)
		n.torn[session] = false
	}
	_, err := durable.AppendCache(n.root, notesDir+"/"+session, lines)
	return err
}

// forget removes the notes of a session.
func (n *notes) forget(session string) error {
	delete(n.cache, session)
	delete(n.torn, session)
	if !sessionid.Valid(session) {
		return nil
	}
	err := durable.Remove(n.root, notesDir+"/"+session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// renote notes the published messages of sessions whose notes may be missing, because a process ended between
// a change and its notes: messages that were being applied, and those of records that are not uploaded.
// Sessions that the workspace with the facts does not have have no notes.
func (j *job) renote(f *mirror.Facts) error {
	if j.dry {
		return nil
	}
	there := j.Here.There(f)
	whole := map[string]bool{}          // of a session all messages, or only own ones
	for _, id := range j.Here.Whole() { // the next pull compares all their messages, noted or not
		if there(id) {
			whole[id] = true
		}
	}
	for _, r := range j.writer.Unsent() {
		for _, op := range r.Ops {
			if id, ok := plan.SessionOf(op.Entity); ok && op.Field == "messages" {
				if _, ok := whole[id]; !ok {
					whole[id] = false
				}
			}
		}
	}
	for id, all := range whole {
		in := j.view().Session(id)
		if in == nil {
			continue
		}
		runs := in.Runs
		if !all {
			other := func(run join.Element) bool { return run.Stamp.Machine != j.writer.Machine() }
			runs = slices.DeleteFunc(slices.Clone(runs), other)
		}
		left, paths := j.result.Left, j.paths
		_, list, err := j.items(id, runs, false)
		if j.ctx.Err() != nil {
			return j.ctx.Err()
		}
		bad := len(j.result.Left) > len(left)
		j.result.Left, j.paths = left, paths // the pull says it
		if err == nil && !bad {              // else the messages here may be published again
			err = j.notes.add(id, list)
		}
		if err != nil && !errors.Is(err, fault.NotFound) && !errors.Is(err, fault.Damaged) && !errors.Is(err, errPath) {
			return err
		}
	}
	return nil
}

func encodeNote(note plan.Note) []byte {
	data, err := json.Marshal(note)
	if err != nil {
		panic(err) // strings have JSON
	}
	return fmt.Appendf(data, " %08x\n", crc32c.Of(data))
}

func parseNote(line []byte) (note plan.Note, ok bool) {
	const sum = len(" 01234567\n")
	if len(line) < sum {
		return note, false
	}
	data := line[:len(line)-sum]
	if string(line[len(line)-sum:]) != fmt.Sprintf(" %08x\n", crc32c.Of(data)) {
		return note, false
	}
	return note, json.Unmarshal(data, &note) == nil
}
