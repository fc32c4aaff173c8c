// Package origin has the results of the verbs that look for where something came from: which
// turn of which conversation wrote a line, changed a path, or broke what a command checks. The
// package itself accesses no files.
package origin

import (
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/files"
)

// A Turn is a message of the user with what follows it, up to the next message of the user.
type Turn struct {
	Session session.ID `json:"session_id"` // null if the conversation is not in the workspace
	Title   string     `json:"title"`      // of the session
	Prompt  session.ID `json:"prompt_id"`  // the message of the user, null if there is none
	// Message is the message that did it: the one with the call of a tool, else the last of the
	// turn; null if it is unknown.
	Message session.ID `json:"message_id"`
	Text    string     `json:"text"` // the first words of the prompt
	Time    *time.Time `json:"time"` // of Message, else of the state
}

// What wrote a line or changed a path.
const (
	ByTurn    = "turn"    // a turn of a conversation
	ByYou     = "you"     // no conversation: it changed between turns
	ByRestore = "restore" // a restore of files, which merged
	ByOlder   = "older"   // it is older than the first state
	ByUnknown = "unknown" // no call of a tool has it: you wrote it, or a command did
)

// How the origin of lines and changes is known.
const (
	FromStates = "states" // from states of the folder
	FromCalls  = "calls"  // from the arguments of tools in conversations
)

// A Blame says for each line of a file what wrote it.
type Blame struct {
	Dir   string       `json:"dir"`   // the folder
	Path  string       `json:"path"`  // of the file in it
	From  string       `json:"from"`  // states or calls
	State *files.State `json:"state"` // whose file it is; null for the file as it is now
	Turns []Turn       `json:"turns"` // those that wrote lines, newest first
	Lines []Line       `json:"lines"`
}

// A Line is a line of a file.
type Line struct {
	Number int    `json:"line"` // from 1
	Text   string `json:"text"` // without its line break
	By     string `json:"by"`   // turn, you, restore, older or unknown
	Turn   *int   `json:"turn"` // index in [Blame.Turns]; null unless By is turn
	// Sure is false if others may have written it: several turns ran at the same time, or the turn
	// was stopped, so that nothing says when it ended.
	Sure  bool       `json:"sure"`
	Time  *time.Time `json:"time"`     // of the turn, else of the first state with the line; null if unknown
	Path  string     `json:"path"`     // of the file when the line was written
	State session.ID `json:"state_id"` // the first state with the line, null if there is none
}

// BlameOptions are the choices for a blame.
type BlameOptions struct {
	State       string // whose file is meant: a state as [files] names it; empty for the file as it is now
	First, Last int    // only these lines, from 1; zero means the first and the last
}

// A Log lists what changed a path, newest first.
type Log struct {
	Dir     string   `json:"dir"`
	Path    string   `json:"path"`
	From    string   `json:"from"` // states or calls
	Changes []Change `json:"changes"`
	Total   int      `json:"total"` // number of changes without the limit
}

// A Change is what a turn, or something else, changed at a path.
type Change struct {
	By   string     `json:"by"`   // turn, you, restore or older
	Turn *Turn      `json:"turn"` // null unless By is turn
	Sure bool       `json:"sure"` // see [Line.Sure]
	Time *time.Time `json:"time"` // see [Line.Time]
	// OldState and NewState are the states before and after it, null without states.
	OldState session.ID   `json:"old_state_id"`
	NewState session.ID   `json:"new_state_id"`
	Added    int          `json:"added"`   // number of lines
	Removed  int          `json:"removed"` // number of lines
	Files    []FileChange `json:"files"`
}

// A FileChange is a change of one file.
type FileChange struct {
	Path    string `json:"path"`
	RawPath []byte `json:"path_bytes,omitempty"` // see [files.Raw]
	Kind    string `json:"change"`               // as in [files.Change], or renamed
	OldPath string `json:"old_path"`             // of a renamed file, else ""
	Added   int    `json:"added"`                // number of lines, 0 of a file that is not text
	Removed int    `json:"removed"`              // number of lines
	Patch   string `json:"patch,omitempty"`
	Unshown string `json:"unshown,omitempty"` // see [files.Change]
}

// LogOptions are the choices for a log.
type LogOptions struct {
	Session string // only turns of this conversation; empty for all
	Limit   int    // the maximum number of changes, newest first; zero means all
	Patch   bool   // set [FileChange.Patch]
}
