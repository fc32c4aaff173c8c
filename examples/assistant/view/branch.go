package view

import (
	"fmt"
	"strings"
)

// BranchName returns the title of a branch that begins after a message with this
// text: its first words. No row of the tree has it yet.
func BranchName(text string, t Tree) string {
	const most = 40 // bytes
	name := "After"
	for i, word := range strings.Fields(strings.ReplaceAll(text, "/", " ")) {
		if i > 0 && len(name)+len(word) > most {
			name += " …"
			break
		}
		name += " " + word
	}
	taken := map[string]bool{}
	for _, row := range t.Rows {
		taken[row.Title] = true
	}
	for n, free := 2, name; ; n++ {
		if !taken[free] {
			return free
		}
		free = fmt.Sprintf("%s (%d)", name, n)
	}
}
