package explore

import (
	"context"
	"fmt"

	"github.com/bough-dev/bough/workspace"
)

// Recall returns what is known of branches that were tried in a workspace, the oldest
// first. What of the file cannot be read is told to note, and passed over.
func Recall(ctx context.Context, w *workspace.Workspace, note func(string)) ([]Learning, error) {
	data, err := w.Learnings(ctx)
	if err != nil {
		return nil, err
	}
	list, skipped := DecodeLearnings(data)
	for _, s := range skipped {
		note(fmt.Sprintf("line %d of the learnings does not count: %s", s.Line, s.Problem))
	}
	return list, nil
}

// Remember keeps what came of the branches of an exploration, each once, however often it
// is called. Those that its user cancelled say nothing of their strategies.
func Remember(ctx context.Context, w *workspace.Workspace, e *Exploration) error {
	known, err := Recall(ctx, w, func(string) {})
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, l := range known {
		kept[l.Branch] = true
	}
	var lines []byte
	for _, l := range e.Learnings() {
		if !kept[l.Branch] && e.Branch(l.Branch).Reason != ErrCancelled.Error() {
			lines = append(lines, l.Encode()...)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return w.AppendLearnings(ctx, lines)
}
