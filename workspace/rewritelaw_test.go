package workspace_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// plainForm returns a message without what a copy changes: its id, its parent and metadata.bough.
func plainForm(t testing.TB, raw []byte) string {
	t.Helper()
	raw = bytes.Clone(raw)
	for _, path := range []string{"id", "metadata.parent_id", "metadata.bough"} {
		var err error
		if raw, err = sjson.DeleteBytes(raw, path); err != nil {
			t.Fatal(err)
		}
	}
	return string(raw)
}

func plainForms(t testing.TB, list []session.Message) (forms []string) {
	for _, m := range list {
		forms = append(forms, plainForm(t, m.Raw))
	}
	return forms
}

// aWalk is a conversation with random branches and tool calls.
type aWalk struct {
	s      *space
	random *rand.Rand
	id     string
	all    []string // messages
	parent map[string]string
	uses   map[string][]string // the calls that a message makes
	result map[string]string   // the call that a message answers
}

func newWalk(s *space, seed uint64, n int) *aWalk {
	w := &aWalk{s: s, random: rand.New(rand.NewPCG(seed, 1)), id: s.new("Walk"), parent: map[string]string{}, uses: map[string][]string{}, result: map[string]string{}}
	for range n {
		parent := ""
		switch k := len(w.all); {
		case k == 0:
		case w.random.IntN(4) == 0:
			parent = w.all[w.random.IntN(k)]
		default:
			parent = w.all[k-1]
		}
		w.add(parent)
	}
	return w
}

// path returns the messages of the path to one, root first.
func (w *aWalk) path(id string) (list []string) {
	for ; id != ""; id = w.parent[id] {
		list = append(list, id)
	}
	slices.Reverse(list)
	return list
}

// open returns the calls of a path without a result.
func (w *aWalk) open(path []string) (open []string) {
	for _, id := range path {
		open = append(open, w.uses[id]...)
		open = slices.DeleteFunc(open, func(call string) bool { return call == w.result[id] })
	}
	return open
}

func (w *aWalk) add(parent string) {
	a := workspace.Append{Session: w.id, Parent: parent, Text: fmt.Sprintf("message %d", len(w.all))}
	open := w.open(w.path(parent))
	switch n := w.random.IntN(6); {
	case len(open) > 0 && n < 4:
		a.CallID, a.Tool = open[w.random.IntN(len(open))], "look"
	case n == 0:
		for i := range 1 + w.random.IntN(2) {
			a.Calls = append(a.Calls, model.Call{ID: fmt.Sprintf("call%d.%d", len(w.all), i), Name: "look", Arguments: "{}"})
		}
	case n < 3:
		a.Role = "assistant"
	}
	added := w.s.append(a)
	w.all = append(w.all, added.Message)
	w.parent[added.Message], w.result[added.Message] = parent, a.CallID
	for _, c := range a.Calls {
		w.uses[added.Message] = append(w.uses[added.Message], c.ID)
	}
}

// whole checks that a path has no call twice, no result without its call, and no call without
// a result that origin reports to have been answered.
func whole(t testing.TB, what string, list []session.Message, answered func(origin string) bool) {
	t.Helper()
	open, seen := map[string]string{}, map[string]bool{}
	for _, m := range list {
		metadata := gjson.GetBytes(m.Raw, "metadata")
		if call := metadata.Get("tool_call_id").String(); call != "" {
			if _, made := open[call]; !made {
				t.Errorf("%s: a result of %s without the call", what, call)
			}
			delete(open, call)
		}
		for _, c := range metadata.Get("tool_calls").Array() {
			call := c.Get("id").String()
			if seen[call] {
				t.Errorf("%s: the call %s is twice on the path", what, call)
			}
			seen[call] = true
			if open[call] = metadata.Get("bough.picked.message_id").String(); open[call] == "" {
				open[call] = m.ID
			}
		}
	}
	for call, origin := range open {
		if answered(origin + " " + call) {
			t.Errorf("%s: the call %s of %s has no result, as it had before", what, call, origin)
		}
	}
}

// kept checks that every file of before still has its messages, byte for byte and in their places.
func (w *aWalk) kept(what string, before map[string][]session.Message) {
	w.s.t.Helper()
	for id, was := range before {
		is := w.s.session(id).Messages
		if len(is) < len(was) {
			w.s.t.Fatalf("%s: %s has %d messages, of %d", what, id, len(is), len(was))
		}
		for i := range was {
			if !bytes.Equal(is[i].Raw, was[i].Raw) {
				w.s.t.Fatalf("%s: message %d of %s became\n%s", what, i, id, is[i].Raw)
			}
		}
	}
}

func (w *aWalk) stored() map[string][]session.Message {
	list, err := w.s.List(w.s.t.Context(), "")
	if err != nil {
		w.s.t.Fatal(err)
	}
	all := map[string][]session.Message{}
	for _, e := range list.Sessions {
		all[e.ID] = w.s.session(e.ID).Messages
	}
	return all
}

// TestRewriteLaws: whatever is picked or omitted, nothing that exists changes, copies equal
// their originals, no call loses its result, and undo restores the folder.
func TestRewriteLaws(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Of(1, 3, 15)) {
		s := openSpace(t, t.TempDir(), []int{0, 7}[seed%2])
		w := newWalk(s, seed, 18)
		for range 8 {
			before, files := w.stored(), s.files()
			what, wrote := w.try(fmt.Sprintf("seed %d", seed))
			w.kept(what, before)
			switch {
			case !wrote:
				if !maps.Equal(s.files(), files) {
					t.Fatalf("%s was refused, and changed the folder", what)
				}
			case w.random.IntN(2) == 0:
				if _, err := s.Undo(t.Context(), history.UndoOptions{}); err != nil {
					t.Fatalf("%s, undo: %v", what, err)
				}
				after := w.stored()
				if len(after) != len(before) {
					t.Fatalf("%s: %d sessions after undo, of %d", what, len(after), len(before))
				}
				for id := range before {
					if !slices.EqualFunc(after[id], before[id], func(a, b session.Message) bool { return bytes.Equal(a.Raw, b.Raw) }) {
						t.Fatalf("%s: undo does not restore %s", what, id)
					}
				}
			}
		}
		if r, err := s.Doctor(t.Context(), doctor.Options{}); err != nil || !r.OK {
			t.Fatalf("seed %d: %v, %+v", seed, err, r)
		}
	}
}

// try picks, or omits, a random choice of messages, and checks the result.
func (w *aWalk) try(what string) (string, bool) {
	t := w.s.t
	one := func() string { return w.all[w.random.IntN(len(w.all))] }
	at := func(id string) string { return w.id + "@" + id }
	tip := one()
	path := w.path(tip)
	answered := func(key string) bool { // in the path of the tip
		origin, call, _ := bytes.Cut([]byte(key), []byte(" "))
		i := slices.Index(path, string(origin))
		return i >= 0 && slices.ContainsFunc(path[i+1:], func(id string) bool { return w.result[id] == string(call) })
	}
	var chosen []string
	for _, id := range path {
		if w.random.IntN(3) == 0 {
			chosen = append(chosen, id)
		}
	}
	if len(chosen) == 0 {
		chosen = path[:1]
	}
	switch w.random.IntN(3) {
	case 0:
		what += fmt.Sprintf(": pick %s..%s onto its base", path[0], tip)
		from := w.random.IntN(len(path))
		if from == len(path)-1 {
			_, err := w.s.Pick(t.Context(), rewrite.PickOptions{Refs: []string{at(tip) + ".." + at(tip)}, Onto: at(tip)})
			wantCode(t, what, err, fault.NotFound)
			return what, false
		}
		base := path[from]
		p, err := w.s.Pick(t.Context(), rewrite.PickOptions{Refs: []string{at(base) + ".." + at(tip)}, Onto: at(base)})
		if err != nil {
			t.Fatalf("%s from %s: %v", what, base, err)
		}
		want, got := w.s.show(at(tip)).Messages, w.s.show(p.Session+"@"+string(p.Messages[len(p.Messages)-1].Message)).Messages
		if !slices.Equal(plainForms(t, got), plainForms(t, want)) {
			t.Fatalf("%s from %s: the path is\n%q\nwant\n%q", what, base, plainForms(t, got), plainForms(t, want))
		}
		for i, m := range p.Messages {
			if m.Call != "" || m.From.Message != path[from+1+i] {
				t.Fatalf("%s: message %d is a copy of %s, for the call %q", what, i, m.From.Message, m.Call)
			}
		}
		return what, true
	case 1:
		onto := one()
		what += fmt.Sprintf(": pick %q of the path to %s onto %s", chosen, tip, onto)
		o := rewrite.PickOptions{Onto: at(onto)}
		for _, id := range chosen {
			o.Refs = append(o.Refs, at(id))
		}
		p, err := w.s.Pick(t.Context(), o)
		if err != nil {
			if e := workspace.Explain(err); e.Code != fault.Refused && e.Code != fault.ToolCut {
				t.Fatalf("%s: %v", what, err)
			}
			return what, false
		}
		last := string(p.Messages[len(p.Messages)-1].Message)
		got := w.s.show(p.Session + "@" + last).Messages
		above := w.path(onto)
		for i, m := range p.Messages {
			original := w.s.show(at(m.From.Message)).Messages
			if a, b := plainForm(t, got[len(above)+i].Raw), plainForm(t, original[len(original)-1].Raw); a != b {
				t.Fatalf("%s: the copy is\n%s\nof\n%s", what, a, b)
			}
			origin := gjson.GetBytes(got[len(above)+i].Raw, "metadata.bough.picked")
			if origin.Get("message_id").String() != m.From.Message || origin.Get("session_id").String() != m.From.Session {
				t.Fatalf("%s: the copy of %s says %s", what, m.From.Message, origin.Raw)
			}
		}
		for _, id := range chosen {
			if !slices.ContainsFunc(p.Messages, func(m rewrite.Copy) bool { return m.From.Message == id }) {
				t.Fatalf("%s: %s is not in the result", what, id)
			}
		}
		if h, err := w.s.Status(t.Context()); err != nil || string(h.Head.Message) != last {
			t.Fatalf("%s: the head is at %v, not at %s (%v)", what, h.Head, last, err)
		}
		stray := func(m rewrite.Copy) bool { return m.Unpaired && w.result[m.From.Message] != "" }
		if !slices.ContainsFunc(p.Messages, stray) {
			whole(t, what, got, func(string) bool { return false })
		}
		return what, true
	default:
		what += fmt.Sprintf(": drop %q of the path to %s", chosen, tip)
		p, err := w.s.PruneContext(t.Context(), at(tip), rewrite.PruneContextOptions{Drop: chosen})
		if err != nil {
			if e := workspace.Explain(err); e.Code != fault.Refused && e.Code != fault.ToolCut {
				t.Fatalf("%s: %v", what, err)
			}
			return what, false
		}
		var want []string
		for i, m := range w.s.show(at(tip)).Messages {
			if !slices.ContainsFunc(p.Dropped, func(o rewrite.Copy) bool { return o.From.Message == path[i] }) {
				want = append(want, plainForm(t, m.Raw))
			}
		}
		got := w.s.show(string(p.Session)).Messages
		if !slices.Equal(plainForms(t, got), want) {
			t.Fatalf("%s: the path is\n%q\nwant\n%q", what, plainForms(t, got), want)
		}
		for i := range p.Shared {
			if got[i].ID != path[i] {
				t.Fatalf("%s: message %d is %s, not shared", what, i, got[i].ID)
			}
		}
		whole(t, what, got, answered)
		return what, true
	}
}

func wantCode(t testing.TB, what string, err error, code fault.Code) {
	t.Helper()
	if e := workspace.Explain(err); e == nil || e.Code != code {
		t.Fatalf("%s: %v, want %s", what, err, code)
	}
}
