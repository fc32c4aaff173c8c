package remote

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/workspace/mirror"
)

// stored returns the view of what was read of the remote and uploaded, without a request and without
// a lock.
func (r *Remote) stored() (*plan.View, error) {
	data, err := durable.ReadFile(r.root, stateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return plan.NewView(join.New()), nil
	}
	if err != nil {
		return nil, err
	}
	state, err := join.Decode(data)
	if err != nil {
		return nil, err
	}
	return plan.NewView(state), nil
}

// Sessions returns the sessions of the remote, ascending by id, as the last pull or push has them. It
// makes no request.
func (r *Remote) Sessions(ctx context.Context) ([]RemoteSession, error) {
	view, err := r.stored()
	if err != nil {
		return nil, err
	}
	f, err := r.w.Mirror().Facts(ctx, mirror.Known{Versions: readSynced(r.root).Here.Versions()})
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, s := range f.Sessions {
		here[s.ID] = true
	}
	list := []RemoteSession{}
	for _, s := range view.Sessions {
		if !s.Alive || view.IsPurged(s.ID) {
			continue
		}
		one := RemoteSession{ID: s.ID, Title: s.Title, Here: here[s.ID]}
		for _, run := range s.Runs {
			one.Count += run.Body.Count + len(run.Body.Items)
		}
		list = append(list, one)
	}
	return list, nil
}

// Operations returns the operations of the logs of all machines, in an order that is the same on all
// of them and in which an operation follows those that its machine had seen. It makes no request.
func (r *Remote) Operations(ctx context.Context) ([]Operation, error) {
	view, err := r.stored()
	if err != nil {
		return nil, err
	}
	names, own := map[string]string{}, readSynced(r.root).Machine
	for _, m := range view.Machines {
		names[string(m.ID)] = m.Name
	}
	list := []Operation{}
	for _, o := range view.Log {
		list = append(list, Operation{Machine: names[string(o.Machine)], Own: o.Machine == own, Line: o.Line})
	}
	return list, ctx.Err()
}

// Heads returns the heads of the machines of the remote, by their names. It makes no request.
func (r *Remote) Heads(ctx context.Context) (map[string]mirror.Head, error) {
	view, err := r.stored()
	if err != nil {
		return nil, err
	}
	heads := map[string]mirror.Head{}
	for _, m := range view.Machines {
		if m.Head != nil {
			heads[m.Name] = *m.Head
		}
	}
	return heads, ctx.Err()
}
