package index_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
)

// inZone makes the local time zone another one for a test.
func inZone(t *testing.T, hours int) {
	local := time.Local
	time.Local = time.FixedZone("test", hours*60*60)
	t.Cleanup(func() { time.Local = local })
}

// FuzzLoad: whatever the index holds, Load answers the links that the files
// have, and what it saves is whole. The one thing an index can do is to claim
// the very size and time of a file, so the files here have times of their own.
func FuzzLoad(f *testing.F) {
	for _, w := range worlds {
		folder := w.folder(f)
		folder.save(folder.load())
		whole := folder.read(session.IndexFile)
		for _, seed := range []string{
			whole, whole[:len(whole)/2], strings.ReplaceAll(whole, `"continued_from"`, `"x"`), strings.ReplaceAll(whole, "cont", "tail"),
			strings.ReplaceAll(whole, `"size": `, `"size": -`), strings.ReplaceAll(whole, "{", "["),
		} {
			f.Add([]byte(seed))
		}
	}
	for _, seed := range []string{"", "{}", "[]", "null", `{"root":null,"cont":{},"tail":[],"":1}`, `{"root":{"bough":{"kind":"branch","size":1e99,"mtime":7},"continued_from":"root"}}`,
		`{"../x":{"title":"\ud83d"},"session_index":{},"branch":{"continued_to":NaN,"continued_to ":{"k":1,"k":2}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, w := range worlds {
			folder := w.folder(t)
			for i, id := range ids {
				folder.date(id+".json", time.Date(2026, 5, 26, 0, i, 0, 111111111, time.UTC))
			}
			folder.write(session.IndexFile, string(data))
			x, err := index.Load(folder.root, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.check(t, "any index", x)
			folder.save(x)
			folder.healthy("any index")
			w.check(t, "what was saved", folder.load())
		}
	})
}
