package scan_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// lstatNames calls lstat for each name in a directory, and returns its subdirectories.
func lstatNames(b *testing.B, dir string) (dirs []string) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Close(fd)
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil {
			b.Fatal(err)
		}
		if n == 0 {
			return dirs
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			var st unix.Stat_t
			if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
				b.Fatal(err)
			}
			if st.Mode&unix.S_IFMT == unix.S_IFDIR {
				dirs = append(dirs, filepath.Join(dir, name))
			}
		}
	}
}
