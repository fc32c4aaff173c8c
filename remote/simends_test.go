package remote_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/remote/internal/faults"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

// TestEndsSimulation: the same when a computer is gone and is retired, another one joins, and conversations are purged
// while the network has faults: in the end nothing of these is in the store but what the one sent that is gone.
func TestEndsSimulation(t *testing.T) {
	for seed := range runs(1, 2, 10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed, 3, faults.Some)
			w.baseEvery = 2 + seed%2*50
			w.run(testsize.Of(30, 30, 50), false)
			gone := w.list[2]
			w.list = w.list[:2]
			w.command(w.list[0], func(r *remote.Remote) error {
				_, err := r.Retire(t.Context(), gone.name)
				return err
			})
			w.join("m3", t.TempDir())
			w.settle()
			for range 2 {
				w.purgeOne(gone.name)
			}
		})
	}
}

// TestLostSimulation: the store loses what a computer sent that is gone and retired; the others, and one that joins then,
// work on without it. When it is there again, all have the same, and nothing is lost.
func TestLostSimulation(t *testing.T) {
	for seed := range runs(1, 2, 10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed, 3, faults.Some)
			w.baseEvery = 2 + seed%2*50
			w.run(testsize.Of(20, 20, 40), false)
			gone := w.list[2]
			objects := lose(t, w.store, string(must(gone.remote().Info()).Machine), w.random.IntN(3))
			w.note(gone, "is gone, with %d objects", len(objects))
			w.list = w.list[:2]
			w.command(w.list[0], func(r *remote.Remote) error {
				_, err := r.Retire(t.Context(), gone.name)
				return err
			})
			w.join("m3", t.TempDir())
			for range 4 {
				w.calm()
			}
			w.net.Resume(faults.Some)
			for range testsize.Of(20, 20, 40) {
				if c := w.list[w.random.IntN(len(w.list))]; w.random.IntN(2) == 0 {
					w.act(c)
				} else {
					w.exchange(c, w.random.IntN(5) == 0)
				}
			}
			w.calm()
			for name, data := range objects {
				if err := w.store.Put(t.Context(), name, data); err != nil {
					t.Fatal(err)
				}
			}
			for range 4 {
				w.calm()
			}
			w.judge()
		})
	}
}

// command has a computer do something with its remote, again and again until no fault keeps it from that.
func (w *world) command(c *computer, do func(*remote.Remote) error) {
	for range 100 {
		w.restart(c)
		r := must(remote.Open(w.t.Context(), c.w, "home", c.opts))
		r.SetBaseEvery(w.baseEvery)
		err := do(r)
		r.Close()
		w.note(c, "commands: %v", err)
		if err == nil {
			return
		}
		stale := errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "does not return it") // what it has just created
		if !errors.Is(err, faults.ErrLost) && !errors.Is(err, faults.ErrCrashed) && !errors.Is(err, fault.Failed) && !stale {
			w.fail("%v", err)
		}
	}
	w.fail("it never succeeds")
}

// purgeOne purges a conversation on one computer while all exchange, and fails if a message of it is left.
func (w *world) purgeOne(gone string) {
	var candidates []mirror.Session
	for _, s := range must(w.list[0].w.Mirror().Facts(w.t.Context(), mirror.Known{})).Sessions {
		if s.Kind == session.Root && len(w.textsOnlyIn(w.list[0], s.ID)) > 0 {
			candidates = append(candidates, s)
		}
	}
	if len(candidates) == 0 {
		return
	}
	s := candidates[w.random.IntN(len(candidates))]
	texts := w.textsOnlyIn(w.list[0], s.ID)
	w.net.Resume(faults.Some)
	by := w.list[w.random.IntN(len(w.list))]
	w.note(by, "purges %s with %q", s.ID, texts)
	w.command(by, func(r *remote.Remote) error {
		_, err := r.Purge(w.t.Context(), s.ID)
		if errors.Is(err, fault.Refused) { // a crash may have been before it was noted what was sent
			_, err = r.Pull(w.t.Context(), remote.PullOptions{})
			return errors.Join(err, faults.ErrLost)
		}
		return err
	})
	for range 10 {
		c := w.list[w.random.IntN(len(w.list))]
		if w.random.IntN(4) == 0 {
			n := must(c.w.New(w.t.Context(), w.title()))
			w.titles[n.ID], w.owners[n.ID] = []string{n.Title}, c.name
		}
		w.exchange(c, w.random.IntN(4) == 0)
	}
	w.settle()
	for _, c := range w.list { // so that all say what they have seen
		must(c.w.New(w.t.Context(), w.title()))
	}
	for range 3 {
		w.sync(w.list...)
	}
	for _, c := range w.list {
		w.command(c, func(r *remote.Remote) error {
			got, err := r.Purge(w.t.Context(), s.ID)
			if err == nil && (!slices.Equal(got.Holders, got.Gone) || len(got.Waiting) > 0 || len(got.Gone) > 0 && !slices.Equal(got.Gone, []string{gone})) {
				w.fail("%s: the purge of %s ends with %+v", c.name, s.ID, got)
			}
			if err == nil && len(got.Gone) == 0 {
				w.lacks(texts)
			}
			return err
		})
	}
}

// textsOnlyIn returns the texts of messages of a session that no other one has, as words that are in no other text.
func (w *world) textsOnlyIn(c *computer, id string) (texts []string) {
	others := map[string]bool{}
	var in []string
	for _, s := range must(c.w.Mirror().Facts(w.t.Context(), mirror.Known{})).Sessions {
		for _, m := range must(c.w.Mirror().Messages(w.t.Context(), s.ID)) {
			if s.ID == id {
				in = append(in, textOf(m))
			} else {
				others[textOf(m)] = true
			}
		}
	}
	return slices.DeleteFunc(in, func(text string) bool { return text == "" || others[text] })
}

// lacks fails if an object in the store has one of the texts as the text of a message.
func (w *world) lacks(texts []string) {
	t := w.t.(*testing.T)
	all := everythingIn(t, w.store, w.key)
	for _, text := range texts {
		if strings.Contains(all, `"`+text+`"`) {
			w.fail("the store still has %q", text)
		}
	}
}

// A team are computers that share conversations over a network with faults.
type team struct {
	*world
	shared  map[string]string // texts in shared lines, their sessions
	private map[string]own    // texts that are not
	lines   []string
}

type own struct{ computer, line string }

// TestShareSimulation: computers that share some conversations, over a network with faults, have the same of these in
// the end, and nothing else of each other.
func TestShareSimulation(t *testing.T) {
	for seed := range runs(1, 2, 10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed, 0, faults.Rates{})
			m := &team{world: w, shared: map[string]string{}, private: map[string]own{}}
			for i := range 3 {
				m.member(fmt.Sprint("m", i))
			}
			w.net.Resume(faults.Some)
			for range testsize.Of(30, 40, 80) {
				c := w.list[w.random.IntN(len(w.list))]
				if w.random.IntN(2) == 0 {
					m.act(c)
				} else {
					got, err := m.exchange(c)
					w.note(c, "exchange: %v, %v", err, got)
					if err != nil && !errors.Is(err, faults.ErrLost) && !errors.Is(err, faults.ErrCrashed) && !errors.Is(err, fault.Failed) && !strings.Contains(err.Error(), "does not return it") {
						w.fail("%v", err)
					}
				}
			}
			m.settle()
		})
	}
}

// member adds a computer, the first of which makes the share, with a conversation of its own.
func (m *team) member(name string) {
	w, ctx := m.world, m.t.Context()
	w.seeds++
	c := &computer{t: w.t, name: name}
	c.w = must(workspace.Open(ctx, w.t.TempDir(), &workspace.Options{Settle: -1, Now: clock(), Random: source(w.seeds), Limit: 6}))
	c.opts.Person = name
	own := must(c.w.New(ctx, "Private of "+name))
	m.say(c, own.ID)
	w.restart(c)
	must(remote.Add(ctx, c.w, "team", remote.AddOptions{URL: "memory:", Key: w.key, Machine: name, OneWriter: true, Share: len(w.list) == 0}, c.opts))
	w.list = append(w.list, c)
	if len(w.list) == 1 {
		s := must(c.w.New(ctx, "Shared"))
		m.lines = append(m.lines, s.ID)
		m.name(c, s.ID)
		m.say(c, s.ID)
	}
}

// name has a computer share a line.
func (m *team) name(c *computer, id string) {
	r := c.team()
	defer r.Close()
	if _, err := r.Share(m.t.Context(), []string{id}); err != nil {
		m.fail("%s shares %s: %v", c.name, id, err)
	}
	m.note(c, "shares %s", id)
}

// say adds a message to a session.
func (m *team) say(c *computer, id string) {
	text := fmt.Sprintf("the text %d.", len(m.shared)+len(m.private))
	a, err := c.w.Append(m.t.Context(), workspace.Append{Session: id, Text: text})
	if err != nil {
		m.fail("%v", err)
	}
	line := must(c.w.Mirror().Line(m.t.Context(), a.Session))
	m.note(c, "says %q in %s of %s", text, a.Session, line)
	if slices.Contains(m.lines, line) {
		m.shared[text] = line
	} else {
		m.private[text] = own{c.name, line}
	}
}

// act does what a user may do: with a conversation of their own, or with a shared one.
func (m *team) act(c *computer) {
	ctx := m.t.Context()
	list := must(c.w.Mirror().Facts(ctx, mirror.Known{})).Sessions
	s := list[m.random.IntN(len(list))]
	shared := slices.Contains(m.lines, s.ID)
	switch n := m.random.IntN(12); {
	case n < 7 && s.Kind == session.Root:
		m.say(c, s.ID)
	case n == 7:
		own := must(c.w.New(ctx, m.title()))
		m.say(c, own.ID)
	case n == 8 && shared:
		must(c.w.Rename(ctx, s.ID, m.title()))
	case n == 9 && s.Kind == session.Root: // a branch is not shared, and has only what is in its source
		_, err := c.w.Branch(ctx, s.ID, workspace.SnapshotOptions{KeepHead: true})
		m.note(c, "branches %s: %v", s.ID, err)
	case n == 10 && !shared && s.Kind == session.Root && len(m.lines) < 4:
		m.lines = append(m.lines, s.ID)
		for text, is := range m.private {
			if is.line == s.ID {
				m.shared[text] = s.ID
				delete(m.private, text)
			}
		}
		m.name(c, s.ID)
	}
}

func (m *team) exchange(c *computer) (*remote.Result, error) {
	client := m.restart(c)
	if m.random.IntN(5) == 0 {
		client.CrashAfter(m.random.IntN(8))
	}
	r := c.team()
	defer r.Close()
	if c.name == "m1" {
		r.SetBaseEvery(3)
	}
	return r.Sync(m.t.Context(), remote.PullOptions{})
}

// settle has all exchange until nothing is new, and judges.
func (m *team) settle() {
	if err := m.net.Settle(); err != nil {
		m.fail("%v", err)
	}
	for round, quiet := 0, false; !quiet; round++ {
		quiet = true
		for _, c := range m.list {
			m.restart(c)
			got := c.syncTeam()
			m.note(c, "settles: %s", said(got, nil))
			if len(got.Unshared)+len(got.Left) > 0 {
				m.fail("%s: %+v", c.name, got)
			}
			quiet = quiet && got.Got.Records+got.Sent.Records == 0
		}
		if round > 12 {
			m.fail("they exchange for ever")
		}
	}
	everything := everythingIn(m.t.(*testing.T), m.store, m.key)
	for text, is := range m.private {
		if strings.Contains(everything, text) {
			m.fail("%q of %s is in the store", text, is.computer)
		}
	}
	titles := map[string]string{}
	for _, c := range m.list {
		has := map[string]string{}
		for _, s := range must(c.w.Mirror().Facts(m.t.Context(), mirror.Known{})).Sessions {
			if slices.Contains(m.lines, s.ID) {
				if title, ok := titles[s.ID]; ok && title != s.Title {
					m.fail("%s is called %q and %q", s.ID, title, s.Title)
				}
				titles[s.ID] = s.Title
			}
			line := must(c.w.Mirror().Line(m.t.Context(), s.ID))
			for _, message := range must(c.w.Mirror().Messages(m.t.Context(), s.ID)) {
				text := textOf(message)
				if is, ok := m.private[text]; ok && is.computer != c.name {
					m.fail("%s has %q of %s", c.name, text, is.computer)
				}
				if slices.Contains(m.lines, line) {
					has[text] = line
				}
			}
		}
		for text, id := range m.shared {
			if has[text] != id {
				m.fail("%s lacks %q of %s", c.name, text, id)
			}
		}
	}
}
