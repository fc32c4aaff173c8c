package session

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

// Recover returns what is left of a torn session file as a session: data up to
// the end of its last whole message or record, with the bytes that it has there,
// closed off. Only metadata.message_count says how many messages there are now.
//
// A file is torn if it ends before the session does; zeros at its end, which a
// crash leaves where bytes were to be, count for nothing. It is not ok to
// recover a file that is whole, that ends before its messages begin, or that is
// damaged in another way: there may be messages behind the damage.
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

// wholeRunes returns data without the first bytes of a character whose other
// bytes are cut off.
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

// endsAt reports whether err says that a document of size bytes ends too early.
func endsAt(err error, size int) bool {
	var syntax *rawjson.SyntaxError
	return errors.As(err, &syntax) && syntax.Offset == size
}

// remains are what is whole of a torn file.
type remains struct {
	data []byte
	end  int      // of the last value that is whole, or of the bracket that opens an array of them
	keys []string // the members that are there, the last one perhaps not whole
	open bool     // end lies in an array of messages or records
}

// walk goes through the file as far as it can.
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

// pass passes a value, that of the member name if that is not empty. A number at
// the end of the file may have had more digits.
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

// close returns what is whole, with the brackets and the records that it lacks.
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

// counted returns the session in data with the right message_count, if it has
// one, and reports whether it is a session.
func counted(data []byte) (whole []byte, messages int, ok bool) {
	o, err := outline("", data, &scratch{})
	if err != nil {
		return nil, 0, false
	}
	if count := gjson.GetBytes(o.metadata, "message_count"); count.Exists() && int(count.Int()) != o.Len() {
		edit := o.with(data).Edit()
		edit.SetMeta("message_count", o.Len())
		if data, err = edit.layout().bytes(nil); err != nil {
			return nil, 0, false
		}
	}
	return data, o.Len(), true
}
