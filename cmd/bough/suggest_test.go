package main

import "testing"

func TestNearest(t *testing.T) {
	choices := []string{"checkpoint", "branch", "branches", "bookmark", "ls", "log", "show", "--json", "-w", "--partial"}
	for word, want := range map[string]string{
		"chekpoint": "checkpoint", "brnch": "branch", "Branch": "branch", "branche": "branches", "shwo": "show", "sho": "show", "book": "bookmark",
		"lo": "log", "--jsn": "--json", "parial": "--partial", "bran": "", "x": "", "": "", "nonsense": "",
	} {
		if got := nearest(word, choices); got != want {
			t.Errorf("%q is taken for %q, want %q", word, got, want)
		}
	}
}
