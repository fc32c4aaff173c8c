package mirror

import (
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/workspace/project"
)

// Files are states of folders, and their folders.
type Files struct {
	Folders []Folder
	States  []State // in the order in which they were taken

	// Sessions has the ids of the sessions of the workspace, except automatic checkpoints.
	Sessions map[string]bool

	Forgotten []string // SHA-256 of contents that were deleted permanently on other machines, which may be missing
}

// A Folder is a directory of a machine whose states a workspace has.
type Folder struct {
	ID      string
	Path    string // absolute, on its machine
	Machine string // name of the machine, "" if it is the one with the workspace
	Project *project.Project
}

// A State is what a folder held at a moment, without its content.
type State struct {
	ID       string
	Folder   string
	Sessions []string          // to whose messages it belongs
	Record   json.RawMessage   // as in docs/format.md 26.3
	Links    []json.RawMessage // as in 26.11, without folder and state
}

// An Object is the SHA-256 of a file, of the target of a link, or of a directory.
type Object [32]byte

// A Pack is objects, as in docs/format.md 26.6.
type Pack struct {
	io.ReaderAt
	Size int64
}

// A FilesTaken is the result of receiving states.
type FilesTaken struct {
	States []string // ids of those that are new
	Left   []Left
}
