package explore

import (
	"context"
	"fmt"
)

// Learnings returns what was learned from the branches that were tried in the workspace,
// the oldest first. A line of the file that is not a learning is skipped with a note.
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

// Statistics returns how each strategy fared, the most successful first.
func (x *Explorer) Statistics(ctx context.Context) ([]Statistics, error) {
	known, err := x.Learnings(ctx)
	if err != nil {
		return nil, err
	}
	return statistics(known), nil
}

// remember appends the learnings of e that the file does not have. A branch that was
// cancelled says nothing about its strategy.
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
