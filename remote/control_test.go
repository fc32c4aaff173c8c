package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/faults"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/mirror"
)

// A control is a rule that computers break, and what they do so that it shows.
type control struct {
	name  string
	rule  func(*world)
	acts  func(*world, []*computer)
	fails string // how it fails, a regular expression

	overwrite bool // the store ignores that objects are to be created
	garbage   bool // it is collected
	copies    bool // of disks; a simulation with them or with garbage breaks the rule often
}

var controls = []control{
	{name: "labels dropped by name", rule: labelsByName, acts: labels, fails: "the bookmark .* is lost"},
	{name: "removal wins", rule: removalWins, acts: removal, fails: "is lost"},
	{name: "any name that exists believed", rule: believeExists, acts: twins, fails: "is lost|differ|exchange for ever", copies: true},
	{name: "create-only ignored", acts: twins, fails: "is lost|differ|exchange for ever", overwrite: true, copies: true},
	{name: "garbage without acknowledgements", rule: collectUnseen, acts: absence, fails: "is lost|differ|exchange for ever|not all of the remote could be read", garbage: true},
	{name: "creation trusted", rule: trustCreation, acts: freed, fails: "is lost|differ|exchange for ever"},
	{name: "titles left out of bases", rule: forgetTitles, acts: newcomer, fails: "differ|is called", garbage: true},
}

// TestControls: a simulation with a broken rule fails, so it would show if the rule were not kept. Where computers
// do the same and keep the rule, nothing fails. That registers do not go by arrival shows in package join: a
// workspace whose title is not that of the state has it sent, so all come to have one.
func TestControls(t *testing.T) {
	for _, c := range controls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			acts := func(w *world) {
				c.acts(w, w.list)
				w.settle()
			}
			if why := c.simulate(t, 0, true, acts); why == "" {
				t.Error("it does not fail")
			}
			kept := c // the run at random has c at the same time
			kept.rule, kept.overwrite = nil, false
			if why := kept.simulate(t, 0, false, acts); why != "" {
				t.Errorf("with the rule, it fails: %s", why)
			}
		})
		if testsize.Full() && (c.copies || c.garbage) {
			t.Run(c.name+"/at random", func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(20) {
					if why := c.simulate(t, seed, true, func(w *world) { w.run(40, true) }); why != "" {
						t.Logf("seed %d: %s", seed, why)
						return
					}
				}
				t.Error("no run fails")
			})
		}
	}
}

// simulate returns why a simulation fails, "" if it does not.
func (c control) simulate(t *testing.T, seed uint64, broken bool, do func(*world)) string {
	v := &witness{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rates := faults.Some
		rates.Overwrite = c.overwrite
		w := newWorld(v, seed, 3, rates)
		if c.garbage {
			w.baseEvery = 2
		}
		if c.rule != nil {
			c.rule(w)
		}
		do(w)
	}()
	<-done
	if broken && v.why != "" && !regexp.MustCompile(c.fails).MatchString(v.why) {
		t.Errorf("seed %d fails otherwise: %s", seed, v.why)
	}
	return v.why
}

// sync has computers exchange, without faults.
func (w *world) sync(list ...*computer) {
	if err := w.net.Settle(); err != nil {
		w.fail("%v", err)
	}
	for _, c := range list {
		w.restart(c)
		r := must(remote.Open(w.t.Context(), c.w, "home", c.opts))
		r.SetBaseEvery(w.baseEvery)
		result, err := r.Sync(w.t.Context(), remote.PullOptions{})
		r.Close()
		w.note(c, "syncs: %s", said(result, err))
		if err == nil && w.after != nil {
			w.after(c)
		}
	}
}

// begin has a conversation of two messages on all computers.
func (w *world) begin(list []*computer) mirror.Session {
	s := must(list[0].w.New(w.t.Context(), "title 0"))
	w.titles[s.ID], w.owners[s.ID] = []string{s.Title}, list[0].name
	in := mirror.Session{ID: s.ID}
	w.append(list[0], in, "")
	w.append(list[0], in, "")
	w.sync(list...)
	return in
}

// labels: two computers give a label to two messages, and a third one removes one of them.
func labels(w *world, list []*computer) {
	s := w.begin(list)
	for i, c := range list[:2] {
		m := must(c.w.Mirror().Messages(w.t.Context(), s.ID))[i]
		must(c.w.Bookmark(w.t.Context(), s.ID+"@"+m.ID, "here", workspace.BookmarkOptions{}))
		w.labels[m.ID+" here"] = s.ID
	}
	w.sync(list...)
	b := must(list[2].w.Mirror().Facts(w.t.Context(), mirror.Known{})).Bookmarks[0]
	must(list[2].w.RemoveBookmark(w.t.Context(), b.Label))
	delete(w.labels, b.Message+" here")
}

// removal: a computer removes a conversation, and another one continues it.
func removal(w *world, list []*computer) {
	s := w.begin(list)
	w.lost(list[0], func() bool {
		must(list[0].w.Remove(w.t.Context(), s.ID, workspace.RemoveOptions{}))
		return true
	})
	w.append(list[1], s, "")
}

// twins: a disk is copied, and both computers continue.
func twins(w *world, list []*computer) {
	s := w.begin(list)
	w.copyOf(list[0])
	for _, c := range []*computer{list[0], list[1], w.list[3]} {
		w.append(c, s, "")
		w.sync(c)
	}
}

// absence: a computer is away while the others collect garbage.
func absence(w *world, list []*computer) {
	s := w.begin(list)
	for range 4 {
		w.append(list[0], s, "")
		w.sync(list[:2]...)
	}
}

// newcomer: a computer joins when garbage was collected.
func newcomer(w *world, list []*computer) {
	s := w.begin(list)
	for range 4 {
		for _, c := range list {
			w.append(c, s, "")
		}
		w.sync(list...)
	}
	w.join("m3", w.t.TempDir())
}

// freed: a disk is copied, and one of both uses numbers and deletes them as garbage, before the other one uses them.
func freed(w *world, list []*computer) {
	w.baseEvery = 2
	s := w.begin(list)
	w.sync(list...)
	w.copyOf(list[0])
	twin := w.list[len(list)]
	own := fmt.Sprintf("m/%s/", must(twin.remote().Info()).Machine)
	last := func() (name string) {
		for _, o := range must(w.store.List(w.t.Context(), bucket.ListOptions{Prefix: own})) {
			if isRecord(o.Name) {
				name = max(name, o.Name)
			}
		}
		return name
	}
	var n int
	must(fmt.Sscanf(path.Base(last()), "%d", &n))
	next := fmt.Sprintf("%s%08d", own, n+1)
	for range 10 {
		for _, c := range list {
			w.append(c, s, "")
			w.sync(c)
		}
		if _, err := w.store.Get(w.t.Context(), next); err != nil && last() > next {
			break // it was used, and is free again
		}
	}
	w.append(twin, s, "")
	w.restart(twin)
	r := must(remote.Open(w.t.Context(), twin.w, "home", twin.opts))
	defer r.Close()
	for range 100 { // over the bad network
		if _, err := r.Push(w.t.Context(), remote.PushOptions{}); err == nil {
			break
		}
	}
	if _, err := w.store.Get(w.t.Context(), next); err != nil {
		w.fail("the twin did not use %s: the store has %v", next, must(w.store.List(w.t.Context(), bucket.ListOptions{Prefix: own})))
	}
}

// A trusting store shows no base to who asks for the bases of one machine, which is how a machine learns that the numbers
// of its records had been used.
type trusting struct{ bucket.Store }

func (s trusting) List(ctx context.Context, o bucket.ListOptions) ([]bucket.Object, error) {
	if strings.HasSuffix(o.Prefix, "/base-") {
		return nil, nil
	}
	return s.Store.List(ctx, o)
}

func trustCreation(w *world) {
	w.wrap = func(_ *computer, s bucket.Store) bucket.Store { return trusting{s} }
}

// A witness notes why a simulation fails, and the test goes on.
type witness struct {
	testing.TB
	why string
}

func (v *witness) Fatal(args ...any) { v.Fatalf("%s", fmt.Sprint(args...)) }

func (v *witness) Fatalf(format string, args ...any) {
	v.why, _, _ = strings.Cut(fmt.Sprintf(format, args...), "\n")
	runtime.Goexit()
}

// A reader notes the records that a computer gets.
type reader struct {
	bucket.Store
	mu   sync.Mutex
	list []string // their names
	seen map[string]bool
}

func (r *reader) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := r.Store.Get(ctx, name)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && isRecord(name) && !r.seen[name] {
		r.seen[name] = true
		r.list = append(r.list, name)
	}
	return data, err
}

func (r *reader) Put(ctx context.Context, name string, data []byte) error {
	r.mu.Lock()
	r.seen[name] = true // its own ones
	r.mu.Unlock()
	return r.Store.Put(ctx, name, data)
}

func isRecord(name string) bool {
	return strings.HasPrefix(name, "m/") && !strings.HasPrefix(path.Base(name), "base-")
}

func isBase(name string) bool {
	return strings.HasPrefix(name, "m/") && strings.HasPrefix(path.Base(name), "base-")
}

// arrivals has do called after each exchange with the operations that it got, in the order of their arrival.
func (w *world) arrivals(do func(*computer, record.Op)) {
	readers := map[*computer]*reader{}
	w.wrap = func(c *computer, s bucket.Store) bucket.Store {
		if readers[c] == nil {
			readers[c] = &reader{seen: map[string]bool{}}
		}
		readers[c].Store = s
		return readers[c]
	}
	w.after = func(c *computer) {
		list := readers[c].list
		readers[c].list = nil
		for _, name := range list {
			for _, op := range w.record(name).Ops {
				do(c, op)
			}
		}
	}
}

// record returns a record in the store, which has all.
func (w *world) record(name string) *record.Record {
	var public []byte
	if path.Base(name) != "00000001" {
		public = w.record(path.Dir(name) + "/00000001").Key
	}
	key := must(seal.ReadKeyFile(w.key))
	r, _, err := seal.DecodeRecord(must(key.Open(must(w.store.Get(w.t.Context(), name)), seal.MaxRecord)), public)
	return must(r, err)
}

// removalWins removes a session that was removed elsewhere, whatever was added to it.
func removalWins(w *world) {
	w.arrivals(func(c *computer, op record.Op) {
		if id, ok := strings.CutPrefix(op.Entity, "session/"); ok && op.Do == record.Remove {
			_, _ = c.w.Remove(w.t.Context(), id, workspace.RemoveOptions{Line: true, Force: true}) // it may be removed
		}
	})
}

// labelsByName removes all bookmarks with a label that was removed from one message elsewhere.
func labelsByName(w *world) {
	w.arrivals(func(c *computer, op record.Op) {
		if op.Entity != "bookmarks" || op.Do != record.Drop {
			return
		}
		for _, stamp := range op.Stamps {
			added := w.record(fmt.Sprintf("m/%s/%08d", stamp.Machine, stamp.Seq)).Ops[stamp.Index]
			for _, b := range must(c.w.Mirror().Facts(w.t.Context(), mirror.Known{})).Bookmarks {
				if label, _, _ := strings.Cut(b.Label, "@"); label == gjson.GetBytes(added.Value, "label").Str {
					_ = must(c.w.RemoveBookmark(w.t.Context(), b.Label))
				}
			}
		}
	})
}

// A believer takes a name that exists for its own success, and does not look.
type believer struct {
	bucket.Store
	mu  sync.Mutex
	put map[string][]byte
}

func (b *believer) Put(ctx context.Context, name string, data []byte) error {
	err := b.Store.Put(ctx, name, data)
	if err != nil && !errors.Is(err, bucket.ErrExists) {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put[name] = data
	return nil
}

func (b *believer) Get(ctx context.Context, name string) ([]byte, error) {
	b.mu.Lock()
	data, ok := b.put[name]
	b.mu.Unlock()
	if ok {
		return data, nil
	}
	return b.Store.Get(ctx, name)
}

func believeExists(w *world) {
	believers := map[*computer]*believer{}
	w.wrap = func(c *computer, s bucket.Store) bucket.Store {
		if believers[c] == nil {
			believers[c] = &believer{put: map[string][]byte{}}
		}
		believers[c].Store = s
		return believers[c]
	}
}

// A collector deletes records as soon as there is a base of them, and reads a base only of a stream that
// is new to it.
type collector struct {
	bucket.Store
	all bucket.Store // without faults
	mu  sync.Mutex
	has map[string]bool // the folders of streams that it has read
}

func (c *collector) Put(ctx context.Context, name string, data []byte) error {
	if err := c.Store.Put(ctx, name, data); err != nil || !isBase(name) {
		return err
	}
	list, err := c.all.List(ctx, bucket.ListOptions{Prefix: path.Dir(name) + "/"})
	for _, o := range list {
		if isRecord(o.Name) && path.Base(o.Name) <= strings.TrimPrefix(path.Base(name), "base-") {
			err = errors.Join(err, c.all.Delete(ctx, o.Name))
		}
	}
	return err
}

func (c *collector) Get(ctx context.Context, name string) ([]byte, error) {
	if c.hides(name) {
		return nil, &fs.PathError{Op: "get", Path: name, Err: fs.ErrNotExist}
	}
	data, err := c.Store.Get(ctx, name)
	if err == nil && strings.HasPrefix(name, "m/") {
		c.mu.Lock()
		c.has[path.Dir(name)] = true
		c.mu.Unlock()
	}
	return data, err
}

func (c *collector) List(ctx context.Context, o bucket.ListOptions) ([]bucket.Object, error) {
	list, err := c.Store.List(ctx, o)
	return slices.DeleteFunc(list, func(o bucket.Object) bool { return c.hides(o.Name) }), err
}

func (c *collector) hides(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return isBase(name) && c.has[path.Dir(name)]
}

func collectUnseen(w *world) {
	collectors := map[*computer]*collector{}
	w.wrap = func(c *computer, s bucket.Store) bucket.Store {
		if collectors[c] == nil {
			collectors[c] = &collector{all: w.store, has: map[string]bool{}}
		}
		collectors[c].Store = s
		return collectors[c]
	}
}

// A titleless stores bases without titles.
type titleless struct {
	bucket.Store
	key *seal.KeyFile
	dir string // of the remote in the workspace
}

func (s titleless) Put(ctx context.Context, name string, data []byte) error {
	if !isBase(name) {
		return s.Store.Put(ctx, name, data)
	}
	base := must(seal.DecodeBase(must(s.key.Open(data, seal.MaxBase)), nil))
	lines := strings.Split(string(base.Content), "\n")
	for i, line := range lines {
		if gjson.Get(line, "r.title").Exists() {
			lines[i] = must(sjson.Delete(line, "r.title"))
		}
	}
	base.Content = []byte(strings.Join(lines, "\n"))
	var machine struct{ Secret []byte }
	must(0, json.Unmarshal(must(os.ReadFile(filepath.Join(s.dir, "machine.json"))), &machine))
	return s.Store.Put(ctx, name, must(s.key.Seal(must(seal.EncodeBase(base, must(seal.ParseSigner(machine.Secret)))))))
}

func forgetTitles(w *world) {
	key := must(seal.ReadKeyFile(w.key))
	w.wrap = func(c *computer, s bucket.Store) bucket.Store {
		return titleless{s, key, filepath.Join(c.w.Dir(), ".bough", "remotes", "home")}
	}
}
