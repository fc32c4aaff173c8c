package buffer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
)

// TestClose: calls in progress complete, waiting messages stay pending, and another
// buffer continues with them.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRoom(t, buffer.Options{Concurrent: 1}, g.process)
		r.store("s", "m1 m2 a b<m2")
		r.store("t", "n1")
		later(9 * second)
		if calls := r.given(); calls != "m1 m2" && calls != "n1" {
			t.Fatalf("it was given %q", calls)
		}
		flushed := make(chan error)
		go func() { flushed <- r.b.Flush(t.Context(), "s") }()
		later(0)
		go func() { time.Sleep(3 * second); g.let <- found("x") }()
		closed := time.Now()
		if err := r.b.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(closed); took < 3*second || took > 4*second {
			t.Errorf("it took %v, want 3s", took)
		}
		if err := <-flushed; !errors.Is(err, buffer.ErrClosed) {
			t.Errorf("a flush hears %v", err)
		}
		r.store("s", "m9<a")
		later(time.Minute)
		r.gave("after it was closed", "")
		if err := r.b.Flush(t.Context(), "s"); !errors.Is(err, buffer.ErrClosed) {
			t.Errorf("a flush after that returns %v", err)
		}
		if err := r.b.Close(t.Context()); err != nil {
			t.Error(err)
		}

		r.mu.Lock()
		r.answer = nil
		r.mu.Unlock()
		r.restart(buffer.Options{})
		later(time.Minute)
		r.gave("after a restart", "")
		r.is("a flush", r.flush("s"), "")
		r.is("a flush", r.flush("t"), "")
		seen := r.given()
		for _, name := range []string{"a m9", "b"} {
			if !strings.Contains(seen, name) {
				t.Errorf("the processor got %q, and not %s", seen, name)
			}
		}
		r.is("one line", r.status("s"), "5/0/0/0")
		r.is("the other", r.status("t"), "1/0/0/0")
		if len(r.notes) > 0 {
			t.Errorf("it says %q", r.notes)
		}
	})
}

// TestCloseNow: a processor that takes too long is stopped, which is not a failure.
func TestCloseNow(t *testing.T) {
	for _, obeys := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom(t, buffer.Options{}, func(ctx context.Context, _ buffer.Context) (buffer.Result, error) {
				if obeys {
					<-ctx.Done()
				} else {
					time.Sleep(time.Minute)
				}
				return found("late"), ctx.Err()
			})
			r.store("s", "m1")
			later(9 * second)
			r.gave("before", "m1")
			ctx, cancel := context.WithTimeout(t.Context(), 3*second)
			defer cancel()
			closed := time.Now()
			if err := r.b.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the buffer is closed with %v", err)
			}
			want := 3 * second
			if !obeys {
				want += 5 * second
			}
			if took := time.Since(closed); took < want || took > want+second {
				t.Errorf("it took %v, want %v", took, want)
			}
			r.is("then", r.status("s"), "0/0/1/0")
			r.mu.Lock()
			r.answer = nil
			r.mu.Unlock()
			if len(r.notes) > 0 {
				t.Errorf("it says %q", r.notes)
			}
			r.restart(buffer.Options{})
			r.is("a flush", r.flush("s"), "")
			r.is("at last", r.status("s"), "1/0/0/0")
			later(time.Hour)
			r.is("the tasks", r.tasks("s", ""), "")
		})
	}
}
