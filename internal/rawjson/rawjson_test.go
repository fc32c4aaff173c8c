package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testsize"
)

func TestCheckAccepts(t *testing.T) {
	deep := strings.Repeat("[", rawjson.MaxDepth) + strings.Repeat("]", rawjson.MaxDepth)
	for _, doc := range []string{
		`{}`, `[]`, `""`, `null`, `-0.0e+10`, " \t\r\n[1, 2]\n\n",
		`NaN`, `-Infinity`, `[NaN, Infinity,-Infinity ]`, `{"a":NaN}`, `{"NaN":"Infinity","x":-Infinity}`,
		`"\ud83d "`, `"\ud800\ud800"`, `123456789012345678901234567890`, `1e999`,
		`{"k":{"a":1,"a":2}}`, `{"a":1,"a":2}`,
		"\"\ufeff\"", "\"\u2028\x7f\"",
		`"` + strings.Repeat("[", 2*rawjson.MaxDepth) + `\"{"`,
		deep, "[" + strings.Repeat(`{},{"":[]},`, rawjson.MaxDepth) + "0]",
	} {
		if err := rawjson.Check([]byte(doc)); err != nil {
			t.Errorf("Check(%.40q) = %v", doc, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		doc     string
		offset  int
		problem string
	}{
		{"", 0, "empty"},
		{" \r\n\t", 4, "empty"},
		{"\xef\xbb\xbf{}", 0, "byte order mark"},
		{"{\"a\":\"\xff\"}", 6, "invalid UTF-8"},
		{"\"\xed\xa0\x80\"", 1, "invalid UTF-8"},
		{"{\"a\":\"\xe4\xbd", 6, "invalid UTF-8"},
		{"{}\x80", 2, "invalid UTF-8"},
		{`{"a":1`, 6, "ends in the middle"},
		{`{"a":"x`, 7, "ends in the middle"},
		{`["x\"`, 5, "ends in the middle"},
		{`[nul`, 4, "ends in the middle"},
		{`[NaN`, 4, "ends in the middle"},
		{`{"a":1,}`, 7, "invalid character '}'"},
		{`{"a" 1}`, 5, "invalid character '1'"},
		{`[1 2]`, 3, "invalid character '2'"},
		{`{'a':1}`, 1, "invalid character '\\''"},
		{`[01]`, 2, "invalid character '1'"},
		{"[\"a\nb\"]", 3, "invalid character '\\n'"},
		{`["\x41"]`, 3, "invalid character 'x'"},
		{`[NaN,,1]`, 5, "invalid character ','"},
		{`[nan]`, 2, "invalid character 'a'"},
		{`{NaN:1}`, 1, "invalid character"},
		{`[NaM]`, 1, "invalid character 'N'"},
		{`[-Infinite]`, 2, "invalid character 'I'"},
		{`{"a":1} {"b":2}`, 8, "more follows"},
		{`[1]]`, 3, "more follows"},
		{`NaN NaN`, 4, "more follows"},
		{strings.Repeat("[", rawjson.MaxDepth+1), rawjson.MaxDepth, "nested"},
		{`{"a":"[",` + strings.Repeat(`"a":{`, rawjson.MaxDepth), 9 + 5*rawjson.MaxDepth - 1, "nested"},
	} {
		var syntax *rawjson.SyntaxError
		if err := rawjson.Check([]byte(c.doc)); !errors.As(err, &syntax) {
			t.Errorf("Check(%.40q) = %v, want a *SyntaxError", c.doc, err)
		} else if syntax.Offset != c.offset || !strings.Contains(syntax.Problem, c.problem) {
			t.Errorf("Check(%.40q) = %v, want byte %d: %s", c.doc, err, c.offset, c.problem)
		}
	}
}

// TestCheckLongStrings puts bytes that end or break a string, and ones that only
// look like it, at every position of strings of many lengths.
func TestCheckLongStrings(t *testing.T) {
	for _, c := range []struct {
		piece string
		bad   int // index of the invalid byte of the piece, -1 for none
	}{
		{"\x1f", 0}, {"\x00", 0}, {"\n", 0}, {"\"", 1}, {`\x`, 1}, {`\u12g4`, 4},
		{" ", -1}, {"!", -1}, {"\x7f", -1}, {`\"`, -1}, {`\\`, -1}, {`\u001f`, -1}, {"é", -1}, {"\U0010ffff", -1}, {"{[", -1},
	} {
		for n := range 400 {
			before, after := n/20, n%20
			doc := `["` + strings.Repeat("a", before) + c.piece + strings.Repeat("b", after) + `x"]`
			err := rawjson.Check([]byte(doc))
			var syntax *rawjson.SyntaxError
			if c.bad < 0 && err != nil {
				t.Fatalf("Check(%q) = %v", doc, err)
			} else if c.bad >= 0 && (!errors.As(err, &syntax) || syntax.Offset != 2+before+c.bad) {
				t.Fatalf("Check(%q) = %v, want byte %d", doc, err, 2+before+c.bad)
			}
		}
	}
}

// TestCheckEscapes: the bytes accepted after a backslash are those of
// encoding/json.
func TestCheckEscapes(t *testing.T) {
	for c := range byte(0x80) {
		for _, rest := range []string{`"`, `0aF9"`, strings.Repeat("a", 100) + `"`} {
			doc := `"\` + string(c) + rest
			if err := rawjson.Check([]byte(doc)); (err == nil) != json.Valid([]byte(doc)) {
				t.Errorf("Check(%q) = %v", doc, err)
			}
		}
	}
}

// TestPythonNumbersStandAlone: Python's numbers are accepted only as complete
// tokens.
func TestPythonNumbersStandAlone(t *testing.T) {
	for _, doc := range []string{`[1NaN]`, `[-NaN]`, `[NaN5]`, `[NaN.5]`, `[NaNNaN]`, `[1e-Infinity]`, `[--Infinity]`, `[NaNe1]`} {
		if err := rawjson.Check([]byte(doc)); err == nil {
			t.Errorf("Check(%q) = nil, want an error", doc)
		}
	}
}

func TestMembers(t *testing.T) {
	const doc = ` {"a" : NaN , "\u0062\n":{"a":[1, {}]},"":"x\"}", "c":-Infinity}`
	members, err := rawjson.Members([]byte(doc), rawjson.Root([]byte(doc)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range members {
		if doc[m.KeyStart] != '"' {
			t.Errorf("the key %q begins at %q", m.Key, doc[m.KeyStart:])
		}
		got = append(got, m.Key+"="+string(m.Value.Of([]byte(doc))))
	}
	want := []string{"a=NaN", "b\n=" + `{"a":[1, {}]}`, `="x\"}"`, "c=-Infinity"}
	if !slices.Equal(got, want) {
		t.Errorf("members are %q, want %q", got, want)
	}
	if span, ok := rawjson.Find(members, "b\n"); !ok || span != members[1].Value {
		t.Errorf("Find = %v, %v, want %v", span, ok, members[1].Value)
	}
	if _, ok := rawjson.Find(members, "d"); ok {
		t.Error("found a missing key")
	}
	if members, err := rawjson.Members([]byte("[{ }]"), rawjson.Span{Start: 1, End: 4}); err != nil || len(members) != 0 {
		t.Errorf("members of an empty object are %v, %v", members, err)
	}
}

func TestMembersRefuses(t *testing.T) {
	for _, c := range []struct {
		doc    string
		offset int
	}{
		{`[1]`, 0},
		{` "x"`, 1},
		{`{"a":1, "b":2, "a":3}`, 15},
		{`{"id":1,"\u0069d":2}`, 8},
		{`{"":1,"":2}`, 6},
	} {
		var syntax *rawjson.SyntaxError
		_, err := rawjson.Members([]byte(c.doc), rawjson.Root([]byte(c.doc)))
		if !errors.As(err, &syntax) || syntax.Offset != c.offset {
			t.Errorf("Members(%q) = %v, want an error at byte %d", c.doc, err, c.offset)
		}
	}
}

func TestElements(t *testing.T) {
	const doc = "[[ 1,\"],\" ,\n{\"a\":[2]},NaN,null,-1e5 , []]]"
	var got []string
	for _, s := range rawjson.Elements([]byte(doc), rawjson.Span{Start: 1, End: len(doc) - 1}) {
		got = append(got, string(s.Of([]byte(doc))))
	}
	want := []string{"1", `"],"`, `{"a":[2]}`, "NaN", "null", "-1e5", "[]"}
	if !slices.Equal(got, want) {
		t.Errorf("elements are %q, want %q", got, want)
	}
	if spans := rawjson.Elements([]byte("[ ]"), rawjson.Span{Start: 0, End: 3}); len(spans) != 0 {
		t.Errorf("an empty array has elements %v", spans)
	}
}

// TestSpanOf verifies that appending to a value does not write into the document.
func TestSpanOf(t *testing.T) {
	doc := []byte(`[1,2]`)
	_ = append(rawjson.Span{Start: 1, End: 2}.Of(doc), "xxx"...)
	if string(doc) != `[1,2]` {
		t.Errorf("the document is now %q", doc)
	}
}

func TestWrite(t *testing.T) {
	value := map[string]any{"list": []any{1, "a<b>&\u2028"}, "none": []string{}, "object": map[string]any{}}
	for _, c := range []struct {
		what, got, want string
	}{
		{"Compact", string(rawjson.Compact("a<b>&\n☃")), `"a<b>&\n☃"`},
		{"Compact", string(rawjson.Compact(nil)), `null`},
		{"Value", string(rawjson.Value(value, 1)), "{\n    \"list\": [\n      1,\n      \"a<b>&\\u2028\"\n    ],\n    \"none\": [],\n    \"object\": {}\n  }"},
		{"Layout", string(rawjson.Layout([]byte(`{"b":1,"a":[1.0,1e5]}`), 0)), "{\n  \"b\": 1,\n  \"a\": [\n    1.0,\n    1e5\n  ]\n}"},
		{"Layout", string(rawjson.Layout([]byte(`{"a": NaN}`), 2)), `{"a": NaN}`},
		{"AppendObject", string(rawjson.AppendObject([]byte("x"), nil, 3)), "x{}"},
		{"AppendObject", string(rawjson.AppendObject(nil, []rawjson.Pair{
			{Key: "a\"", Value: []byte("1.0")},
			{Key: "b", Value: []byte("NaN")},
		}, 1)), "{\n    \"a\\\"\": 1.0,\n    \"b\": NaN\n  }"},
		{"AppendLine", string(rawjson.AppendLine([]byte("x"), nil)), "x{}"},
		{"AppendLine", string(rawjson.AppendLine(nil, []rawjson.Pair{
			{Key: "a\"", Value: []byte("[1, 2]")},
			{Key: "b", Value: []byte("NaN")},
		})), `{"a\"":[1, 2],"b":NaN}`},
		{"Dense", string(rawjson.Dense([]byte(" { \"a \\\" b\" : [ 1.0 ,\n\tNaN ] }\r\n"))), `{"a \" b":[1.0,NaN]}`},
	} {
		if c.got != c.want {
			t.Errorf("%s = %q, want %q", c.what, c.got, c.want)
		}
	}
}

// TestManyMembers: a duplicate among many keys is found, early or late. A quadratic
// comparison would take minutes.
func TestManyMembers(t *testing.T) {
	n := testsize.Of(20_000, 100_000, 200_000)
	var doc bytes.Buffer
	separator := "{"
	for i := range n {
		fmt.Fprintf(&doc, `%s"k%d":%d`, separator, i, i)
		separator = ","
	}
	whole := doc.String() + "}"
	if members, err := rawjson.Members([]byte(whole), rawjson.Root([]byte(whole))); err != nil || len(members) != n {
		t.Errorf("%d members, %v", len(members), err)
	}
	for _, twice := range []string{"k0", "k15", "k16", "k17", fmt.Sprintf("k%d", n-1)} {
		again := fmt.Sprintf(`%s,"%s":0}`, doc.String(), twice)
		var syntax *rawjson.SyntaxError
		if _, err := rawjson.Members([]byte(again), rawjson.Root([]byte(again))); !errors.As(err, &syntax) || syntax.Offset != doc.Len()+1 {
			t.Errorf("%s twice: %v", twice, err)
		}
	}
}

// TestCompactText: a text is quoted as encoding/json quotes it.
func TestCompactText(t *testing.T) {
	list := []string{"", "plain", `a "quote"`, `back\slash`, "tab\t", "\x00\x1f\x7f", "<&>", "é\u2028", "\xff"}
	for c := range 0x100 {
		list = append(list, "a"+string([]byte{byte(c)})+"b")
	}
	for _, s := range list {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := rawjson.Compact(s); string(got)+"\n" != want.String() {
			t.Errorf("Compact(%q) = %s, want %s", s, got, &want)
		}
		line := rawjson.AppendLine(nil, []rawjson.Pair{{Key: s, Value: []byte("1")}})
		if got := "{" + strings.TrimSpace(want.String()) + ":1}"; string(line) != got {
			t.Errorf("AppendLine(%q) = %s, want %s", s, line, got)
		}
	}
}
