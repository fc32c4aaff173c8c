package workspace

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/internal/folders"
)

// filesPatience is how long a turn waits for a state of its files. A state that takes longer
// is linked to its message afterwards, and says that it is late.
const filesPatience = 2 * time.Second

// turnFiles are the states of files that a driver takes.
type turnFiles struct {
	prompt, end *turn.FileState // for the next message of their kind
	late        *snapping       // taken while the turn goes on, nil if there is none
	ended       string          // the last message with the end of a turn
}

// of returns the state that a message must name, nil if there is none.
func (f *turnFiles) of(n *turn.Node) *turn.FileState {
	switch {
	case n.Kind == turn.KindUser:
		return f.prompt
	case n.Kind == turn.KindAssistant && len(n.Calls) == 0 && !n.Partial:
		return f.end
	}
	return nil
}

// written records that a message was written, and which message a late state is for.
func (f *turnFiles) written(n *turn.Node) {
	user := n.Kind == turn.KindUser
	answer := n.Kind == turn.KindAssistant && len(n.Calls) == 0 && !n.Partial
	if user {
		f.prompt = nil
	}
	if answer {
		f.end = nil
		f.ended = n.ID
	}
	if l := f.late; l != nil && l.message == "" && (user && l.at == states.Prompt || answer && l.at == states.End) {
		l.message = n.ID
	}
}

// A snapping is a state that is being taken.
type snapping struct {
	at      states.Moment
	message string // that it belongs to, "" if that is not written yet
	late    atomic.Bool
	stop    context.CancelFunc
	done    chan struct{}
	taken   *folders.Taken
	err     error
}

// snapPrompt takes the state before a message of the user below at.
func (d *driver) snapPrompt(ctx context.Context, at agent.Head) {
	d.files.prompt = d.snap(ctx, states.Prompt, at)
}

// snapEnd takes the state for the last message of a turn.
func (d *driver) snapEnd(ctx context.Context) { d.files.end = d.snap(ctx, states.End, d.at) }

// snap takes a state, or begins to: after filesPatience it returns nil, and the state is late.
func (d *driver) snap(ctx context.Context, why states.Moment, newest agent.Head) *turn.FileState {
	if d.opts.Files == "" {
		return nil
	}
	d.finishLate(ctx)
	s := d.startSnap(ctx, folders.Wish{At: why, Session: newest.Tree, Message: newest.Node})
	select {
	case <-s.done:
		s.stop()
		return d.snapped(s)
	case <-time.After(filesPatience):
		s.late.Store(true)
		d.files.late = s
		return nil
	}
}

// startSnap begins to take a state.
func (d *driver) startSnap(ctx context.Context, want folders.Wish) *snapping {
	quiet := *d.w.store
	quiet.Opts.Progress = func(string, int64, int64) {}
	s := &snapping{at: want.At, done: make(chan struct{})}
	want.Late = s.late.Load
	ctx, s.stop = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		s.taken, s.err = folders.Take(ctx, &quiet, d.opts.Files, want)
	}()
	return s
}

// snapped returns the state that was taken, nil after an error, which is noted.
func (d *driver) snapped(s *snapping) *turn.FileState {
	if s.err != nil {
		if !errors.Is(s.err, context.Canceled) {
			d.w.store.Opts.Note("no state of the files was taken: " + s.err.Error())
		}
		return nil
	}
	return &turn.FileState{Folder: s.taken.Folder, State: s.taken.ID}
}

// finishLate waits for a late state and links it to its message. If ctx ends, the state is
// abandoned.
func (d *driver) finishLate(ctx context.Context) {
	s := d.files.late
	if s == nil {
		return
	}
	d.files.late = nil
	<-s.done
	s.stop()
	if link := d.snapped(s); link != nil && s.message != "" {
		err := folders.Link(context.WithoutCancel(ctx), d.w.store, s.taken, d.at.Tree, s.message)
		d.note("the state of the files is not linked to its message", err)
	}
}

func (d *driver) note(what string, err error) {
	if err != nil {
		d.w.store.Opts.Note(what + ": " + err.Error())
	}
}

// snapRest finishes the states of the last turn. A turn that did not end with an answer has
// its state too, which belongs to its last message.
func (d *driver) snapRest(ctx context.Context) {
	if d.opts.Files == "" {
		return
	}
	d.finishLate(ctx)
	if d.turn.Ended == turn.Finished || d.files.ended == d.at.Node {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), filesPatience)
	defer stop()
	s := d.startSnap(ctx, folders.Wish{At: states.End, Session: d.at.Tree, Message: d.at.Node, Link: true})
	<-s.done
	s.stop()
	d.snapped(s)
}
