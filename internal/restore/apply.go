package restore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
)

// A Store has the contents of states.
type Store interface {
	// Size returns the size of a content, and whether the store has it.
	Size(id pack.ID) (size int64, ok bool)
	// Read calls each with the contents, in pieces, the last of which has last set.
	Read(ids []pack.ID, each func(id pack.ID, piece []byte, last bool) error) error
}

// A Report says what a restore did.
type Report struct {
	Written []string
	Deleted []string
	Kept    []Kept // as the plan has it, and what changed meanwhile
}

// A MissingError reports a content that the store does not have.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: its content is not in the store", e.Path)
}

// A LostError reports that a content of the folder is in the store, but cannot be read there.
type LostError struct {
	Path string
	Err  error // of [Store.Read]
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s is not changed, because its content could not be brought back: %v", e.Path, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// Apply makes the changes of a plan in a folder, of which the caller has the lock.
//
// First it reads the contents that the folder loses from the store. Then it writes all new content into a stage, a directory in the folder itself, because
// only that is certainly on the same file system, and flushes it. Its name ends in
// [durable.TempSuffix], so it belongs to no state. Then it writes the journal: from that moment
// the restore exists, and an interrupted one is completed by [Resume]. Then it changes one path after the other, each by a rename. Nothing
// is overwritten: a file that is replaced or removed gets a name in the stage, is compared
// with what the plan expects there, and goes back if it is something else. It is
// removed in the end, when all changes are flushed, after it was compared once more.
//
// A path that other programs changed since the plan was made is kept. No symbolic link is
// followed. Files that do not change keep their times and inodes.
//
// The note is a JSON value that belongs to the restore, or nil. With a note the journal stays
// when all is done, until the caller removes it: what the caller does meanwhile can be
// completed by the one who finds it. If the plan has no changes, there is no journal.
//
// Apply stops with an error if ctx ends before the stage is complete. After that ctx does not
// matter.
//
// An error means that nothing changed if [Journal.Pending] reports false, else that the rest
// is left to Resume.
func Apply(ctx context.Context, folder *os.Root, j Journal, store Store, plan *Plan, note []byte) (*Report, error) {
	return newApplying(folder).apply(ctx, j, store, plan, note)
}

func (a *applying) apply(ctx context.Context, j Journal, store Store, plan *Plan, note []byte) (*Report, error) {
	if len(plan.Conflicts) > 0 {
		return nil, fmt.Errorf("%s: the plan has conflicts", plan.Conflicts[0].Path)
	}
	pending, err := j.Pending()
	if err != nil || pending {
		return nil, cmp.Or(err, ErrPending)
	}
	for _, c := range plan.Changes {
		for _, e := range []filetree.Entry{c.From, c.To} {
			if e.Type == 0 || e.Type == filetree.Dir {
				continue
			}
			_, merged := plan.Merged[e.ID]
			if _, ok := store.Size(e.ID); !ok && (!merged || e == c.From) {
				return nil, &MissingError{c.Path}
			}
		}
	}
	if err := verify(ctx, store, plan.Changes); err != nil {
		return nil, err
	}
	a.report.Kept = slices.Clone(plan.Kept)
	r := &record{Stage: stagePrefix + strings.ToLower(rand.Text()) + durable.TempSuffix, ops: operations(plan.Changes)}
	if len(r.ops) == 0 {
		return a.report, nil
	}
	if err := j.write(&record{Stage: r.Stage}); err != nil {
		return nil, err
	}
	if err := a.fill(ctx, r, store, plan.Merged); err != nil {
		return nil, errors.Join(err, a.discard(j, r.Stage))
	}
	defer a.stage.Close()
	if j.Begin != nil {
		if err := j.Begin(); err != nil {
			return nil, errors.Join(err, a.discard(j, r.Stage))
		}
	}
	r.Staged, r.Note = true, note
	if err := j.write(r); err != nil {
		return nil, err
	}
	return a.run(j, r)
}

// verify reads the contents that the folder loses. The folder may have the only copy of one
// that is damaged in the store.
func verify(ctx context.Context, store Store, changes []Change) error {
	read := func(ids ...pack.ID) error {
		return store.Read(ids, func(pack.ID, []byte, bool) error { return ctx.Err() })
	}
	lost := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		return c.From.Type == 0 || c.From.Type == filetree.Dir || c.From.ID == c.To.ID && c.From.Type == c.To.Type
	})
	ids := make([]pack.ID, len(lost))
	for i, c := range lost {
		ids[i] = c.From.ID
	}
	if len(ids) == 0 {
		return nil
	}
	err := read(ids...)
	for i := 0; err != nil && i < len(lost); i++ {
		if failed := read(ids[i]); failed != nil {
			return cmp.Or(ctx.Err(), error(&LostError{lost[i].Path, failed}))
		}
	}
	return err
}

// Resume completes an interrupted restore of a folder, of which the caller has the lock. The
// report is nil if there is none. A journal with a note stays. If another program removed the
// stage, the rest of the paths cannot be changed, and are kept.
func Resume(folder *os.Root, j Journal) (*Report, error) {
	r, err := j.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	a := newApplying(folder)
	if !r.Staged {
		return a.report, a.discard(j, r.Stage)
	}
	a.stage, err = durable.OpenDir(folder, r.Stage)
	if errors.Is(err, fs.ErrNotExist) { // it was complete, or another program removed the stage
		return a.report, cmp.Or(a.miss(r), j.conclude(r))
	}
	if err != nil {
		return nil, err
	}
	defer a.stage.Close()
	a.resumed = true
	return a.run(j, r)
}

// miss keeps the paths that do not have what a restore without a stage was to give them.
func (a *applying) miss(r *record) error {
	for _, o := range r.ops {
		a.final[o.path] = o.to
	}
	for _, name := range slices.Sorted(maps.Keys(a.final)) {
		has, err := a.find(name, a.final[name])
		if err != nil && reasonOf(err) == "" {
			return err
		}
		if want := a.final[name].Type != 0; err != nil || want && has != equal || !want && has != absent {
			a.keep(name, Changed, "")
		}
	}
	return nil
}

// find reports what a path is, compared with an entry.
func (a *applying) find(name string, e filetree.Entry) (finding, error) {
	d, err := durable.OpenDir(a.folder, path.Dir(name))
	if _, ok := errors.AsType[*durable.NotRegularError](err); ok || errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return other, err
	}
	defer d.Close()
	return a.compare(d, path.Base(name), anyPerm(d, path.Base(name), e))
}

// An applying makes changes in a folder.
type applying struct {
	folder  *os.Root
	stage   *durable.Dir
	resumed bool
	report  *Report
	kept    map[Kept]bool             // those of the report, nil as long as there is nothing to add
	final   map[string]filetree.Entry // what paths have in the end
	dirs    map[string]bool           // directories that changed
	// compare reports what a name in a directory is, compared with an entry.
	compare func(d *durable.Dir, name string, e filetree.Entry) (finding, error)
}

func newApplying(folder *os.Root) *applying {
	return &applying{folder: folder, report: &Report{}, final: map[string]filetree.Entry{}, dirs: map[string]bool{}, compare: compare}
}

// run makes the changes, removes the stage and then the journal.
func (a *applying) run(j Journal, r *record) (*Report, error) {
	for _, o := range r.ops {
		a.final[o.path] = o.to
	}
	made := false
	for i, o := range r.ops {
		if made && o.do != mkdir { // a file must not be in a directory whose name may be lost
			if err := a.flush(); err != nil {
				return nil, err
			}
		}
		made = o.do == mkdir
		why, err := a.change(i, o)
		if err != nil {
			if why = reasonOf(err); why == "" {
				return nil, err
			}
		}
		a.record(o, why)
	}
	a.dirs[r.Stage] = true
	if err := a.flush(); err != nil {
		return nil, err
	}
	for i, o := range r.ops {
		for _, name := range []string{newName(i), oldName(i)} {
			if err := a.drop(name, o); err != nil {
				return nil, err
			}
		}
	}
	if err := a.flush(); err != nil { // what drop kept
		return nil, err
	}
	if err := a.removeStage(r.Stage); err != nil {
		return nil, err
	}
	slices.SortFunc(a.report.Kept, func(a, b Kept) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.As, b.As)) })
	slices.Sort(a.report.Written)
	a.report.Written = slices.Compact(a.report.Written)
	a.report.Deleted = slices.DeleteFunc(a.report.Deleted, func(name string) bool {
		_, again := slices.BinarySearch(a.report.Written, name) // a file became a directory, for example
		return again
	})
	slices.Sort(a.report.Deleted)
	return a.report, j.conclude(r)
}

// conclude removes the journal of a restore that is complete, unless the caller does.
func (j Journal) conclude(r *record) error {
	if r.Note != nil {
		return nil
	}
	return j.Remove()
}

// flush flushes the directories that changed.
func (a *applying) flush() error {
	defer clear(a.dirs)
	return durable.SyncDirs(a.folder, slices.Sorted(maps.Keys(a.dirs)))
}

// record adds what an operation did to the report.
func (a *applying) record(o op, why string) {
	switch {
	case why == kept: // it is in the report
	case why != "":
		a.keep(o.path, why, "")
	case o.to.Type != 0:
		a.report.Written = append(a.report.Written, o.path)
	default:
		a.report.Deleted = append(a.report.Deleted, o.path)
	}
}

func (a *applying) keep(name, why, as string) {
	if a.kept == nil {
		a.kept = make(map[Kept]bool, len(a.report.Kept))
		for _, k := range a.report.Kept {
			a.kept[k] = true
		}
	}
	if k := (Kept{Path: name, Why: why, As: as}); !a.kept[k] {
		a.kept[k] = true
		a.report.Kept = append(a.report.Kept, k)
	}
}

// kept is the reason for which an operation did nothing if the report has it already.
const kept = "\x00"

// reasonOf returns why a path is kept that could not be changed because of err, "" if err is
// not about the path.
func reasonOf(err error) string {
	_, notRegular := errors.AsType[*durable.NotRegularError](err)
	switch {
	case durable.IsLocked(err):
		return Locked
	case durable.IsNotEmpty(err):
		return NotEmpty
	case notRegular, errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.Is(err, durable.ErrChanged):
		return Changed
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrInvalid), durable.IsOtherDisk(err),
		errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EILSEQ):
		return Denied
	}
	return ""
}

const (
	absent finding = iota
	equal
	other
)
