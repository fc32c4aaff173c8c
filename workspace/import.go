package workspace

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/unpack"
	"github.com/bough-dev/bough/operation"
	"github.com/bough-dev/bough/session"
)

// ImportOptions are the choices for an import.
type ImportOptions struct {
	// Format is the format of all files. Nil means that what stands in each file tells.
	Format *convert.Format
	// Holds reports whether a file of a folder is wanted, by its slash-separated path
	// from there. Nil means every file.
	Holds func(within string) bool
	// Name is what a file is called in what is said of it and stored, by its path. Nil
	// means its absolute path.
	Name func(path string) string
	// Stdin is what the path - is read from.
	Stdin io.Reader
	// DryRun only says what would be done.
	DryRun bool
	// Each is told of each conversation as soon as it is stored. Nil means that nobody is
	// told.
	Each func(Imported)
}

// An ImportStatus says what came of a conversation.
type ImportStatus string

// The statuses of conversations that were to be imported.
const (
	ImportNew       ImportStatus = "new"
	ImportUpdated   ImportStatus = "updated"   // it was there, and has messages more now
	ImportUnchanged ImportStatus = "unchanged" // all of it was there
	ImportSkipped   ImportStatus = "skipped"   // it is none, or none of the user's
	ImportFailed    ImportStatus = "failed"
)

// An Imported is one conversation of a file, or a file without any.
type Imported struct {
	Path     string       `json:"path"`       // of the file; of one in an archive, the archive's and its own
	Format   string       `json:"format"`     // the name of the format, "" if it has none
	Session  ID           `json:"session_id"` // where it is now, none if it is nowhere
	Messages int          `json:"messages"`   // that its transcript has
	Branches int          `json:"branches"`   // how many ends it has
	Orphans  int          `json:"orphans"`    // messages that name a parent that it does not have
	Status   ImportStatus `json:"status"`

	Title    string   `json:"title"`              // "" if it has none
	Added    int      `json:"added"`              // messages that were not there before
	Detail   string   `json:"detail,omitempty"`   // why it was skipped, or failed
	Problems []string `json:"problems,omitempty"` // what of it could not be read
	Named    bool     `json:"-"`                  // the file was named, and not found in a folder or an archive
}

// Imports are the conversations of an import.
type Imports struct {
	Imported []Imported `json:"imported"` // in the order in which they were stored
}

// Import takes in the conversations that other programs keep, in files, in all files of
// folders, and in archives. Each becomes a session with all its branches; see package
// convert. One that is there already gets what is new of it, below the messages that are
// the same, and so does one that began as a copy of another; importing the same file
// again changes nothing. No message that is there changes, and no head moves.
//
// What cannot be read is a row with the status [ImportFailed], and the rest goes on. The
// error is for what concerns them all. Each conversation is a change of its own, which
// [Workspace.Undo] takes back.
func (w *Workspace) Import(ctx context.Context, paths []string, o ImportOptions) (*Imports, error) {
	i := &importer{Workspace: w, ctx: ctx, o: o, seed: maphash.MakeSeed(), now: w.opts.Now(), rows: []Imported{}}
	defer i.drop()
	for _, path := range paths {
		if _, err := os.Stat(path); path != "-" && errors.Is(err, fs.ErrNotExist) {
			return nil, &Error{Code: NotFound, Message: "there is no " + path, Hint: "name a file, a folder or an archive, or - for standard input", Err: err}
		}
	}
	if err := i.look(); err != nil {
		return nil, err
	}
	err := unpack.Walk(ctx, paths, unpack.Options{
		Stdin: o.Stdin, Head: convert.HeadSize, Holds: o.Holds,
		Progress: func(done, total int64) { w.opts.Progress("reading", done, total) },
	}, i.file, i.failed)
	if err == nil {
		err = i.rest()
	}
	return &Imports{i.rows}, i.stopped(err)
}

// stopped says, where an import ends before its time, that what it stored stays.
func (i *importer) stopped(err error) error {
	stored := func(r Imported) bool { return r.Status == ImportNew || r.Status == ImportUpdated }
	if err == nil || !errors.Is(err, i.ctx.Err()) || i.o.DryRun || !slices.ContainsFunc(i.rows, stored) {
		return err
	}
	return &Error{Failed, "stopped; what is imported stays", "import again to take in the rest", err}
}

// An importer carries out one import.
type importer struct {
	*Workspace
	ctx     context.Context
	o       ImportOptions
	seed    maphash.Seed
	now     time.Time
	dialect session.Dialect
	known   *known
	seq     operation.Seq // of the log after what was stored last
	seen    *view         // the workspace after the last change, nil if nobody looked
	forks   []*spool      // that wait for what they are a copy of
	rows    []Imported
}

func (i *importer) drop() {
	i.leave()
	for _, s := range i.forks {
		s.drop()
	}
}

// row takes down what came of a conversation.
func (i *importer) row(r Imported) {
	i.rows = append(i.rows, r)
	if i.o.Each != nil {
		i.o.Each(r)
	}
}

// failed takes down a file that cannot be opened.
func (i *importer) failed(path string, err error) {
	i.row(Imported{Path: i.name(path), Status: ImportFailed, Detail: err.Error(), Named: true})
}

// name returns what a file is called.
func (i *importer) name(path string) string {
	if i.o.Name != nil {
		return i.o.Name(path)
	}
	if abs, err := filepath.Abs(path); err == nil && path != "-" {
		return abs
	}
	return path
}

// file reads the conversations of a file.
func (i *importer) file(f unpack.File) error {
	head, err := f.In.Peek(convert.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		i.failed(f.Path, err)
		return i.ctx.Err()
	}
	format := i.o.Format
	if format == nil {
		format = convert.Detect(head)
	}
	if format == nil {
		detail := "it is no transcript that bough knows"
		if len(head) == 0 {
			detail = "it is empty"
		}
		status := ImportSkipped
		if f.Named {
			status = ImportFailed
		}
		i.row(Imported{Path: i.name(f.Path), Status: status, Detail: detail, Named: f.Named})
		return nil
	}
	r := &intake{i: i, file: f, format: format}
	r.begin()
	err = format.Read(f.In, r)
	r.spool.drop()
	switch {
	case r.stopped != nil:
		return r.stopped
	case i.ctx.Err() != nil:
		return i.ctx.Err()
	case errors.Is(err, convert.ErrNothing) && len(r.spool.problems) == 0:
		i.row(r.empty(err.Error()))
	case err != nil:
		row := r.empty(err.Error())
		row.Status = ImportFailed
		i.row(row)
	}
	return nil
}

// An intake is a file being read: a [convert.Sink].
type intake struct {
	i       *importer
	file    unpack.File
	format  *convert.Format
	spool   *spool
	stopped error // why nothing more is to be read of any file
}

func (r *intake) begin() { r.spool = &spool{format: r.format, path: r.i.name(r.file.Path)} }

// empty is the row of a file that gave no conversation.
func (r *intake) empty(detail string) Imported {
	row := Imported{Path: r.spool.path, Format: r.format.Name, Status: ImportSkipped, Detail: detail, Named: r.file.Named}
	row.Problems = r.spool.problemTexts()
	return row
}

// Message implements [convert.Sink].
func (r *intake) Message(m *convert.Message) error {
	now := r.i.now
	if !r.spool.lastTime.IsZero() {
		now = r.spool.lastTime
	}
	if !m.Time.IsZero() {
		r.spool.lastTime = m.Time
	}
	r.stopped = cmp.Or(r.spool.add(m, r.i.dialect, now, r.i.seed), r.i.ctx.Err())
	return r.stopped
}

// End implements [convert.Sink].
func (r *intake) End(c *convert.Conversation) error {
	s := r.spool
	s.end(c)
	r.begin()
	switch {
	case len(s.messages) == 0:
		row := s.row(ImportSkipped)
		row.Detail, row.Named = "it has no messages", r.file.Named
		r.i.row(row)
	case c.Side && !r.file.Named:
		row := s.row(ImportSkipped)
		row.Detail = "it is what an assistant said to another; name the file to take it in"
		r.i.row(row)
		s.drop()
	case c.Fork != nil && !r.i.known.has(s.format, c.Fork.ID):
		r.i.forks = append(r.i.forks, s)
		r.stopped = r.i.forksFit()
	default:
		r.stopped = r.i.store(s)
	}
	return r.stopped
}

// Problem implements [convert.Sink].
func (r *intake) Problem(p convert.Problem) { r.spool.problem(p) }

// rest stores what is left.
func (i *importer) rest() error {
	for len(i.forks) > 0 {
		if err := i.nextFork(); err != nil {
			return err
		}
	}
	return nil
}

// forksFit stores copies whose origin did not come yet, if they take too much memory.
func (i *importer) forksFit() error {
	for {
		var size int64
		for _, s := range i.forks {
			size += int64(len(s.memory))
		}
		if size <= 4*spoolMemory {
			return nil
		}
		if err := i.nextFork(); err != nil {
			return err
		}
	}
}

// nextFork stores one of the copies that wait for their origin: one whose origin is
// there by now, if there is one.
func (i *importer) nextFork() error {
	n := max(0, slices.IndexFunc(i.forks, func(s *spool) bool { return i.known.has(s.format, s.conv.Fork.ID) }))
	next := i.forks[n]
	i.forks = slices.Delete(i.forks, n, n+1)
	return i.store(next)
}

// store stores a conversation, by a change of its own: then it is there, whatever becomes
// of the others.
func (i *importer) store(s *spool) error {
	defer s.drop()
	if row := i.unchanged(s); row != nil {
		i.known.stored(s, string(row.Session), false)
		i.row(*row)
		return nil
	}
	i.leave()
	var row Imported
	err := i.change(s, func(v *view) (err error) {
		if v != nil && v.writes && v.seq != i.seq { // somebody else was here
			if err := i.news(v); err != nil {
				return err
			}
		}
		row, err = i.one(v, s)
		return err
	})
	if err != nil {
		return err
	}
	i.known.stored(s, string(row.Session), i.o.DryRun)
	i.row(row)
	return nil
}

// change calls f with the workspace, to be changed, or for a dry run only to be read; with
// nil if there is none then.
func (i *importer) change(s *spool, f func(*view) error) error {
	if !i.o.DryRun {
		op := operation.Operation{Verb: "import", Args: args{"path": s.path, "format": s.format.Name}}
		var made *view
		err := i.make(i.ctx, op, func(v *view) error {
			made = v
			return f(v)
		})
		if made != nil {
			i.seq = made.seq
		}
		return err
	}
	if !Is(i.dir) {
		return f(nil)
	}
	return i.read(i.ctx, f)
}

// unchanged returns the row of a conversation all of which is there, nil if there is
// something to be done or nobody can tell. It needs no lock, and looks at the workspace
// as it was after the last change.
func (i *importer) unchanged(s *spool) *Imported {
	if i.o.DryRun || len(i.known.candidates(s)) == 0 {
		return nil
	}
	if i.seen == nil {
		root, err := i.open(i.ctx)
		if err != nil {
			return nil
		}
		if i.seen, err = i.load(i.ctx, root, mode{}); err != nil {
			root.Close()
			return nil
		}
	}
	r, err := i.merged(i.seen, s, true)
	if err != nil || r == nil || r.Status != ImportUnchanged {
		return nil
	}
	return r
}

// leave forgets how the workspace looked.
func (i *importer) leave() {
	if i.seen != nil {
		i.seen.done()
		i.seen.root.Close()
		i.seen = nil
	}
}
