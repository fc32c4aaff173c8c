package stream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/fault"
)

// putBase stores a base with values.
func (m *machine) putBase(values ...string) uint64 {
	m.Helper()
	content, err := json.Marshal(values)
	if err != nil {
		m.Fatal(err)
	}
	seq, err := m.PutBase(ctx, seal.Base{Content: content}, unchecked)
	if err != nil {
		m.Fatal(err)
	}
	return seq
}

func (m *machine) collect(plan stream.Plan) stream.Collected {
	m.Helper()
	done, err := m.Collect(ctx, plan)
	if err != nil {
		m.Fatal(err)
	}
	return done
}

// TestNewcomer: a new machine reads the newest base and the records after it, and one that was away
// for long finds the base too.
func TestNewcomer(t *testing.T) {
	r := newRemote(t, new(bucket.Memory))
	a, away := newMachine(t, r), newMachine(t, r)
	a.publish("1")
	away.fetch(stream.Names)
	a.publish("2")
	a.putBase("1", "2")
	a.publish("3")
	a.publish("4")
	a.putBase("1", "2", "3", "4")
	a.publish("5")
	if done := a.collect(stream.Plan{Through: 3}); done != (stream.Collected{Records: 3, Bases: 1}) {
		t.Errorf("Collect = %+v", done)
	}
	newcomer := newMachine(t, r)
	if got := newcomer.fetch(stream.Names); len(got.Bases) != 1 || len(got.Records) != 1 {
		t.Errorf("a newcomer: %+v", got)
	}
	newcomer.has("1", "2", "3", "4", "5")
	if got := away.fetch(stream.Names); len(got.Records)+len(got.Bases) != 0 {
		t.Errorf("without looking at all names: %+v", got)
	}
	if got := away.fetch(stream.Whole); len(got.Bases) != 1 || len(got.Problems) != 0 {
		t.Errorf("looking at all names: %+v", got)
	}
	away.has("1", "2", "3", "4", "5")

	b, late := newMachine(t, r), newMachine(t, r)
	b.fetch(stream.Names)
	b.publish("6") // has seen 5 of a
	late.have = stream.Cursors{a.Machine(): stream.Cursor{Seq: 1, Last: strings.Repeat("0", 64), Lamport: 1, Key: a.have[a.Machine()].Key}}
	late.got["1"] = 1
	late.fetch(stream.Names) // finds the base because 6 waits for 5
	late.has("1", "2", "3", "4", "5", "6")
}

// TestBaseWaits: a base whose machine had seen more than there is waits for that, like a record.
func TestBaseWaits(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	a, b, c := newMachine(t, r), newMachine(t, r), newMachine(t, through(r, &hiding{Store: store}))
	a.publish("1")
	b.fetch(stream.Names)
	b.publish("2")
	if _, err := b.PutBase(ctx, seal.Base{Seen: b.have.Vector(), Content: []byte(`["2"]`)}, unchecked); err != nil {
		t.Fatal(err)
	}
	c.Store.(*hiding).hide = "m/" + string(a.Machine())
	if got := c.fetch(stream.Names); len(got.Bases) != 0 || got.Next[b.Machine()].Seq != 0 || len(got.Held) != 1 || got.Held[0].Needs[a.Machine()] != 1 {
		t.Errorf("without what it has seen: %+v", got)
	}
	c.Store.(*hiding).hide = ""
	if got := c.fetch(stream.Names); len(got.Bases) != 1 || len(got.Held)+len(got.Problems) > 0 {
		t.Errorf("with what it has seen: %+v", got)
	}
	c.has("1", "2")
}

// TestBaseOfMissed: a stream that another machine has seen, and of which no record could be read, is read
// from its base when there is one.
func TestBaseOfMissed(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	a, b, c := newMachine(t, r), newMachine(t, r), newMachine(t, through(r, &hiding{Store: store}))
	a.publish("1")
	b.fetch(stream.Names)
	b.publish("2")
	if _, err := b.PutBase(ctx, seal.Base{Seen: b.have.Vector(), Content: []byte(`["2"]`)}, unchecked); err != nil {
		t.Fatal(err)
	}
	c.Store.(*hiding).hide = "m/" + string(a.Machine())
	c.fetch(stream.Names)
	a.putBase("1")
	if err := store.Delete(ctx, "m/"+string(a.Machine())+"/00000001"); err != nil {
		t.Fatal(err)
	}
	c.Store.(*hiding).hide = ""
	if got := c.fetch(stream.Names); len(got.Bases) != 2 || len(got.Held)+len(got.Problems) > 0 {
		t.Errorf("with the base that replaces it: %+v", got)
	}
	c.has("1", "2")
}

// TestBasesOfEachOther: bases that have seen the records of each other are read, also in portions. If one lacks
// something, both wait, and other streams are read.
func TestBasesOfEachOther(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	a, b, c := newMachine(t, r), newMachine(t, r), newMachine(t, r)
	c.publish("c")
	a.publish("a")
	b.fetch(stream.Names)
	b.publish("b")
	a.fetch(stream.Names)
	for _, m := range []*machine{a, b} {
		must(m.PutBase(ctx, seal.Base{Seen: m.have.Vector(), Content: []byte(`["a", "b"]`)}, unchecked))
		m.collect(stream.Plan{Through: 1})
	}
	for _, limit := range []int64{0, 1} {
		reader := newMachine(t, r)
		for more := true; more; {
			got := must(reader.try(stream.Request{Scope: stream.Whole, MaxBytes: limit}))
			more = got.More
		}
		reader.has("a", "b", "c")
	}
	if err := store.Delete(ctx, "m/"+string(c.Machine())+"/00000001"); err != nil {
		t.Fatal(err)
	}
	newMachine(t, r).publish("d")
	reader := newMachine(t, r)
	if got := reader.fetch(stream.Whole); len(got.Bases) != 0 || len(got.Held) != 2 {
		t.Errorf("without what both have seen: %+v", got)
	}
	reader.has("d")
}

// TestBadBase: a base that its machine did not write, or that is of another number, is reported, and
// other streams are read.
func TestBadBase(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(s *scene) []byte
		kind stream.Kind
	}{
		{"random bytes", func(*scene) []byte { return []byte("random") }, stream.Malformed},
		{"of another machine", func(s *scene) []byte { return s.stored(fmt.Sprintf("m/%s/base-00000001", s.b.Machine())) }, stream.Swapped},
		{"of another number", func(s *scene) []byte { return s.stored(fmt.Sprintf("m/%s/base-00000001", s.a.Machine())) }, stream.Swapped},
		{"a record", func(s *scene) []byte { return s.stored(s.name(s.a, 1)) }, stream.Forged},
	} {
		s := &scene{T: t, store: new(bucket.Memory)}
		r := newRemote(t, s.store)
		s.a, s.b = newMachine(t, r), newMachine(t, r)
		s.a.publish("1")
		s.a.putBase("1")
		s.b.publish("2")
		s.b.putBase("2")
		if err := s.store.Put(ctx, fmt.Sprintf("m/%s/base-00000009", s.a.Machine()), c.do(s)); err != nil {
			t.Fatal(err)
		}
		reader := newMachine(t, r)
		got := reader.fetch(stream.Names)
		if len(got.Problems) != 1 || got.Problems[0].Kind != c.kind || got.Problems[0].Machine != s.a.Machine() {
			t.Errorf("%s: %v", c.name, got.Problems)
		}
		reader.has("2")
	}
}

// TestCollectRepeats: garbage is collected once, and again after an interruption; other objects
// stays.
func TestCollectRepeats(t *testing.T) {
	store := new(bucket.Memory)
	limited := &limited{Store: store, left: 1 << 30}
	r := newRemote(t, limited)
	a := newMachine(t, r)
	a.publish("1")
	a.publish("2")
	body := a.pack(messages("a", 1, 100))[0][0]
	a.upload()
	a.putBase("1", "2", "pack")
	a.putBase("1", "2", "pack") // with the same number: as after a lost answer
	plan := stream.Plan{Through: 3, Packs: []string{body.Pack}}
	for deletes := range 3 {
		limited.left = deletes
		if _, err := a.Collect(ctx, plan); !errors.Is(err, errBroken) {
			t.Fatalf("with %d deletes: %v", deletes, err)
		}
		limited.left = 1 << 30
		newMachine(t, r).fetch(stream.Names)
	}
	a.collect(plan)
	if done := a.collect(plan); done.Records != 0 {
		t.Errorf("again: %+v", done)
	}
	want := map[string]bool{"bough.json": true, fmt.Sprintf("m/%s/base-00000003", a.Machine()): true}
	for name := range dump(t, store) {
		if !want[name] {
			t.Errorf("%s is left", name)
		}
	}
	newcomer := newMachine(t, r)
	newcomer.fetch(stream.Names)
	a.publish("4")
	newcomer.fetch(stream.Known)
	newcomer.has("1", "2", "pack", "4")
}

// TestCollectRefuses: nothing is deleted without a base, with operations that are not known, with
// records that were not uploaded, or if another copy of the machine writes.
func TestCollectRefuses(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	a := newMachine(t, r)
	a.publish("1")
	copied := copyOf(a)
	a.publish("2")
	refused := func(what string, m *machine, plan stream.Plan, is func(error) bool) {
		t.Helper()
		before := len(dump(t, store))
		if _, err := m.Collect(ctx, plan); !is(err) {
			t.Errorf("%s: %v", what, err)
		}
		if len(dump(t, store)) != before {
			t.Errorf("%s: something was deleted", what)
		}
	}
	code := func(c fault.Code) func(error) bool { return func(err error) bool { return errors.Is(err, c) } }
	refused("no base", a, stream.Plan{Through: 1}, code(fault.Refused))
	a.putBase("1", "2")
	refused("more than the base", a, stream.Plan{Through: 3}, code(fault.Refused))
	refused("unknown operations", a, stream.Plan{Through: 2, Unknown: true}, code(fault.Refused))
	refused("not a pack", a, stream.Plan{Packs: []string{"../bough.json"}}, code(fault.Usage))
	refused("a copied disk", copied, stream.Plan{Through: 1}, func(err error) bool { return errors.As(err, new(*stream.CopiedError)) })
	a.say("3")
	refused("unsent records", a, stream.Plan{Through: 2}, code(fault.Refused))
}

// TestParts: a base that is too large for an object is in several; others read it, a change in
// it is found, and its parts are deleted with it.
func TestParts(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	a := newMachine(t, r)
	a.SetMaxBase(1000)
	var values []string
	for i := range 200 {
		values = append(values, fmt.Sprintf("%d %x", i, i*i*i*7919))
	}
	for _, v := range values {
		a.publish(v)
	}
	seq := a.putBase(values...)
	parts := func() (list []string) {
		for _, o := range must(store.List(ctx, bucket.ListOptions{Prefix: "p/"})) {
			if o.Size > 1000 {
				t.Errorf("%s has %d bytes", o.Name, o.Size)
			}
			list = append(list, o.Name)
		}
		return list
	}
	first := parts()
	if len(first) < 2 {
		t.Fatalf("the base has the parts %v", first)
	}
	a.collect(stream.Plan{Through: seq})
	newcomer := newMachine(t, r)
	newcomer.fetch(stream.Whole)
	newcomer.has(values...)

	stored := must(store.Get(ctx, first[1]))
	for what, data := range map[string][]byte{"absent": nil, "another one": must(store.Get(ctx, first[0]))} {
		if err := store.Delete(ctx, first[1]); err != nil {
			t.Fatal(err)
		}
		if data != nil {
			if err := store.Put(ctx, first[1], data); err != nil {
				t.Fatal(err)
			}
		}
		got, err := r.Fetch(ctx, stream.Request{Scope: stream.Whole, Patience: 1})
		if err != nil || len(got.Problems) == 0 || len(got.Bases) > 0 {
			t.Errorf("a part is %s: %+v, %v", what, got, err)
		}
	}
	if err := store.Delete(ctx, first[1]); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(ctx, first[1], stored); err != nil {
		t.Fatal(err)
	}

	a.publish("last")
	seq = a.putBase(append(values, "last")...)
	a.collect(stream.Plan{Through: seq})
	for _, name := range parts() {
		for _, old := range first {
			if name == old {
				t.Errorf("%s is still there", name)
			}
		}
	}
	late := newMachine(t, r)
	late.fetch(stream.Whole)
	late.has(append(values, "last")...)
}

// must returns the result of a call that must work.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func unchecked(*seal.Base) error { return nil }

// TestPutBaseChecks: a base that the check of its caller refuses is not stored, nor a part of it; the check gets the whole
// base.
func TestPutBaseChecks(t *testing.T) {
	store := new(bucket.Memory)
	a := newMachine(t, newRemote(t, store))
	a.publish("1")
	before := dump(t, store)
	refused := errors.New("refused")
	for what, most := range map[string]int{"one object": 1 << 20, "parts": 10} {
		a.SetMaxBase(most)
		_, err := a.PutBase(ctx, seal.Base{Seen: a.have.Vector(), Content: []byte("content")}, func(b *seal.Base) error {
			if b.Machine != a.Machine() || b.Seq != 1 || b.Lamport != 1 || len(b.Seen) != 0 || string(b.Content) != "content" {
				t.Errorf("%s: the check gets %+v", what, b)
			}
			return refused
		})
		if after := dump(t, store); !errors.Is(err, refused) || len(after) != len(before) {
			t.Errorf("%s: %v, and the store has %d objects, before %d", what, err, len(after), len(before))
		}
	}
}
