package setup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/internal/integration"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestWholeFile: the decision about a file that is bough's as a whole depends on who wrote it.
func TestWholeFile(t *testing.T) {
	content := func(program, workspace, rest string) []byte {
		return []byte("// Written by bough.\nconst program = \"" + program + "\"\nconst workspace = \"" + workspace + "\"\n" + rest)
	}
	target := integration.Target{Path: "/p", Content: content("/bin/bough", "/w", "run()\n")}
	edited := content("/bin/bough", "/w", "stop()\n")
	for _, c := range []struct {
		what      string
		data      []byte // nil if there is no file
		recorded  bool
		installed Status // "" if it is refused
		change    bool
		removed   bool // by uninstalling; else nothing changes, or it is refused
		refused   bool
	}{
		{what: "no file", installed: Uninstalled, change: true},
		{what: "the same", data: target.Content, installed: Installed, removed: true},
		{what: "another program", data: content("/old/bough", "/w", "run()\n"), installed: Outdated, change: true, removed: true},
		{what: "another workspace", data: content("/bin/bough", "/v", "run()\n")},
		{what: "an edited file", data: edited, refused: true},
		{what: "an older version", data: edited, recorded: true, installed: Outdated, change: true, removed: true},
		{what: "a file of the user", data: []byte("run()\n")},
	} {
		f := present{data: c.data, exists: c.data != nil}
		if c.recorded {
			f.record = &Record{Sum: sumOf(c.data)}
		}
		in, err := installFile(f, target)
		switch {
		case c.installed == "":
			if !errors.Is(err, fault.Refused) {
				t.Errorf("%s: installing is not refused: %+v, %v", c.what, in, err)
			}
		case err != nil || in.status != c.installed || string(in.after) != string(target.Content) || (in.record != nil) != c.change:
			t.Errorf("%s: installing: %+v, %v", c.what, in, err)
		}
		out, err := uninstallFile(f, target)
		switch {
		case c.refused:
			if !errors.Is(err, fault.Refused) {
				t.Errorf("%s: uninstalling is not refused: %+v, %v", c.what, out, err)
			}
		case err != nil || out.remove != c.removed || !out.remove && string(out.after) != string(c.data):
			t.Errorf("%s: uninstalling: %+v, %v", c.what, out, err)
		}
	}
}

// TestInherit: a file or an object that bough made for another workspace counts as made by bough.
func TestInherit(t *testing.T) {
	r := Record{Kept: [][]string{{"hooks"}, {"a"}}}
	r.inherit([]Record{{Kept: [][]string{{"a"}}}, {Created: true, Kept: [][]string{{"a"}, {"hooks"}}}})
	if !r.Created || len(r.Kept) != 1 || r.Kept[0][0] != "a" {
		t.Errorf("%+v", r)
	}
}

// TestRecords: a record that was kept is found by its kind, tool, workspace and path until it is
// dropped, and damaged ones are ignored. Without a folder there are none.
func TestRecords(t *testing.T) {
	s := Site{Call: integration.Call{Workspace: "/w"}, Records: filepath.Join(t.TempDir(), "installed")}
	r := Record{Kind: Hook, Tool: "pi", Workspace: "/w", Path: "/p", Sum: "s"}
	if err := s.Keep(r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Records, "x.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.Record(Hook, "pi", "/p"); got == nil || got.Sum != "s" || len(s.records()) != 1 {
		t.Errorf("the record is %+v, of %+v", got, s.records())
	}
	if s.Record(MCP, "pi", "/p") != nil || s.Record(Hook, "pi", "/q") != nil {
		t.Error("a record is found by another kind or path")
	}
	if err := s.Drop(r); err != nil || s.Record(Hook, "pi", "/p") != nil {
		t.Errorf("dropped: %v", err)
	}
	s.Records = ""
	if s.Keep(r) == nil || s.Record(Hook, "pi", "/p") != nil {
		t.Error("a record is kept without a folder")
	}
}
