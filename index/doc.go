// Package index lists the sessions of a workspace and their links.
//
// It stores conversations/session_index.json: a JSON object, keyed by session id.
// Each entry is a summary of one session file, with the names that Penguin and the
// file's own metadata use. An entry has one additional member of bough's, "bough",
// with the kind of the session, the length of its header, and the size and
// modification time of the file.
//
// The session files are the truth and the index is a copy. An entry is used only if
// its file still has the recorded size and time; every other file is read. So an
// index that is missing, truncated or out of date, or that another program rewrote
// without the links, loses nothing: [Load] reads the files, and [Index.Save] stores
// the result. Unknown members of an entry are preserved as long as the entry
// exists.
//
// A child's link to its parent is stored; a parent's list of children is always
// computed from these links. The package never writes a session file.
//
// # Large workspaces
//
// In bough's dialect an index of 500 sessions or more, or of 1 MiB or more, is not rewritten for
// every change. [Index.Save] appends lines to conversations/session_index.journal, with one write
// and without fsync. When the journal would exceed 64 lines or, if the index has 1 MiB or more, 1
// MiB, Save rewrites the index and removes the journal. Clauses 12.10 to 12.16 of docs/format.md
// specify this.
//
// Such an index is not read for every command either. [Index.Remember] stores two
// files in .bough/cache. "index" is a table of all entries that supports look-ups
// without reading the other entries. "look" identifies the folder, index and
// journal from which the table was built, and lists the journal lines that are
// newer than the table. While these three are unchanged, [Open] answers from the
// table: for each requested session it examines the file's Stat, and reads the file
// if that has changed. Both files are protected by checksums. If anything is
// missing, damaged or out of date, Open does a [Load].
//
// A change of a folder shows in its modification time, but the clock of the file
// system may advance only every few milliseconds. So nothing is cached for a folder
// that changed less than 50 ms before it was listed. A command that changes the
// folder creates, renames and removes files in [Index.Change], which verifies
// before that the folder is unchanged, and afterwards sets its modification time to
// one that no other change produces. Two gaps remain. A file that another program
// adds, removes or renames without the lock between these two moments, which are
// microseconds apart, is not detected until the folder changes again or a command
// examines every session, as ls and doctor do. And a session file that is changed
// in place, without a rename, is detected only by commands that ask for that
// session.
package index

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/session"
)

// A MissingError reports that a session in a chain of continuations does not exist.
type MissingError struct {
	ID     string // the missing session
	From   string // the session that continues it
	File   string // of From, if it is not a session file
	Offset int    // offset of the link in From's file in bytes; 0 if unknown
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: byte %d: continues %s, which is missing", cmp.Or(e.File, session.FileName(e.From)), e.Offset, e.ID)
}

// A CycleError reports that sessions are their own origins.
type CycleError struct {
	IDs    []string // each has the next one as its origin, the last has the first
	Offset int      // offset of the link in the first one's file in bytes; 0 if unknown
}

func (e *CycleError) Error() string {
	return fmt.Sprintf("%s: byte %d: comes from itself: %s", session.FileName(e.IDs[0]), e.Offset, strings.Join(e.IDs, ", "))
}
