package importer

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// Grow imports what is new in a file that was imported before with ts. It returns false
// if it cannot, and then changes nothing: the whole file has to be imported.
func (ts *Tails) Grow(ctx context.Context, w *store.Store, path string) (r imports.Transcript, ok bool) {
	ts.check(w.Dir)
	if ts.list[path] == nil {
		return r, false
	}
	r, err := ts.grow(ctx, w, path, 0)
	return r, err == nil
}

// grow imports what is new in a file that has a tail, up to limit bytes of the file, if that
// is not 0. After an error the file has none.
func (ts *Tails) grow(ctx context.Context, w *store.Store, path string, limit int64) (r imports.Transcript, err error) {
	t := ts.list[path]
	if r, err = t.grow(ctx, w, limit); err != nil {
		delete(ts.list, path)
		return r, err
	}
	t.used = time.Now()
	return r, nil
}

// grow imports what is new in the file of the tail.
func (t *tail) grow(ctx context.Context, w *store.Store, limit int64) (r imports.Transcript, err error) {
	if excluded, err := t.isExcluded(w); excluded || err != nil {
		return r, cmp.Or(err, errWhole)
	}
	lines, data, err := t.news(limit)
	switch {
	case err != nil:
		return r, err
	case begins(lines.rest):
		return r, errWhole
	case len(data) == 0 && t.row.Status == imports.Unchanged: // else the record of the source may not be complete
		r = t.row
		r.Status, r.Added, r.Replaced = imports.Unchanged, 0, 0
		return r, t.isThere(ctx, w)
	}
	t.i.ctx, t.i.now, t.i.store = ctx, w.Opts.Now(), w
	s, open, err := t.read(data)
	if err != nil {
		return r, err
	}
	made, err := store.CreateGroup(ctx, w, "import", 0, func(tx *store.Tx) (imports.Transcript, error) {
		tx.Begin(t.i.operation(s))
		return t.merged(tx, s.copy())
	})
	if err != nil {
		return r, err
	}
	r = made.Prepared
	r.Messages, r.Branches, r.Orphans = t.stored+len(s.messages), t.row.Branches, t.row.Orphans
	t.stored += len(t.spool.messages)
	t.spool.messages, t.spool.memory, t.spool.size, t.spool.records = nil, nil, 0, 0
	t.open, t.row, t.conv = open, r, s.conv
	t.advance(lines, data)
	return r, nil
}

// isExcluded reports whether a pattern excludes the file or the folder of the conversation.
func (t *tail) isExcluded(w *store.Store) (bool, error) {
	patterns, err := skipped(w)
	if err != nil {
		return false, err
	}
	list, err := newSkipList(append(slices.Clone(t.i.o.Skip), patterns...))
	return err == nil && (list.matches(t.path) || list.matches(t.conv.Dir)), err
}

// isThere returns errWhole if the session of the conversation was removed.
func (t *tail) isThere(ctx context.Context, w *store.Store) error {
	kind, err := store.Read(ctx, w, func(v *store.View) (session.Kind, error) { return kindIf(v, t.sessionID()), nil })
	if err == nil && kind != session.Root {
		err = errWhole
	}
	return err
}

// read passes new lines to the reader, and returns the conversation with the messages that
// are not stored or may have changed, and the ids of those that may change again.
func (t *tail) read(data []byte) (s *Spool, open []string, err error) {
	t.to = &adder{t, t.spool}
	if t.reader == nil {
		if t.reader, err = t.format.RestoreTail(t.state, t); err != nil {
			return nil, nil, err
		}
	}
	if err := t.reader.Read(bytes.NewReader(data)); err != nil {
		return nil, nil, err
	}
	copied := *t.spool
	s = &copied
	s.messages, s.memory = slices.Clip(s.messages), slices.Clip(s.memory)
	n := len(s.messages)
	if err := t.reader.End(&adder{t, s}); err != nil {
		return nil, nil, err
	}
	if t.problems || len(s.messages) == 0 {
		return nil, nil, errWhole
	}
	for _, m := range s.messages[n:] {
		open = append(open, m.id)
	}
	return s, open, nil
}

// advance records that lines were read.
func (t *tail) advance(lines *lineReader, data []byte) {
	t.offset += int64(len(data))
	if room := windowLen - len(t.first); room > 0 {
		t.first = append(t.first, data[:min(room, len(data))]...)
	}
	t.last = append(t.last, lines.last...)
	t.last = slices.Clone(t.last[max(0, len(t.last)-windowLen):])
}

// merged stages the new messages, in one operation. The error is errWhole if that may give
// another result than an import of the whole file.
func (t *tail) merged(tx *store.Tx, s *Spool) (r imports.Transcript, err error) {
	id := t.sessionID()
	if kindIf(tx.View, id) != session.Root {
		return r, errWhole
	}
	m := &merging{i: t.i, v: tx, s: s, tail: t}
	if m.line, err = tx.View.Line(id, false); err != nil {
		return r, err
	}
	if err := m.loadEnd(t.open); err != nil {
		return r, err
	}
	if err := m.identify(); err != nil {
		return r, err
	}
	if m.own < 0 || len(m.names)+len(m.sure)+len(m.missing) > 0 {
		return r, errWhole
	}
	row, more, err := m.apply()
	if err == nil && more {
		err = errWhole
	}
	if err != nil {
		return r, err
	}
	return *row, nil
}

// loadEnd reads the line as load does, but of the files before the first that has one of
// the transcript's messages, or of their parents, only which messages they have. open are the
// messages with which the transcript ended before. The error is errWhole if the line is not a
// tree of known parents, or if the messages begin a branch.
func (m *merging) loadEnd(open []string) error {
	l := m.line
	m.sources, m.own = gjson.ParseBytes(l.Parts[0].Own(OwnSources)).Array(), -1
	for n, source := range m.sources {
		if m.isSource(source) {
			m.own = n
		}
	}
	m.list, m.missing, m.carried = make([]existing, l.Len()), map[string]bool{}, map[string]string{}
	at := make([][]int, len(l.Parts))
	for p, part := range l.Parts {
		at[p] = slices.Repeat([]int{-1}, part.Len())
	}
	for n := range l.Len() {
		if l.Orphan(n) || l.Joined(n) {
			return errWhole
		}
		m.list[n] = existing{id: l.ID(n), node: n, part: l.Part(n), index: l.Index(n)}
		if p := l.Parent(n); p >= 0 {
			m.list[n].parent = l.ID(p)
		}
		at[l.Part(n)][l.Index(n)] = n
	}
	from, err := m.firstPart(open)
	if err != nil {
		return err
	}
	for p := from; p < len(l.Parts); p++ {
		err := m.v.View.Folder.Each(l.Parts[p], func(i int, message session.Message) error {
			if n := at[p][i]; n >= 0 {
				m.take(n, message)
			}
			return m.v.View.Ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// firstPart returns the first file of the line that has one of the transcript's messages, or
// one of their parents.
func (m *merging) firstPart(open []string) (first int, err error) {
	l := m.line
	children := l.Children()
	first = len(l.Parts)
	mine := map[string]bool{}
	for _, id := range open {
		mine[id] = true
		for _, n := range l.Find(id) {
			first = min(first, l.Part(n))
		}
	}
	for n := range m.s.messages {
		mine[m.s.messages[n].id] = true
	}
	seen := map[string]bool{}
	for n := range m.s.messages {
		message := &m.s.messages[n]
		nodes, parents := l.Find(message.id), l.Find(message.parent)
		seen[message.id] = true
		switch {
		case message.copyOf != "" || message.joined != "" || len(nodes) > 1 || len(parents) > 1:
			return 0, errWhole
		case len(nodes) == 1:
			first = min(first, l.Part(nodes[0]))
		case len(parents) == 1:
			first = min(first, l.Part(parents[0]))
			if slices.ContainsFunc(children[parents[0]], func(c int) bool { return !mine[l.ID(c)] }) {
				return 0, errWhole // a branch
			}
		case !seen[message.parent]:
			return 0, errWhole
		}
	}
	return first, nil
}
