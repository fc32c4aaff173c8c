package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/faults"
)

// always is a rate: in each of a thousand calls.
const always = 1000

// network returns a network with one kind of fault, and its store.
func network(seed uint64, rates faults.Rates) (*faults.Network, *bucket.Memory) {
	s := new(bucket.Memory)
	return faults.NewNetwork(s, seed, rates), s
}

func stored(t *testing.T, s bucket.Store, name string) bool {
	t.Helper()
	_, err := s.Get(t.Context(), name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// TestPutFaults: what a Put returns and what it does, at once and when the network has settled.
func TestPutFaults(t *testing.T) {
	for _, c := range []struct {
		name             string
		rates            faults.Rates
		err              error
		stored, inTheEnd bool
	}{
		{"none", faults.Rates{}, nil, true, true},
		{"lost request", faults.Rates{LostRequest: always}, faults.ErrLost, false, false},
		{"lost answer", faults.Rates{LostAnswer: always}, faults.ErrLost, true, true},
		{"late", faults.Rates{Late: always}, faults.ErrLost, false, true},
		{"double", faults.Rates{Double: always}, nil, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, s := network(1, c.rates)
			if err := n.Client().Put(t.Context(), "a", []byte("x")); !errors.Is(err, c.err) {
				t.Errorf("Put = %v", err)
			}
			if got := stored(t, s, "a"); got != c.stored {
				t.Errorf("the object is stored: %v", got)
			}
			if err := n.Settle(); err != nil {
				t.Fatal(err)
			}
			if got := stored(t, s, "a"); got != c.inTheEnd {
				t.Errorf("in the end, the object is stored: %v", got)
			}
		})
	}
}

// TestLateDelete: a late or repeated Delete removes an object that was put again.
func TestLateDelete(t *testing.T) {
	for _, rates := range []faults.Rates{{Late: always}, {Double: always}} {
		n, s := network(1, rates)
		n.Client().Delete(t.Context(), "a")
		if err := s.Put(t.Context(), "a", []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := n.Settle(); err != nil || stored(t, s, "a") {
			t.Errorf("the object stays, %v", err)
		}
	}
}

// TestStale: reads miss a new object for a while, and then no longer.
func TestStale(t *testing.T) {
	n, _ := network(1, faults.Rates{StaleGet: always, StaleList: always, Lag: 3})
	c := n.Client()
	list := func() (names []string) {
		t.Helper()
		objects, err := c.List(t.Context(), bucket.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			names = append(names, o.Name)
		}
		return names
	}
	if err := c.Put(t.Context(), "a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := list(); got != nil {
		t.Errorf("a list has %v", got)
	}
	if _, err := c.Get(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get = %v", err)
	}
	if err := c.Put(t.Context(), "a", []byte("y")); !errors.Is(err, bucket.ErrExists) {
		t.Errorf("Put of an object that is not seen = %v", err)
	}
	if _, err := c.Get(t.Context(), "a"); err != nil {
		t.Errorf("Get after the lag = %v", err)
	}
	if err := c.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got := list(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("a list after Delete has %v", got)
	}
	list()
	list()
	if got := list(); got != nil {
		t.Errorf("a list after the lag has %v", got)
	}
}

// TestOverwrite: without a precondition, a late Put replaces what was put in between.
func TestOverwrite(t *testing.T) {
	n, s := network(1, faults.Rates{Overwrite: true, Late: always})
	n.Client().Put(t.Context(), "a", []byte("late"))
	if err := s.Put(t.Context(), "a", []byte("between")); err != nil {
		t.Fatal(err)
	}
	if err := n.Settle(); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Get(t.Context(), "a"); string(data) != "late" {
		t.Errorf("the object has %q, %v", data, err)
	}
	if err := n.Client().Put(t.Context(), "a", []byte("next")); err != nil {
		t.Errorf("Put to a name in use = %v", err)
	}
}

// TestCrash: after a crash every call fails; the call in which the client crashes has its effect in
// some runs, at once, later or never. Another client is not concerned.
func TestCrash(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(60) {
		n, s := network(seed, faults.Rates{})
		c := n.Client()
		c.CrashAfter(1)
		if err := c.Put(t.Context(), "a", nil); err != nil {
			t.Errorf("before the crash: %v", err)
		}
		for _, name := range []string{"b", "c"} {
			if err := c.Put(t.Context(), name, nil); !errors.Is(err, faults.ErrCrashed) {
				t.Errorf("after the crash: %v", err)
			}
		}
		now := stored(t, s, "b")
		if err := n.Settle(); err != nil {
			t.Fatal(err)
		}
		outcomes[fmt.Sprint(now, stored(t, s, "b"))]++
		if stored(t, s, "c") {
			t.Error("a crashed client puts")
		}
		if _, err := c.Get(t.Context(), "a"); !errors.Is(err, faults.ErrCrashed) {
			t.Errorf("after the crash: %v", err)
		}
		if _, err := n.Client().Get(t.Context(), "a"); err != nil {
			t.Errorf("another client: %v", err)
		}
	}
	if len(outcomes) != 3 {
		t.Errorf("a crash amid a Put has the outcomes %v", outcomes)
	}
}

// TestSeed: a seed decides what happens, and other seeds have other faults.
func TestSeed(t *testing.T) {
	run := func(seed uint64) (results string) {
		n, _ := network(seed, faults.Some)
		a, b := n.Client(), n.Client()
		for i := range 100 {
			err := a.Put(context.Background(), fmt.Sprint("m/", i), nil)
			_, get := b.Get(context.Background(), fmt.Sprint("m/", i-1))
			list, err2 := b.List(context.Background(), bucket.ListOptions{})
			results += fmt.Sprintln(err, get, len(list), err2)
		}
		return results
	}
	first := run(1)
	if run(1) != first {
		t.Error("two runs with a seed differ")
	}
	if run(2) == first {
		t.Error("two seeds have the same faults")
	}
}
