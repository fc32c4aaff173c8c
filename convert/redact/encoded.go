package redact

import (
	"bytes"
	"encoding/base64"
)

// An encoded is text in base64, in consecutive lines.
type encoded struct{ lines []place }

// A place is a span of a text: s[start:end].
type place struct{ start, end int }

const (
	shortestEncoded = 32 // minimum number of letters
	probe           = 12 // letters needed to detect base64 text
	leastWrapped    = 60 // minimum number of letters of a line that is not the last
)

// letters records the base64 letters of t from start to end, if they encode text. Earlier
// ones are recorded already.
func (t *text) letters(start, end int) {
	s := t.s[start:end]
	if n := len(t.encoded); n > 0 {
		lines := t.encoded[n-1].lines
		last := lines[len(lines)-1]
		gap := t.plain[last.end:start]
		if size := last.end - last.start; size >= leastWrapped && size%4 == 0 && t.s[last.end-1] != '=' && len(gap) > 0 && len(bytes.TrimSpace(gap)) == 0 {
			t.encoded[n-1].lines = append(lines, place{start, end})
			return
		}
	}
	if i := bytes.LastIndexByte(bytes.TrimRight(s, "="), '='); i >= 0 { // NAME=LETTERS
		start, s = start+i+1, s[i+1:]
	}
	if len(s) < shortestEncoded {
		return
	}
	var first [probe / 4 * 3]byte
	if _, err := base64.StdEncoding.Decode(first[:], s[:probe]); err == nil && isText(first[:]) {
		t.encoded = append(t.encoded, encoded{[]place{{start, end}}})
	}
}

// text returns the decoded text and the end of its encoding, and false if it is
// not text. If the last line is not text, it is a word after the encoding.
func (e encoded) text(s []byte) (text []byte, end int, ok bool) {
	var all []byte
	before := 0
	for _, line := range e.lines {
		b := bytes.TrimRight(s[line.start:line.end], "=")
		if len(b)%4 == 1 { // truncated
			b = b[:len(b)-1]
		}
		more := make([]byte, base64.RawStdEncoding.DecodedLen(len(b)))
		n, err := base64.RawStdEncoding.Decode(more, b)
		if err != nil {
			break
		}
		before = len(all)
		all, end = append(all, more[:n]...), line.end
	}
	if n := len(e.lines); !isText(all) && n > 1 && end == e.lines[n-1].end {
		all, end = all[:before], e.lines[n-2].end
	}
	return all, end, len(all) > 0 && isText(all)
}

// inEncoded returns the base64 texts that contain a secret. Such a text is redacted as
// a whole, because the rest would not decode.
func (r *Redactor) inEncoded(t *text) (spans []span) {
	for _, e := range t.encoded {
		plain, end, ok := e.text(t.s)
		if !ok {
			continue
		}
		inner := &text{s: plain}
		inner.soften()
		if found := r.searchAll(inner); len(found) > 0 {
			spans = append(spans, span{start: e.lines[0].start, end: end, rule: found[0].rule})
		}
	}
	return spans
}
