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
// Before, the database is copied. When f has succeeded, the copy is at the path backup, or, if there
// is an earlier one, at that with the first free number from 2 on: "backup-2". Change returns the
// path. If a step fails before, no copy stays and nothing is changed.
func Change(ctx context.Context, path, backup string, f func(*sql.Tx) error) (copied string, err error) {
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // the drive of Windows
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: "mode=rw&_txlock=immediate&_pragma=trusted_schema(0)&_pragma=busy_timeout(100)"}
	pool, err := sql.Open("sqlite", u.String())
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	pool.SetMaxOpenConns(1)
	fresh := backup + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	defer os.Remove(fresh)
	if err := copyTo(ctx, pool, fresh); err != nil {
		return "", fmt.Errorf("copying %s to %s: %w", path, fresh, err)
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	if err := f(tx); err != nil {
		return "", errors.Join(err, tx.Rollback())
	}
	if copied, err = free(backup); err == nil {
		err = os.Rename(fresh, copied)
	}
	if err != nil {
		return "", errors.Join(err, tx.Rollback())
	}
	return copied, tx.Commit()
}

// free returns path, or path with the first number that no file has. The transaction keeps other
// changes away meanwhile.
func free(path string) (string, error) {
	numbered := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(numbered); errors.Is(err, fs.ErrNotExist) {
			return numbered, nil
		} else if err != nil {
			return "", err
		}
		numbered = fmt.Sprintf("%s-%d", path, n)
	}
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
