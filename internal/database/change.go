package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Change changes the database at path itself, in one transaction: all that f does, or nothing.
// The program that the database is of must not run, because it may have rows in memory.
//
// Before, the database is copied beside the file backup, which the copy replaces when f has
// succeeded. If a step fails before that, the earlier backup stays and nothing is changed.
func Change(ctx context.Context, path, backup string, f func(*sql.Tx) error) (err error) {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // the drive of Windows
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: "mode=rw&_txlock=immediate&_pragma=trusted_schema(0)&_pragma=busy_timeout(100)"}
	pool, err := sql.Open("sqlite", u.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	pool.SetMaxOpenConns(1)
	fresh := backup + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer os.Remove(fresh)
	if err := copyTo(ctx, pool, fresh); err != nil {
		return fmt.Errorf("copying %s to %s: %w", path, fresh, err)
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := os.Rename(fresh, backup); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// copyTo copies a database to a new private file.
func copyTo(ctx context.Context, pool *sql.DB, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, "VACUUM INTO ?", path) // an empty file is allowed
	return err
}
