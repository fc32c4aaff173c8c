package bucket_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/workspace/fault"
)

// A changed store is one in memory with other methods.
type changed struct {
	bucket.Memory
	put    func(s *bucket.Memory, ctx context.Context, name string, data []byte) error
	get    func(s *bucket.Memory, ctx context.Context, name string) ([]byte, error)
	delete func(s *bucket.Memory, ctx context.Context, name string) error
}

func (c *changed) Put(ctx context.Context, name string, data []byte) error {
	if c.put == nil {
		return c.Memory.Put(ctx, name, data)
	}
	return c.put(&c.Memory, ctx, name, data)
}

func (c *changed) Get(ctx context.Context, name string) ([]byte, error) {
	if c.get == nil {
		return c.Memory.Get(ctx, name)
	}
	return c.get(&c.Memory, ctx, name)
}

func (c *changed) Delete(ctx context.Context, name string) error {
	if c.delete == nil {
		return c.Memory.Delete(ctx, name)
	}
	return c.delete(&c.Memory, ctx, name)
}

// TestProbe: a store that does not create only is found, whatever it answers, and an object is left
// only where it cannot be deleted.
func TestProbe(t *testing.T) {
	broken := errors.New("broken")
	var mu sync.Mutex
	puts := 0
	first := func() bool {
		mu.Lock()
		defer mu.Unlock()
		puts++
		return puts == 1
	}
	overwrite := func(s *bucket.Memory, ctx context.Context, name string, data []byte) error {
		mu.Lock()
		defer mu.Unlock()
		return errors.Join(s.Delete(ctx, name), s.Put(ctx, name, data))
	}
	for _, c := range []struct {
		name    string
		store   *changed
		winners int        // of a NoCreateOnlyError
		want    fault.Code // "" for success
		err     error
		left    int
	}{
		{name: "memory", store: &changed{}},
		{name: "the answer to the winner was lost", store: &changed{put: func(s *bucket.Memory, ctx context.Context, name string, data []byte) error {
			if err := s.Put(ctx, name, data); err != nil {
				return err
			}
			return s.Put(ctx, name, data)
		}}},
		{name: "overwrites", store: &changed{put: overwrite}, winners: 16, want: fault.Refused},
		{name: "overwrites, and says that others lost", store: &changed{put: func(s *bucket.Memory, ctx context.Context, name string, data []byte) error {
			won := first()
			if err := overwrite(s, ctx, name, data); err != nil || won {
				return err
			}
			return bucket.ErrExists
		}}, winners: 2, want: fault.Refused},
		{name: "other bytes", store: &changed{put: func(s *bucket.Memory, ctx context.Context, name string, _ []byte) error {
			return s.Put(ctx, name, []byte("other"))
		}}, want: fault.Refused},
		{name: "finds everything", store: &changed{get: func(*bucket.Memory, context.Context, string) ([]byte, error) { return nil, nil }}, want: fault.Refused},
		{name: "no reading", store: &changed{get: func(*bucket.Memory, context.Context, string) ([]byte, error) { return nil, broken }}, err: broken},
		{name: "no writing", store: &changed{put: func(*bucket.Memory, context.Context, string, []byte) error { return broken }}, err: broken},
		{name: "no condition", store: &changed{put: func(*bucket.Memory, context.Context, string, []byte) error {
			return &bucket.NoCreateOnlyError{Err: broken}
		}}, want: fault.Refused, err: broken},
		{name: "no deleting", store: &changed{delete: func(*bucket.Memory, context.Context, string) error { return broken }}, err: broken, left: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			puts = 0
			err := bucket.Probe(t.Context(), c.store)
			if c.want == "" && c.err == nil && err != nil || c.want != "" && !errors.Is(err, c.want) || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("Probe = %v", err)
			}
			e, ok := errors.AsType[*bucket.NoCreateOnlyError](err)
			if ok && e.Winners != c.winners || !ok && c.winners > 0 {
				t.Errorf("Probe = %#v; want %d winners", err, c.winners)
			}
			if c.name == "overwrites" && !strings.Contains(err.Error(), "16 of 16 concurrent writers") {
				t.Error(err)
			}
			if list, err := c.store.List(t.Context(), bucket.ListOptions{}); err != nil || len(list) != c.left {
				t.Errorf("left are %v, %v", list, err)
			}
		})
	}
}

// TestMeter: requests and bytes are counted, also of calls that fail.
func TestMeter(t *testing.T) {
	m := bucket.NewMeter(new(bucket.Memory))
	m.Put(t.Context(), "a", []byte("12345"))
	before := m.Usage()
	m.Put(t.Context(), "a", []byte("12345"))
	m.Get(t.Context(), "a")
	m.Get(t.Context(), "b")
	m.List(t.Context(), bucket.ListOptions{})
	m.Delete(t.Context(), "a")
	want := bucket.Usage{Puts: 1, Gets: 2, Lists: 1, Deletes: 1, Sent: 5, Received: 5}
	if got := m.Usage().Sub(before); got != want || got.Requests() != 5 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := bucket.NewMeter(m).Usage(); got != m.Usage() {
		t.Errorf("of a store that counts: %+v", got)
	}
}
