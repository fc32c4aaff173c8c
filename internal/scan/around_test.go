package scan

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestChangeWhileReading: a file that changes between its opening and the end of its reading,
// or before it is opened, was not read as it is.
func TestChangeWhileReading(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := openFolder(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	later := time.Now()
	touch := func() {
		later = later.Add(time.Second)
		if err := os.Chtimes(name, later, later); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what           string
		before, during func()
		want           bool
	}{
		{"nothing", func() {}, func() {}, true},
		{"a change while it is read", func() {}, touch, false},
		{"a change before it is opened", touch, func() {}, false},
	} {
		e := &entry{name: "file"}
		if e.stat, err = f.lstat(e.name); err != nil {
			t.Fatal(err)
		}
		c.before()
		ok, err := new(storing).around(f, e, func(in io.Reader) error {
			data, err := io.ReadAll(in)
			e.size = int64(len(data))
			c.during()
			return err
		})
		if err != nil || ok != c.want {
			t.Errorf("%s: %v, %v", c.what, ok, err)
		}
	}
}
