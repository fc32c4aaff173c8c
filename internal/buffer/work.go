package buffer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/task"
	"github.com/bough-dev/bough/workspace"
)

// grace is how long a processor that was told to stop is waited for.
const grace = 5 * time.Second

// work has a batch looked at, and then somebody find out what is pending now.
func (b *Buffer) work(name string, s start) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-b.closing:
		return
	}
	b.mu.Lock()
	began := b.tick()
	b.mu.Unlock()
	messages, err := b.workOn(name, s)
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.busy, s.first)
	if l := b.lines[name]; l != nil {
		l.worked(messages, began, err)
	}
	for _, l := range b.lines {
		if l.name == name || l.blocked[s.first] {
			b.wake(l)
		}
	}
}

// workOn has the next batch on the path to an end looked at, if it begins with the
// message that it should, and returns the messages of it. What the processor did wrong
// is recorded.
func (b *Buffer) workOn(name string, s start) (messages []string, err error) {
	batch, err := b.w.Batch(b.ctx, name, s.end, b.sizes)
	switch {
	case err != nil && workspace.Explain(err).Code == workspace.NotFound:
		return nil, nil // it was deleted
	case err != nil:
		if b.ctx.Err() == nil {
			b.o.Note("what is pending in " + name + " is not known: " + err.Error())
		}
		return []string{s.first}, err
	case batch == nil || batch.New[0] != s.first:
		return nil, nil // another program was faster
	}
	return batch.New, b.workWith(batch)
}

// workWith has a batch looked at and records that.
func (b *Buffer) workWith(batch *workspace.Batch) error {
	b.mark(batch.New, true)
	defer b.mark(batch.New, false)
	tasks, failure := b.process(batch)
	if failure != nil && b.ctx.Err() != nil {
		return ErrClosed // it was stopped, and has not failed
	}
	r := task.Record{Session: batch.Line, Messages: batch.New, Status: task.Success, Tasks: tasks}
	if failure != nil {
		r.Status, r.Error = task.Failed, short(failure.Error(), 1000)
		b.o.Note(fmt.Sprintf("the processor failed with %d messages of %s: %s", len(batch.New), batch.Line, r.Error))
	}
	err := b.record(r)
	if err != nil && workspace.Explain(err).Code == workspace.Refused {
		return nil // another program was faster
	}
	if err != nil {
		b.o.Note("what the processor found is lost, and it will be asked again: " + err.Error())
		return err
	}
	return failure
}

// record records a batch. What a processor found may have cost a lot, so one who keeps
// the lock for long is waited for.
func (b *Buffer) record(r task.Record) error {
	const patience = 5 * time.Minute
	for began := time.Now(); ; {
		_, err := b.w.Worked(context.WithoutCancel(b.ctx), r)
		if err == nil || workspace.Explain(err).Code != workspace.Locked || time.Since(began) > patience {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-b.ctx.Done():
			return err
		}
	}
}

// mark takes down that messages are being looked at, or no longer.
func (b *Buffer) mark(messages []string, running bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range messages {
		if running {
			b.running[id] = true
		} else {
			delete(b.running, id)
		}
	}
}

// process calls the processor and checks its answer.
func (b *Buffer) process(batch *workspace.Batch) ([]task.Task, error) {
	ctx, cancel := context.WithTimeoutCause(b.ctx, b.o.Timeout, fmt.Errorf("it took longer than %v", b.o.Timeout))
	defer cancel()
	result, err := call(ctx, b.o.Processor, contextOf(batch))
	if err != nil {
		return nil, err
	}
	return tasksOf(batch, result)
}

// call calls a processor. One that does not return when ctx ends is left alone.
func call(ctx context.Context, p Processor, c Context) (Result, error) {
	type answer struct {
		Result
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("it ended without an answer")}
		defer func() {
			if cause := recover(); cause != nil {
				a.err = fmt.Errorf("it panicked: %v", cause)
			}
			answers <- a
		}()
		a.Result, a.err = p(ctx, c)
	}()
	select {
	case a := <-answers:
		return a.Result, why(ctx, a.err)
	case <-ctx.Done():
	}
	wait := time.NewTimer(grace)
	defer wait.Stop()
	select {
	case a := <-answers:
		return a.Result, why(ctx, a.err)
	case <-wait.C:
		return Result{}, context.Cause(ctx)
	}
}

// why says why a processor failed: because it had to end, if it had to.
func why(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// short returns s on one line without control characters, and not much longer than
// most bytes.
func short(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
