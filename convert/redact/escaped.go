package redact

import "bytes"

// escapes are the forms in which programs write the quotes and signs of a text into HTML, and
// into JSON beside the backslashes, which [text.unquote] handles.
var escapes = []struct{ form, char string }{
	{"&#34;", `"`}, {"&quot;", `"`}, {"&#39;", `'`}, {"&apos;", `'`}, {"&#x27;", `'`}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"},
	{`\u0026`, "&"}, {`\u0027`, `'`}, {`\u003c`, "<"}, {`\u003e`, ">"},
}

// inEscaped returns the spans of secrets that are found once the escapes of a text are
// replaced by their characters.
func (r *Redactor) inEscaped(s []byte) (spans []span) {
	plain, at := unescaped(s)
	if plain == nil {
		return nil
	}
	spans = r.findPlain(plain)
	for i, x := range spans {
		spans[i].start, spans[i].end = at[x.start], at[x.end]
	}
	return spans
}

// unescaped returns a text without escapes, and for each byte, and the end, its place in s. It
// returns nil if there are none.
func unescaped(s []byte) (plain []byte, at []int) {
	if bytes.IndexByte(s, '&') < 0 && !bytes.Contains(s, []byte(`\u00`)) {
		return nil, nil
	}
	is := false
	for i := 0; i < len(s); {
		form, char := "", s[i:i+1]
		if s[i] == '&' || s[i] == '\\' {
			for _, e := range escapes {
				if bytes.HasPrefix(s[i:], []byte(e.form)) {
					form, char, is = e.form, []byte(e.char), true
					break
				}
			}
		}
		if form != "" && s[i] == '\\' { // JSON in JSON has several backslashes
			for n := len(plain); n > 0 && plain[n-1] == '\\'; n-- {
				plain, at = plain[:n-1], at[:n-1]
			}
		}
		plain, at = append(plain, char...), append(at, i)
		i += max(len(form), 1)
	}
	if !is {
		return nil, nil
	}
	return plain, append(at, len(s))
}
