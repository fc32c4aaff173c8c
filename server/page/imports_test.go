package page_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testtranscript"
	"github.com/bough-dev/bough/workspace"
)

// TestImport: a form imports what a program keeps in its folder, and names no other.
func TestImport(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("CODEX_HOME", "")
	t.Setenv("XDG_DATA_HOME", "")
	v := visit(t)
	for tool, status := range map[string]int{
		"claude-code": http.StatusNotFound, "opencode": http.StatusNotFound, "markdown": http.StatusBadRequest,
		"nothing": http.StatusBadRequest, "../..": http.StatusBadRequest, "": http.StatusBadRequest,
	} {
		if a := v.post("/do/import", url.Values{"from": {tool}}); a.StatusCode != status {
			t.Errorf("%q: status %d, not %d", tool, a.StatusCode, status)
		}
	}
	name := filepath.Join(home, ".claude", "projects", "-src-a", "1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, testtranscript.ClaudeCode(rand.New(rand.NewPCG(1, 2))), 0o644); err != nil {
		t.Fatal(err)
	}
	a := v.post("/do/import", url.Values{"from": {"claude-code"}})
	if to := a.Header.Get("Location"); a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/?said=") {
		t.Fatalf("status %d to %q", a.StatusCode, to)
	}
	list, err := v.w.Sessions(t.Context(), workspace.ListOptions{})
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(list.Sessions), err)
	}
	r := v.request("POST", "/do/import", url.Values{"from": {"claude-code"}})
	r.Header.Set("Accept", "application/json")
	var again struct{ Said, To string }
	if err := json.NewDecoder(v.do(r).Body).Decode(&again); err != nil || again.To != "/" || again.Said != "Nothing has changed" {
		t.Errorf("a second import says %+v, %v", again, err)
	}
}
