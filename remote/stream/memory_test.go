package stream_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/stream"
)

// TestMemory: however many machines have however much, and some of it malformed, a fetch returns little more than it
// was asked for, and fetches one after the other return everything.
func TestMemory(t *testing.T) {
	const limit, size, each = 300 << 10, 100 << 10, 5
	store := new(bucket.Memory)
	r := newRemote(t, store)
	reader := newMachine(t, r)
	var values []string
	for i := range 12 {
		m := newMachine(t, r)
		for k := range each {
			v := fmt.Sprintf("%d/%d %s", i, k, strings.Repeat("x", size))
			m.publish(v)
			if i == 5 { // a base that is larger than the limit comes before the rest
				m.putBase(v, strings.Repeat("y", 4*limit))
			} else if i != 7 {
				values = append(values, v)
			}
		}
		if i == 7 {
			replace(t, store, fmt.Sprintf("m/%s/%08d", m.Machine(), 1), make([]byte, 10*limit))
		}
		if i == 5 {
			values = append(values, fmt.Sprintf("%d/%d %s", i, each-1, strings.Repeat("x", size)), strings.Repeat("y", 4*limit))
			m.collect(stream.Plan{Through: each})
		}
	}
	fetches := 0
	for more := true; more; fetches++ {
		got, err := reader.try(stream.Request{Scope: stream.Whole, MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		more = got.More
		held, most, objects := 0, limit+2*size, len(got.Bases)
		for _, b := range got.Bases {
			held += len(b.Content)
			most += 5 * limit
		}
		for _, rec := range got.Records {
			objects++
			for _, v := range valuesOf(t, rec) {
				held += len(v)
			}
		}
		if held > most {
			t.Errorf("a fetch returns %d bytes", held)
		}
		if objects == 0 && more {
			t.Fatal("a fetch returns nothing, and there is more")
		}
	}
	reader.has(values...)
	if fetches < 10 {
		t.Errorf("%d fetches returned everything", fetches)
	}
}

// A getting is a store that counts how often it returned an object.
type getting struct {
	bucket.Store
	mu sync.Mutex
	n  map[string]int
}

func (g *getting) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := g.Store.Get(ctx, name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err == nil {
		g.n[name]++
	}
	return data, err
}

// TestNothingTwice: of one machine that wrote more than a fetch returns, no record is requested twice.
func TestNothingTwice(t *testing.T) {
	store := &getting{Store: new(bucket.Memory), n: map[string]int{}}
	r := newRemote(t, store)
	m, reader := newMachine(t, r), newMachine(t, r)
	for i := range 30 {
		random := make([]byte, 40<<10)
		rand.NewChaCha8([32]byte{byte(i)}).Read(random)
		m.publish(hex.EncodeToString(random))
	}
	clear(store.n)
	for more := true; more; {
		got, err := reader.try(stream.Request{Scope: stream.Whole, MaxBytes: 400 << 10})
		if err != nil {
			t.Fatal(err)
		}
		more = got.More
	}
	for name, n := range store.n {
		if n > 1 {
			t.Errorf("%s was requested %d times", name, n)
		}
	}
}
