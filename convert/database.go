package convert

import (
	"context"
	"errors"
	"io"

	"github.com/bough-dev/bough/convert/internal/sink"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/database"
)

// A Database is a private copy of an SQLite database in which a program keeps conversations.
type Database struct{ db *database.DB }

// IsDatabase reports whether a file that begins with head is an SQLite database.
func IsDatabase(head []byte) bool { return database.Is(head) }

// DatabaseLog returns the path of the file beside the database at path in which a program keeps
// changes that are not in the database yet. It need not exist.
func DatabaseLog(path string) string { return database.LogOf(path) }

// OpenDatabase copies the database at path, with the changes in its log, to a temporary folder, and
// opens the copy. A program may be writing it; nothing in its folder changes. Reading ends with an
// error when ctx ends. If no program is writing the database and its tables are unknown, it is
// opened without a copy; then only [Database.Format] and [Database.Close] may be called.
func OpenDatabase(ctx context.Context, path string) (*Database, error) {
	return opened(database.Open(ctx, path, func(db *database.DB) bool { return formatOf(db) != nil }))
}

// CopyDatabase is [OpenDatabase] for a database whose content is read from in. What is only in its
// log is missing.
func CopyDatabase(ctx context.Context, in io.Reader) (*Database, error) {
	return opened(database.Read(ctx, in))
}

func opened(db *database.DB, err error) (*Database, error) {
	if err != nil {
		return nil, err
	}
	return &Database{db}, nil
}

// Close removes the copy.
func (d *Database) Close() error { return d.db.Close() }

// Format returns the format of the conversations in the database, by its tables. It returns nil if
// they are unknown.
func (d *Database) Format() *Format { return formatOf(d.db) }

func formatOf(db *database.DB) *Format {
	for _, f := range Formats {
		if f.isIn != nil && f.isIn(db) {
			return f
		}
	}
	return nil
}

// ReadDatabase is [Format.Read] for a database.
func (f *Format) ReadDatabase(d *Database, to transcript.Sink) error {
	return found(sink.Read(func(_ io.Reader, to transcript.Sink) error { return f.readRows(d.db, to) }, nil, to))
}

// errForeign is the error for a database of another program, or of an unknown version of it.
var errForeign = errors.New("the database does not have the tables and columns of the format")

func (f *Format) readRows(db *database.DB, to transcript.Sink) error {
	switch {
	case f.rows == nil, !f.isIn(db) && (f.isEmpty == nil || !f.isEmpty(db)):
		return errForeign
	case !f.isIn(db):
		return nil
	}
	if db.Damage != "" {
		to.Problem(transcript.Problem{What: db.Damage})
	}
	return f.rows(db, to)
}
