package database

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"modernc.org/sqlite"
)

// maxValue is the maximum size of a row and of a value, in bytes. Reading a larger one is an
// error.
const maxValue = 256 << 20

// A DB is a private copy of a database, only to be read. It is not safe for concurrent use.
type DB struct {
	// Damage describes why the database is not whole, "" if no reason is known. What can be
	// read is read.
	Damage string

	ctx    context.Context
	dir    string // of the copy, "" if there is none
	pool   *sql.DB
	conn   *sql.Conn
	tables map[string][]string // the names of columns, by that of the table
	pages  *pages
	left   int64 // how many bytes may still be read
}

// Open copies the database at path, which a program may be writing, and opens the copy. The
// queries end with ctx.
//
// If wanted is not nil, and there is neither a log nor a journal, wanted is asked first. If it
// returns false, the database is not copied, and may only be asked for its tables.
func Open(ctx context.Context, path string, wanted func(*DB) bool) (*DB, error) {
	path = target(path)
	if wanted != nil {
		if db := foreign(ctx, path, wanted); db != nil {
			return db, nil
		}
	}
	return copied(ctx, func(to string) error { return copyWhole(ctx, path, to) })
}

// foreign opens the database at path where it is, and returns it if wanted returns false. It
// returns nil if the database is wanted, changes, or cannot be read. SQLite takes no lock on a file
// that is called immutable, and makes no other one.
func foreign(ctx context.Context, path string, wanted func(*DB) bool) *DB {
	before, err := look(path)
	if err != nil || before.log != "" || before.journal != (durable.Identity{}) {
		return nil
	}
	db := &DB{ctx: ctx}
	err = db.open(path, "mode=ro&immutable=1")
	if err == nil {
		err = db.bound(path)
	}
	if err == nil && !wanted(db) {
		if after, err := look(path); err == nil && after == before {
			return db
		}
	}
	db.Close()
	return nil
}

// Read copies a database from in and opens the copy.
func Read(ctx context.Context, in io.Reader) (*DB, error) {
	return copied(ctx, func(to string) error { return spool(ctx, in, to) })
}

func copied(ctx context.Context, copy func(to string) error) (*DB, error) {
	dir, err := os.MkdirTemp("", "bough-db-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "db")
	if err := copy(path); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	db := &DB{ctx: ctx, dir: dir}
	const rw = "mode=rw&_pragma=locking_mode(exclusive)"
	if err = db.open(path, rw); code(err) == corrupt {
		db.Damage = explain(err).Error()
		db.shut()
		if err := dropPart(path); err != nil {
			db.Close()
			return nil, err
		}
		// Without writable_schema SQLite reads nothing of a file with fewer pages than its header states.
		err = db.open(path, rw+"&_pragma=writable_schema(1)")
	}
	if err == nil {
		err = db.fold()
	}
	if err == nil {
		err = db.bound(path)
	}
	if err != nil {
		db.Close()
		return nil, explain(err)
	}
	if runtime.GOOS != "windows" { // so that the copy disappears however this program ends
		os.RemoveAll(dir)
	}
	return db, nil
}

// dropPart cuts off the part of a page at the end of a truncated file, of which SQLite would take
// the rest for zeros.
func dropPart(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	page, err := pageSize(f)
	if err != nil || page == 0 {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/page*page)
}

// pageSize returns the size of the pages of a file, 0 if it does not state one.
func pageSize(f *os.File) (int64, error) {
	var b [2]byte
	if _, err := f.ReadAt(b[:], 16); err == io.EOF {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	size := int64(binary.BigEndian.Uint16(b[:]))
	if size == 1 { // it does not fit into two bytes
		size = 1 << 16
	}
	return size, nil
}

// open opens the file at path, with parameters of its address, and reads the names of its tables.
// Nothing in the file is trusted: its schema cannot call functions, and views and virtual tables
// are not read.
func (db *DB) open(path, how string) (err error) {
	db.shut()
	if err := schemaEnds(path); err != nil {
		return err
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // the drive of Windows
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: how + "&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_query_only=1"}
	if db.pool, err = sql.Open("sqlite", u.String()); err != nil {
		return err
	}
	if db.conn, err = db.pool.Conn(db.ctx); err != nil {
		return err
	}
	const length = 0 // SQLITE_LIMIT_LENGTH
	if _, err := sqlite.Limit(db.conn, length, maxValue); err != nil {
		return err
	}
	db.tables = map[string][]string{}
	// A virtual table has no page; a generated column is not listed.
	rows, err := db.conn.QueryContext(db.ctx, "SELECT s.name, c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c WHERE s.type = 'table' AND s.rootpage > 0")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		db.tables[table] = append(db.tables[table], column)
	}
	return rows.Err()
}

// Close removes the copy, if there is one.
func (db *DB) Close() error {
	db.shut()
	return os.RemoveAll(db.dir)
}

func (db *DB) shut() {
	if db.conn != nil {
		db.conn.Close()
	}
	if db.pool != nil {
		db.pool.Close()
	}
	if db.pages != nil {
		db.pages.file.Close()
	}
	db.conn, db.pool, db.pages = nil, nil, nil
}

// Has reports whether there is a table with columns.
func (db *DB) Has(table string, columns ...string) bool {
	return db.tables[table] != nil && db.Missing(table, columns...) == nil
}

// Missing returns those of the columns that the table does not have.
func (db *DB) Missing(table string, columns ...string) (missing []string) {
	for _, c := range columns {
		if !slices.Contains(db.tables[table], c) {
			missing = append(missing, c)
		}
	}
	return missing
}

// A Query selects rows of one table.
type Query struct {
	Table   string
	Columns []string // those that the table does not have are NULL
	Rest    string   // what follows the name of the table: WHERE … ORDER BY …
	Args    []any    // the values for each ? in Rest
}

// Each calls f for each row of a query. The row is valid until f returns. The error may come
// after rows that were read: f was called for these.
func (db *DB) Each(q Query, f func(Row) error) error {
	if db.pages.endless(q.Table) {
		return &QueryError{"the database is damaged: pages of the table " + q.Table + " are in several places of it", errEndless}
	}
	var list []string
	for _, c := range q.Columns {
		if !db.Has(q.Table, c) {
			list = append(list, "NULL")
		} else { // as an expression, because the driver parses values of columns that are declared as times
			list = append(list, "coalesce("+quoted(c)+", NULL)")
		}
	}
	rows, err := db.conn.QueryContext(db.ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+quoted(q.Table)+" "+q.Rest, q.Args...)
	if err != nil {
		return db.failed(err)
	}
	defer rows.Close()
	row := Row{names: q.Columns, values: make([]any, len(q.Columns))}
	into := make([]any, len(row.values))
	for i := range into {
		into[i] = &row.values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if db.left -= row.size(); db.left < 0 {
			return &QueryError{"the database is damaged: its rows have more content than the file", errEndless}
		}
		if err := f(row); err != nil {
			return err
		}
	}
	return db.failed(rows.Err())
}

// failed returns the error of a query: that of the context, if it has ended.
func (db *DB) failed(err error) error {
	if err != nil && db.ctx.Err() != nil {
		return db.ctx.Err()
	}
	return explain(err)
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// A Row is a row of a query.
type Row struct {
	names  []string
	values []any // nil, int64, float64, string or []byte
}

// size returns the size of the texts and bytes in a row.
func (r Row) size() (n int64) {
	for _, v := range r.values {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		}
	}
	return n
}

// Value returns the value in a column: nil, int64, float64, string or []byte.
func (r Row) Value(column string) any { return r.values[slices.Index(r.names, column)] }

// Text is [Text] of the value in a column.
func (r Row) Text(column string) string { return Text(r.Value(column)) }

// Text returns a text or bytes as valid UTF-8, and a number in digits; "" if it is NULL.
func Text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return strings.ToValidUTF8(v, "\uFFFD")
	case []byte:
		return strings.ToValidUTF8(string(v), "\uFFFD")
	default:
		return fmt.Sprint(v)
	}
}

// JSON returns the text in a column if it is one JSON value, which is nested at most 10,000 deep,
// and "" if not. Parsers that recurse can read it.
func (r Row) JSON(column string) string {
	text := r.Text(column)
	if !json.Valid([]byte(text)) {
		return ""
	}
	return text
}

// Int returns an integer, 0 if the value is none.
func (r Row) Int(column string) int64 {
	n, _ := r.Value(column).(int64)
	return n
}

// Result codes of SQLite.
const (
	corrupt     = 11
	tooBig      = 18
	notDatabase = 26
)

// code returns the primary result code of an error of SQLite, 0 for another one.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// A QueryError is the error of a query that SQLite could not complete: the database is damaged, or
// the file is not a database, or reading failed.
type QueryError struct {
	what string
	err  error
}

func (e *QueryError) Error() string { return e.what }
func (e *QueryError) Unwrap() error { return e.err }

// Damage reports whether rows are damaged, or larger than what is read. Another error, such as that
// of a full disk, says nothing about the rows.
func (e *QueryError) Damage() bool {
	c := code(e.err)
	return c == corrupt || c == tooBig || e.err == errEndless
}

// explain returns an error of SQLite in words for the user.
func explain(err error) error {
	what := ""
	switch code(err) {
	case 0:
		return err
	case corrupt:
		what = "the database is damaged: it is truncated, or a page of it is malformed"
	case notDatabase:
		what = "the database is encrypted, or damaged at its beginning"
	case tooBig:
		what = fmt.Sprintf("a row of the database has more than %d MiB", maxValue>>20)
	default:
		what = "the database cannot be read: " + err.Error()
	}
	return &QueryError{what, err}
}
