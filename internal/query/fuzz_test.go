package query_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/query"
)

// plainly returns a regular expression for words and phrases: package regexp has
// its own case folding.
func plainly(words []string) *regexp.Regexp {
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(`(?i)` + strings.Join(words, `[\pZ\t-\r\x{85}]+`))
}

// encode encodes text as JSON with every character in one of its possible forms, as
// selected by how; ASCII characters are escaped if oddly is set.
func encode(text string, how uint64, oddly bool) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		how = how*6364136223846793005 + 1442695040888963407
		format := [...]string{`\u%04x`, `\u%04X`}[how>>63]
		switch way := how >> 60 & 7; {
		case r == '"' || r == '\\':
			fmt.Fprintf(&b, `\%c`, r)
		case r == '/' && way < 4:
			b.WriteString(`\/`)
		case r < ' ' || oddly && way == 0 || r >= utf8.RuneSelf && way < 4:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, format, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// FuzzQuery: a phrase is found exactly where a regular expression finds it, and May
// returns true for any JSON form of a text in which it is found, also if that JSON
// is a string in other JSON.
func FuzzQuery(f *testing.F) {
	f.Add("Lisbon", "in lisbon", uint64(1))
	f.Add("in the rain", "IN\tthe  rain", uint64(2))
	f.Add("грамм", "Грамматика", uint64(3))
	f.Add("ſkip 🌲 ẞ", "SKIP 🌲\u2003ß", uint64(4))
	f.Add("a/b", "A/B", uint64(5))
	f.Fuzz(func(t *testing.T, phrase, text string, how uint64) {
		words := strings.Fields(phrase)
		if len(words) == 0 || strings.Contains(phrase, `"`) || !utf8.ValidString(phrase) || !utf8.ValidString(text) {
			return
		}
		q, err := query.Parse(`"`+phrase+`"`, "")
		if err != nil {
			t.Fatal(err)
		}
		not, err := query.Parse(`-"`+phrase+`"`, "")
		if err != nil {
			t.Fatal(err)
		}
		want := plainly(words).FindAllStringIndex(text, -1)
		if found := q.Match(text); found != (want != nil) || not.Match(text) == found {
			t.Errorf("%q in %q: %v, not in it %v, want %v", phrase, text, found, not.Match(text), want)
		}
		spans := q.Find(text)
		if len(spans) != len(want) {
			t.Fatalf("%q in %q at %v, want %v", phrase, text, spans, want)
		}
		for i, s := range spans {
			if s.Start != want[i][0] || s.End != want[i][1] {
				t.Errorf("%q in %q at %v, want %v", phrase, text, spans, want)
			}
		}
		if want == nil {
			return
		}
		once := encode(text, how, true)
		if !json.Valid([]byte(once)) {
			t.Fatalf("%s is no JSON", once)
		}
		if !q.May([]byte(once)) {
			t.Errorf("%q passes over %s", phrase, once)
		}
		if twice := encode(once, how>>1, false); !q.May([]byte(twice)) {
			t.Errorf("%q passes over %s", phrase, twice)
		}
	})
}
