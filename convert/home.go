package convert

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
)

// A Machine is what the place of a program's files depends on.
type Machine struct {
	Home string                   // the user's folder, absolute
	Dir  string                   // where the user is, absolute
	Env  func(name string) string // environment variables

	// Read reads a file, such as a list of folders that a program keeps.
	Read func(path string) ([]byte, error)
}

// A home is where a program keeps its transcripts, and how it is told to go on with one.
type home struct {
	// roots are the folders with transcripts, absolute. Not all need be there.
	roots func(m Machine) []string
	// holds reports whether a file in one of them, by its slash-separated path from
	// there, may be a transcript.
	holds func(path string) bool
	// target is where a new transcript goes, absolute; "" means that the program keeps no
	// files, and reads one once.
	target func(m Machine, t *Transcript, o Options) string
	// resume is the command that goes on with it: a program and its arguments, to be
	// run in the folder of the conversation. before is a command to be run first, nil for
	// none.
	resume func(path string, t *Transcript, o Options) (before, run []string)
}

// Roots returns the folders where the program of the format keeps its transcripts on a
// machine, nil if it keeps none in files.
func (f *Format) Roots(m Machine) []string {
	if f.home == nil || f.home.roots == nil {
		return nil
	}
	return f.home.roots(m)
}

// Holds reports whether a file in one of the folders of [Format.Roots] may be a
// transcript, by its slash-separated path from there.
func (f *Format) Holds(path string) bool { return f.home.holds(path) }

// Resumes reports whether the program of the format can be told to go on with a
// transcript.
func (f *Format) Resumes() bool { return f.home != nil && f.home.resume != nil }

// Target returns where a transcript goes so that its program finds it, absolute; "" means
// that the program reads a file once, from anywhere.
func (f *Format) Target(m Machine, t *Transcript, o Options) string { return f.home.target(m, t, o) }

// Resume returns the command that goes on with the transcript at path, to be run in the
// folder of the conversation, and one that is to be run before it, nil for none.
func (f *Format) Resume(path string, t *Transcript, o Options) (before, run []string) {
	return f.home.resume(path, t, o)
}

// NewID returns an id for a conversation that is going to be written.
func (f *Format) NewID(now time.Time, random io.Reader) (string, error) {
	if f.newID != nil {
		return f.newID(now, random)
	}
	return newUUID(now, random)
}

// newUUID returns a UUID of version 7, which the programs that sort by id want, and none
// minds.
func newUUID(now time.Time, random io.Reader) (string, error) {
	var id uuid.UUID
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return "", fmt.Errorf("no random numbers: %w", err)
	}
	ms := uint64(now.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id.String(), nil
}

// dir returns the folder for a program that wants one: what the conversation is about, or
// the root.
func (t *Transcript) dir() string { return cmp.Or(t.Dir, "/") }

// providerOf returns who has a model, as far as its name tells, "" if it does not.
func providerOf(model string) string {
	for _, of := range []struct{ name, provider string }{
		{"claude", "anthropic"}, {"gemini", "google"}, {"gpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	} {
		if strings.HasPrefix(model, of.name) {
			return of.provider
		}
	}
	return ""
}
