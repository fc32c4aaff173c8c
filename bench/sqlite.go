package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/bough-dev/bough/internal/testchat"
	_ "modernc.org/sqlite"
)

// A sqlite keeps messages as rows; a checkpoint is a copy of them under another
// session. A commit is durable: the log is written ahead and synced.
type sqlite struct {
	foldLater bool // the log is folded into the database outside of the time measured
}

const schema = `
CREATE TABLE session (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES session, title TEXT NOT NULL);
CREATE TABLE message (session INTEGER NOT NULL REFERENCES session, n INTEGER NOT NULL, id TEXT NOT NULL, raw BLOB NOT NULL,
	PRIMARY KEY (session, n));`

// A database is open in a folder.
type database struct {
	*sql.DB
	ctx context.Context
}

func connect(ctx context.Context, dir string, pragmas ...string) (database, error) {
	set := url.Values{"_pragma": append([]string{"journal_mode(WAL)", "synchronous(FULL)"}, pragmas...)}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(dir, "chat.db"))+"?"+set.Encode())
	if err != nil {
		return database{}, err
	}
	db.SetMaxOpenConns(1)
	return database{db, ctx}, db.PingContext(ctx)
}

func (s sqlite) create(ctx context.Context, dir string) (database, error) {
	var pragmas []string
	if s.foldLater {
		pragmas = append(pragmas, "wal_autocheckpoint(0)")
	}
	db, err := connect(ctx, dir, pragmas...)
	if err != nil {
		return db, err
	}
	_, err = db.ExecContext(ctx, schema)
	return db, err
}

// session adds a session and what fills it, in one transaction.
func (db database) session(parent any, fill func(tx *sql.Tx, id int64) error) (id int64, err error) {
	tx, err := db.BeginTx(db.ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	added, err := tx.ExecContext(db.ctx, "INSERT INTO session (parent, title) VALUES (?, 'checkpoint')", parent)
	if err != nil {
		return 0, err
	}
	if id, err = added.LastInsertId(); err != nil {
		return 0, err
	}
	if err := fill(tx, id); err != nil {
		return 0, err
	}
	return id, tx.Commit()
}

// insert adds a session of messages.
func (db database) insert(messages []testchat.Message) (id int64, err error) {
	return db.session(nil, func(tx *sql.Tx, id int64) error {
		add, err := tx.PrepareContext(db.ctx, "INSERT INTO message (session, n, id, raw) VALUES (?, ?, ?, ?)")
		if err != nil {
			return err
		}
		defer add.Close()
		for i, m := range messages {
			if _, err := add.ExecContext(db.ctx, id, i+1, m.ID, m.Raw); err != nil {
				return err
			}
		}
		return nil
	})
}

// copy adds a session of the first n messages of another.
func (db database) copy(from int64, n int) (id int64, err error) {
	return db.session(from, func(tx *sql.Tx, id int64) error {
		_, err := tx.ExecContext(db.ctx, "INSERT INTO message SELECT ?, n, id, raw FROM message WHERE session = ? AND n <= ?", id, from, n)
		return err
	})
}

// read returns the messages of a session.
func (db database) read(id int64) ([]testchat.Message, error) {
	rows, err := db.QueryContext(db.ctx, "SELECT id, raw FROM message WHERE session = ? ORDER BY n", id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []testchat.Message
	for rows.Next() {
		var m testchat.Message
		if err := rows.Scan(&m.ID, &m.Raw); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, rows.Err()
}

// holds reports how a session holds other messages than c.
func (db database) holds(id int64, c chat) error {
	got, err := db.read(id)
	if err != nil {
		return err
	}
	return sameRows(got, c.messages())
}

func sameRows(got, want []testchat.Message) error {
	raws := make([][]byte, len(got))
	for i, m := range got {
		raws[i] = m.Raw
		if i < len(want) && m.ID != want[i].ID {
			return fmt.Errorf("message %d has the id %q, want %q", i+1, m.ID, want[i].ID)
		}
	}
	return same(raws, want)
}

func (db database) fold() error {
	_, err := db.ExecContext(db.ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

func (s sqlite) open(ctx context.Context, w *work, dir string) (*running, error) {
	db, err := s.create(ctx, dir)
	if err != nil {
		return nil, err
	}
	var live, made int64
	fold := func() error {
		if s.foldLater {
			return db.fold()
		}
		return nil
	}
	copying := func(c chat) task {
		return task{
			before: fold,
			do: func() (err error) {
				made, err = db.copy(live, len(c.messages()))
				return err
			},
			verify: func() error { return db.holds(made, c) },
		}
	}
	grown := w.chained.grown()
	once := copying(grown)
	once.before = func() error {
		m := grown.messages()[w.messages]
		_, err := db.ExecContext(ctx, "INSERT INTO message (session, n, id, raw) VALUES (?, ?, ?, ?)", live, w.messages+1, m.ID, m.Raw)
		return errors.Join(err, fold())
	}
	var loaded []testchat.Message
	return &running{
		tasks: map[job]task{
			first: {
				do: func() (err error) {
					live, err = db.insert(w.chained.messages())
					return err
				},
				verify: func() error { return db.holds(live, w.chained) },
			},
			again:  copying(w.chained),
			later:  once,
			branch: copying(w.chained.cut(w.branch)),
			load: {
				before: fold,
				do: func() error {
					db, err := connect(ctx, dir)
					if err != nil {
						return err
					}
					loaded, err = db.read(live)
					return errors.Join(err, db.Close())
				},
				verify: func() error { return sameRows(loaded, grown.messages()) },
			},
		},
		close: db.Close,
	}, nil
}

// fifty counts a database that holds the checkpoints and nothing else.
func (s sqlite) fifty(ctx context.Context, w *work, dir string) ([]footprint, error) {
	db, err := s.create(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	var times laps
	err = w.growing(false, func(c chat) error {
		var id int64
		messages := c.messages()
		err := times.checkpoint(func() (err error) {
			id, err = db.insert(messages)
			return err
		})
		return errors.Join(err, db.holds(id, c))
	})
	if err := errors.Join(err, times.do(db.fold)); err != nil {
		return nil, err
	}
	n, err := bytesIn(dir, anyName)
	return []footprint{{"one database", n, times.each()}}, err
}

// openTable adds sessions to a table with an index over the links.
func openTable(ctx context.Context, w *work, dir string) (*running, error) {
	db, err := connect(ctx, dir)
	if err != nil {
		return nil, err
	}
	const (
		create = "CREATE TABLE entry (id TEXT PRIMARY KEY, parent TEXT, entry TEXT NOT NULL); CREATE INDEX children ON entry (parent)"
		insert = "INSERT INTO entry (id, parent, entry) VALUES (?, ?, ?)"
	)
	if _, err := db.ExecContext(ctx, create); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for n := range w.sessions {
		l := newLink(n)
		if _, err := tx.ExecContext(ctx, insert, l.id, l.parent, l.entry); err != nil {
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	put, err := db.PrepareContext(ctx, insert)
	if err != nil {
		return nil, err
	}
	n := w.sessions
	return &running{
		tasks: map[job]task{add: {
			do: func() error {
				l := newLink(n)
				n++
				_, err := put.ExecContext(ctx, l.id, l.parent, l.entry)
				return err
			},
			verify: func() error {
				var rows int
				var parent string
				l := newLink(n - 1)
				err := db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM entry), parent FROM entry WHERE id = ?", l.id).Scan(&rows, &parent)
				if err == nil && (rows != n || parent != l.parent) {
					err = fmt.Errorf("%d sessions, the last from %q, want %d and %q", rows, parent, n, l.parent)
				}
				return err
			},
		}},
		close: func() error { return errors.Join(put.Close(), db.Close()) },
	}, nil
}
