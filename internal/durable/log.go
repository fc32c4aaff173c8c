package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Append appends a line to the file name, creating it if necessary, and returns its
// FileInfo. It first removes an incomplete last line that an interrupted write
// left. A line may exist even if Append returned an error.
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

// AppendCache appends lines to the file name as [Append] does, but without fsync:
// after a crash they may be missing or have any content, so readers must verify
// them.
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

// CutLog truncates the file name, which [Append] wrote, to size bytes.
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

// logLines are lines that are being appended to a file.
type logLines struct {
	file *file
	size int64   // of the existing lines
	at   []int64 // offsets of the new lines
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

// add appends lines in one write.
func (l *logLines) add(lines ...[]byte) error {
	at := l.file.at
	for _, line := range lines {
		l.at = append(l.at, at)
		at += int64(len(line))
	}
	_, err := l.file.Write(bytes.Join(lines, nil))
	return err
}

// cut removes all new lines except the first n.
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

// sync fsyncs the lines, and the folder if the file is new.
func (l *logLines) sync() error {
	if err := l.file.Sync(); err != nil {
		return err
	}
	if l.size == 0 {
		return syncDir(l.file.root, path.Dir(l.file.name))
	}
	return nil
}

// complete records that the operations of the lines are done.
func (l *logLines) complete() {
	if l != nil {
		l.add([]byte("\n")) // if it is missing, readers check the operations
	}
}

// close closes the file, and removes the new lines if keep is false.
func (l *logLines) close(keep bool) {
	if l == nil {
		return
	}
	if !keep {
		l.file.Truncate(l.size)
	}
	l.file.os.Close()
}

// wholeLines truncates f after its last line break and returns the new size.
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
