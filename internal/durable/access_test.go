package durable

import (
	"io/fs"
	"testing"
)

// TestNarrow: of every permission, without the group or the attributes that it was
// for, nobody has more than before, and the owner has as much.
func TestNarrow(t *testing.T) {
	for mode := fs.FileMode(0); mode <= 0o777; mode++ {
		group, other := mode>>3&7, mode&7
		for _, c := range []struct{ attrs, group bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
			got := narrow(mode, c.attrs, c.group)
			if got&0o700 != mode&0o700 {
				t.Fatalf("narrow(%o, %v, %v) = %o: not the owner's bits", mode, c.attrs, c.group, got)
			}
			most := []fs.FileMode{group, other} // of the group's bits, and of those of others
			switch {
			case !c.attrs:
				most = []fs.FileMode{0, 0}
			case !c.group:
				most = []fs.FileMode{group & other, group & other}
			}
			if got>>3&7 != most[0] || got&7 != most[1] {
				t.Fatalf("narrow(%o, %v, %v) = %o, want %o", mode, c.attrs, c.group, got, most)
			}
		}
	}
}
