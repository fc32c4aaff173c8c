package workspace_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/compare"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/origin"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/bough-dev/bough/workspace/suggest"
)

// rewrites are the verbs that carry content from one branch to another, with a conversation as the
// source or as the target.
func rewrites(s *space, id, other string) map[string]error {
	ctx := s.t.Context()
	errs := map[string]error{}
	_, errs["compare"] = s.Compare(ctx, []string{other, id}, compare.Options{})
	_, errs["diff"] = s.Diff(ctx, id, other, session.ReadOptions{})
	_, errs["merge"] = s.Merge(ctx, id, merge.Options{Into: other})
	_, errs["merge into"] = s.Merge(ctx, other, merge.Options{Into: id})
	_, errs["pick"] = s.Pick(ctx, rewrite.PickOptions{Refs: []string{id}, Onto: other})
	_, errs["pick a range"] = s.Pick(ctx, rewrite.PickOptions{Refs: []string{other + ".." + id}, Onto: other})
	_, errs["pick onto"] = s.Pick(ctx, rewrite.PickOptions{Refs: []string{other}, Onto: id})
	turns := agents.TurnOptions{Model: "m", Models: func(context.Context, string) (model.Model, error) {
		return modelFunc(func(string) (string, error) { return "Yes.", nil }), nil
	}}
	_, errs["replay"] = s.Replay(ctx, rewrite.ReplayOptions{Ref: ".." + id, Turn: turns})
	_, errs["replay onto"] = s.Replay(ctx, rewrite.ReplayOptions{Ref: ".." + other, Onto: id, Turn: turns})
	_, errs["edit"] = s.EditMessage(ctx, id+"@u3", rewrite.EditOptions{Text: "In other words."})
	_, errs["prune-context"] = s.PruneContext(ctx, id+"@a4", rewrite.PruneContextOptions{Drop: []string{"u3"}})
	_, errs["bisect"] = s.Folder(s.t.TempDir()).Bisection(ctx, id, origin.BisectOptions{})
	return errs
}

// TestRewriteDamage: no verb that carries content from one branch to another uses or changes a
// damaged conversation, and each error names the file.
func TestRewriteDamage(t *testing.T) {
	t.Parallel()
	const head = `{"id": "bad", "created_at": "2026-05-25T15:00:00+00:00", "last_active": "2026-05-25T15:00:00+00:00", "metadata": {"continued_from": []}, "messages": [
`
	message := func(id, more string) string {
		role := map[byte]string{'u': "user", 'a': "assistant"}[id[0]]
		return `{"id": "` + id + `", "role": "` + role + `", "content": "text of ` + id + `", "timestamp": "2026-05-25T15:00:00+00:00"` + more + `}`
	}
	plain := []string{message("u1", ""), message("a2", ""), message("u3", ""), message("a4", "")}
	with := func(i int, m string) []string {
		list := append([]string{}, plain...)
		list[i] = m
		return list
	}
	file := func(list []string) string {
		return head + strings.Join(list, ",\n") + `], "llm_request_lifecycles": [], "tool_call_records": [], "tool_result_records": []}`
	}
	for name, data := range map[string]string{
		"the end of the file is missing": file(plain)[:len(head)+250],
		"a message is no JSON":           file(with(1, `{"id": "a2", "role": }`)),
		"a message is not an object":     file(with(1, `"a2"`)),
		"a message has no id":            file(with(1, `{"role": "assistant", "content": "?"}`)),
		"an id is twice":                 file(with(1, message("u1", ""))),
		"a cycle":                        file(append(with(2, message("u3", `, "metadata": {"parent_id": "u5"}`)), message("u5", `, "metadata": {"parent_id": "u3"}`))),
		"a missing file":                 strings.Replace(file(plain), `"continued_from": []`, `"continued_from": ["gone"]`, 1),
	} {
		s := openSpace(t, t.TempDir(), 0)
		good := s.new("Good")
		s.say("Where to?", "To Lisbon.")
		s.write(session.FileName("bad"), data)
		before := s.files()
		for verb, err := range rewrites(s, "bad", good) {
			if code(err) != fault.Damaged || !strings.Contains(err.Error(), "bad") && !strings.Contains(err.Error(), "gone") {
				t.Errorf("%s: %s returns %v", name, verb, err)
			}
		}
		if _, err := s.Suggest(t.Context(), suggest.Options{}); err != nil {
			t.Errorf("%s: suggest returns %v", name, err)
		}
		sameFiles(t, name, before, s.files())
		s.append(workspace.Append{Session: good, Text: "It can be used."})
	}
}

// TestRewriteOrphan: below a message whose parent is missing, a path begins, and the verbs use it.
func TestRewriteOrphan(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	good := s.new("Good")
	s.say("Where to?", "To Lisbon.")
	s.write(session.FileName("bad"), `{"id": "bad", "metadata": {"continued_from": []}, "messages": [
		{"id": "u1", "role": "user", "content": "Lost."},
		{"id": "u3", "role": "user", "content": "By train?", "metadata": {"parent_id": "gone"}},
		{"id": "a4", "role": "assistant", "content": "Yes."}]}`)
	for verb, err := range rewrites(s, "bad", good) {
		if err != nil && verb != "bisect" { // there are no states
			t.Errorf("%s returns %v", verb, err)
		}
	}
	r, err := s.Merge(t.Context(), "bad@a4", merge.Options{Into: s.new("Third")})
	if err != nil || r.Merged == nil || r.Merged.Messages != 2 || r.Merged.Base != "" {
		t.Errorf("the merge of an orphan is %+v, %v", r, err)
	}
}
