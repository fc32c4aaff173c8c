// Package jsonl reads and writes files with one JSON object per line. Files can
// have any size and truncated lines.
package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// HeadSize is how many bytes at the start of a file determine its format.
const HeadSize = 256 << 10

// MaxRecord is the maximum size of a record of a transcript in bytes. A larger
// one is skipped and reported as a [transcript.Problem].
const MaxRecord = 64 << 20

// A Line is one record of a file.
type Line struct {
	Raw    []byte // the record, an object, without the line break; valid until the next line
	Number int    // from 1
	offset int64  // in bytes
}

// Fields encodes or decodes the line.
func (l *Line) Fields(c *fields.Coder) {
	fields.Bytes(c, &l.Raw)
	c.Int(&l.Number)
	c.Int64(&l.offset)
}

// Read reads a file with a JSON object per line, and calls f for each. Any line ending is
// accepted. Blank lines are skipped; a line that is not an object, or is truncated, is a
// problem. Several records on one line are read one by one; see [pieces]. Invalid UTF-8 is
// read as U+FFFD, as the programs that write these files read it.
func Read(in io.Reader, to transcript.Sink, f func(Line) error) error {
	return NewReader(to, f).Read(in)
}

// A Reader reads a file piece by piece.
type Reader struct {
	to     transcript.Sink
	f      func(Line) error
	buf    []byte
	lines  int   // that were read
	offset int64 // of the next one
	known  heads
}

// NewReader returns a reader that calls f as [Read] does.
func NewReader(to transcript.Sink, f func(Line) error) *Reader { return &Reader{to: to, f: f} }

// Fields encodes or decodes the state.
func (p *Reader) Fields(c *fields.Coder) {
	c.Int(&p.lines)
	c.Int64(&p.offset)
	fields.Map(c, &p.known.seen, c.Bool)
}

// Read reads the next piece, which ends with a line or is the last one.
func (p *Reader) Read(in io.Reader) error {
	r := bufio.NewReaderSize(in, 256<<10)
	for {
		raw, size, torn, err := nextLine(r, p.buf[:0])
		if err != nil && err != io.EOF {
			return err
		}
		p.buf = raw
		if size > 0 {
			p.lines++
		}
		if p.lines == 1 {
			raw = TrimBOM(raw)
		}
		lead := len(p.buf) - len(bytes.TrimLeft(raw, " \t\r\n"))
		raw = bytes.TrimSpace(raw)
		at := Line{raw, p.lines, p.offset}
		switch {
		case size > MaxRecord:
			p.to.Problem(at.Problem(fmt.Sprintf("it has more than %d MiB", MaxRecord>>20)))
		case len(raw) > 0:
			if what := at.check(torn); what == "" {
				p.known.add(at.Raw)
				if err := p.f(at); err != nil {
					return err
				}
			} else if err := at.split(what, raw, lead, torn, &p.known, p.to, p.f); err != nil {
				return err
			}
		}
		p.offset += size
		if err == io.EOF {
			return nil
		}
	}
}

// split calls f for the records of a malformed line, and reports the rest to to. what
// describes the error; raw has the bytes of the line from lead on.
func (l *Line) split(what string, raw []byte, lead int, torn bool, known *heads, to transcript.Sink, f func(Line) error) error {
	var list []piece
	if raw[0] == '{' {
		list = pieces(raw, !torn, known)
	}
	records := 0
	for _, p := range list {
		if p.whole {
			records++
		}
	}
	if records == 0 {
		to.Problem(l.Problem(what))
		return nil
	}
	for _, p := range list {
		at := Line{bytes.TrimSpace(raw[p.start:p.end]), l.Number, l.offset + int64(lead+p.start)}
		if what := at.check(false); p.whole && what == "" {
			if err := f(at); err != nil {
				return err
			}
			known.add(at.Raw)
		} else {
			to.Problem(at.Problem("a torn record is on the line of another one"))
		}
	}
	return nil
}

// check makes the line valid UTF-8, and describes its error, "" if there is none.
func (l *Line) check(torn bool) string {
	if !utf8.Valid(l.Raw) {
		l.Raw = bytes.ToValidUTF8(l.Raw, []byte("\uFFFD"))
	}
	var wrong *rawjson.SyntaxError
	switch err := rawjson.Check(l.Raw); {
	case err == nil && l.Raw[0] == '{':
		return ""
	case err == nil:
		return "not a JSON object"
	case torn:
		return "truncated"
	case errors.As(err, &wrong):
		return fmt.Sprintf("invalid JSON: %v", err)
	default:
		return err.Error()
	}
}

func (l *Line) Problem(what string) transcript.Problem {
	return transcript.Problem{Line: l.Number, Offset: l.offset, What: what}
}

// Get returns a member of the record; see gjson for paths.
func (l *Line) Get(path string) gjson.Result { return gjson.GetBytes(l.Raw, path) }

// nextLine appends the next line to buf, without its end; bytes beyond [MaxRecord] are
// skipped. size is its length in the file; torn reports whether the file ends within
// it.
func nextLine(r *bufio.Reader, buf []byte) (raw []byte, size int64, torn bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		size += int64(len(part))
		if size <= MaxRecord {
			buf = append(buf, part...)
		}
		switch err {
		case nil:
			return buf, size, false, nil
		case bufio.ErrBufferFull:
		default:
			return buf, size, size > 0, err
		}
	}
}

// InHead calls f for each record that is an object in the whole lines of head, until it returns
// true, and reports whether it did. A record after a torn one on the same line counts too.
func InHead(head []byte, f func(raw []byte) bool) bool {
	for len(head) > 0 {
		raw, rest, ended := bytes.Cut(head, []byte("\n"))
		raw = bytes.TrimSpace(raw)
		head = rest
		if len(raw) == 0 || raw[0] != '{' {
			continue
		}
		if rawjson.Check(raw) == nil {
			if f(raw) {
				return true
			}
			continue
		}
		list := pieces(raw, ended, &heads{})
		if n := len(list); n == 0 || !list[n-1].whole || list[n-1].end < len(raw) {
			continue // a line of a document
		}
		for _, p := range list {
			if p.whole && f(raw[p.start:p.end]) {
				return true
			}
		}
	}
	return false
}

func TrimBOM(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }

// A Writer writes records, one per line.
type Writer struct{ w *bufio.Writer }

func NewWriter(w io.Writer) Writer { return Writer{bufio.NewWriter(w)} }

// Put writes a record. A record with line breaks between its tokens is compacted.
func (l Writer) Put(record []byte) {
	l.w.Write(OneLine(record))
	l.w.WriteByte('\n')
}

// OneLine returns a record without line breaks: one that has them between its tokens is compacted.
func OneLine(record []byte) []byte {
	if !bytes.ContainsAny(record, "\n\r") {
		return record
	}
	var b bytes.Buffer
	if json.Compact(&b, record) == nil {
		return b.Bytes()
	}
	return bytes.Map(func(r rune) rune { // it has NaN or Infinity
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, record)
}

// Flush writes the buffer, and returns the first error of any write.
func (l Writer) Flush() error { return l.w.Flush() }
