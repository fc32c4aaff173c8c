package register_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/bough-dev/bough/internal/register"
)

func TestProgramHasStarted(t *testing.T) {
	dir := t.TempDir()
	l := register.List{Database: filepath.Join(dir, "state.vscdb"), Key: "k", Lock: filepath.Join(dir, "code.lock")}
	db, err := sql.Open("sqlite", l.Database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)"); err != nil {
		t.Fatal(err)
	}
	backup := l.Database + ".before-bough"
	if err := os.WriteFile(backup, []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Lock, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Add(t.Context(), "a", []byte("{}")); err == nil {
		t.Error("added while the program runs")
	}
	var n int
	if err := db.QueryRow("SELECT count(*) FROM ItemTable").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows, %v", n, err)
	}
	if data, err := os.ReadFile(backup); err != nil || !bytes.Equal(data, []byte("earlier")) {
		t.Errorf("the earlier backup is gone: %v", err)
	}
	if _, err := os.Stat(backup + ".new"); err == nil {
		t.Error("the new copy is left")
	}
}
