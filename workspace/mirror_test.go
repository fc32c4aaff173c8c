package workspace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// A machine is a workspace of a test that exchanges its contents with another one. Its clock is
// that of all machines, so that no two messages have the same time.
type machine struct {
	*space
	base *mirror.Facts // after the last exchange, nil before the first
}

// machines returns workspaces with ids of their own.
func machines(t testing.TB, limit, n int) (list []*machine) {
	var clock atomic.Int64
	for i := range n {
		s := &space{t: t}
		w, err := workspace.Open(t.Context(), t.TempDir(), &workspace.Options{
			Limit: limit, Settle: -1, Random: rand.NewChaCha8([32]byte{byte(i + 1)}),
			Now: func() time.Time {
				return time.Date(2026, 5, 25, 15, 32, 0, 0, time.UTC).Add(time.Duration(clock.Add(1)) * time.Second)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Workspace = w
		list = append(list, &machine{space: s})
	}
	return list
}

func (m *machine) facts(known mirror.Known) *mirror.Facts {
	m.t.Helper()
	f, err := m.Mirror().Facts(m.t.Context(), known)
	if err != nil {
		m.t.Fatal(err)
	}
	return f
}

func (m *machine) messages(id string) []mirror.Message {
	m.t.Helper()
	list, err := m.Mirror().Messages(m.t.Context(), id)
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

func (m *machine) apply(c mirror.Changes) *mirror.Applied {
	m.t.Helper()
	c.Remote = "home"
	done, err := m.Mirror().Apply(m.t.Context(), c)
	if err != nil {
		m.t.Fatal(err)
	}
	return done
}

func sessionIn(f *mirror.Facts, id string) *mirror.Session {
	if f == nil {
		return nil
	}
	if i := slices.IndexFunc(f.Sessions, func(s mirror.Session) bool { return s.ID == id }); i >= 0 {
		return &f.Sessions[i]
	}
	return nil
}

// changes returns what another machine has to receive from m, which has the facts is; the other one
// has the facts has.
func (m *machine) changes(is, has *mirror.Facts, base *mirror.Facts) (c mirror.Changes) {
	for _, s := range is.Sessions {
		there, was := sessionIn(has, s.ID), sessionIn(m.base, s.ID)
		switch {
		case s.Auto:
		case there != nil:
			messages := slices.DeleteFunc(m.messages(s.ID), func(m mirror.Message) bool {
				return slices.ContainsFunc(has.Since, func(o mirror.Operation) bool {
					return slices.Contains(o.Undone, mirror.Ref{Session: s.ID, Message: m.ID})
				})
			})
			c.Messages = append(c.Messages, mirror.NewMessages{Session: s.ID, Messages: messages})
			if was != nil && was.Title != s.Title && there.Title < s.Title+"\xff" {
				c.Titles = map[string]string{s.ID: s.Title}
			}
		case was == nil || slices.ContainsFunc(is.Since, func(o mirror.Operation) bool { return slices.Contains(o.Returned, s.ID) }):
			c.New = append(c.New, mirror.NewSession{Session: s, Messages: m.messages(s.ID)})
		}
	}
	for _, o := range is.Since {
		c.Undone = append(c.Undone, o.Undone...)
		for _, id := range o.Removed {
			if there := sessionIn(has, id); there != nil && sessionIn(base, id) != nil && there.Version == sessionIn(base, id).Version {
				c.Removed = append(c.Removed, mirror.Removal{Session: id, Version: there.Version})
			}
		}
	}
	var was []bookmark.Bookmark
	if m.base != nil {
		was = m.base.Bookmarks
	}
	for _, b := range is.Bookmarks {
		if !slices.Contains(was, b) {
			c.AddBookmarks = append(c.AddBookmarks, b)
		}
	}
	for _, b := range was {
		if !slices.Contains(is.Bookmarks, b) {
			c.DropBookmarks = append(c.DropBookmarks, b)
		}
	}
	for _, a := range is.Agents {
		var before []mirror.Agent
		if m.base != nil {
			before = m.base.Agents
		}
		if !slices.ContainsFunc(before, func(b mirror.Agent) bool { return reflect.DeepEqual(a, b) }) {
			c.Agents = append(c.Agents, a)
		}
	}
	return c
}

func (m *machine) known() mirror.Known {
	if m.base == nil {
		return mirror.Known{}
	}
	return mirror.Known{Since: m.base.Last}
}

// exchange makes two machines receive what the other one has.
func exchange(a, b *machine) (left []mirror.Left) {
	fa, fb := a.facts(a.known()), b.facts(b.known())
	toB, toA := a.changes(fa, fb, b.base), b.changes(fb, fa, a.base)
	left = append(b.apply(toB).Left, a.apply(toA).Left...)
	a.base, b.base = a.facts(mirror.Known{}), b.facts(mirror.Known{})
	return left
}

// plain returns a message without what may differ between machines.
func plain(raw []byte) string {
	raw = bytes.Clone(raw)
	for _, path := range []string{"metadata.parent_id", "metadata.bough.continued", "metadata.bough", "metadata"} {
		v := gjson.GetBytes(raw, path)
		if path == "metadata.parent_id" || path == "metadata.bough.continued" || v.Raw == "{}" {
			raw, _ = sjson.DeleteBytes(raw, path)
		}
	}
	return string(rawjson.Dense(raw))
}

// answers returns what a machine says, without its head.
func (m *machine) answers() string {
	m.t.Helper()
	var b strings.Builder
	say := func(v any, err error) {
		m.t.Helper()
		if err != nil {
			m.t.Fatal(err)
		}
		text, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			m.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	ctx := m.t.Context()
	forest, err := m.Tree(ctx, "")
	var unhead func(list []workspace.TreeEntry)
	var ids []string
	unhead = func(list []workspace.TreeEntry) {
		for i := range list {
			list[i].Head = false
			ids = append(ids, list[i].ID)
			unhead(list[i].Children)
		}
	}
	unhead(forest.Roots)
	say(forest, err)
	for _, id := range ids {
		branches, err := m.Branches(ctx, id, workspace.BranchesOptions{})
		for i := range branches.Leaves {
			branches.Leaves[i].Head = false
		}
		branches.Head = ""
		say(branches, err)
		for _, leaf := range branches.Leaves {
			path, err := m.Show(ctx, leaf.Session+"@"+leaf.ID, session.ReadOptions{})
			if err != nil {
				m.t.Fatal(err)
			}
			for _, message := range path.Messages {
				fmt.Fprintln(&b, plain(message.Raw))
			}
		}
		tree, err := m.MessageTree(ctx, id, session.ReadOptions{})
		for i := range tree.Runs {
			tree.Runs[i].Head = ""
		}
		say(tree, err)
	}
	say(m.Bookmarks(ctx, workspace.BookmarksOptions{}))
	agents, err := m.Agents(ctx)
	say(agents, err)
	f := m.facts(mirror.Known{})
	for _, s := range f.Sessions {
		if !s.Auto {
			fmt.Fprintln(&b, s.ID, s.Kind, s.Title, s.Newest, string(s.Shell))
		}
	}
	for _, a := range f.Agents {
		fmt.Fprintln(&b, a.Name, string(a.Settings), *a.Head)
		for _, t := range a.Trees {
			fmt.Fprintln(&b, string(t))
		}
	}
	return b.String()
}

func (m *machine) healthy() {
	m.t.Helper()
	report, err := m.Doctor(m.t.Context(), doctor.Options{})
	if err != nil || !report.OK {
		m.t.Fatalf("doctor finds %+v, %v", report, err)
	}
}

func sameAnswers(t *testing.T, a, b *machine) {
	t.Helper()
	one, two := a.answers(), b.answers()
	if one == two {
		return
	}
	x, y := strings.Split(one, "\n"), strings.Split(two, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			from := max(0, i-8)
			t.Fatalf("the machines differ:\n%s\n\n%s", strings.Join(x[from:min(len(x), i+5)], "\n"), strings.Join(y[from:min(len(y), i+5)], "\n"))
		}
	}
	t.Fatalf("the machines differ in length:\n%s\n%s", one, two)
}

// TestMirror: two machines that change the same conversations independently, and then receive what
// the other one has, answer equally.
func TestMirror(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Of(1, 2, 25)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			list := machines(t, 2+r.IntN(4), 3)
			a, b, newcomer := list[0], list[1], list[2]
			list = list[:2]
			a.new("Bread")
			a.say("a", "b")
			for round := range 3 {
				if left := exchange(a, b); len(left) > 0 {
					t.Fatalf("omitted: %+v", left)
				}
				sameAnswers(t, a, b)
				for _, m := range list {
					for range r.IntN(5) {
						m.act(r, round)
					}
				}
			}
			if left := exchange(a, b); len(left) > 0 {
				t.Fatalf("omitted: %+v", left)
			}
			sameAnswers(t, a, b)
			for _, m := range list {
				m.healthy()
				if done := m.apply(mirror.Changes{}); done.Operation != 0 {
					t.Errorf("nothing to receive is operation %d", done.Operation)
				}
			}
			if left := exchange(a, b); len(left) > 0 || a.facts(a.known()).Since != nil {
				t.Errorf("again: %+v", left)
			}
			b.base = nil
			if left := exchange(b, newcomer); len(left) > 0 {
				t.Fatalf("omitted: %+v", left)
			}
			sameAnswers(t, a, newcomer)
			newcomer.healthy()
		})
	}
}

// act makes a random change that does not contradict those of other machines.
func (m *machine) act(r *rand.Rand, round int) {
	m.t.Helper()
	ctx := m.t.Context()
	f := m.facts(mirror.Known{})
	s := f.Sessions[r.IntN(len(f.Sessions))]
	messages := slices.DeleteFunc(m.messages(s.ID), func(m mirror.Message) bool { return m.Header })
	var ref string
	if len(messages) > 0 {
		ref = s.ID + "@" + messages[r.IntN(len(messages))].ID
	}
	var err error
	switch what := r.IntN(13); {
	case what < 4 && s.Kind != session.Checkpoint:
		_, err = m.Append(ctx, workspace.Append{Session: s.ID, Text: fmt.Sprint("text ", r.IntN(1000))})
	case what < 6 && s.Kind != session.Checkpoint && ref != "":
		_, err = m.Append(ctx, workspace.Append{Session: s.ID, Parent: messages[r.IntN(len(messages))].ID, Text: fmt.Sprint("text ", r.IntN(1000))})
	case what == 6 && ref != "":
		_, err = m.Checkpoint(ctx, ref, workspace.SnapshotOptions{})
	case what == 7 && ref != "":
		_, err = m.Branch(ctx, ref, workspace.SnapshotOptions{})
	case what == 8 && ref != "":
		_, err = m.Bookmark(ctx, ref, fmt.Sprint("label ", r.IntN(1_000_000)), workspace.BookmarkOptions{})
	case what == 9:
		_, err = m.New(ctx, "Soup")
	case what == 10:
		name := fmt.Sprint("agent-", r.IntN(1_000_000))
		if _, err = m.Agent(name).Create(ctx, agents.Options{Model: "echo"}); err == nil {
			m.answer(name, "hello", "you")
		}
	case what == 11 && s.Kind != session.Checkpoint:
		m.append(workspace.Append{Session: s.ID, Text: "taken back"})
		_, err = m.Undo(ctx, history.UndoOptions{})
	case what == 12:
		m.new("Rice")
		_, err = m.Undo(ctx, history.UndoOptions{})
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// TestSeveral: several sessions are read as each of them is, up to a limit and before one that cannot be read.
func TestSeveral(t *testing.T) {
	m := machines(t, 100, 1)[0]
	var ids []string
	for _, title := range []string{"Bread", "Soup", "Trip"} {
		id := m.new(title)
		m.append(workspace.Append{Session: id, Text: "about " + title})
		ids = append(ids, id)
	}
	for _, c := range []struct {
		ids         []string
		limit, want int
	}{{ids, 1 << 20, 3}, {ids, 1, 1}, {[]string{ids[0], "nowhere", ids[1]}, 1 << 20, 1}, {nil, 1, 0}} {
		lists, err := m.Mirror().Several(t.Context(), c.ids, c.limit)
		if err != nil || len(lists) != c.want {
			t.Fatalf("of %q up to %d: %d lists, %v", c.ids, c.limit, len(lists), err)
		}
		for i, list := range lists {
			if !reflect.DeepEqual(list, m.messages(c.ids[i])) {
				t.Errorf("%s has %v", c.ids[i], list)
			}
		}
	}
	if _, err := m.Mirror().Several(t.Context(), []string{"nowhere"}, 1); code(err) != fault.NotFound {
		t.Errorf("an absent session gives %v", err)
	}
}
