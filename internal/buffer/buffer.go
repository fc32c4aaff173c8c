// Package buffer passes stored messages to a processor, branch by branch, and
// records the tasks that it finds.
//
// A conversation is a tree, and a message belongs to one path: the messages from
// the root to it. The processor gets a message with context from its path only,
// never from other branches.
//
// # When
//
// Messages wait until 16 are pending on a path, until no message was stored on it
// for 8 seconds, or until the conversation is flushed. The pending messages are
// passed to the processor in batches of at most 32. A batch begins with the first
// pending message of the path and ends at the latest where the conversation forks:
// the messages before a fork are processed once for all branches. Two branches with
// the same first pending message are processed one after the other, all others
// concurrently, four at a time.
//
// # Protocol
//
// The processor gets a [Context] and returns a [Result]. A program, see [Command],
// reads the former as JSON and writes the latter:
//
//	{
//	  "session_id": UUID,
//	  "branch_id": UUID,       the first message after the fork, or the root
//	  "leaf_id": UUID,         the last of the new messages
//	  "message_ids": [UUID],   the new messages, in the order of their path
//	  "context": [MESSAGE],    at most three messages before the first new one
//	  "messages": [MESSAGE],   the new messages, each with at most three others
//	                           before it
//	  "path": [UUID],          from the root to the leaf
//	  "tasks": [TASK]          the tasks that are visible on the path
//	}
//
// A MESSAGE is {"id", "parent_id", "role", "content", "created_at"}. Its content is a
// string or an array of parts, as it was stored. A TASK is {"id", "order", "data",
// "status", "is_planning", "message_ids"}. An empty output means that nothing was
// found. Otherwise it is
//
//	{"tasks": [{
//	  "id": UUID,              of a changed task; absent in a new one
//	  "task_description": "",  member of data
//	  "data": {},              progresses, user_preferences, and anything else
//	  "status": "pending",     or running, success, failed
//	  "is_planning": false,
//	  "message_ids": [UUID]    messages of the path, by default the new ones
//	}]}
//
// For a task that has changed, only the changes are needed: members of data replace
// those with the same name, null removes one. A new task needs a task_description,
// and is pending by default. An invalid answer, such as one with a task that is not
// visible on the path, is a failure and is ignored completely.
//
// # Failures
//
// If the processor returns an error, panics, or exceeds its timeout, the batch and
// its messages have failed. They are retried when another message is stored on that
// path, or by a flush. After three failures they stay failed, and later messages
// are processed without them.
//
// A batch is recorded by one line in a file after the processor has returned; see
// package task. A crash before that leaves its messages pending; after a restart
// they are processed again with the next message that is stored on their path, or
// by a flush. So a message is processed at least once, and tasks are recorded once:
// if two programs process the same batch, the first result counts.
//
// The processor is never called while the lock of the workspace is held.
package buffer

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// A Processor finds tasks in messages. It must return when ctx ends; a later result
// is lost. It must be safe for concurrent use.
type Processor func(ctx context.Context, c Context) (Result, error)

// Options configure a buffer.
type Options struct {
	// Processor processes the messages. If nil, stored messages stay pending.
	Processor Processor

	// Batch is the number of pending messages on a path for which the processor is
	// called at once. A batch has at most twice as many. Zero means 16.
	Batch int

	// Before is the number of context messages before each new message. Zero means
	// 3; negative means none.
	Before int

	// Idle is the time without a new message on a path after which its pending
	// messages are processed. Zero means 8 seconds.
	Idle time.Duration

	// Timeout is the time limit of a processor call. Zero means 10 minutes.
	Timeout time.Duration

	// Concurrent is the maximum number of concurrent calls. Zero means 4.
	Concurrent int

	// Note is called with one sentence for each problem, possibly concurrently. If
	// nil, problems are discarded.
	Note func(string)
}

// ErrClosed is the error of a flush of a closed buffer.
var ErrClosed = errors.New("the buffer is closed")

// A Buffer processes the messages that are stored in the conversations of a
// workspace. It is safe for concurrent use.
type Buffer struct {
	w       *workspace.Workspace
	o       Options
	sizes   task.Sizes
	slots   chan struct{}   // one element per concurrent call
	ctx     context.Context // of the processors
	stop    context.CancelFunc
	closing chan struct{}
	working sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	lines   map[string]*line
	busy    map[string]bool // the first messages of the batches in progress
	running map[string]bool // all messages of the batches in progress
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
	if o.Concurrent <= 0 {
		o.Concurrent = 4
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	b := &Buffer{
		w:       w,
		o:       o,
		sizes:   task.Sizes{Max: 2 * o.Batch, Before: max(o.Before, 0)},
		slots:   make(chan struct{}, o.Concurrent),
		closing: make(chan struct{}),
		lines:   map[string]*line{},
		busy:    map[string]bool{},
		running: map[string]bool{},
	}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Stored reports that a message was stored in a line. line must always be the same
// name for one line. Stored does not block.
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

// Flush processes all pending messages of a line, on all its branches, and waits
// for the result. The error is the first one of the processor, or that of ctx; then
// the work continues.
func (b *Buffer) Flush(ctx context.Context, line string) error {
	if b.o.Processor == nil {
		return nil
	}
	list, err := b.w.Line(line).Pending(ctx)
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

// force processes the paths in list immediately. The channel receives the result of
// each.
func (b *Buffer) force(line string, list []lines.Pending) (<-chan error, error) {
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

// Running reports whether the message with an id is being processed.
func (b *Buffer) Running(message string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running[message]
}

// Status returns the tracking state of a line.
func (b *Buffer) Status(ctx context.Context, line string) (*lines.Tracking, error) {
	return b.w.Line(line).Tracking(ctx, b.Running)
}

// Close closes the buffer. Running processors may complete until ctx is done; then
// they are stopped, and the error is that of ctx. Unprocessed messages stay
// pending.
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
