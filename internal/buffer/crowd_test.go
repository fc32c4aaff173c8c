package buffer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bough-dev/bough/internal/buffer"
	"github.com/bough-dev/bough/internal/testsize"
)

// A watcher verifies for each call that the pending messages of a path are
// processed in order, each message by one call at a time and once successfully.
type watcher struct {
	*room
	mu    sync.Mutex
	busy  map[string]bool
	done  map[string]bool
	fails map[string]int
	calls int
	most  int
}

func newWatcher(r *room, most int) *watcher {
	return &watcher{room: r, busy: map[string]bool{}, done: map[string]bool{}, fails: map[string]int{}, most: most}
}

// begin records that the messages of c are in progress.
func (w *watcher) begin(c buffer.Context) {
	w.room.mu.Lock() // of the names
	defer w.room.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	if len(c.New) > w.most {
		w.Errorf("%d messages at once", len(c.New))
	}
	var want []string
	for _, id := range c.Path {
		if w.busy[id] {
			w.Errorf("%s is processed while %s is", w.names[c.Leaf], w.names[id])
		}
		if !w.done[id] && w.fails[id] < 3 {
			want = append(want, id)
		}
	}
	if !slices.Equal(want, c.New) {
		w.Errorf("the processor got %q of the path %q, want %q", w.say(c.New), w.say(c.Path), w.say(want))
	}
	for _, id := range c.New {
		w.busy[id] = true
	}
}

// end records the result.
func (w *watcher) end(c buffer.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range c.New {
		delete(w.busy, id)
		if err == nil {
			w.done[id] = true
		} else {
			w.fails[id]++
		}
	}
}

// TestRandom: for random messages, failures and flushes, all messages are processed
// correctly and none is left.
func TestRandom(t *testing.T) {
	t.Parallel()
	for seed := range testsize.Of[uint64](1, 1, 12) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			r := newRoom(t, buffer.Options{Batch: 3, Idle: 4 * second, Timeout: 8 * second}, nil)
			w := newWatcher(r, 6)
			var luck sync.Mutex
			roll := func(n int) int {
				luck.Lock()
				defer luck.Unlock()
				return random.IntN(n)
			}
			var failing atomic.Bool
			failing.Store(true)
			r.answer = func(ctx context.Context, c buffer.Context) (buffer.Result, error) {
				w.begin(c)
				time.Sleep(time.Duration(roll(5000)) * time.Millisecond)
				var err error
				if roll(4) == 0 && failing.Load() {
					err = errors.New("bad luck")
				}
				w.end(c, err)
				return found(w.nameOf(c.Leaf)), err
			}
			var names []string
			for n := range testsize.Of(30, 60, 60) {
				name := fmt.Sprintf("m%d", n)
				word := name
				if n > 0 && roll(4) == 0 {
					word += "<" + names[roll(len(names))]
				}
				names = append(names, name)
				r.store("s", word)
				switch roll(6) {
				case 0:
					go r.b.Flush(t.Context(), "s")
				case 1, 2:
					time.Sleep(time.Duration(roll(9000)) * time.Millisecond)
				}
			}
			later(time.Hour)
			failing.Store(false)
			r.is("the last flush", r.flush("s"), "")
			failed := 0
			for _, id := range r.ids {
				if w.fails[id] >= 3 {
					failed++
				} else if !w.done[id] {
					t.Errorf("seed %d: %s is left", seed, r.names[id])
				}
			}
			r.is(fmt.Sprint("seed ", seed, ": at last"), r.status("s"), fmt.Sprintf("%d/0/0/%d", len(r.ids)-failed, failed))
			if len(w.busy) > 0 || w.calls < 10 {
				t.Errorf("seed %d: %d calls, and %d messages in progress", seed, w.calls, len(w.busy))
			}
			// A task is visible on the paths that go through its anchor and nowhere else.
			for _, name := range names {
				onPath := map[string]bool{}
				for id := r.ids[name]; id != ""; id = r.parents[id] {
					onPath[r.names[id]] = true
				}
				for _, text := range strings.Split(r.tasks("s", name), ", ") {
					if _, anchor, ok := strings.Cut(text, " "); ok && !onPath[anchor] {
						t.Errorf("seed %d: at %s is a task of %s", seed, name, anchor)
					}
				}
			}
		})
	}
}

// TestConcurrentClients: concurrent clients, on branches of their own and on a common one,
// lose nothing and mix nothing.
func TestConcurrentClients(t *testing.T) {
	r := newRoom(t, buffer.Options{Batch: 4, Idle: 50 * time.Millisecond}, nil)
	w := newWatcher(r, 8)
	r.answer = func(_ context.Context, c buffer.Context) (buffer.Result, error) {
		w.begin(c)
		w.end(c, nil)
		return found(w.nameOf(c.Leaf)), nil
	}
	r.store("s", "root")
	var all sync.WaitGroup
	clients := testsize.Of(8, 16, 64)
	for n := range clients {
		all.Go(func() {
			last := "root"
			for i := range 3 {
				name := fmt.Sprintf("w%d.%d", n, i)
				if n%4 == 0 && i == 0 {
					r.store("s", name) // after the newest message
				} else {
					r.store("s", name+"<"+last)
				}
				last = name
			}
			if n%(clients/4) == 0 {
				if err := r.b.Flush(t.Context(), "s"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for try := 0; len(w.finished()) < len(r.ids) && try < 6000; try++ {
		time.Sleep(5 * time.Millisecond)
	}
	if n := len(w.finished()); n != len(r.ids) {
		t.Errorf("%d messages were processed, of %d", n, len(r.ids))
	}
	r.close()
	r.is("at last", r.status("s"), fmt.Sprintf("%d/0/0/0", len(r.ids)))
	if len(r.notes) > 0 {
		t.Errorf("it says %q", r.notes)
	}
	t.Logf("%d messages in %d calls", len(r.ids), w.calls)
}

func (w *watcher) finished() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.done)
}
