package convert

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/google/uuid"
)

// A Format is a form in which some program keeps its conversations: one row of
// [Formats].
type Format struct {
	Name     string   // as users say it: claude-code
	Aliases  []string // other names that users type: claude
	About    string   // what it is, for a person
	Ext      string   // how the names of its files end: .jsonl
	Branches bool     // a file of it holds more than one path
	Sessions bool     // its files are session files: messages stand there as they are, beside what was logged

	// RecordID is the member of a record that is its id, where records which no message is
	// made of may be the parents of others. Empty means none.
	RecordID string

	detect func(head []byte) bool
	read   func(in io.Reader, to transcript.Sink) error
	write  func(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error
	home   *transcript.Home
	called func(id string) string                     // what a conversation is called that is written with an id, nil for that
	newID  func(time.Time, io.Reader) (string, error) // nil for a UUID
}

// Called returns what its program calls a conversation that is written with
// [transcript.Options.ID] id.
func (f *Format) Called(id string) string {
	if f.called == nil {
		return id
	}
	return f.called(id)
}

// Reads reports whether conversations can be read in this format.
func (f *Format) Reads() bool { return f.read != nil }

// Writes reports whether conversations can be written in this format.
func (f *Format) Writes() bool { return f.write != nil }

// Read reads the conversations of a file and gives them to a sink, one after the other.
// A message has another id than its transcript gives it if an earlier one has that
// already; one that is there twice is read once. Parents never form a ring.
//
// What is wrong with a part of the file is a [transcript.Problem]. The error is [ErrNothing] if it
// holds no conversation at all.
func (f *Format) Read(in io.Reader, to transcript.Sink) error {
	n, err := sink.Read(f.read, in, to)
	if err == nil && n == 0 {
		err = ErrNothing
	}
	return err
}

// ReadAll reads the conversations of a file that fits into memory.
func (f *Format) ReadAll(in io.Reader) ([]*transcript.Transcript, []transcript.Problem, error) {
	list, problems, err := sink.ReadAll(f.Name, f.read, in)
	if err == nil && len(list) == 0 {
		err = ErrNothing
	}
	return list, problems, err
}

// Write writes a conversation, and returns what the format has no place for. Where a
// message, or the conversation, has records of this format, they are written as they
// are, but for ids and links.
func (f *Format) Write(w io.Writer, t *transcript.Transcript, o transcript.Options) ([]transcript.Loss, error) {
	var r report.Report
	err := f.writeReport(w, t, o, &r)
	return r.Losses, err
}

func (f *Format) writeReport(w io.Writer, t *transcript.Transcript, o transcript.Options, r *report.Report) error {
	if !f.Sessions {
		t = tree.Linked(t)
	}
	return f.write(w, t, o, r)
}

// IsNamed reports whether name is the name of f or one of its aliases, in any case.
func (f *Format) IsNamed(name string) bool {
	return strings.EqualFold(f.Name, name) || slices.ContainsFunc(f.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}

// A Written is a conversation in a format, and how its messages are known again there.
type Written struct {
	Data []byte
	Lost []transcript.Loss // what the format has no place for

	// ID is what a reader of Data takes as the id of the conversation, "" if the format
	// has none.
	ID string
	// Same are the messages as a reader of Data finds them, in its order. Nil for a
	// format that is not read.
	Same []transcript.Same
}

// Export writes a conversation as [Format.Write] does, then reads what it wrote, so that
// the messages are known again when the transcript comes back, whatever ids its format
// gives them.
func (f *Format) Export(t *transcript.Transcript, o transcript.Options) (*Written, error) {
	var out bytes.Buffer
	r := report.Report{Trace: report.NewTrace()}
	err := f.writeReport(&out, t, o, &r)
	w := &Written{Data: out.Bytes(), Lost: r.Losses}
	if err != nil || !f.Reads() {
		return w, err
	}
	back := &report.ReadBack{}
	if err := f.Read(bytes.NewReader(w.Data), back); err != nil {
		return w, nil // it holds nothing that a reader takes for a conversation
	}
	w.ID, w.Same = back.ID, r.Trace.Match(t, back)
	return w, nil
}

// Roots returns the folders where the program of the format keeps its transcripts on a
// machine, nil if it keeps none in files.
func (f *Format) Roots(m transcript.Machine) []string {
	if f.home == nil || f.home.Roots == nil {
		return nil
	}
	return f.home.Roots(m)
}

// Holds reports whether a file in one of the folders of [Format.Roots] may be a
// transcript, by its slash-separated path from there.
func (f *Format) Holds(path string) bool { return f.home.Holds(path) }

// Resumes reports whether the program of the format can be told to go on with a
// transcript.
func (f *Format) Resumes() bool { return f.home != nil && f.home.Resume != nil }

// Target returns where a transcript goes so that its program finds it, absolute; "" means
// that the program reads a file once, from anywhere.
func (f *Format) Target(m transcript.Machine, t *transcript.Transcript, o transcript.Options) string {
	return f.home.Target(m, t, o)
}

// Resume returns the command that goes on with the transcript at path, to be run in the
// folder of the conversation, and one that is to be run before it, nil for none.
func (f *Format) Resume(path string, t *transcript.Transcript, o transcript.Options) (before, run []string) {
	return f.home.Resume(path, t, o)
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
