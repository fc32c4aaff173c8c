package explore

import (
	"context"
	"fmt"
)

// Learnings returns the learnings of the workspace, oldest first. It skips
// invalid lines of the file, with a note.
func (x *Explorer) Learnings(ctx context.Context) ([]Learning, error) {
	data, err := x.Workspace.Learnings(ctx)
	if err != nil {
		return nil, err
	}
	list, skipped := decodeLearnings(data)
	for _, s := range skipped {
		x.note(fmt.Sprintf("line %d of the learnings is ignored: %s", s.Line, s.Problem))
	}
	return list, nil
}

// Statistics returns the statistics of each strategy, the most successful
// first.
func (x *Explorer) Statistics(ctx context.Context) ([]Statistics, error) {
	known, err := x.Learnings(ctx)
	if err != nil {
		return nil, err
	}
	return statistics(known), nil
}

// remember appends the learnings of e that the file does not have. A cancelled
// branch gives no learning.
func (x *Explorer) remember(ctx context.Context, e *Exploration) error {
	data, err := x.Workspace.Learnings(ctx)
	if err != nil {
		return err
	}
	known, _ := decodeLearnings(data)
	kept := map[string]bool{}
	for _, l := range known {
		kept[l.Branch] = true
	}
	var lines []byte
	for _, l := range e.learnings() {
		if !kept[l.Branch] && e.Branch(l.Branch).Reason != errCancelled.Error() {
			lines = append(lines, l.Encode()...)
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return x.Workspace.AppendLearnings(ctx, lines)
}
