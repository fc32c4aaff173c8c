package join

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/record"
)

// A history is what some machines wrote, each after it had merged some of what others wrote.
type history struct {
	random  *rand.Rand
	states  map[record.Machine]*State
	records []*record.Record // in an order in which they can be added
	bases   []*Base
}

func machineID(n int) record.Machine { return record.Machine(fmt.Sprintf("%032x", n+1)) }

// newHistory makes a history. Half of the steps write a record; the others merge or make a base.
func newHistory(t testing.TB, seed uint64, machines, steps int) *history {
	h := &history{random: rand.New(rand.NewPCG(seed, 1)), states: map[record.Machine]*State{}}
	for i := range machines {
		h.states[machineID(i)] = New()
	}
	for range steps {
		m := machineID(h.random.IntN(machines))
		s := h.states[m]
		switch h.random.IntN(8) {
		case 0, 1, 2, 3:
			r := &record.Record{Format: record.Format, Machine: m, Seq: s.seq(m) + 1, Lamport: s.Lamport() + 1, Seen: s.Vector()}
			for range 1 + h.random.IntN(3) {
				r.Ops = append(r.Ops, h.op(s))
			}
			h.records = append(h.records, r)
			mustAdd(t, s, r)
		case 4, 5, 6:
			for range h.random.IntN(8) {
				if len(h.records) > 0 {
					s.Add(h.records[h.random.IntN(len(h.records))]) // one that is held changes nothing
				}
			}
			for _, r := range h.records[:h.random.IntN(len(h.records)+1)] {
				s.Add(r)
			}
		default:
			if s.seq(m) > 0 {
				h.bases = append(h.bases, s.Base(m))
			}
		}
	}
	return h
}

// op returns an operation that a machine with state s could make, sometimes an odd one.
func (h *history) op(s *State) record.Op {
	pick := func(list ...string) string { return list[h.random.IntN(len(list))] }
	op := record.Op{Entity: pick("session/a", "session/b", "agent/x", "bookmarks", "thing")}
	switch h.random.IntN(9) {
	case 0, 1:
		op.Do, op.Field, op.Value = record.Set, pick("title", "name", "newest"), h.value()
	case 2, 3:
		op.Do, op.Field, op.Value = record.Add, pick("all", "undone"), h.value()
	case 4:
		op.Do, op.Field = record.Add, "messages"
		op.Body = &record.Body{Pack: strings.Repeat(pick("a", "b"), 64), At: h.random.Int64N(100), Size: 1 + h.random.Int64N(50), Count: 1}
	case 5, 6:
		op.Do, op.Field = record.Drop, pick("all", "undone", "messages")
		if e := s.Entity(op.Entity); e != nil {
			for _, el := range e.Sets[op.Field] {
				if h.random.IntN(2) == 0 {
					op.Stamps = append(op.Stamps, el.Stamp)
				}
			}
		}
		if h.random.IntN(4) == 0 { // a record that no machine can have seen
			op.Stamps = append(op.Stamps, record.Stamp{Machine: machineID(h.random.IntN(3)), Seq: uint64(h.random.IntN(40)), Index: h.random.IntN(3)})
		}
	case 7:
		op.Do = record.Remove
	default:
		op.Do, op.Value = pick("flip", "", record.Set), json.RawMessage(`{"of":1}`)
	}
	return op
}

func (h *history) value() json.RawMessage {
	switch h.random.IntN(8) {
	case 0:
		return json.RawMessage("null")
	case 1:
		return json.RawMessage("{ \"of\":\n NaN }")
	case 2:
		return json.RawMessage("{ \"of\":\n1 }")
	}
	return json.RawMessage(fmt.Sprintf("{\"of\":%q}", strings.Repeat("<\u2028é", h.random.IntN(3))+fmt.Sprint(h.random.IntN(100))))
}

// shuffled adds the records in a random order, again and again until all are in, some twice.
func (h *history) shuffled(t testing.TB, s *State) {
	left := slices.Clone(h.records)
	for round := 0; len(left) > 0; round++ {
		if round > len(h.records)+1 {
			t.Fatalf("%d records are held for ever", len(left))
		}
		h.random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		left = slices.DeleteFunc(left, func(r *record.Record) bool {
			var held *HeldError
			err := s.Add(r)
			if err != nil && !errors.As(err, &held) {
				t.Fatal(err)
			}
			return err == nil && h.random.IntN(4) > 0
		})
	}
}

func mustAdd(t testing.TB, s *State, r *record.Record) {
	t.Helper()
	if err := s.Add(r); err != nil {
		t.Fatal(err)
	}
}

// all returns the state of all records in the order in which they were written.
func (h *history) all(t testing.TB) *State {
	s := New()
	for _, r := range h.records {
		mustAdd(t, s, r)
	}
	return s
}

func mustDecode(t testing.TB, data []byte) *State {
	t.Helper()
	s, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOrder: the order in which records come, and how often, makes no difference, and neither does
// a state that was stored in between.
func TestOrder(t *testing.T) {
	for seed := range testsize.Of[uint64](3, 12, 300) {
		h := newHistory(t, seed, 3, 60)
		want := h.all(t).Encode()
		s := New()
		for _, r := range h.records[:h.random.IntN(len(h.records)+1)] {
			s.Add(r)
		}
		s = mustDecode(t, s.Encode())
		h.shuffled(t, s)
		if got := s.Encode(); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: another order gives\n%s\nwant\n%s", seed, got, want)
		}
		if got := mustDecode(t, want).Encode(); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: decoded and encoded again:\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// TestBases: a state with bases instead of the first records, of a newcomer or of a machine that
// missed some, says what a state with all records says.
func TestBases(t *testing.T) {
	for seed := range testsize.Of[uint64](5, 20, 400) {
		h := newHistory(t, seed, 3, 80)
		want := h.all(t)
		s := New()
		if seed%2 == 1 {
			for _, r := range h.records[:h.random.IntN(len(h.records)+1)] {
				s.Add(r)
			}
		}
		h.random.Shuffle(len(h.bases), func(i, j int) { h.bases[i], h.bases[j] = h.bases[j], h.bases[i] })
		for _, b := range h.bases[:h.random.IntN(len(h.bases)+1)] {
			data := b.Encode()
			decoded, err := DecodeBase(data)
			if err != nil {
				t.Fatalf("seed %d: %v in\n%s", seed, err, data)
			}
			if again := decoded.Encode(); !bytes.Equal(again, data) {
				t.Fatalf("seed %d: the base\n%s\ndecodes to\n%s", seed, data, again)
			}
			s.AddBase(decoded)
			s = mustDecode(t, s.Encode())
		}
		h.shuffled(t, s)
		if missing := s.Missing(); len(missing) > 0 {
			t.Fatalf("seed %d: with all records %v are missing", seed, missing)
		}
		equalStates(t, fmt.Sprint("seed ", seed), s, want)
		for m := range want.streams { // and later operations give the same, too
			one, other := New(), New()
			one.AddBase(s.Base(m))
			other.AddBase(want.Base(m))
			equalStates(t, fmt.Sprint("seed ", seed, ", base of the last state"), one, other)
		}
	}
}

// equalStates compares what two states say, in all that others see.
func equalStates(t *testing.T, what string, got, want *State) {
	t.Helper()
	if !reflect.DeepEqual(got.Vector(), want.Vector()) || !reflect.DeepEqual(got.Kept(), want.Kept()) {
		t.Fatalf("%s: the vector is %v, want %v; kept are %v, want %v", what, got.Vector(), want.Vector(), got.Kept(), want.Kept())
	}
	a, b := visible(got), visible(want)
	for name := range a {
		if !reflect.DeepEqual(a[name], b[name]) {
			t.Fatalf("%s: %s is\n%+v, want\n%+v", what, name, a[name], b[name])
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%s: %d entities, want %d", what, len(a), len(b))
	}
}

// visible returns what a state says of each entity that says anything.
func visible(s *State) map[string]Entity {
	m := map[string]Entity{}
	for name, e := range s.Entities("") {
		if e.Alive || len(e.Registers)+len(e.Sets) > 0 {
			m[name] = Entity{Alive: e.Alive, Registers: e.Registers, Sets: e.Sets}
		}
	}
	return m
}

// TestReissue: the records of one machine, issued again by another, mean the same.
func TestReissue(t *testing.T) {
	for seed := range testsize.Of[uint64](5, 15, 400) {
		h := newHistory(t, seed, 1, 20)
		if len(h.records) == 0 {
			continue
		}
		sent := h.random.IntN(len(h.records))
		s := New()
		for _, r := range h.records[:sent] {
			mustAdd(t, s, r)
		}
		for _, r := range Reissue(h.records[sent:], machineID(7)) {
			mustAdd(t, s, r)
		}
		got, want := plain(s), plain(h.all(t))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: issued again from %d:\n%s\nwant\n%s", seed, sent, got, want)
		}
	}
}

// plain returns what a state says, without stamps.
func plain(s *State) string {
	var b strings.Builder
	for name, e := range s.Entities("") {
		fmt.Fprint(&b, name, e.Alive)
		for _, field := range []string{"title", "name", "newest"} {
			fmt.Fprintf(&b, " %s", e.Registers[field].Value)
		}
		for _, field := range []string{"all", "undone", "messages"} {
			for _, el := range e.Sets[field] {
				fmt.Fprintf(&b, " %s %v", el.Value, el.Body)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
