package database

import (
	"encoding/binary"
	"errors"
	"os"
)

// errEndless is the error for rows that would not end.
var errEndless = errors.New("the pages are not a tree")

const (
	maxRead   = 64 // how often the content of a file can be read
	maxShared = 4  // how often, on average, a query may visit a page; once if the file is not damaged
	maxDepth  = 20 // of a tree, at which SQLite gives up
)

// fold writes the log of the copy into it, if that is possible.
func (db *DB) fold() error {
	if _, err := db.conn.ExecContext(db.ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil && db.ctx.Err() != nil {
		return db.ctx.Err()
	}
	return nil
}

// bound limits what is read of the file at path, so that reading ends. SQLite does not notice that
// two pages of a table have the same child: with a few pages, a table can have 2^20 times as many
// rows as they have.
func (db *DB) bound(path string) error {
	var err error
	if db.pages, err = openPages(path); err != nil {
		return err
	}
	db.left = maxRead * (db.pages.number*db.pages.size + 1<<20)
	rows, err := db.conn.QueryContext(db.ctx, "SELECT tbl_name, rootpage FROM sqlite_schema WHERE typeof(rootpage) = 'integer' AND rootpage BETWEEN 1 AND 4294967295")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var root uint32
		if err := rows.Scan(&table, &root); err != nil {
			return err
		}
		db.pages.roots[table] = append(db.pages.roots[table], root)
	}
	return rows.Err()
}

// schemaEnds returns an error if SQLite would read the schema of the file at path without end. What
// is only in the log is not considered: it cannot be folded before the schema is read.
func schemaEnds(path string) error {
	p, err := openPages(path)
	if err != nil {
		return err
	}
	defer p.file.Close()
	const schema = "sqlite_schema"
	p.roots[schema] = []uint32{1}
	if p.endless(schema) {
		return &QueryError{"the database is damaged: pages of its schema are in several places of it", errEndless}
	}
	return nil
}

func openPages(path string) (*pages, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &pages{file: f, roots: map[string][]uint32{}, known: map[string]bool{}}
	info, err := f.Stat()
	if err == nil {
		p.size, err = pageSize(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	p.number = info.Size() / max(p.size, 1)
	return p, nil
}

// pages are those of a database.
type pages struct {
	file   *os.File
	size   int64 // of a page
	number int64
	roots  map[string][]uint32 // of a table and of its indexes
	known  map[string]bool     // the results of endless
}

// endless reports whether a query of a table can visit many more pages than there are.
func (p *pages) endless(table string) bool {
	is, known := p.known[table]
	if known {
		return is
	}
	w := walk{pages: p, most: maxShared * (p.number + 1), visits: map[place]int64{}}
	for _, root := range p.roots[table] {
		is = is || w.count(place{root, 0}) > w.most
	}
	p.known[table] = is
	return is
}

// A walk counts the pages that SQLite visits in a tree.
type walk struct {
	*pages
	most   int64           // at which the count ends
	visits map[place]int64 // at and below an inner page
}

// A place is a page in a tree.
type place struct {
	page  uint32
	depth int
}

// count returns how many pages SQLite visits at and below a place.
func (w *walk) count(at place) int64 {
	if n, known := w.visits[at]; known {
		return n
	}
	n := int64(1)
	if at.depth == maxDepth {
		return n
	}
	children := w.children(at.page)
	for _, child := range children {
		if n += w.count(place{child, at.depth + 1}); n > w.most {
			break
		}
	}
	if len(children) > 0 {
		w.visits[at] = n
	}
	return n
}

// children returns the children of a page; a leaf, or what is no page of a tree, has none. See
// section 1.6 of https://www.sqlite.org/fileformat2.html.
func (p *pages) children(page uint32) (list []uint32) {
	const innerIndex, innerTable, header = 2, 5, 12
	at, begin := (int64(page)-1)*p.size, 0
	if page == 1 {
		begin = 100 // after the header of the file
	}
	var head [header]byte
	if _, err := p.file.ReadAt(head[:], at+int64(begin)); err != nil || head[0] != innerIndex && head[0] != innerTable {
		return nil
	}
	all := make([]byte, p.size)
	if _, err := p.file.ReadAt(all, at); err != nil {
		return nil
	}
	for i := range int(binary.BigEndian.Uint16(head[3:])) {
		pointer := begin + header + 2*i
		if pointer+2 > len(all) {
			break
		}
		if cell := int(binary.BigEndian.Uint16(all[pointer:])); cell+4 <= len(all) {
			list = append(list, binary.BigEndian.Uint32(all[cell:]))
		}
	}
	return append(list, binary.BigEndian.Uint32(head[8:]))
}
