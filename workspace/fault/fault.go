// Package fault has the errors of a workspace: an [Error] has a [Code], which is a
// contract with programs, one sentence, and a hint. A [Code] is an error too, so that
// errors.Is(err, fault.NotFound) reports whether err has that code. docs/json.md lists the
// codes.
package fault

import (
	"fmt"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/session"
)

// A Code identifies the kind of a failure. The codes are a contract with
// programs.
type Code string

const (
	Failed      Code = "failed"       // any other failure
	Usage       Code = "usage"        // the request makes no sense
	NotFound    Code = "not_found"    // no such session, message, agent, …
	Ambiguous   Code = "ambiguous"    // a name has several candidates
	ReadOnly    Code = "read_only"    // the target must not change
	HasChildren Code = "has_children" // other sessions depend on the target
	ToolCut     Code = "tool_cut"     // a tool call would be parted from its result
	Refused     Code = "refused"      // not allowed, by bough or by the system
	Busy        Code = "busy"         // another program, which takes no lock, keeps changing it
	Damaged     Code = "damaged"      // a file is malformed
	Locked      Code = "locked"       // another process is writing
)

// Error returns the code: a Code is an error too, so that errors.Is can compare with it.
func (c Code) Error() string { return string(c) }

// An Error is a failure with its [Code], a one-sentence message, and a hint,
// which may be empty.
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

// Unwrap returns the cause of e.
func (e *Error) Unwrap() error { return e.Err }

// An UnknownError reports a word outside of the allowed ones.
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
	return fmt.Sprintf("%q is ambiguous: %s", e.Name, plural.Of(e.Total, e.What))
}

// A Candidate is one of the things that an ambiguous name may mean.
type Candidate struct {
	Session session.ID `json:"session_id"` // none if it has no session
	Message session.ID `json:"message_id"` // none if it has no message
	Kind    string     `json:"kind"`       // of a session, [session.Kind]; of a message, its role; else the type of the candidate
	Title   string     `json:"title"`      // of the session; else the name of the candidate
	Time    string     `json:"time"`       // when the session was last active or the message was written, "" if unknown
	Text    string     `json:"text"`       // the first words of the message, else ""

	Tool         string `json:"tool"`          // that a session comes from, "" if unknown
	MessageCount int    `json:"message_count"` // of the session's file, 0 if the candidate is none
}
