package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
)

// JSON returns a JSON value with the secrets in its strings and keys replaced,
// and the findings, in order. All other bytes are unchanged. A string that
// contains JSON, such as the arguments of a tool call, still contains JSON. A
// value is searched together with its key, as in {"password": "..."}. The error
// is a [*rawjson.SyntaxError].
func (r *Redactor) JSON(raw []byte) ([]byte, []Finding, error) {
	spans, err := r.inJSON(raw)
	if err != nil || len(spans) == 0 {
		return raw, nil, err
	}
	redacted, found := replace(raw, spans)
	return redacted, found, nil
}

// inJSON returns the spans of secrets in a document.
func (r *Redactor) inJSON(doc []byte) ([]span, error) {
	var spans []span
	var key keyLines
	var last rawjson.Span // the previous string
	mayHaveKey := mayHaveKey(doc)
	quoted := func(at rawjson.Span, name []byte) {
		before := len(spans)
		spans = r.inQuoted(spans, doc, at, name)
		if mayHaveKey && len(spans) == before {
			spans = r.keySpans(spans, doc, key.string(at, textOf(at.Of(doc))))
		}
	}
	err := rawjson.Walk(doc, func(w *rawjson.Walker) error {
		var value func(name []byte) error
		value = func(name []byte) error {
			switch _, first := w.Start(); first {
			case '{':
				var called []byte // {"name": "PASSWORD", "value": "..."}
				return w.Object(func(key []byte, at int) error {
					if len(key) >= shortestInKey {
						spans = r.inQuoted(spans, doc, rawjson.Span{Start: at, End: quotedEnd(doc, at)}, nil)
					}
					isName := false
					switch string(key) {
					case "name", "key", "Name", "Key":
						isName = true
					case "value", "Value":
						if called != nil {
							key = called
						}
					}
					_, first := w.Start()
					err := value(key)
					if isName && first == '"' && err == nil {
						called = textOf(last.Of(doc))
					}
					return err
				})
			case '[':
				var words []rawjson.Span
				before := len(spans)
				err := w.Array(func() error {
					_, first := w.Start()
					err := value(name)
					if first == '"' && err == nil {
						words = append(words, last)
					}
					return err
				})
				if err == nil && len(spans) == before {
					spans = r.inCommand(spans, doc, words)
				}
				return err
			case '"':
				at, err := w.Value()
				if err == nil {
					quoted(at, name)
					last = at
				}
				return err
			}
			_, err := w.Value()
			return err
		}
		return value(nil)
	})
	if err == nil {
		spans = r.keySpans(spans, doc, key.end(false))
		slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	}
	return spans, err
}

// keySpans appends to spans the lines of a private key.
func (r *Redactor) keySpans(spans []span, doc []byte, lines []keyString) []span {
	for i, line := range lines {
		x := span{start: line.place.start, end: line.place.end, rule: r.key, more: i > 0}
		spans = append(spans, inDoc(x, line.string, doc))
	}
	return spans
}

// inCommand appends the spans of secrets in the words of a command that follow
// an option for secrets.
func (r *Redactor) inCommand(spans []span, doc []byte, words []rawjson.Span) []span {
	size, isCommand := 0, false
	for _, word := range words {
		size += word.End - word.Start
		isCommand = isCommand || doc[word.Start+1] == '-'
	}
	if !isCommand || len(words) < 2 || size > longestCommand {
		return spans
	}
	var line []byte
	starts := make([]int, len(words))
	for i, word := range words {
		if i > 0 {
			line = append(line, ' ')
		}
		starts[i] = len(line)
		line = append(line, textOf(word.Of(doc))...)
	}
	for _, x := range r.find(line) {
		i, whole := slices.BinarySearch(starts, x.start)
		if !whole {
			i--
		}
		if i+1 < len(starts) && x.end >= starts[i+1] {
			continue // it has several words
		}
		spans = append(spans, inDoc(span{start: x.start - starts[i], end: x.end - starts[i], rule: x.rule}, words[i], doc))
	}
	return spans
}

// longestCommand is the maximum length of the words of a command together, in
// bytes.
const longestCommand = 4096

// textOf returns the decoded text of a string.
func textOf(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	return unquote(quoted, nil)
}

// inDoc converts a span of the text of a string to a span of the document.
func inDoc(x span, s rawjson.Span, doc []byte) span {
	if quoted := s.Of(doc); bytes.IndexByte(quoted, '\\') < 0 {
		x.start, x.end = x.start+1, x.end+1
	} else {
		var places []int
		unquote(quoted, &places)
		x.start, x.end = places[x.start], places[x.end]
	}
	x.start, x.end = s.Start+x.start, s.Start+x.end
	return x
}

// shortestInKey is the minimum length of a key that is searched, as it may be
// the path of a file; names of members are usually shorter.
const shortestInKey = 20

// quotedEnd returns the end of the string that begins at i.
func quotedEnd(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// inQuoted appends the spans of secrets in the string at s.
func (r *Redactor) inQuoted(spans []span, doc []byte, s rawjson.Span, key []byte) []span {
	quoted := s.Of(doc)
	inner := quoted[1 : len(quoted)-1]
	if len(inner) < shortest {
		return spans
	}
	plain := bytes.IndexByte(inner, '\\') < 0
	if !plain {
		inner = unquote(quoted, nil)
	}
	found := r.inString(inner, key)
	if len(found) == 0 {
		return spans
	}
	var places []int
	if !plain {
		unquote(quoted, &places)
	}
	for _, x := range found {
		if plain {
			x.start, x.end = x.start+1, x.end+1
		} else {
			x.start, x.end = places[x.start], places[x.end]
		}
		spans = append(spans, span{s.Start + x.start, s.Start + x.end, x.rule, x.more})
	}
	return spans
}

// inString returns the spans of secrets in the text of a string that is the value of
// key, or of an element of it.
func (r *Redactor) inString(s, key []byte) []span {
	if start := bytes.TrimLeft(s, " \t\r\n"); len(start) > 0 && (start[0] == '{' || start[0] == '[') {
		if spans, err := r.inJSON(s); err == nil {
			return spans
		}
	}
	spans := r.find(s)
	if len(spans) > 0 || key == nil || len(s) > longestNamed || bytes.ContainsAny(s, " \t\r\n\"") {
		return spans
	}
	named := slices.Concat([]byte{'"'}, key, []byte(`": "`), s, []byte{'"'})
	begin := len(named) - 1 - len(s)
	for _, x := range r.find(named) {
		if x.start >= begin && x.end <= begin+len(s) {
			spans = append(spans, span{x.start - begin, x.end - begin, x.rule, x.more})
		}
	}
	return spans
}

// longestNamed is the maximum length of secrets that are recognized only by
// their name, in bytes.
const longestNamed = 512

// unquote returns the text of a string. If places is not nil, it is set to the
// offset in the string of each byte of the text, and of its end.
func unquote(quoted []byte, places *[]int) []byte {
	var b []byte
	i := 1
	for i < len(quoted)-1 {
		start := i
		if quoted[i] != '\\' {
			b = append(b, quoted[i])
			i++
		} else {
			var c rune
			c, i = escaped(quoted, i)
			b = utf8.AppendRune(b, c)
		}
		if places != nil {
			for len(*places) < len(b) {
				*places = append(*places, start)
			}
		}
	}
	if places != nil {
		*places = append(*places, i)
	}
	return b
}

// escaped returns the escaped character at i, and the end of its escape
// sequence.
func escaped(s []byte, i int) (rune, int) {
	switch c := s[i+1]; c {
	case 'b':
		return '\b', i + 2
	case 'f':
		return '\f', i + 2
	case 'n':
		return '\n', i + 2
	case 'r':
		return '\r', i + 2
	case 't':
		return '\t', i + 2
	case 'u':
	default:
		return rune(c), i + 2
	}
	c := unit(s[i:])
	if utf16.IsSurrogate(c) {
		if both := utf16.DecodeRune(c, unit(s[i+6:])); both != utf8.RuneError {
			return both, i + 12
		}
		return utf8.RuneError, i + 6
	}
	return c, i + 6
}

// unit returns the value of \uXXXX at the beginning of s, -1 if there is none.
func unit(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
