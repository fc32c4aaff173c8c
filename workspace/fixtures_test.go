package workspace_test

import (
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/bough-dev/bough/fixtures"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestFixtureWorkspaces opens the two workspaces of package fixtures.
func TestFixtureWorkspaces(t *testing.T) {
	t.Parallel()
	const first, second, third = "session_20260314_081500_5c1e9a20", "session_20260314_090410_77d0b3f4", "session_20260315_064200_e8a2416b"
	for _, c := range []struct {
		name     string
		files    fs.FS
		session  string
		kind     session.Kind
		messages int
		lineage  []string
	}{
		{"over three files", fixtures.Penguin(), third, session.Continuation, 17, []string{first, second, third}},
		{"the second child", fixtures.Penguin(), "session_20260316_190500_0b94c7d1", session.Continuation, 11, []string{first, "session_20260316_190500_0b94c7d1"}},
		{"flat branch", fixtures.Penguin(), "With rye", session.Branch, 21, []string{first, second, third, "session_20260315_121000_d41f6e83"}},
		{"flat checkpoint", fixtures.Penguin(), "Before Saturday", session.Checkpoint, 19, []string{first, second, third, "cp_20260315_120000_9b27f0ce"}},
		{"automatic checkpoint", fixtures.Penguin(), "cp_20260314_093000_3e60a8d5", session.Checkpoint, 12, []string{first, second, "cp_20260314_093000_3e60a8d5"}},
		{"on its own", fixtures.Penguin(), "A name for the starter", session.Root, 4, []string{"session_20260317_201500_a6f3581e"}},
		{"demo", fixtures.Demo(), "A weekend in Lisbon", session.Root, 10, []string{"session_20260522_181004_3d9c07ab"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, c.files); err != nil {
				t.Fatal(err)
			}
			w, err := workspace.Open(t.Context(), dir, &workspace.Options{Note: func(s string) { t.Errorf("note: %s", s) }})
			if err != nil {
				t.Fatal(err)
			}
			conv, err := w.Show(t.Context(), c.session, session.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(conv.Messages) != c.messages || conv.Entry.Kind != c.kind {
				t.Errorf("%s with %d messages, want %s with %d", conv.Entry.Kind, len(conv.Messages), c.kind, c.messages)
			}
			ancestry, err := w.Lineage(t.Context(), c.session, session.ReadOptions{})
			lineage := ancestry.IDs
			if err != nil || !slices.Equal(lineage, c.lineage) {
				t.Errorf("lineage = %q, %v, want %q", lineage, err, c.lineage)
			}
			if _, err := w.Show(t.Context(), "session_20260318_070000_1f2e3d4c", session.ReadOptions{}); workspace.Explain(err) == nil || workspace.Explain(err).Code != fault.NotFound {
				t.Errorf("the sub-agent's session: %v, want not found", err)
			}
		})
	}
}
