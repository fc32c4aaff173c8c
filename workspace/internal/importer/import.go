package importer

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
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Import imports several sources as one group of operations.
func Import(ctx context.Context, w *store.Store, sources []imports.Source, o imports.Options) (*imports.Report, error) {
	if isFollowed(sources, o) {
		return importFollowed(ctx, w, sources, o)
	}
	return ImportTails(ctx, w, sources, o, nil)
}

// ImportTails is Import. If tails is not nil, it keeps the states of files that grow there,
// for [Tails.Grow].
func ImportTails(ctx context.Context, w *store.Store, sources []imports.Source, o imports.Options, tails *Tails) (*imports.Report, error) {
	i := &importer{
		tails: tails, store: w, ctx: ctx, o: o, seed: maphash.MakeSeed(), now: w.Opts.Now(), rows: []imports.Transcript{},
		begun: time.Now(), unread: map[string]bool{}, excluded: map[string]bool{},
	}
	defer i.drop()
	for _, source := range sources {
		for _, path := range source.Paths {
			if _, err := os.Stat(path); path != "-" && !source.Found && errors.Is(err, fs.ErrNotExist) {
				return nil, &fault.Error{Code: fault.NotFound, Message: "no such file or folder: " + path, Hint: "name a file, a folder or an archive, or - for standard input", Err: err}
			}
		}
	}
	if tails != nil {
		tails.check(w.Dir)
	}
	if err := i.begin(); err != nil {
		return nil, err
	}
	var err error
	for _, source := range sources {
		i.o.Format, i.o.Holds, i.o.Name, i.found = source.Format, source.Holds, source.Name, source.Found && o.Live
		err = unpack.Walk(ctx, source.Paths, unpack.Options{
			Stdin: o.Stdin, Head: convert.HeadSize, Holds: source.Holds, Found: source.Found, Known: i.knownFile, Limit: o.Limit,
			Progress: func(done, total int64) { w.Opts.Progress("reading", done, total) },
		}, i.file, i.failed)
		if err != nil {
			break
		}
	}
	if err == nil {
		err = i.rest()
	}
	later := i.save()
	if tails != nil {
		tails.ledger += i.ledger.written
	}
	return &imports.Report{Imported: i.rows, Unlinked: i.unlinked()}, i.stopped(cmp.Or(err, later))
}

// unlinked returns how many new or updated conversations of sub-agents were begun by a
// conversation that the workspace does not have.
func (i *importer) unlinked() (n int) {
	for _, r := range i.rows {
		if r.BegunBy == "" || r.Status != imports.New && r.Status != imports.Updated {
			continue
		}
		if _, ok := i.known.sources[SourceKey(r.Format, r.BegunBy)]; !ok {
			n++
		}
	}
	return n
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
	store *store.Store
	ctx   context.Context
	o     imports.Options
	found bool // the files of the current source are followed
	tails *Tails
	seed  maphash.Seed
	now   time.Time
	skip  skipList

	pastImports
	known  *known        // nil until the first conversation is stored
	group  operation.Seq // of the operations of this import, 0 before the first
	seq    operation.Seq // of the log after the last operation
	seen   *store.Tx     // the workspace after the last operation, nil if not loaded since
	staged staged        // the contents of the next flush
	forks  []*Spool      // copies whose origin may follow
	files  []*FileRow    // files with conversations that are not stored yet
	rows   []imports.Transcript

	begun    time.Time       // by the clock of the files, not by Options.Now
	unread   map[string]bool // names of formats with a database that could not be read
	excluded map[string]bool // the conversations whose folder a pattern excludes, by [SourceKey]; nil if no databases are read
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
	skipped, err := skipped(i.store)
	if err != nil {
		return err
	}
	if i.skip, err = newSkipList(append(slices.Clone(i.o.Skip), skipped...)); err != nil || !store.Is(i.store.Dir) {
		return err
	}
	past, err := store.Read(i.ctx, i.store, func(v *store.View) (past pastImports, err error) {
		past.dialect, past.there = v.Index.Dialect(), map[string]bool{}
		_, missing := v.Root.Stat(store.ExportsPath)
		past.exported = !errors.Is(missing, fs.ErrNotExist)
		for _, id := range v.Index.IDs() {
			past.there[id] = true
		}
		past.ledger, err = ReadLedger(v.Root)
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
	if i.o.DryRun || !store.Is(i.store.Dir) {
		return nil
	}
	for _, row := range i.files {
		if row.whole && row.left == 0 && !row.void {
			i.ledger.noteFile(row)
		}
	}
	i.files = nil
	return saveLedger(context.WithoutCancel(i.ctx), i.store, i.ledger)
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
	if i.o.Limit > 0 && info.Size() > i.o.Limit {
		return false // a part of the file is to be read
	}
	row := i.ledger.file(abs, durable.Identify(info), i.formatName(), named)
	if row == nil || i.o.Again || !i.settled(row) {
		return false
	}
	for _, r := range row.File.Rows {
		r.Path, r.Added, r.Replaced, r.Named = i.name(path), 0, 0, named
		r.Transcript.Tip = session.ID(r.Tip)
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
func (i *importer) settled(row *FileRow) bool {
	return !slices.ContainsFunc(row.File.Rows, func(r LedgerImported) bool { return r.Status == imports.Failed })
}

// take stores a conversation. A copy whose origin may follow is kept until
// later.
func (i *importer) take(s *Spool) error {
	row := i.ledger.conversation(s)
	if row == nil && s.conv.Inline { // it was removed with that, if it was a part of it
		row = i.ledger.Said[SourceKey(s.format.Name, s.conv.BegunBy)]
	}
	if row != nil && !i.o.Again && i.isOut(row) {
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
func (i *importer) isOut(row *ConvRow) bool {
	c := &row.Conversation
	return c.Out || !i.there[c.Session]
}

// whyOut returns the reason why a conversation is skipped.
func (i *importer) whyOut(row *ConvRow) string {
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
		if size <= 4*i.store.Spool {
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
	n := max(0, slices.IndexFunc(i.forks, func(s *Spool) bool { return i.known.has(s.format, s.conv.Fork.ID) }))
	next := i.forks[n]
	i.forks = slices.Delete(i.forks, n, n+1)
	return i.keep(next)
}
