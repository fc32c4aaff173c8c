package register

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// list returns a list in a new database, as VS Code makes it. value is that of its row, "" for
// none.
func list(t *testing.T, value string) List {
	dir := t.TempDir()
	l := List{Database: filepath.Join(dir, "state.vscdb"), Key: "chat.ChatSessionStore.index", Lock: filepath.Join(dir, "code.lock")}
	run(t, l.Database, "PRAGMA user_version = 1", "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)",
		"INSERT INTO ItemTable VALUES ('other', 'x')")
	if value != "" {
		run(t, l.Database, "INSERT INTO ItemTable VALUES ('"+l.Key+"', '"+value+"')")
	}
	return l
}

func open(t *testing.T, path string) *sql.DB {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func run(t *testing.T, path string, commands ...string) {
	db := open(t, path)
	for _, c := range commands {
		if _, err := db.Exec(c); err != nil {
			t.Fatal(c, err)
		}
	}
	db.Close()
}

// rows returns the rows of a database.
func rows(t *testing.T, path string) string {
	db := open(t, path)
	defer db.Close()
	r, err := db.Query("SELECT key, typeof(value), value FROM ItemTable ORDER BY key")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b strings.Builder
	for r.Next() {
		var key, kind, value string
		if err := r.Scan(&key, &kind, &value); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %s\n", key, kind, value)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const id = "5d0f5c3b-62b8-4f51-9a07-6d1f1b0f2c11"

// TestAdd: an entry is added to the list, whose other entries and bytes stay, and is removed
// again. The copy has the list as it was before.
func TestAdd(t *testing.T) {
	const others = `{"version":1,"entries":{"a":{"sessionId":"a","title":"\u00e4", "lastMessageDate":1}},"more":1e2}`
	for _, c := range []struct{ before, after, removed string }{
		{others, strings.Replace(others, `1}},`, `1},"`+id+`":{"n":1}},`, 1), others},
		{"", `{"version":1,"entries":{"` + id + `":{"n":1}}}`, `{"version":1,"entries":{}}`},
	} {
		l := list(t, c.before)
		before := rows(t, l.Database)
		backup, err := l.Add(t.Context(), id, []byte(`{"n":1}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := rows(t, l.Database); got != l.Key+" text "+c.after+"\nother text x\n" {
			t.Errorf("after adding the rows are\n%s", got)
		}
		if got := rows(t, backup); got != before {
			t.Errorf("the copy has\n%s\nwant\n%s", got, before)
		}
		for _, want := range []bool{true, false} {
			if was, err := l.Remove(t.Context(), id); was != want || err != nil {
				t.Errorf("removed: %v, %v, want %v", was, err, want)
			}
		}
		if got := rows(t, l.Database); got != l.Key+" text "+c.removed+"\nother text x\n" {
			t.Errorf("after removing the rows are\n%s", got)
		}
	}
}

// TestForeign: a database or a list of another form does not change.
func TestForeign(t *testing.T) {
	for _, value := range []string{`{"version":2,"entries":{}}`, `{"version":1,"entries":[]}`, `{"version":1,"entries":{}`, "null"} {
		l := list(t, value)
		before := rows(t, l.Database)
		if _, err := l.Add(t.Context(), id, []byte(`{}`)); err == nil || !strings.Contains(err.Error(), l.Database) {
			t.Errorf("the list %s: %v", value, err)
		}
		if got := rows(t, l.Database); got != before {
			t.Errorf("it was\n%s\nand is\n%s", before, got)
		}
	}
	l := List{Database: filepath.Join(t.TempDir(), "none"), Key: "k"}
	if _, err := l.Add(t.Context(), id, []byte(`{}`)); err == nil {
		t.Error("an absent database is written")
	}
	if _, err := os.Stat(l.Database); err == nil {
		t.Error("an absent database was made")
	}
	if err := os.WriteFile(l.Database, []byte(strings.Repeat("no database", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Add(t.Context(), id, []byte(`{}`)); err == nil {
		t.Error("a file that is no database is written")
	}
}

// TestBusy: a database that another program is writing is not changed.
func TestBusy(t *testing.T) {
	l := list(t, "")
	db := open(t, l.Database)
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Add(t.Context(), id, []byte(`{}`)); err == nil {
		t.Error("a locked database is written")
	}
}

// TestRunning: a program runs if its lock names a process that exists, or none.
func TestRunning(t *testing.T) {
	l := list(t, "")
	for content, want := range map[string]int{strconv.Itoa(os.Getpid()): os.Getpid(), strconv.Itoa(os.Getpid()) + "\n": os.Getpid(), "": -1, "x": -1, "-4": -1, strconv.Itoa(ended(t)): 0} {
		if err := os.WriteFile(l.Lock, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if pid, err := l.Running(); pid != want || err != nil {
			t.Errorf("with the lock %q: %d, %v, want %d", content, pid, err, want)
		}
	}
	if err := os.Remove(l.Lock); err != nil {
		t.Fatal(err)
	}
	if pid, err := l.Running(); pid != 0 || err != nil {
		t.Errorf("without a lock: %d, %v", pid, err)
	}
}

// ended returns the id of a process that has ended.
func ended(t *testing.T) int {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// TestBackups: a change never replaces the copy that an earlier one made.
func TestBackups(t *testing.T) {
	l := list(t, "")
	for n, name := range []string{"", "-2", "-3"} {
		before := rows(t, l.Database)
		backup, err := l.Add(t.Context(), id, fmt.Appendf(nil, `{"n":%d}`, n))
		if err != nil || backup != l.Database+".before-bough"+name {
			t.Errorf("the copy is %s, %v", backup, err)
		}
		if got := rows(t, backup); got != before {
			t.Errorf("copy %d has\n%s\nwant\n%s", n, got, before)
		}
	}
	const other = "5d0f5c3b-62b8-4f51-9a07-6d1f1b0f2c12"
	if was, err := l.Remove(t.Context(), other); was || err != nil {
		t.Errorf("removed what is not listed: %v, %v", was, err)
	}
	if _, err := os.Stat(l.Database + ".before-bough-4"); err == nil {
		t.Error("there is a copy, and nothing changed")
	}
	if list, err := l.Listed(t.Context(), []string{other, id}); err != nil || len(list) != 1 || list[0] != id {
		t.Errorf("listed is %q, %v", list, err)
	}
}
