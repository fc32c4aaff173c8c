package main

import (
	"context"
	"os"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// A boughWay is a way to call bough. A snapshot is the path of its file.
type boughWay struct {
	checkpoint, branch func(ref string) (path string, err error)
	load               func(ref string) (verify func(want []testchat.Message) error, err error)
}

// boughTasks are the jobs in the workspace dir.
func boughTasks(w *work, dir string, way boughWay) (*running, error) {
	if err := w.chained.write(dir, nil); err != nil {
		return nil, err
	}
	snapshot := func(take func(string) (string, error), ref string, want chat) task {
		var path string
		return task{
			do: func() (err error) {
				path, err = take(ref)
				return err
			},
			verify: func() error { return sameSnapshot(path, want.messages()) },
		}
	}
	ref, grown, cut := w.chained.tail().ID, w.chained.grown(), w.chained.cut(w.branch)
	once := snapshot(way.checkpoint, ref, grown)
	once.before = func() error { return grown.write(dir, w.chained) }
	last := cut.tail().Messages[len(cut.tail().Messages)-1]
	var verify func([]testchat.Message) error
	return &running{
		tasks: map[job]task{
			first:  snapshot(way.checkpoint, ref, w.chained),
			again:  snapshot(way.checkpoint, ref, w.chained),
			later:  once,
			branch: snapshot(way.branch, ref+"@"+last.ID, cut),
			load: {
				do: func() (err error) {
					verify, err = way.load(ref)
					return err
				},
				verify: func() error { return verify(grown.messages()) },
			},
		},
		close: func() error { return nil },
	}, nil
}

// sameSnapshot reads a snapshot without bough.
func sameSnapshot(path string, want []testchat.Message) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return sameDocument(data, want)
}

// openBough calls bough as a library.
func openBough(ctx context.Context, w *work, dir string) (*running, error) {
	s, err := workspace.Open(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	type verb func(context.Context, string, workspace.SnapshotOptions) (*workspace.Snapshot, error)
	snapshot := func(take verb) func(string) (string, error) {
		return func(ref string) (string, error) {
			snap, err := take(ctx, ref, workspace.SnapshotOptions{})
			if err != nil {
				return "", err
			}
			return snap.Path, nil
		}
	}
	return boughTasks(w, dir, boughWay{
		checkpoint: snapshot(s.Checkpoint),
		branch:     snapshot(s.Branch),
		load: func(ref string) (func([]testchat.Message) error, error) {
			s, err := workspace.Open(ctx, dir, nil)
			if err != nil {
				return nil, err
			}
			c, err := s.Show(ctx, ref, session.ReadOptions{})
			if err != nil {
				return nil, err
			}
			messages := make([][]byte, 0, len(c.Messages))
			for _, m := range c.Messages {
				messages = append(messages, m.Raw)
			}
			return func(want []testchat.Message) error { return same(messages, want) }, nil
		},
	})
}

// fiftyBough counts all that the workspace holds beside the conversation.
func fiftyBough(ctx context.Context, w *work, dir string) ([]footprint, error) {
	s, err := workspace.Open(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	var before chat
	err = w.growing(false, func(c chat) error {
		if err := c.write(dir, before); err != nil {
			return err
		}
		before = c
		for _, f := range c {
			own[f.ID+".json"] = true
		}
		snap, err := s.Checkpoint(ctx, c.tail().ID, workspace.SnapshotOptions{})
		if err != nil {
			return err
		}
		return sameSnapshot(snap.Path, c.messages())
	})
	if err != nil {
		return nil, err
	}
	n, err := bytesIn(dir, func(name string) bool { return !own[name] })
	return []footprint{{"plain JSON, each stands alone", n}}, err
}
