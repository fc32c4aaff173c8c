package desk

import (
	"context"
	"errors"

	"github.com/bough-dev/bough/examples/assistant/view"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// facts reads what the window shows.
func (d *Desk) facts(ctx context.Context) (f view.Facts, err error) {
	const tries = 3
	for range tries {
		// Another program may remove a conversation between two reads.
		if f, err = d.read(ctx); !errors.Is(err, fault.NotFound) {
			break
		}
	}
	return f, err
}

// read reads what the window shows. If the open conversation was removed, it
// opens that of the agent's head.
func (d *Desk) read(ctx context.Context) (f view.Facts, err error) {
	if f.Sessions, err = d.w.Tree(ctx, ""); err != nil {
		return f, err
	}
	if f.Agent, err = d.agent.Snapshot(ctx); err != nil {
		return f, err
	}
	info, err := d.agent.Info(ctx)
	if err != nil {
		return f, err
	}
	for _, t := range info.Trees {
		f.Trees = append(f.Trees, t.ID)
	}
	f.Ref = d.opened()
	if f.Open, err = d.w.Show(ctx, f.Ref, session.ReadOptions{}); err != nil {
		if errors.Is(err, fault.NotFound) {
			d.reopen(f.Ref, info.Head.Tree)
		}
		return f, err
	}
	line := f.Line()
	ends, err := d.w.Branches(ctx, line, workspace.BranchesOptions{Messages: true})
	if err != nil {
		return f, err
	}
	f.Ends = ends.Leaves
	if ref := settled(f, line); ref != f.Ref {
		d.reopen(f.Ref, ref)
		return d.read(ctx)
	}
	f.Dependents, err = d.w.Dependents(ctx, line, workspace.RemoveOptions{Line: true})
	return f, err
}

// settled returns the open conversation: the end that the user chose as long as it is one
// of several, else the conversation under the id of its first file.
func settled(f view.Facts, line string) string {
	for _, l := range f.Ends {
		if ref := view.EndRef(line, l.ID); ref == f.Ref && len(f.Ends) > 1 {
			return ref
		}
	}
	return line
}

// Run passes the screen to show, now and after each change, until ctx ends. It
// does not call show concurrently.
func (d *Desk) Run(ctx context.Context, show func(view.Screen, error)) {
	from, err := d.w.Position(ctx) // before anything is read, so no change is missed
	if err != nil {
		show(view.Screen{}, err)
		return
	}
	failed := make(chan error, 1)
	go func() { failed <- d.follow(ctx, from.Seq) }()
	d.announce()
	var f view.Facts
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-failed:
			show(view.Screen{}, err)
		case <-d.changed:
			if f, err = d.current(ctx, f); err == nil {
				show(view.Of(f), nil)
			} else if ctx.Err() == nil {
				show(view.Screen{}, err)
			}
		}
	}
}

// current returns the current facts. It reads the workspace only if that changed
// since f.
func (d *Desk) current(ctx context.Context, f view.Facts) (view.Facts, error) {
	d.mu.Lock()
	stale := d.stale
	d.stale = false
	d.mu.Unlock()
	if stale {
		read, err := d.facts(ctx)
		if err != nil {
			d.mu.Lock()
			d.stale = true // read again with the next change
			d.mu.Unlock()
			return f, err
		}
		f = read
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f.Arriving, f.Limit, f.Stoppable = d.arriving, d.limit, d.stop != nil
	return f, nil
}
