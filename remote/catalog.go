package remote

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/mirror"
)

// read calls f with what was read of the remote and uploaded, without a request and without a lock.
func read[T any](r *Remote, f func(s *stored, v *plan.View) (T, error)) (result T, err error) {
	s, err := openStored(r.root)
	if errors.Is(err, fs.ErrNotExist) { // nothing was exchanged yet
		return f(&stored{synced: synced{Here: plan.NewHere()}}, plan.NewView(join.New()))
	}
	if err != nil {
		return result, err
	}
	defer s.Close()
	result, err = f(s, plan.NewView(s.state))
	return result, errors.Join(err, s.rows.Err())
}

// Sessions returns the sessions of the remote, ascending by id, as the last pull or push has them. It
// makes no request.
func (r *Remote) Sessions(ctx context.Context) ([]RemoteSession, error) {
	return read(r, func(s *stored, view *plan.View) ([]RemoteSession, error) {
		f, err := r.w.Mirror().Facts(ctx, mirror.Known{Versions: s.Here.Versions, Projects: s.Here.Projects})
		if err != nil {
			return nil, err
		}
		here := map[string]bool{}
		for _, s := range f.Sessions {
			here[s.ID] = true
		}
		list := []RemoteSession{}
		for s := range view.Sessions() {
			if !s.Alive || view.IsPurged(s.ID) {
				continue
			}
			one := RemoteSession{ID: s.ID, Title: s.Title, Owner: s.Owner, Project: s.Project, Here: here[s.ID]}
			for _, run := range s.Runs {
				one.Count += run.Body.Count + len(run.Body.Items)
			}
			list = append(list, one)
		}
		return list, nil
	})
}

// Operations returns the operations of the logs of all machines, in an order that is the same on all
// of them and in which an operation follows those that its machine had seen. It makes no request.
func (r *Remote) Operations(ctx context.Context) ([]Operation, error) {
	return read(r, func(_ *stored, view *plan.View) ([]Operation, error) {
		own, err := stream.MachineIn(r.root)
		if err != nil {
			return nil, err
		}
		machines := map[record.Machine]join.Machine{}
		for _, m := range view.Machines {
			machines[m.ID] = m
		}
		list := []Operation{}
		for _, o := range view.Log() {
			m := machines[o.Machine]
			list = append(list, Operation{Machine: m.Name, Person: m.Person, Own: o.Machine == own, Line: o.Line})
		}
		return list, ctx.Err()
	})
}

// Heads returns the heads of the machines of the remote, by their names. It makes no request.
func (r *Remote) Heads(ctx context.Context) (map[string]mirror.Head, error) {
	return read(r, func(_ *stored, view *plan.View) (map[string]mirror.Head, error) {
		heads := map[string]mirror.Head{}
		for _, m := range view.Machines {
			if m.Head != nil {
				heads[m.Name] = *m.Head
			}
		}
		return heads, ctx.Err()
	})
}
