package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/likeness"
)

// maxAdvised is the maximum number of strategies in an advice.
const maxAdvised = 5

// Advise returns the system prompt of an agent for the turn that answers a question: its own, and
// below it what was learned about strategies for similar questions. It returns nil if nothing was.
func (x *Explorer) Advise(ctx context.Context, agent, question string) (*string, error) {
	known, err := x.Learnings(ctx)
	if err != nil {
		return nil, err
	}
	learned := advice(FindSimilar(question, known, similarLearnings))
	if learned == "" {
		return nil, nil
	}
	a, err := x.Workspace.Agent(agent).Info(ctx)
	if err != nil {
		return nil, err
	}
	system := strings.TrimSpace(a.System + "\n\n" + learned)
	return &system, nil
}

// advice returns the outcomes of strategies as text, the strategies of the most similar questions
// first, with the newest insight of each.
func advice(list []Similar) string {
	type record struct {
		name, insight string
		tried, worked int
	}
	var records []*record
	for _, l := range list {
		i := slices.IndexFunc(records, func(r *record) bool { return likeness.SameName(r.name, l.Strategy) })
		if i < 0 {
			i = len(records)
			records = append(records, &record{name: oneLine(l.Strategy)})
		}
		r := records[i]
		r.tried++
		if l.Success {
			r.worked++
		}
		if r.insight == "" && len(l.Insights) > 0 {
			r.insight = oneLine(l.Insights[0])
		}
	}
	if len(records) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("For similar questions, these ways were tried before:")
	for _, r := range records[:min(maxAdvised, len(records))] {
		fmt.Fprintf(&b, "\n- %s: it worked %d of %d times", r.name, r.worked, r.tried)
		if r.insight != "" {
			b.WriteString("; " + r.insight)
		}
	}
	return b.String()
}
