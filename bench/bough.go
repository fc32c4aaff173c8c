package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
			return shown(ctx, s, ref)
		},
	})
}

// plainBough counts all that the workspace holds beside the conversation.
func plainBough(ctx context.Context, w *work, dir string) ([]footprint, error) {
	times, n, _, err := fiftyBough(ctx, w, dir, workspace.SnapshotOptions{})
	return []footprint{{"plain JSON, each stands alone", n, times.each()}}, err
}

// packedBough does the same with automatic checkpoints that are packed, before and after
// upkeep.
func packedBough(ctx context.Context, w *work, dir string) ([]footprint, error) {
	times, packed, own, err := fiftyBough(ctx, w, dir, workspace.SnapshotOptions{Auto: true, Packed: true})
	if err != nil {
		return nil, err
	}
	list := []footprint{{"after the last checkpoint", packed, times.each()}}
	s, err := workspace.Open(ctx, dir, nil)
	if err != nil {
		return nil, err
	}
	err = times.do(func() error {
		_, err := s.Prune(ctx, workspace.PruneOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	recipes, err := filepath.Glob(filepath.Join(dir, "packed", "*.json"))
	if err != nil || len(recipes) != times.n {
		return nil, errors.Join(err, fmt.Errorf("%d checkpoints are packed, want %d", len(recipes), times.n))
	}
	kept, err := bytesIn(dir, own.not)
	return append(list, footprint{"after a prune, which is part of the time", kept, times.each()}), err
}

// nameSet is a set of file names.
type nameSet map[string]bool

func (s nameSet) not(name string) bool { return !s[name] }

// fiftyBough takes the checkpoints in the workspace dir. It returns how many bytes the
// workspace has in files that are not in own.
func fiftyBough(ctx context.Context, w *work, dir string, o workspace.SnapshotOptions) (times laps, n int64, own nameSet, err error) {
	s, err := workspace.Open(ctx, dir, nil)
	if err != nil {
		return times, 0, nil, err
	}
	own = nameSet{}
	var before chat
	err = w.growing(false, func(c chat) error {
		if err := c.write(dir, before); err != nil {
			return err
		}
		before = c
		for _, f := range c {
			own[f.ID+".json"] = true
		}
		var snap *workspace.Snapshot
		err := times.checkpoint(func() (err error) {
			snap, err = s.Checkpoint(ctx, c.tail().ID, o)
			return err
		})
		if err != nil {
			return err
		}
		if !o.Packed {
			return sameSnapshot(snap.Path, c.messages())
		}
		verify, err := shown(ctx, s, snap.ID)
		if err != nil {
			return err
		}
		return verify(c.messages())
	})
	if err == nil {
		n, err = bytesIn(dir, own.not)
	}
	return times, n, own, err
}

// shown loads a session and returns a function that compares its messages.
func shown(ctx context.Context, s *workspace.Workspace, ref string) (verify func(want []testchat.Message) error, err error) {
	c, err := s.Show(ctx, ref, session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	messages := make([][]byte, 0, len(c.Messages))
	for _, m := range c.Messages {
		messages = append(messages, m.Raw)
	}
	return func(want []testchat.Message) error { return same(messages, want) }, nil
}
