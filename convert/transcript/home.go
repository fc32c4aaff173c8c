package transcript

// A Machine describes where programs keep their files.
type Machine struct {
	Home string                   // the user's home folder, absolute
	Dir  string                   // the current folder, absolute
	Env  func(name string) string // returns an environment variable

	// Read reads a file, such as a list of folders that a program keeps.
	Read func(path string) ([]byte, error)
}

// A Home describes where a program keeps its transcripts, and how it resumes one.
type Home struct {
	// Roots returns the folders with transcripts, absolute. They need not exist. If Roots
	// is nil, the program keeps no files.
	Roots func(m Machine) []string
	// Holds reports whether a file may be a transcript. path is slash-separated, relative
	// to one of the roots.
	Holds func(path string) bool
	// Target returns the path of a new transcript, absolute; "" if the program imports it
	// from any path.
	Target func(m Machine, t *Transcript, o Options) string
	// Resume returns the command that resumes the transcript, to be run in the folder of
	// the conversation. before is a command to be run first, nil for none. If Resume is
	// nil, the program cannot resume a transcript.
	Resume func(path string, t *Transcript, o Options) (before, run []string)
}
