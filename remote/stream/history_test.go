package stream_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/faults"
	"github.com/bough-dev/bough/remote/stream"
)

// A history is what machines did in a random order, with a network that loses and delays requests,
// crashes, and copied disks.
type history struct {
	testing.TB
	*rand.Rand
	net      *faults.Network
	remote   *stream.Remote
	machines []*machine
	said     map[string]bool // all values that Append acknowledged
	renewed  int
}

// TestHistories: afterwards each machine has applied what each other one said, and no stream has a
// problem.
func TestHistories(t *testing.T) {
	renewed := 0
	for seed := range testsize.Of[uint64](1, 4, 80) {
		h := newHistory(t, seed)
		for range 60 {
			h.step()
		}
		h.settle()
		renewed += h.renewed
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if renewed == 0 {
		t.Error("no machine was renewed")
	}
}

func newHistory(t testing.TB, seed uint64) *history {
	store := new(bucket.Memory)
	h := &history{TB: t, Rand: rand.New(rand.NewPCG(seed, 1)), remote: newRemote(t, store), net: faults.NewNetwork(store, seed, faults.Some), said: map[string]bool{}}
	for range 3 {
		h.machines = append(h.machines, newMachine(t, through(h.remote, h.net.Client())))
	}
	return h
}

func (h *history) step() {
	m := h.machines[h.IntN(len(h.machines))]
	switch n := h.IntN(20); {
	case n < 7:
		value := fmt.Sprint(len(h.said))
		m.say(value)
		m.got[value]++
		h.said[value] = true
	case n < 12:
		h.upload(m)
	case n < 17:
		h.fetch(m, stream.Scope(h.IntN(3)))
	case n == 17:
		h.crash(m)
	case len(h.machines) < 5:
		h.copy(m)
	}
}

// upload uploads, and makes a copied machine another one.
func (h *history) upload(m *machine) {
	err := m.Upload(ctx)
	var copied *stream.CopiedError
	if errors.As(err, &copied) {
		h.renew(m)
	} else if err != nil && !errors.Is(err, faults.ErrLost) && !strings.Contains(err.Error(), "does not return it") {
		h.Errorf("upload: %v", err)
	}
	m.have.Merge(m.Published())
}

func (h *history) renew(m *machine) {
	h.renewed++
	before := len(m.Unsent())
	list, err := m.Renew()
	if err != nil {
		h.Fatal(err)
	}
	if len(list) != before {
		h.Errorf("%d records were issued anew as %d", before, len(list))
	}
}

func (h *history) fetch(m *machine, scope stream.Scope) {
	own := m.Machine()
	got, err := m.try(stream.Request{Scope: scope, Patience: 1000})
	if err != nil {
		if !errors.Is(err, faults.ErrLost) {
			h.Errorf("fetch: %v", err)
		}
		return
	}
	for _, p := range got.Problems {
		if p.Kind != stream.Unreadable && (p.Machine != own || p.Kind != stream.Swapped) {
			h.Errorf("problem %s: %v", p.Kind, p)
		}
	}
	if got.Copied {
		h.upload(m)
		if m.Machine() == own {
			h.renew(m)
		}
	}
}

// crash opens a machine again, as another process.
func (h *history) crash(m *machine) {
	m.Remote = through(h.remote, h.net.Client())
	m.reopen()
}

// copy makes a machine with a copy of another one's disk.
func (h *history) copy(m *machine) {
	c := copyOf(m)
	c.Remote = through(h.remote, h.net.Client())
	c.reopen()
	h.machines = append(h.machines, c)
}

// settle has everything arrive, and checks it.
func (h *history) settle() {
	if err := h.net.Settle(); err != nil {
		h.Fatal(err)
	}
	for range 4 {
		for _, m := range h.machines {
			h.upload(m)
			h.upload(m)
			h.fetch(m, stream.Names)
		}
	}
	for i, m := range h.machines {
		got := m.fetch(stream.Whole)
		if len(got.Problems) > 0 || len(got.Held) > 0 || len(got.Records) > 0 {
			h.Errorf("machine %d is not up to date: %+v", i, got)
		}
		for value := range h.said {
			if m.got[value] < 1 {
				h.Errorf("machine %d does not have %s", i, value)
			}
		}
	}
	reader := newMachine(h, h.remote)
	reader.fetch(stream.Names)
	for value := range h.said {
		if reader.got[value] < 1 {
			h.Errorf("a new machine does not have %s", value)
		}
	}
}
