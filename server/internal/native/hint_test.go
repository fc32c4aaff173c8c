package native

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace/fault"
)

// TestHints: each step after an error is phrased as a request, except for those that no
// request does, and none names a command but the one that a person has to run.
func TestHints(t *testing.T) {
	without := []fault.Action{fault.AddRemote, fault.ChooseEnds, fault.ChooseFolder, fault.ChooseWorkspace, fault.CompleteElsewhere, fault.CompleteRestore, fault.ForceReplace, fault.NameFolder, fault.SnapFolder}
	for _, a := range actions(t) {
		text := phrase(a)
		if (text == "") != slices.Contains(without, a) {
			t.Errorf("%s: %q", a, text)
		}
		args := []string{"x", "y"}[:min(2, strings.Count(text, "%"))]
		got := hint(&fault.Error{Next: fault.Do(a, args...)})
		if strings.Contains(got, "bough ") != (a == fault.SetInShell) || strings.Contains(got, "%!") || strings.Contains(got, "--") {
			t.Errorf("%s: %q", a, got)
		}
	}
	if got := hint(&fault.Error{Hint: "fact", Next: fault.Do(fault.ListTrees, "ada")}); got != "fact; GET /v1/agent/trees?agent=ada&all=true lists them" {
		t.Errorf("the hint is %q", got)
	}
}

// actions returns all actions of a step after an error.
func actions(t *testing.T) (list []fault.Action) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "..", "workspace", "fault", "step.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Action = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		list = append(list, fault.Action(m[1]))
	}
	if len(list) < 30 {
		t.Fatalf("found only %d actions", len(list))
	}
	return list
}
