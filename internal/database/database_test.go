package database

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testdatabase"
	"github.com/bough-dev/bough/internal/testsize"
)

// state returns what a folder holds: names, bytes and times.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		info, err1 := e.Info()
		data, err2 := os.ReadFile(filepath.Join(dir, e.Name()))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = fmt.Sprintf("%v %x", info.ModTime(), data)
	}
	return got
}

// numbers returns the values of column n of the table.
func numbers(t *testing.T, db *DB, table string) (list []int64) {
	t.Helper()
	err := db.Each(Query{Table: table, Columns: []string{"n"}, Rest: "ORDER BY id"}, func(r Row) error {
		list = append(list, r.Int("n"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestOpenWhileWritten: each copy of a database that a program keeps writing is a state between two
// of its transactions, and not an older one than the last that had ended before.
func TestOpenWhileWritten(t *testing.T) {
	for _, mode := range []string{"wal", "delete", "truncate", "persist"} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "written.db")
			db := testdatabase.Open(t, path)
			const rows = 200
			testdatabase.Run(t, db, "PRAGMA journal_mode="+mode+"; PRAGMA wal_autocheckpoint=40; PRAGMA synchronous=off;"+
				"CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, fill TEXT)")
			for id := range rows {
				testdatabase.Run(t, db, fmt.Sprintf("INSERT INTO a VALUES(%d, 0, '%s')", id, strings.Repeat("x", 700)))
			}
			ctx, stop := context.WithCancel(t.Context())
			ended, done := make(chan int64, 1), make(chan int64)
			go func() {
				n := int64(0)
				defer func() { ended <- n }()
				for ctx.Err() == nil {
					if _, err := db.Exec(fmt.Sprintf("UPDATE a SET n = %d, fill = '%s'", n+1, strings.Repeat(string(rune('a'+n%26)), 700))); err != nil {
						t.Error(err)
						return
					}
					n++
					rest := 10 * time.Millisecond // while there is a journal, no copy succeeds
					if mode == "wal" {
						rest = time.Millisecond
					}
					time.Sleep(rest)
					select {
					case done <- n:
					default:
					}
				}
			}()
			for range testsize.Of(3, 6, 100) {
				before := <-done
				copied := open(t, path)
				list := numbers(t, copied, "a")
				if copied.Damage != "" || len(list) != rows || list[0] < before || !same(list) {
					t.Errorf("after transaction %d the copy has %d rows, %v: %s", before, len(list), list, copied.Damage)
				}
				copied.Close()
			}
			stop()
			last := <-ended
			before := state(t, filepath.Dir(path))
			copied := open(t, path)
			if list := numbers(t, copied, "a"); !same(list) || list[0] != last {
				t.Errorf("after the last transaction, %d, the copy has %d", last, list[0])
			}
			copied.Close()
			if after := state(t, filepath.Dir(path)); !reflect.DeepEqual(before, after) {
				t.Error("the folder of the database was changed")
			}
			if _, log := before["written.db-wal"]; log != (mode == "wal") {
				t.Errorf("there is a log: %v", log)
			}
		})
	}
}

// same reports whether all numbers are equal: one transaction wrote them.
func same(list []int64) bool {
	for _, n := range list {
		if n != list[0] {
			return false
		}
	}
	return len(list) > 0
}

// TestOpenCrashed: what a program left in the middle of a transaction is rolled back.
func TestOpenCrashed(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		dir := t.TempDir()
		db := testdatabase.Open(t, filepath.Join(dir, "b.db"))
		testdatabase.Run(t, db, "PRAGMA journal_mode="+mode+"; PRAGMA cache_size=2; CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, fill TEXT);"+
			"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 100) INSERT INTO a SELECT i, 7, hex(zeroblob(400)) FROM c;"+
			"BEGIN; UPDATE a SET n = 8")
		crashed := t.TempDir()
		if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		before := state(t, crashed)
		if name := map[string]string{"wal": "b.db-wal", "delete": "b.db-journal"}[mode]; len(before[name]) < 10_000 {
			t.Fatalf("%s: the transaction is not in %s", mode, name)
		}
		copied := open(t, filepath.Join(crashed, "b.db"))
		if list := numbers(t, copied, "a"); len(list) != 100 || list[0] != 7 || !same(list) {
			t.Errorf("%s: the copy has %v", mode, list)
		}
		copied.Close()
		if !reflect.DeepEqual(before, state(t, crashed)) {
			t.Errorf("%s: the folder was changed", mode)
		}
	}
}

// TestDamaged: of a damaged database what can be read is read, and the damage is described.
func TestDamaged(t *testing.T) {
	path := testdatabase.Make(t, "CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, fill TEXT);"+
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 100) INSERT INTO a SELECT i, 7, hex(zeroblob(400)) FROM c;")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := len(whole) / 2 / 4096 * 4096
	for _, c := range []struct {
		what   string
		data   string
		refuse string // the error of opening
		damage bool
	}{
		{"truncated", string(whole[:page]), "", true},
		{"cut in a page", string(whole[:page+100]), "", true},
		{"with a page of zeros", string(whole[:page]) + strings.Repeat("\x00", 4096) + string(whole[page+4096:]), "", false},
		{"with noise in a page", string(whole[:page]) + strings.Repeat("noise...", 512) + string(whole[page+4096:]), "", false},
		{"encrypted", strings.Repeat("noise...", 512*20), "encrypted", false},
		{"with noise after its magic", magic + strings.Repeat("noise...", 512*20), "encrypted", false},
		{"only a head", magic, "encrypted", false},
	} {
		db, err := Read(t.Context(), strings.NewReader(c.data))
		if c.refuse != "" {
			if err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("%s: %v", c.what, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		n := 0
		err = db.Each(Query{Table: "a", Columns: []string{"n", "missing"}, Rest: "ORDER BY id"}, func(r Row) error {
			if r.Int("n") != 7 || r.Value("missing") != nil || r.Text("missing") != "" {
				t.Errorf("%s: a row is %v", c.what, r)
			}
			n++
			return nil
		})
		var failed *QueryError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), "damaged") || n < 20 || n >= 100 || (db.Damage != "") != c.damage {
			t.Errorf("%s: %d rows, %v; %q", c.what, n, err, db.Damage)
		}
		dir := db.dir
		db.Close()
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the copy is left: %v", c.what, err)
		}
	}
}

// TestValues: values keep their types, times are texts, and views and virtual tables are none.
func TestValues(t *testing.T) {
	db := open(t, testdatabase.Make(t, `CREATE TABLE v(i INTEGER, f REAL, s TEXT, b BLOB, at DATETIME, "a ""name""" TEXT, g TEXT AS (s || '!'));
		INSERT INTO v VALUES(1, 0.5, 'wren', x'ff41', '2026-01-02 03:04:05', 'q'); CREATE VIEW w AS SELECT * FROM v`))
	defer db.Close()
	if db.Has("w") || db.Has("v", "g") || !db.Has("v", "i", "at") || db.Has("v", "i", "j") || db.Has("x") {
		t.Errorf("the tables are %v", db.tables)
	}
	columns := []string{"i", "f", "s", "b", "at", `a "name"`}
	err := db.Each(Query{Table: "v", Columns: columns}, func(r Row) error {
		if want := []any{int64(1), 0.5, "wren", []byte("\xffA"), "2026-01-02 03:04:05", "q"}; !reflect.DeepEqual(r.values, want) {
			t.Errorf("the values are %#v", r.values)
		}
		if r.Text("b") != "\uFFFDA" || r.Text("i") != "1" || r.Int("s") != 0 {
			t.Errorf("as text %q, %q; as an integer %d", r.Text("b"), r.Text("i"), r.Int("s"))
		}
		return errors.New("enough")
	})
	if err == nil || err.Error() != "enough" {
		t.Error(err)
	}
	if _, err := db.conn.ExecContext(t.Context(), "DELETE FROM v"); err == nil {
		t.Error("the copy can be changed")
	}
}

// TestOpenLink: the log of a database that is opened by a link is beside the target.
func TestOpenLink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "target.db")
	db := testdatabase.Open(t, path)
	testdatabase.Run(t, db, "PRAGMA journal_mode=wal; CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER); PRAGMA wal_checkpoint; INSERT INTO a VALUES(1, 7)")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no links: ", err)
	}
	copied := open(t, link)
	defer copied.Close()
	if got := numbers(t, copied, "a"); !reflect.DeepEqual(got, []int64{7}) {
		t.Errorf("by the link: %v", got)
	}
	if info, err := os.Stat(LogOf(link)); err != nil || info.Size() == 0 {
		t.Errorf("the log %s: %v", LogOf(link), err)
	}
}

// TestCopyDisappears: nothing of an open copy has a name, so that none stays if the program is killed.
func TestCopyDisappears(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	path := filepath.Join(t.TempDir(), "log.db")
	db := testdatabase.Open(t, path)
	testdatabase.Run(t, db, "PRAGMA journal_mode=wal; CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO a VALUES(1, 7)")
	copied := open(t, path)
	defer copied.Close()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("the temporary folder has %v, %v", left, err)
	}
	if got := numbers(t, copied, "a"); !reflect.DeepEqual(got, []int64{7}) {
		t.Errorf("the copy has %v", got)
	}
}

// TestOpenForeign: a database that is not wanted is not copied, unless its newest tables may be in
// its log, and nothing beside it changes.
func TestOpenForeign(t *testing.T) {
	for _, name := range []string{"TMPDIR", "TMP"} { // no copy can be made
		t.Setenv(name, filepath.Join(t.TempDir(), "none"))
	}
	for _, mode := range []string{"delete", "wal"} {
		path := filepath.Join(t.TempDir(), "foreign.db")
		db := testdatabase.Open(t, path)
		testdatabase.Run(t, db, "PRAGMA journal_mode="+mode+"; CREATE TABLE songs(id, title); INSERT INTO songs VALUES(1, 'x')")
		asked := 0
		wanted := func(db *DB) bool {
			asked++
			n := 0
			if err := db.Each(Query{Table: "songs", Columns: []string{"id"}}, func(Row) error { n++; return nil }); err != nil || n != 1 {
				t.Errorf("%s: %d rows, %v", mode, n, err)
			}
			return db.Has("session")
		}
		if _, err := Open(t.Context(), path, wanted); mode == "wal" && (err == nil || asked > 0) {
			t.Errorf("with a log: asked %d times, %v", asked, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		asked = 0
		before := state(t, filepath.Dir(path))
		foreign, err := Open(t.Context(), path, wanted)
		if err != nil || asked != 1 || !foreign.Has("songs", "title") {
			t.Fatalf("%s: asked %d times, %v", mode, asked, err)
		}
		foreign.Close()
		if after := state(t, filepath.Dir(path)); !reflect.DeepEqual(before, after) {
			t.Errorf("%s: the folder changed", mode)
		}
	}
}

// TestSpace: a database for whose copy there is no space is not copied.
func TestSpace(t *testing.T) {
	path := testdatabase.Make(t, "CREATE TABLE a(n)")
	if err := os.Truncate(path, 1<<43); err != nil {
		t.Skip("no sparse files: ", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if _, known := freeSpace(t.TempDir()); !known {
		t.Skip("the free space is not known")
	}
	if _, err := Open(ctx, path, nil); err == nil || !strings.Contains(err.Error(), "free space") {
		t.Error(err)
	}
}

// TestSuperJournal: the journal of a transaction over several databases is rolled back as long as
// the file that it names exists, which stays, whatever it is.
func TestSuperJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.db")
	db := testdatabase.Open(t, path)
	testdatabase.Run(t, db, "PRAGMA cache_size=2; CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, fill TEXT);"+
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 100) INSERT INTO a SELECT i, 7, hex(zeroblob(400)) FROM c;"+
		"BEGIN; UPDATE a SET n = 8")
	for _, exists := range []bool{true, false} {
		crashed := t.TempDir()
		if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(t.TempDir(), "other.db-mj1A2B3C9D4")
		if exists {
			if err := os.WriteFile(other, []byte("words"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		sum := uint32(0)
		for _, c := range []byte(other) {
			sum += uint32(int8(c))
		}
		record := []byte("\x00\x04\x00\x01") // a page number
		record = append(record, other...)
		record = binary.BigEndian.AppendUint32(record, uint32(len(other)))
		record = binary.BigEndian.AppendUint32(record, sum)
		record = append(record, journalMagic...)
		f, err := os.OpenFile(filepath.Join(crashed, "b.db-journal"), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write(record)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		copied := open(t, filepath.Join(crashed, "b.db"))
		if list := numbers(t, copied, "a"); len(list) != 100 || exists && (list[0] != 7 || !same(list)) || !exists && list[0] != 8 {
			t.Errorf("the named file exists: %v; the copy has %v", exists, list)
		}
		copied.Close()
		if data, err := os.ReadFile(other); exists && string(data) != "words" {
			t.Errorf("the file that a journal names has %q, %v", data, err)
		}
	}
}

// TestEndless: reading a file whose pages are no tree ends with an error, and the rest is read.
func TestEndless(t *testing.T) {
	path := testdatabase.Make(t, "PRAGMA page_size=512; CREATE TABLE a(id INTEGER PRIMARY KEY, n INTEGER, fill TEXT); CREATE TABLE b(id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO b VALUES(1, 7);"+
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 3000) INSERT INTO a SELECT i, 7, hex(zeroblob(100)) FROM c;")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = 512
	var leaf uint32
	var inner []int
	for at := size; at < len(whole); at += size {
		switch whole[at] {
		case 5:
			inner = append(inner, at)
		case 13:
			leaf = uint32(at/size) + 1
		}
	}
	if len(inner) < 10 {
		t.Fatalf("%d inner pages", len(inner))
	}
	inner = inner[:10] // SQLite gives up at 20
	pointAt := func(data []byte, at int, page uint32) {
		binary.BigEndian.PutUint32(data[at+8:], page)
		for i := range int(binary.BigEndian.Uint16(data[at+3:])) {
			binary.BigEndian.PutUint32(data[at+int(binary.BigEndian.Uint16(data[at+12+2*i:])):], page)
		}
	}
	for _, what := range []string{"a cycle", "a chain of pages with the same child"} {
		data := slices.Clone(whole)
		for i, at := range inner {
			switch next := leaf; {
			case what == "a cycle":
				pointAt(data, at, uint32(at/size)+1)
			case i+1 < len(inner):
				next = uint32(inner[i+1]/size) + 1
				fallthrough
			default:
				pointAt(data, at, next)
			}
		}
		// The root is the first inner page, which the schema names.
		db, err := Read(t.Context(), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, rest := range []string{"ORDER BY id", "WHERE fill = 'none'", "GROUP BY n"} {
			err = db.Each(Query{Table: "a", Columns: []string{"n"}, Rest: rest}, func(Row) error { n++; return nil })
			var failed *QueryError
			if !errors.As(err, &failed) || !failed.Damage() || n > 1000 {
				t.Errorf("%s, %s: %d rows, %v", what, rest, n, err)
			}
		}
		if got := numbers(t, db, "b"); !reflect.DeepEqual(got, []int64{7}) {
			t.Errorf("%s: the other table has %v", what, got)
		}
		db.Close()
	}
	db, err := Read(t.Context(), bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := numbers(t, db, "a"); len(got) != 3000 {
		t.Errorf("the whole table has %d rows", len(got))
	}
	db.left = 100
	if err := db.Each(Query{Table: "a", Columns: []string{"fill"}}, func(Row) error { return nil }); !errors.Is(err, errEndless) {
		t.Errorf("rows with more content than the file: %v", err)
	}
}

// TestEndlessSchema: a schema whose pages are no tree is an error.
func TestEndlessSchema(t *testing.T) {
	var tables strings.Builder
	for i := range 700 {
		fmt.Fprintf(&tables, "CREATE TABLE t%d(%s);", i, strings.Repeat("a", 350)) // a page each
	}
	path := testdatabase.Make(t, "PRAGMA page_size=512; "+tables.String())
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if db := open(t, path); len(db.tables) != 700 {
		t.Errorf("%d tables", len(db.tables))
	} else {
		db.Close()
	}
	const size = 512
	begin := 100
	chain := 0
	for at := 0; at < len(data) && chain < 10; at += size {
		if data[at+begin] == 5 {
			next := at/size + 2
			for next*size <= len(data) && data[(next-1)*size] != 5 {
				next++
			}
			binary.BigEndian.PutUint32(data[at+begin+8:], uint32(next))
			for i := range int(binary.BigEndian.Uint16(data[at+begin+3:])) {
				binary.BigEndian.PutUint32(data[at+int(binary.BigEndian.Uint16(data[at+begin+12+2*i:])):], uint32(next))
			}
			chain++
		}
		begin = 0
	}
	if chain < 10 {
		t.Fatalf("the schema has %d inner pages", chain)
	}
	if db, err := Read(t.Context(), bytes.NewReader(data)); !errors.Is(err, errEndless) {
		t.Errorf("%v, %v", db, err)
	}
}
