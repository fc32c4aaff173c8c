package remote

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/rows"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/mirror"
)

// A Remote is a remote of a workspace. Its methods are safe for concurrent use, also by several
// processes: one of them works at a time.
type Remote struct {
	w    *workspace.Workspace
	name string
	opts Options
	root *os.Root

	store      bucket.Store // nil until it is opened
	baseEvery  uint64       // records
	fetchBytes int64        // see stream.Request.MaxBytes
	quotaLess  int          // bytes that a quota has less, in tests
}

// Open opens a remote of a workspace. It makes no request.
func Open(ctx context.Context, w *workspace.Workspace, name string, o Options) (*Remote, error) {
	root, err := openFolder(w, name)
	if err != nil {
		return nil, err
	}
	if _, err := readConfig(root, name); err != nil {
		root.Close()
		return nil, err
	}
	return &Remote{w: w, name: name, opts: o, root: root, baseEvery: baseEvery}, nil
}

// Close closes the remote.
func (r *Remote) Close() error {
	if c, ok := r.store.(interface{ Close() error }); ok {
		return errors.Join(c.Close(), r.root.Close())
	}
	return r.root.Close()
}

// Info describes the remote.
func (r *Remote) Info() (Info, error) { return infoOf(r.w, r.name) }

// A job is one push, pull or the like.
type job struct {
	*Remote
	ctx    context.Context
	config config
	dry    bool

	stream *stream.Remote
	meter  *bucket.Meter
	before bucket.Usage
	writer *stream.Writer
	packs  *stream.Packs
	notes  *notes
	close  func()

	synced
	rows      *rows.Rows
	joined    []joinable  // records and bases in the store that were added to the state since the rows were stored
	state     *join.State // with the records that are not uploaded yet
	changed   bool        // synced or the state differ from the stored rows
	known     *plan.View  // of state, nil if that changed
	toErase   bool        // the files of the rows still have what was purged
	searches  bool        // for packs that nothing names, see findLost
	ownAbsent bool        // a listing shows no object of the own stream
	result    *Result
	paths     []mirror.Left // those of the result that a later record may mend, see quiet

	files   bool                       // states of files are exchanged
	objects map[string][]mirror.Object // see objectsOf, nil until they are read
}

// A joinable is a record, a base, or what was given up.
type joinable struct {
	record *record.Record
	base   *join.Base
	lost   record.Vector
}

func (j joinable) addTo(s *join.State) error {
	if j.lost != nil {
		s.GiveUp(j.lost)
		return nil
	}
	if j.base != nil {
		s.AddBase(j.base)
		return nil
	}
	return s.Add(j.record)
}

// begin locks the remote and reads its stored state.
func (r *Remote) begin(ctx context.Context, verb string, dry bool) (_ *job, err error) {
	unlock, err := lock(ctx, r.root, verb)
	if err != nil {
		return nil, err
	}
	j := &job{Remote: r, ctx: ctx, dry: dry, close: unlock}
	defer func() {
		if err != nil {
			j.end()
		}
	}()
	if j.config, err = readConfig(r.root, r.name); err != nil {
		return nil, err
	}
	key, err := seal.ReadKeyFile(j.config.Key)
	if err != nil {
		return nil, keyError(j.config.Key, err)
	}
	if err := j.config.checkKey(key.Key); err != nil {
		return nil, err
	}
	if r.store == nil {
		if r.store, err = openStore(ctx, j.config.URL, r.opts); err != nil {
			return nil, err
		}
	}
	if err := j.checkFolder(key.Key); err != nil {
		return nil, err
	}
	j.meter = bucket.NewMeter(r.store)
	j.before = j.meter.Usage()
	var store bucket.Store = j.meter
	if r.opts.Progress != nil {
		store = &progress{Store: store, report: r.opts.Progress, total: func() int64 { return unsentBytes(r.root) }}
	}
	j.stream = &stream.Remote{Store: store, Key: key.Key, ID: j.config.ID}
	if j.writer, err = j.stream.OpenWriter(r.root); err != nil {
		return nil, err
	}
	renewed := j.writer.Forked() && !dry
	if renewed {
		if err := j.startAnew(); err != nil {
			return nil, err
		}
	}
	cache, err := openCache(r.root)
	if err != nil {
		return nil, err
	}
	j.close = func() { cache.Close(); unlock() }
	local := &stream.Remote{Store: unsentPacks{store, r.root}, Key: key.Key, ID: j.config.ID}
	j.packs = local.OpenPacks(cache, maxCache)
	if err := durable.MakeDir(r.root, notesDir); err != nil {
		return nil, err
	}
	j.notes = newNotes(r.root)
	j.result = &Result{Remote: r.name, Conflicts: []plan.Conflict{}, Machines: []Machine{}, Sessions: []string{}, DryRun: dry, Renewed: renewed}
	if err := j.load(); err != nil {
		return nil, err
	}
	return j, j.bind()
}

// end ends a job. It closes a folder, so that a disk can be removed between two jobs, and is looked for
// anew by the next one.
func (j *job) end() {
	if folder, ok := j.Remote.store.(*bucket.Folder); ok {
		folder.Close() // it was only read and written through files that are closed
		j.Remote.store = nil
	}
	if j.close != nil {
		j.close()
	}
}

func openCache(root *os.Root) (*os.Root, error) {
	if err := durable.MakeDir(root, cacheDir); err != nil {
		return nil, err
	}
	return root.OpenRoot(cacheDir)
}

// renew makes this workspace another machine.
func (j *job) renew() error {
	j.result.Renewed = true
	if j.dry {
		return nil
	}
	if err := j.writer.Confirm(j.ctx); err != nil {
		return err
	}
	if _, err := j.writer.Renew(); err != nil {
		return err
	}
	j.renumber()
	return j.rebuild()
}

// renumber moves what the rows say of the own stream to the new stream, if the writer has become another machine since
// they were stored.
func (j *job) renumber() {
	former, own := j.Machine, j.writer.Machine()
	if former == own {
		return
	}
	// The other copy may name the packs of which only the list of those that were made says that they are garbage.
	j.Garbage = slices.DeleteFunc(j.Garbage, garbage.isFound)
	sent := j.writer.Published()[former].Seq
	for i, g := range j.Garbage {
		switch {
		case g.Machine != "":
		case g.Seq <= sent:
			j.Garbage[i].Machine = former
		default:
			j.Garbage[i].Seq -= sent // it was issued again
		}
	}
	j.Machine, j.Based, j.Collected, j.changed = own, 0, 0, true
	j.From -= min(j.From, sent)
	j.Compared = min(j.Compared-min(j.Compared, sent), j.writer.Published()[own].Seq+uint64(len(j.writer.Unsent())))
}

// startAnew makes this workspace another machine, as if the remote were new to it: no other machine has read
// all that it took for published.
func (j *job) startAnew() error {
	if err := resetStored(j.root); err != nil {
		return err
	}
	if err := durable.RemoveAll(j.root, notesDir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return j.writer.Restart(j.ctx)
}

// isForked reports whether the stream of this machine turned out to be that of another copy of the workspace: the
// next job starts anew.
func isForked(err error) bool {
	forked := new(stream.ForkedError)
	return errors.As(err, &forked)
}

// done returns the result.
func (j *job) done() *Result {
	usage := j.meter.Usage().Sub(j.before)
	j.result.Requests = usage.Requests()
	if !j.dry {
		j.result.Sent.Bytes = usage.Sent
	}
	j.result.Got.Bytes = usage.Received
	j.result.Machines = machinesOf(j.view(), j.state, j.writer.Machine())
	return j.result
}

func (j *job) own() plan.Own {
	return plan.Own{Machine: j.writer.Machine(), Name: j.config.Label, Person: cmp.Or(j.config.Person, j.opts.Person), Time: j.opts.now().UTC().Format("2006-01-02T15:04:05.000000+00:00")}
}

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func (o Options) note(s string) {
	if o.Note != nil {
		o.Note(s)
	}
}

// unsentPacks is a store which has the packs that are not uploaded.
type unsentPacks struct {
	bucket.Store
	root *os.Root
}

func (u unsentPacks) Get(ctx context.Context, name string) ([]byte, error) {
	if pack, ok := strings.CutPrefix(name, "p/"); ok && seal.IsHash(pack) {
		if data, err := durable.ReadFile(u.root, unsentDir+"/"+pack); err == nil {
			return data, nil
		}
	}
	return u.Store.Get(ctx, name)
}
