package explore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestCancel: a running exploration stops soon after it is cancelled, and Cancel waits for
// that; one without a process, after a crash, ends at once; and an ended one does not
// change.
func TestCancel(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ctx := t.Context()
	c := explore.Defaults()
	c.MaxConcurrent = 2
	e := l.explore(`[ $BOUGH_STRATEGY = s1 ] || { : > "$LOG"; sleep 1000; }; echo done`, c, numbered(4)...)
	e.Runner.Bindings = map[string]string{"LOG": filepath.Join(l.work, "begun")}
	if err := l.w.Exploration(e.ID).Write(ctx, e.Encode()); err != nil {
		t.Fatal(err)
	}
	x := l.explorer()
	ended := make(chan error)
	go func() {
		_, err := x.Resume(ctx, e.ID)
		ended <- err
	}()
	for { // s1 has ended, another is at work
		_, err := os.Stat(filepath.Join(l.work, "begun"))
		if data, failed := l.w.Exploration(e.ID).Read(ctx); err == nil && failed == nil {
			if now, err := explore.Decode(data); err == nil && now.Branches[0].Status == explore.Completed {
				break
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	over, err := x.Cancel(ctx, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	var p *explore.Error
	if err := <-ended; !errors.As(err, &p) || p.Problem != explore.Cancelled || p.Exploration != e.ID || !errors.Is(err, explore.ErrCancelled) {
		t.Errorf("Resume = %v", err)
	}
	if !over.Done() || over.Branches[0].Status != explore.Completed || over.Branches[1].Reason != "cancelled" || over.Branches[3].Reason != "not tried: cancelled" {
		t.Errorf("cancelled it is %+v", over.Branches)
	}
	if l.w.Exploration(e.ID).IsCancelled(ctx) {
		t.Error("the request to cancel remains")
	}

	// A cancelled branch is not a learning, and every other branch is one learning.
	for range 2 {
		if err := x.Remember(ctx, over); err != nil {
			t.Fatal(err)
		}
	}
	known, err := x.Learnings(ctx)
	if err != nil || len(known) != 1 || known[0].Strategy != "s1" || !known[0].Success || known[0].Branch != e.Branches[0].ID {
		t.Errorf("remembered is %+v, %v", known, err)
	}

	crashed := l.explore("echo done", c, numbered(2)...)
	crashed.Next(at(1))
	if err := l.w.Exploration(crashed.ID).Write(ctx, crashed.Encode()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		over, err = x.Cancel(ctx, crashed.ID)
		if err != nil || !over.Done() || len(over.Active) != 0 || over.Branches[0].Reason != "not tried: cancelled" {
			t.Errorf("after a crash it is %+v, %v", over, err)
		}
	}

	// If the exploration does not stop in time, Cancel returns an error, and the request
	// remains.
	release, err := l.w.Exploration(crashed.ID).Hold(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for !l.w.Exploration(crashed.ID).IsCancelled(ctx) {
			time.Sleep(time.Millisecond)
		}
		stop()
	}()
	if _, err := x.Cancel(waiting, crashed.ID); !errors.As(err, &p) || p.Problem != explore.NotStopped || !errors.Is(err, fault.Busy) || !l.w.Exploration(crashed.ID).IsCancelled(ctx) {
		t.Errorf("Cancel of one that does not stop: %v", err)
	}
}

// TestOpen: an invalid exploration file is damaged, a missing one is not found.
func TestOpen(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	e := l.explore("echo done", explore.Defaults(), "a")
	if err := l.w.Exploration(e.ID).Write(ctx, e.Encode()); err != nil {
		t.Fatal(err)
	}
	if again, err := l.explorer().Open(ctx, e.ID[:13]); err != nil || string(again.Encode()) != string(e.Encode()) {
		t.Errorf("Open = %+v, %v", again, err)
	}
	if err := l.w.Exploration(e.ID).Write(ctx, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fault.Code{e.ID: fault.Damaged, "nothing": fault.NotFound} {
		if _, err := l.explorer().Open(ctx, name); err == nil || workspace.Explain(err).Code != want {
			t.Errorf("Open(%q): %v", name, err)
		}
	}
}
