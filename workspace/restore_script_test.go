package workspace_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// TestRestoreScript: the script of docs/format.md, as it is printed there, restores the
// session of a packed checkpoint from its recipe and packs. It has at most ten lines.
func TestRestoreScript(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 2 { // the other one is that of states
		t.Fatalf("docs/format.md has %d scripts", len(blocks))
	}
	if lines := strings.Count(string(blocks[0][1]), "\n"); lines > 10 {
		t.Errorf("the script has %d lines", lines)
	}
	for _, program := range []string{"sh", "zstd", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the script needs %s: %v", program, err)
		}
	}
	s := openSpace(t, t.TempDir(), 0)
	script := filepath.Join(t.TempDir(), "restore.sh")
	if err := os.WriteFile(script, blocks[0][1], 0o600); err != nil {
		t.Fatal(err)
	}
	root := s.new("A trip")
	empty := s.packed(root)
	ids := s.say("Hello", "Where to?", `"Lisbon" \ 'or' $HOME %s`, "When?")
	whole := s.packed(root)
	part := s.packed(root + "@" + ids[1])
	other := s.append(workspace.Append{Session: root, Parent: ids[0], Text: "Another way <&> \u2028"})
	sibling := s.packed(root + "@" + string(other.Message))
	s.branch(root + "@" + ids[2])
	s.say("In the branch")
	branched := s.packed("@")
	if runs := strings.Count(s.read("packed/"+branched.ID+".json"), ".zst"); runs < 2 {
		t.Errorf("%s has %d runs, want those of two packs", branched.ID, runs)
	}
	for _, cp := range testsize.Sample(t, "checkpoints", []*workspace.Snapshot{empty, whole, part, sibling, branched}, testsize.Of(2, 5, 5)) {
		cmd := exec.Command("sh", script, cp.Path)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", cp.ID, err)
		}
		if _, err := s.Unpack(t.Context(), cp.ID); err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v in %s", cp.ID, err, out)
		}
		if err := json.Unmarshal([]byte(s.read(session.FileName(cp.ID))), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the script prints\n%s\nwant\n%s", out, s.read(session.FileName(cp.ID)))
		}
	}
}
