package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// openRaw does the minimum: it reads the files through one buffer and writes
// one file with as many bytes, fsync, rename, fsync of the folder.
func openRaw(_ context.Context, w *work, dir string) (*running, error) {
	if err := w.chained.write(dir, nil); err != nil {
		return nil, err
	}
	conversations := filepath.Join(dir, "conversations")
	c := copier{dir: conversations, buf: make([]byte, w.chained.bytes())}
	copying := func(files chat) task {
		return task{do: func() error { return c.copy(files) }, verify: func() error {
			return errors.Join(hasSize(c.target(), files.bytes()), os.Remove(c.target()))
		}}
	}
	grown := w.chained.grown()
	once := copying(grown)
	once.before = func() error { return grown.write(dir, w.chained) }
	var read int64
	return &running{
		tasks: map[job]task{
			first:  copying(w.chained),
			again:  copying(w.chained),
			later:  once,
			branch: copying(w.chained.cut(w.branch)),
			load: {
				do: func() (err error) {
					read, err = c.read(grown, io.Discard)
					return err
				},
				verify: func() error {
					if read != grown.bytes() {
						return fmt.Errorf("read %d bytes, want %d", read, grown.bytes())
					}
					return nil
				},
			},
		},
		close: func() error { return nil },
	}, nil
}

type copier struct {
	dir string
	buf []byte // holds any of the files
}

func (c copier) target() string { return filepath.Join(c.dir, "raw.bytes") }

// read gives out each file, as much of it as files has.
func (c copier) read(files chat, to io.Writer) (total int64, err error) {
	for _, f := range files {
		in, err := os.Open(filepath.Join(c.dir, f.ID+".json"))
		if err != nil {
			return total, err
		}
		n, err := io.ReadFull(in, c.buf[:len(f.Data)])
		in.Close()
		if err != nil {
			return total, err
		}
		total += int64(n)
		if _, err := to.Write(c.buf[:n]); err != nil {
			return total, err
		}
	}
	return total, nil
}

func (c copier) copy(files chat) error {
	temp := filepath.Join(c.dir, "raw.temp")
	out, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := c.read(files, out); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp, c.target()); err != nil {
		return err
	}
	folder, err := os.Open(c.dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

func hasSize(path string, want int64) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() != want {
		err = fmt.Errorf("%s has %d bytes, want %d", path, info.Size(), want)
	}
	return err
}

// openLines appends lines to an open file, each with an fsync.
func openLines(_ context.Context, w *work, dir string) (*running, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lines"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	n, size := w.sessions, int64(0)
	return &running{
		tasks: map[job]task{add: {
			do: func() error {
				line := append(newLink(n).entry, '\n')
				n++
				size += int64(len(line))
				if _, err := f.Write(line); err != nil {
					return err
				}
				return f.Sync()
			},
			verify: func() error { return hasSize(f.Name(), size) },
		}},
		close: f.Close,
	}, nil
}
