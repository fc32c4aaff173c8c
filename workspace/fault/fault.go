// Package fault defines the errors of a workspace. An [Error] has a [Code], a
// one-sentence message and, optionally, a hint and a next step. The codes are a
// contract with programs; docs/json.md lists them. A Code is an error too, so
// that errors.Is(err, fault.NotFound) reports whether err has that code.
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
	Usage       Code = "usage"        // the arguments are invalid
	NotFound    Code = "not_found"    // no such session, message, agent, …
	Ambiguous   Code = "ambiguous"    // a name refers to several things
	ReadOnly    Code = "read_only"    // the target must not change
	HasChildren Code = "has_children" // other sessions depend on the target
	ToolCut     Code = "tool_cut"     // a path would separate a tool call from its result
	Refused     Code = "refused"      // not allowed, by bough or the system
	Busy        Code = "busy"         // in use by another process or call, or repeatedly changed by a program that takes no lock
	Damaged     Code = "damaged"      // a file is malformed
	Locked      Code = "locked"       // another process is writing
)

// Error returns the code: a Code is an error too, so that errors.Is can compare with it.
func (c Code) Error() string { return string(c) }

// An Error is a failure with its [Code].
type Error struct {
	Code    Code
	Message string
	Hint    string // a fact that helps, "" for none
	Next    Step   // what the caller can do, the zero Step for nothing
	Err     error  // the cause, may be nil
}

func (e *Error) Error() string { return e.Message }

// Is reports whether target is the code of e.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// Unwrap returns the cause of e.
func (e *Error) Unwrap() error { return e.Err }

// An UnknownError reports a word that is not one of the allowed ones.
type UnknownError struct {
	What    string // kind of the word: "role", "kind", …
	Word    string // as given
	Choices []string
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown %s %q", e.What, e.Word) }

// Is reports whether target is [Usage].
func (e *UnknownError) Is(target error) bool { return target == Usage }

// An AmbiguousError reports a name that refers to several things.
type AmbiguousError struct {
	What       string      // kind of the things: "session", "message", "bookmark", …
	Name       string      // as given
	Candidates []Candidate // sessions last active first; limited if there are many
	Total      int         // number of all candidates
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q is ambiguous: %s", e.Name, plural.Of(e.Total, e.What))
}

// Is reports whether target is [Ambiguous].
func (e *AmbiguousError) Is(target error) bool { return target == Ambiguous }

// A Candidate is a thing that an ambiguous name may refer to.
type Candidate struct {
	Session session.ID `json:"session_id"` // null if it has no session
	Message session.ID `json:"message_id"` // null if it has no message
	Kind    string     `json:"kind"`       // the [session.Kind] of a session, the role of a message, else the type of the candidate
	Title   string     `json:"title"`      // of the session, else the name of the candidate
	Time    string     `json:"time"`       // when the session was last active or the message was written, "" if unknown
	Text    string     `json:"text"`       // the first words of the message, else ""

	Tool         string `json:"tool"`          // the program that a session was imported from, "" if unknown
	MessageCount int    `json:"message_count"` // of a session's file, else 0
}
