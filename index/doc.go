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
//
// # Large workspaces
//
// In bough's dialect an index of 1 MiB or more is not written anew for every
// change. [Index.Save] adds lines to conversations/session_index.journal, with
// one write, for which it does not wait, until that would have more than 1 MiB;
// then it folds them in. Clauses 12.10 to 12.16 of docs/format.md say how.
//
// Nor is such an index read for every command. [Index.Remember] leaves in
// .bough/cache what was found: "index", a table of all entries in which those
// that are asked for are found without reading the others, and "look", which
// says of what folder, index and journal that was, and where in the journal
// stands what changed since. While these three still are what they were, [Open]
// takes sessions from there, each with one look at its file, and reads the file
// if it is another one. Everything in both files has a checksum. Whatever is
// missing, damaged or of another time costs a [Load].
//
// A file system tells that a folder changed by its modification time, and the
// clock behind that may stand still for some milliseconds. So nothing is
// remembered of a folder that changed less than 50 ms before it was listed. A
// command that changes it itself makes, renames and removes files in
// [Index.Change], which looks before whether the folder still is what it was,
// and afterwards gives it a time that no other change will give it. What remains
// is this: a file that another program, which does not take the lock, adds,
// removes or renames between these two moments, which are microseconds apart, is
// not seen until the folder changes again or a command looks at every session, as
// ls and doctor do. And of a session file that is changed in place, without a
// rename, only those commands learn that ask for that session.
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
