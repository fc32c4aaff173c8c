package operation

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/durable"
)

// A Log is the log of a workspace at the time when it was opened, for reading.
type Log struct {
	in   io.ReaderAt
	file *os.File // the file behind in, or nil
	size int64    // of the complete lines in bytes
	end  int64    // size of the file
	tail []Line   // unsettled lines, oldest first
}

// A DamageError reports that a line of the log is not a valid operation. The other
// lines can be used.
type DamageError struct {
	Offset  int64 // of the line in the file in bytes
	Problem string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s: byte %d: %s", Path, e.Offset, e.Problem)
}

// Open opens the log in root, which need not exist.
func Open(root *os.Root) (*Log, error) {
	f, err := durable.OpenRegular(root, Path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Log{}, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var l *Log
	if err == nil {
		l, err = NewLog(f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	l.file = f
	return l, nil
}

// NewLog returns the log in file, which has size bytes. Bytes after the last line
// break are ignored: they are being written, or were never completed.
func NewLog(file io.ReaderAt, size int64) (*Log, error) {
	l := &Log{in: file, end: size}
	var err error
	if l.size, err = lastBreak(file, size); err != nil {
		return l, err
	}
	l.tail, err = l.unsettled()
	return l, err
}

// Close closes the file.
func (l *Log) Close() {
	if l.file != nil {
		l.file.Close()
	}
}

// Size returns the size of the lines of l in bytes.
func (l *Log) Size() int64 { return l.size }

// A Line is an operation with its position in the log.
type Line struct {
	*Operation
	Raw     []byte // in the log, without the line break
	At      int64  // offset in bytes
	Settled bool   // the operation was made completely or will not be continued
}

// End returns the offset after the line.
func (l Line) End() int64 { return l.At + int64(len(l.Raw)) + 1 }

// Identity returns a name of l, as it was after operation through, that stays the same
// when operations are added and when l is compacted, and that another log in its place
// does not have. It is [NoIdentity] if no operation up to through lasts.
func (l *Log) Identity(through Seq) (string, error) {
	for line, err := range l.From(0) {
		var damage *DamageError
		switch {
		case errors.As(err, &damage):
			continue
		case err != nil:
			return "", err
		case line.Seq > through:
			return NoIdentity, nil
		}
		if id := line.Operation.Identity(); id != NoIdentity {
			return id, nil
		}
	}
	return NoIdentity, nil
}

// Unsettled returns the lines of operations that may be in progress or were
// interrupted, oldest first: the last line and the lines of its group before it, if
// no empty line follows them.
func (l *Log) Unsettled() []Line { return l.tail }

func (l *Log) unsettled() (lines []Line, err error) {
	for s, err := range l.linesBefore(l.size) {
		if err != nil {
			return nil, err
		}
		if s.empty() {
			break
		}
		line, err := s.operation(false)
		if err != nil {
			continue // an invalid line has no operation
		}
		if len(lines) > 0 && (line.Group == 0 || line.Group != lines[0].Group) {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	return lines, nil
}

// settled reports whether the line at an offset is settled.
func (l *Log) settled(at int64) bool { return len(l.tail) == 0 || at < l.tail[0].At }

// Newest returns the operations, newest first. An invalid line is returned as a
// *[DamageError]; any other error ends the sequence.
func (l *Log) Newest() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for s, err := range l.linesBefore(l.size) {
			if err != nil {
				yield(Line{}, err)
				return
			}
			if !s.empty() && !yield(s.operation(l.settled(s.at))) {
				return
			}
		}
	}
}

// Operations returns the operations, newest first, without those that cannot be
// read.
func (l *Log) Operations() iter.Seq[*Operation] {
	return func(yield func(*Operation) bool) {
		for line, err := range l.Newest() {
			if err == nil && !yield(line.Operation) {
				return
			}
		}
	}
}

// From returns the operations at and after the offset at, oldest first, with errors
// as in [Log.Newest].
func (l *Log) From(at int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if l.in == nil {
			return
		}
		in := bufio.NewReaderSize(io.NewSectionReader(l.in, at, max(l.size-at, 0)), 1<<16)
		for {
			text, err := in.ReadBytes('\n')
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Line{}, err)
				return
			}
			s := span{text, at, at + int64(len(text))}
			at = s.end
			if !s.empty() && !yield(s.operation(l.settled(s.at))) {
				return
			}
		}
	}
}

// A span is a line of the file.
type span struct {
	text    []byte
	at, end int64
}

func (s span) empty() bool { return len(s.text) == 1 }

func (s span) operation(settled bool) (Line, error) {
	o, err := decode(s.text)
	if err != nil {
		return Line{}, &DamageError{s.at, err.Error()}
	}
	return Line{o, s.text[:len(s.text)-1], s.at, settled}, nil
}

// linesBefore returns the lines that end at or before end, last one first.
func (l *Log) linesBefore(end int64) iter.Seq2[span, error] {
	return func(yield func(span, error) bool) {
		var tail []byte // the part that was read but not yet returned
		block := int64(4 << 10)
		for at := end; at > 0; block = min(2*block, 1<<20) {
			n := min(block, at)
			at -= n
			more := make([]byte, n, n+int64(len(tail)))
			got, err := l.in.ReadAt(more, at)
			if err == io.EOF { // a line was removed meanwhile
				more, tail, err = more[:got], nil, nil
			}
			if err != nil {
				yield(span{}, err)
				return
			}
			tail = append(more, tail...)
			for {
				last := bytes.LastIndexByte(tail, '\n')
				if last < 0 {
					break
				}
				first := bytes.LastIndexByte(tail[:last], '\n') + 1
				if first == 0 && at > 0 {
					break
				}
				if !yield(span{tail[first : last+1], at + int64(first), at + int64(last) + 1}, nil) {
					return
				}
				tail = tail[:first]
			}
		}
	}
}

// lastBreak returns the offset after the last line break before end, or 0.
func lastBreak(in io.ReaderAt, end int64) (int64, error) {
	block := make([]byte, min(end, 4<<10))
	for end > 0 {
		n := min(end, int64(len(block)))
		got, err := in.ReadAt(block[:n], end-n)
		if err != nil && err != io.EOF {
			return 0, err
		}
		if i := bytes.LastIndexByte(block[:got], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		if end -= n; len(block) < 1<<16 {
			block = make([]byte, 1<<16)
		}
	}
	return 0, nil
}
