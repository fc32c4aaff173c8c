package main

import (
	"strings"
	"testing"
)

// TestHelpFits: no line of the help is wider than the terminal, but for examples, which can be copied, and
// the words stay in their order.
func TestHelpFits(t *testing.T) {
	p := &program{}
	var check func(v verb)
	check = func(v verb) {
		var wide, narrow strings.Builder
		v.help(&wide, 0)
		v.help(&narrow, 80)
		if a, b := strings.Fields(wide.String()), strings.Fields(narrow.String()); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("the help of %s has other words in 80 columns", v.full())
		}
		for _, line := range strings.Split(narrow.String(), "\n") {
			if width(line) > 80 && !strings.Contains("  "+strings.ReplaceAll(v.example, "\n", "\n  "), line) {
				t.Errorf("the help of %s has a line of %d columns: %s", v.full(), width(line), line)
			}
		}
		for _, sub := range v.subs {
			check(sub)
		}
	}
	for _, v := range p.verbs() {
		check(v)
	}
	const table = "  --name  what it is called\n  a  b"
	if got := narrowed(table, 20); got != "  --name  what it is\n          called\n  a  b" {
		t.Errorf("the table is %q", got)
	}
}
