package workspace_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/imports"
)

// TestImportLimit: importing a transcript up to a size is the same as importing it when it
// had that size, also if the workspace has all of it, and the rest is imported afterwards.
// The row names the message at which that part ends.
func TestImportLimit(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-code", "codex", "gemini", "copilot-cli", "qwen-code"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := convert.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(7, 7))
			data := drawers[name](random)
			lines := bytes.SplitAfter(data, []byte("\n"))
			path := writeFile(t, "transcript", "")
			writeOver(t, path, data)
			age(t, path) // then an unchanged file is not read again
			all := openSpace(t, t.TempDir(), 0)
			importTo(t, all, f, path, 0)
			whole := all.outline(f)
			for range testsize.Of(1, 2, 20) {
				cut := bytes.Join(lines[:1+random.IntN(len(lines)-1)], nil)
				short := writeFile(t, "short", "")
				writeOver(t, short, cut)
				then := openSpace(t, t.TempDir(), 0)
				want := importTo(t, then, f, short, 0)
				limited := openSpace(t, t.TempDir(), 0)
				got := importTo(t, limited, f, path, int64(len(cut)))
				if got.Tip != want.Tip || got.Messages != want.Messages || limited.outline(f) != then.outline(f) {
					t.Fatalf("up to %d of %d bytes it has %d messages and ends at %q, want %d and %q", len(cut), len(data), got.Messages, got.Tip, want.Messages, want.Tip)
				}
				if got = importTo(t, all, f, path, int64(len(cut))); got.Tip != want.Tip {
					t.Fatalf("up to %d of %d bytes of a known transcript it ends at %q, want %q", len(cut), len(data), got.Tip, want.Tip)
				}
				importTo(t, limited, f, path, 0)
				if limited.outline(f) != whole || all.outline(f) != whole {
					t.Fatalf("after %d of %d bytes the rest is not imported", len(cut), len(data))
				}
			}
			again := importTo(t, all, f, path, 0)
			fresh := importTo(t, openSpace(t, t.TempDir(), 0), f, path, 0)
			if again.Status != imports.Unchanged || again.Tip != fresh.Tip || again.Tip == "" {
				t.Errorf("an unchanged transcript is %s and ends at %q, want %q", again.Status, again.Tip, fresh.Tip)
			}
		})
	}
}

// importTo imports the first bytes of a file and returns the row of the conversation, the
// zero row if there is none.
func importTo(t *testing.T, s *space, f *convert.Format, path string, limit int64) imports.Transcript {
	t.Helper()
	list, err := s.Import(t.Context(), []string{path}, imports.Options{Format: f, Live: true, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Imported {
		if r.Session != "" {
			if _, err := s.Show(t.Context(), string(r.Session)+"@"+string(r.Tip), session.ReadOptions{}); err != nil {
				t.Fatalf("the end of the transcript is not in the session: %v", err)
			}
			return r
		}
	}
	return imports.Transcript{}
}
