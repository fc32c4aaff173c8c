package lookup

import (
	"errors"
	"testing"

	"github.com/bough-dev/bough/workspace/fault"
)

func TestWord(t *testing.T) {
	if err := Word("role", "user", "user", "tool"); err != nil {
		t.Error(err)
	}
	var unknown *fault.UnknownError
	err := Word("role", "User", "user", "tool")
	if !errors.As(err, &unknown) || !errors.Is(err, fault.Usage) || errors.Is(err, fault.NotFound) || err.Error() != `unknown role "User"` || len(unknown.Choices) != 2 {
		t.Errorf("%v", err)
	}
}

func TestNearest(t *testing.T) {
	choices := []string{"checkpoint", "branch", "branches", "bookmark", "ls", "log", "show", "--json", "-w", "--partial"}
	for word, want := range map[string]string{
		"chekpoint": "checkpoint", "brnch": "branch", "Branch": "branch", "branche": "branches", "shwo": "show", "sho": "show", "book": "bookmark",
		"lo": "log", "--jsn": "--json", "parial": "--partial", "bran": "", "x": "", "": "", "nonsense": "",
	} {
		if got := Nearest(word, choices); got != want {
			t.Errorf("%q suggests %q, want %q", word, got, want)
		}
	}
}
