// Package jsondoc reads JSON documents of any size, one value at a time.
package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/convert/internal/jsonl"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
)

// A Visit is one value of a document that [Walk] visits.
type Visit struct {
	Path   []string        // names of the members on the way to it; "" for an element of an array
	Raw    json.RawMessage // the value; nil at the end of a value that Walk entered
	Offset int64           // end of the value, in bytes
}

// Walk parses a JSON document of any size and calls f for its values, in order.
// It enters the objects and arrays for which into returns true. Every other
// value is passed to f as a whole; it can have at most [jsonl.MaxRecord] bytes.
// The paths are valid until f returns.
//
// The error of a truncated document is io.ErrUnexpectedEOF.
func Walk(in io.Reader, into func(path []string) bool, f func(Visit) error) error {
	return WalkAll(in, into, func(v Visit) error {
		if err := f(v); err != nil || len(v.Path) > 0 {
			return err
		}
		return errWalked
	})
}

// A walkError is a malformed document in [Walk].
type walkError string

func (e walkError) Error() string { return string(e) }

const (
	errWalked walkError = "the first document ends"
	errLarge  walkError = "a value in it has more than 64 MiB"
)

// Damage describes a malformed document whose beginning may be used. It returns
// "" if err is not from [Walk].
func Damage(err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "unexpected end"
	case errors.Is(err, errLarge), errors.As(err, &syntax):
		return err.Error()
	}
	return ""
}

// Read reads an object with arrays of messages in some members, and calls f for
// each message with the name of the member. around is the object without these
// members, nil if it has no others. Of a truncated object, the complete messages
// are read.
func Read(in io.Reader, to transcript.Sink, members []string, f func(member string, v Visit) error) (around json.RawMessage, err error) {
	var h Hull
	n := 0
	err = Walk(in, func(path []string) bool {
		return len(path) == 0 || len(path) == 1 && slices.Contains(members, path[0])
	}, func(v Visit) error {
		switch {
		case v.Raw == nil || len(v.Path) == 0:
		case len(v.Path) == 1:
			h.Add(v.Path[0], v.Raw)
		case v.Path[1] == "":
			n++
			return f(v.Path[0], v)
		}
		return nil
	})
	if what := Damage(err); what != "" && n > 0 {
		to.Problem(transcript.Problem{What: what})
		err = nil
	}
	return h.Record(), err
}

// WalkAll is [Walk] for concatenated documents.
func WalkAll(in io.Reader, into func(path []string) bool, f func(Visit) error) error {
	r := &rationed{in: in, left: jsonl.MaxRecord}
	w := &walker{d: json.NewDecoder(SkipBOM(r)), r: r, into: into, f: f}
	err := w.value()
	for err == nil {
		r.left = jsonl.MaxRecord
		if !w.d.More() {
			break
		}
		err = w.value()
	}
	var syntax *json.SyntaxError
	switch {
	case err == errWalked:
		return nil
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case errors.As(err, &syntax):
		return fmt.Errorf("invalid JSON at offset %d: %w", syntax.Offset, err)
	}
	return err
}

type walker struct {
	d    *json.Decoder
	r    *rationed
	into func(path []string) bool
	f    func(Visit) error
	path []string
}

func (w *walker) value() error {
	w.r.left = jsonl.MaxRecord
	if !w.into(w.path) {
		return w.whole()
	}
	t, err := w.d.Token()
	if err != nil {
		return err
	}
	open, ok := t.(json.Delim)
	if !ok { // neither an object nor an array, which into does not handle
		raw, err := json.Marshal(t)
		if err != nil {
			return err
		}
		return w.f(Visit{w.path, raw, w.d.InputOffset()})
	}
	depth := len(w.path)
	for w.d.More() {
		name := ""
		if open == '{' {
			key, err := w.d.Token()
			if err != nil {
				return err
			}
			name = key.(string)
		}
		w.path = append(w.path[:depth], name)
		if err := w.value(); err != nil {
			return err
		}
	}
	w.path = w.path[:depth]
	if _, err := w.d.Token(); err != nil {
		return err
	}
	return w.f(Visit{w.path, nil, w.d.InputOffset()})
}

func (w *walker) whole() error {
	var raw json.RawMessage
	if err := w.d.Decode(&raw); err != nil {
		return err
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return w.f(Visit{w.path, raw, w.d.InputOffset()})
}

// rationed is a reader that limits the size of one value.
type rationed struct {
	in   io.Reader
	left int
}

func (r *rationed) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLarge
	}
	n, err := r.in.Read(p)
	r.left -= n
	return n, err
}

// SkipBOM returns a reader of in without a byte order mark.
func SkipBOM(in io.Reader) io.Reader {
	head := make([]byte, 3)
	n, err := io.ReadFull(in, head)
	head = jsonl.TrimBOM(head[:n])
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return io.MultiReader(bytes.NewReader(head), failing{err})
	}
	return io.MultiReader(bytes.NewReader(head), in)
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A Hull is an object without its messages: its members, in order, with empty values
// for those that have the messages.
type Hull struct {
	b     []byte
	names map[string]bool
}

// Add appends a member, unless there is one of that name.
func (h *Hull) Add(name string, value []byte) {
	switch {
	case h.names[name]:
		return
	case h.names == nil:
		h.b, h.names = append(h.b, '{'), map[string]bool{}
	default:
		h.b = append(h.b, ',')
	}
	h.names[name] = true
	h.b = append(append(append(h.b, rawjson.Compact(name)...), ':'), value...)
}

// Record returns the object, nil if it has no members.
func (h *Hull) Record() json.RawMessage {
	if len(h.b) == 0 {
		return nil
	}
	return append(append(json.RawMessage(nil), h.b...), '}')
}
