package remote_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/faults"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/mirror"
)

// A world is computers that share a store over a bad network, and what their users did.
type world struct {
	t      testing.TB
	random *rand.Rand
	store  *bucket.Memory
	net    *faults.Network
	key    string
	dir    string // of the folders of projects
	list   []*computer
	seeds  byte

	baseEvery uint64 // records
	copies    bool   // disks are copied while garbage is collected

	wrap  func(*computer, bucket.Store) bucket.Store // the store of a computer that breaks a rule, nil for none
	after func(*computer)                            // called after an exchange without an error, nil for none

	texts  map[string]string // of messages that users added, their sessions
	gone   map[string]bool   // texts that users undid, or removed with their session
	titles map[string][]string
	labels map[string]string // of bookmarks, their messages
	owners map[string]string // of sessions and agents, who made them
	kin    map[string]string // of computers, that of whose disk theirs is a copy
	places map[string]string // of sessions, the folders of their projects
	log    []string

	attached map[string]string // the contents of attachments, by SHA-256

	files  *bool             // see PushOptions
	states map[string]string // that users took, their sessions
}

func newWorld(t testing.TB, seed uint64, n int, rates faults.Rates) *world {
	store := &bucket.Memory{}
	w := &world{
		t: t, random: rand.New(rand.NewPCG(seed, 7)), store: store, net: faults.NewNetwork(store, seed, rates), key: filepath.Join(t.TempDir(), "key"), dir: t.TempDir(),
		texts: map[string]string{}, gone: map[string]bool{}, titles: map[string][]string{}, labels: map[string]string{},
		owners: map[string]string{}, kin: map[string]string{}, places: map[string]string{}, attached: map[string]string{},
		baseEvery: 1 << 30,
	}
	for i := range n {
		w.join(fmt.Sprint("m", i), t.TempDir())
	}
	return w
}

// join adds a computer, whose workspace may have contents already.
func (w *world) join(name, dir string) *computer {
	w.seeds++
	ws, err := workspace.Open(w.t.Context(), dir, &workspace.Options{Settle: -1, Now: clock(), Random: source(w.seeds), Limit: 6})
	if err != nil {
		w.t.Fatal(err)
	}
	c := &computer{t: w.t, w: ws, name: name}
	c.opts.Person = name
	if w.kin[name] == "" {
		w.kin[name] = name
	}
	w.restart(c)
	for range 100 {
		_, err = remote.Add(w.t.Context(), ws, "home", remote.AddOptions{URL: "memory:", Key: w.key, Machine: name, OneWriter: true}, c.opts)
		if err == nil || errors.Is(err, fault.Refused) {
			break
		}
	}
	w.list = append(w.list, c)
	return c
}

// restart gives a computer a new connection.
func (w *world) restart(c *computer) *faults.Client {
	client := w.net.Client()
	var store bucket.Store = client
	if w.wrap != nil {
		store = w.wrap(c, client)
	}
	c.opts.OpenStore = func(context.Context, string) (bucket.Store, error) { return store, nil }
	return client
}

func (w *world) note(c *computer, format string, args ...any) {
	w.log = append(w.log, c.name+": "+fmt.Sprintf(format, args...))
}

// fail reports what happened.
func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.log, "\n"))
}

// exchange does a push, pull or sync, maybe interrupted.
func (w *world) exchange(c *computer, crash bool) {
	client := w.restart(c)
	if crash {
		client.CrashAfter(w.random.IntN(8))
	}
	r, err := remote.Open(w.t.Context(), c.w, "home", c.opts)
	if err != nil {
		w.fail("%v", err)
	}
	defer r.Close()
	r.SetBaseEvery(w.baseEvery)
	if c.name == "m1" {
		r.SetFetchBytes(5000) // it reads in portions
	}
	var result *remote.Result
	verb := w.random.IntN(3)
	switch verb {
	case 0:
		result, err = r.Push(w.t.Context(), remote.PushOptions{Files: w.files})
	case 1:
		result, err = r.Pull(w.t.Context(), remote.PullOptions{Files: w.files, Only: w.only()})
	default:
		result, err = r.Sync(w.t.Context(), remote.PullOptions{Files: w.files, Only: w.only()})
	}
	w.note(c, "exchange %d: %s", verb, said(result, err))
	stale := func(err error) bool { // an answer that does not have what was just created
		return strings.Contains(err.Error(), "does not return it") || strings.Contains(err.Error(), "no longer at memory:")
	}
	if err != nil && !errors.Is(err, faults.ErrLost) && !errors.Is(err, faults.ErrCrashed) && !errors.Is(err, fault.Failed) && !stale(err) {
		w.fail("it fails with %v", err)
	}
	if err == nil && w.after != nil {
		w.after(c)
	}
}

// only returns kinds to apply, mostly all.
func (w *world) only() (kinds []string) {
	if w.random.IntN(4) > 0 {
		return nil
	}
	for _, kind := range remote.Kinds {
		if kind != "files" && w.random.IntN(2) == 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// said returns what an exchange did.
func said(r *remote.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("sent %d, got %d, sessions %v, left %v, conflicts %v, problems %v, renewed %v", r.Sent.Records, r.Got.Records, r.Sessions, r.Left, r.Conflicts, r.Problems, r.Renewed)
}

// act does what a user may do.
func (w *world) act(c *computer) {
	ctx := w.t.Context()
	f, err := c.w.Mirror().Facts(ctx, mirror.Known{})
	if err != nil {
		w.fail("%v", err)
	}
	if w.files != nil && len(f.Sessions) > 0 && w.random.IntN(4) == 0 {
		w.snap(c, f.Sessions[w.random.IntN(len(f.Sessions))])
		return
	}
	what := w.random.IntN(27)
	if what > 25 {
		w.attach(c)
		return
	}
	if what > 23 {
		w.place(c, f)
		return
	}
	if len(f.Sessions) == 0 || what == 0 {
		s := must(c.w.New(ctx, w.title()))
		w.titles[s.ID] = append(w.titles[s.ID], s.Title)
		w.owners[s.ID] = c.name
		w.note(c, "new %s", s.ID)
		return
	}
	s := f.Sessions[w.random.IntN(len(f.Sessions))]
	messages := must(c.w.Mirror().Messages(ctx, s.ID))
	messages = slices.DeleteFunc(messages, func(m mirror.Message) bool { return m.Header })
	var m mirror.Message
	if len(messages) > 0 {
		m = messages[w.random.IntN(len(messages))]
	}
	switch {
	case what < 9:
		parent := ""
		if w.random.IntN(3) == 0 {
			parent = m.ID
		}
		w.append(c, s, parent)
	case what == 9:
		title := w.title()
		if _, err := c.w.Rename(ctx, s.ID, title); err == nil {
			w.titles[s.ID] = append(w.titles[s.ID], title)
			w.note(c, "rename %s %s", s.ID, title)
		}
	case what == 10 && w.random.IntN(2) == 0:
		w.remove(c, f, s)
	case what == 11 && m.ID != "":
		label := fmt.Sprint("l", w.random.IntN(4))
		b, err := c.w.Bookmark(ctx, s.ID+"@"+m.ID, label, workspace.BookmarkOptions{})
		w.note(c, "bookmark %s %s@%s: %v", label, s.ID, m.ID, err)
		if err == nil {
			w.labels[b.Message+" "+label] = b.Session
		}
	case what == 12 && len(f.Bookmarks) > 0:
		b := f.Bookmarks[w.random.IntN(len(f.Bookmarks))]
		_, err := c.w.RemoveBookmark(ctx, b.Label)
		w.note(c, "remove bookmark %s: %v", b.Label, err)
		if label, _, _ := strings.Cut(b.Label, "@"); err == nil {
			delete(w.labels, b.Message+" "+label)
		}
	case what < 15 && m.ID != "":
		x, err := c.w.Checkpoint(ctx, s.ID+"@"+m.ID, workspace.SnapshotOptions{})
		w.note(c, "checkpoint %s@%s: %v", s.ID, m.ID, err)
		if err == nil {
			w.titles[x.ID] = append(w.titles[x.ID], x.Title)
		}
	case what < 17 && m.ID != "":
		x, err := c.w.Branch(ctx, s.ID+"@"+m.ID, workspace.SnapshotOptions{})
		w.note(c, "branch %s@%s: %v", s.ID, m.ID, err)
		if err == nil {
			w.titles[x.ID] = append(w.titles[x.ID], x.Title)
		}
	case what == 17:
		name := fmt.Sprint("agent-", w.random.IntN(3))
		a, err := c.w.Agent(name).Create(ctx, agents.Options{Model: fmt.Sprint("command:echo ", w.random.IntN(100))})
		w.note(c, "create %s: %v", name, err)
		if err == nil {
			w.owners[a.ID] = c.name
		}
	case what < 20 && len(f.Agents) > 0:
		w.agentActs(c, f.Agents[w.random.IntN(len(f.Agents))])
	case what == 20 && m.ID != "":
		_, err := c.w.Rewind(ctx, s.ID+"@"+m.ID, cut)
		w.note(c, "rewind %s@%s: %v", s.ID, m.ID, err)
	case what > 20:
		w.undo(c)
	}
}

// attach has an attachment that is new, or that another computer may have too.
func (w *world) attach(c *computer) {
	content := fmt.Appendf(nil, "attachment %d %s", w.random.IntN(20), strings.Repeat("x", w.random.IntN(2)*70_000))
	sum := sha256.Sum256(content)
	name := hex.EncodeToString(sum[:])
	put(w.t, c.w.Dir(), "files/"+name, string(content))
	w.attached[name] = string(content)
	w.note(c, "attach %s", name)
}

// place has a conversation that began in a folder, or a name for such a folder.
func (w *world) place(c *computer, f *mirror.Facts) {
	ctx := w.t.Context()
	folder := fmt.Sprint("f", w.random.IntN(3))
	dir := filepath.Join(w.dir, w.kin[c.name], folder)
	if w.random.IntN(2) == 0 {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			w.fail("%v", err)
		}
		_, err := c.w.MapProject(ctx, "project-"+folder, dir)
		w.note(c, "map %s: %v", folder, err)
		return
	}
	id := fmt.Sprintf("session_20260525_153200_%08x", w.random.Uint32())
	shell := fmt.Appendf(nil, `{"id":%q,"created_at":"2026-05-25T15:32:00.000000+00:00","metadata":{"directory":%q,"continued_from":[]},"messages":[],`+
		`"llm_request_lifecycles":[],"tool_call_records":[],"tool_result_records":[]}`, id, filepath.Join(dir, "sub"))
	done, err := c.w.Mirror().Apply(ctx, mirror.Changes{New: []mirror.NewSession{{Session: mirror.Session{ID: id, Shell: shell, Title: "Placed"}}}})
	if err != nil || len(done.Left) > 0 {
		w.fail("%+v: %v", done, err)
	}
	w.note(c, "place %s in %s", id, dir)
	w.titles[id], w.owners[id], w.places[id] = []string{"Placed"}, c.name, folder
}

func (w *world) title() string { return fmt.Sprint("title ", w.random.IntN(1000)) }

func (w *world) append(c *computer, s mirror.Session, parent string) {
	text := fmt.Sprintf("text %d", len(w.texts))
	a, err := c.w.Append(w.t.Context(), workspace.Append{Session: s.ID, Text: text, Parent: parent})
	w.note(c, "append %q to %s below %q: %v", text, s.ID, parent, err)
	if err == nil {
		w.texts[text] = a.Session
		if w.titles[a.Session] == nil { // a fork or a continuation
			w.titles[a.Session] = []string{""}
			list := must(c.w.Mirror().Facts(w.t.Context(), mirror.Known{}))
			for _, one := range list.Sessions {
				if one.ID == a.Session {
					w.titles[a.Session] = append(w.titles[a.Session], one.Title)
				}
			}
		}
	}
}

// textsIn returns the texts of the messages that a computer has in sessions.
func (w *world) textsIn(c *computer) map[string]bool {
	texts := map[string]bool{}
	f := must(c.w.Mirror().Facts(w.t.Context(), mirror.Known{}))
	for _, s := range f.Sessions {
		for _, m := range must(c.w.Mirror().Messages(w.t.Context(), s.ID)) {
			if s.Kind == session.Root || s.Kind == session.Continuation || w.own(s.ID, m) {
				texts[textOf(m)] = true
			}
		}
	}
	return texts
}

// own reports whether a message was added to a session, and not copied to it.
func (w *world) own(id string, m mirror.Message) bool { return w.texts[textOf(m)] == id }

// lost marks what a user's action took away from a computer, if do returns true.
func (w *world) lost(c *computer, do func() bool) {
	before := w.textsIn(c)
	if !do() {
		return
	}
	after := w.textsIn(c)
	for text := range before {
		if !after[text] {
			w.gone[text] = true
			w.note(c, "takes away %q", text)
		}
	}
	for text := range after {
		if !before[text] {
			delete(w.gone, text)
			w.note(c, "brings back %q", text)
		}
	}
}

func (w *world) remove(c *computer, f *mirror.Facts, s mirror.Session) {
	w.lost(c, func() bool {
		_, err := c.w.Remove(w.t.Context(), s.ID, workspace.RemoveOptions{Line: w.random.IntN(2) == 0, Force: w.random.IntN(2) == 0})
		w.note(c, "rm %s: %v", s.ID, err)
		return true
	})
}

func (w *world) undo(c *computer) {
	w.lost(c, func() bool {
		done, err := c.w.Undo(w.t.Context(), history.UndoOptions{})
		w.note(c, "undo: %v %v", done, err)
		pull := err == nil && done.Operations[0].Args["verb"] == "pull"
		return !pull // what the undo of a pull takes away, the next one brings back
	})
	// What an undo brings back or takes away of titles and bookmarks is not judged.
	for key := range w.labels {
		delete(w.labels, key)
	}
	f := must(c.w.Mirror().Facts(w.t.Context(), mirror.Known{}))
	for _, s := range f.Sessions {
		w.titles[s.ID] = append(w.titles[s.ID], s.Title)
	}
}

func (w *world) agentActs(c *computer, a mirror.Agent) {
	ctx := w.t.Context()
	g := c.w.Agent(a.Name)
	var err error
	what := w.random.IntN(4)
	switch what {
	case 0:
		_, err = g.Rewind(ctx, a.Head.Session+"@first", cut)
	case 1:
		model := fmt.Sprint([]string{"model-", "command:echo "}[w.random.IntN(2)], w.random.IntN(100))
		_, err = g.Set(ctx, agents.Change{Model: &model})
	case 2:
		w.append(c, mirror.Session{ID: a.Head.Session}, "")
	case 3:
		_, err = g.Remove(ctx)
	}
	w.note(c, "agent %s %d: %v", a.Name, what, err)
}

// copyOf adds a computer with a copy of the disk of another one.
func (w *world) copyOf(c *computer) {
	dir := filepath.Join(w.t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(c.w.Dir())); err != nil {
		w.fail("%v", err)
	}
	name := fmt.Sprint("m", len(w.list))
	w.kin[name] = w.kin[c.name]
	w.log = append(w.log, name+" is a copy of "+c.name)
	w.join(name, dir)
}

// run simulates.
func (w *world) run(steps int, copies bool) {
	for range steps {
		c := w.list[w.random.IntN(len(w.list))]
		switch n := w.random.IntN(20); {
		case n < 12:
			w.act(c)
		case n < 19 || !copies:
			w.exchange(c, w.random.IntN(5) == 0)
		case len(w.list) < 8 && (w.baseEvery > 100 || w.copies && w.random.IntN(2) == 0):
			w.copyOf(c)
		case len(w.list) < 8:
			w.log = append(w.log, fmt.Sprintf("m%d joins", len(w.list)))
			w.join(fmt.Sprint("m", len(w.list)), w.t.TempDir())
		}
	}
	w.settle()
}

// more is how many times as many runs of each kind a full test has.
var more = flag.Int("more", 1, "")

// runs returns how many runs a test of the simulation has.
func runs(short, plain, full int) uint64 { return uint64(testsize.Of(short, plain, full**more)) }

// TestSimulation: computers that work at the same time, over a network with faults, with processes
// that crash and disks that are copied, have the same in the end, and nothing that a user did is lost.
func TestSimulation(t *testing.T) {
	for seed := range runs(1, 1, 12) {
		t.Run(fmt.Sprint("3/", seed), func(t *testing.T) {
			t.Parallel()
			newWorld(t, seed, 3, faults.Some).run(testsize.Of(30, 40, 60), true)
		})
	}
	for seed := range runs(1, 1, 4) {
		t.Run(fmt.Sprint("6/", seed), func(t *testing.T) {
			t.Parallel()
			newWorld(t, seed, 6, faults.Some).run(testsize.Of(40, 50, 100), true)
		})
	}
}

// snap changes a folder of a computer, and takes a state of it for a session.
func (w *world) snap(c *computer, s mirror.Session) {
	dir := filepath.Join(filepath.Dir(c.w.Dir()), "folder-"+c.name)
	put(w.t, dir, fmt.Sprint("f", w.random.IntN(4)), fmt.Sprintf("content %d %s", w.random.IntN(6), strings.Repeat("x", w.random.IntN(2)*70_000)))
	st, err := c.w.Folder(dir).Snap(w.t.Context(), s.ID, files.SnapOptions{})
	w.note(c, "snap for %s: %v", s.ID, err)
	if err == nil && st.Message != "" && s.Kind != session.Checkpoint {
		w.states[st.ID] = string(st.Session)
	}
}

// TestFilesSimulation: the same with states of files, of which none is lost or comes in parts.
func TestFilesSimulation(t *testing.T) {
	for seed := range runs(1, 2, 8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed, 3, faults.Some)
			w.files, w.states = withFiles(), map[string]string{}
			if seed%2 == 1 {
				w.baseEvery = 2
			}
			w.run(testsize.Of(40, 40, 60), true)
			for _, c := range w.list {
				w.judgeStates(c)
			}
		})
	}
}

// judgeStates compares what users took with what a computer has.
func (w *world) judgeStates(c *computer) {
	has := map[string]bool{}
	for _, st := range c.states() {
		has[st.ID] = true
		if _, err := c.w.Folder("").Show(w.t.Context(), st.ID, "."); err != nil {
			w.fail("%s: the state %s: %v", c.name, st.ID, err)
		}
	}
	for _, s := range must(c.w.Mirror().Facts(w.t.Context(), mirror.Known{})).Sessions {
		for id, session := range w.states {
			if session == s.ID && !has[id] {
				w.fail("%s lacks the state %s of %s", c.name, id, s.ID)
			}
		}
	}
}

// TestGarbage: the same while garbage is collected, and computers join later. In every second run, disks
// are copied too.
func TestGarbage(t *testing.T) {
	for seed := range runs(1, 2, 8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed, 3, faults.Some)
			w.baseEvery, w.copies = 2, seed%2 == 1
			w.run(testsize.Of(40, 50, 80), true)
		})
	}
}

// TestOverwrite: a store that ignores that objects are to be created does no harm, as long as no disk
// is copied.
func TestOverwrite(t *testing.T) {
	for seed := range runs(1, 1, 8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rates := faults.Some
			rates.Overwrite = true
			newWorld(t, seed, 3, rates).run(testsize.Of(30, 40, 50), false)
		})
	}
}
