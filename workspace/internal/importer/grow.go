package importer

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// Grow imports the new part of a file that was imported before with ts. It returns false
// if it cannot, and then changes nothing: the whole file has to be imported.
func (ts *Tails) Grow(ctx context.Context, w *store.Store, path string) (r imports.Transcript, ok bool) {
	ts.check(w.Dir)
	if ts.list[path] == nil {
		return r, false
	}
	r, err := ts.grow(ctx, w, path, 0)
	return r, err == nil
}

// grow imports the new part of a file that has a tail, up to limit bytes of the file, if that
// is not 0. After an error the file has none.
func (ts *Tails) grow(ctx context.Context, w *store.Store, path string, limit int64) (r imports.Transcript, err error) {
	t := ts.list[path]
	lines, data, err := t.look(w, t.i.o.Skip, limit)
	if err == nil {
		r, err = ts.growBy(ctx, w, path, lines, data)
	}
	if err != nil {
		delete(ts.list, path)
	}
	return r, err
}

// growBy imports the new lines of a file that has a tail. After an error the file has none.
func (ts *Tails) growBy(ctx context.Context, w *store.Store, path string, lines *lineReader, data []byte) (r imports.Transcript, err error) {
	t := ts.list[path]
	if r, err = t.grow(ctx, w, lines, data); err != nil {
		delete(ts.list, path)
		return r, err
	}
	t.used = time.Now()
	return r, nil
}

// grow imports new lines of the file.
func (t *tail) grow(ctx context.Context, w *store.Store, lines *lineReader, data []byte) (r imports.Transcript, err error) {
	if len(data) == 0 && t.settled {
		r, ok := t.unchanged(w)
		if !ok {
			err = errWhole
		}
		return r, err
	}
	t.i.ctx, t.i.now, t.i.store = ctx, w.Opts.Now(), w
	s, open, err := t.read(data)
	if err != nil {
		return r, err
	}
	made, err := store.CreateGroup(ctx, w, "import", 0, func(tx *store.Tx) (grown, error) {
		tx.Begin(t.i.operation(s))
		return t.merged(tx, s.copy())
	})
	if err != nil {
		return r, err
	}
	r = made.Prepared.row
	r.Messages, r.Branches, r.Orphans = t.stored+len(s.messages), t.row.Branches, t.row.Orphans
	t.stored += len(t.spool.messages)
	t.spool.messages, t.spool.memory, t.spool.size, t.spool.records = nil, nil, 0, 0
	t.open, t.row, t.conv, t.settled = open, r, s.conv, made.Prepared.settled
	t.advance(lines, data)
	return r, nil
}

// read passes new lines to the reader, and returns the conversation with the messages that
// are not stored or may have changed, and the ids of those that may change again.
func (t *tail) read(data []byte) (s *Spool, open []string, err error) {
	t.to = &adder{t: t, s: t.spool}
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
	if err := t.reader.End(&adder{t: t, s: s}); err != nil {
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

// A grown is the result of an import of new lines.
type grown struct {
	row     imports.Transcript
	settled bool // see [extent]
}

// merged stages the new messages, in one operation. The error is errWhole if that may give
// another result than an import of the whole file.
func (t *tail) merged(tx *store.Tx, s *Spool) (g grown, err error) {
	id := t.sessionID()
	if kindIf(tx.View, id) != session.Root {
		return g, errWhole
	}
	m := &merging{i: t.i, v: tx, s: s, tail: t}
	if m.line, err = tx.View.Line(id, false); err != nil {
		return g, err
	}
	if err := m.loadEnd(t.open); err != nil {
		return g, err
	}
	if err := m.identify(); err != nil {
		return g, err
	}
	if m.own < 0 || len(m.names)+len(m.sure)+len(m.missing) > 0 {
		return g, errWhole
	}
	row, more, err := m.apply()
	if err == nil && more {
		err = errWhole
	}
	if err != nil {
		return g, err
	}
	return grown{*row, m.recorded || !m.sourcesChange(false)}, nil
}

// loadEnd reads the line as load does, but of the messages before the first that the transcript
// has, or that is a parent of those, only their ids. open are the messages with which the
// transcript ended before. The error is errWhole if the line is not a tree of known parents, or
// if the messages begin a branch.
func (m *merging) loadEnd(open []string) error {
	l := m.line
	m.sources, m.own = gjson.ParseBytes(l.Parts[0].Own(OwnSources)).Array(), -1
	for n, source := range m.sources {
		if m.isSource(source) {
			m.own = n
		}
	}
	m.list, m.missing, m.carried = make([]existing, l.Len()), map[string]bool{}, map[string]string{}
	for n := range l.Len() {
		if l.Orphan(n) || l.Joined(n) {
			return errWhole
		}
		m.list[n] = existing{id: l.ID(n), node: n, part: l.Part(n), index: l.Index(n)}
		if p := l.Parent(n); p >= 0 {
			m.list[n].parent = l.ID(p)
		}
	}
	first, err := m.firstNode(open)
	if err != nil || first == l.Len() {
		return err
	}
	at := make([][]int, len(l.Parts)) // the node of each message from the first on
	for p := l.Part(first); p < len(l.Parts); p++ {
		at[p] = slices.Repeat([]int{-1}, l.Parts[p].Len())
	}
	for n := first; n < l.Len(); n++ {
		at[l.Part(n)][l.Index(n)] = n
	}
	for p := l.Part(first); p < len(l.Parts); p++ {
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

// firstNode returns the first message of the line that the transcript has, or that is a parent of
// one of its messages. If there is none, it returns the number of messages of the line.
func (m *merging) firstNode(open []string) (first int, err error) {
	l := m.line
	first = l.Len()
	mine, above := map[string]bool{}, map[int]bool{}
	for _, id := range open {
		mine[id] = true
		for _, n := range l.Find(id) {
			first = min(first, n)
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
			first = min(first, nodes[0])
		case len(parents) == 1:
			first, above[parents[0]] = min(first, parents[0]), true
		case !seen[message.parent]:
			return 0, errWhole
		}
	}
	for n := range l.Len() {
		if above[l.Parent(n)] && !mine[l.ID(n)] {
			return 0, errWhole // a branch
		}
	}
	return first, nil
}
