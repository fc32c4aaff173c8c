// Package session reads and edits one conversation file.
//
// A session is a JSON object with the eight keys that Penguin writes: id,
// created_at, last_active, metadata, messages, llm_request_lifecycles,
// tool_call_records, tool_result_records. Only messages must be there. What a
// file says of its place among other files stands in its metadata: see [Meta].
// docs/format.md is the whole specification.
//
// A file is read once, from its first byte to its last, and validated; what is
// known of it then is its [Outline]: ids, links, and where things stand, but not
// the text of its messages. A [Session] is an outline with the bytes. Messages
// are never decoded and encoded again, so number text, key order, escapes, NaN
// and members that bough does not know survive everything that bough does. A
// [Document] is a file that is made of the messages of others, an [Edit] changes
// single members in place; both are written by copying bytes from file to file.
//
// A line is a conversation as a person sees it: a session with its
// continuations. [Tree] is the tree of messages in the files of a line. It needs
// only their outlines.
//
// A damaged file is a [DamageError] with the place of the damage, and nothing of
// it is used. The package never repairs it; [Recover] makes another file of what is
// whole of a torn one, for whoever asks for it. Only [Folder] touches the disk. It
// keeps outlines in a cache, [CacheDir], for as long as the file system says
// that the file is still the same; whoever copies bytes by an outline checks
// that they have the checksum that they had, and says so if not: [ChangedError].
package session

import (
	"errors"
	"fmt"
)

// ErrNotFound is the error for a session that is not in the folder.
var ErrNotFound = errors.New("no such session")

// A DamageError says that a file is not a session, and where that shows.
type DamageError struct {
	Path    string // slash-separated, inside the workspace
	Offset  int    // in bytes from the start of the file
	Problem string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", e.Path, e.Offset, e.Problem)
}
