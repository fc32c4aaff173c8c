package folders

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/bough-dev/bough/internal/coverage"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/scan"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A Wish is a state that is to be taken.
type Wish struct {
	At      states.Moment
	Session string // of Message
	Message string // the newest one, "" if there is none
	Prompt  string // see [files.SnapOptions]
	Link    bool   // note in links.jsonl that the state belongs to Message
	Secrets bool   // hold files with secrets too
	KeepOld bool   // see [files.SnapOptions]

	// Temporary says that the folder will be removed: it is not recognized later.
	Temporary bool

	// Late reports, when the folder was read, whether what the state belongs to went on
	// meanwhile. If nil, it did not.
	Late func() bool

	follow *following // nil if the folder is not watched
}

// A Taken is a state that was taken.
type Taken struct {
	Folder string // its ID
	*files.State
}

// Snap takes a state of a folder for the message at ref. If ref is empty, that is the newest
// message at the head; without a head, the state belongs to no message.
func Snap(ctx context.Context, w *store.Store, dir, ref string, o files.SnapOptions) (*files.State, error) {
	want, err := wishOf(o)
	if err != nil {
		return nil, err
	}
	f, err := Find(ctx, w, dir)
	if err == nil && o.Within && dir != "" {
		f, err = f.within(ctx, w)
	}
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if !o.NoMessage && (ref != "" || o.Prompt == "" && store.Is(w.Dir)) {
		at, err := store.Read(ctx, w, func(v *store.View) (Wish, error) { return messageAt(v, ref) })
		if err != nil {
			return nil, err
		}
		want.Session, want.Message = at.Session, at.Message
	}
	taken, err := f.take(ctx, w, "files snap", want)
	if err != nil {
		return nil, err
	}
	return taken.State, nil
}

// wishOf returns the wish for a state with these options.
func wishOf(o files.SnapOptions) (Wish, error) {
	want := Wish{At: cmp.Or(states.Moment(o.At), states.Manual), Prompt: o.Prompt, Link: true, Secrets: o.Secrets, KeepOld: o.KeepOld, Temporary: o.Temporary}
	if o.Late {
		want.Late = func() bool { return true }
	}
	return want, lookup.Word("moment", want.At, states.Prompt, states.End, states.Checkpoint, states.Manual)
}

// messageAt returns the message at ref, or at the head if ref is empty.
func messageAt(v *store.View, ref string) (at Wish, err error) {
	if ref == "" {
		if _, ok := v.Head(); !ok {
			return at, nil
		}
		ref = store.HeadName
	}
	p, err := v.Place(ref, false)
	if err != nil || p.MessageID() == "" {
		return at, err
	}
	return Wish{Session: p.Parts[p.Part(p.Node)].ID, Message: p.MessageID()}, nil
}

// Take takes a state of the folder dir.
func Take(ctx context.Context, w *store.Store, dir string, want Wish) (*Taken, error) {
	f, err := Find(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.take(ctx, w, "files snap", want)
}

// Check returns the error that no state of the folder dir can be taken: it does not exist or
// is too wide.
func Check(ctx context.Context, w *store.Store, dir string) error {
	f, err := Find(ctx, w, dir)
	if err != nil {
		return err
	}
	return f.check()
}

func stamp(w *store.Store) string { return session.Bough.Time(w.Opts.Now()) }

// Link notes that a state belongs to a message of a session.
func Link(ctx context.Context, w *store.Store, t *Taken, session, message string) error {
	return w.WithLock(ctx, "files snap", func(root *os.Root) error {
		return open(root).Link(states.Link{SessionID: session, MessageID: message, Folder: t.Folder, State: t.ID, Time: stamp(w)})
	})
}

// take takes a state. The lock of the workspace is needed only for its commit.
func (f *Folder) take(ctx context.Context, w *store.Store, verb string, want Wish) (*Taken, error) {
	h, err := hold(ctx, w, f, verb)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	return f.takeLocked(ctx, h.w, verb, want)
}

// takeLocked is take for a caller that holds the lock of the folder, and not that of the
// workspace.
func (f *Folder) takeLocked(ctx context.Context, w *store.Store, verb string, want Wish) (taken *Taken, err error) {
	if err := w.Make(); err != nil {
		return nil, err
	}
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := open(root)
	defer s.Close()
	const tries = 3
	for range tries {
		d, err := f.draft(ctx, w, s, want)
		if err != nil {
			return nil, explain(err)
		}
		if want.follow.skips(d) {
			d.Discard()
			return nil, nil
		}
		taken, err = store.Update(ctx, w, operation.Operation{Verb: verb}, func(*store.Tx) (*Taken, error) {
			return f.commit(ctx, w, s, d, want)
		})
		d.Discard()
		want.follow.took(d, err)
		if errors.Is(err, states.ErrStale) {
			continue
		}
		switch {
		case err != nil:
		case want.KeepOld:
			taken.PruneDue = isPruneDue(w, root, s)
		case want.At != states.Prompt: // before a prompt there is no time for that
			prune(ctx, w, root, s, verb)
		}
		return taken, explain(err)
	}
	taken, err = store.Update(ctx, w, operation.Operation{Verb: verb}, func(*store.Tx) (*Taken, error) { // other writers do not stop
		d, err := f.draft(ctx, w, s, want)
		if err != nil {
			return nil, err
		}
		return f.commit(ctx, w, s, d, want)
	})
	return taken, explain(err)
}

// draft reads the folder.
func (f *Folder) draft(ctx context.Context, w *store.Store, s *states.Store, want Wish) (*states.Draft, error) {
	if f.ID == "" || want.Temporary {
		id, err := sessionid.NewMessage(w.Opts.Random)
		if err != nil {
			return nil, err
		}
		f.ID = id
	}
	state := states.State{Folder: f.ID, At: want.At, SessionID: want.Session, MessageID: want.Message}
	var err error
	if state.ID, err = sessionid.NewMessage(w.Opts.Random); err != nil {
		return nil, err
	}
	state.Time = stamp(w)
	fo := want.follow
	if fo == nil {
		r := f.request(w, state, files.SnapOptions{Secrets: want.Secrets})
		r.Once = want.Temporary
		return s.Draft(ctx, r)
	}
	r := f.requestBy(w, fo.coverage(), state, want.Secrets)
	r.Memo, r.Scan.Changed = fo.memo, fo.changed
	return s.Draft(ctx, r)
}

// commit takes the state that was drafted, and links it to its message. The caller holds the
// locks.
func (f *Folder) commit(ctx context.Context, w *store.Store, s *states.Store, d *states.Draft, want Wish) (*Taken, error) {
	register := s.Register
	if want.Temporary {
		register = s.RegisterTemporary
	}
	registered, err := register(f.Path, f.ID)
	if err != nil {
		d.Discard()
		return nil, err
	}
	if registered.ID != f.ID { // another process registered it meanwhile
		d.Discard()
		f.ID = registered.ID
		return nil, states.ErrStale
	}
	d.State.Late = want.Late != nil && want.Late()
	st, err := d.Commit(ctx)
	if err != nil {
		return nil, err
	}
	taken := &Taken{st.Folder, recorded(st, registered.Path)}
	taken.Left = leftOf(d.Left())
	return taken, want.link(s, st)
}

// link notes which message a state belongs to.
func (want Wish) link(s *states.Store, st *states.State) error {
	l := states.Link{SessionID: want.Session, MessageID: want.Message, Folder: st.Folder, State: st.ID, Time: st.Time}
	switch {
	case want.Prompt != "":
		l.PromptID, l.MessageID = want.Prompt, ""
	case !want.Link || want.Message == "":
		return nil
	}
	return s.Link(l)
}

// request returns the request for a state of the folder.
func (f *Folder) request(w *store.Store, state states.State, o files.SnapOptions) states.Request {
	return f.requestBy(w, coverage.Look(f.Path, coverage.Options{Env: os.Getenv, Secrets: o.Secrets}), state, o.Secrets)
}

// requestBy returns the request for a state by some rules.
func (f *Folder) requestBy(w *store.Store, rules *coverage.Coverage, state states.State, secrets bool) states.Request {
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
		State: state, Dir: f.Path, Secrets: secrets, Sources: rules.Outside, Deciding: rules.Deciding,
		Damage: func(err error) { w.Opts.Note(err.Error() + "; the other states are used") },
		Scan: scan.Options{
			Rules:    rules.Rules(),
			Progress: func(done, total int64) { w.Opts.Progress("reading "+f.Path, done, total) },
		},
	}
}
