package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/workspace/task"
)

// A taskLog caches the records of tasks and reads each only once, because there
// may be many.
type taskLog struct {
	mu   sync.RWMutex
	log  task.Log
	file fs.FileInfo // the file that was read, nil if there was none
	size int64       // bytes of the lines that were read
	last []byte      // the last one
}

// Look calls f with the current records. f must not modify or retain them.
func (w *Store) Look(root *os.Root, f func(*task.Log)) error {
	t := w.tasks
	t.mu.Lock()
	damaged, err := t.update(root)
	t.mu.Unlock()
	if damaged > 0 {
		w.Opts.Note(fmt.Sprintf("%s of %s cannot be read and are ignored", plural.Of(damaged, "line"), task.Path))
	}
	if err != nil {
		return err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	f(&t.log)
	return nil
}

// update reads the lines that were added since the last read, or all if the
// file was replaced. It returns the number of malformed lines.
func (t *taskLog) update(root *os.Root) (damaged int, err error) {
	file, err := durable.OpenRegular(root, task.Path)
	if errors.Is(err, fs.ErrNotExist) {
		t.forget()
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if !t.continues(file, info) {
		t.forget()
	}
	t.file = info
	in := bufio.NewReaderSize(io.NewSectionReader(file, t.size, max(info.Size()-t.size, 0)), 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return damaged, nil
		}
		if err != nil {
			return damaged, err
		}
		t.size, t.last = t.size+int64(len(line)), line
		if len(line) == 1 {
			continue
		}
		if r, err := task.Decode(line); err == nil {
			t.log.Add(r)
		} else {
			damaged++
		}
	}
}

// continues reports whether file is the cached file, possibly with more lines.
// The last line may be missing if it was not durable.
func (t *taskLog) continues(file io.ReaderAt, info fs.FileInfo) bool {
	if t.file == nil || !os.SameFile(t.file, info) {
		return false
	}
	there := make([]byte, len(t.last))
	_, err := file.ReadAt(there, t.size-int64(len(t.last)))
	return (err == nil || err == io.EOF) && bytes.Equal(there, t.last)
}

// forget clears the cache.
func (t *taskLog) forget() { t.log, t.file, t.size, t.last = task.Log{}, nil, 0, nil }
