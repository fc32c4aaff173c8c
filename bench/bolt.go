package main

import (
	"context"
	"fmt"
	"path/filepath"

	"go.etcd.io/bbolt"
)

var sessionBucket, children = []byte("sessions"), []byte("children")

// openBolt adds sessions to a bbolt database: the entry under its id, and a key
// of parent and id for the link. A transaction is synced as bbolt does by
// itself.
func openBolt(_ context.Context, w *work, dir string) (*running, error) {
	db, err := bbolt.Open(filepath.Join(dir, "index.bolt"), 0o600, nil)
	if err != nil {
		return nil, err
	}
	put := func(tx *bbolt.Tx, l link) error {
		entries, err := tx.CreateBucketIfNotExists(sessionBucket)
		if err != nil {
			return err
		}
		links, err := tx.CreateBucketIfNotExists(children)
		if err != nil {
			return err
		}
		if err := entries.Put([]byte(l.id), l.entry); err != nil {
			return err
		}
		return links.Put([]byte(l.parent+"\x00"+l.id), nil)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for n := range w.sessions {
			if err := put(tx, newLink(n)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n := w.sessions
	return &running{
		tasks: map[job]task{add: {
			do: func() error {
				l := newLink(n)
				n++
				return db.Update(func(tx *bbolt.Tx) error { return put(tx, l) })
			},
			verify: func() error {
				return db.View(func(tx *bbolt.Tx) error {
					entries, links := tx.Bucket(sessionBucket).Stats().KeyN, tx.Bucket(children).Stats().KeyN
					if entries != n || links != n {
						return fmt.Errorf("%d sessions and %d links, want %d", entries, links, n)
					}
					l := newLink(n - 1)
					if got := tx.Bucket(sessionBucket).Get([]byte(l.id)); string(got) != string(l.entry) {
						return fmt.Errorf("%s is %q, want %q", l.id, got, l.entry)
					}
					return nil
				})
			},
		}},
		close: db.Close,
	}, nil
}
