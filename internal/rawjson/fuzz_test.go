package rawjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/rawjson"
)

var documents = []string{
	"", " ", "\xef\xbb\xbf{}", `{}`, `[]`, `{"a":1,"b":[1.0,2e5,-0],"c":{"d":null}}`,
	`{"a":NaN,"b":[Infinity,-Infinity],"c":"NaN"}`, `[1NaN]`, `[NaN5]`, `{NaN:1}`, `[-NaN]`, `-Infinity`,
	`{"id":1,"\u0069d":2}`, `{"a\"b":"\\","c":"\ud83d\ude00 \ud83d"}`, "[\"\u4f60\",\"\u2028\"]", "[\"\xff\"]",
	`{"a":1}}`, `{"a":1} {}`, `["a`, `["a\`, "[\"abcdefgh\x1fij\"]", `{"abcdefghi\"jklmnopq":"rstuvwxyz\\"}`, `[1,]`, `{"a":}`, "[\"\x01\"]", `[01]`, `[1.]`, `[+1]`, `[.5]`, `[1e]`,
	"\n\t[ 1 , { \"a\" : [ ] } , \"x\" ]\r\n", `[true,false,null]`, `[tru]`, `nul`, "\x00", `"\u12"`, `{"":{"":[[[]]]}}`,
}

func addDocuments(f *testing.F) {
	if len(documents) == 0 {
		f.Fatal("no seeds")
	}
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
}

// plain returns data with each of Python's number tokens, outside strings and not
// part of a longer word, replaced by a number of its length, and whether data is
// UTF-8 without a byte order mark.
func plain(data []byte) ([]byte, bool) {
	if !utf8.Valid(data) || bytes.HasPrefix(data, []byte("\ufeff")) {
		return nil, false
	}
	out := bytes.Clone(data)
	wordy := func(i int) bool {
		return i >= 0 && i < len(data) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", data[i]) >= 0
	}
	for i, inside, escaped := 0, false, false; i < len(data); i++ {
		switch {
		case escaped:
			escaped = false
		case inside && data[i] == '\\':
			escaped = true
		case data[i] == '"':
			inside = !inside
		case inside || wordy(i-1):
		default:
			for _, token := range []string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(data[i:], []byte(token)) && !wordy(i+len(token)) {
					copy(out[i:], strings.Repeat("1", len(token)))
				}
			}
		}
	}
	return out, true
}

// FuzzCheck: a valid document is a single value for encoding/json, except for
// Python's numbers, in UTF-8 without a byte order mark; an error has an offset in
// it.
func FuzzCheck(f *testing.F) {
	addDocuments(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		err := rawjson.Check(data)
		numbers, ok := plain(data)
		if want := ok && json.Valid(numbers); (err == nil) != want {
			t.Errorf("Check(%q) = %v, want valid: %v", data, err, want)
		}
		if syntax, ok := err.(*rawjson.SyntaxError); err != nil && (!ok || syntax.Offset < 0 || syntax.Offset > len(data) || syntax.Problem == "") {
			t.Errorf("Check(%q) = %v, want an offset in the document", data, err)
		}
		if !bytes.Equal(data, kept) {
			t.Errorf("Check changed %q to %q", kept, data)
		}
	})
}

// FuzzDense: a document without white space equals the result of encoding/json.
func FuzzDense(f *testing.F) {
	addDocuments(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if rawjson.Check(data) != nil || bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Infinity")) {
			rawjson.Dense(data)
			return
		}
		if got, want := string(rawjson.Dense(data)), compact(t, data); got != want {
			t.Errorf("Dense(%q) = %q, want %q", data, got, want)
		}
	})
}

// FuzzSpans: members and elements, joined again, equal the original value.
func FuzzSpans(f *testing.F) {
	addDocuments(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if rawjson.Check(data) != nil {
			return
		}
		rejoin(t, data, rawjson.Root(data))
	})
}

func rejoin(t *testing.T, data []byte, s rawjson.Span) {
	var parts []rawjson.Span
	var again []byte
	switch data[s.Start] {
	case '{':
		members, err := rawjson.Members(data, s)
		if err != nil {
			return
		}
		again = append(again, '{')
		for i, m := range members {
			if i > 0 {
				again = append(again, ',')
			}
			again = append(again, data[m.KeyStart:m.Value.End]...)
			parts = append(parts, m.Value)
			sameKey(t, data[m.KeyStart:m.Value.Start], m.Key)
		}
		again = append(again, '}')
	case '[':
		again = append(again, '[')
		for i, e := range rawjson.Elements(data, s) {
			if i > 0 {
				again = append(again, ',')
			}
			again = append(again, e.Of(data)...)
			parts = append(parts, e)
		}
		again = append(again, ']')
	default:
		return
	}
	if got, want := compact(t, again), compact(t, s.Of(data)); got != want {
		t.Errorf("%q is put together as %s, want %s", data, got, want)
	}
	for _, p := range parts {
		rejoin(t, data, p)
	}
}

// sameKey compares a key with that of encoding/json, unless it has unpaired
// surrogates.
func sameKey(t *testing.T, quoted []byte, key string) {
	var want string
	if err := json.NewDecoder(bytes.NewReader(quoted)).Decode(&want); err != nil {
		t.Errorf("%q does not begin with a key: %v", quoted, err)
	} else if want != key && !strings.ContainsRune(want, utf8.RuneError) {
		t.Errorf("the key %s is read as %q", quoted, key)
	}
}

func compact(t *testing.T, value []byte) string {
	numbers, _ := plain(value)
	var b bytes.Buffer
	if err := json.Compact(&b, numbers); err != nil {
		t.Fatalf("%q is not a value: %v", value, err)
	}
	return b.String()
}
