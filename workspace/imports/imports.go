// Package imports has the options and results of importing transcripts: one row for each
// conversation.
package imports

import (
	"io"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// Options are the choices for an import.
type Options struct {
	// Format is the format of all files. Nil means that the content of each file decides.
	Format *convert.Format
	// Holds reports whether to read a file of a folder, by its slash-separated path
	// in the folder. Nil means every file.
	Holds func(within string) bool
	// Name returns how a file is called in messages and in the workspace, by its path. Nil
	// means its absolute path.
	Name func(path string) string
	// Stdin is the content of the path -.
	Stdin io.Reader
	// Skip keeps out files whose path, and conversations whose folder, matches one of
	// these patterns, beside those of the workspace's configuration: see [Config].
	Skip []string
	// Again imports conversations that were removed, or whose import was undone.
	Again bool
	// Live is for histories that are imported while their program writes them: the
	// operations are automatic, so undo passes over them, and new messages go into the
	// line's newest file, so that no large file is rewritten for a line of a transcript.
	Live bool
	// DryRun reports without changing anything.
	DryRun bool
	// Each is called with each conversation as soon as it is stored. Nil means no call.
	Each func(Transcript)
}

// A Status is the result for a conversation.
type Status string

// The statuses of conversations that were to be imported.
const (
	New       Status = "new"
	Updated   Status = "updated"   // it was there, and has changed
	Unchanged Status = "unchanged" // all of it was there
	Skipped   Status = "skipped"   // it is not a conversation, or is to stay out
	Failed    Status = "failed"
)

// A Transcript is one conversation of a file, or a file without any.
type Transcript struct {
	Path     string     `json:"path"`       // of the file; of one in an archive, the archive's and its own
	Format   string     `json:"format"`     // the name of the format, "" if it has none
	Session  session.ID `json:"session_id"` // where it is now, none if it is nowhere
	Messages int        `json:"messages"`   // that its transcript has
	Branches int        `json:"branches"`   // how many ends it has
	Orphans  int        `json:"orphans"`    // messages that name a parent that it does not have
	Status   Status     `json:"status"`

	Title    string   `json:"title"`              // "" if it has none
	Added    int      `json:"added"`              // messages that were not there before
	Replaced int      `json:"replaced,omitempty"` // open messages that were completed
	Detail   string   `json:"detail,omitempty"`   // why it was skipped, or failed
	Problems []string `json:"problems"`           // the parts that could not be read
	Notes    []string `json:"notes"`              // other remarks for the user
	Named    bool     `json:"-"`                  // the file was named, and not found in a folder or an archive
	Removed  bool     `json:"-"`                  // it was skipped because it was removed before
}

// Report are the conversations of an import.
type Report struct {
	Imported []Transcript `json:"imported"` // in the order in which they were stored
}

// A Source is a set of paths whose files are read in the same way: those where one
// program keeps its conversations. The other fields are those of [Options].
type Source struct {
	Paths  []string
	Format *convert.Format
	Holds  func(within string) bool
	Name   func(path string) string
}

// Results whose contract differs from encoding/json's output: times have six digits and +00:00,
// and a nil list is []. A type that embeds one of them has a method of its own, else it would
// have that of the embedded one.

// MarshalJSON implements [json.Marshaler].
func (r Transcript) MarshalJSON() ([]byte, error) { return rawjson.Answer(r), nil }
