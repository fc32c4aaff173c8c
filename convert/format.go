package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/internal/gemini"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/google/uuid"
)

// A Format describes how a program stores conversations. Its methods are safe for
// concurrent use.
type Format struct {
	Name     string   // for example claude-code
	Aliases  []string // other names, for example claude
	About    string   // a description for the user
	Ext      string   // extension of its files, for example .jsonl
	Branches bool     // a file can have several branches
	Sessions bool     // its files are session files, so messages are copied byte for byte

	// Program is the name of the program in [Programs] whose folders and commands the format has. It is
	// empty in [Formats]: there, that is the program that the format is named after.
	Program string

	// RecordID is the member with the id of a record, in formats where a record
	// without a message can be the parent of another record. Empty means none.
	RecordID string

	detect func(head []byte) bool
	read   func(in io.Reader, to transcript.Sink) error
	tail   func(to transcript.Sink) sink.Tail // nil if a transcript is read as a whole
	write  func(w io.Writer, t *transcript.Transcript, o transcript.Options, lost *report.Report) error
	isIn   func(db *database.DB) bool // reports whether a database has conversations of the format
	// isEmpty reports whether a database that isIn does not recognize may be one of the program,
	// without a conversation. It may be nil.
	isEmpty func(db *database.DB) bool
	rows    func(db *database.DB, to transcript.Sink) error // nil if the program keeps no database
	home    *transcript.Home
	called  func(id string) string                     // maps Options.ID to the id in the file; nil means the same id
	newID   func(time.Time, io.Reader) (string, error) // nil means UUIDs
}

// Called returns the id of a conversation in its program, given
// [transcript.Options.ID].
func (f *Format) Called(id string) string {
	if f.called == nil {
		return id
	}
	return f.called(id)
}

// Reads reports whether the format can be read.
func (f *Format) Reads() bool { return f.read != nil || f.rows != nil }

// Writes reports whether the format can be written.
func (f *Format) Writes() bool { return f.write != nil }

// Read reads the conversations of a file and passes them to a sink, one after
// the other. A message whose id is used by an earlier one gets a new id; an
// identical copy of a message is skipped. Parents never form a cycle.
//
// A damaged part of the file is reported as a [transcript.Problem]. The error
// is [ErrNothing] if the file has no conversation.
//
// A database is copied to a temporary file. [OpenDatabase] is for one that a program may be
// writing.
func (f *Format) Read(in io.Reader, to transcript.Sink) error {
	return found(sink.Read(f.readAny, in, to))
}

// found returns the error of reading n conversations.
func found(n int, err error) error {
	if err == nil && n == 0 {
		err = ErrNothing
	}
	return err
}

// readAny reads a file or a database.
func (f *Format) readAny(in io.Reader, to transcript.Sink) error {
	if f.rows != nil {
		b := bufio.NewReader(in)
		if head, _ := b.Peek(database.HeadSize); database.Is(head) {
			db, err := database.Read(context.Background(), b)
			if err != nil {
				return err
			}
			defer db.Close()
			return f.readRows(db, to)
		}
		in = b
	}
	if f.read == nil {
		return errors.New("it is not an SQLite database, or it is encrypted")
	}
	return f.read(in, to)
}

// A Tail reads a transcript that grows; see [Format.Tail].
type Tail struct{ tail sink.Tail }

// Tail returns a reader of a transcript that begins with head and grows. It passes to
// to the messages of the first conversation that later records do not change. It returns nil if the format has
// no such transcripts: then the file is read as a whole with Read.
func (f *Format) Tail(head []byte, to transcript.Sink) *Tail {
	if f.tail == nil || f.Name == "gemini" && !gemini.IsLog(head) {
		return nil
	}
	return &Tail{sink.NewTail(f.tail, to)}
}

// RestoreTail returns the tail whose state is given, with another sink. It returns an error if
// the state cannot be decoded; only the program that encoded it can decode it.
func (f *Format) RestoreTail(state []byte, to transcript.Sink) (*Tail, error) {
	if f.tail == nil {
		return nil, fmt.Errorf("transcripts of %s are read as a whole", f.Name)
	}
	t := sink.NewTail(f.tail, to)
	return &Tail{t}, fields.Decode(state, t.Fields)
}

// State encodes what t keeps of the parts that it has read, for [Format.RestoreTail]. size is
// the expected length, such as that of an earlier state, 0 if it is unknown.
func (t *Tail) State(size int) ([]byte, error) { return fields.Encode(size, t.tail.Fields) }

// Read reads the next part of the transcript, which ends with a line.
func (t *Tail) Read(in io.Reader) error { return t.tail.Read(in) }

// End passes the remaining messages and the end of the conversation to to, as if the
// transcript ended here, unless there is no conversation yet. It passes all messages of other
// conversations after that. More may be read afterwards.
func (t *Tail) End(to transcript.Sink) error { return t.tail.End(to) }

// ReadAll reads all conversations of a file into memory.
func (f *Format) ReadAll(in io.Reader) ([]*transcript.Transcript, []transcript.Problem, error) {
	list, problems, err := sink.ReadAll(f.Name, f.readAny, in)
	if err == nil && len(list) == 0 {
		err = ErrNothing
	}
	return list, problems, err
}

// Write writes a conversation, and returns what the format cannot represent. If
// the conversation or its messages have records of this format, these are
// written byte for byte, except for ids and links that must differ.
func (f *Format) Write(w io.Writer, t *transcript.Transcript, o transcript.Options) ([]transcript.Loss, error) {
	var r report.Report
	err := f.writeReport(w, t, o, &r)
	return r.Losses, err
}

func (f *Format) writeReport(w io.Writer, t *transcript.Transcript, o transcript.Options, r *report.Report) error {
	if f.write == nil {
		return fmt.Errorf("bough reads %s and does not write it", f.Name)
	}
	if !f.Sessions {
		t = tree.Linked(t)
	}
	return f.write(w, t, o, r)
}

// Tool returns the name of the program, as --from and --in take it.
func (f *Format) Tool() string { return cmp.Or(f.Program, f.Name) }

// IsNamed reports whether name is the name of the program of f or an alias, ignoring case.
func (f *Format) IsNamed(name string) bool {
	return strings.EqualFold(f.Tool(), name) || slices.ContainsFunc(f.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}

// A Written is an encoded conversation, with the ids of its messages.
type Written struct {
	Data []byte
	Lost []transcript.Loss // what the format cannot represent

	// ID is the id of the conversation in Data, "" if the format has none.
	ID string
	// Same maps the messages in Data, in order, to those of the conversation. It is
	// nil if the format cannot be read.
	Same []transcript.Same
}

// Export encodes a conversation as [Format.Write] does, and reads it back to
// learn the ids of its messages, by which a later import recognizes them.
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
		return w, nil // the data has no conversation for a reader
	}
	w.ID, w.Same = back.ID, r.Trace.Match(t, back)
	return w, nil
}

// KeepsFiles reports whether bough knows folders where the program keeps its transcripts.
func (f *Format) KeepsFiles() bool { return f.home != nil && f.home.Roots != nil }

// Roots returns the folders where the program keeps its transcripts on a machine, nil if
// it keeps no files.
func (f *Format) Roots(m transcript.Machine) []string {
	if f.home == nil || f.home.Roots == nil {
		return nil
	}
	return f.home.Roots(m)
}

// Unread describes conversations of the program on a machine that bough cannot read, and what
// makes them readable; "" if there are none.
func (f *Format) Unread(m transcript.Machine) string {
	if f.home == nil || f.home.Unread == nil {
		return ""
	}
	return f.home.Unread(m)
}

// Holds reports whether a file may be a transcript. path is slash-separated,
// relative to one of the folders of [Format.Roots]. Holds panics if there are
// no such folders.
func (f *Format) Holds(path string) bool { return f.home.Holds(path) }

// Dir returns the working folder of the conversations in a file, for formats that keep it in
// another file, "" if it is unknown. read reads such a file.
func (f *Format) Dir(file string, read func(path string) ([]byte, error)) string {
	if f.home == nil || f.home.Dir == nil {
		return ""
	}
	return f.home.Dir(file, read)
}

// Identify returns the id of the conversation in a file, and that of the conversation whose
// assistant began it, for formats in which only the path states them; "" for each that is
// unknown.
func (f *Format) Identify(file string) (id, begunBy string) {
	if f.home == nil || f.home.Identify == nil {
		return "", ""
	}
	return f.home.Identify(filepath.ToSlash(file))
}

// InDatabase returns the id under which a database of the program may also have the conversation of
// a transcript file, or the conversation that began it; "" if there is none. The version in the
// database is more complete.
func (f *Format) InDatabase(file string) (id string) {
	if f.home == nil || f.home.InDatabase == nil {
		return ""
	}
	return f.home.InDatabase(filepath.ToSlash(file))
}

// Resumes reports whether the program can resume a transcript.
func (f *Format) Resumes() bool { return f.home != nil && f.home.Resume != nil }

// Target returns the absolute path at which the program looks for a transcript,
// "" if it imports a file from any path.
func (f *Format) Target(m transcript.Machine, t *transcript.Transcript, o transcript.Options) string {
	return f.home.Target(m, t, o)
}

// Register describes how the program lists transcripts, nil if it finds its files by itself.
func (f *Format) Register() *transcript.Register {
	if f.home == nil {
		return nil
	}
	return f.home.Register
}

// Beside returns another file that the program needs beside the transcript at path, "" if it
// needs none.
func (f *Format) Beside(path string, t *transcript.Transcript, o transcript.Options) (beside string, data []byte) {
	if f.home.Beside == nil {
		return "", nil
	}
	return f.home.Beside(path, t, o)
}

// Resume returns the command that resumes the transcript at path, to be run in
// the folder of the conversation. before is a command to be run first, nil if
// there is none.
func (f *Format) Resume(m transcript.Machine, path string, t *transcript.Transcript, o transcript.Options) (before, run []string) {
	return f.home.Resume(m, path, t, o)
}

// NewID returns a new id for [transcript.Options.ID].
func (f *Format) NewID(now time.Time, random io.Reader) (string, error) {
	if f.newID != nil {
		return f.newID(now, random)
	}
	return newUUID(now, random)
}

// newUUID returns a UUID of version 7, because some programs sort by id.
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
