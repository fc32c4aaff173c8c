package scan_test

import "testing"

// TestProgress: the progress ends with the size of what was read, and an unchanged folder has
// none.
func TestProgress(t *testing.T) {
	f := newFolder(t)
	f.write("a", "12345")
	f.write("b/c", "123")
	var last, total int64
	f.opts.Progress = func(done, of int64) {
		if done < last || done > of {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		last, total = done, of
	}
	f.later()
	f.scan()
	if last != 8 || total != 8 {
		t.Errorf("%d of %d", last, total)
	}
	last, total = 0, 0
	f.scan()
	if total != 0 {
		t.Errorf("%d of %d in an unchanged folder", last, total)
	}
}
