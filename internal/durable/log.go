package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Append adds a line to the file name, which it makes if it is not there, and
// returns what the file system says of it then. What a write that did not end
// left after the last line break is cut off first. A line that is not
// acknowledged may be there all the same.
func Append(root *os.Root, name string, line []byte) (info fs.FileInfo, err error) {
	l, err := openLog(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { l.close(err == nil) }()
	if err := l.add(line); err != nil {
		return nil, err
	}
	if err := l.sync(); err != nil {
		return nil, err
	}
	return l.file.os.Stat()
}

// AppendCache adds lines to the file name as [Append] does, but does not wait for
// the disk: after a crash they may be gone or hold anything, so whoever reads them
// must be able to tell.
func AppendCache(root *os.Root, name string, lines []byte) (info fs.FileInfo, err error) {
	l, err := openLog(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { l.close(err == nil) }()
	if err := l.add(lines); err != nil {
		return nil, err
	}
	return l.file.os.Stat()
}

// CutLog makes the file name, which [Append] wrote, end after size bytes.
func CutLog(root *os.Root, name string, size int64) error {
	f, err := openFile(root, name, os.O_RDWR|syscall.O_NONBLOCK, Mode)
	if err != nil {
		return err
	}
	defer f.os.Close()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}

// logLines are lines that are being added to a file of lines.
type logLines struct {
	file *file
	size int64   // of the lines before
	at   []int64 // where each of the new ones begins
}

func openLog(root *os.Root, name string) (*logLines, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &NotRegularError{Op: "append", Path: name, Mode: info.Mode()}
	}
	created := errors.Is(err, fs.ErrNotExist)
	f, err := openFile(root, name, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, Mode)
	if err != nil {
		return nil, err
	}
	size, err := wholeLines(f)
	if err == nil && created {
		err = f.inherit()
	}
	if err != nil {
		f.os.Close()
		return nil, err
	}
	f.at = size
	return &logLines{file: f, size: size}, nil
}

// add adds lines in one write.
func (l *logLines) add(lines ...[]byte) error {
	at := l.file.at
	for _, line := range lines {
		l.at = append(l.at, at)
		at += int64(len(line))
	}
	_, err := l.file.Write(bytes.Join(lines, nil))
	return err
}

// cut takes back all but the first n lines.
func (l *logLines) cut(n int) error {
	if l == nil || n >= len(l.at) {
		return nil
	}
	if err := l.file.Truncate(l.at[n]); err != nil {
		return err
	}
	l.file.at = l.at[n]
	return l.file.Sync()
}

// sync waits until the lines are safe, and the name of the file if it is new.
func (l *logLines) sync() error {
	if err := l.file.Sync(); err != nil {
		return err
	}
	if l.size == 0 {
		return syncDir(l.file.root, path.Dir(l.file.name))
	}
	return nil
}

// complete says that what the lines tell of is done.
func (l *logLines) complete() {
	if l != nil {
		l.add([]byte("\n")) // who misses it looks
	}
}

// close ends the adding, and takes the lines back unless they are kept.
func (l *logLines) close(keep bool) {
	if l == nil {
		return
	}
	if !keep {
		l.file.Truncate(l.size)
	}
	l.file.os.Close()
}

// wholeLines cuts off what stands after the last line break of f and returns
// the size of the rest.
func wholeLines(f *file) (int64, error) {
	info, err := f.os.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size()
	block := make([]byte, min(size, 1<<16))
	for end := size; end > 0; end -= int64(len(block)) {
		block = block[:min(end, int64(len(block)))]
		if _, err := f.os.ReadAt(block, end-int64(len(block))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(block, '\n'); i >= 0 {
			at := end - int64(len(block)-i-1)
			if at < size {
				err = f.Truncate(at)
			}
			return at, err
		}
	}
	if size > 0 {
		err = f.Truncate(0)
	}
	return 0, err
}
