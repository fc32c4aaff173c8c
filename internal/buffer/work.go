package buffer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// grace is the time that a stopped processor has to return.
const grace = 5 * time.Second

// work processes a batch, and then looks at the line again.
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
		l.recordResult(messages, began, err)
	}
	for _, l := range b.lines {
		if l.name == name || l.blocked[s.first] {
			b.wake(l)
		}
	}
}

// workOn processes the next batch on the path to an end, if it begins with the
// expected message, and returns the messages of the batch. Errors of the processor
// are recorded.
func (b *Buffer) workOn(name string, s start) (messages []string, err error) {
	batch, err := b.w.Line(name).Batch(b.ctx, s.end, b.sizes)
	switch {
	case err != nil && workspace.Explain(err).Code == fault.NotFound:
		return nil, nil // it was deleted
	case err != nil:
		if b.ctx.Err() == nil {
			b.o.Note("what is pending in " + name + " is unknown: " + err.Error())
		}
		return []string{s.first}, err
	case batch == nil || batch.New[0] != s.first:
		return nil, nil // another program recorded it first
	}
	return batch.New, b.workWith(batch)
}

// workWith processes a batch and records the result.
func (b *Buffer) workWith(batch *lines.Batch) error {
	b.mark(batch.New, true)
	defer b.mark(batch.New, false)
	tasks, failure := b.process(batch)
	if failure != nil && b.ctx.Err() != nil {
		return ErrClosed // it was stopped, which is not a failure
	}
	r := task.Record{Session: batch.Line, Messages: batch.New, Status: task.Success, Tasks: tasks}
	if failure != nil {
		r.Status, r.Error = task.Failed, short(failure.Error(), 1000)
		b.o.Note(fmt.Sprintf("the processor failed with %d messages of %s: %s", len(batch.New), batch.Line, r.Error))
	}
	err := b.record(r)
	if err != nil && workspace.Explain(err).Code == fault.Refused {
		return nil // another program recorded it first
	}
	if err != nil {
		b.o.Note("the result of the processor is lost; it will run again: " + err.Error())
		return err
	}
	return failure
}

// record records a batch. The result may have been expensive, so it waits long for
// the lock.
func (b *Buffer) record(r task.Record) error {
	const patience = 5 * time.Minute
	for began := time.Now(); ; {
		_, err := b.w.RecordTasks(context.WithoutCancel(b.ctx), r)
		if err == nil || workspace.Explain(err).Code != fault.Locked || time.Since(began) > patience {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-b.ctx.Done():
			return err
		}
	}
}

// mark records whether messages are in progress.
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

// process calls the processor and validates its result.
func (b *Buffer) process(batch *lines.Batch) ([]task.Task, error) {
	ctx, cancel := context.WithTimeoutCause(b.ctx, b.o.Timeout, fmt.Errorf("it took longer than %v", b.o.Timeout))
	defer cancel()
	result, err := call(ctx, b.o.Processor, contextOf(batch))
	if err != nil {
		return nil, err
	}
	return tasksOf(batch, result)
}

// call calls a processor. If it does not return when ctx ends, call returns without
// it.
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

// why returns the error of a processor, or the cause of ctx if that has ended.
func why(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// short returns s on one line without control characters, shortened to about limit
// bytes.
func short(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
