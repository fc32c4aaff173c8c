// Package buffer gives a processor what was stored in conversations, branch by
// branch, and keeps the tasks that it finds there.
//
// A conversation is a tree, and one message of it belongs to one path: the messages
// from the root to it. What a processor is given with a message is of its path, never
// of a branch that leaves it elsewhere.
//
// # When
//
// Messages wait until 16 are pending on a path, or until nothing was stored on it for
// 8 seconds, or until somebody flushes the conversation. What is pending is given to
// the processor in batches of at most 32 messages. A batch begins with the first
// message of the path that is pending, and ends at the latest where the conversation
// forks: what stands before a fork is looked at once, for all branches together. Two
// branches that have the first pending message in common are worked on one after the
// other, all others side by side, four at a time.
//
// # What
//
// The processor is given a [Context] and returns a [Result]. A program that is one,
// see [Command], reads the first as JSON and writes the second:
//
//	{
//	  "session_id": UUID,
//	  "branch_id": UUID,       the first message after the fork, or the root
//	  "leaf_id": UUID,         the last one of the new messages
//	  "message_ids": [UUID],   the new messages, in the order of their path
//	  "context": [MESSAGE],    at most three messages before the first new one
//	  "messages": [MESSAGE],   the new messages, and at most three before each of
//	                           them that are not new
//	  "path": [UUID],          from the root to the leaf
//	  "tasks": [TASK]          those that are visible on the path
//	}
//
// A MESSAGE is {"id", "parent_id", "role", "content", "created_at"}, its content a
// string or an array of parts, as it was stored; a TASK is {"id", "order", "data",
// "status", "is_planning", "message_ids"}. No answer at all means that nothing was
// found. Else it is
//
//	{"tasks": [{
//	  "id": UUID,              of a task that has changed; a new one has none
//	  "task_description": "",  the member of data with that name
//	  "data": {},              progresses, user_preferences, and anything else
//	  "status": "pending",     or running, success, failed
//	  "is_planning": false,
//	  "message_ids": [UUID]    the messages of the path that it is about; without it
//	                           the new ones
//	}]}
//
// Of a task that has changed only what is different need be there: the members of
// data take the place of those with the same name, null removes one. A new one needs
// a task_description, and is pending unless it says otherwise. An answer that does
// not fit, such as one with a task that is not visible on the path, is a failure, and
// nothing of it counts.
//
// # What goes wrong
//
// A batch for which the processor returns an error, panics, or takes longer than it
// may has failed, and so have its messages. They are looked at again with a message
// that is stored on that path after they were begun with, or by a flush. After three
// times they stay failed, and those that come after them are looked at without them.
//
// A batch is recorded when the processor has returned, by one line in a file; see
// package task. A crash before that leaves its messages pending, and after a restart
// they are looked at again, with the next message that is stored on their path or by
// a flush. So a message is looked at at least once, and tasks are kept once: what two
// programs look at side by side counts for the first of them that is done.
//
// No processor is called under the lock of the workspace.
package buffer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bough-dev/bough/internal/task"
	"github.com/bough-dev/bough/workspace"
)

// A Processor looks at messages and returns the tasks that it finds. It must return
// when ctx ends; what it returns later is lost. It may be called from several
// goroutines.
type Processor func(ctx context.Context, c Context) (Result, error)

// Options are the choices for a buffer.
type Options struct {
	// Processor is given the messages. If it is nil what is stored stays pending.
	Processor Processor

	// Batch is how many messages have to be pending on a path for the processor to be
	// called at once. Zero means 16. It is given twice as many at most.
	Batch int

	// Before is how many messages it is shown before each that is new. Zero means 3;
	// negative means none.
	Before int

	// Idle is after how long without a new message on a path what is pending there is
	// looked at, however little it is. Zero means 8 seconds.
	Idle time.Duration

	// Timeout is how long the processor may take. Zero means 10 minutes.
	Timeout time.Duration

	// Most is how many calls there are at the same time. Zero means 4.
	Most int

	// Note is told, in one sentence each, what went wrong, maybe by several goroutines
	// at once. Nil means that nobody is told.
	Note func(string)
}

// ErrClosed is the error of a flush when the buffer is closed.
var ErrClosed = errors.New("the buffer is closed")

// A Buffer has what is stored in the conversations of a workspace looked at. Its
// methods may be called from several goroutines.
type Buffer struct {
	w       *workspace.Workspace
	o       Options
	sizes   task.Sizes
	slots   chan struct{}   // as many as calls are allowed
	ctx     context.Context // of the processors
	stop    context.CancelFunc
	closing chan struct{}
	working sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	lines   map[string]*line
	busy    map[string]bool // the first messages of the batches that are being looked at
	running map[string]bool // and all of them
	ticks   int64
}

// New returns a buffer for the conversations of w. It must be closed.
func New(w *workspace.Workspace, o Options) *Buffer {
	if o.Batch <= 0 {
		o.Batch = 16
	}
	if o.Before == 0 {
		o.Before = 3
	}
	if o.Idle <= 0 {
		o.Idle = 8 * time.Second
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Minute
	}
	if o.Most <= 0 {
		o.Most = 4
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	b := &Buffer{
		w:       w,
		o:       o,
		sizes:   task.Sizes{Most: 2 * o.Batch, Before: max(o.Before, 0)},
		slots:   make(chan struct{}, o.Most),
		closing: make(chan struct{}),
		lines:   map[string]*line{},
		busy:    map[string]bool{},
		running: map[string]bool{},
	}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Stored says that a message was stored in a line: the name of that, always the same
// one, and the message's id. It does not wait for anything.
func (b *Buffer) Stored(line, message string) {
	if b.o.Processor == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	l := b.line(line)
	e := l.end(message)
	e.since, e.due = b.tick(), time.Now().Add(b.o.Idle)
	b.wake(l)
}

// Flush has everything looked at that is pending in a line, on all its branches, and
// waits for it. The error is the first one of a processor; or ctx's, if that ends
// before, and then the work goes on.
func (b *Buffer) Flush(ctx context.Context, line string) error {
	if b.o.Processor == nil {
		return nil
	}
	list, err := b.w.Pending(ctx, line)
	if err != nil || len(list) == 0 {
		return err
	}
	waits, err := b.force(line, list)
	if err != nil {
		return err
	}
	for range list {
		select {
		case one := <-waits:
			if err == nil {
				err = one
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// force has the paths in list looked at now. The channel tells of each of them how it
// ended.
func (b *Buffer) force(line string, list []workspace.Pending) (<-chan error, error) {
	waits := make(chan error, len(list))
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	l := b.line(line)
	for _, p := range list {
		e := l.end(p.Message)
		e.since, e.forced = b.tick(), true
		e.waits = append(e.waits, waits)
	}
	b.wake(l)
	return waits, nil
}

// Running reports whether a processor is looking at the message with an id.
func (b *Buffer) Running(message string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running[message]
}

// Status returns how far the looking at the messages of a line is.
func (b *Buffer) Status(ctx context.Context, line string) (*workspace.Tracking, error) {
	return b.w.Tracking(ctx, line, b.Running)
}

// Close ends the buffer. Processors may bring to an end what they are doing until ctx
// ends; then they are stopped, and the error is ctx's. What they have not looked at
// stays pending.
func (b *Buffer) Close(ctx context.Context) error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.closing)
		for _, l := range b.lines {
			l.drop(ErrClosed)
		}
	}
	b.mu.Unlock()
	defer b.stop()
	done := make(chan struct{})
	go func() {
		b.working.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	b.stop()
	<-done
	return ctx.Err()
}
