package restore

import (
	"bytes"
	"testing"

	"github.com/bough-dev/bough/internal/filetree"
)

// FuzzJournal: a journal that is accepted is encoded as it was, but for its first line, and
// has only paths inside of the folder.
func FuzzJournal(f *testing.F) {
	r := &record{Stage: stagePrefix + "x.bough-tmp", Staged: true, ops: operations([]Change{
		{"a\n\xff", filetree.Entry{Type: filetree.File, Perm: 0o644, Size: 1}, filetree.Entry{Type: filetree.Link, Size: 2}},
		{"d", filetree.Entry{}, filetree.Entry{Type: filetree.Dir, Perm: 0o500}},
		{"e", filetree.Entry{Type: filetree.Dir, Perm: 0o755}, filetree.Entry{}},
	})}
	f.Add(r.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if err != nil {
			return
		}
		_, want, _ := bytes.Cut(data, []byte("\n"))
		if _, got, _ := bytes.Cut(r.encode(), []byte("\n")); !bytes.Equal(got, want) {
			t.Fatalf("encoded again %q, want %q", got, want)
		}
		for _, o := range r.ops {
			if o.path == "" || o.path[0] == '/' || bytes.Contains([]byte("/"+o.path+"/"), []byte("/../")) {
				t.Fatalf("the path %q", o.path)
			}
		}
	})
}
