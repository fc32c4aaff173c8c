package jsonl

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/testsize"
)

// readLines returns the records of a file, each with its offset, and the problems.
func readLines(t testing.TB, in string) (records, problems []string) {
	_, list, err := sink.ReadAll("", func(in io.Reader, to transcript.Sink) error {
		return Read(in, to, func(l Line) error {
			records = append(records, fmt.Sprintf("%d:%s", l.offset, l.Raw))
			return nil
		})
	}, strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list {
		problems = append(problems, fmt.Sprintf("%d:%d: %s", w.Line, w.Offset, w.What))
	}
	return records, problems
}

// TestGluedRecords: records on one line are read one by one, also after a torn one, which
// is reported with its position.
func TestGluedRecords(t *testing.T) {
	const torn = "a torn record is on the line of another one"
	for _, c := range []struct{ name, in, records, problems string }{
		{"two whole ones", "{\"a\":1}{\"b\":2}\n{\"c\":3}\n", `0:{"a":1} 7:{"b":2} 15:{"c":3}`, ""},
		{"three with spaces", " {\"a\":1} {\"b\":2}\t{\"c\":\"}{\"}\n", `1:{"a":1} 9:{"b":2} 17:{"c":"}{"}`, ""},
		{"torn in a string", `{"type":"us{"parent":1,"x":{"y":2}}` + "\n", `11:{"parent":1,"x":{"y":2}}`, "1:0: " + torn},
		{"torn in a key", `{"type":1,"par{"parent":1}` + "\n", `14:{"parent":1}`, "1:0: " + torn},
		{"torn behind a backslash", `{"type":"a\{"parent":1}` + "\n", `11:{"parent":1}`, "1:0: " + torn},
		{"torn in a number", `{"type":12{"parent":1}` + "\n", `10:{"parent":1}`, "1:0: " + torn},
		{"torn in a character", "{\"type\":\"\xe2\x82{\"parent\":1}\n", `11:{"parent":1}`, "1:0: " + torn},
		{"torn twice", `{"ty{"type":"us{"parent":1}` + "\n", `15:{"parent":1}`, "1:0: " + torn},
		{"torn at both ends", `{"a":1}{"b":2}{"c"` + "\n", `0:{"a":1} 7:{"b":2}`, "1:14: " + torn},
		{"torn before a value", `{"t":1,"u":"x"}` + "\n" + `{"t":1,"u":{"t":2,"u":[]}` + "\n", `0:{"t":1,"u":"x"} 27:{"t":2,"u":[]}`, "2:16: " + torn},
		{"torn before a value, two follow", `{"t":1,"u":"x"}` + "\n" + `{"t":1,"u":{"t":2,"u":[]}{"t":3}` + "\n", `0:{"t":1,"u":"x"} 27:{"t":2,"u":[]} 41:{"t":3}`, "2:16: " + torn},
		{"zeros between", "{\"t\":1,\"u\":2}\n{\"t\":\"\x00\x00\x00\x00{\"t\":2,\"u\":3}\n", `0:{"t":1,"u":2} 24:{"t":2,"u":3}`, "2:14: " + torn},
		{"a part of a torn record", `{"t":1,"u":"x"}` + "\n" + `{"t":1,"m":{"v":2}` + "\n", `0:{"t":1,"u":"x"}`, "2:16: invalid JSON: byte 18: the file ends in the middle"},
		{"a record inside the last one, which may grow", `{"t":1,"u":"x"}` + "\n" + `{"t":1,"u":{"t":2,"u":[]}`, `0:{"t":1,"u":"x"}`, "2:16: truncated"},
		{"no object", "[{\"a\":1}]\n", "", "1:0: not a JSON object"},
		{"a mark at the beginning", "\xef\xbb\xbf{\"a\":1}{\"b\":2}", `3:{"a":1} 10:{"b":2}`, ""},
	} {
		records, problems := readLines(t, c.in)
		got := strings.Join(records, " ")
		if got != c.records || strings.Join(problems, "; ") != c.problems {
			t.Errorf("%s: read\n%s\n%s\nwant\n%s\n%s", c.name, got, problems, c.records, c.problems)
		}
	}
}

// TestGluedAnywhere: a complete record after one that is torn anywhere is read, and nothing
// else is.
func TestGluedAnywhere(t *testing.T) {
	record := `{"parent":"p\u00e9","kind":"say \"{\" [","message":{"role":"user","content":[{"type":"text","text":"a\\"},12e3,true,null]},"id":"é"}`
	for cut := range len(record) {
		in := record + "\n" + record[:cut] + record + "\n" + record + "\n"
		var got []string
		records, problems := readLines(t, in)
		for _, r := range records {
			_, raw, _ := strings.Cut(r, ":")
			got = append(got, raw)
		}
		if want := []string{record, record, record}; !slices.Equal(got, want) || cut > 0 != (len(problems) == 1) {
			t.Errorf("cut at %d (%s): read %q, %v", cut, record[:cut], got, problems)
		}
	}
}

// TestGluedWork: a reader gives up soon on a long line that is not a record.
func TestGluedWork(t *testing.T) {
	size := testsize.Of(1<<18, 2<<20, 4<<20)
	for name, unit := range map[string]string{
		"open objects": "{", "open keys": `{"`, "nested": `{"a":`, "lists": `{"a":[`, "wrong values": `{"a":x`, "records": `{"a":1}`, "torn records": `{"a":"`,
	} {
		in := []byte("{\"a\":1}\n" + strings.Repeat(unit, size/len(unit)) + "\n")
		start := time.Now()
		_, _, err := sink.ReadAll("", func(in io.Reader, to transcript.Sink) error {
			return Read(in, to, func(Line) error { return nil })
		}, bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v for %d MiB", name, took, size>>20)
		}
	}
}
