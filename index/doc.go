// Package index knows which sessions a workspace has and how they are linked.
//
// It stores conversations/session_index.json: one JSON object, keyed by session
// id, each entry a summary of one session file under the names that Penguin and
// the file's own metadata use. Beside them an entry has one member of bough's
// own, "bough", with the kind of the session, the length of its header, and the
// size and modification time of the file that the entry was taken from.
//
// The session files are the truth and the index is a copy. An entry counts only
// while its file still has the size and time that the entry names; every other
// file is read. So an index that is missing, torn or out of date, or that
// another program rewrote without the links, loses nothing: [Load] answers from
// the files, and [Index.Save] writes down what it found. Members of an entry
// that bough does not know stay as they are while the entry stays.
//
// A child's link to its parent is stored; a parent's list of children is always
// derived from those. The package never writes a session file.
package index

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/session"
)

// A MissingError says that a session in a chain of continuations is gone.
type MissingError struct {
	ID     string // the session that is gone
	From   string // the session that continues it
	File   string // of From, where it is not a session's file
	Offset int    // of the link in From's file, in bytes; 0 where nobody looked
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: byte %d: continues %s, which is missing", cmp.Or(e.File, session.FileName(e.From)), e.Offset, e.ID)
}

// A CycleError says that sessions come from one another in a ring.
type CycleError struct {
	IDs    []string // each comes from the next, the last from the first
	Offset int      // of the link in the first one's file, in bytes; 0 where nobody looked
}

func (e *CycleError) Error() string {
	return fmt.Sprintf("%s: byte %d: comes from itself: %s", session.FileName(e.IDs[0]), e.Offset, strings.Join(e.IDs, ", "))
}
