package bucket

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/fault"
)

// FuzzName: a valid name is a path in any folder, the same on systems that ignore case, no copy of
// another object, and listed under each beginning of it.
func FuzzName(f *testing.F) {
	for _, s := range []string{"bough.json", "m/0f/00000042", "a..b/c", "a.sync-conflict-1", "../x", "con/.x", "a b", "É"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, name string, cut int) {
		if CheckName(name) != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name || strings.ToLower(name) != name {
			t.Errorf("%q is valid", name)
		}
		if original(path.Base(name)) != path.Base(name) {
			t.Errorf("%q is a copy of %q", name, original(path.Base(name)))
		}
		prefix := name[:max(0, min(cut, len(name)))]
		for _, shallow := range []bool{false, true} {
			o := ListOptions{Prefix: prefix, Shallow: shallow}
			if err := o.Check(); err != nil {
				t.Errorf("%q is no beginning of a name: %v", prefix, err)
			}
			want := name
			if i := strings.IndexByte(name[len(prefix):], '/'); shallow && i >= 0 {
				want = name[:len(prefix)+i+1]
			}
			got := o.Select([]Object{{Name: name}, {Name: name}})
			if !slices.Equal(got, []Object{{Name: want}}) || !slices.Equal(o.Select(got), got) {
				t.Errorf("%+v selects %v of %q", o, got, name)
			}
		}
	})
}

// TestTooMany: a folder with more entries than a list may look at is refused.
func TestTooMany(t *testing.T) {
	f, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 5 {
		if err := f.Put(t.Context(), fmt.Sprint("p/", i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	f.maxList = 10 // with the folders
	if list, err := f.List(t.Context(), ListOptions{}); err != nil || len(list) != 5 {
		t.Errorf("List = %v, %v", list, err)
	}
	f.maxList = 4
	if _, err := f.List(t.Context(), ListOptions{}); !errors.Is(err, fault.Refused) {
		t.Errorf("too many objects: %v", err)
	}
}
