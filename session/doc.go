// Package session reads and edits one conversation file.
//
// A session is a JSON object with the eight keys that Penguin writes: id,
// created_at, last_active, metadata, messages, llm_request_lifecycles,
// tool_call_records and tool_result_records. Only messages is required. The
// metadata links the file to other files: see [Meta]. docs/format.md is the
// complete specification.
//
// A file is read and validated in one pass. The result is an [Outline]: ids, links
// and byte offsets, but not the text of the messages. A [Session] is an outline
// with the bytes. Messages are never decoded and encoded again, so number text, key
// order, escapes, NaN and unknown members survive all operations. A [Document] is a
// new file made of messages of other files; an [Edit] changes single members in
// place. Both are written by copying bytes from file to file.
//
// A line is a conversation as a person sees it: a session with its continuations.
// [Tree] is the tree of messages in the files of a line. It needs only their
// outlines.
//
// A damaged file is reported as a [DamageError] with the offset of the damage, and
// none of its content is used. The package never repairs a file; [Recover] returns
// a new file with the intact part of a truncated one. Code that copies bytes by the
// offsets of an outline verifies the checksum of the file and returns [ErrChanged] if
// it differs.
//
// The package reads and writes streams and opens no file; [Document.Write] and
// [Edit.Write] are passed a function that opens the files they copy from.
package session

import (
	"errors"
	"fmt"
)

// ErrNotFound is the error for a session that is not in the folder.
var ErrNotFound = errors.New("no such session")

// A DamageError reports that a file is not a valid session, and the offset of the
// damage.
type DamageError struct {
	Path    string // slash-separated, relative to the workspace
	Offset  int    // in bytes from the start of the file
	Problem string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", e.Path, e.Offset, e.Problem)
}
