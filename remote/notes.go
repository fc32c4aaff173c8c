package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/remote/plan"
)

// notes are the files that say what was published: one of each session, with a line for each message
// and a checksum in it. A lost line has the message published again, which is harmless.
type notes struct {
	root  *os.Root
	cache map[string]plan.Notes
	err   error // the first one
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
	_, err := durable.AppendCache(n.root, notesDir+"/"+session, lines)
	return err
}

// forget removes the notes of a session.
func (n *notes) forget(session string) error {
	delete(n.cache, session)
	if !sessionid.Valid(session) {
		return nil
	}
	err := durable.Remove(n.root, notesDir+"/"+session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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
