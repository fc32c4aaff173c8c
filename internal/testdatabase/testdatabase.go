// Package testdatabase makes the databases of SQLite that tests read.
package testdatabase

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// Open opens the database at path, or creates it, with one connection, until the test ends.
func Open(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// Run runs statements.
func Run(t testing.TB, db *sql.DB, statements string) {
	t.Helper()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

// Make creates a database in a temporary folder and returns its path.
func Make(t testing.TB, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	db := Open(t, path)
	Run(t, db, "PRAGMA synchronous=off; PRAGMA journal_mode=off;"+statements)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
