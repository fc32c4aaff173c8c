package remote

import (
	"context"
	"errors"

	"github.com/bough-dev/bough/remote/plan"
)

// Fetch reads the new records of other machines, as Pull does, but changes nothing in the
// workspace. Afterwards Sessions, Heads and Operations return the new state, and the next Pull
// applies it.
func (r *Remote) Fetch(ctx context.Context) (*Result, error) {
	return r.withoutAhead(ctx, "fetch", func(without *fetched) (*Result, error) {
		j, err := r.begin(ctx, "fetch", false)
		if err != nil {
			return nil, err
		}
		defer j.end()
		if err := errors.Join(j.pull(plan.Scope{Kinds: map[string]bool{}}, PullOptions{}, without), j.save()); err != nil {
			return nil, err
		}
		return j.done(), nil
	})
}
