package query_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/query"
)

func parse(t testing.TB, s string) *query.Query {
	t.Helper()
	q, err := query.Parse(s, "")
	if err != nil {
		t.Fatalf("Parse(%q): %v", s, err)
	}
	return q
}

// marked returns text with brackets around the results of Find, or "-" if it does
// not match.
func marked(q *query.Query, text string) string {
	if !q.Match(text) {
		return "-"
	}
	for _, s := range slices.Backward(q.Find(text)) {
		text = text[:s.Start] + "[" + text[s.Start:s.End] + "]" + text[s.End:]
	}
	return text
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"", "anything", "anything"},
		{"lisbon", "A weekend in Lisbon, LISBON", "A weekend in [Lisbon], [LISBON]"},
		{"LISBON", "lisbon", "[lisbon]"},
		{"lisbon", "porto", "-"},
		{"bon", "Lisbon", "Lis[bon]"},
		{"rain lisbon", "Lisbon in the rain", "[Lisbon] in the [rain]"},
		{"rain lisbon", "Lisbon in the sun", "-"},
		{`"in the rain"`, "Lisbon in the rain", "Lisbon [in the rain]"},
		{`"in the rain"`, "in the\n\t rain", "[in the\n\t rain]"},
		{`"in the rain"`, "in the cold rain", "-"},
		{`"in the rain"`, "in the, in the rain", "in the, [in the rain]"},
		{`"a a b"`, "a a a b", "a [a a b]"},
		{`" the  rain "`, "in the rain", "in [the rain]"},
		{`the "the rain" ra`, "the rain", "[the rain]"},
		{"lisbon -rain", "Lisbon in the sun", "[Lisbon] in the sun"},
		{"lisbon -rain", "Lisbon in the rain", "-"},
		{`lisbon -"the rain"`, "rain in Lisbon", "rain in [Lisbon]"},
		{`lisbon -"the rain"`, "the rain in Lisbon", "-"},
		{"-rain", "sun", "sun"},
		{`"-rain"`, "sun -rain", "sun [-rain]"},
		{"- b", "a - b", "a [-] [b]"},
		{"--rain", "no --RAIN", "no [--RAIN]"},
		{"--rain", "no -rain", "-"},
		{`--"the rain"`, "sun", "-"},
		{"e-mail", "an E-Mail", "an [E-Mail]"},
		{`"say \"`, `say \`, `[say \]`},
		{"ÉTÉ", "un été", "un [été]"},
		{"ГРАММ", "грамматика", "[грамм]атика"},
		{"ὈΔΥΣΣΕΎΣ", "Ὀδυσσεύς", "[Ὀδυσσεύς]"},
		{"strasse", "Straße", "-"}, // one character never equals two
		{"STRAẞE", "Straße und Strasse", "[Straße] und Strasse"},
		{"kelvin", "300 \u212aelvin", "300 [\u212aelvin]"},
		{"\u212a", "skip", "s[k]ip"},
		{"maſs", "Mass", "[Mass]"},
		{"\u212aß x", "ẞ \u212aẞ x", "ẞ [\u212aẞ] [x]"},
		{"日本", "これは日本語です", "これは[日本]語です"},
		{"🌲", "a 🌲", "a [🌲]"},
		{"aa", "aaaaa", "[aa][aa]a"},
		{"a\u00a0b", "a b", "[a] [b]"},
		{`"a b"`, "a\u3000b", "[a\u3000b]"},
		{"b", "\xffaB", "\xffa[B]"},
	} {
		if got := marked(parse(t, c.query), c.text); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.text, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for s, want := range map[string]string{
		`"a phrase`:   "no closing double quote",
		`a -"b c`:     "no closing double quote",
		`""`:          "no words",
		`word -"  " `: "no words",
	} {
		if _, err := query.Parse(s, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q in it", s, err, want)
		}
	}
}

// TestMay: May returns true for all JSON forms of a matching text, and false for
// other texts as far as the start of words allows.
func TestMay(t *testing.T) {
	for _, c := range []struct {
		query, json string
		want        bool
	}{
		{"lisbon", `"in Lisbon"`, true},
		{"lisbon", `"in Lisb"`, false},
		{"lisbon", `"in \u004cisbon"`, true},
		{"lisbon", `"in L\u0069sbon"`, true},
		{"lisbon", `"in Li\u017fbon"`, true},
		{"lisbon", `"in Liſbon"`, true},
		{"lisbon", `"in Porto, Lis is short \u00e9"`, false},
		{"kiosk", `"\u212Aiosk"`, true},
		{"kiosk", `"Kiosk"`, true},
		{"été", `"un été"`, true},
		{"été", `"un \u00c9t\u00E9"`, true},
		{"été", `"un \u00e9t\\u00e9"`, true},
		{"été", `"un et\u00e9"`, false},
		{"été", `"un étau"`, false},
		{"грамм", `"\u0413\u0440\u0430\u043c\u043C"`, true},
		{"грамм", `"\\u0413\\u0440\\u0430\\u043c\\u043c"`, true},
		{"грамм", `"грам"`, false},
		{"🌲", `"\ud83c\udf32"`, true},
		{"🌲", `"\ud83c\udf33"`, false},
		{"🌲", `"🌲"`, true},
		{"a/b", `"a\/b"`, true},
		{`say"hi`, `"say\"hi\""`, true},
		{`"two words"`, `"two\nwords"`, true},
		{`"two words"`, `"two worms"`, false},
		{"null", `{"n":NaN}`, true},
		{`{"n":1}`, `{"n": 1}`, true},
		{"straße", `"STRAẞE"`, true},
		{"ß", `"\u1e9e"`, true},
		{"rain -sun", `"sun"`, false},
		{"-sun", `"sun"`, true}, // the position of an excluded word is unknown
		{"", `""`, true},
		{"ab", `b`, false},
		{"abc", `ab`, false},
	} {
		if got := parse(t, c.query).May([]byte(c.json)); got != c.want {
			t.Errorf("May %q be in %s: %v, want %v", c.query, c.json, got, c.want)
		}
	}
}

// TestWords: in words a hyphen excludes nothing.
func TestWords(t *testing.T) {
	for _, c := range []struct{ text, words, in, want string }{
		{"", "-rain", "no -rain", "no [-rain]"},
		{"", "-rain", "sun", "-"},
		{"", "--no-rain", "with --no-rain", "with [--no-rain]"},
		{"-sun", `-rain "--no rain"`, "-rain --no  rain", "[-rain] [--no  rain]"},
		{"-sun", "-rain", "-rain, sun", "-"},
		{"", "- b", "a - b", "a [-] [b]"},
	} {
		q, err := query.Parse(c.text, c.words)
		if err != nil {
			t.Fatal(err)
		}
		if got := marked(q, c.in); got != c.want {
			t.Errorf("%q and the words %q in %q: %q, want %q", c.text, c.words, c.in, got, c.want)
		}
	}
	if _, err := query.Parse("", `"open`); err == nil {
		t.Error("an unterminated phrase is accepted")
	}
}

// TestMayAnywhere: the position of a word in a file does not matter.
func TestMayAnywhere(t *testing.T) {
	q := parse(t, "Łódź")
	for n := range 40 {
		for _, word := range []string{"łódź", `\u0142\u00f3d\u017a`} {
			for _, after := range []string{"", " ", strings.Repeat("x", 20)} {
				json := strings.Repeat("ó", n/2) + strings.Repeat("d", n%2) + word + after
				if !q.May([]byte(json)) {
					t.Errorf("not found in %s", json)
				}
				if cut := json[:len(json)-len(after)-1]; q.May([]byte(cut)) {
					t.Errorf("found in %s", cut)
				}
			}
		}
	}
}

// BenchmarkMay measures scanning a page of English that does not match.
func BenchmarkMay(b *testing.B) {
	page := []byte(strings.Repeat(`The session of a conversation holds what came before it.\nIts leaf is \"here\" — `, 10_000))
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		for b.Loop() {
			if bytes.Contains(page, []byte("lisbon")) {
				b.Fatal("found")
			}
		}
	})
	for _, words := range []string{"lisbon", "sesame", "ab", "грамматика", `"что это"`} {
		b.Run(fmt.Sprintf("%q", words), func(b *testing.B) {
			q := parse(b, words)
			b.SetBytes(int64(len(page)))
			for b.Loop() {
				if q.May(page) {
					b.Fatal("found")
				}
			}
		})
	}
}
