package workspace

import (
	"context"
	"os"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// Tasks returns the tasks that are visible on the path to a message of the
// line. If message is "", it returns all tasks of the line in their newest
// versions, in their order.
func (ln Line) Tasks(ctx context.Context, message string) ([]task.Task, error) {
	return store.Read(ctx, ln.w.store, func(v *store.View) (tasks []task.Task, err error) {
		l, err := v.LineNamed(ln.name, false)
		if err != nil {
			return nil, err
		}
		ids := l.IDs()
		if message != "" {
			node, err := l.Lookup(message)
			if err != nil {
				return nil, err
			}
			ids = l.IDsOf(l.Path(node))
		}
		err = v.Store.Look(v.Root, func(log *task.Log) {
			if message != "" {
				tasks = log.Visible(ids)
			} else {
				tasks = log.All(ids)
			}
		})
		return tasks, err
	})
}

// Tracking returns the progress of tracking the messages of the line. running
// reports whether the message with an id is being tracked now; nil means none.
func (ln Line) Tracking(ctx context.Context, running func(id string) bool) (*lines.Tracking, error) {
	return store.Read(ctx, ln.w.store, func(v *store.View) (*lines.Tracking, error) {
		l, err := v.LineNamed(ln.name, false)
		if err != nil {
			return nil, err
		}
		t := &lines.Tracking{}
		for _, part := range l.Parts {
			if at, ok := session.ParseTime(part.LastActive); ok && at.After(t.UpdatedAt) {
				t.UpdatedAt = at
			}
		}
		if !l.Tracks() {
			return t, nil
		}
		err = v.Store.Look(v.Root, func(log *task.Log) {
			for n := range l.Len() {
				if l.Stored(n) {
					t.Count(log.State(l.ID(n)), running != nil && running(l.ID(n)))
				}
			}
		})
		return t, err
	})
}

// TrackingOf returns the tracking state of each message of p. If p is a path, it
// also returns the tasks that are visible on it. running is as for
// [Line.Tracking]. TrackingOf reads no session.
func (w *Workspace) TrackingOf(ctx context.Context, p *lines.Path, running func(id string) bool) (_ []lines.MessageTracking, err error) {
	defer func() { err = store.Explained(err) }()
	root, err := w.store.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list := make([]lines.MessageTracking, len(p.Nodes))
	err = w.store.Look(root, func(log *task.Log) {
		tasks := p.TasksOf(log)
		for i, n := range p.Nodes {
			list[i] = lines.MessageTracking{Status: task.Untracked, Task: tasks[n.ID]}
			if p.Line.Untracked || !n.Stored {
				continue
			}
			s := log.State(n.ID)
			list[i].Status, list[i].Error = s.Status(running != nil && running(n.ID)), s.Error
		}
	})
	return list, err
}

// RecordTasks records that a batch of messages was tracked, and returns the
// stored record. A task without an ID is new: it gets an ID and the next order
// of its line. All tasks get their times. RecordTasks is not an operation and
// cannot be undone.
//
// If one of the messages has been tracked successfully in the meantime, perhaps
// by another program, nothing is written and the error has the code
// [fault.Refused]: no message is counted twice.
func (w *Workspace) RecordTasks(ctx context.Context, r task.Record) (*task.Record, error) {
	err := w.store.WithLock(ctx, "tasks", func(root *os.Root) error {
		var done string
		order := 0
		err := w.store.Look(root, func(log *task.Log) {
			order = log.Order(r.Session)
			for _, id := range r.Messages {
				if log.State(id).Done {
					done = id
				}
			}
		})
		if err != nil {
			return err
		}
		if done != "" {
			return &fault.Error{Code: fault.Refused, Message: "another program has already tracked the message " + done + " meanwhile"}
		}
		if err := complete(w.store, &r, order); err != nil {
			return err
		}
		line := r.Encode()
		if _, err := task.Decode(line); err != nil {
			return &fault.Error{Code: fault.Usage, Message: "nothing is recorded: " + err.Error()}
		}
		_, err = durable.Append(root, task.Path, line)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &r, nil
}

// complete sets the missing fields of the tasks of r. order is the highest
// order of their line so far.
func complete(w *store.Store, r *task.Record, order int) error {
	now := w.Opts.Now().Truncate(time.Microsecond)
	r.Time = now
	tasks := make([]task.Task, len(r.Tasks))
	for i, t := range r.Tasks {
		at := now.Add(time.Duration(i) * time.Microsecond)
		if t.ID == "" {
			id, err := sessionid.NewMessage(w.Opts.Random)
			if err != nil {
				return err
			}
			t.ID, t.Created, t.Order = id, at, max(t.Order, order+1)
			order = t.Order
		}
		t.Updated = at
		tasks[i] = t
	}
	r.Tasks = tasks
	return nil
}
