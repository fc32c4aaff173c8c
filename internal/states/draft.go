package states

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
)

// ErrStale is the error of [Draft.Commit] if the store lost objects that the state needs after
// they were looked up, or content was forgotten. Another draft does not have this error unless
// that happens again.
var ErrStale = errors.New("the states were changed while the folder was read")

// A Draft is a state that does not exist yet. Its new objects are durable, in a temporary file.
// It must be committed or discarded.
type Draft struct {
	// State is what will be recorded. Until the commit, members may be set that the scan does
	// not find; not Folder.
	State *State

	t         *taking
	pack      *durable.Batch // nil if there are no new objects
	unflushed bool           // objects of the state may be in packs whose names are not durable
	committed bool
	forgotten int // number of forgotten objects at the scan
}

// draftPrefix begins the name of the temporary file of a draft; the identity of the folder
// follows.
const draftPrefix = "draft-"

// maxDraft is the age from which the file of a draft belongs to a process that was killed. A
// draft that lost its file is stale.
const maxDraft = 24 * time.Hour

// isDraft reports whether a temporary file may be needed by a process that scans a folder.
func isDraft(e fs.DirEntry) bool {
	info, err := e.Info()
	return strings.HasPrefix(e.Name(), "."+draftPrefix) && err == nil && time.Since(info.ModTime()) < maxDraft
}

// Draft scans a folder, and stores new content in a temporary file. Only one process at a time
// may have a draft of a folder; other writers of the store may work meanwhile.
func (s *Store) Draft(ctx context.Context, r Request) (_ *Draft, err error) {
	if err := durable.MakeDir(s.root, Dir); err != nil {
		return nil, err
	}
	_, folder, err := IdentityOf(r.Dir)
	if err != nil {
		return nil, err
	}
	name := path.Join(Dir, fmt.Sprintf("%s%x-%x", draftPrefix, folder.Device, folder.File))
	temp := path.Join(Dir, "."+path.Base(name)+durable.TempSuffix)
	if _, err := s.root.Lstat(temp); err == nil {
		if err := durable.Remove(s.root, temp); err != nil {
			return nil, err
		}
	}
	d := &Draft{t: &taking{Store: s, Request: r, state: r.State}}
	d.State = &d.t.state
	if err := s.refresh(); err != nil {
		return nil, err
	}
	if err := d.t.openCache(); err != nil {
		return nil, err
	}
	d.forgotten = s.forgottenCount()
	d.t.Scan.Refused = s.isRefused
	found, err := scan.Look(ctx, r.Dir, d.t.cache, d.t.Scan)
	if err != nil {
		return nil, err
	}
	if err := d.store(ctx, found, name); err != nil {
		d.Discard()
		return nil, err
	}
	return d, nil
}

// refresh forgets the packs, which other processes may have changed, and determines which
// objects must not be stored.
func (s *Store) refresh() error { return cmp.Or(s.Close(), s.loadRefused()) }

func (s *Store) forgottenCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.forgotten)
}

// store stores new content.
func (d *Draft) store(ctx context.Context, found *scan.Scan, name string) (err error) {
	t := d.t
	if found.Same() {
		if t.result, err = found.Store(ctx, nil, nil); err != nil {
			return err
		}
		coverage, err := t.describe()
		if err != nil {
			return err
		}
		if t.state.Coverage = pack.IDOf(coverage); t.state.Coverage == t.last.Coverage {
			return nil
		}
	}
	b := durable.NewBatch(t.root)
	_, err = b.Create(name, func(w *durable.Writer) error { return t.write(ctx, found, w) })
	switch {
	case errors.Is(err, errNothing):
		d.unflushed = true // packs of an interrupted Take
		return nil
	case err != nil:
		return err
	}
	d.pack = b
	return b.Flush()
}

// Commit takes the state. After an error there is no state, and with [ErrStale] nothing was
// changed. The caller ensures that no other process writes to the store. A draft that was
// committed is not committed again.
func (d *Draft) Commit(ctx context.Context) (*State, error) {
	if d.committed {
		return d.State, nil
	}
	defer d.Discard()
	if err := cmp.Or(d.t.prepare(), d.check(), ctx.Err()); err != nil {
		return nil, err
	}
	if err := d.name(ctx); err != nil {
		return nil, err
	}
	if d.t.Accept != nil {
		if err := d.t.Accept(d.State); err != nil {
			return nil, err
		}
	}
	record, err := line(d.State)
	if err != nil {
		return nil, err
	}
	if _, err := durable.Append(d.t.root, recordsFile, record); err != nil {
		return nil, err
	}
	d.committed = true
	d.t.saveCache()
	return d.State, nil
}

// check returns [ErrStale] if the store may lack an object that the state needs, or if the
// draft may have one that was forgotten. Packs never change: the objects that were known exist
// as long as their packs do, and those of the cache as long as its state does.
func (d *Draft) check() error {
	list, err := d.t.States()
	if _, ok := errors.AsType[*RecordError](err); err != nil && !ok {
		return err
	}
	has := func(id string) bool { return slices.ContainsFunc(list, func(st *State) bool { return st.ID == id }) }
	if has(d.State.ID) {
		return fmt.Errorf("state %s: %w", d.State.ID, fs.ErrExist)
	}
	if d.t.forgottenCount() != d.forgotten || d.t.last != nil && !has(d.t.last.ID) {
		return ErrStale
	}
	for name, was := range d.t.used {
		if is := d.t.identities([]string{name}); is[name] != was || was == (durable.Identity{}) {
			return ErrStale
		}
	}
	return nil
}

// identities returns the identities of packs, zero for those that do not exist.
func (s *Store) identities(names []string) map[string]durable.Identity {
	list := make(map[string]durable.Identity, len(names))
	for _, name := range names {
		list[name] = durable.Identity{}
		if info, err := s.root.Lstat(path.Join(Dir, name)); err == nil {
			list[name] = durable.Identify(info)
		}
	}
	return list
}

// name gives the pack its name.
func (d *Draft) name(ctx context.Context) error {
	if d.unflushed {
		return durable.SyncNames(d.t.root, Dir)
	}
	if d.pack == nil {
		return nil
	}
	name, err := d.t.nextPack()
	if err != nil {
		return err
	}
	if err := d.pack.Rename(name); err != nil {
		return err
	}
	_, later, err := d.pack.Commit(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrStale // the file was older than maxDraft
	}
	d.t.mu.Lock()
	defer d.t.mu.Unlock()
	return cmp.Or(err, later, d.t.closePacks())
}

// Left returns what the state does not hold, sorted by path.
func (d *Draft) Left() []scan.Left { return d.t.result.Left }

// Unchanged reports whether the state is as the last one was, to which the cache belongs.
func (d *Draft) Unchanged() bool {
	last := d.t.last
	return last != nil && d.State.Tree == last.Tree && d.State.Coverage == last.Coverage
}

// Discard removes the temporary file of a draft that was not committed.
func (d *Draft) Discard() {
	if d.pack != nil {
		d.pack.Discard()
	}
}
