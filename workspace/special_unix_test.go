//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/forget"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/search"
	"github.com/bough-dev/bough/workspace/trash"
)

// pipe puts a named pipe in the place of a file.
func (s *space) pipe(name string) {
	s.t.Helper()
	path := filepath.Join(s.Dir(), filepath.FromSlash(name))
	for _, err := range []error{os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700), syscall.Mkfifo(path, 0o600)} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestPipes: a named pipe in the place of any file or folder of a workspace blocks no verb,
// and doctor reports it.
func TestPipes(t *testing.T) {
	t.Parallel()
	markdown, err := convert.Named("markdown")
	if err != nil {
		t.Fatal(err)
	}
	places := []string{
		"conversations", "agents", "explorations", "files", "checkpoints", ".bough", ".bough/trash", ".bough/cache", ".bough/handover",
		"conversations/x.json", "conversations/a.json.bak", "conversations/session_index.json", "conversations/session_index.journal",
		"conversations/.a.json.bough-tmp", "head.json", "bookmarks.json", "config.json", "agents/ada.json",
		"explorations/config.json", "explorations/4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77.json",
		"checkpoints/cp_1.json.gz", "checkpoints/checkpoint_index.json", ".bough/operations.jsonl", ".bough/lock", ".bough/lock.holder",
		".bough/tasks.jsonl", ".bough/learnings.jsonl", ".bough/imports.jsonl", ".bough/exports.jsonl", ".bough/token", ".bough/cache/look",
		".bough/incoming", ".bough/trash/20260101T000000.000000/conversations/t.json", lines.FilePath(attachment("a picture").SHA256),
	}
	for _, place := range testsize.Sample(t, "places", places, testsize.Of(4, 12, len(places))) {
		t.Run(place, func(t *testing.T) {
			s := intact(t)
			s.agent("ada")
			s.pipe(place)
			ctx := t.Context()
			var report *doctor.Report
			var failed error
			verbs := []struct {
				name string
				call func()
			}{
				{"doctor", func() { report, failed = s.Doctor(ctx, doctor.Options{}) }},
				{"ls", func() { s.List(ctx, "") }},
				{"show", func() { s.Show(ctx, "a", session.ReadOptions{}) }},
				{"search", func() { s.Search(ctx, search.Options{Text: "text"}) }},
				{"bookmarks", func() { s.Bookmarks(ctx, workspace.BookmarksOptions{}) }},
				{"agents", func() { s.Agents(ctx) }},
				{"explorations", func() { s.Explorations(ctx) }},
				{"exploration", func() { s.Exploration("4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77").Read(ctx) }},
				{"settings", func() { s.ExplorationSettings(ctx) }},
				{"learnings", func() { s.Learnings(ctx) }},
				{"tasks", func() { s.Line("a").Tasks(ctx, "") }},
				{"token", func() { s.Token(ctx) }},
				{"log", func() { s.Log(ctx, history.LogOptions{}) }},
				{"trash", func() { s.Trash(ctx) }},
				{"du", func() { s.Usage(ctx, 10) }},
				{"append", func() { s.Append(ctx, workspace.Append{Session: "a", Text: "more"}) }},
				{"bookmark", func() { s.Bookmark(ctx, "a@a1", "here", workspace.BookmarkOptions{}) }},
				{"rm", func() { s.Remove(ctx, "c", workspace.RemoveOptions{}) }},
				{"undo", func() { s.Undo(ctx, history.UndoOptions{}) }},
				{"redo", func() { s.Redo(ctx, history.UndoOptions{}) }},
				{"export", func() { s.Export(ctx, "a", workspace.ExportOptions{Format: markdown}) }},
				{"import", func() { s.Import(ctx, []string{filepath.Join(s.Dir(), "conversations")}, imports.Options{}) }},
				{"forget", func() { s.Forget(ctx, "b", forget.Options{DryRun: true}) }},
				{"prune", func() { s.Prune(ctx, workspace.PruneOptions{}) }},
				{"purge", func() { s.PurgeTrash(ctx, trash.PurgeOptions{}) }},
				{"doctor --fix", func() { s.Doctor(ctx, doctor.Options{Fix: true}) }},
			}
			for _, v := range verbs {
				done := make(chan struct{})
				go func() {
					defer close(done)
					v.call()
				}()
				select {
				case <-done:
				case <-time.After(20 * time.Second):
					t.Fatalf("%s blocks on the pipe", v.name)
				}
			}
			switch {
			case place == "conversations": // no sessions
				if failed == nil {
					t.Error("doctor examines no conversations")
				}
			case failed != nil:
				t.Errorf("doctor: %v", failed)
			case !slices.ContainsFunc(report.Problems, func(p doctor.Problem) bool { return p.Path == place }):
				t.Errorf("doctor finds %+v", report.Problems)
			}
		})
	}
}
