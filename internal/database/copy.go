package database

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/internal/durable"
)

// The files beside a database, by what their names end with.
const (
	logName     = "-wal"
	journalName = "-journal"
)

// LogOf returns the path of the log of the database at path, which is beside the target if path is
// a link. Changes may be only there.
func LogOf(path string) string { return target(path) + logName }

// target returns path without links, as SQLite names the files beside a database. It returns path
// itself if there is no such file.
func target(path string) string {
	if path == "" {
		return ""
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

const (
	logHeader = 32 // bytes
	tries     = 20
	pause     = 5 * time.Millisecond // after the first try; longer after the others
	piece     = 64 << 20             // bytes that are copied without a look at the context
)

// errChanging is the error for a database that changes faster than it can be copied.
var errChanging = errors.New("a program keeps changing the database; import again when it rests")

// A moment is the state of the files of a database. A copy is valid if it is the same before and
// after.
type moment struct {
	log     string // the header of the log, "" if there is none
	journal durable.Identity
	main    durable.Identity // zero if there is a log
	counter string
}

// look returns the state of the database at path.
func look(path string) (m moment, err error) {
	m.log, err = start(path+logName, 0, logHeader)
	if err != nil || m.log != "" {
		return m, err
	}
	if magic, err := start(path+journalName, 0, len(journalMagic)); err != nil {
		return m, err
	} else if magic == journalMagic {
		info, err := os.Stat(path + journalName)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return m, err
		}
		m.journal = durable.Identify(info)
	}
	info, err := os.Stat(path)
	if err != nil {
		return m, err
	}
	m.main = durable.Identify(info)
	m.counter, err = start(path, 24, 4)
	return m, err
}

// journalMagic begins a journal by which SQLite rolls back.
const journalMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// start returns n bytes of a file, "" if it is missing or too short.
func start(path string, at int64, n int) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, n)
	if _, err := f.ReadAt(b, at); err == io.EOF {
		return "", nil
	} else if err != nil {
		return "", err
	}
	return string(b), nil
}

// copyWhole copies the database at path to the file to, with its log or journal.
func copyWhole(ctx context.Context, path, to string) error {
	if err := enough(filepath.Dir(to), sizeOf(path)+sizeOf(path+logName)+sizeOf(path+journalName)); err != nil {
		return err
	}
	for n := range tries {
		if n > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(n) * pause):
			}
		}
		before, err := look(path)
		if err != nil {
			return err
		}
		if err := copyOnce(ctx, path, to, before); err != nil {
			return err
		}
		after, err := look(path)
		if err != nil {
			return err
		}
		if before == after {
			return nil
		}
	}
	return errChanging
}

// copyOnce copies the files of the database, in the order that the package comment requires.
func copyOnce(ctx context.Context, path, to string, m moment) error {
	if err := copyFile(ctx, path, to); err != nil {
		return err
	}
	for _, name := range []string{logName, journalName} {
		err := os.Remove(to + name) // of an earlier try
		if name == logName && m.log != "" || name == journalName && m.journal != (durable.Identity{}) {
			err = copyFile(ctx, path+name, to+name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file that is gone changes the moment
			return err
		}
	}
	return nil
}

// sizeOf returns the size of a file, 0 if that is not known.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// enough returns an error if a folder has less free space than a copy takes.
func enough(dir string, size int64) error {
	free, known := freeSpace(dir)
	if !known || free >= size {
		return nil
	}
	return fmt.Errorf("a copy of the database takes %d MiB, and %s has %d MiB of free space; set TMPDIR to a folder with more", size>>20, dir, free>>20)
}

func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return spool(ctx, in, to)
}

// spool writes the rest of in to the file to.
func spool(ctx context.Context, in io.Reader, to string) (err error) {
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch _, err := io.CopyN(out, in, piece); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("copying the database to %s: %w", filepath.Dir(to), err)
		}
	}
}

const magic = "SQLite format 3\x00"

// HeadSize is the number of bytes that [Is] needs.
const HeadSize = len(magic)

// Is reports whether a file that begins with head is a database.
func Is(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
