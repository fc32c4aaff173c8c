package convert

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Formats are all formats, in the order in which a file is held against them.
var Formats = []*Format{
	&penguin,
	&pi,
	&claudeCode,
	&codex,
	&gemini,
	&opencode,
	&chatGPT,
	&claudeAI,
	&openAssistant,
	&anthropicAPI,
	&openAI,
	&markdown,
}

// Named returns the format of a name or an alias. The error lists all names.
func Named(name string) (*Format, error) {
	names := make([]string, len(Formats))
	for i, f := range Formats {
		if f.IsNamed(name) {
			return f, nil
		}
		names[i] = f.Name
	}
	return nil, fmt.Errorf("the format %q is none of %s", name, strings.Join(names, ", "))
}

// HeadSize is how much of a file [Detect] wants to see, in bytes.
const HeadSize = 256 << 10

// Detect returns the format of a file that begins with head, nil if it is none. It goes
// by what stands there, never by a name.
func Detect(head []byte) *Format {
	for _, f := range Formats {
		if f.detect != nil && f.detect(trimBOM(head)) {
			return f
		}
	}
	return nil
}

// Read reads the conversations of a file and gives them to a sink, one after the other.
// A message has another id than its transcript gives it if an earlier one has that
// already; one that is there twice is read once. Parents never form a ring.
//
// What is wrong with a part of the file is a [Problem]. The error is [ErrNothing] if it
// holds no conversation at all.
func (f *Format) Read(in io.Reader, to Sink) error {
	c := &checked{to: to}
	if err := f.read(in, c); err != nil {
		return err
	}
	if c.ended == 0 {
		return ErrNothing
	}
	return nil
}

// ErrNothing is the error for a file without a conversation.
var ErrNothing = errors.New("there is no conversation in it")

// Write writes a conversation, and returns what the format has no place for. Where a
// message, or the conversation, has records of this format, they are written as they
// are, but for ids and links.
func (f *Format) Write(w io.Writer, t *Transcript, o Options) ([]Loss, error) {
	var lost losses
	if !f.Sessions {
		t = t.linked()
	}
	err := f.write(w, t, o, &lost)
	return lost.list, err
}

// IsNamed reports whether name is the name of f or one of its aliases, in any case.
func (f *Format) IsNamed(name string) bool {
	return strings.EqualFold(f.Name, name) || slices.ContainsFunc(f.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}

// NewPage returns a format that conversations are only written in, with all branches, by
// a writer of another package.
func NewPage(name, about, ext string, write func(io.Writer, *Transcript) error) *Format {
	return &Format{
		Name: name, About: about, Ext: ext, Branches: true,
		write: func(w io.Writer, t *Transcript, _ Options, _ *losses) error { return write(w, t) },
	}
}
