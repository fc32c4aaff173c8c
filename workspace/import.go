package workspace

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/unpack"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
)

// Import reads conversations of other programs from files, folders, including
// their subfolders, and archives, and stores each as a session with all its
// branches; package convert lists the formats. New messages of a known
// conversation are added to its session. So are those of a conversation that
// began as a copy of a known one, or as an export from this workspace. A file
// that did not change since the last import is not read again. No head moves.
// Stored messages do not change, except an open message, which a longer
// transcript completes.
//
// Import skips conversations that the user removed, unless o.Again is set. Data
// that cannot be read results in a row with the status Failed or with problems,
// and the import continues; it returns an error only if the whole import fails.
// Each conversation is an operation. All operations of an import form one
// group, which [Workspace.Undo] undoes together.
func (w *Workspace) Import(ctx context.Context, paths []string, o imports.Options) (*imports.Report, error) {
	return w.ImportAll(ctx, []imports.Source{{Paths: paths, Format: o.Format, Holds: o.Holds, Name: o.Name}}, o)
}

// ImportAll is [Workspace.Import] for several sources, in one group of
// operations. It ignores o.Format, o.Holds and o.Name.
func (w *Workspace) ImportAll(ctx context.Context, sources []imports.Source, o imports.Options) (*imports.Report, error) {
	return importAll(ctx, w.store, sources, o)
}

// importAll imports several sources as one group of operations.
func importAll(ctx context.Context, w *base, sources []imports.Source, o imports.Options) (*imports.Report, error) {
	i := &importer{store: w, ctx: ctx, o: o, seed: maphash.MakeSeed(), now: w.opts.Now(), rows: []imports.Transcript{}}
	defer i.drop()
	for _, source := range sources {
		for _, path := range source.Paths {
			if _, err := os.Stat(path); path != "-" && errors.Is(err, fs.ErrNotExist) {
				return nil, &fault.Error{Code: fault.NotFound, Message: "no such file or folder: " + path, Hint: "name a file, a folder or an archive, or - for standard input", Err: err}
			}
		}
	}
	if err := i.begin(); err != nil {
		return nil, err
	}
	var err error
	for _, source := range sources {
		i.o.Format, i.o.Holds, i.o.Name = source.Format, source.Holds, source.Name
		err = unpack.Walk(ctx, source.Paths, unpack.Options{
			Stdin: o.Stdin, Head: convert.HeadSize, Holds: source.Holds, Known: i.knownFile,
			Progress: func(done, total int64) { w.opts.Progress("reading", done, total) },
		}, i.file, i.failed)
		if err != nil {
			break
		}
	}
	if err == nil {
		err = i.rest()
	}
	later := i.save()
	return &imports.Report{Imported: i.rows}, i.stopped(cmp.Or(err, later))
}

// stopped adds to the error of an interrupted import that the stored
// conversations are kept.
func (i *importer) stopped(err error) error {
	stored := func(r imports.Transcript) bool { return r.Status == imports.New || r.Status == imports.Updated }
	if err == nil || !errors.Is(err, i.ctx.Err()) || i.o.DryRun || !slices.ContainsFunc(i.rows, stored) {
		return err
	}
	return &fault.Error{Code: fault.Failed, Message: "stopped; imported conversations are kept", Hint: "import again to import the rest", Err: err}
}

// An importer runs one import.
type importer struct {
	store *base
	ctx   context.Context
	o     imports.Options
	seed  maphash.Seed
	now   time.Time
	skip  skipList

	pastImports
	known  *known        // nil until the first conversation is stored
	group  operation.Seq // of the operations of this import, 0 before the first
	seq    operation.Seq // of the log after the last operation
	seen   *Tx           // the workspace after the last operation, nil if not loaded since
	staged staged        // the contents of the next flush
	forks  []*spool      // copies whose origin may follow
	files  []*fileRow    // files with conversations that are not stored yet
	rows   []imports.Transcript
}

// pastImports are the records of earlier imports.
type pastImports struct {
	dialect  session.Dialect
	ledger   *ledger
	there    map[string]bool // ids of the existing sessions
	exported bool            // there are records of exports
}

// begin reads the records of earlier imports.
func (i *importer) begin() (err error) {
	i.ledger, i.there = newLedger(), map[string]bool{}
	skipped, err := i.store.skipped()
	if err != nil {
		return err
	}
	if i.skip, err = newSkipList(append(slices.Clone(i.o.Skip), skipped...)); err != nil || !isWorkspace(i.store.dir) {
		return err
	}
	past, err := read(i.ctx, i.store, func(v *View) (past pastImports, err error) {
		past.dialect, past.there = v.index.Dialect(), map[string]bool{}
		_, missing := v.root.Stat(exportsPath)
		past.exported = !errors.Is(missing, fs.ErrNotExist)
		for _, id := range v.index.IDs() {
			past.there[id] = true
		}
		past.ledger, err = readLedger(v.root)
		return past, err
	})
	if err == nil {
		i.pastImports = past
	}
	return err
}

func (i *importer) drop() {
	i.leave()
	for _, s := range i.forks {
		s.drop()
	}
	for _, s := range i.staged.list {
		s.drop()
	}
}

// save writes the records for the next import.
func (i *importer) save() error {
	if i.o.DryRun || !isWorkspace(i.store.dir) {
		return nil
	}
	for _, row := range i.files {
		if row.whole && row.left == 0 && !row.void {
			i.ledger.noteFile(row)
		}
	}
	i.files = nil
	return i.store.saveLedger(context.WithoutCancel(i.ctx), i.ledger)
}

// row adds the result for a conversation.
func (i *importer) row(r imports.Transcript) {
	i.rows = append(i.rows, r)
	if i.o.Each != nil {
		i.o.Each(r)
	}
}

// failed adds a row for a file that cannot be opened.
func (i *importer) failed(path string, err error) {
	i.row(imports.Transcript{Path: i.name(path), Status: imports.Failed, Detail: err.Error(), Named: true})
}

// name returns the display name of a file.
func (i *importer) name(path string) string {
	if i.o.Name != nil {
		return i.o.Name(path)
	}
	if abs, err := filepath.Abs(path); err == nil && path != "-" {
		return abs
	}
	return path
}

func (i *importer) formatName() string {
	if i.o.Format == nil {
		return ""
	}
	return i.o.Format.Name
}

// knownFile reports whether a file need not be read: a pattern excludes it, or
// it did not change since an earlier import, whose rows are then reported
// again.
func (i *importer) knownFile(path string, info fs.FileInfo, named bool) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	if i.skip.matches(abs) {
		i.row(imports.Transcript{Path: i.name(path), Status: imports.Skipped, Detail: "excluded by a pattern", Named: named})
		return true
	}
	row := i.ledger.file(abs, durable.Identify(info), i.formatName(), named)
	if row == nil || i.o.Again || !i.settled(row) {
		return false
	}
	for _, r := range row.File.Rows {
		r.Path, r.Added, r.Replaced, r.Named = i.name(path), 0, 0, named
		if r.Session != "" {
			r.Status = imports.Unchanged
			if conv := i.ledger.of(r); conv != nil && i.isOut(conv) {
				r.Status, r.Detail, r.Removed, r.Session = imports.Skipped, i.whyOut(conv), true, ""
			}
		}
		i.row(r.Transcript)
	}
	return true
}

// settled reports whether another import of the file would change nothing: all
// its conversations are in their sessions, or were removed.
func (i *importer) settled(row *fileRow) bool {
	return !slices.ContainsFunc(row.File.Rows, func(r ledgerImported) bool { return r.Status == imports.Failed })
}

// take stores a conversation. A copy whose origin may follow is kept until
// later.
func (i *importer) take(s *spool) error {
	if row := i.ledger.conversation(s); row != nil && !i.o.Again && i.isOut(row) {
		r := s.result(imports.Skipped)
		r.Detail, r.Removed = i.whyOut(row), true
		if s.row != nil {
			s.row.void = true // the user may restore it
		}
		i.finish(s, r)
		return nil
	}
	if err := i.look(); err != nil {
		return err
	}
	if f := s.conv.Fork; f != nil && !i.known.has(s.format, f.ID) && i.known.exports.of(s) == nil {
		i.forks = append(i.forks, s)
		return i.forksFit()
	}
	return i.keep(s)
}

// isOut reports whether a conversation was removed or its import undone.
func (i *importer) isOut(row *convRow) bool {
	c := &row.Conversation
	return c.Out || !i.there[c.Session]
}

// whyOut returns the reason why a conversation is skipped.
func (i *importer) whyOut(row *convRow) string {
	if i.there[row.Conversation.Session] {
		return "its import was undone"
	}
	return "it was removed before"
}

// rest stores the remaining conversations.
func (i *importer) rest() error {
	for len(i.forks) > 0 {
		if err := i.nextFork(); err != nil {
			return err
		}
	}
	return i.flush()
}

// forksFit stores some of the kept copies if they need too much memory.
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

// nextFork stores one of the kept copies, preferably one whose origin is stored
// by now.
func (i *importer) nextFork() error {
	n := max(0, slices.IndexFunc(i.forks, func(s *spool) bool { return i.known.has(s.format, s.conv.Fork.ID) }))
	next := i.forks[n]
	i.forks = slices.Delete(i.forks, n, n+1)
	return i.keep(next)
}
