package workspace_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/internal/testsize"
)

// TestImportJournal: a journal, of which later lines change earlier requests, has the same
// messages if it is imported after each line.
func TestImportJournal(t *testing.T) {
	t.Parallel()
	f, err := convert.Named("copilot-chat")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join("..", "convert", "testdata", "copilot-chat", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	at := 0
	for line := range bytes.Lines(data) {
		at += len(line)
		all = append(all, data[:at])
	}
	want := imported(t, f, data)
	if got := imported(t, f, all...); got != want {
		t.Errorf("imported after each line it has\n%s\nimported once\n%s", without(got, want), without(want, got))
	}
	for _, part := range testsize.Sample(t, "lines", all, testsize.Of(2, 5, len(all))) {
		if got := imported(t, f, part, data); got != want {
			t.Errorf("after %d bytes: imported twice it has\n%s\nimported once\n%s", len(part), without(got, want), without(want, got))
		}
	}
}
