package workspace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/cited"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/tidwall/gjson"
)

// A mergeWalk is a random walk over conversations with branches of both kinds, checkpoints,
// continuations, merges and picks.
type mergeWalk struct {
	*space
	random *rand.Rand
	ends   []string // REFs
	n      int
	// contents has the original messages that a message stands for, by its id.
	contents map[string]map[string]bool
}

func (w *mergeWalk) step() {
	w.t.Helper()
	at := w.ends[w.random.IntN(len(w.ends))]
	id, message, _ := strings.Cut(at, "@")
	w.n++
	switch k := w.random.IntN(10); {
	case k < 4:
		role := "user"
		if k%2 == 1 {
			role = "assistant"
		}
		text := fmt.Sprintf("We go with %d. Or is %d better?", w.n, w.n)
		out := w.append(workspace.Append{Session: id, Parent: message, Role: role, Text: text})
		w.ends = append(w.ends, out.Session+"@"+out.Message)
	case k == 4:
		b := w.branch(at)
		w.ends = append(w.ends, b.ID+"@"+message)
	case k == 5:
		c := w.checkpoint(at)
		w.ends = append(w.ends, c.ID+"@"+message)
	case k == 6:
		onto := w.ends[w.random.IntN(len(w.ends))]
		if out, err := w.Pick(w.t.Context(), rewrite.PickOptions{Refs: []string{at}, Onto: onto}); err == nil { // else it has the call already
			w.ends = append(w.ends, out.Session+"@"+string(out.Messages[0].Message))
		} else {
			w.t.Fatal(err)
		}
	case k == 7:
		path := w.pathOf(at)
		last := path[len(path)-1].ID
		squash := path[max(len(path)-3, 0)].ID + ".." + last
		out, err := w.PruneContext(w.t.Context(), at, rewrite.PruneContextOptions{Squash: squash, Summary: "In short.", KeepHead: true})
		if err != nil {
			w.t.Fatal(err)
		}
		w.ends = append(w.ends, string(out.Session)+"@"+string(out.Last))
	default:
		w.merge(at, w.ends[w.random.IntN(len(w.ends))])
	}
}

// pathOf returns the messages of the path to a REF.
func (w *mergeWalk) pathOf(ref string) []session.Message { return w.show(ref).Messages }

// merge merges a branch into a target, and checks the laws.
func (w *mergeWalk) merge(branch, into string) {
	w.t.Helper()
	from, to := w.pathOf(branch), w.pathOf(into)
	what := fmt.Sprintf("step %d: %s into %s", w.n, branch, into)
	before := w.files()
	r, err := w.Merge(w.t.Context(), branch, merge.Options{Into: into})
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	base, brings := w.broughtBy(from, to)
	if len(brings) == 0 {
		if r.Nothing == "" || r.Message != "" {
			w.t.Errorf("%s: there is nothing to merge, and the result is %+v", what, r)
		}
		isAncestor := len(from) <= len(to) && from[len(from)-1].ID == to[len(from)-1].ID
		if want := map[bool]string{true: merge.Ancestor, false: merge.Already}[isAncestor]; r.Nothing != want {
			w.t.Errorf("%s: nothing is merged because of %q, want %q", what, r.Nothing, want)
		}
		sameFiles(w.t, what, before, w.files())
		return
	}
	if r.Merged == nil || r.Merged.Messages != len(brings) || r.Merged.Message != from[len(from)-1].ID {
		w.t.Fatalf("%s: it merged %+v, want the messages %v, up to %s", what, r.Merged, brings, from[len(from)-1].ID)
	}
	if base >= 0 && string(r.Merged.Base) != from[base].ID {
		w.t.Errorf("%s: the base is %s, want %s", what, r.Merged.Base, from[base].ID)
	}
	w.checkAdded(what, before, r, to)
	w.checkDigest(what, r.Text)
	// A second merge brings nothing.
	end := string(r.Session) + "@" + string(r.Message)
	if again, err := w.Merge(w.t.Context(), branch, merge.Options{Into: end}); err != nil || again.Nothing == "" {
		w.t.Errorf("%s: the second merge brings %+v, %v", what, again, err)
	}
	// What comes back is new, and not the merge.
	if _, back := w.broughtBy(w.pathOf(end), from); slices.Contains(back, string(r.Message)) {
		w.t.Errorf("%s: the merge would come back", what)
	}
	w.ends = append(w.ends, end)
}

// broughtBy returns the messages that a merge of a path brings into another one, and the index of
// the message before the first of them: those with content that the other path has not.
func (w *mergeWalk) broughtBy(from, to []session.Message) (base int, brings []string) {
	there := map[string]bool{}
	for _, m := range to {
		w.content(m, there)
	}
	base = len(from) - 1
	for i, m := range from {
		of := map[string]bool{}
		if w.content(m, of); slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(id string) bool { return !there[id] }) {
			if len(brings) == 0 {
				base = i - 1
			}
			brings = append(brings, m.ID)
		}
	}
	return base, brings
}

// content adds the original messages that m has, is a copy of, merged or summarizes.
func (w *mergeWalk) content(m session.Message, to map[string]bool) {
	if w.contents[m.ID] == nil {
		all := map[string]bool{}
		own := gjson.GetBytes(m.Raw, "metadata.bough")
		merged, summary := own.Get("merged"), own.Get("summary_of")
		switch {
		case merged.Exists():
			path := w.pathOf(merged.Get("session_id").Str + "@" + merged.Get("message_id").Str)
			i := slices.IndexFunc(path, func(m session.Message) bool { return m.ID == merged.Get("base").Str })
			for _, inner := range path[i+1:] {
				w.content(inner, all)
			}
		case summary.Exists():
			path := w.pathOf(summary.Get("session_id").Str + "@" + summary.Get("last").Str)
			i := slices.IndexFunc(path, func(m session.Message) bool { return m.ID == summary.Get("first").Str })
			for _, inner := range path[i:] {
				w.content(inner, all)
			}
		case own.Get("picked").Exists():
			all[own.Get("picked.message_id").Str] = true
		default:
			all[m.ID] = true
		}
		w.contents[m.ID] = all
	}
	maps.Copy(to, w.contents[m.ID])
}

// checkAdded checks that a merge changed one session, or made one, and only added its message.
func (w *mergeWalk) checkAdded(what string, before map[string]string, r *merge.Result, to []session.Message) {
	w.t.Helper()
	if r.Parent != session.ID(to[len(to)-1].ID) {
		w.t.Errorf("%s: the parent is %s, want the end of the target", what, r.Parent)
	}
	path := w.pathOf(string(r.Session) + "@" + string(r.Message))
	if len(path) != len(to)+1 {
		w.t.Fatalf("%s: the path to the merge has %d messages, want %d", what, len(path), len(to)+1)
	}
	for i, m := range to {
		if !bytes.Equal(path[i].Raw, m.Raw) {
			w.t.Errorf("%s: message %d is not what it was", what, i)
		}
	}
	last := gjson.ParseBytes(path[len(to)].Raw)
	var merged merge.Merged
	if err := json.Unmarshal([]byte(last.Get("metadata.bough.merged").Raw), &merged); err != nil || merged != *r.Merged {
		w.t.Errorf("%s: the message says %v, want %v (%v)", what, merged, *r.Merged, err)
	}
	if last.Get("role").Str != "user" || last.Get("metadata.kind").Str != "merge" {
		w.t.Errorf("%s: the message is %s", what, last.Raw)
	}
	for name, was := range before {
		is := w.read(name)
		if is == was || !strings.HasPrefix(name, "conversations/session_2") {
			continue
		}
		had, has := messagesOf(was), messagesOf(is)
		extra := len(has) - len(had)
		linked := extra == 0 // a new continuation follows it
		if !linked && (name != session.FileName(string(r.Session)) || extra != 1) || !slices.Equal(had, has[:len(had)]) {
			w.t.Errorf("%s: %s has %d messages more, or others", what, name, extra)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.files())) {
		if _, was := before[name]; !was && strings.HasPrefix(name, "conversations/session_2") && name != session.FileName(string(r.Session)) {
			w.t.Errorf("%s: it made %s", what, name)
		}
	}
}

func messagesOf(data string) (list []string) {
	for _, m := range gjson.Get(data, "messages").Array() {
		list = append(list, m.Raw)
	}
	return list
}

// checkDigest checks that each REF in a digest refers to a message.
func (w *mergeWalk) checkDigest(what, text string) {
	w.t.Helper()
	refs := cited.Refs(text)
	if len(refs) == 0 {
		w.t.Errorf("%s: the digest cites nothing:\n%s", what, text)
	}
	for _, ref := range refs {
		if _, err := w.Show(w.t.Context(), ref, session.ReadOptions{}); err != nil {
			w.t.Errorf("%s: the digest cites %s: %v", what, ref, err)
		}
	}
}

// checkTree checks that the tree of all sessions has the merges that are in the files, and returns
// their number.
func (w *mergeWalk) checkTree(when string) (all int) {
	w.t.Helper()
	f, err := w.Tree(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	var check func([]workspace.TreeEntry)
	check = func(list []workspace.TreeEntry) {
		for _, e := range list {
			var got, want []string
			for _, m := range e.Merges {
				got = append(got, m.Message)
			}
			for _, m := range w.session(e.ID).Messages {
				if gjson.GetBytes(m.Raw, "metadata.bough.merged").Exists() && e.Kind != session.Checkpoint {
					want = append(want, m.ID)
				}
			}
			if !slices.Equal(got, want) {
				w.t.Errorf("%s, the tree has the merges %v of %s, want %v", when, got, e.ID, want)
			}
			all += len(want)
			check(e.Children)
		}
	}
	check(f.Roots)
	return all
}

// TestMergeLaws: a merge adds one message and changes nothing else, its base is the message before
// the first with content that the target has not, also through other branches and summaries,
// merging an ancestor, merging twice or merging back is nothing,
// and what a digest cites exists.
func TestMergeLaws(t *testing.T) {
	t.Parallel()
	merges := 0
	for seed := range uint64(testsize.Of(1, 3, 8)) {
		s := openSpace(t, t.TempDir(), 5)
		id := s.new("Trip")
		ids := s.say("Where to?", "To Lisbon.")
		w := &mergeWalk{space: s, contents: map[string]map[string]bool{}, random: rand.New(rand.NewPCG(seed, 7)), ends: []string{id + "@" + ids[1]}}
		for range testsize.Of(25, 50, 60) {
			w.step()
		}
		merges += w.checkTree("after the walk")
		if err := os.Remove(filepath.Join(s.Dir(), "conversations", "session_index.json")); err != nil {
			t.Fatal(err)
		}
		w.checkTree("without the index")
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if merges == 0 {
		t.Error("no walk has a merge")
	}
}

// A modelFunc is a model that a function answers for.
type modelFunc func(prompt string) (string, error)

func (f modelFunc) Ask(_ context.Context, r *model.Request, _ func(string)) (*model.Reply, error) {
	text, err := f(gjson.ParseBytes(r.Messages[0].Content).Str)
	return &model.Reply{Text: text}, err
}

var errModel = errors.New("the model is away")

// TestMergeMoved: a message that is added to the target while the model writes does not stop the
// merge, which goes after it; a merge of the same branch does.
func TestMergeMoved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := openSpace(t, t.TempDir(), 0)
	trip := s.new("Trip")
	at := s.say("Where to?", "To Lisbon.")
	b := s.branch(trip + "@" + at[1])
	s.say("By train?", "Yes.")
	ask := func(meanwhile func()) (*merge.Result, error) {
		return s.Merge(ctx, b.ID, merge.Options{Into: trip, ModelID: "m", Model: modelFunc(func(prompt string) (string, error) {
			meanwhile()
			return "By train [" + refIn(prompt, "Yes.") + "].", nil
		})})
	}
	var added string
	r, err := ask(func() { added = s.append(workspace.Append{Session: trip, Text: "And food?"}).Message })
	if err != nil || string(r.Parent) != added || string(r.MovedFrom) != at[1] || r.By != merge.ByModel {
		t.Fatalf("a merge into a target that moved is %+v, %v", r, err)
	}
	s.append(workspace.Append{Session: b.ID, Text: "At night."})
	var between map[string]string
	_, err = ask(func() {
		if _, err := s.Merge(ctx, b.ID, merge.Options{Into: trip, Summary: "By night train."}); err != nil {
			t.Error(err)
		}
		between = s.files()
	})
	if code(err) != "refused" {
		t.Errorf("a merge of what was merged meanwhile returns %v", err)
	}
	sameFiles(t, "a refused merge", between, s.files())

	for answer, want := range map[string]string{
		"By train.":                     "the answer of the model cites no message",
		"By train [abcd1234@beef1234].": "the answer of the model cites 1 message that it was not given: abcd1234@beef1234",
	} {
		s.append(workspace.Append{Session: b.ID, Text: answer})
		before := s.files()
		_, err := s.Merge(ctx, b.ID, merge.Options{Into: trip, Model: modelFunc(func(string) (string, error) { return answer, nil })})
		if err == nil || err.Error() != want {
			t.Errorf("the answer %q returns %v, want %s", answer, err, want)
		}
		sameFiles(t, "a refused answer", before, s.files())
	}
	if _, err := s.Merge(ctx, b.ID, merge.Options{Into: trip, Model: modelFunc(func(string) (string, error) { return "", errModel })}); !errors.Is(err, errModel) {
		t.Errorf("a failed model returns %v", err)
	}
}

// TestMergeAsksNothing: a merge counts nowhere as a question. A branch with a merge at its end has
// the question and the open questions of the answer before it, and a conversation that begins with
// one is named after the first question.
func TestMergeAsksNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := openSpace(t, t.TempDir(), 0)
	trip := s.new("Trip")
	at := s.say("Where to?", "To Lisbon.")
	train := s.branch(trip + "@" + at[1])
	asked := s.append(workspace.Append{Session: train.ID, Text: "By train?"}).Message
	s.append(workspace.Append{Session: train.ID, Role: "assistant", Text: "Yes. Which one?"})
	third := s.new("")
	if _, err := s.Merge(ctx, trip, merge.Options{Into: third}); err != nil {
		t.Fatal(err)
	}
	if title := s.entry(third).Title; strings.Contains(title, "Merged") {
		t.Errorf("a conversation with only a merge is named %q", title)
	}
	s.append(workspace.Append{Session: third, Text: "And then?"})
	if title := s.entry(third).Title; title != "And then?" {
		t.Errorf("a conversation that begins with a merge is named %q", title)
	}
	if _, err := s.Merge(ctx, third, merge.Options{Into: train.ID}); err != nil {
		t.Fatal(err)
	}
	if f, err := s.ExplorationPlace(ctx, train.ID); err != nil || f.Question != "By train?" {
		t.Errorf("the question before a merge is %q, %v", f.Question, err)
	}
	c, err := s.Checkpoint(ctx, train.ID, workspace.SnapshotOptions{Task: true})
	if err != nil || string(c.Task.Turn) != asked {
		t.Errorf("the turn before a merge is %+v, %v; want %s", c.Task, err, asked)
	}
	r, err := s.Merge(ctx, train.ID, merge.Options{Into: trip})
	if err != nil || !strings.Contains(r.Text, "## Open questions\n\n- Which one?") {
		t.Errorf("the digest of a branch with a merge at its end is %q, %v", r.Text, err)
	}
}

// refIn returns the REF of the message of a prompt with a text.
func refIn(prompt, text string) string {
	for l := range strings.Lines(prompt) {
		if strings.HasPrefix(l, "[") && strings.Contains(l, text) {
			return l[1:strings.Index(l, "]")]
		}
	}
	return ""
}
