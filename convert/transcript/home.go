package transcript

// A Machine is what the place of a program's files depends on.
type Machine struct {
	Home string                   // the user's folder, absolute
	Dir  string                   // where the user is, absolute
	Env  func(name string) string // environment variables

	// Read reads a file, such as a list of folders that a program keeps.
	Read func(path string) ([]byte, error)
}

// A Home is where a program keeps its transcripts, and how it is told to go on with one.
type Home struct {
	// roots are the folders with transcripts, absolute. Not all need be there.
	Roots func(m Machine) []string
	// holds reports whether a file in one of them, by its slash-separated path from
	// there, may be a transcript.
	Holds func(path string) bool
	// target is where a new transcript goes, absolute; "" means that the program keeps no
	// files, and reads one once.
	Target func(m Machine, t *Transcript, o Options) string
	// resume is the command that goes on with it: a program and its arguments, to be
	// run in the folder of the conversation. before is a command to be run first, nil for
	// none.
	Resume func(path string, t *Transcript, o Options) (before, run []string)
}
