package folders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/restores"
)

// A Held is a folder whose lock a process has.
type Held struct {
	*Folder
	// Ctx is the context for a restore. It ends with that of the caller, unless files have begun
	// to change.
	Ctx    context.Context
	w      *store.Store
	ctx    *lasting
	unlock func()
	draft  *draft // of the state before a restore, nil if it was used
	made   *made  // the restore that was made
}

// A draft is a state before a restore, for which the folder was read.
type draft struct {
	*states.Draft
	root   *os.Root
	store  *states.Store
	accept func(*states.State) error // is called by the commit
}

func (d *draft) close() {
	d.Discard()
	d.store.Close()
	d.root.Close()
}

// A made restore changed the files of a folder, or found nothing to change.
type made struct {
	result        *restores.Restore
	pending       *pending // nil if nothing changed
	before, after string   // IDs of states, "" if they were not taken
}

// Hold locks the folder with an id, which is registered, completes an interrupted restore of it,
// and reads it for the state before another one.
func Hold(ctx context.Context, w *store.Store, id, verb string) (*Held, error) {
	h, err := holdID(ctx, w, id, verb)
	if err != nil {
		return nil, err
	}
	if err := h.prepare(ctx); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// holdID is hold for the folder with an id.
func holdID(ctx context.Context, w *store.Store, id, verb string) (*Held, error) {
	known, err := registered(ctx, w)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(known, func(k states.Folder) bool { return k.ID == id })
	if i < 0 {
		return nil, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("the folder with the id %q is no longer registered", id), Hint: "nothing was changed", Next: fault.Do(fault.ListStates)}
	}
	f, err := relocate(ctx, w, known[i])
	if err != nil {
		return nil, err
	}
	return hold(ctx, w, f, verb)
}

// relocate returns a registered folder, which is the current directory if it is no longer at
// its path.
func relocate(ctx context.Context, w *store.Store, k states.Folder) (*Folder, error) {
	f, err := Find(ctx, w, k.Path)
	if err == nil && f.ID == k.ID || err != nil && !store.IsNotFound(err) {
		return f, err
	}
	if !w.Confined {
		if here, err := Find(ctx, w, ""); err == nil && here.ID == k.ID {
			return here, nil
		}
	}
	e := &fault.Error{
		Code: fault.NotFound, Message: "no folder " + k.Path, Err: err,
		Hint: "if it was renamed, use its new path as current directory",
	}
	if err == nil {
		e.Message = "another folder is at " + k.Path
	}
	return nil, e
}

func hold(ctx context.Context, w *store.Store, f *Folder, verb string) (*Held, error) {
	unlock, err := f.lock(ctx, w, verb)
	if err != nil {
		return nil, err
	}
	h := &Held{Folder: f, w: w.Restoring(), ctx: newLasting(ctx), unlock: unlock}
	h.Ctx = h.ctx
	if err := cmp.Or(h.settle(ctx), f.checkNotice(w)); err != nil {
		h.Release()
		return nil, err
	}
	return h, nil
}

// Release releases the lock.
func (h *Held) Release() {
	if h.draft != nil {
		h.draft.close()
	}
	h.ctx.release()
	h.unlock()
}

// prepare reads the folder for the state before a restore, so that the workspace need not be
// locked meanwhile.
func (h *Held) prepare(ctx context.Context) error {
	if h.ID == "" {
		return nil
	}
	root, err := h.w.Open(ctx)
	if err != nil {
		return err
	}
	d := &draft{root: root, store: open(root)}
	r, err := h.restoreRequest(states.State{})
	if err == nil {
		r.Accept = func(st *states.State) error { return d.accept(st) }
		d.Draft, err = d.store.Draft(ctx, r)
	}
	if err != nil {
		d.store.Close()
		root.Close()
		return explain(err)
	}
	h.draft = d
	return nil
}

// before takes the state before a restore, of the draft if that is not stale.
func (h *Held) before(v *store.View, s *states.Store, state states.State, accept func(*states.State) error) (*states.State, error) {
	if d := h.draft; d != nil {
		h.draft = nil
		defer d.close()
		d.accept = accept
		d.State.SessionID, d.State.MessageID = state.SessionID, state.MessageID
		if st, err := d.Commit(v.Ctx); !errors.Is(err, states.ErrStale) {
			return st, err
		}
	}
	return h.record(v, s, state, accept)
}

// change restores files, and makes it part of the operation of tx. If always is false and
// nothing has to change, it is not. A caller whose commit failed may call it again: what was
// restored stays, and only the rest is done once more.
func (h *Held) change(tx *store.Tx, s *states.Store, g *goal, o restores.Options, always bool) (*restores.Restore, error) {
	if h.made == nil {
		if err := h.apply(tx, s, g, o, always); err != nil {
			return nil, err
		}
	}
	m := h.made
	if m.before == "" {
		return m.result, nil
	}
	if m.after == "" {
		after, err := h.record(tx.View, s, states.State{Since: m.before, SessionID: g.target.SessionID, MessageID: g.target.MessageID}, nil)
		if err != nil {
			return nil, err
		}
		m.after = after.ID
	}
	tx.Op.Args = argsOf(tx.Op.Args, h.Path, m.before, m.result.To)
	tx.Op.Files = &operation.Restored{Folder: h.ID, Before: m.before, After: m.after}
	return m.result, nil
}

// argsOf returns arguments of an operation with those of a restore.
func argsOf(args store.Args, dir, before, to string) store.Args {
	if args == nil {
		args = store.Args{}
	}
	args["dir"], args["before"], args["to"] = dir, before, to
	return args
}

// apply takes the state before, and restores the files.
func (h *Held) apply(tx *store.Tx, s *states.Store, g *goal, o restores.Options, always bool) error {
	var plan *restore.Plan
	errSame := errors.New("nothing changes")
	accept := func(st *states.State) error {
		c, err := s.CoverageOf(st)
		if err != nil {
			return err
		}
		if plan, err = h.plan(s, g, &scanned{st.Tree, c.Left, s.Get}, o); err != nil {
			return err
		}
		if len(plan.Conflicts) > 0 {
			return &restores.ConflictError{Dir: h.Path, Conflicts: h.resultOf(g, plan, o).Conflicts}
		}
		if len(plan.Changes) == 0 && !always {
			return errSame
		}
		return h.register(s)
	}
	before, err := h.before(tx.View, s, states.State{SessionID: g.target.SessionID, MessageID: g.target.MessageID}, accept)
	if errors.Is(err, errSame) {
		h.made = &made{result: h.resultOf(g, plan, o)}
		return nil
	}
	if err != nil {
		return err
	}
	m := &made{result: h.resultOf(g, plan, o), before: before.ID}
	m.result.Before = before.ID
	if len(plan.Changes) == 0 {
		m.after = before.ID
		h.made = m
		return nil
	}
	m.pending = pendingOf(tx, before.ID, g)
	folder, err := h.open()
	if err != nil {
		return errors.Join(err, s.Remove(before.ID))
	}
	defer folder.Close()
	j := h.journal(tx.View.Root)
	j.Begin = func() error { return cmp.Or(h.announce(h.w), h.ctx.keep()) }
	report, err := restore.Apply(tx.View.Ctx, folder, j, contents{s}, plan, m.pending.encode())
	if err != nil {
		return h.failed(s, j, before, err)
	}
	m.result = reported(m.result, report)
	h.made = m
	return nil
}

// register registers the folder before its first state, which is that before a restore.
func (h *Held) register(s *states.Store) error {
	if !h.isNew {
		return nil
	}
	k, err := s.Register(h.Path, h.ID)
	if err == nil && k.ID != h.ID {
		err = &fault.Error{Code: fault.Locked, Message: h.Path + " got its first state meanwhile", Hint: "nothing was changed; try again"}
	}
	h.isNew = h.isNew && err != nil
	return err
}

// failed returns the error of a restore that failed after its first state. If nothing was
// changed, the state is removed.
func (h *Held) failed(s *states.Store, j restore.Journal, before *states.State, err error) error {
	if is, unknown := j.Pending(); is || unknown != nil {
		if store.IsChanged(err) { // nothing must be tried again
			err = errors.New(err.Error())
		}
		return unfinished(err)
	}
	if missing, ok := errors.AsType[*restore.MissingError](err); ok {
		err = &fault.Error{Code: fault.Refused, Message: missing.Error(), Hint: "nothing was changed", Err: err}
	}
	return errors.Join(unchanged(err), s.Remove(before.ID))
}

// unchanged says of an error of the system, such as a full disk, that nothing was changed.
func unchanged(err error) error {
	if err == nil {
		return nil
	}
	e := store.Explain(err)
	if e.Code != fault.Failed || e.Hint != "" || e.Message != err.Error() {
		return err
	}
	return &fault.Error{Code: fault.Failed, Message: e.Message, Hint: "nothing was changed", Err: err}
}

// journal returns the journal of restores of the folder.
func (f *Folder) journal(workspace *os.Root) restore.Journal {
	return restore.JournalOf(workspace, f.ID)
}

// record takes a state of a restore. It belongs to the message that the files go to, but it is
// not linked to it.
func (h *Held) record(v *store.View, s *states.Store, state states.State, accept func(*states.State) error) (*states.State, error) {
	r, err := h.restoreRequest(state)
	if err != nil {
		return nil, err
	}
	r.Accept = accept
	return s.Take(v.Ctx, r)
}

// restoreRequest returns the request for a state of a restore.
func (h *Held) restoreRequest(state states.State) (states.Request, error) {
	var err error
	if state.ID, err = sessionid.NewMessage(h.w.Opts.Random); err != nil {
		return states.Request{}, err
	}
	state.Folder, state.At, state.Time = h.ID, states.Restore, stamp(h.w)
	return h.request(h.w, state, files.SnapOptions{}), nil
}

// contents are those of states, for a restore.
type contents struct{ *states.Store }

func (c contents) Size(id pack.ID) (int64, bool) { return c.SizeOf(id) }

// Conclude ends a restore whose operation was committed or, because of err, was not.
func (h *Held) Conclude(err error) error {
	m := h.made
	h.made = nil
	if m == nil || m.pending == nil {
		return err
	}
	if err != nil {
		return unfinished(err)
	}
	root, err := os.OpenRoot(h.w.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return h.end(h.journal(root))
}

// end removes the journal of a restore that is complete, and its notice.
func (h *Held) end(j restore.Journal) error {
	if err := j.Remove(); err != nil {
		return err
	}
	return h.checkNotice(h.w)
}
