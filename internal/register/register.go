// Package register adds conversations to the lists of programs that show only those which their
// database lists, and removes them again. It changes such a database only while its program does
// not run, and after a copy.
package register

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/bough-dev/bough/internal/database"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A List is a JSON object in a row of the table ItemTable, with the entries in its member entries.
type List struct {
	Database string // path of the SQLite database
	Key      string // of the row
	Lock     string // path of a file with the process id of the program, which exists while it runs
}

// Running returns the process id of the program, 0 if it does not run, and -1 if its lock has none.
func (l List) Running() (pid int, err error) {
	data, err := os.ReadFile(l.Lock)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
	switch {
	case err != nil || pid <= 0:
		return -1, nil
	case !lives(pid):
		return 0, nil // it crashed
	}
	return pid, nil
}

// lives reports whether a process exists.
func lives(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false // only on Windows
	}
	defer p.Release()
	if runtime.GOOS == "windows" {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}

// errForeign is the error for a list of an unknown form.
var errForeign = errors.New("the list of conversations has an unknown form")

// errStarted is the error for a program that runs, and would overwrite its list.
var errStarted = errors.New("the program has started; quit it first")

// errAbsent is the error for an entry that is not in the list.
var errAbsent = errors.New("the conversation is not listed")

// Add adds an entry, a JSON object, to the list, or replaces the one with its id, a UUID. It
// returns the path of a copy of the database as it was.
func (l List) Add(ctx context.Context, id string, entry []byte) (backup string, err error) {
	return l.change(ctx, func(list []byte) ([]byte, error) {
		if list == nil {
			list = []byte(`{"version":1,"entries":{}}`)
		}
		return sjson.SetRawBytes(list, "entries."+id, entry)
	})
}

// Remove removes an entry from the list, and reports whether it was there.
func (l List) Remove(ctx context.Context, id string) (was bool, err error) {
	_, err = l.change(ctx, func(list []byte) ([]byte, error) {
		if !gjson.GetBytes(list, "entries."+id).Exists() {
			return nil, errAbsent
		}
		return sjson.DeleteBytes(list, "entries."+id)
	})
	if errors.Is(err, errAbsent) {
		return false, nil
	}
	return err == nil, err
}

// Listed returns those of the ids that the list has. The program may run.
func (l List) Listed(ctx context.Context, ids []string) (list []string, err error) {
	db, err := database.Open(ctx, l.Database, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Database, err)
	}
	defer db.Close()
	err = db.Each(database.Query{Table: "ItemTable", Columns: []string{"value"}, Rest: "WHERE key = ?", Args: []any{l.Key}}, func(r database.Row) error {
		for _, id := range ids {
			if gjson.Get(r.Text("value"), "entries."+id).Exists() {
				list = append(list, id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Database, err)
	}
	return list, nil
}

// change changes the list; f gets nil if there is none.
func (l List) change(ctx context.Context, f func(list []byte) ([]byte, error)) (backup string, err error) {
	backup, err = database.Change(ctx, l.Database, l.Database+".before-bough", func(tx *sql.Tx) error {
		var value any
		err := tx.QueryRowContext(ctx, "SELECT value FROM ItemTable WHERE key = ?", l.Key).Scan(&value)
		var list []byte
		switch v := value.(type) {
		case string:
			list = []byte(v)
		case []byte:
			list = v
		}
		switch {
		case errors.Is(err, sql.ErrNoRows):
			list = nil
		case err != nil:
			return err
		case rawjson.Check(list) != nil || gjson.GetBytes(list, "version").Raw != "1" || !gjson.GetBytes(list, "entries").IsObject():
			return errForeign
		}
		changed, err := f(list)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM ItemTable WHERE key = ?", l.Key); err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, "INSERT INTO ItemTable (key, value) VALUES (?, ?)", l.Key, string(changed)); err != nil {
			return err
		}
		pid, err := l.Running() // it may have started since the caller looked
		if err == nil && pid != 0 {
			err = errStarted
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.Database, err)
	}
	return backup, nil
}
