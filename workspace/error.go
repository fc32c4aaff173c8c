package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/writelock"
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
	Hint    string
	Err     error // what it comes from, may be nil
}

func (e *Error) Error() string { return e.Message }

// Is reports whether target is the code of e.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// Unwrap returns what e comes from.
func (e *Error) Unwrap() error { return e.Err }

// Explain gives any error of this package its code and hint. It returns nil for
// nil.
func Explain(err error) *Error {
	var (
		own      *Error
		damage   *session.DamageError
		missing  *index.MissingError
		ring     *index.CycleError
		cut      *checkpoint.ToolCutError
		held     *writelock.HeldError
		several  *AmbiguousError
		unknown  *UnknownError
		pathErr  *fs.PathError
		explain  = func(code Code, hint string) *Error { return &Error{Code: code, Message: err.Error(), Hint: hint, Err: err} }
		isEscape = errors.As(err, &pathErr) && strings.Contains(pathErr.Err.Error(), "escapes")
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &several):
		return explain(Ambiguous, "use more of the id")
	case errors.As(err, &unknown):
		return explain(Usage, unknownHint(unknown))
	case errors.As(err, &damage):
		return explain(Damaged, "'bough doctor' lists everything that is wrong; the other sessions can be used")
	case errors.As(err, &missing):
		return explain(Damaged, "bring the file back; reading and branching take what is there with --partial")
	case errors.As(err, &ring):
		return explain(Damaged, "'bough doctor' lists everything that is wrong; the other sessions can be used")
	case errors.As(err, &cut):
		return explain(ToolCut, cutHint(cut))
	case errors.As(err, &held):
		return explain(Locked, "try again when it is done")
	case isChanged(err):
		return explain(Busy, "nothing was changed here, and what the other program wrote is untouched; try again")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Failed, Message: "stopped; nothing was changed", Err: err}
	case isEscape:
		return explain(Refused, "a link leads out of the workspace; bough does not follow it")
	case errors.Is(err, fs.ErrPermission):
		return explain(Refused, "check who owns the file and its permissions")
	}
	return explain(Failed, "")
}

// explained returns err as an *[Error], nil for nil.
func explained(err error) error {
	if e := Explain(err); e != nil {
		return e
	}
	return nil
}

func cutHint(cut *checkpoint.ToolCutError) string {
	switch {
	case cut.Before == "" && cut.After == "":
		return "no place before or after it leaves the call whole"
	case cut.Before == "":
		return fmt.Sprintf("the nearest whole place is %s, after it", cut.After)
	case cut.After == "":
		return fmt.Sprintf("the nearest whole place is %s, before it", cut.Before)
	}
	return fmt.Sprintf("the nearest whole places are %s before it and %s after it", cut.Before, cut.After)
}

// An UnknownError reports a word that is none of those that may be used.
type UnknownError struct {
	What    string // the word is to name: "role", "kind", …
	Word    string // as it was given
	Choices []string
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown %s %q", e.What, e.Word) }

func unknownHint(e *UnknownError) string { return e.What + "s: " + strings.Join(e.Choices, ", ") }

// checkWord returns an UnknownError unless word is one of choices.
func checkWord(what, word string, choices ...string) error {
	if slices.Contains(choices, word) {
		return nil
	}
	return &UnknownError{What: what, Word: word, Choices: choices}
}

func notFound(what, name string) *Error {
	return &Error{Code: NotFound, Message: fmt.Sprintf("no %s %q", what, name), Hint: "'bough ls' lists the sessions, 'bough search WORDS' and 'bough choose' find one"}
}
