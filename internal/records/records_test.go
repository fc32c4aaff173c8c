package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
)

const (
	longText = `"A sentence that is longer than the shortest value that is named."`
	longASCI = `"Une phrase r\u00e9p\u00e9t\u00e9e, assez longue \ud83c\udf3f."`
	longUTF8 = `"Une phrase répétée, assez longue 🌿."`
)

// TestSharedRecords: a value that occurs twice in a message is replaced by a reference, and
// all values are restored.
func TestSharedRecords(t *testing.T) {
	for _, c := range []struct{ name, content, records, want, texts string }{
		{"a string that is the content", longText, `[{"a":` + longText + `}]`, `[{"a":""}]`, `[1]`},
		{"a part", `[{"text":` + longText + `}]`, `[{"b":[1,` + longText + `],"c":""}]`, `[{"b":[1,""],"c":""}]`, `[3]`},
		{"an empty string before it", longText, `[{"a":"","b":` + longText + `}]`, `[{"a":"","b":""}]`, `[0,1]`},
		{"arguments", `[{"meta":{"arguments":"{\"path\":\"a/b/c\",\"n\": 1.0}"}}]`, `[{"input":{"path":"a/b/c","n": 1.0}}]`, `[{"input":""}]`, `[-4]`},
		{"an object", `[{"raw":{"kind":"x","list":[1,2,3]}}]`, `[{"raw":{"kind":"x","list":[1,2,3]}}]`, `[""]`, `[2]`},
		{"an earlier record", `"x"`, `[{"a":` + longText + `},{"b":` + longText + `}]`, `[{"a":` + longText + `},{"b":""}]`, `[3]`},
		{"the same record", `"x"`, `[{"usage":{"input":1,"output":2}},{"usage":{"input":1,"output":2}}]`, `[{"usage":{"input":1,"output":2}},""]`, `[2]`},
		{"the same string in the same record", `"x"`, `[[` + longText + `,` + longText + `]]`, `[[` + longText + `,""]]`, `[3]`},
		{"escapes of Python", longUTF8, `[{"a":` + longASCI + `}]`, `[{"a":""}]`, `[[1]]`},
		{"other escapes", longUTF8, `[{"a":` + strings.ToUpper(longASCI[:20]) + longASCI[20:] + `}]`, "", ""},
		{"short ones", `"short"`, `[{"a":"short"}]`, "", ""},
		{"none", `"x"`, `[]`, "", ""},
		{"white space", longText, "[ {\n\t\"a\" : " + longText + " } ]", "[{\n\t\"a\" : \"\" }]", `[1]`},
		{"numbers of Python", longText, `[{"a":NaN,"b":` + longText + `}]`, `[{"a":NaN,"b":""}]`, `[1]`},
		{"a key twice", longText, `[{"a":` + longText + `,"a":""}]`, `[{"a":"","a":""}]`, `[1]`},
		{"an object with referenced values", longText, `[{"a":[` + longText + `]},{"b":[` + longText + `]}]`, `[{"a":[""]},{"b":""}]`, `[1,3]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			records := Split([]byte(c.records))
			array, texts := Shared([]byte(c.content), records)
			if want := c.want; want == "" {
				if texts != nil || !bytes.Equal(array, Join(records)) {
					t.Errorf("%s, %s, want them unchanged", array, texts)
				}
				return
			}
			if string(array) != c.want || string(texts) != c.texts {
				t.Errorf("%s, %s\nwant %s, %s", array, texts, c.want, c.texts)
			}
			back, err := expandRecords([]byte(c.content), array, texts)
			if err != nil || !slices.EqualFunc(back, records, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
				t.Errorf("back come %s, %v", back, err)
			}
		})
	}
}

// FuzzSharedRecords: for any records and content, the stored form is JSON and expands to
// the same records, byte for byte.
func FuzzSharedRecords(f *testing.F) {
	for _, seed := range []struct{ content, records string }{
		{longText, `[{"a":` + longText + `}]`},
		{`[{"text":` + longUTF8 + `}]`, `[{"b":[1,` + longASCI + `],"c":"",` + longText + `:` + longText + `}]`},
		{`[{"meta":{"arguments":"{\"path\":\"a/b/c\",\"n\": 1.0}"}}]`, `[{"input":{"path":"a/b/c","n": 1.0}}]`},
		{`[{"raw":{"kind":"x","list":[1,2,3]}}]`, `[{"raw":{"kind":"x","list":[1,2,3]}},"",[],{}]`},
		{`"\ud83d and then some longer text"`, `["\ud83d and then some longer text",{"a":{"a":["a long key and value"]}},{"a":["a long key and value"]}]`},
		{`null`, `[{"a":{"a":["a long key and value"]}},{"a":["a long key and value"]},{"a":{"a":["a long key and value"]}}]`},
	} {
		f.Add([]byte(seed.content), []byte(seed.records))
	}
	f.Fuzz(func(t *testing.T, content, list []byte) {
		if rawjson.Check(content) != nil || rawjson.Check(list) != nil || !gjson.ParseBytes(list).IsArray() {
			return
		}
		records := Split(list)
		array, texts := Shared(content, records)
		if err := rawjson.Check(array); err != nil {
			t.Fatalf("%s is stored as %s: %v", list, array, err)
		}
		raw := fmt.Appendf(nil, `{"content":%s,"metadata":{"bough":{"source":{"records":%s}}}}`, content, array)
		if texts != nil {
			raw = fmt.Appendf(nil, `{"content":%s,"metadata":{"bough":{"source":{"records":%s,"texts":%s}}}}`, content, array, texts)
		}
		if got := Of(raw); !slices.EqualFunc(got, records, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Fatalf("%s is stored as %s, %s, and read as %s", list, array, texts, got)
		}
		whole := Expand(raw)
		if got := Of(whole); len(got) != len(records) || rawjson.Check(whole) != nil {
			t.Fatalf("%s whole is %s", raw, whole)
		}
	})
}

// FuzzExpandRecords: damaged texts are an error, or expand to a limited size.
func FuzzExpandRecords(f *testing.F) {
	for _, texts := range []string{`[1]`, `[-1]`, `[[1]]`, `[0]`, `[2,1]`, `[3,3,3]`, `{}`, `[1.5]`, `["x"]`, `[null]`, `[[[1]]]`, `[-2147483648]`, `[99999999999999999999]`, `[[]]`} {
		f.Add([]byte(`["`+strings.Repeat("x", 40)+`",{"a":"b"}]`), []byte(`[{"a":["","",["",""]]},""]`), []byte(texts))
	}
	f.Fuzz(func(t *testing.T, content, array, texts []byte) {
		if rawjson.Check(content) != nil || rawjson.Check(array) != nil || rawjson.Check(texts) != nil || !gjson.ParseBytes(array).IsArray() {
			return
		}
		records, err := expandRecords(content, array, texts)
		size := 0
		for _, r := range records {
			size += len(r)
		}
		if err == nil && size > sizeLimit(len(content), len(array)) {
			t.Errorf("%d bytes become %d", len(content)+len(array), size)
		}
	})
}

// TestDamagedTexts: records that cannot be expanded are omitted.
func TestDamagedTexts(t *testing.T) {
	for _, texts := range []string{`[9]`, `[-3]`, `[1,1]`, `{}`, `"x"`, `[1.5]`, `[-1]`, `[[1]]`, `[-2147483649]`, `[1e3]`} {
		raw := fmt.Appendf(nil, `{"content":["plain"],"metadata":{"bough":{"source":{"records":[{"a":""}],"texts":%s}}}}`, texts)
		got := Of(raw)
		if got != nil {
			t.Errorf("with %s there are %s", texts, got)
		}
		if whole := Expand(raw); !bytes.Equal(whole, raw) {
			t.Errorf("with %s it is %s", texts, whole)
		}
	}
	bomb := []byte(`["0123456789","",""`)
	texts := []byte(`[1,2`)
	for i := range 64 {
		bomb = append(bomb, `,["",""]`...)
		texts = fmt.Appendf(texts, ",%d,%d", i+2, i+2)
	}
	if _, err := expandRecords([]byte(`"0123456789"`), append(bomb, ']'), append(texts, ']')); err == nil {
		t.Error("small records expand without a limit")
	}
}

// TestRecordsOfMessage: records are unchanged when the message stores them with references,
// or without.
func TestRecordsOfMessage(t *testing.T) {
	plain := `{"content":` + longText + `,"metadata":{"bough":{"source":{"format":"x","records":[{"a":` + longText + `}],"kind":"y"}}},"x":1}`
	shared := Share([]byte(plain))
	if want := `"records":[{"a":""}],"texts":[1],"kind":"y"`; !strings.Contains(string(shared), want) {
		t.Errorf("%s has no %s", shared, want)
	}
	if got, want := fmt.Sprintf("%s", Of(shared)), `[{"a":`+longText+`}]`; got != want {
		t.Errorf("%s has %s, want %s", shared, got, want)
	}
	if whole := Expand(shared); !strings.Contains(string(whole), `"records":[{"a":`+longText+`}],"texts":[],"kind"`) {
		t.Errorf("whole it is %s", whole)
	}
	for _, raw := range []string{`{}`, `{"metadata":{"bough":{"source":{"records":1}}}}`, `[]`} {
		if got := Of([]byte(raw)); got != nil {
			t.Errorf("%s has %s", raw, got)
		}
	}
}

// TestSharedRecordsAtRandom: records of values that occur in many places are restored.
func TestSharedRecordsAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	scalars := []string{`""`, `"x"`, `1`, `null`, longText, longASCI, longUTF8, `"{\"path\":\"a/b/c\",\"n\":1.0}"`, `{"path":"a/b/c","n":1.0}`, `[]`, `{}`}
	var value func(depth int) string
	value = func(depth int) string {
		if n := random.IntN(len(scalars) + 4); depth == 0 || n < len(scalars) {
			return scalars[n%len(scalars)]
		}
		var parts []string
		for range random.IntN(4) {
			parts = append(parts, value(depth-1))
		}
		if random.IntN(2) == 0 {
			return "[" + strings.Join(parts, ", ") + "]"
		}
		for i := range parts {
			parts[i] = fmt.Sprintf(`"%d": %s`, i%2, parts[i])
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	named := 0
	for range 20_000 {
		content := value(3)
		var records []json.RawMessage
		for range random.IntN(4) {
			records = append(records, json.RawMessage(value(5)))
		}
		array, texts := Shared([]byte(content), records)
		if texts == nil {
			texts = []byte("[]")
		} else {
			named++
		}
		back, err := expandRecords([]byte(content), array, texts)
		if err != nil || !slices.EqualFunc(back, records, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Fatalf("%s beside %s is stored as %s, %s, and read as %s, %v", records, content, array, texts, back, err)
		}
	}
	if named < 1_000 {
		t.Errorf("only %d of them have references", named)
	}
}
