package states

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
)

// A Request is a state to be taken.
type Request struct {
	State   State         // without what the scan finds: Tree, Files, Bytes, NewBytes and Coverage
	Dir     string        // path of the folder
	Scan    scan.Options  // with the rules
	Secrets bool          // the rules hold secrets
	Sources []scan.Source // the files with patterns outside of the folder
	// Deciding, after the scan, returns the files in the folder that the rules depend on
	// although the tree may not have them. If nil, there are none.
	Deciding func() []scan.Source
	// Accept is called when everything that the state needs is durable, before the state
	// exists. After an error there is no state. If nil, every state is accepted.
	Accept func(*State) error
	Damage func(error) // if not nil, it is called with damage that does not prevent the state
	Memo   *Memo       // of an earlier draft of the folder, or nil
	Once   bool        // no other state of the folder follows, so nothing is cached for it
}

// errNothing ends the writing of a pack without objects.
var errNothing = errors.New("no new objects")

// Take takes a state: a [Store.Draft] and its commit. After an error there is no state. The ID
// must be new.
func (s *Store) Take(ctx context.Context, r Request) (*State, error) {
	d, err := s.Draft(ctx, r)
	if err != nil {
		return nil, err
	}
	return d.Commit(ctx)
}

// A taking is a state that is being taken.
type taking struct {
	*Store
	Request
	state    State
	last     *State // the state of the cache
	cache    *scan.Cache
	result   *scan.Result
	deciding []scan.Source
	err      error                       // of the packs
	used     map[string]durable.Identity // the packs whose objects are known; nil if none were needed
}

// write writes the pack.
func (t *taking) write(ctx context.Context, found *scan.Scan, w io.Writer) (err error) {
	out := pack.NewObjectWriter(w, 0, 0, t.last == nil)
	err = t.writeObjects(ctx, found, out)
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if t.state.NewBytes = out.Bytes(); out.Bytes() == 0 {
		return errNothing
	}
	return nil
}

func (t *taking) writeObjects(ctx context.Context, found *scan.Scan, out *pack.ObjectWriter) (err error) {
	if t.result == nil {
		if t.result, err = found.Store(ctx, out, t.knows); err != nil {
			return err
		}
	}
	coverage, err := t.describe()
	if err != nil {
		return err
	}
	t.state.Coverage = pack.IDOf(coverage)
	objects := [][]byte{coverage}
	for _, source := range t.Sources {
		objects = append(objects, source.Data)
	}
	for _, source := range t.deciding {
		if len(source.Data) > 0 {
			objects = append(objects, source.Data)
		}
	}
	written := map[pack.ID]bool{}
	for _, data := range objects {
		id := pack.IDOf(data)
		if written[id] || t.knows(id) {
			continue
		}
		if err := out.Add(id, data); err != nil {
			return err
		}
		written[id] = true
	}
	return t.err
}

// describe fills the state in and returns its coverage.
func (t *taking) describe() ([]byte, error) {
	t.state.Tree, t.state.Files, t.state.Bytes = t.result.Tree, t.result.Files, t.result.Bytes
	limits := t.Scan.WithDefaults()
	c := Coverage{Left: t.result.Left, Rules: Rules{
		Secrets: t.Secrets, File: limits.File, FolderFiles: limits.FolderFiles, FolderBytes: limits.FolderBytes, Sources: []RuleSource{},
	}}
	for _, source := range t.Sources {
		c.Rules.Sources = append(c.Rules.Sources, RuleSource{source.Name, pack.IDOf(source.Data)})
	}
	if t.Deciding != nil {
		t.deciding = t.Deciding()
	}
	for _, source := range t.deciding {
		c.Rules.Deciding = append(c.Rules.Deciding, entryOf(source))
	}
	if c.Left == nil {
		c.Left = []scan.Left{}
	}
	return json.Marshal(c)
}

// knows reports whether the store has an object.
func (t *taking) knows(id pack.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(); err != nil {
		t.err = err
		return false
	}
	if t.used == nil {
		t.used = t.identities(t.names)
	}
	_, ok := t.index.Size(id)
	return ok
}

// prepare makes the folder, and removes what an interrupted change left.
func (s *Store) prepare() error {
	if err := durable.MakeDir(s.root, Dir); err != nil {
		return err
	}
	entries, err := durable.ReadDir(s.root, Dir)
	if err != nil {
		return err
	}
	var temps []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), durable.TempSuffix) && !isDraft(e) {
			temps = append(temps, path.Join(Dir, e.Name()))
		}
	}
	if err := durable.Remove(s.root, temps...); err != nil {
		return err
	}
	return s.loadRefused()
}

// nextPack returns the name of a new pack.
func (s *Store) nextPack() (string, error) {
	names, err := s.packNames()
	last := 0
	for _, name := range names {
		n, _ := packNumber(name)
		last = max(last, n)
	}
	return path.Join(Dir, packName(last+1)), err
}

// maxCache is the maximum size of a cache in bytes.
const maxCache = 1 << 31

func (t *taking) cacheName() string { return path.Join(t.cacheDir, t.state.Folder) }

// openCache reads the cache of the folder: a line with the id of the state that it was made
// with and the packs of then, and the bytes of a [scan.Cache]. It is valid as long as that state
// exists and no pack was lost, because then its objects exist. openCache refuses an id that is
// in use.
func (t *taking) openCache() error {
	list, err := t.States()
	if _, ok := errors.AsType[*RecordError](err); err != nil && !ok {
		return err
	}
	if t.unknown > 0 {
		err = cmp.Or(err, errors.New(forgottenFile+" is damaged: which content was deleted permanently is not completely known"))
	}
	if err != nil && t.Damage != nil {
		t.Damage(err)
	}
	byID := make(map[string]*State, len(list))
	for _, st := range list {
		byID[st.ID] = st
	}
	if byID[t.state.ID] != nil {
		return fmt.Errorf("state %s: %w", t.state.ID, fs.ErrExist)
	}
	if t.recall(byID) {
		return nil
	}
	f, err := durable.OpenCache(t.root, t.cacheName(), maxCache)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil
	}
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	id, packs, _ := bytes.Cut(head, []byte(" "))
	st := byID[string(id)]
	if st == nil || st.Folder != t.state.Folder {
		return nil
	}
	cache, err := scan.ParseCache(rest)
	if err != nil || cache.Tree() != st.Tree {
		return nil
	}
	var had packSizes
	json.Unmarshal(packs, &had) // without them, all trees are read
	if !t.isComplete(st, had) {
		return nil
	}
	t.last, t.cache = st, cache
	return nil
}

// saveCache writes the cache of the next scan. Without it, that reads all files.
func (t *taking) saveCache() {
	if t.result.Cache == nil || t.Scan.Changed != nil || t.Once {
		return
	}
	packs, err := json.Marshal(t.sizes())
	if err == nil {
		durable.Cache(t.root, t.cacheDir, t.cacheName(), []byte(t.state.ID+" "), packs, []byte("\n"), t.result.Cache)
	}
}

// dropCaches removes all caches.
func (s *Store) dropCaches() error {
	entries, err := durable.ReadDir(s.root, s.cacheDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		err = cmp.Or(err, s.root.Remove(path.Join(s.cacheDir, e.Name())))
	}
	return err
}
