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
// Before, the database is copied to the file backup, which is replaced. Nothing is changed if
// that fails.
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
	if err := os.Remove(backup); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := copyTo(ctx, pool, backup); err != nil {
		return fmt.Errorf("copying %s to %s: %w", path, backup, err)
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
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
