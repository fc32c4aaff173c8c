package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

var (
	errTexts    = errors.New("the texts of its records name what is not there")
	errTooLarge = errors.New("its records would be too large")
)

// expandRecords reverts [Shared].
func expandRecords(content, array, texts []byte) ([]json.RawMessage, error) {
	references, err := parseReferences(texts)
	if err != nil {
		return nil, err
	}
	e := expander{references: references, limit: sizeLimit(len(content), len(array)), out: make([]byte, 0, len(array)+len(content))}
	if err := eachValue(content, func(value []byte) { e.values = append(e.values, value) }); err != nil {
		return nil, err
	}
	e.fixed, e.in = len(e.values), array
	var ends []int
	err = rawjson.Walk(array, func(w *rawjson.Walker) error {
		return w.Array(func() error {
			e.copied, _ = w.Start()
			if err := e.value(w); err != nil {
				return err
			}
			at, _ := w.Start()
			err := e.copyTo(at)
			ends = append(ends, len(e.out))
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if len(e.references) > 0 {
		return nil, errTexts
	}
	records := make([]json.RawMessage, len(ends))
	start := 0
	for i, end := range ends {
		records[i] = e.out[start:end:end]
		start = end
	}
	return records, nil
}

func parseReferences(texts []byte) (list []reference, err error) {
	array := gjson.ParseBytes(texts)
	if !array.IsArray() {
		return nil, errTexts
	}
	array.ForEach(func(_, v gjson.Result) bool {
		r := reference{form: asItStands}
		if v.IsArray() {
			r.form = asASCII
			v = gjson.Parse(v.Raw[1 : len(v.Raw)-1])
		}
		var n int64
		n, err = strconv.ParseInt(v.Raw, 10, 31)
		if n < 0 {
			n, r.form = -n, inText
		}
		r.number = int(n)
		list = append(list, r)
		return err == nil
	})
	if err != nil {
		return nil, errTexts
	}
	return list, nil
}

// An expander restores values in records.
type expander struct {
	references []reference    // that follow
	values     [][]byte       // values that references can name; first those of the content
	fixed      int            // number of the values of the content
	places     []rawjson.Span // spans in out of the values of the records; a value without an end is incomplete
	in         []byte
	copied     int
	out        []byte
	limit      int
}

func (e *expander) value(w *rawjson.Walker) error {
	at, first := w.Start()
	var err error
	switch first {
	case '{', '[':
		if err := e.copyTo(at); err != nil {
			return err
		}
		n := len(e.places)
		e.places = append(e.places, rawjson.Span{Start: len(e.out), End: -1})
		if first == '{' {
			err = w.Object(func([]byte, int) error { return e.value(w) })
		} else {
			err = w.Array(func() error { return e.value(w) })
		}
		if err != nil {
			return err
		}
		end, _ := w.Start()
		err = e.copyTo(end)
		e.places[n].End = len(e.out)
		return err
	case '"':
		span, err := w.Value()
		if err != nil {
			return err
		}
		if err := e.copyTo(span.Start); err != nil {
			return err
		}
		if span.End-span.Start == len(`""`) {
			return e.restore(span)
		}
		start := len(e.out)
		err = e.copyTo(span.End)
		e.places = append(e.places, rawjson.Span{Start: start, End: len(e.out)})
		return err
	}
	_, err = w.Value()
	return err
}

// restore replaces the next "" with its value.
func (e *expander) restore(span rawjson.Span) error {
	if len(e.references) == 0 || e.references[0].number == 0 {
		e.references = e.references[min(1, len(e.references)):]
		return e.copyTo(span.End)
	}
	r := e.references[0]
	e.references, e.copied = e.references[1:], span.End
	value, ok := e.named(r.number)
	switch {
	case !ok:
	case r.form == inText:
		value, ok = textBytes(value)
	case r.form == asASCII:
		value, ok = escapeASCII(value)
	}
	if !ok {
		return errTexts
	}
	return e.put(value)
}

// named returns the value with a number, and reports whether there is one.
func (e *expander) named(number int) ([]byte, bool) {
	if number <= e.fixed {
		return e.values[number-1], true
	}
	if number -= e.fixed; number > len(e.places) || e.places[number-1].End < 0 {
		return nil, false
	}
	return e.places[number-1].Of(e.out), true
}

func (e *expander) copyTo(at int) error {
	from := e.copied
	e.copied = at
	return e.put(e.in[from:at])
}

func (e *expander) put(b []byte) error {
	if len(e.out)+len(b) > e.limit {
		return errTooLarge
	}
	e.out = append(e.out, b...)
	return nil
}

// eachValue calls f for each value in document that a reference can name:
// non-empty strings, objects and arrays, each before its contents.
func eachValue(document []byte, f func(value []byte)) error {
	if len(document) == 0 {
		return nil
	}
	var spans []rawjson.Span
	err := rawjson.Walk(document, func(w *rawjson.Walker) error {
		var value func() error
		value = func() error {
			at, first := w.Start()
			var err error
			switch first {
			case '{', '[':
				n := len(spans)
				spans = append(spans, rawjson.Span{Start: at})
				if first == '{' {
					err = w.Object(func([]byte, int) error { return value() })
				} else {
					err = w.Array(value)
				}
				spans[n].End, _ = w.Start()
			default:
				var span rawjson.Span
				if span, err = w.Value(); first == '"' && span.End-span.Start > len(`""`) {
					spans = append(spans, span)
				}
			}
			return err
		}
		return value()
	})
	if err != nil {
		return err
	}
	for _, span := range spans {
		f(span.Of(document))
	}
	return nil
}

// textBytes returns the text of a JSON string, and reports whether it is valid
// UTF-8.
func textBytes(quoted []byte) ([]byte, bool) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return nil, false
	}
	if inner := quoted[1 : len(quoted)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil, false
	}
	return []byte(text), true
}

// escapeASCII returns a JSON string with all non-ASCII characters escaped, as
// Python writes it. It returns false if quoted is not a string.
func escapeASCII(quoted []byte) ([]byte, bool) {
	text, ok := textBytes(quoted)
	if !ok {
		return nil, false
	}
	const hex = "0123456789abcdef"
	b := append(make([]byte, 0, len(quoted)), '"')
	unit := func(u rune) {
		b = append(b, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\b':
			b = append(b, '\\', 'b')
		case r == '\f':
			b = append(b, '\\', 'f')
		case r >= ' ' && r < 0x7f:
			b = append(b, byte(r))
		case r > math.MaxUint16:
			high, low := utf16.EncodeRune(r)
			unit(high)
			unit(low)
		default:
			unit(r)
		}
	}
	return append(b, '"'), true
}
