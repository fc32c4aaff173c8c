package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/files"
)

// TestRebuildFolders: a repair rebuilds a damaged list of folders from what can be read of it,
// and from the log; of others it says that they are lost. Their states stay.
func TestRebuildFolders(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what   string
		logged bool // an operation has the folder
		damage func(data string) string
		found  bool
	}{
		{"a torn file", false, func(data string) string { return data[:len(data)-6] }, true},
		{"a comma", false, func(data string) string { return strings.Replace(data, "[", "[,", 1) }, true},
		{"nothing, but the log", true, func(string) string { return "" }, true},
		{"nothing", false, func(string) string { return "\x00\x00" }, false},
	} {
		s := newShelf(t)
		w, err := workspace.Open(t.Context(), filepath.Join(s.base, "ws"), &workspace.Options{Settle: -1}) // by the clock of the disk
		if err != nil {
			t.Fatal(err)
		}
		s.Workspace = w
		s.conversation("Bread")
		ref := s.turn(true, "a", "1")
		if row.logged {
			s.rewindFiles(ref)
		}
		name := filepath.Join(s.base, "ws", "states", "folders.json")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(row.damage(string(data))), 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := s.Doctor(t.Context(), doctor.Options{})
		if err != nil || report.OK || !strings.Contains(report.Problems[0].Detail, "a repair keeps what can be read of it") {
			t.Errorf("%s: %+v, %v", row.what, report, err)
		}
		report, err = s.Doctor(t.Context(), doctor.Options{Fix: true})
		if err != nil || !report.OK || len(report.Problems) != 1 || strings.Contains(report.Problems[0].Detail, "the path is unknown") == row.found {
			t.Errorf("%s: %+v, %v", row.what, report, err)
		}
		again, err := os.ReadFile(name)
		if err != nil || row.found != (string(again) == string(data)) {
			t.Errorf("%s: the file has %s, and had %s; %v", row.what, again, data, err)
		}
		if kept, _ := filepath.Glob(filepath.Join(s.base, "ws", ".bough", "trash", "*", "states", "folders.json")); len(kept) != 1 {
			t.Errorf("%s: the trash has %q", row.what, kept)
		}
		list, err := s.States(t.Context(), "")
		if err != nil || len(list.States) == 0 || (list.States[0].Dir != "") != row.found {
			t.Errorf("%s: %+v, %v", row.what, list, err)
		}
		if _, err := s.Folder("").Export(t.Context(), list.States[0].ID, filepath.Join(s.base, "out"), files.ExportOptions{}); err != nil {
			t.Errorf("%s: %v", row.what, err)
		}
	}
}
