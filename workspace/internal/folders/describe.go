package folders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Coverage returns what a state of a folder would hold now.
func Coverage(ctx context.Context, w *store.Store, dir string) (*files.Coverage, error) {
	f, err := Find(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return store.Read(ctx, w, func(v *store.View) (*files.Coverage, error) {
		s := open(v.Root)
		defer s.Close()
		now, left, err := s.Look(ctx, f.request(w, states.State{Folder: f.ID}, files.SnapOptions{}), io.Discard)
		if err != nil {
			return nil, explain(err)
		}
		c := &files.Coverage{Folder: f.Path, Files: now.Files, Bytes: now.Bytes, Left: leftOf(left)}
		list, err := s.States()
		if _, ok := errors.AsType[*states.RecordError](err); err != nil && !ok {
			return nil, err
		}
		c.Store.States = len(list)
		for _, st := range slices.Backward(list) {
			if f.ID == "" || st.Folder != f.ID {
				continue
			}
			if c.State, err = describe(s, st, f.Path); err != nil {
				w.Opts.Note(unreadable(st, err))
				c.State = recorded(st, f.Path)
			}
			break
		}
		c.Store.Bytes, err = s.Size()
		return c, err
	})
}

// describe returns a state as results have it. dir is the path of its folder.
func describe(s *states.Store, st *states.State, dir string) (*files.State, error) {
	d := recorded(st, dir)
	c, err := s.CoverageOf(st)
	if err != nil {
		return nil, explain(err)
	}
	d.Left = leftOf(c.Left)
	return d, nil
}

// recorded returns a state as results have it, without what it does not hold.
func recorded(st *states.State, dir string) *files.State {
	d := &files.State{
		ID: st.ID, Dir: dir, Time: store.TimeOf(st.Time), Session: session.ID(st.SessionID), Message: session.ID(st.MessageID),
		At: string(st.At), Files: st.Files, Bytes: st.Bytes, NewBytes: st.NewBytes, Exact: true, Late: st.Late, Left: []files.Left{},
	}
	if st.Git != nil {
		d.Git = &files.Git{Head: st.Git.Head, Branch: st.Git.Branch}
	}
	return d
}

// unreadable says that it cannot be read what a state does not hold.
func unreadable(st *states.State, err error) string {
	return fmt.Sprintf("what the state %s does not hold cannot be read: %v", st.ID, err)
}

func leftOf(list []scan.Left) []files.Left {
	left := make([]files.Left, len(list))
	for i, l := range list {
		left[i] = files.Left{Path: l.Path, RawPath: files.Raw(l.Path), Why: string(l.Why), Files: l.Files, Bytes: l.Bytes}
	}
	return left
}

// explain gives an error of a scan or of the states its code.
func explain(err error) error {
	if many, ok := errors.AsType[*scan.CountError](err); ok {
		return &fault.Error{Code: fault.Refused, Message: many.Error(), Next: fault.Do(fault.ChooseFolder), Err: err}
	}
	if errors.Is(err, states.ErrForgotten) {
		return &fault.Error{Code: fault.Refused, Message: err.Error(), Err: err}
	}
	if _, ok := errors.AsType[*pack.MissingError](err); ok {
		return &fault.Error{
			Code: fault.Damaged, Message: err.Error(), Err: err,
			Hint: "a copy of the pack, a file " + states.Dir + "/NUMBER.zst of the workspace, repairs it; the other states can be used", Next: fault.Do(fault.Examine),
		}
	}
	_, isPath := errors.AsType[*fs.PathError](err)
	if _, ok := errors.AsType[*pack.DamageError](err); ok || errors.Is(err, fs.ErrNotExist) && !isPath {
		return &fault.Error{Code: fault.Damaged, Message: err.Error(), Hint: "the other states can be used", Next: fault.Do(fault.Examine), Err: err}
	}
	if _, ok := errors.AsType[*states.RecordError](err); ok {
		return &fault.Error{Code: fault.Damaged, Message: err.Error(), Next: fault.Do(fault.Examine), Err: err}
	}
	return err
}
