package session

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Recover returns the intact part of a truncated session file as a valid session:
// the bytes up to the end of the last complete message or record, with the missing
// brackets. Only metadata.message_count is changed, to the number of messages that
// are left.
//
// A file is truncated if it ends before the session does. Zero bytes at its end,
// which a crash leaves for unwritten data, are ignored. If the file is complete,
// ends before its messages begin, or has any other damage, ok is false: there may
// be messages after the damage.
func Recover(data []byte) (recovered []byte, messages int, ok bool) {
	text := bytes.TrimRight(data, "\x00")
	zeros := len(text) < len(data)
	r := remains{data: wholeRunes(text)}
	switch err := rawjson.Walk(r.data, r.walk); {
	case err == nil && zeros:
		return counted(bytes.Clone(text))
	case endsAt(err, len(r.data)) && slices.Contains(r.keys, keyMessages):
		return counted(r.close())
	}
	return nil, 0, false
}

// wholeRunes returns data without an incomplete UTF-8 sequence at its end.
func wholeRunes(data []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if rest := data[len(data)-n:]; utf8.RuneStart(rest[0]) {
			if !utf8.FullRune(rest) {
				return data[:len(data)-n]
			}
			break
		}
	}
	return data
}

// endsAt reports whether err is a syntax error at the end of a document of size
// bytes.
func endsAt(err error, size int) bool {
	var syntax *rawjson.SyntaxError
	return errors.As(err, &syntax) && syntax.Offset == size
}

// remains is the intact part of a truncated file.
type remains struct {
	data []byte
	end  int      // offset after the last complete value, or after the bracket of an array of messages or records
	keys []string // the members so far, the last one perhaps incomplete
	open bool     // end is inside an array of messages or records
}

// walk parses the file as far as possible.
func (r *remains) walk(w *rawjson.Walker) error {
	return w.Object(func(key []byte, _ int) error {
		name := string(key)
		at, first := w.Start()
		listed := first == '[' && (name == keyMessages || slices.Contains(recordKeys[:], name))
		if !listed {
			return r.pass(w, name)
		}
		r.keys, r.end, r.open = append(r.keys, name), at+1, true
		if err := w.Array(func() error { return r.pass(w, "") }); err != nil {
			return err
		}
		r.end, _ = w.Start()
		r.open = false
		return nil
	})
}

// pass parses a value; name is that of its member, "" for an element. A number at
// the end of the file is not complete, as digits may be missing.
func (r *remains) pass(w *rawjson.Walker, name string) error {
	value, err := w.Value()
	if err != nil {
		return err
	}
	if last := r.data[value.End-1]; value.End == len(r.data) && last >= '0' && last <= '9' {
		return nil
	}
	r.end = value.End
	if name != "" {
		r.keys = append(r.keys, name)
	}
	return nil
}

// close returns the intact part with the missing brackets and members.
func (r *remains) close() []byte {
	const line = "\n" + rawjson.Indent
	data := bytes.Clone(r.data[:r.end])
	if r.open {
		if data[r.end-1] != '[' {
			data = append(data, line...)
		}
		data = append(data, ']')
	}
	for _, key := range recordKeys {
		if !slices.Contains(r.keys, key) {
			data = append(append(data, ","+line...), `"`+key+`": []`...)
		}
	}
	return append(data, "\n}"...)
}

// counted returns the session in data with the right message_count, if it has one.
// ok is false if data is not a valid session.
func counted(data []byte) (whole []byte, messages int, ok bool) {
	o, err := outline("", data)
	if err != nil {
		return nil, 0, false
	}
	if count := gjson.GetBytes(o.metadata, "message_count"); count.Exists() && int(count.Int()) != o.Len() {
		edit := o.Session(data).Edit()
		edit.SetMeta("message_count", o.Len())
		if data, err = edit.layout().bytes(nil); err != nil {
			return nil, 0, false
		}
	}
	return data, o.Len(), true
}
