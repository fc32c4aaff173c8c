package folders

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bough-dev/bough/internal/bisect"
	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/origin"
)

// Tester tests a step of a bisection: it returns the verdict, with what else is known. Message and
// State of the result are set for it.
type Tester = func(context.Context, origin.Trial) (origin.Test, error)

// Bisect finds the step of the path to a REF that made something go wrong. It tests the ends
// first, then by halving, and then the result again. The context of test ends with ctx.
func Bisect(ctx context.Context, w *store.Store, dir, ref string, o origin.BisectOptions, test Tester) (*origin.Found, error) {
	plan, err := planBisection(ctx, w, dir, ref, o)
	if err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "bough-bisect-")
	if err != nil {
		return nil, err
	}
	defer isolate.RemoveAll(temp)
	b := &bisector{
		store: w, steps: plan.Steps, out: filepath.Join(temp, "files"), test: test, search: plan.search,
		found: origin.Found{Dir: plan.Dir, Tests: []origin.Test{}},
	}
	return &b.found, b.find(ctx)
}

type bisector struct {
	store  *store.Store
	steps  []origin.Step
	out    string // the folder of a trial
	test   Tester
	search *bisect.Search
	found  origin.Found
}

func (b *bisector) find(ctx context.Context) error {
	last := len(b.steps) - 1
	for _, end := range []struct {
		step int
		want origin.Verdict
	}{{0, origin.Good}, {last, origin.Bad}} {
		got, err := b.try(ctx, end.step, origin.Trial{Want: end.want})
		if err != nil {
			return err
		}
		if got != end.want {
			return &fault.Error{
				Code: fault.Refused, Message: fmt.Sprintf("the files at message %s are %s, not %s", b.steps[end.step].Message, got, end.want),
				Next: fault.Do(fault.ChooseEnds),
			}
		}
	}
	for step, ok := b.search.Next(); ok; step, ok = b.search.Next() {
		t := origin.Trial{}
		t.Steps, t.Tests = b.search.Left()
		got, err := b.try(ctx, step, t)
		if err != nil {
			return err
		}
		b.search.Record(step, map[origin.Verdict]bisect.Verdict{origin.Good: bisect.Good, origin.Bad: bisect.Bad, origin.Skipped: bisect.Skip}[got])
	}
	return b.conclude(ctx)
}

// conclude tests the result once more, and adds what changed.
func (b *bisector) conclude(ctx context.Context) error {
	good, bad := b.search.Found()
	for _, again := range []struct {
		step int
		want origin.Verdict
	}{{good, origin.Good}, {bad, origin.Bad}} {
		got, err := b.try(ctx, again.step, origin.Trial{Want: again.want, Again: true, Steps: bad - good})
		if err != nil {
			return err
		}
		b.found.Flaky = b.found.Flaky || got != again.want
	}
	b.found.Candidates, b.found.Good = b.steps[good+1:bad+1], b.steps[good]
	var err error
	b.found.Diff, err = Diff(ctx, b.store, b.found.Dir, b.steps[good].State, b.steps[bad].State, files.DiffOptions{Patch: true})
	return err
}

// try tests a step in a folder with its files.
func (b *bisector) try(ctx context.Context, step int, t origin.Trial) (origin.Verdict, error) {
	t.Step, t.Number, t.Of = b.steps[step], step+1, len(b.steps)
	made, err := Checkout(ctx, b.store, b.found.Dir, t.State, b.out)
	if err != nil {
		return "", err
	}
	defer isolate.RemoveAll(made.Root)
	t.Dir = made.Dir
	result, err := b.test(ctx, t)
	if err != nil {
		return "", err
	}
	result.Message, result.State = string(t.Message), t.State
	b.found.Tests = append(b.found.Tests, result)
	return result.Verdict, nil
}
