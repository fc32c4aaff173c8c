// Package operation keeps the log of the changes of a workspace.
//
// It stores .bough/operations.jsonl: one JSON object per line for each change by
// the user, oldest first, and one for each detected change by another program. A
// line records who, when and what, with enough data to undo the change: for an
// edited session the replaced bytes, for a created or trashed session its path. It
// contains no other content of sessions.
//
// A line is durable before the first file of its change is renamed, which is the
// moment at which the change exists. Several operations of one group may be made at
// once; then all of their lines are durable before. After the change an empty line
// follows, without fsync. So the lines before an empty line are true, and those
// after the last empty line may be of an interrupted operation: such an operation
// happened if its first change was made, see [Change].
//
// Lines are appended, and the line of an operation that did not happen is removed.
// The log is rewritten, with the same numbers, when old operations lose their
// changes and when deleted content is purged from it. Numbers start at 1 and
// increase by one, with gaps where a line was removed. The last member of a line is
// a checksum.
package operation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bough-dev/bough/internal/crc32c"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/events"
)

// Path is the path of the log, relative to the workspace.
const Path = ".bough/operations.jsonl"

// External is the verb of a change by another program. It cannot be undone.
const External = "external"

// Pull is the verb of a change that was made in another workspace.
const Pull = "pull"

// The verbs of operations that undo others.
const (
	Undo = "undo"
	Redo = "redo"
)

// A Seq is the number of an operation.
type Seq = events.Seq

// An Operation is one change of a workspace by the user.
type Operation struct {
	Seq      Seq            `json:"seq"`
	Time     string         `json:"time"`
	Verb     string         `json:"verb"`
	Args     map[string]any `json:"args"`
	Sessions []string       `json:"sessions"`        // whose files changed, or where the head or a bookmark was set
	Undoes   Seq            `json:"undoes"`          // the operation that this one undoes
	Group    Seq            `json:"group,omitempty"` // the number of the first operation that undo reverts together with this one, 0 for a single operation
	Changes  []Change       `json:"changes"`         // empty if it cannot be undone, or changed only Files
	Files    *Restored      `json:"files,omitempty"` // the files of a folder changed too
	Auto     bool           `json:"auto,omitempty"`  // an automatic operation, which undo skips
	Seen     []Change       `json:"seen,omitempty"`  // detected changes by another program

	Compacted bool `json:"compacted,omitempty"` // it had changes, which a compaction dropped
}

// A Restored is a change of the files of a folder. Undo restores the state before.
type Restored struct {
	Folder string `json:"folder"` // IDs, of the folder and of two of its states
	Before string `json:"before"`
	After  string `json:"after"`
}

// revertible reports whether the log has what an undo of o needs.
func (o *Operation) revertible() bool { return len(o.Changes) > 0 || o.Files != nil }

// NoIdentity is the identity of a log without a lasting operation.
const NoIdentity = "0"

// Identity returns the identity of a log whose first lasting operation is o, or
// [NoIdentity] if o does not last: a compaction may remove automatic operations and those
// of other programs.
func (o *Operation) Identity() string {
	if o.Auto || o.Verb == External {
		return NoIdentity
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", o.Seq, o.Time, o.Verb))
	return hex.EncodeToString(sum[:6])
}

// A Change is the change of one file. The first change of an operation decides
// whether it happened; the others follow from it.
//
//	Was   Is   Moved
//	-     yes  -      the file was made
//	-     yes  path   it was brought back from the trash
//	yes   -    path   it was moved to the trash
//	yes   yes  -      it was edited
type Change struct {
	File    string   `json:"file"`              // its path relative to the workspace
	Was     *State   `json:"was"`               // before, null if it did not exist
	Is      *State   `json:"is"`                // after, null if it does not exist
	Moved   string   `json:"moved,omitempty"`   // where in the trash it is, or was
	Splices []Splice `json:"splices,omitempty"` // the replaced bytes
	Kept    string   `json:"kept,omitempty"`    // where in the trash the old file is, if it was replaced completely
	Link    bool     `json:"link,omitempty"`    // only a link changed, which depends on other sessions
	Before  string   `json:"before,omitempty"`  // the old text of a small file other than a session
	After   string   `json:"after,omitempty"`   // the new text
	Differs bool     `json:"differs,omitempty"` // Splices have the difference of the texts of a small file; After is set once in a while, see [Full]
}

// A State is the state of a file's content.
type State struct {
	Size   int64  `json:"size"`             // in bytes
	CRC32C string `json:"crc32c,omitempty"` // eight hexadecimal digits; "" if not computed
	MTime  string `json:"mtime,omitempty"`  // modification time in nanoseconds since 1970
}

// Same reports whether s and other agree in all fields that both have.
func (s *State) Same(other *State) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Size == other.Size && (s.CRC32C == "" || other.CRC32C == "" || s.CRC32C == other.CRC32C)
}

// A Splice is the replacement of a span of a file.
type Splice struct {
	At   int    `json:"at"`             // offset in the old file
	Old  string `json:"old"`            // the replaced bytes
	New  int    `json:"new"`            // number of bytes that replaced them
	Text string `json:"text,omitempty"` // these bytes, if the file is not a session
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

// checksum is the start of the last member of a line: the CRC-32C of all bytes
// before it.
const checksum = `,"crc32c":"`

// maxSeq is the maximum number of an operation.
const maxSeq = 1 << 53

// fitsChecksum reports whether the checksum of a line, without its line break,
// matches. A line without a checksum is of an earlier version.
func fitsChecksum(line []byte) bool {
	at := len(line) - len(checksum) - len(`00000000"}`)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(checksum)) {
		return true
	}
	return string(line[at+len(checksum):]) == fmt.Sprintf(`%08x"}`, crc32c.Of(line[:at]))
}

// decode decodes a line.
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
