package explore

import (
	"context"

	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/workspace"
)

// Remove moves an exploration that is over to the trash, and with branches set the
// conversations of its branches that nothing else needs. What was learned, the outcome
// and adopted results stay. The caller holds the exploration. The folders of its branches
// that an interrupt left are removed, unless it keeps them.
func Remove(ctx context.Context, w *workspace.Workspace, e *Exploration, branches bool, o Options) (*workspace.RemovedExploration, error) {
	if !e.Done() {
		return nil, &workspace.Error{
			Code: workspace.Refused, Message: "the exploration " + e.ID + " is not over",
			Hint: "'bough explore cancel " + e.ID + "' ends it",
		}
	}
	sessions := map[string]string{}
	if branches {
		for _, b := range e.Branches {
			if b.Session != "" {
				sessions[b.Session] = b.ID
			}
		}
	}
	removed, err := w.RemoveExploration(ctx, e.ID, sessions)
	if err != nil {
		return nil, err
	}
	r := &run{e: e, o: o, from: &isolate.Source{Dir: e.Runner.Dir}}
	if r.o.Note == nil {
		r.o.Note = func(string) {}
	}
	for _, b := range e.Branches {
		r.removeFolders(b.ID)
	}
	return removed, nil
}
