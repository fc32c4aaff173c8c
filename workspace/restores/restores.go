// Package restores has the options and the results of restoring the files of a folder from a state,
// see [files.State]. The package itself accesses no files.
package restores

import (
	"fmt"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace/files"
)

// Options are the choices for restoring files. The zero value changes only paths
// that the conversation changed, and refuses conflicts.
type Options struct {
	DryRun bool // change nothing, and take no state
	// Whole makes the folder what the state is, also where others changed it. There are no
	// conflicts then.
	Whole bool
	// Conflicts says what happens to a path that the conversation and others changed:
	// [Refuse], [Keep], [Take] or [Merge].
	Conflicts string
	Only      []string // only these paths and what is below them; empty means all
}

// The values of [Options.Conflicts].
const (
	Refuse = ""      // nothing changes at all
	Keep   = "keep"  // the path stays as it is
	Take   = "take"  // the path becomes what the state has
	Merge  = "merge" // the lines that the conversation changed are reverted; a path that cannot be merged is refused
)

// A Restore is the result of restoring files or, in a dry run, what it would be. Its lists are sorted by path.
type Restore struct {
	Dir string `json:"dir"` // path of the folder
	// Mapped is the folder of another machine that the state is of, as MACHINE:PATH, if Dir was not named,
	// but is mapped to its project on this machine.
	Mapped    string     `json:"mapped,omitempty"`
	Before    string     `json:"before"` // id of the state just before, "" in a dry run
	To        string     `json:"to"`     // id of the state that the files came from
	Exact     bool       `json:"exact"`  // false if that was taken for an earlier message than the one asked for
	Written   []string   `json:"written"`
	Deleted   []string   `json:"deleted"`
	RawPaths  [][]byte   `json:"path_bytes,omitempty"` // those of Written and Deleted that are not valid UTF-8
	Kept      []Kept     `json:"kept"`
	Conflicts []Conflict `json:"conflicts"` // in a dry run that would be refused, else empty
	// Late reports that the assistant had already continued when the state was taken, and may have
	// changed files before.
	Late bool `json:"late,omitempty"`
	// Differs is true if nothing changes although the folder is not as the state: the conversation
	// did not change what differs. [Options.Whole] takes all of the state.
	Differs bool `json:"differs,omitempty"`
	// Orphan reports that the conversation of the state no longer exists. Its later changes are
	// then unknown, and nothing changes unless [Options.Whole] is set.
	Orphan bool `json:"orphan,omitempty"`
}

// A Kept is a path that differs from the state and stays as it is.
type Kept struct {
	Path    string `json:"path"`
	RawPath []byte `json:"path_bytes,omitempty"` // see [files.Raw]
	// Why is yours, conflict, ignored, forgotten, not_empty, blocked, changed, locked, denied or
	// damaged, or a reason of [files.Left].
	Why string `json:"why"`
	// As is where the content is now, if another program wrote it during the restore and it
	// could not get its name back.
	As string `json:"as,omitempty"`
}

// A Conflict is a path that the conversation changed and that the user or another conversation
// changed too, or may have changed. A version is nil if there is nothing.
type Conflict struct {
	Path    string         `json:"path"`
	RawPath []byte         `json:"path_bytes,omitempty"` // see [files.Raw]
	Base    *files.Version `json:"base"`                 // as the conversation left it
	Yours   *files.Version `json:"yours"`                // in the folder
	Theirs  *files.Version `json:"theirs"`               // in the state
	Why     string         `json:"why"`                  // [ByUser], [ByOther] or [NoEnd]
}

// The values of [Conflict.Why].
const (
	ByUser  = "yours"              // the user changed it too
	ByOther = "other_conversation" // another conversation changed it too
	NoEnd   = "no_end"             // it changed in a turn without an end or after it, by the turn or the user
)

// A ConflictError reports that files were not restored because of conflicts.
type ConflictError struct {
	Dir       string // path of the folder
	Conflicts []Conflict
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s in %s; nothing was changed", plural.Of(len(e.Conflicts), "conflict"), e.Dir)
}
