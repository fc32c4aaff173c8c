package main

import (
	"fmt"
	"io"

	"github.com/bough-dev/bough/workspace/files"
)

// printConflicts lists the paths of conflicts, and what changed: in the folder, and what the
// restore would do.
func (p *program) printConflicts(w io.Writer, list []files.Conflict) {
	for _, c := range list {
		fmt.Fprintf(w, "  %s  %s, would be %s\n", line(c.Path), did(c.Base, c.Yours), did(c.Yours, c.Theirs))
	}
}

// did says what happened from one version of a path to another.
func did(from, to *files.Version) string {
	switch {
	case from == nil && to == nil:
		return "absent"
	case from == nil:
		return "added"
	case to == nil:
		return "deleted"
	case from.Type != to.Type:
		return "replaced by a " + to.Type
	case *from == *to:
		return "unchanged"
	case from.SHA256 == to.SHA256:
		return "changed to mode " + to.Mode
	}
	return "changed"
}
