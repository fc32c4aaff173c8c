package importer

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/unpack"
	"github.com/bough-dev/bough/workspace/imports"
)

// file reads the conversations of a file.
func (i *importer) file(f unpack.File) error {
	if i.o.MaxWhole > 0 && f.Info != nil && sizeWithin(f.Info.Size(), i.o.Limit) > i.o.MaxWhole {
		return imports.ErrLarge
	}
	head, err := f.In.Peek(convert.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		i.failed(f.Path, err)
		return i.ctx.Err()
	}
	row := i.fileRow(f, head)
	format, db, opening := i.formatOf(f, head)
	if db != nil {
		defer db.Close()
	}
	if opening != nil && format != nil {
		i.unread[format.Name] = true
	}
	r := &intake{i: i, file: f, format: format, row: row}
	if format == nil || opening != nil {
		detail := "unrecognized format"
		switch {
		case opening != nil:
			detail = opening.Error()
		case len(head) == 0:
			detail = "the file is empty"
		case db != nil:
			detail = "the database of an unknown program"
		}
		status := imports.Skipped
		if f.Named || opening != nil && format != nil {
			status = imports.Failed
		}
		if i.ctx.Err() != nil {
			return i.ctx.Err()
		}
		r.take(imports.Transcript{Path: i.name(f.Path), Status: status, Detail: detail, Named: f.Named})
		return nil
	}
	detail, err := i.superseded(f, format)
	if err != nil {
		return err
	}
	if detail != "" {
		r.take(imports.Transcript{Path: i.name(f.Path), Format: format.Name, Status: imports.Skipped, Detail: detail})
		return nil
	}
	r.begin()
	if db != nil {
		err = format.ReadDatabase(db, r)
		if err != nil && !errors.Is(err, convert.ErrNothing) {
			i.unread[format.Name] = true
		}
	} else if t := i.tailOf(f, format, head, r); t != nil {
		err = r.readWhole(t, f.In)
	} else {
		err = format.Read(f.In, r)
	}
	r.stopped = cmp.Or(r.stopped, r.wait())
	r.spool.drop()
	if r.row != nil {
		r.row.whole = r.stopped == nil
	}
	switch {
	case r.stopped != nil:
		return r.stopped
	case i.ctx.Err() != nil:
		return i.ctx.Err()
	case errors.Is(err, convert.ErrNothing) && len(r.spool.problems) == 0:
		r.take(r.empty(err.Error()))
	case err != nil:
		row := r.empty(err.Error())
		row.Status = imports.Failed
		r.take(row)
	default: // problems after the last conversation belong to none
		if row := r.empty("a part of it could not be read"); len(row.Problems) > 0 {
			row.Status = imports.Failed
			r.take(row)
		}
	}
	return nil
}

// formatOf returns the format of a file that begins with head, nil if it is unrecognized, and the
// file as a database, nil if it is none. The error is that of opening it.
func (i *importer) formatOf(f unpack.File, head []byte) (format *convert.Format, db *convert.Database, err error) {
	format = i.o.Format
	switch {
	case convert.IsDatabase(head) && f.Plain:
		db, err = convert.OpenDatabase(i.ctx, f.Path)
	case convert.IsDatabase(head):
		db, err = convert.CopyDatabase(i.ctx, f.In)
	case format == nil:
		format = convert.Detect(head)
	}
	if format == nil && db != nil {
		format = db.Format()
	}
	return format, db, err
}

// superseded returns the reason to skip a file whose conversation is, or may be, in a database that has
// more of it; "" if there is none. The databases have to be read before.
func (i *importer) superseded(f unpack.File, format *convert.Format) (why string, err error) {
	id := format.InDatabase(f.Path)
	if id == "" || f.Named {
		return "", nil
	}
	key := SourceKey(format.Name, id)
	switch {
	case i.ledger.Said[key] != nil:
		return inDatabase, nil
	case i.excluded[key]:
		return excludedFolder, nil
	case i.unread[format.Name]:
		return "a database that could not be read may have more of its conversation", nil
	case i.found, i.o.Format != nil && f.Info != nil && i.begun.Sub(f.Info.ModTime()) < growing:
		return "its conversation is active, and may come into a database; a later import reads the file if not", nil
	}
	if err := i.look(); err != nil {
		return "", err
	}
	if i.known.has(format, id) {
		return inDatabase, nil
	}
	return "", nil
}

const (
	inDatabase     = "a database has more of its conversation"
	excludedFolder = "its folder is excluded by a pattern"
)

// sizeWithin returns the size of a file of which at most limit bytes are read, if that is not 0.
func sizeWithin(size, limit int64) int64 {
	if limit > 0 {
		size = min(size, limit)
	}
	return size
}

// growing is how long a followed file is not recorded after a change: it would be
// recorded again and again.
const growing = time.Minute

// fileRow returns a new row of the ledger for a file. It returns nil for a part
// of an archive, standard input, a file that is read in part, or one whose content may
// change without its time.
func (i *importer) fileRow(f unpack.File, head []byte) *FileRow {
	if f.Info == nil || i.o.DryRun || i.o.Limit > 0 && f.Info.Size() > i.o.Limit {
		return nil
	}
	abs, err := filepath.Abs(f.Path)
	id := durable.Identify(f.Info)
	now := time.Now()
	changed := max(id.Changed, id.ModTime)
	var log *LogState
	if f.Plain && convert.IsDatabase(head) {
		log = logOf(abs)
		changed = max(changed, log.Change, log.Time)
	}
	if err != nil || !durable.Settled(changed, now) || i.found && now.Sub(time.Unix(0, changed)) < growing {
		return nil
	}
	row := &FileRow{}
	file := &row.File
	file.Path, file.Size, file.Time, file.Change, file.Inode = abs, id.Size, id.ModTime, id.Changed, id.Inode
	file.Log = log
	file.Format, file.Side, file.Rows = i.formatName(), f.Named, []LedgerImported{}
	file.Reader = reader
	i.files = append(i.files, row)
	return row
}

// An intake is a file being read: a [convert.Sink].
type intake struct {
	i       *importer
	file    unpack.File
	format  *convert.Format
	spool   *Spool
	row     *FileRow // nil if the ledger does not record the file
	count   int      // number of conversations read
	stopped error    // the error that ends the whole import
	tail    *tail    // of the file, nil if it is not kept

	adding *adding // the messages being spooled, nil for none
}

func (r *intake) begin() {
	r.spool = &Spool{
		maxMemory: r.i.store.Spool, digests: r.i.exported, format: r.format, path: r.i.name(r.file.Path), row: r.row, number: r.count, named: r.file.Named,
	}
}

// take adds a row for a file or conversation that is not stored.
func (r *intake) take(row imports.Transcript) {
	if r.row != nil {
		r.row.File.Rows = append(r.row.File.Rows, LedgerImported{Transcript: row})
	}
	r.i.row(row)
}

// empty returns the row for a file without conversations.
func (r *intake) empty(detail string) imports.Transcript {
	row := imports.Transcript{Path: r.spool.path, Format: r.format.Name, Status: imports.Skipped, Detail: detail, Named: r.file.Named}
	row.Problems, row.Notes = r.spool.problemTexts()
	return row
}

// Message implements [convert.Sink]. It spools the message while the next ones are read.
func (r *intake) Message(m *transcript.Message) error {
	switch {
	case sizeOf(m) > maxAdding:
		r.stopped = cmp.Or(r.wait(), r.add(m))
	case r.adding == nil:
		r.adding = addMessages(r.add)
		fallthrough
	default:
		r.stopped = r.adding.put(m)
	}
	r.stopped = cmp.Or(r.stopped, r.i.ctx.Err())
	return r.stopped
}

// add spools a message. A message without a time gets the time of the message
// before it.
func (r *intake) add(m *transcript.Message) error {
	now := r.i.now
	if !r.spool.lastTime.IsZero() {
		now = r.spool.lastTime
	}
	if !m.Time.IsZero() {
		r.spool.lastTime = m.Time
	}
	return r.spool.add(m, r.i.dialect, now, r.i.seed)
}

// wait waits until all messages are spooled.
func (r *intake) wait() error {
	if r.adding == nil {
		return nil
	}
	err := r.adding.wait()
	r.adding = nil
	return err
}

// End implements [convert.Sink].
func (r *intake) End(c *transcript.Conversation) error {
	if r.stopped = r.wait(); r.stopped != nil {
		return r.stopped
	}
	if c.Dir == "" && r.file.Info != nil {
		in := *c
		in.Dir = r.format.Dir(r.file.Path, os.ReadFile)
		c = &in
	}
	if id, begunBy := r.format.Identify(r.file.Path); c.ID == "" && id != "" {
		in := *c
		in.ID, in.BegunBy, in.Side = id, begunBy, begunBy != ""
		c = &in
	}
	s := r.spool
	s.end(c)
	s.tail = r.tail
	r.count++
	r.begin()
	skip := func(detail string) {
		row := s.result(imports.Skipped)
		row.Detail = detail
		r.take(row)
		s.drop()
	}
	switch {
	case len(s.messages) == 0:
		skip("it has no messages")
	case c.Side && c.BegunBy == "" && !r.file.Named:
		skip("it is a conversation between assistants; name the file to import it")
	case r.i.skip.matches(c.Dir):
		if s.row != nil {
			s.row.void = true
		}
		if r.i.excluded != nil {
			r.i.excluded[SourceKey(s.format.Name, c.ID)] = true
		}
		skip(excludedFolder)
	default:
		if s.row != nil {
			s.row.left++
		}
		r.stopped = r.i.take(s)
	}
	return r.stopped
}

// Problem implements [convert.Sink].
func (r *intake) Problem(p transcript.Problem) { r.spool.problem(p) }
