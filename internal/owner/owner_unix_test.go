//go:build unix

package owner

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOtherID(t *testing.T) {
	for _, c := range []struct {
		owner, user int
		sudo        string
		other       bool
	}{
		{1000, 1000, "", false},
		{0, 0, "", false},
		{1001, 1000, "", true},
		{0, 1000, "", true},
		{1000, 0, "", true},
		{1000, 0, "1000", false},
		{1001, 0, "1000", true},
		{1000, 0, "nonsense", true},
		{1001, 1000, "1001", true}, // any process can set the variable; it counts for root only
	} {
		if got := otherID(c.owner, c.user, c.sudo); got != c.other {
			t.Errorf("otherID(%d, %d, %q) = %v, want %v", c.owner, c.user, c.sudo, got, c.other)
		}
	}
}

func TestOther(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		if other, err := Other(path); other || err != nil {
			t.Errorf("Other(%s) = %v, %v", path, other, err)
		}
	}
	if os.Getuid() != 0 {
		return // only root can give a file away
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(link, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if other, err := Other(link); !other || err != nil {
		t.Errorf("Other of a link of another user = %v, %v", other, err)
	}
}
