package copilotchat

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

type problems struct {
	transcript.Sink
	list []transcript.Problem
}

func (p *problems) Problem(pr transcript.Problem) { p.list = append(p.list, pr) }

func readText(t *testing.T, text string) (around string, all []request) {
	t.Helper()
	var p problems
	raw, all, _, err := readJournal(strings.NewReader(text), &p)
	if err != nil || len(p.list) > 0 {
		t.Fatal(err, p.list)
	}
	return string(raw), all
}

// TestSplices: an entry that replaces the end of a long list costs what it replaces, and not what
// the list has.
func TestSplices(t *testing.T) {
	allocated := func(splices int) uint64 {
		const parts = 20_000
		j := &journal{places: map[string]int{}}
		j.apply(gjson.Parse(`{"kind":0,"v":{"requests":[{"requestId":"a","response":[` + strings.Repeat("0,", parts) + `0]}]}}`))
		last := gjson.Parse(fmt.Sprintf(`{"kind":2,"k":["requests",0,"response"],"i":%d,"v":[1]}`, parts))
		var before, after runtime.MemStats
		j.apply(last)
		runtime.ReadMemStats(&before)
		for range splices {
			if what := j.apply(last); what != "" {
				t.Fatal(what)
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(splices)
	}
	if n := allocated(200); n > 4000 {
		t.Errorf("each entry allocates %d bytes", n)
	}
}

// TestChanged: only the requests that an entry changed are looked at.
func TestChanged(t *testing.T) {
	for _, c := range []struct {
		entry         string
		before, after int
		from, to      int
	}{
		{`{"kind":1,"k":["requests"],"v":[]}`, 9, 4, 0, 4},
		{`{"kind":1,"k":["requests",3],"v":{}}`, 9, 9, 3, 4},
		{`{"kind":1,"k":["requests",9],"v":{}}`, 9, 10, 9, 10},
		{`{"kind":1,"k":["requests",12],"v":{}}`, 9, 9, 9, 9},
		{`{"kind":1,"k":["requests","x"],"v":{}}`, 9, 9, 9, 9},
		{`{"kind":3,"k":["requests",2]}`, 9, 9, 2, 3},
		{`{"kind":3,"k":["requests"]}`, 9, 0, 0, 0},
		{`{"kind":2,"k":["requests"],"v":[{}]}`, 9, 10, 9, 10},
		{`{"kind":2,"k":["requests"],"i":5,"v":[{}]}`, 9, 6, 5, 6},
		{`{"kind":2,"k":["requests"],"i":5}`, 9, 5, 5, 5},
		{`{"kind":2,"k":["requests"],"i":"5","v":[{}]}`, 9, 10, 9, 10},
		{`{"kind":2,"k":["requests"],"i":50,"v":[{}]}`, 9, 10, 9, 10},
	} {
		entry := gjson.Parse(c.entry)
		path, _ := pathOf(entry.Get("k"))
		if from, to := changed(entry, path, c.before, c.after); from != c.from || to != c.to {
			t.Errorf("%s changes %d to %d, want %d to %d", c.entry, from, to, c.from, c.to)
		}
	}
}

// TestNames: members whose names differ only in half a surrogate pair stay apart, and an entry
// changes the one that it names.
func TestNames(t *testing.T) {
	around, _ := readText(t, `{"kind":0,"v":{"sessionId":"s","\ud800":1,"\uD801\n":2,"\ud83d\ude00":3,"a\udc00\\udc00":4,"\u00e4":{"\udfff":5,"\udffe":6}}}
{"kind":1,"k":["\uD800"],"v":7}
{"kind":1,"k":["\u00e4","\udffe"],"v":8}
{"kind":3,"k":["\ud83d\ude00"]}
`)
	if want := `{"sessionId":"s","\ud800":7,"\ud801\n":2,"a\udc00\\udc00":4,"ä":{"\udfff":5,"\udffe":8}}`; around != want {
		t.Errorf("the session is\n%s, want\n%s", around, want)
	}
}
