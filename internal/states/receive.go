package states

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
)

// A Travel is a state of another workspace, or one for other workspaces.
type Travel struct {
	State State
	Links []Link
}

// A Consignment is what other workspaces sent.
type Consignment struct {
	Folders   []Folder // of the states; each has a machine
	States    []Travel
	Forgotten []pack.ID // contents that were deleted permanently on another machine, which may be missing
	Supply    Supply
}

// A Refusal says why a state is not sent or received.
type Refusal struct {
	State string // its ID
	Err   error
}

// A Supply returns a pack that has an object. The error is [fs.ErrNotExist] if there is none.
type Supply func(id pack.ID) (*pack.Pack, error)

// A Receipt is states of other workspaces that were checked, with what is new of them in a temporary
// file. It must be committed or discarded.
type Receipt struct {
	Refused []Refusal
	Taken   []string // IDs of the states that will be added

	s         *Store
	folders   []Folder
	states    []State
	links     []Link
	forgotten []pack.ID
	pack      *durable.Batch // nil if there are no new objects
	size      int64          // of the pack
	used      map[string]durable.Identity
	count     int // number of forgotten objects
}

// receivedFile is the name before the commit of the pack of a receipt, and receivedTemp its file.
const (
	receivedFile = Dir + "/" + draftPrefix + "received"
	receivedTemp = Dir + "/." + draftPrefix + "received" + durable.TempSuffix
)

// Receive checks states of other workspaces, and stores what is new of them in a temporary file. Of
// those that the store has already, only links are added. Nothing that could harm a folder is stored:
// a state that is hostile, damaged or not complete is refused. Other writers of the store may work
// meanwhile.
func (s *Store) Receive(ctx context.Context, c Consignment) (*Receipt, error) {
	if err := durable.MakeDir(s.root, Dir); err != nil {
		return nil, err
	}
	if err := s.refresh(); err != nil {
		return nil, err
	}
	if _, err := s.root.Lstat(receivedTemp); err == nil { // of a process that was killed, or of one that will see that it is stale
		if err := durable.Remove(s.root, receivedTemp); err != nil {
			return nil, err
		}
	}
	for in := newIntake(s, &c); ; in = in.again() {
		r, err := s.receive(ctx, in)
		if err != nil {
			return nil, err
		}
		err = r.store(ctx, in)
		if err == nil {
			return r, nil
		}
		r.Discard()
		if _, damaged := errors.AsType[*pack.DamageError](err); !damaged || !in.findDamaged() {
			return nil, err
		}
	}
}

// receive checks the states.
func (s *Store) receive(ctx context.Context, in *intake) (*Receipt, error) {
	has, err := s.stateIDs()
	if err != nil {
		return nil, err
	}
	links, err := s.linkSet()
	if err != nil {
		return nil, err
	}
	r := &Receipt{s: s, folders: in.c.Folders, count: s.forgottenCount()}
	for _, t := range in.c.States {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !has[t.State.ID] {
			if err := in.check.inspect(&t.State); err != nil {
				if !concernsState(err) {
					return nil, err
				}
				r.Refused = append(r.Refused, Refusal{t.State.ID, err})
				continue
			}
			has[t.State.ID] = true
			t.State.NewBytes = 0
			r.states = append(r.states, t.State)
			r.Taken = append(r.Taken, t.State.ID)
		}
		for _, l := range t.Links {
			l.Folder, l.State = t.State.Folder, t.State.ID
			if key := l.key(); l.check() == nil && !links[key] {
				links[key] = true
				r.links = append(r.links, l)
			}
		}
	}
	r.forgotten = in.lacking
	return r, nil
}

// concernsState reports whether an error is about one state, so that others can be received.
func concernsState(err error) bool {
	_, isHostile := errors.AsType[*HostileError](err)
	_, isDamaged := errors.AsType[*pack.DamageError](err)
	return isHostile || isDamaged || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errIncomplete)
}

// stateIDs returns the IDs of the states.
func (s *Store) stateIDs() (map[string]bool, error) {
	list, err := s.States()
	if _, ok := errors.AsType[*RecordError](err); err != nil && !ok {
		return nil, err
	}
	has := make(map[string]bool, len(list))
	for _, st := range list {
		has[st.ID] = true
	}
	return has, nil
}

func (s *Store) linkSet() (map[string]bool, error) {
	list, err := s.Links()
	if _, ok := errors.AsType[*RecordError](err); err != nil && !ok {
		return nil, err
	}
	set := make(map[string]bool, len(list))
	for _, l := range list {
		set[l.key()] = true
	}
	return set, nil
}

// key identifies what a link says. It does not matter which of two equal links is older.
func (l *Link) key() string {
	return strings.Join([]string{l.SessionID, l.MessageID, l.PromptID, l.Folder, l.State}, "\x00")
}

// An intake validates and stores received states.
type intake struct {
	*Store
	c       *Consignment
	check   *inspection
	claimed map[pack.ID]bool       // those of Forgotten
	places  map[pack.ID]*pack.Pack // objects of the packs that were supplied
	sizes   map[pack.ID]int64
	recent  []*recentIndex
	fresh   []pack.ID        // objects to store
	lacking []pack.ID        // contents that are claimed, and not here
	damaged map[pack.ID]bool // objects that the supplied packs do not have as they say
}

// again returns an intake that begins anew, with what is known to be damaged.
func (in *intake) again() *intake {
	next := newIntake(in.Store, in.c)
	next.damaged = in.damaged
	return next
}

// findDamaged finds new objects that cannot be read, and reports whether there are any.
func (in *intake) findDamaged() bool {
	n := len(in.damaged)
	for _, id := range in.fresh {
		x := pack.NewIndex(in.places[id])
		if x.Read([]pack.ID{id}, func(pack.ID, []byte, bool) error { return nil }) != nil {
			in.damaged[id] = true
		}
	}
	return len(in.damaged) > n
}

// A recentIndex is that of a pack that was read, with frames that stay decoded.
type recentIndex struct {
	pack *pack.Pack
	*pack.Index
}

// keptIndexes is the number of packs of which frames stay decoded.
const keptIndexes = 4

func newIntake(s *Store, c *Consignment) *intake {
	in := &intake{Store: s, c: c, claimed: map[pack.ID]bool{}, places: map[pack.ID]*pack.Pack{}, sizes: map[pack.ID]int64{}, damaged: map[pack.ID]bool{}}
	for _, id := range c.Forgotten {
		in.claimed[id] = true
	}
	in.check = newInspection(in.get, in.sizeOf, in.isGone)
	in.check.add = func(id pack.ID, isGone bool) error {
		switch {
		case in.has(id) || in.isRefused(id):
		case isGone:
			in.lacking = append(in.lacking, id)
		default:
			in.fresh = append(in.fresh, id)
		}
		return nil
	}
	return in
}

// has reports whether the store has an object.
func (in *intake) has(id pack.ID) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.load() != nil {
		return false
	}
	_, ok := in.index.Size(id)
	return ok && !in.forgotten[id]
}

// isGone reports whether a content was deleted permanently: here, or elsewhere if it is nowhere.
func (in *intake) isGone(id pack.ID) bool {
	if in.isRefused(id) || !in.claimed[id] || in.has(id) {
		return in.isRefused(id)
	}
	_, err := in.place(id)
	return errors.Is(err, fs.ErrNotExist)
}

func (in *intake) sizeOf(id pack.ID) (int64, error) {
	in.mu.Lock()
	err := in.load()
	var size int64
	ok := false
	if err == nil {
		size, ok = in.index.Size(id)
	}
	in.mu.Unlock()
	if err != nil || ok {
		return size, err
	}
	if _, err := in.place(id); err != nil {
		return 0, err
	}
	return in.sizes[id], nil
}

// place returns a supplied pack that has an object.
func (in *intake) place(id pack.ID) (*pack.Pack, error) {
	if in.damaged[id] {
		return nil, hostile("", "the object %v is damaged", id)
	}
	if p := in.places[id]; p != nil {
		return p, nil
	}
	p, err := in.c.Supply(id)
	if err != nil {
		return nil, err
	}
	if p.HasObjects() {
		x := pack.NewIndex(p)
		for object := range x.All() {
			if in.places[object] == nil {
				in.places[object] = p
				in.sizes[object], _ = x.Size(object)
			}
		}
	}
	if in.places[id] == nil {
		return nil, &pack.MissingError{ID: id}
	}
	return in.places[id], nil
}

func (in *intake) get(id pack.ID) ([]byte, error) {
	if in.has(id) {
		return in.Get(id)
	}
	p, err := in.place(id)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(in.recent, func(r *recentIndex) bool { return r.pack == p })
	if i < 0 {
		in.recent = append(in.recent[max(0, len(in.recent)-keptIndexes+1):], &recentIndex{p, pack.NewIndex(p)})
		i = len(in.recent) - 1
	}
	return in.recent[i].Get(id)
}

// store writes what is new to a temporary file.
func (r *Receipt) store(ctx context.Context, in *intake) error {
	if len(r.states) == 0 {
		return nil
	}
	r.s.mu.Lock()
	err := r.s.load()
	r.used = r.s.identities(r.s.names)
	r.s.mu.Unlock()
	if err != nil || len(in.fresh) == 0 {
		return err
	}
	b := durable.NewBatch(r.s.root)
	if _, err := b.Create(receivedFile, func(w *durable.Writer) error { return r.write(ctx, in, w) }); err != nil {
		b.Discard()
		return err
	}
	r.pack = b
	return b.Flush()
}

func (r *Receipt) write(ctx context.Context, in *intake, w *durable.Writer) error {
	out := pack.NewObjectWriter(w, 0, 0, false)
	byPack := map[*pack.Pack][]pack.ID{}
	var order []*pack.Pack
	for _, id := range in.fresh {
		p := in.places[id]
		if byPack[p] == nil {
			order = append(order, p)
		}
		byPack[p] = append(byPack[p], id)
	}
	var err error
	for _, p := range order {
		var object []byte
		err = cmp.Or(err, ctx.Err(), pack.NewIndex(p).Read(byPack[p], func(id pack.ID, piece []byte, last bool) error {
			if object = append(object, piece...); !last {
				return nil
			}
			defer func() { object = object[:0] }()
			return out.Add(id, object)
		}))
	}
	if err = errors.Join(err, out.Flush()); err == nil {
		r.size = out.Bytes()
	}
	return err
}

// Commit adds the states. With [ErrStale] nothing was changed, and the states must be received again.
// The caller ensures that no other process writes to the store. An interrupted Commit may have added
// the states without links; what is missing is added when they are received again.
func (r *Receipt) Commit(ctx context.Context) error {
	defer r.Discard()
	if len(r.states)+len(r.links) == 0 {
		return nil
	}
	if err := cmp.Or(r.s.prepare(), r.check(), ctx.Err()); err != nil {
		return err
	}
	if err := r.s.registerForeign(r.folders); err != nil {
		return err
	}
	if len(r.forgotten) > 0 {
		lines, err := linesOf(r.forgotten, func(id pack.ID) any { return forgotten{id} })
		if err != nil {
			return err
		}
		if _, err := durable.Append(r.s.root, forgottenFile, lines); err != nil {
			return err
		}
	}
	if err := r.name(ctx); err != nil {
		return err
	}
	if len(r.states) > 0 {
		r.states[0].NewBytes = r.size
		lines, err := linesOf(r.states, func(st State) any { return &st })
		if err != nil {
			return err
		}
		if _, err := durable.Append(r.s.root, recordsFile, lines); err != nil {
			return err
		}
	}
	if len(r.links) == 0 {
		return nil
	}
	lines, err := linesOf(r.links, func(l Link) any { return l })
	if err != nil {
		return err
	}
	_, err = durable.Append(r.s.root, linksFile, lines)
	return err
}

func linesOf[T any](list []T, value func(T) any) (all []byte, err error) {
	for _, v := range list {
		record, err := line(value(v))
		if err != nil {
			return nil, err
		}
		all = append(all, record...)
	}
	return all, nil
}

// check returns [ErrStale] if the store may lack an object that the states need, or if content was
// forgotten since, or if one of the states was added.
func (r *Receipt) check() error {
	has, err := r.s.stateIDs()
	if err != nil {
		return err
	}
	if r.s.forgottenCount() != r.count || slices.ContainsFunc(r.Taken, func(id string) bool { return has[id] }) {
		return ErrStale
	}
	for name, was := range r.used {
		if is := r.s.identities([]string{name}); is[name] != was {
			return ErrStale
		}
	}
	return nil
}

// name gives the pack its name.
func (r *Receipt) name(ctx context.Context) error {
	if r.pack == nil {
		return durable.SyncNames(r.s.root, Dir)
	}
	name, err := r.s.nextPack()
	if err != nil {
		return err
	}
	if err := r.pack.Rename(name); err != nil {
		return err
	}
	_, later, err := r.pack.Commit(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrStale // the file was older than maxDraft
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return cmp.Or(err, later, r.s.closePacks())
}

// Discard removes the temporary file.
func (r *Receipt) Discard() {
	if r.pack != nil {
		r.pack.Discard()
	}
}

// registerForeign adds folders of other machines that are not registered, and updates the projects of
// those that are.
func (s *Store) registerForeign(folders []Folder) error {
	list, err := s.Folders()
	if err != nil {
		return err
	}
	changed := false
	for _, f := range folders {
		if f.Machine == "" {
			return fmt.Errorf("folder %s: %w", f.ID, fs.ErrInvalid)
		}
		i := slices.IndexFunc(list, func(k Folder) bool { return k.ID == f.ID })
		switch {
		case i < 0:
			list = append(list, Folder{ID: f.ID, Path: f.Path, Machine: f.Machine, Project: f.Project})
		case list[i].Machine != "" && f.Project != Project{} && list[i].Project != f.Project:
			list[i].Project = f.Project
		default:
			continue
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return s.saveFolders(list)
}
