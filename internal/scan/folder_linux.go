package scan

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A folder is an open directory.
type folder struct{ fd int }

const openFlags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW

// retried calls f until it is not interrupted.
func retried[T any](f func() (T, error)) (T, error) {
	for {
		v, err := f()
		if err != unix.EINTR {
			return v, err
		}
	}
}

func openAt(fd int, name string, flags int) (int, error) {
	return retried(func() (int, error) { return unix.Openat(fd, name, openFlags|flags, 0) })
}

// openFolder opens the directory dir, which may be a link to one.
func openFolder(dir string) (*folder, error) {
	fd, err := retried(func() (int, error) {
		return unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return &folder{fd}, nil
}

// open opens a subdirectory.
func (f *folder) open(name string) (*folder, error) {
	fd, err := openAt(f.fd, name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &folder{fd}, nil
}

// again opens the same directory once more.
func (f *folder) again() (*folder, error) { return f.open(".") }

func (f *folder) close() { unix.Close(f.fd) }

// mode returns the mode of the directory itself.
func (f *folder) mode() (uint32, error) {
	var st unix.Stat_t
	_, err := retried(func() (int, error) { return 0, unix.Fstat(f.fd, &st) })
	return st.Mode, err
}

func (f *folder) lstat(name string) (stat, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return statOf(&st), nil
		}
		if err != unix.EINTR {
			return stat{}, err
		}
	}
}

func statOf(st *unix.Stat_t) stat {
	return stat{size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), inode: st.Ino, mode: st.Mode}
}

// A content is an open file.
type content struct{ fd int }

// openFile opens a file for reading, and waits for no other program.
func (f *folder) openFile(name string) (*content, error) {
	fd, err := openAt(f.fd, name, unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &content{fd}, nil
}

func (c *content) close() { unix.Close(c.fd) }

func (c *content) Read(p []byte) (int, error) {
	n, err := retried(func() (int, error) { return unix.Read(c.fd, p) })
	if n == 0 && err == nil && len(p) > 0 {
		err = io.EOF
	}
	return max(n, 0), err
}

func (c *content) stat() (stat, error) {
	var st unix.Stat_t
	_, err := retried(func() (int, error) { return 0, unix.Fstat(c.fd, &st) })
	return statOf(&st), err
}

// readlink returns the target of a link.
func (f *folder) readlink(name string) (string, error) {
	for buf := make([]byte, 256); ; buf = make([]byte, 2*len(buf)) {
		n, err := retried(func() (int, error) { return unix.Readlinkat(f.fd, name, buf) })
		if err != nil {
			return "", err
		}
		if n < len(buf) {
			return string(buf[:n]), nil
		}
	}
}

// A lister lists directories, with buffers that it keeps.
type lister struct {
	raw   []byte
	names []byte
	ends  []int // of the names
	list  []listed
}

// linux_dirent64: inode and offset, eight bytes each, size, type, and the name.
const (
	direntSize = 16
	direntType = 18
	direntName = 19
)

// read returns the names in a directory. The slice is valid until the next call.
func (l *lister) read(f *folder) ([]listed, error) {
	if l.raw == nil {
		l.raw = make([]byte, 64<<10)
	}
	l.names, l.ends, l.list = l.names[:0], l.ends[:0], l.list[:0]
	for {
		n, err := retried(func() (int, error) { return unix.ReadDirent(f.fd, l.raw) })
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			break
		}
		for raw := l.raw[:n]; len(raw) > direntName; {
			size := int(binary.NativeEndian.Uint16(raw[direntSize:]))
			name, _, _ := bytes.Cut(raw[direntName:size], []byte{0})
			if string(name) != "." && string(name) != ".." && binary.NativeEndian.Uint64(raw) != 0 {
				l.names = append(l.names, name...)
				l.ends = append(l.ends, len(l.names))
				l.list = append(l.list, listed{kind: uint32(raw[direntType]) << 12})
			}
			raw = raw[size:]
		}
	}
	names, begin := string(l.names), 0 // one allocation for all names
	for i, end := range l.ends {
		l.list[i].name, begin = names[begin:end], end
	}
	return l.list, nil
}

func isExhausted(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}

func isOtherType(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENXIO)
}
