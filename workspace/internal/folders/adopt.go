package folders

import (
	"context"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
)

// Adopt changes the files of the folder dir as they changed from one state to another, which
// may be of another folder. at is the message that has these files then, and if moves is true,
// the head goes there in the same operation.
func Adopt(ctx context.Context, w *store.Store, dir, from, to string, at Head, moves bool, op operation.Operation, o restores.Options) (*lines.Position, error) {
	if err := checkOptions(o); err != nil {
		return nil, err
	}
	f, err := Find(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	if f.ID == "" {
		return nil, &fault.Error{Code: fault.NotFound, Message: "no state of " + f.Path, Next: fault.Do(fault.SnapFolder)}
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.restore(ctx, w, op, o, func(r *reading, _ *Folder) (*goal, *store.Place, checkpoint.Adjustment, error) {
		g, err := r.difference(from, to)
		if err != nil {
			return nil, nil, checkpoint.Adjustment{}, err
		}
		p, cut, err := at(r.view)
		if err != nil {
			return nil, nil, cut, err
		}
		g.target.SessionID, g.target.MessageID = p.Source().ID, p.MessageID()
		if !moves {
			p = nil
		}
		return g, p, cut, nil
	})
}

// difference returns the goal of what changed from one state to another.
func (r *reading) difference(from, to string) (*goal, error) {
	base, _, err := r.find(from, nil)
	if err != nil {
		return nil, err
	}
	st, exact, err := r.find(to, nil)
	if err != nil {
		return nil, err
	}
	target := *st // whose message the caller changes
	g, err := r.between(base, &target)
	if err != nil {
		return nil, err
	}
	g.exact, g.link = exact, true
	return g, nil
}

// link notes that the state after a restore belongs to the message of the target.
func (h *Held) link(s *states.Store, target *states.State) error {
	if h.made.after == "" {
		return nil
	}
	return s.Link(states.Link{
		SessionID: target.SessionID, MessageID: target.MessageID, Folder: h.ID, State: h.made.after,
		Time: session.Bough.Time(h.w.Opts.Now()),
	})
}
