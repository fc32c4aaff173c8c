package transcript

import (
	"encoding/json"
	"io/fs"
)

// A Machine describes where programs keep their files.
type Machine struct {
	Home string                   // the user's home folder, an absolute path
	Dir  string                   // the current folder, an absolute path
	Env  func(name string) string // returns the value of an environment variable
	OS   string                   // the operating system, as in runtime.GOOS

	// Read reads a file, such as a list of folders that a program keeps.
	Read func(path string) ([]byte, error)
	// Names returns the names in a folder, the one that changed last first; nil if it cannot
	// be read.
	Names func(dir string) []string
	// Stat describes a file or folder, as os.Stat does.
	Stat func(path string) (fs.FileInfo, error)
}

// A Register describes a program that shows a transcript only if its database lists it.
type Register struct {
	// List returns the list for the transcript at path.
	List func(path string) List
	// Entry returns the entry for a written transcript, a JSON object. It is the member of
	// the list with the name [Options.ID].
	Entry func(t *Transcript, o Options) json.RawMessage
	// Find returns the paths at which a written transcript can be, given [Options.ID]: one for
	// each database.
	Find func(m Machine, id string) []string
	// Continued reports whether the program continued the transcript at path: then it has more
	// than that file.
	Continued func(m Machine, path string) bool
}

// A List is a JSON object in an SQLite database, in the column value of a row of the table
// ItemTable. Its entries are the members of its member entries.
type List struct {
	Database string // absolute path
	Key      string // of the row
	Lock     string // path of a file with the process id of the program, which exists while it runs
	Program  string // for messages, for example VS Code
}

// A Home describes where a program keeps its transcripts, and how it resumes one.
type Home struct {
	// Roots returns the absolute paths of the folders with transcripts, which need
	// not exist. If Roots is nil, the program keeps no files.
	Roots func(m Machine) []string
	// Holds reports whether a file may be a transcript. path is slash-separated, relative
	// to one of the roots.
	Holds func(path string) bool
	// Unread describes conversations of the program on a machine that bough cannot read, and
	// what makes them readable; "" if there are none. If Unread is nil, none are known.
	Unread func(m Machine) string
	// Dir returns the working folder of the conversations in a file, from another file of the
	// program, which it reads with read; "" if that does not state it. If Dir is nil, only
	// the transcript has the folder.
	Dir func(file string, read func(path string) ([]byte, error)) string
	// Identify returns the id of the conversation in a file, and that of the conversation
	// whose assistant began it, from the slash-separated path of the file, "" for each
	// that this does not state. If Identify is nil, only the transcript has the ids.
	Identify func(file string) (id, begunBy string)
	// InDatabase returns the id by which a database of the program has the conversation in a
	// file, or the one that began it, from the slash-separated path of the file; "" if none has
	// it. If InDatabase is nil, no conversation is in a file and in a database.
	InDatabase func(file string) (id string)
	// Target returns the absolute path for a new transcript, "" if the program
	// imports it from any path.
	Target func(m Machine, t *Transcript, o Options) string
	// Beside returns another file that the program needs beside the transcript at path. If
	// Beside is nil, it needs none.
	Beside func(path string, t *Transcript, o Options) (beside string, data []byte)
	// Resume returns the command that resumes the transcript at path, to be run in the
	// folder of the conversation. before is a command to be run first, nil for none.
	// If Resume is nil, the program cannot resume a transcript.
	Resume func(m Machine, path string, t *Transcript, o Options) (before, run []string)
	// Register is nil if the program finds its files by itself. Otherwise Target returns "" if
	// the program does not know the folder of the conversation.
	Register *Register
}
