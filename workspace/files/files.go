// Package files has the results of the verbs on the files that go with conversations. A
// folder is a directory of the machine; a state is what it held at a moment. The package
// itself accesses no files.
//
// A path in a state has slashes between its names. In JSON a path that is not valid UTF-8 has
// U+FFFD, and its bytes are in a member beside it.
package files

import (
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// Now, in place of the name of a state, selects the current content of the folder.
const Now = "now"

// A State is what a folder held at a moment.
type State struct {
	ID       string     `json:"id"`
	Dir      string     `json:"dir"`               // path of the folder when it was last used
	Machine  string     `json:"machine,omitempty"` // name of the machine that has the folder; "" if it is this one
	Time     time.Time  `json:"time"`
	Session  session.ID `json:"session_id"` // null if it belongs to no message
	Message  session.ID `json:"message_id"`
	At       string     `json:"at"`        // why it was taken: prompt, end, checkpoint, restore or manual
	Files    int        `json:"files"`     // number of files and symbolic links
	Bytes    int64      `json:"bytes"`     // their size
	NewBytes int64      `json:"new_bytes"` // how many bytes the store grew by
	Git      *Git       `json:"git"`       // nil if the folder was in no repository
	Exact    bool       `json:"exact"`     // false if it was taken for an earlier message than the one asked for
	Late     bool       `json:"late"`      // see [SnapOptions.Late]
	Left     []Left     `json:"left"`      // what it does not hold, sorted by path

	// PruneDue reports whether a prune of the states has something to do; see
	// [SnapOptions.KeepOld].
	PruneDue bool `json:"-"`
}

// MarshalJSON implements [json.Marshaler].
func (s State) MarshalJSON() ([]byte, error) { return rawjson.Answer(s), nil }

// Git is what a repository of git had checked out.
type Git struct {
	Head   string `json:"head"`   // the commit, "" if unknown
	Branch string `json:"branch"` // "" if there was none
}

// A Left is a path that a state does not hold, and why.
type Left struct {
	Path    string `json:"path"`
	RawPath []byte `json:"path_bytes,omitempty"` // see [Raw]
	Why     string `json:"why"`                  // large, folder_large, secret, ignored_tracked, unreadable, locked, special or unsettled
	Files   int    `json:"files"`                // number of files, 0 if unknown
	Bytes   int64  `json:"bytes"`                // their size, 0 if unknown
}

// Raw returns the bytes of a path that is not valid UTF-8, else nil. JSON has them in base64.
func Raw(path string) []byte {
	if utf8.ValidString(path) {
		return nil
	}
	return []byte(path)
}

// A List lists states, oldest first.
type List struct {
	States []State `json:"states"`
}

// A Mark is a message with a state that belongs to it.
type Mark struct {
	Message session.ID `json:"message_id"`
	State   State      `json:"state"`
}

// A Coverage is what a state of a folder would hold now.
type Coverage struct {
	Folder string `json:"folder"` // its path
	Files  int    `json:"files"`  // number of files and symbolic links
	Bytes  int64  `json:"bytes"`  // their size
	Left   []Left `json:"left"`   // what it would not hold
	State  *State `json:"state"`  // the newest state of the folder, nil if there is none
	Store  Store  `json:"store"`
}

// A Store is the states of a workspace, of all its folders.
type Store struct {
	States int   `json:"states"`
	Bytes  int64 `json:"bytes"` // their size on the disk
}

// SnapOptions are the choices for a new state.
type SnapOptions struct {
	Secrets bool   // hold files with secrets too, such as .env
	At      string // why it is taken: prompt, end, checkpoint or manual; empty means manual
	Late    bool   // the assistant had already continued, so it may have changed files before the scan ended

	// Within takes a state of the innermost folder with states that contains this folder, if this
	// folder has no states itself.
	Within bool

	// NoMessage is true if the state belongs to no message, also if there is a head.
	NoMessage bool

	// KeepOld keeps Snap from removing old states if all take more than the limit, and from merging
	// packs. [State.PruneDue] says then whether the caller should prune the states later.
	KeepOld bool

	// Prompt is the id that Claude Code gave to a prompt. The state belongs to the message that
	// has it in its transcript, as soon as that is imported; the message at the REF is only the
	// newest one at that moment.
	Prompt string

	// Temporary says that the folder will be removed: it is not recognized later.
	Temporary bool
}

// DiffOptions are the choices for a comparison.
type DiffOptions struct {
	Paths []string // only these paths and what is below them; empty means all
	Patch bool     // set [Change.Patch]
}

// A Diff is the difference of two states.
type Diff struct {
	From    *State   `json:"from"`
	To      *State   `json:"to"` // nil if it is what the folder holds now
	Changes []Change `json:"changes"`
}

// A Change is the difference of two states at a path. If a directory is added, deleted or replaced
// by something else, each path in it is a change too.
type Change struct {
	Path    string   `json:"path"`
	RawPath []byte   `json:"path_bytes,omitempty"` // see [Raw]
	Kind    string   `json:"change"`               // added, changed, deleted, mode or type
	From    *Version `json:"from"`                 // nil if there was nothing
	To      *Version `json:"to"`                   // nil if there is nothing
	Patch   string   `json:"patch,omitempty"`
	// Unshown says why there is no patch of a file that differs: binary, large or forgotten.
	Unshown string `json:"unshown,omitempty"`
}

// A Version is what a state holds at a path.
type Version struct {
	Type   string `json:"type"` // file, link or folder
	Mode   string `json:"mode"` // permission bits, octal
	Size   int64  `json:"size"` // in bytes; 0 of a folder
	SHA256 string `json:"sha256"`
}

// An Entry is what a state holds at a path.
type Entry struct {
	State State  `json:"state"`
	Path  string `json:"path"` // "." is the folder itself
	Version
	Target  string `json:"target,omitempty"`  // of a link
	Content []byte `json:"content,omitempty"` // of a file; in JSON base64
	Entries []Name `json:"entries,omitempty"` // of a folder, sorted
}

// A Name is what a folder in a state holds under a name.
type Name struct {
	Name    string `json:"name"`
	RawName []byte `json:"name_bytes,omitempty"` // see [Raw]
	Version
}

// An Export is a copy of a state in a folder of its own.
type Export struct {
	State   State    `json:"state"`
	Dir     string   `json:"dir"` // absolute path
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Missing []string `json:"missing"` // files whose content was deleted permanently
	Commit  string   `json:"commit"`  // its id, "" without [ExportOptions.Git]
}

// ExportOptions are the choices for an export.
type ExportOptions struct {
	// Git makes the folder a new repository of git with one commit, which has the bytes of the
	// files. The folder must be in no other repository.
	Git bool
}

// A Checkout is a folder of its own with the files of a state, to work in.
type Checkout struct {
	State State  `json:"state"`
	Dir   string `json:"dir"`  // absolute path of the files
	Root  string `json:"root"` // what was made: dir or, of a folder in a repository, a folder above it
	// Git is what the folder has checked out, if it is a clone of the repository of the
	// state's folder; else nil.
	Git *Git `json:"git"`
	// From is the folder of this machine that was used in place of the state's folder, if the state
	// is of another machine: the folder that was named, or that is mapped to its project; "" if
	// there is none.
	From string `json:"from,omitempty"`
	// Why is why it is not a clone, or why its commit is not the commit of the state, for a person.
	Why     string   `json:"why"`
	Files   int      `json:"files"` // of the state
	Bytes   int64    `json:"bytes"`
	Missing []string `json:"missing"` // files whose content was deleted permanently
	Left    []Left   `json:"left"`    // what the state does not hold and was not copied
}

// ForgetOptions are the choices for a permanent deletion.
type ForgetOptions struct {
	DryRun bool // change nothing
}

// A Forgotten says which content was deleted permanently, or would be.
type Forgotten struct {
	Folder  string   `json:"folder"` // its path
	Path    string   `json:"path"`
	States  int      `json:"states"`  // number of states that have a file at the path
	Objects []string `json:"objects"` // SHA-256 of the contents
	DryRun  bool     `json:"dry_run"`
}

// A Pruned is a state that a prune removed, or would remove.
type Pruned struct {
	ID     string    `json:"id"`
	Dir    string    `json:"dir"` // path of the folder when it was last used
	Time   time.Time `json:"time"`
	At     string    `json:"at"`     // see [State]
	Reason string    `json:"reason"` // in words
}
