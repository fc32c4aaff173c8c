package stream_test

import (
	"errors"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/internal/faults"
	"github.com/bough-dev/bough/remote/stream"
)

// TestCrashAtRequests: a machine that crashes at any request of an upload, which may or may not have
// its effect, or have it later, sends everything once after that.
func TestCrashAtRequests(t *testing.T) {
	for seed := range uint64(6) {
		for n := range 5 {
			store := new(bucket.Memory)
			net := faults.NewNetwork(store, seed, faults.Rates{})
			r := newRemote(t, store)
			client := net.Client()
			m := newMachine(t, through(r, client))
			m.say("1")
			m.pack(messages("a", 2, 100))
			m.say("2")
			client.CrashAfter(n)
			if err := m.Upload(ctx); (err == nil) != (n == 4) || err != nil && !errors.Is(err, faults.ErrCrashed) {
				t.Fatalf("Upload with a crash at request %d: %v", n, err)
			}
			m.Remote = through(r, net.Client())
			m.reopen()
			m.upload()
			if err := net.Settle(); err != nil {
				t.Fatal(err)
			}
			reader := newMachine(t, r)
			if got := reader.fetch(stream.Whole); len(got.Problems)+len(got.Held) > 0 {
				t.Fatalf("seed %d, request %d: %+v", seed, n, got)
			}
			reader.has("1", "pack", "2")
		}
	}
}

// TestLostAnswers: with answers that are lost and requests that arrive late or twice, Upload sends the
// same bytes again, and never believes that it was copied.
func TestLostAnswers(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	net := faults.NewNetwork(store, 1, faults.Rates{LostRequest: 100, LostAnswer: 200, Late: 200, Double: 200, Lag: 10})
	m := newMachine(t, through(r, net.Client()))
	var values []string
	for range 30 {
		values = append(values, string(rune('A'+len(values))))
		m.say(values[len(values)-1])
		for err := errors.New(""); err != nil; {
			if err = m.Upload(ctx); err != nil && !errors.Is(err, faults.ErrLost) {
				t.Fatal(err)
			}
		}
	}
	if err := net.Settle(); err != nil {
		t.Fatal(err)
	}
	reader := newMachine(t, r)
	reader.fetch(stream.Names)
	reader.has(values...)
}
