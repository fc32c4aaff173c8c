package importer

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/unpack"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Tails are the states of transcripts that are growing, after an import of each. By them
// an import reads only the new part, if that gives the same as an import of the whole file.
// The zero value has none.
type Tails struct {
	list    map[string]*tail // by path
	old     bool             // keep those of files that have not changed for long, too
	ledger  int64            // size of [store.ImportsPath]
	exports int64            // size of [store.ExportsPath]
}

const (
	maxTails  = 32
	tailAge   = 10 * time.Minute // a file that has not changed for as long is not growing
	windowLen = 4 << 10          // bytes at the beginning and the end of what was read that are compared
	maxNews   = 8 << 20          // bytes; a file with more that is new is read as a whole
)

// errWhole means that the whole file has to be imported.
var errWhole = errors.New("the whole file has to be imported")

// An extent is a part of a transcript, from its beginning to the end of a line, that was
// imported.
type extent struct {
	path    string
	format  *convert.Format
	inode   uint64
	offset  int64              // size of the part
	first   []byte             // its first bytes
	last    []byte             // its last bytes
	dir     string             // of the conversation
	row     imports.Transcript // of the last import
	settled bool               // another import of the part would change nothing
}

// A tail is the state after an extent.
type tail struct {
	extent
	reader *convert.Tail   // nil if it is not restored yet
	state  []byte          // of the reader, when it was stored; nil if it has not been stored
	to     transcript.Sink // of the messages that the reader passes on
	used   time.Time

	i        *importer               // with the seed of the hashes in spool
	spool    *Spool                  // what is known without its messages, and messages that are not stored
	conv     transcript.Conversation // as at the end of the extent
	parents  map[string]string       // [transcript.Conversation.Parents]
	stored   int                     // how many messages were passed on and stored
	open     []string                // ids of the messages that were stored as the end of the extent
	problems bool                    // something could not be read
	several  bool                    // the file has other conversations
}

// The methods below implement [transcript.Sink] for the reader.

func (t *tail) Message(m *transcript.Message) error { return t.to.Message(m) }
func (t *tail) End(*transcript.Conversation) error  { return nil }
func (t *tail) Problem(p transcript.Problem)        { t.problems = true; t.to.Problem(p) }

// lineReader reads whole lines, and keeps the rest.
type lineReader struct {
	in    io.Reader
	buf   []byte
	ready []byte // lines to be returned
	rest  []byte // after the last line
	size  int64  // of the returned lines
	first []byte // the first bytes of the lines
	last  []byte // the last bytes
	err   error
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		if r.buf == nil {
			r.buf = make([]byte, 256<<10)
		}
		var n int
		n, r.err = r.in.Read(r.buf)
		end := bytes.LastIndexByte(r.buf[:n], '\n') + 1
		if end > 0 {
			r.ready = append(r.rest, r.buf[:end]...)
			r.rest = nil
		}
		r.rest = append(r.rest, r.buf[end:n]...)
	}
	n := copy(p, r.ready)
	r.note(r.ready[:n])
	r.ready = r.ready[n:]
	return n, nil
}

func (r *lineReader) note(b []byte) {
	r.size += int64(len(b))
	if room := windowLen - len(r.first); room > 0 {
		r.first = append(r.first, b[:min(room, len(b))]...)
	}
	r.last = append(r.last, b[max(0, len(b)-windowLen):]...)
	r.last = append([]byte(nil), r.last[max(0, len(r.last)-windowLen):]...)
}

// begins reports whether a line that is not complete may have a record: its first value is
// complete.
func begins(rest []byte) bool {
	rest = bytes.TrimSpace(rest)
	_, whole := rawjson.First(rest)
	return len(rest) > 0 && whole
}

// tailOf returns a new tail for a file, nil if the file is not growing or cannot be read in
// parts.
func (i *importer) tailOf(f unpack.File, format *convert.Format, head []byte, to transcript.Sink) *tail {
	if i.tails == nil || !i.found || i.o.DryRun || f.Info == nil || filepath.Ext(f.Path) != ".jsonl" || !i.tails.old && time.Since(f.Info.ModTime()) > tailAge {
		return nil
	}
	t := &tail{extent: extent{path: f.Path, format: format, inode: durable.Identify(f.Info).Inode}, to: to, i: i}
	if t.reader = format.Tail(head, t); t.reader == nil {
		return nil
	}
	return t
}

// readWhole reads a file by its tail, which is kept unless the file ends with a part of a line
// that has a record.
func (r *intake) readWhole(t *tail, in io.Reader) error {
	lines := &lineReader{in: in}
	if err := t.reader.Read(lines); err != nil {
		return err
	}
	if r.stopped = r.wait(); r.stopped != nil {
		return r.stopped
	}
	t.offset, t.first, t.last = lines.size, lines.first, lines.last
	header := *r.spool
	t.stored = len(header.messages)
	header.messages, header.memory, header.memoryAt, header.size, header.window, header.temp = nil, nil, 0, 0, nil, nil
	header.maxMemory = 1 << 40
	header.problems, header.troubles = nil, 0
	t.spool = &header
	if !begins(lines.rest) {
		r.tail = t
	} else if err := t.reader.Read(bytes.NewReader(lines.rest)); err != nil {
		return err
	}
	err := t.reader.End(&ending{r: r, t: t})
	if err == nil && r.count == 0 {
		err = convert.ErrNothing
	}
	return err
}

// An ending is the sink of the end of a part: it records what the tail needs. If another
// conversation follows, the tail is not kept.
type ending struct {
	r *intake
	t *tail
}

func (e *ending) Message(m *transcript.Message) error {
	if e.r.count > 0 {
		e.t.several = true
		e.r.i.tails.drop(e.t)
	}
	e.t.open = append(e.t.open, m.ID)
	return e.r.Message(m)
}

func (e *ending) End(c *transcript.Conversation) error {
	e.t.conv, e.t.dir, e.t.parents = *c, c.Dir, maps.Clone(c.Parents)
	return e.r.End(c)
}

func (e *ending) Problem(p transcript.Problem) { e.t.Problem(p) }

// keep keeps the tail of a conversation that was stored or was unchanged, if it can be
// imported in parts.
func (ts *Tails) keep(s *Spool, r imports.Transcript) {
	t := s.tail
	c := &t.conv
	if t.several || r.Session == "" || r.Orphans > 0 || t.problems || c.ID == "" || c.Anonymous || c.Side && c.BegunBy == "" || c.Fork != nil || t.i.known == nil || t.i.known.exports.of(s) != nil {
		return
	}
	if ts.list == nil {
		ts.list = map[string]*tail{}
	}
	t.row, t.used, t.to = r, time.Now(), nil
	t.settled = r.Status == imports.New || r.Status == imports.Unchanged
	// the importer is kept for its seed, not for the conversations that it knows
	t.i = &importer{store: t.i.store, o: t.i.o, seed: t.i.seed, pastImports: pastImports{dialect: t.i.dialect}}
	t.spool.row = nil
	ts.list[t.path] = t
	if len(ts.list) > maxTails {
		oldest := t
		for _, other := range ts.list {
			if other.used.Before(oldest.used) {
				oldest = other
			}
		}
		delete(ts.list, oldest.path)
	}
}

// drop drops a tail that was kept.
func (ts *Tails) drop(t *tail) {
	if ts.list[t.path] == t {
		delete(ts.list, t.path)
	}
}

// check drops all tails if other programs recorded imports or exports since: a conversation
// may have been removed, or may be one that was exported.
func (ts *Tails) check(dir string) {
	ledger, exports := recordSizes(dir)
	if ledger != ts.ledger || exports != ts.exports {
		ts.list = nil
	}
	ts.ledger, ts.exports = ledger, exports
}

// sizeOfFile returns the size of a file of the workspace, 0 if it cannot be determined.
func sizeOfFile(dir, name string) int64 {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return 0
	}
	return info.Size()
}

// look returns the new lines of the file, up to limit bytes of the file, if that is not 0. The
// error is errWhole if a pattern excludes the conversation, if the file is not the one that was
// imported with more at its end, or if it ends with a part of a line that has a record.
func (e *extent) look(w *store.Store, skip []string, limit int64) (lines *lineReader, data []byte, err error) {
	if excluded, err := e.isExcluded(w, skip); excluded || err != nil {
		return nil, nil, cmp.Or(err, errWhole)
	}
	f, err := os.Open(e.path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := sizeWithin(info.Size(), limit)
	if durable.Identify(info).Inode != e.inode || size < e.offset || size > e.offset+maxNews || !e.fits(f) {
		return nil, nil, errWhole
	}
	lines = &lineReader{in: io.NewSectionReader(f, e.offset, size-e.offset)}
	if data, err = io.ReadAll(lines); err == nil && begins(lines.rest) {
		err = errWhole
	}
	return lines, data, err
}

// isExcluded reports whether a pattern excludes the file or the folder of the conversation.
func (e *extent) isExcluded(w *store.Store, skip []string) (bool, error) {
	patterns, err := skipped(w)
	if err != nil {
		return false, err
	}
	list, err := newSkipList(append(slices.Clone(skip), patterns...))
	return err == nil && (list.matches(e.path) || list.matches(e.dir)), err
}

// fits reports whether a file begins with the extent, by its first and last bytes.
func (e *extent) fits(f io.ReaderAt) bool {
	for _, w := range []struct {
		want []byte
		at   int64
	}{{e.first, 0}, {e.last, e.offset - int64(len(e.last))}} {
		got := make([]byte, len(w.want))
		if _, err := f.ReadAt(got, w.at); err != nil || !bytes.Equal(got, w.want) {
			return false
		}
	}
	return true
}

// unchanged returns the result of an import without new lines. It returns false if more has to be
// done: the last import did not complete everything, or the session was removed.
func (e *extent) unchanged(w *store.Store) (r imports.Transcript, ok bool) {
	info, err := os.Stat(filepath.Join(w.Dir, filepath.FromSlash(session.FileName(e.sessionID()))))
	if !e.settled || err != nil || !info.Mode().IsRegular() {
		return r, false
	}
	r = e.row
	r.Status, r.Added, r.Replaced = imports.Unchanged, 0, 0
	return r, true
}

// sessionID returns the session of the conversation.
func (e *extent) sessionID() string { return string(e.row.Session) }

// adder is a sink that adds the messages of one conversation to a spool.
type adder struct {
	t     *tail
	s     *Spool
	ended bool
}

func (a *adder) Message(m *transcript.Message) error {
	if a.ended {
		return errWhole
	}
	now := a.t.i.now
	if !a.s.lastTime.IsZero() {
		now = a.s.lastTime
	}
	if !m.Time.IsZero() {
		a.s.lastTime = m.Time
	}
	return a.s.add(m, a.t.i.dialect, now, a.t.i.seed)
}

func (a *adder) End(c *transcript.Conversation) error {
	if !maps.Equal(c.Parents, a.t.parents) || c.Dir != a.t.dir || c.ID != a.t.conv.ID || c.BegunBy != a.t.conv.BegunBy || c.Side && c.BegunBy == "" || c.Anonymous || c.Fork != nil {
		return errWhole
	}
	a.s.end(c)
	a.ended = true
	return nil
}

func (a *adder) Problem(transcript.Problem) { a.t.problems = true }
