package workspace_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestAutomatic: automatic checkpoints are marked, step back to a message where no tool
// call is cut, and prune the oldest ones; a pruned one can be restored, and is deleted
// after a week.
func TestAutomatic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 5, 25, 12, 0, 0, 0, time.UTC)
	w, err := workspace.Open(t.Context(), dir, &workspace.Options{
		Retention: checkpoint.Retention{Limit: 3, EveryNth: 1 << 30},
		Now:       func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &space{t: t, Workspace: w}
	id := s.new("Bread")
	named := s.checkpoint(id)
	var auto []string
	for i := range 5 {
		now = now.Add(time.Hour)
		s.append(workspace.Append{Session: id, Text: fmt.Sprint(i)})
		snap, err := s.Checkpoint(t.Context(), id, workspace.SnapshotOptions{Auto: true})
		if err != nil {
			t.Fatal(err)
		}
		auto = append(auto, snap.ID)
		if text := s.read(session.FileName(snap.ID)); !strings.Contains(text, `"auto": true`) {
			t.Errorf("the checkpoint is %s", text)
		}
	}
	there := func() (list []string) {
		for i, id := range append([]string{named.ID}, auto...) {
			if _, err := s.Show(t.Context(), id, session.ReadOptions{}); err == nil {
				list = append(list, fmt.Sprint(i))
			}
		}
		return list
	}
	if got := strings.Join(there(), " "); got != "0 3 4 5" {
		t.Errorf("the checkpoints are %s", got)
	}
	if again, err := s.Checkpoint(t.Context(), id, workspace.SnapshotOptions{Auto: true}); err != nil || again.ID != auto[4] {
		t.Errorf("the same message again makes %+v, %v", again, err)
	}
	if o, err := s.undo(""); err != nil || o.Args["verb"] != "append" { // the others were not requested
		t.Errorf("undo = %+v, %v", o, err)
	}
	if _, err := s.redo(""); err != nil {
		t.Fatal(err)
	}
	now = now.Add(8 * 24 * time.Hour)
	if p, err := s.Prune(t.Context(), workspace.PruneOptions{DryRun: true}); err != nil || len(p.Checkpoints) != 3 || p.Checkpoints[0].Kept {
		t.Errorf("Prune = %+v, %v", p, err)
	}
	if got := strings.Join(there(), " "); got != "0 3 4 5" {
		t.Errorf("after a dry run the checkpoints are %s", got)
	}
	if _, err := s.Prune(t.Context(), workspace.PruneOptions{}); err != nil {
		t.Fatal(err)
	}
	trash, err := s.Trash(t.Context())
	if err != nil || len(trash.Files) == 0 {
		t.Fatalf("the trash holds %+v, %v", trash, err)
	}
	for _, f := range trash.Files {
		if f.RemovedAt.Before(now.Add(-time.Hour)) {
			t.Errorf("%s is still in the trash, from %s", f.File, f.RemovedAt)
		}
	}
	healthy(t, s)

	if got := strings.Join(there(), " "); got != "0 5" {
		t.Errorf("after a prune the checkpoints are %s", got)
	}
	if _, err := s.undo(""); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(there(), " "); got != "0 3 4 5" {
		t.Errorf("after its undo the checkpoints are %s", got)
	}
}

// TestPruneKeeps: a checkpoint that something needs is not pruned.
func TestPruneKeeps(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	auto := func(id, metadata, more string) {
		s.write("conversations/"+id+".json", `{"created_at":"2020-01-01","metadata":{"continued_from":["x"],"branched_from":"x","flattened_snapshot":true`+
			metadata+`,"bough":{"kind":"checkpoint","auto":true,"sealed":{"messages":0,"crc32c":"00000000"}}},"messages":[`+more+`]}`)
	}
	for _, id := range []string{"newest", "plain", "written", "continued", "headed", "named"} {
		auto(id, "", "")
	}
	auto("marked", "", `{"id":"m","role":"user","content":"a"}`)
	s.write("conversations/marked.json", regexp.MustCompile(`,"sealed":{[^}]*}`).ReplaceAllString(s.read("conversations/marked.json"), ""))
	s.bookmark("marked@m", "here")
	auto("newest", `,"note":1`, "")
	s.write("conversations/newest.json", strings.Replace(s.read("conversations/newest.json"), "2020", "2021", 1))
	auto("written", "", `{"id":"theirs"}`)
	s.write("conversations/more.json", `{"metadata":{"continued_from":["continued"]},"messages":[]}`)
	if _, err := s.Restore(t.Context(), "headed"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rename(t.Context(), "named", "For ever"); err != nil {
		t.Fatal(err)
	}
	p, err := s.Prune(t.Context(), workspace.PruneOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range p.Checkpoints {
		got[c.ID] = fmt.Sprint(c.Kept, " ", c.Reason)
	}
	want := map[string]string{
		"newest":    "true it is the newest",
		"plain":     "false older than 30 days",
		"written":   "true another program wrote to it",
		"continued": "true another session continues it",
		"headed":    "true the head is in it",
		"marked":    "true a bookmark is in it",
	}
	if !maps.Equal(got, want) {
		t.Errorf("prune decides %v, want %v", got, want)
	}

	if _, err := s.RemoveBookmark(t.Context(), "here"); err != nil {
		t.Fatal(err)
	}
	marks := s.read(bookmark.Path)
	s.write(bookmark.Path, "{")
	if _, err := s.Prune(t.Context(), workspace.PruneOptions{}); code(err) != fault.Damaged {
		t.Errorf("Prune with unreadable bookmarks = %v", err)
	}
	s.write(bookmark.Path, marks)
	p, err = s.Prune(t.Context(), workspace.PruneOptions{})
	if err != nil || !slices.ContainsFunc(p.Checkpoints, func(c workspace.PruneDecision) bool { return c.ID == "marked" && !c.Kept }) {
		t.Errorf("without the bookmark Prune = %+v, %v", p, err)
	}
}

// TestAutomaticTools: an automatic checkpoint at a message within a tool call is a
// checkpoint of the message before it.
func TestAutomaticTools(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	s.write("conversations/tools.json", `{"metadata":{"continued_from":[]},"messages":[
		{"id":"u1","role":"user","content":"a"},
		{"id":"a2","role":"assistant","content":"b","metadata":{"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}},
		{"id":"u3","role":"user","content":"wait"},
		{"id":"t4","role":"tool","content":"c","metadata":{"tool_call_id":"c"}}]}`)
	if _, err := s.Checkpoint(t.Context(), "tools@u3", workspace.SnapshotOptions{CutOptions: checkpoint.CutOptions{Strict: true}}); code(err) != fault.ToolCut {
		t.Errorf("Checkpoint = %v", err)
	}
	snap, err := s.Checkpoint(t.Context(), "tools@u3", workspace.SnapshotOptions{Auto: true})
	if err != nil || snap.BranchPoint != "u1" {
		t.Errorf("the automatic checkpoint is %+v, %v", snap, err)
	}
}
