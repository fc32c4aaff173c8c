package durable

import (
	"io/fs"
	"testing"
)

// TestNarrow: narrow never adds a permission, and the owner keeps all.
func TestNarrow(t *testing.T) {
	for mode := fs.FileMode(0); mode <= 0o777; mode++ {
		group, other := mode>>3&7, mode&7
		for _, c := range []struct{ attrs, group bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
			got := narrow(mode, c.attrs, c.group)
			if got&0o700 != mode&0o700 {
				t.Fatalf("narrow(%o, %v, %v) = %o: not the owner's bits", mode, c.attrs, c.group, got)
			}
			limits := []fs.FileMode{group, other} // the limits of the bits of the group and of others
			switch {
			case !c.attrs:
				limits = []fs.FileMode{0, 0}
			case !c.group:
				limits = []fs.FileMode{group & other, group & other}
			}
			if got>>3&7 != limits[0] || got&7 != limits[1] {
				t.Fatalf("narrow(%o, %v, %v) = %o, want %o", mode, c.attrs, c.group, got, limits)
			}
		}
	}
}
