package view

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/workspace"
)

// deletion returns whether the open conversation can be moved to the trash.
func deletion(f Facts) Action {
	if f.isRunning() && f.Agent.Session == f.Line() {
		return Action{Reason: "The assistant is answering in it."}
	}
	if f.end() != "" {
		return Action{Reason: "Not deletable: an end of a conversation, which has others."}
	}
	var titles []string
	for _, list := range [][]workspace.Entry{f.Dependents.ContinuedBy, f.Dependents.OriginOf} {
		for _, e := range list {
			titles = append(titles, fmt.Sprintf("%q", e.Title))
		}
	}
	const most = 3
	switch n := len(titles); {
	case n == 0:
		return Action{Enabled: true}
	case n > most:
		titles = append(titles[:most], fmt.Sprintf("and %d more", n-most))
	}
	return Action{Reason: "Not deletable: the origin of " + strings.Join(titles, ", ") + "."}
}
