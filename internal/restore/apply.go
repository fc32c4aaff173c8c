package restore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
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

// Apply makes the changes of a plan in a folder, of which the caller has the lock.
//
// First it writes all new content into a stage, a directory in the folder itself, because
// only that is certainly on the same file system, and flushes it. Its name ends in
// [durable.TempSuffix], so it belongs to no state. Then it writes the journal: from that moment the restore exists, and an interrupted one is
// completed by [Resume]. Then it changes one path after the other, each by a rename. Nothing
// is overwritten: a file that is replaced or removed gets a name in the stage, is compared
// with what the plan expects there, and goes back if it is something else. It is
// removed in the end, when all changes are flushed, after it was compared once more if its
// metadata changed.
//
// A path that other programs changed since the plan was made is kept. No symbolic link is
// followed. Files that do not change keep their times and inodes.
//
// An error means that nothing changed if [Journal.Pending] reports false, else that the rest
// is left to Resume.
func Apply(ctx context.Context, folder *os.Root, j Journal, store Store, plan *Plan) (*Report, error) {
	return newApplying(folder).apply(ctx, j, store, plan)
}

func (a *applying) apply(ctx context.Context, j Journal, store Store, plan *Plan) (*Report, error) {
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
	r.Staged = true
	if err := j.write(r); err != nil {
		return nil, err
	}
	return a.run(j, r)
}

// Resume completes an interrupted restore of a folder, of which the caller has the lock. The
// report is nil if there is none.
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
	if errors.Is(err, fs.ErrNotExist) { // it was complete
		return a.report, durable.Remove(j.Root, j.Name)
	}
	if err != nil {
		return nil, err
	}
	defer a.stage.Close()
	a.resumed = true
	return a.run(j, r)
}

// An applying makes changes in a folder.
type applying struct {
	folder  *os.Root
	stage   *durable.Dir
	resumed bool
	report  *Report
	final   map[string]filetree.Entry   // what paths have in the end
	dirs    map[string]bool             // directories that changed
	checked map[string]durable.Identity // files in the stage that were replaced or removed
	// compare reports what a name in a directory is, compared with an entry.
	compare func(d *durable.Dir, name string, e filetree.Entry) (finding, error)
}

func newApplying(folder *os.Root) *applying {
	return &applying{folder: folder, report: &Report{}, final: map[string]filetree.Entry{}, dirs: map[string]bool{}, checked: map[string]durable.Identity{}, compare: compare}
}

// newName and oldName are the names in the stage of what an operation writes, and of what it
// removes. If two files are exchanged, the old one has the new name.
func newName(i int) string { return fmt.Sprintf("%d.new", i) }
func oldName(i int) string { return fmt.Sprintf("%d.old", i) }

// fill makes the stage.
func (a *applying) fill(ctx context.Context, r *record, store Store, merged map[pack.ID][]byte) error {
	top, err := durable.OpenDir(a.folder, ".")
	if err != nil {
		return err
	}
	defer top.Close()
	if err := top.Mkdir(r.Stage, durable.DirMode); err != nil {
		return err
	}
	if a.stage, err = durable.OpenDir(a.folder, r.Stage); err != nil {
		return err
	}
	f := &filling{applying: a, ops: r.ops, users: map[pack.ID][]int{}}
	var ids []pack.ID
	for i, o := range r.ops {
		if o.do != create && o.do != replace {
			continue
		}
		if f.users[o.to.ID] = append(f.users[o.to.ID], i); len(f.users[o.to.ID]) == 1 {
			ids = append(ids, o.to.ID)
		}
	}
	ids = slices.DeleteFunc(ids, func(id pack.ID) bool {
		data, ok := merged[id]
		if ok && err == nil {
			err = f.add(id, data, true)
		}
		return ok
	})
	if err == nil && len(ids) > 0 {
		err = store.Read(ids, func(id pack.ID, piece []byte, last bool) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f.add(id, piece, last)
		})
	}
	for _, file := range f.open {
		file.Close() // an error is that of reading
	}
	if err := cmp.Or(f.flusher.Wait(), err); err != nil {
		return err
	}
	for _, i := range slices.Concat(slices.Collect(maps.Values(f.users))...) {
		if _, err := a.stage.Lstat(newName(i)); err != nil {
			return &MissingError{r.ops[i].path}
		}
	}
	return cmp.Or(ctx.Err(), a.stage.Sync(), top.Sync())
}

// A filling writes contents into the stage.
type filling struct {
	*applying
	ops     []op
	users   map[pack.ID][]int // the operations that write a content
	open    []*durable.NewFile
	target  []byte // of a link
	flusher durable.Flusher
}

// add adds a piece of a content.
func (f *filling) add(id pack.ID, piece []byte, last bool) error {
	if f.open == nil && f.target == nil {
		for _, i := range f.users[id] {
			if o := f.ops[i]; o.to.Type == filetree.File {
				file, err := f.create(i, o)
				if err != nil {
					return err
				}
				f.open = append(f.open, file)
			}
		}
	}
	for _, file := range f.open {
		if _, err := file.Write(piece); err != nil {
			return err
		}
	}
	f.target = append(f.target, piece...)
	if len(f.open) > 0 && len(f.open) == len(f.users[id]) {
		f.target = f.target[:0]
	}
	if !last {
		return nil
	}
	for _, i := range f.users[id] {
		if f.ops[i].to.Type == filetree.Link {
			if err := f.stage.Symlink(string(f.target), newName(i)); err != nil {
				return err
			}
		}
	}
	for _, file := range f.open {
		f.flusher.Add(file)
	}
	f.open, f.target = nil, nil
	return nil
}

// create creates the file that operation i writes.
func (f *filling) create(i int, o op) (*durable.NewFile, error) {
	if o.do == create {
		return f.stage.Create(newName(i), o.to.Perm, nil, "")
	}
	like, err := durable.OpenDir(f.folder, path.Dir(o.path))
	if err != nil {
		return f.stage.Create(newName(i), o.to.Perm, nil, "")
	}
	defer like.Close()
	return f.stage.Create(newName(i), o.to.Perm, like, path.Base(o.path))
}

// discard removes a stage whose restore does not exist, and the journal.
func (a *applying) discard(j Journal, name string) error {
	if a.stage != nil {
		a.stage.Close()
	}
	stage, err := durable.OpenDir(a.folder, name)
	if err == nil {
		defer stage.Close()
		names, err := stage.Names()
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := stage.Unlink(name); err != nil {
				return err
			}
		}
		if err := a.removeStage(name); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.Remove(j.Root, j.Name)
}

func (a *applying) removeStage(name string) error {
	top, err := durable.OpenDir(a.folder, ".")
	if err != nil {
		return err
	}
	defer top.Close()
	return cmp.Or(top.Rmdir(name), top.Sync())
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
	return a.report, durable.Remove(j.Root, j.Name)
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
	k := Kept{Path: name, Why: why, As: as}
	if !slices.Contains(a.report.Kept, k) {
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
		errors.Is(err, syscall.EBUSY), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EILSEQ):
		return Denied
	}
	return ""
}

// change makes operation i. If it returns a reason, the path is kept.
func (a *applying) change(i int, o op) (why string, err error) {
	d, err := durable.OpenDir(a.folder, path.Dir(o.path))
	if _, ok := errors.AsType[*durable.NotRegularError](err); o.to.Type == 0 && (ok || errors.Is(err, fs.ErrNotExist)) {
		return "", nil // it is gone with its directory
	}
	if err != nil {
		return "", err
	}
	defer d.Close()
	a.dirs[d.Path()] = true
	name := path.Base(o.path)
	switch o.do {
	case mkdir:
		return a.mkdir(d, name, o)
	case rmdir:
		if later, err := a.isFinal(d, name, o); later || err != nil {
			return "", err
		}
		if err := d.Rmdir(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return "", nil
	case chmod:
		return a.chmod(d, name, o)
	case remove:
		return a.remove(d, name, i, o)
	case create:
		return a.create(d, name, i, o)
	}
	return a.replace(d, name, i, o)
}

// isFinal reports whether an interrupted restore already made what a path has in the end.
func (a *applying) isFinal(d *durable.Dir, name string, o op) (bool, error) {
	final := a.final[o.path]
	if !a.resumed || final.Type == 0 {
		return false, nil
	}
	is, err := a.compare(d, name, anyPerm(d, name, final))
	return is == equal, err
}

func (a *applying) mkdir(d *durable.Dir, name string, o op) (why string, err error) {
	if is, err := a.compare(d, name, o.to); is != absent || err != nil {
		if is == other {
			why = Changed
		}
		return why, err
	}
	if err := d.Mkdir(name, 0o700); err != nil {
		return "", err
	}
	return "", d.Chmod(name, o.to.Perm|0o700)
}

func (a *applying) chmod(d *durable.Dir, name string, o op) (why string, err error) {
	info, err := d.Lstat(name)
	if err != nil {
		return "", err
	}
	isType := info.IsDir() && o.to.Type == filetree.Dir || info.Mode().IsRegular() && o.to.Type == filetree.File
	switch {
	case isType && info.Mode().Perm() == o.to.Perm:
		return "", nil
	case !isType || info.Mode().Perm() != o.from.Perm:
		return Changed, nil
	}
	return "", d.Chmod(name, o.to.Perm)
}

// remove moves a file into the stage, where it stays if it is the expected one.
func (a *applying) remove(d *durable.Dir, name string, i int, o op) (why string, err error) {
	old := oldName(i)
	was, err := a.compare(a.stage, old, o.from)
	if err != nil {
		return "", err
	}
	switch was {
	case other: // interrupted before it was compared
		return a.putBack(d, name, old, o)
	case equal:
		// A crash may have left both names.
		if is, err := a.compare(d, name, o.from); is != equal || err != nil {
			return "", err
		}
		if err := a.stage.Unlink(old); err != nil {
			return "", err
		}
	}
	switch is, err := a.compare(d, name, o.from); {
	case err != nil:
		return "", err
	case is == absent:
		return "", nil
	case is == other:
		if later, err := a.isFinal(d, name, o); later || err != nil {
			return "", err
		}
		return Changed, nil
	}
	if err := d.Move(name, a.stage, old); err != nil {
		return "", err
	}
	if a.final[o.path].Type == filetree.Dir { // which is not durable before the rename is
		a.dirs[a.stage.Path()] = true
	}
	if was, err := a.compareOld(old, o.from); was != equal || err != nil {
		return a.putBack(d, name, old, o)
	}
	return "", nil
}

// putBack gives a file in the stage that is not the expected one its name back.
func (a *applying) putBack(d *durable.Dir, name, staged string, o op) (why string, err error) {
	delete(a.checked, staged)
	err = a.stage.Move(staged, d, name)
	if errors.Is(err, fs.ErrExist) {
		return kept, a.preserve(staged, o)
	}
	return Changed, err
}

// preserve gives a file in the stage, which another program wrote, a name of its own beside
// its path.
func (a *applying) preserve(staged string, o op) error {
	dir := path.Dir(o.path)
	d, err := durable.OpenDir(a.folder, dir)
	for err != nil && dir != "." {
		dir = path.Dir(dir)
		d, err = durable.OpenDir(a.folder, dir)
	}
	if err != nil {
		return err
	}
	defer d.Close()
	a.dirs[dir] = true
	delete(a.checked, staged)
	for n := 1; ; n++ {
		as := fmt.Sprintf("%s.bough-kept-%d", path.Base(o.path), n)
		err := a.stage.Move(staged, d, as)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			a.keep(o.path, Changed, path.Join(dir, as))
		}
		return err
	}
}

// create gives a new file its name.
func (a *applying) create(d *durable.Dir, name string, i int, o op) (why string, err error) {
	staged, err := a.stagedNew(i, o)
	switch {
	case err != nil || staged == absent:
		return "", err
	case staged == other:
		return Damaged, nil
	}
	if a.resumed { // a crash may have left both names
		if is, err := a.compare(d, name, anyPerm(d, name, o.to)); is == equal || err != nil {
			return "", err
		}
	}
	return "", a.stage.Move(newName(i), d, name)
}

// stagedNew compares the new file of an operation, which a crash may have left with its final
// name alone.
func (a *applying) stagedNew(i int, o op) (finding, error) {
	if !a.resumed {
		return equal, nil
	}
	is, err := a.compare(a.stage, newName(i), anyPerm(a.stage, newName(i), o.to))
	return is, err
}

// anyPerm returns e with the permission bits that a file has: the system may have refused
// those of e.
func anyPerm(d *durable.Dir, name string, e filetree.Entry) filetree.Entry {
	if info, err := d.Lstat(name); err == nil && e.Type == filetree.File {
		e.Perm = info.Mode().Perm()
	}
	return e
}

// replace exchanges a file and a new one.
func (a *applying) replace(d *durable.Dir, name string, i int, o op) (why string, err error) {
	staged, old := newName(i), oldName(i)
	if a.resumed {
		if done, why, err := a.replaced(d, name, i, o); done || err != nil {
			return why, err
		}
	}
	if is, err := a.compare(d, name, o.from); is != equal || err != nil {
		return Changed, err
	}
	err = a.stage.Swap(staged, d, name)
	if errors.Is(err, errors.ErrUnsupported) {
		if err := d.Move(name, a.stage, old); err != nil {
			return "", err
		}
		if was, err := a.compareOld(old, o.from); was != equal || err != nil {
			return a.putBack(d, name, old, o)
		}
		return "", a.stage.Move(staged, d, name)
	}
	if err != nil {
		return "", err
	}
	if was, err := a.compareOld(staged, o.from); was != equal || err != nil {
		return a.swapBack(d, name, i, o)
	}
	return "", nil
}

// replaced completes an exchange that was interrupted. done is false if it did not begin.
func (a *applying) replaced(d *durable.Dir, name string, i int, o op) (done bool, why string, err error) {
	staged, old := newName(i), oldName(i)
	was, err := a.compare(a.stage, old, o.from)
	if err != nil {
		return false, "", err
	}
	switch was {
	case other:
		why, err = a.putBack(d, name, old, o)
		return true, why, err
	case equal: // without an exchange, in two renames
		is, err := a.compare(d, name, o.from)
		if err == nil && is == equal { // a crash left both names
			err = a.stage.Unlink(old)
		}
		if is == equal || err != nil {
			return false, "", err
		}
		why, err = a.create(d, name, i, o)
		return true, why, err
	}
	is, err := a.compare(a.stage, staged, anyPerm(a.stage, staged, o.to))
	switch {
	case err != nil:
		return false, "", err
	case is == absent:
		return true, "", nil
	case is == equal: // a crash may have left both names
		now, err := a.compare(d, name, anyPerm(d, name, o.to))
		return now == equal, "", err
	}
	if was, err := a.compare(a.stage, staged, o.from); was == equal || err != nil {
		return true, "", err
	}
	if is, err := a.compare(d, name, anyPerm(d, name, o.to)); is == equal && err == nil {
		why, err = a.swapBack(d, name, i, o)
		return true, why, err
	}
	if is, err := a.compare(d, name, o.from); is == equal || err != nil {
		return true, Damaged, err
	}
	return true, kept, a.preserve(staged, o)
}

// swapBack exchanges a file that is not the expected one with the new one again.
func (a *applying) swapBack(d *durable.Dir, name string, i int, o op) (why string, err error) {
	staged := newName(i)
	delete(a.checked, staged)
	if err := a.stage.Swap(staged, d, name); err != nil {
		return kept, a.preserve(staged, o)
	}
	if is, err := a.compare(a.stage, staged, anyPerm(a.stage, staged, o.to)); is != equal || err != nil {
		return kept, a.preserve(staged, o) // another program was faster once more
	}
	return Changed, nil
}

// compareOld compares a file that was moved into the stage, and remembers it.
func (a *applying) compareOld(staged string, e filetree.Entry) (finding, error) {
	info, err := a.stage.Lstat(staged)
	if err != nil {
		return other, err
	}
	was, err := a.compare(a.stage, staged, e)
	if was == equal && err == nil {
		a.checked[staged] = durable.Identify(info)
	}
	return was, err
}

// drop removes a file in the stage if the store has its content.
func (a *applying) drop(name string, o op) error {
	info, err := a.stage.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if id, ok := a.checked[name]; !ok || id != durable.Identify(info) {
		known := false
		for _, e := range []filetree.Entry{o.from, o.to} {
			if e.Type != 0 && !known {
				is, err := a.compare(a.stage, name, anyPerm(a.stage, name, e))
				if err != nil {
					return err
				}
				known = is == equal
			}
		}
		if !known {
			return a.preserve(name, o)
		}
	}
	return a.stage.Unlink(name)
}

// A finding is what a name is, compared with an entry.
type finding int

const (
	absent finding = iota
	equal
	other
)

// compare compares a name in a directory with an entry: the type, and the content and
// permission bits of a file. It reads the content.
func compare(d *durable.Dir, name string, e filetree.Entry) (finding, error) {
	info, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return other, err
	}
	switch {
	case e.Type == filetree.Dir && info.IsDir():
		return equal, nil
	case e.Type == filetree.Link && info.Mode()&fs.ModeSymlink != 0:
		target, err := d.Readlink(name)
		if err == nil && pack.IDOf([]byte(target)) == e.ID {
			return equal, nil
		}
		return other, err
	case e.Type == filetree.File && info.Mode().IsRegular() && info.Size() == e.Size && info.Mode().Perm() == e.Perm:
	default:
		return other, nil
	}
	f, err := d.Open(name)
	if err != nil {
		return other, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return other, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return other, err
	}
	after, err := f.Stat()
	if err != nil || !bytes.Equal(sum.Sum(nil), e.ID[:]) || durable.Identify(before) != durable.Identify(after) {
		return other, err
	}
	return equal, nil
}
