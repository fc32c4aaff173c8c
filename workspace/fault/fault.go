// Package fault is what can go wrong with a workspace: an [Error] has a [Code], which is a
// contract with programs, one sentence, and what to do next. A [Code] is an error too, so
// that errors.Is(err, fault.NotFound) holds for each error with that code. The codes are
// those of docs/json.md.
package fault

import (
	"fmt"

	"github.com/bough-dev/bough/session"
)

// A Code names what a failure is to a program. The codes are a contract.
type Code string

const (
	Failed      Code = "failed"       // anything without a code of its own
	Usage       Code = "usage"        // the request makes no sense
	NotFound    Code = "not_found"    // what was named is not there
	Ambiguous   Code = "ambiguous"    // what was named is there more than once
	ReadOnly    Code = "read_only"    // what was named must not change
	HasChildren Code = "has_children" // others depend on what was named
	ToolCut     Code = "tool_cut"     // a tool call would be parted from its result
	Refused     Code = "refused"      // not allowed, by bough or by the system
	Busy        Code = "busy"         // another program, which takes no lock, keeps changing it
	Damaged     Code = "damaged"      // a file is not what it should be
	Locked      Code = "locked"       // another process is writing
)

// Error returns the code: a Code is an error too, so that errors.Is can compare with it.
func (c Code) Error() string { return string(c) }

// The errors that errors.Is finds in every error of a method of this package, one for
// each [Code].
var (
	ErrFailed      error = Failed
	ErrUsage       error = Usage
	ErrNotFound    error = NotFound
	ErrAmbiguous   error = Ambiguous
	ErrReadOnly    error = ReadOnly
	ErrHasChildren error = HasChildren
	ErrToolCut     error = ToolCut
	ErrRefused     error = Refused
	ErrBusy        error = Busy
	ErrDamaged     error = Damaged
	ErrLocked      error = Locked
)

// An Error is a failure with its [Code], one sentence that says what is the
// matter, and one that says what to do next, which may be empty.
type Error struct {
	Code    Code
	Message string
	Hint    string // a fact that helps, "" for none
	Next    Step   // what the caller can do, the zero Step for nothing
	Err     error  // what it comes from, may be nil
}

func (e *Error) Error() string { return e.Message }

// Is reports whether target is the code of e.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// Unwrap returns what e comes from.
func (e *Error) Unwrap() error { return e.Err }

// An UnknownError reports a word that is none of those that may be used.
type UnknownError struct {
	What    string // the word is to name: "role", "kind", …
	Word    string // as it was given
	Choices []string
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown %s %q", e.What, e.Word) }

// An AmbiguousError reports a name that more than one thing has.
type AmbiguousError struct {
	What       string      // is named: "session", "message", "bookmark", …
	Name       string      // as it was given
	Candidates []Candidate // of sessions the last active first; of many only some
	Total      int         // how many candidates there are
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is ambiguous: %s", e.Name, Plural(e.Total, e.What))
}

// A Candidate is one of the things that an ambiguous name may mean.
type Candidate struct {
	Session session.ID `json:"session_id"` // none for what is in no session
	Message session.ID `json:"message_id"` // none for what is not on a message
	Kind    string     `json:"kind"`       // of a session, [session.Kind]; the role of a message; else what it is
	Title   string     `json:"title"`      // of the session; else what the candidate is called
	Time    string     `json:"time"`       // when the session was last active or the message was written, "" if unknown
	Text    string     `json:"text"`       // the first words of the message, else ""

	Tool         string `json:"tool"`          // that a session comes from, "" if unknown
	MessageCount int    `json:"message_count"` // of the session's file, 0 if the candidate is none
}

// Plural returns a number of things: "1 session", "2 sessions".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
