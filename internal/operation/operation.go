// Package operation keeps the log of what was done to a workspace.
//
// It stores .bough/operations.jsonl: one JSON object on a line for each change
// that a user made, oldest first, and one for what other programs were seen to
// have changed. A line says who, when and what, and holds enough to take the
// change back: of a session that was edited the bytes that were there before, of
// one that was made or moved to the trash where it is. It never holds what a
// session holds otherwise.
//
// A line is safe on the disk before the first file of its change gets its name,
// which is the moment at which the change exists. Several operations of one group
// may be made at once; then all of their lines are. When all of it is made an empty
// line follows, for which nobody waits. So a line before an empty one is the truth,
// and those after the last empty one may tell of what was interrupted: each of them
// counts if its first change was made, see [Change].
//
// Lines are added, and one that tells of nothing is taken out again. The log is
// replaced by another, with the same numbers, when old operations lose their changes
// and when what was deleted for good is taken out of it. Numbers grow from operation
// to operation, from 1, by one but where a line was taken out. The last member of a
// line is a checksum.
package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/rawjson"
)

// Path is the path of the log inside the workspace.
const Path = ".bough/operations.jsonl"

// External is the verb of what another program changed. It cannot be taken back.
const External = "external"

// The verbs of operations that take others back.
const (
	Undo = "undo"
	Redo = "redo"
)

// A Seq is the number of an operation. Zero, which is none, is null in JSON.
type Seq int64

// MarshalJSON implements [json.Marshaler].
func (s Seq) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(s), 10), nil
}

// An Operation is one change that a user made to a workspace.
type Operation struct {
	Seq      Seq            `json:"seq"`
	Time     string         `json:"time"`
	Verb     string         `json:"verb"`
	Args     map[string]any `json:"args"`
	Sessions []string       `json:"sessions"`        // whose files changed, or where the head or a bookmark was set
	Undoes   Seq            `json:"undoes"`          // the operation that this one takes back
	Group    Seq            `json:"group,omitempty"` // the number of the first of those that undo takes back together, 0 if it stands alone
	Changes  []Change       `json:"changes"`         // none if it cannot be taken back
	Auto     bool           `json:"auto,omitempty"`  // nobody asked for it, and undo passes over it
	Seen     []Change       `json:"seen,omitempty"`  // what another program was seen to have changed
}

// A Change is what happened to one file. The first one of an operation decides
// whether it happened; the others follow from it.
//
//	Was   Is   Moved
//	-     yes  -      the file was made
//	-     yes  path   it was brought back from the trash
//	yes   -    path   it was moved to the trash
//	yes   yes  -      it was edited
type Change struct {
	File    string   `json:"file"`              // its path inside the workspace
	Was     *State   `json:"was"`               // before, null if there was none
	Is      *State   `json:"is"`                // after, null if there is none
	Moved   string   `json:"moved,omitempty"`   // where in the trash it is, or was
	Splices []Splice `json:"splices,omitempty"` // what took the place of what
	Kept    string   `json:"kept,omitempty"`    // where in the trash is what it held, if the whole of it was replaced
	Link    bool     `json:"link,omitempty"`    // only a link changed, which follows from those of other sessions
	Before  string   `json:"before,omitempty"`  // what a small file, which is no session, held
	After   string   `json:"after,omitempty"`   // and what it holds
	Differs bool     `json:"differs,omitempty"` // Splices say what a small file held; After may be there once in a while, see [Full]
}

// A State is what a file holds.
type State struct {
	Size   int64  `json:"size"`             // in bytes
	CRC32C string `json:"crc32c,omitempty"` // eight hexadecimal digits; "" if nobody computed it
	MTime  string `json:"mtime,omitempty"`  // modification time in nanoseconds since 1970
}

// Same reports whether s and other hold the same, as far as both say.
func (s *State) Same(other *State) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Size == other.Size && (s.CRC32C == "" || other.CRC32C == "" || s.CRC32C == other.CRC32C)
}

// A Splice is bytes of a session file that took the place of others.
type Splice struct {
	At   int    `json:"at"`             // in the file as it was, in bytes
	Old  string `json:"old"`            // what stood there
	New  int    `json:"new"`            // how many bytes stand there instead
	Text string `json:"text,omitempty"` // these, if the file is no session
}

// Encode returns the line of o.
func (o *Operation) Encode() []byte {
	line := *o
	if line.Args == nil {
		line.Args = map[string]any{}
	}
	if line.Sessions == nil {
		line.Sessions = []string{}
	}
	if line.Changes == nil {
		line.Changes = []Change{}
	}
	data := rawjson.Compact(line)
	data = data[:len(data)-1]
	return fmt.Appendf(data, `%s%08x"}`+"\n", checksum, crc32c.Of(data))
}

// checksum begins the last member of a line: the CRC-32C of all bytes before it.
const checksum = `,"crc32c":"`

// maxSeq is the highest number that an operation can have.
const maxSeq = 1 << 53

// fitsChecksum reports whether a line, without its line break, is as it was written. A
// line without a checksum is one of an earlier version.
func fitsChecksum(line []byte) bool {
	at := len(line) - len(checksum) - len(`00000000"}`)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(checksum)) {
		return true
	}
	return string(line[at+len(checksum):]) == fmt.Sprintf(`%08x"}`, crc32c.Of(line[:at]))
}

// decode reads a line.
func decode(line []byte) (*Operation, error) {
	o := &Operation{}
	if data := bytes.TrimRight(line, "\r\n"); !fitsChecksum(data) {
		return nil, errors.New("the checksum does not match")
	}
	if err := json.Unmarshal(line, o); err != nil {
		return nil, err
	}
	if o.Seq < 1 || o.Seq > maxSeq || o.Verb == "" {
		return nil, errors.New("no number, or no verb")
	}
	return o, nil
}
