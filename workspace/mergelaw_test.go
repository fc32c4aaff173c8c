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
	"github.com/tidwall/sjson"
)

// A mergeWalk is a random walk over conversations with branches of both kinds, checkpoints,
// continuations, merges, picks, summaries, and copies that another program made.
type mergeWalk struct {
	*space
	random *rand.Rand
	ends   []string            // REFs
	paths  map[string][]string // by end the ids of its path, as the walk made it
	n      int
	merges int
	// contents has the original messages that a message stands for, by its id, and originals the
	// message that it is a copy of.
	contents  map[string]map[string]bool
	originals map[string]string
}

func newMergeWalk(s *space, seed uint64) *mergeWalk {
	id := s.new("Trip")
	ids := s.say("Where to?", "To Lisbon.")
	end := id + "@" + ids[1]
	return &mergeWalk{
		space: s, random: rand.New(rand.NewPCG(seed, 7)), ends: []string{end}, paths: map[string][]string{end: ids},
		contents: map[string]map[string]bool{}, originals: map[string]string{},
	}
}

// add adds an end: the path with some ids.
func (w *mergeWalk) add(session, message string, path ...string) string {
	end := session + "@" + message
	if w.paths[end] == nil {
		w.ends = append(w.ends, end)
	}
	w.paths[end] = path
	return end
}

func (w *mergeWalk) any() string { return w.ends[w.random.IntN(len(w.ends))] }

func (w *mergeWalk) step() {
	w.t.Helper()
	at := w.any()
	id, message, _ := strings.Cut(at, "@")
	path := w.paths[at]
	w.n++
	switch k := w.random.IntN(12); {
	case k < 4:
		role := "user"
		if k%2 == 1 {
			role = "assistant"
		}
		text := fmt.Sprintf("We go with %d. Or is %d better?", w.n, w.n)
		out := w.append(workspace.Append{Session: id, Parent: message, Role: role, Text: text})
		w.add(out.Session, out.Message, extend(path, out.Message)...)
	case k == 4:
		w.add(w.branch(at).ID, message, path...)
	case k == 5:
		w.add(w.checkpoint(at).ID, message, path...)
	case k == 6:
		onto := w.any()
		out, err := w.Pick(w.t.Context(), rewrite.PickOptions{Refs: []string{at}, Onto: onto})
		if err != nil {
			w.t.Fatal(err)
		}
		picked := string(out.Messages[0].Message)
		w.originals[picked] = message
		w.add(out.Session, picked, extend(w.paths[onto], picked)...)
	case k == 7:
		first := max(len(path)-3, 0)
		out, err := w.PruneContext(w.t.Context(), at, rewrite.PruneContextOptions{Squash: path[first] + ".." + message, Summary: "In short.", KeepHead: true})
		if err != nil {
			w.t.Fatal(err)
		}
		w.add(string(out.Session), string(out.Last), extend(path[:first+1], string(out.Last))...)
	case k == 8:
		w.copyByHand(at)
	default:
		w.merge(at, w.any())
	}
}

func extend(path []string, id string) []string { return append(slices.Clone(path), id) }

// copyByHand writes the path to an end to a file of its own, as another program may: the messages
// have other ids, and no parent_id, and those that stand for no others have no metadata.bough.
func (w *mergeWalk) copyByHand(at string) {
	w.t.Helper()
	id := fmt.Sprintf("session_20260314_093000_%08x", w.n)
	var raws, path []string
	for i, m := range w.pathOf(at) {
		copied := fmt.Sprintf("%08x-%04x", w.n, i)
		w.originals[copied] = m.ID
		path = append(path, copied)
		raw, err := sjson.SetBytes(bytes.Clone(m.Raw), "id", copied)
		drop := []string{"metadata.parent_id"}
		if own := gjson.GetBytes(m.Raw, "metadata.bough"); !own.Get("merged").Exists() && !own.Get("summary_of").Exists() {
			drop = append(drop, "metadata.bough")
		}
		for _, member := range drop {
			if err == nil {
				raw, err = sjson.DeleteBytes(raw, member)
			}
		}
		if err != nil {
			w.t.Fatal(err)
		}
		raws = append(raws, string(raw))
	}
	w.write(session.FileName(id), fmt.Sprintf(`{"id": %q, "created_at": "2026-03-14T09:30:00.000000+00:00", "last_active": "2026-03-14T09:30:00.000000+00:00",
"metadata": {"continued_from": [], "message_count": %d}, "messages": [%s], "llm_request_lifecycles": [], "tool_call_records": [], "tool_result_records": []}`,
		id, len(raws), strings.Join(raws, ",\n")))
	end := w.add(id, path[len(path)-1], path...)
	for _, two := range [][2]string{{at, end}, {end, at}} {
		if r, err := w.Merge(w.t.Context(), two[0], merge.Options{Into: two[1]}); err != nil || r.Nothing != merge.Ancestor {
			w.t.Errorf("step %d: the merge of %s into %s is %+v, %v", w.n, two[0], two[1], r, err)
		}
		d, err := w.Diff(w.t.Context(), two[0], two[1], session.ReadOptions{})
		if want := w.paths[two[0]]; err != nil || len(d.A)+len(d.B) > 0 || string(d.Common) != want[len(want)-1] {
			w.t.Errorf("step %d: %s and %s differ: %+v, %v", w.n, two[0], two[1], d, err)
		}
	}
}

// original returns the id of the message of which one is a copy, or its own.
func (w *mergeWalk) original(id string) string {
	for w.originals[id] != "" {
		id = w.originals[id]
	}
	return id
}

// pathOf returns the messages of the path to a REF. Those of an end are the ones that the walk put
// there.
func (w *mergeWalk) pathOf(ref string) []session.Message {
	w.t.Helper()
	list := w.show(ref).Messages
	if want := w.paths[ref]; want != nil {
		var ids []string
		for _, m := range list {
			ids = append(ids, m.ID)
		}
		if !slices.Equal(ids, want) {
			w.t.Fatalf("step %d: the path to %s is %v, want %v", w.n, ref, ids, want)
		}
	}
	return list
}

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
		if want := map[bool]string{true: merge.Ancestor, false: merge.Already}[w.isAncestor(from, to)]; r.Nothing != want {
			w.t.Errorf("%s: nothing is merged because of %q, want %q", what, r.Nothing, want)
		}
		sameFiles(w.t, what, before, w.files())
		return
	}
	if r.Merged == nil || r.Merged.Messages != len(brings) || r.Merged.Message != from[len(from)-1].ID {
		w.t.Fatalf("%s: it merged %+v, want the messages %v, up to %s", what, r.Merged, brings, from[len(from)-1].ID)
	}
	if string(r.Merged.Base) != base {
		w.t.Errorf("%s: the base is %q, want %q", what, r.Merged.Base, base)
	}
	w.checkAdded(what, before, r, to)
	w.checkDigest(what, r.Text)
	end := w.add(string(r.Session), string(r.Message), extend(w.paths[into], string(r.Message))...)
	// A second merge brings nothing.
	if again, err := w.Merge(w.t.Context(), branch, merge.Options{Into: end}); err != nil || again.Nothing == "" {
		w.t.Errorf("%s: the second merge brings %+v, %v", what, again, err)
	}
	// What comes back is new, and not the merge.
	if _, back := w.broughtBy(w.pathOf(end), from); slices.Contains(back, string(r.Message)) {
		w.t.Errorf("%s: the merge would come back", what)
	}
	if w.merges++; w.merges%4 == 0 {
		w.checkElsewhere(what, branch, end)
	}
}

// isAncestor reports whether a path begins with all messages of another one, or with copies of them.
func (w *mergeWalk) isAncestor(from, to []session.Message) bool {
	return len(from) <= len(to) && slices.EqualFunc(from, to[:len(from)], func(a, b session.Message) bool {
		return w.original(a.ID) == w.original(b.ID)
	})
}

// checkElsewhere checks that in a workspace that has only snapshots of both ends, and not what the
// merges name, the merge of the branch is known, and a message after it is not.
func (w *mergeWalk) checkElsewhere(what, branch, end string) {
	w.t.Helper()
	elsewhere, err := workspace.Open(w.t.Context(), w.t.TempDir(), &workspace.Options{Settle: -1}) // with other ids
	if err != nil {
		w.t.Fatal(err)
	}
	s := &space{Workspace: elsewhere, t: w.t}
	var ids []string
	for _, at := range []string{branch, end} {
		c := w.checkpoint(at)
		s.write(session.FileName(c.ID), w.read(session.FileName(c.ID)))
		ids = append(ids, c.ID)
	}
	if r, err := s.Merge(w.t.Context(), ids[0], merge.Options{Into: ids[1]}); err != nil || r.Nothing == "" {
		w.t.Errorf("%s: elsewhere the second merge brings %+v, %v", what, r, err)
	}
	_, message, _ := strings.Cut(branch, "@")
	added := s.append(workspace.Append{Session: ids[0], Parent: message, Text: "And then?"})
	r, err := s.Merge(w.t.Context(), added.Session, merge.Options{Into: ids[1]})
	if err != nil || r.Merged == nil || r.Merged.Messages != 1 || string(r.Merged.Base) != message {
		w.t.Errorf("%s: elsewhere a merge of one message more is %+v, %v; want the base %s", what, r.Merged, err, message)
	}
}

// broughtBy returns the messages that a merge of a path brings into another one, those with content that
// the other path has not, and the message before the first of them.
func (w *mergeWalk) broughtBy(from, to []session.Message) (base string, brings []string) {
	there := map[string]bool{}
	for _, m := range to {
		w.content(m, there)
	}
	for _, m := range from {
		of := map[string]bool{}
		if w.content(m, of); slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(id string) bool { return !there[id] }) {
			brings = append(brings, m.ID)
		} else if len(brings) == 0 {
			base = m.ID
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
		default:
			all[w.original(m.ID)] = true
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

// TestMergeLaws: a merge adds one message and changes nothing else; its base is the message before
// the first with content that the target has not, over all files of both conversations, also
// through other branches, summaries, and copies of other programs, which are recognized by their bytes;
// merging an ancestor, merging twice or merging back is nothing, also if the merged conversation is
// gone; and what a digest cites exists.
func TestMergeLaws(t *testing.T) {
	t.Parallel()
	merges := 0
	for seed := range uint64(testsize.Of(1, 3, 8)) {
		w := newMergeWalk(openSpace(t, t.TempDir(), 5), seed)
		for range testsize.Of(40, 50, 60) {
			w.step()
		}
		merges += w.checkTree("after the walk")
		if err := os.Remove(filepath.Join(w.Dir(), "conversations", "session_index.json")); err != nil {
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
