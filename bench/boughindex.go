package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// openIndex adds sessions to bough's index, which is loaded. Their files are
// there before: only the index is measured.
func openIndex(_ context.Context, w *work, dir string) (*running, error) {
	if err := os.Mkdir(filepath.Join(dir, session.Dir), 0o700); err != nil {
		return nil, err
	}
	for n := range w.sessions {
		if err := newLink(n).write(dir); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	x, err := index.Load(root, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := x.Save(); err != nil {
		return nil, err
	}
	var l link
	var st session.Stat
	n := w.sessions
	return &running{
		tasks: map[job]task{add: {
			before: func() error {
				l = newLink(n)
				n++
				if err := l.write(dir); err != nil {
					return err
				}
				st, err = sessions.New(root, nil).Stat(l.id)
				return err
			},
			do: func() error {
				x.Put(l.summary(), st)
				return x.Save()
			},
			verify: func() error { return l.in(x) },
		}},
		close: func() error {
			defer root.Close()
			x, err := index.Load(root, nil, nil)
			if err != nil {
				return err
			}
			if x.Trouble != "" || len(x.Entries()) != n {
				return fmt.Errorf("%d sessions, want %d: %s", len(x.Entries()), n, x.Trouble)
			}
			for ; n > 0; n-- {
				if err := newLink(n - 1).in(x); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// write makes the file of the session.
func (l link) write(dir string) error {
	data := fmt.Appendf(nil, `{
  "id": %q,
  "created_at": %q,
  "last_active": %q,
  "metadata": {
%s
  },
  "messages": [
    {"id": %q, "role": "user", "content": "Hello.", "timestamp": %q}
  ]
}
`, l.id, linkTime, linkTime, l.metadata(), "m-"+l.id, linkTime)
	return os.WriteFile(filepath.Join(dir, session.FileName(l.id)), data, 0o600)
}

func (l link) metadata() string {
	var lines []string
	for _, p := range l.pairs() {
		lines = append(lines, fmt.Sprintf("    %q: %s", p.Key, p.Value))
	}
	return strings.Join(lines, ",\n")
}

func (l link) pairs() []rawjson.Pair {
	from := "[]"
	if l.parent != "" {
		from = fmt.Sprintf("[%q]", l.parent)
	}
	return []rawjson.Pair{
		{Key: "title", Value: fmt.Appendf(nil, "%q", l.title)},
		{Key: "continued_from", Value: []byte(from)},
	}
}

func (l link) summary() session.Summary {
	s := session.Summary{ID: l.id, CreatedAt: linkTime, LastActive: linkTime, Messages: 1, Opening: new(string)}
	for _, p := range l.pairs() {
		s.Metadata.Set(p.Key, p.Value)
	}
	s.Meta.Title, s.Meta.ListLinks = l.title, true
	if l.parent != "" {
		s.Meta.ContinuedFrom = []string{l.parent}
	}
	return s
}

// in reports how an index has l otherwise.
func (l link) in(x *index.Index) error {
	e := x.Entry(l.id)
	if e == nil || e.Title != l.title || e.Origin() != l.parent || e.MessageCount != 1 {
		return fmt.Errorf("the index has not %s, %q, from %q", l.id, l.title, l.parent)
	}
	if to := x.ContinuedTo(l.parent); l.parent != "" && (len(to) != 1 || to[0] != l.id) {
		return fmt.Errorf("%s is continued by %q, want %q", l.parent, to, l.id)
	}
	return nil
}
