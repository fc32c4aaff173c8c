package folders

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Snap takes a state of a folder for the message at ref. If ref is empty, that is the newest
// message at the head; without a head, the state belongs to no message.
func Snap(ctx context.Context, w *store.Store, dir, ref string, o files.SnapOptions) (*files.State, error) {
	f, err := Find(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	h, err := hold(ctx, w, f, "files snap")
	if err != nil {
		return nil, err
	}
	defer h.Release()
	return store.Create(ctx, w, operation.Operation{Verb: "files snap"}, func(tx *store.Tx) (*files.State, error) {
		session, message, err := messageAt(tx.View, ref)
		if err != nil {
			return nil, err
		}
		return f.take(tx.View, states.State{At: states.Manual, SessionID: session, MessageID: message}, o)
	})
}

// messageAt returns the message at ref, or at the head if ref is empty.
func messageAt(v *store.View, ref string) (session, message string, err error) {
	if ref == "" {
		if _, ok := v.Head(); !ok {
			return "", "", nil
		}
		ref = store.HeadName
	}
	p, err := v.Place(ref, false)
	if err != nil || p.MessageID() == "" {
		return "", "", err
	}
	return p.Parts[p.Part(p.Node)].ID, p.MessageID(), nil
}

// take takes a state, and links it to its message. The caller holds the locks.
func (f *Folder) take(v *store.View, state states.State, o files.SnapOptions) (*files.State, error) {
	s := open(v.Root)
	defer s.Close()
	id, err := sessionid.NewMessage(v.Store.Opts.Random)
	if err != nil {
		return nil, err
	}
	registered, err := s.Register(f.Path, id)
	if err != nil {
		return nil, err
	}
	if state.ID, err = sessionid.NewMessage(v.Store.Opts.Random); err != nil {
		return nil, err
	}
	state.Folder, state.Time = registered.ID, session.Bough.Time(v.Store.Opts.Now())
	taken, err := s.Take(v.Ctx, f.request(v.Store, state, o))
	if err != nil {
		return nil, explain(err)
	}
	if taken.MessageID != "" {
		link := states.Link{SessionID: taken.SessionID, MessageID: taken.MessageID, Folder: taken.Folder, State: taken.ID, Time: taken.Time}
		if err := s.Link(link); err != nil {
			return nil, err
		}
	}
	return describe(s, taken, registered.Path)
}

// request returns the request for a state of the folder.
func (f *Folder) request(w *store.Store, state states.State, o files.SnapOptions) states.Request {
	rules := coverage.Look(f.Path, coverage.Options{Env: os.Getenv, Secrets: o.Secrets})
	for _, problem := range rules.Problems() {
		w.Opts.Note(problem.Error())
	}
	if r := rules.Repository; r != nil {
		head, branch, err := r.Head()
		if err != nil {
			w.Opts.Note(err.Error())
		}
		state.Git = &states.Git{Head: head, Branch: branch}
	}
	return states.Request{
		State: state, Dir: f.Path, Secrets: o.Secrets, Sources: rules.Outside,
		Scan: scan.Options{
			Rules:    rules.Rules(),
			Progress: func(done, total int64) { w.Opts.Progress("reading "+f.Path, done, total) },
		},
	}
}

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
		if err != nil {
			return nil, err
		}
		c.Store.States = len(list)
		for _, st := range list {
			if f.ID == "" || st.Folder != f.ID {
				continue
			}
			if c.State, err = describe(s, st, f.Path); err != nil {
				return nil, err
			}
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

func leftOf(list []scan.Left) []files.Left {
	left := make([]files.Left, len(list))
	for i, l := range list {
		left[i] = files.Left{Path: l.Path, Why: string(l.Why), Files: l.Files, Bytes: l.Bytes}
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
	_, isPath := errors.AsType[*fs.PathError](err)
	if _, ok := errors.AsType[*pack.DamageError](err); ok || errors.Is(err, fs.ErrNotExist) && !isPath {
		return &fault.Error{Code: fault.Damaged, Message: err.Error(), Hint: "the other states can be used", Next: fault.Do(fault.Examine), Err: err}
	}
	if _, ok := errors.AsType[*states.RecordError](err); ok {
		return &fault.Error{Code: fault.Damaged, Message: err.Error(), Next: fault.Do(fault.Examine), Err: err}
	}
	return err
}
