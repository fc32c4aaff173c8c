// Package imports has the options and results of importing conversations of
// other programs.
package imports

import (
	"errors"
	"io"
	"slices"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// Options are the choices for an import.
type Options struct {
	// Format is the format of all files. If nil, it is detected for each file.
	Format *convert.Format
	// Holds reports whether to read a file of a folder, given its slash-separated
	// path in the folder. If nil, every file is read.
	Holds func(within string) bool
	// Name returns the display name of a file, given its path; it is also stored. If
	// nil, the absolute path is used.
	Name func(path string) string
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Skip lists patterns of files and of conversations' folders to skip, in
	// addition to those in the settings of the workspace. See CheckSkip of package
	// workspace.
	Skip []string
	// Again also imports conversations that were removed, or whose import was
	// undone.
	Again bool
	// Live imports histories while their program writes them. Its operations are
	// automatic, so undo passes over them. New messages are added to the line's
	// newest file, so that large files need not be rewritten.
	Live bool
	// Limit is the maximum number of bytes to read of each file: the size that the file
	// had at a moment, while its program appends to it. Zero means no limit.
	Limit int64
	// MaxWhole is the maximum number of bytes of a file that is read as a whole. An import
	// that needs a larger one fails with [ErrLarge], without reading it; one that is imported
	// again and again needs only the new part, and an unchanged one nothing. Zero means no
	// limit.
	MaxWhole int64
	// DryRun reports without changing anything.
	DryRun bool
	// Each is called for each conversation as soon as it is stored. If nil, it is
	// not called.
	Each func(Transcript)
}

// ErrLarge is the error for a file that is larger than [Options.MaxWhole].
var ErrLarge = errors.New("the file is too large to be read as a whole")

// A Status is the result for a conversation.
type Status string

// The results for a conversation.
const (
	New       Status = "new"
	Updated   Status = "updated"   // it existed and was changed
	Unchanged Status = "unchanged" // it existed with all messages
	Skipped   Status = "skipped"   // the file has no conversation, or it is excluded
	Failed    Status = "failed"
)

// A Transcript is the result for one conversation, or for a file without
// conversations.
type Transcript struct {
	Path     string     `json:"path"`       // of the file; in an archive, the archive's path and the file's
	Format   string     `json:"format"`     // name of the format, "" if unknown
	Session  session.ID `json:"session_id"` // its session, null if there is none
	Messages int        `json:"messages"`   // in the transcript
	Branches int        `json:"branches"`   // number of leaves
	Orphans  int        `json:"orphans"`    // messages whose parent is missing in the transcript
	Status   Status     `json:"status"`

	Title    string   `json:"title"`              // "" if it has none
	Added    int      `json:"added"`              // messages that were new
	Replaced int      `json:"replaced,omitempty"` // open messages that were completed
	Detail   string   `json:"detail,omitempty"`   // why it was skipped or failed
	Problems []string `json:"problems"`           // parts that could not be read
	Notes    []string `json:"notes"`              // other remarks
	BegunBy  string   `json:"begun_by,omitempty"` // of a sub-agent's conversation: the id in its program of the one that began it
	Named    bool     `json:"-"`                  // the file was named, not found in a folder or archive
	Removed  bool     `json:"-"`                  // it was skipped because it was removed before
	// Tip is the message of the session at which the transcript ends: its current leaf, else
	// its last message. It is "" if no session has the conversation, or if it is unknown.
	Tip session.ID `json:"-"`
}

// A Report lists the results of an import.
type Report struct {
	Imported []Transcript `json:"imported"` // in the order in which they were stored
	// Unlinked is how many of the sub-agents' conversations that are new or updated were begun
	// by a conversation that the workspace does not have.
	Unlinked int `json:"unlinked,omitempty"`
}

// A Source is a set of paths to be read with the same options, such as the
// folder in which a program keeps its conversations. See [Options] for its
// fields.
type Source struct {
	Paths  []string
	Format *convert.Format
	Holds  func(within string) bool
	Name   func(path string) string

	// Found reports that the paths are files that were found in the folder of a
	// program: they are treated as if the folder were the path, and those that are
	// gone are skipped.
	Found bool
}

// Disjoint returns sources without the paths that an earlier source of the same format has: a program and one
// with its format may have a folder in common. Each source must have a format.
func Disjoint(sources []Source) (list []Source) {
	for _, source := range sources {
		var paths []string
		for _, path := range source.Paths {
			if !slices.ContainsFunc(list, func(s Source) bool { return s.Format.Name == source.Format.Name && slices.Contains(s.Paths, path) }) {
				paths = append(paths, path)
			}
		}
		if source.Paths = paths; len(paths) > 0 {
			list = append(list, source)
		}
	}
	return list
}

// The methods below replace the output of encoding/json: times have six digits
// and +00:00, and a nil list is []. A type that embeds one of these types needs
// a method of its own.

// MarshalJSON implements [json.Marshaler].
func (r Transcript) MarshalJSON() ([]byte, error) { return rawjson.Answer(r), nil }
