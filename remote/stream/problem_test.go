package stream_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
)

// An attack is a change of the stream of a machine with three records, of which two were
// read.
type attack struct {
	name  string
	do    func(*scene)
	kind  stream.Kind
	seq   uint64
	scope stream.Scope
	late  bool // it takes some fetches to be sure
}

type scene struct {
	*testing.T
	store *bucket.Memory
	a, b  *machine // the attacked one, and another one
}

func (s *scene) name(m *machine, seq int) string { return fmt.Sprintf("m/%s/%08d", m.Machine(), seq) }

func (s *scene) stored(name string) []byte {
	data, err := s.store.Get(ctx, name)
	if err != nil {
		s.Fatal(err)
	}
	return data
}

func (s *scene) set(m *machine, seq int, data []byte) { replace(s.T, s.store, s.name(m, seq), data) }

// forge stores a record of a that signer signs.
func (s *scene) forge(key *seal.Key, signer *seal.Signer, change func(*record.Record)) {
	s.Helper()
	plain, err := s.a.Key.Open(s.stored(s.name(s.a, 3)), seal.MaxRecord)
	if err != nil {
		s.Fatal(err)
	}
	r, _, err := seal.DecodeRecord(plain, s.a.have[s.a.Machine()].Key)
	if err != nil {
		s.Fatal(err)
	}
	r.Machine = signer.Machine()
	change(r)
	if plain, err = seal.EncodeRecord(r, signer); err != nil {
		s.Fatal(err)
	}
	stored, err := key.Seal(plain)
	if err != nil {
		s.Fatal(err)
	}
	s.set(s.a, 3, stored)
}

// signer returns the key of the attacked machine.
func (s *scene) signer() *seal.Signer { return signerOf(s.T, s.a.dir) }

func newSigner(t testing.TB) *seal.Signer {
	signer, err := seal.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

var attacks = []attack{
	{"the next record is not shown", func(s *scene) { s.set(s.a, 3, nil) }, stream.Withheld, 3, stream.Known, true},
	{"the next record is not shown, and a later one is", func(s *scene) {
		s.a.publish("4")
		s.set(s.a, 3, nil)
		s.set(s.b, 2, nil)
	}, stream.Withheld, 3, stream.Whole, true},
	{"the last records are removed", func(s *scene) {
		s.set(s.a, 3, nil)
		s.set(s.a, 2, nil)
		s.set(s.b, 2, nil)
	}, stream.RolledBack, 2, stream.Whole, true},
	{"an earlier record in place of the next one", func(s *scene) { s.set(s.a, 3, s.stored(s.name(s.a, 2))) }, stream.Swapped, 3, stream.Names, false},
	{"a record of another machine", func(s *scene) { s.set(s.a, 3, s.stored(s.name(s.b, 2))) }, stream.Forged, 3, stream.Names, false},
	{"random bytes", func(s *scene) { s.set(s.a, 3, []byte("random")) }, stream.Malformed, 3, stream.Names, false},
	{"an empty object", func(s *scene) { s.set(s.a, 3, []byte{}) }, stream.Malformed, 3, stream.Names, false},
	{"a cut object", func(s *scene) { s.set(s.a, 3, s.stored(s.name(s.a, 3))[:200]) }, stream.Malformed, 3, stream.Names, false},
	{"another key of the remote", func(s *scene) { s.forge(newKey(s), s.signer(), func(*record.Record) {}) }, stream.Forged, 3, stream.Names, false},
	{"another machine that has the key", func(s *scene) { s.forge(s.a.Key, newSigner(s), func(*record.Record) {}) }, stream.Forged, 3, stream.Names, false},
	{"the machine says that it follows another record", func(s *scene) {
		s.forge(s.a.Key, s.signer(), func(r *record.Record) { r.Before = fmt.Sprintf("%064d", 1) })
	}, stream.Swapped, 3, stream.Names, false},
	{"the machine has a Lamport that is too great", func(s *scene) {
		s.forge(s.a.Key, s.signer(), func(r *record.Record) { r.Lamport = 1 << 40 })
	}, stream.Malformed, 3, stream.Names, false},
	{"the machine has a Lamport that is too small", func(s *scene) {
		s.forge(s.a.Key, s.signer(), func(r *record.Record) { r.Lamport = 1 })
	}, stream.Malformed, 3, stream.Names, false},
	{"a decompression bomb", func(s *scene) {
		stored, err := s.a.Key.Seal(make([]byte, seal.MaxRecord+1))
		if err != nil {
			s.Fatal(err)
		}
		s.set(s.a, 3, stored)
	}, stream.Malformed, 3, stream.Names, false},
}

// TestAttacks: each is reported as what it is, nothing of it is applied, the streams of others are
// read on, and when the right objects are back, so is everything.
func TestAttacks(t *testing.T) {
	for _, at := range attacks {
		t.Run(at.name, func(t *testing.T) {
			s := &scene{T: t, store: new(bucket.Memory)}
			r := newRemote(t, s.store)
			s.a, s.b = newMachine(t, r), newMachine(t, r)
			other, reader := newMachine(t, r), newMachine(t, r)
			s.a.publish("1")
			s.a.publish("2")
			s.b.publish("b1")
			reader.fetch(stream.Names)
			s.a.publish("3")
			s.b.fetch(stream.Names)
			s.b.publish("b2") // has seen record 3 of a
			before := dump(t, s.store)
			at.do(s)
			other.publish("other")

			var found *stream.Problem
			var after int
			for range 3 {
				got, err := reader.try(stream.Request{Scope: at.scope})
				if err != nil {
					t.Fatal(err)
				}
				after++
				for _, p := range got.Problems {
					if found == nil {
						found = p
					}
				}
				if found != nil {
					break
				}
			}
			if found == nil || found.Kind != at.kind || found.Machine != s.a.Machine() || found.Seq != at.seq || found.Detail == "" {
				t.Fatalf("the problem is %+v", found)
			}
			if at.late != (after == 3) {
				t.Errorf("it was reported after %d fetches", after)
			}
			if at.scope != stream.Known && reader.got["other"] != 1 {
				t.Error("the stream of another machine was not read")
			}
			if reader.got["3"] != 0 || reader.got["b2"] != 0 {
				t.Errorf("applied are %v", reader.got)
			}
			for name, data := range before {
				replace(t, s.store, name, data)
			}
			if got := reader.fetch(stream.Names); len(got.Problems) > 0 {
				t.Errorf("with the right objects: %v", got.Problems[0])
			}
			for _, v := range []string{"1", "2", "3", "b1", "b2", "other"} {
				if reader.got[v] != 1 {
					t.Errorf("%s was applied %d times", v, reader.got[v])
				}
			}
		})
	}
}

// TestGivenUp: what a machine says that it gave up holds its records, as what it has seen does, until the reader gave up the
// same; then the Lamport can be greater, and not by more.
func TestGivenUp(t *testing.T) {
	lost := seal.MachineOf([]byte("lost"))
	for lamport, kind := range map[uint64]stream.Kind{8: "", 9: stream.Malformed} { // of two records, and of five that are lost
		s := &scene{T: t, store: new(bucket.Memory)}
		s.a = newMachine(t, newRemote(t, s.store))
		reader := newMachine(t, s.a.Remote)
		s.a.publish("1")
		s.a.publish("2")
		s.a.publish("3")
		s.forge(s.a.Key, s.signer(), func(r *record.Record) { r.Lost, r.Lamport = record.Vector{lost: 5}, lamport })
		got := reader.fetch(stream.Names)
		if len(got.Held) != 1 || got.Held[0].Needs[lost] != 5 || reader.got["3"] != 0 {
			t.Errorf("before they were given up: %+v", got)
		}
		got, err := reader.try(stream.Request{Lost: record.Vector{lost: 5}})
		if err != nil {
			t.Fatal(err)
		}
		if malformed := len(got.Problems) == 1 && got.Problems[0].Kind == stream.Malformed; malformed != (kind == stream.Malformed) || malformed == (reader.got["3"] == 1) {
			t.Errorf("after that, with the Lamport %d: %+v", lamport, got)
		}
	}
}

// TestGivenUpItself: a machine that gave up its own stream, because its disk was restored and others retired it, still writes.
func TestGivenUpItself(t *testing.T) {
	a := newMachine(t, newRemote(t, new(bucket.Memory)))
	a.publish("1")
	list, err := a.Append(a.have, record.Vector{a.Machine(): 9}, ops("2"))
	if err != nil || len(list) != 1 || len(list[0].Lost) != 0 {
		t.Errorf("Append = %v, %v", list, err)
	}
}

// TestOwnGone: a machine notices that its own records are gone.
func TestOwnGone(t *testing.T) {
	s := &scene{T: t, store: new(bucket.Memory)}
	s.a = newMachine(t, newRemote(t, s.store))
	s.a.publish("1")
	s.set(s.a, 1, nil)
	for i := range 3 {
		got := s.a.fetch(stream.Whole)
		if reported := len(got.Problems) == 1 && got.Problems[0].Kind == stream.RolledBack; reported != (i == 2) {
			t.Errorf("fetch %d: %v", i, got.Problems)
		}
	}
}

// TestNewer: a record of a newer format stops its stream, is no attack, and is said; so are operations
// that are not known, which are returned.
func TestNewer(t *testing.T) {
	r := newRemote(t, new(bucket.Memory))
	a, b := newMachine(t, r), newMachine(t, r)
	if _, err := a.Append(nil, nil, []record.Op{{Do: "merge", Entity: "x", Value: []byte(`"1"`)}}); err != nil {
		t.Fatal(err)
	}
	a.upload()
	if got := b.fetch(stream.Names); len(got.Unknown) != 1 || len(got.Records) != 1 {
		t.Errorf("an unknown action: %+v", got)
	}
	lines := fmt.Appendf(nil, "{\"format\":2,\"machine\":%q,\"seq\":2}\n", a.Machine())
	stored, err := r.Key.Seal(signLines(signerOf(t, a.dir), lines))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Store.Put(ctx, fmt.Sprintf("m/%s/%08d", a.Machine(), 2), stored); err != nil {
		t.Fatal(err)
	}
	got := b.fetch(stream.Names)
	if len(got.Problems) != 1 || got.Problems[0].Kind != stream.Newer || !errors.Is(got.Problems[0], seal.ErrNewer) || len(got.Unknown) != 1 {
		t.Errorf("format 2: %+v", got)
	}
}

// TestUnreadable: an object that the store does not return blocks its stream alone; a store that
// returns nothing is an error.
func TestUnreadable(t *testing.T) {
	broken := &failing{Store: new(bucket.Memory)}
	r := newRemote(t, broken)
	a, b, c := newMachine(t, r), newMachine(t, r), newMachine(t, r)
	a.publish("1")
	b.publish("2")
	broken.prefix = "m/" + string(a.Machine())
	got := c.fetch(stream.Names)
	if len(got.Problems) != 1 || got.Problems[0].Kind != stream.Unreadable || !errors.Is(got.Problems[0], errBroken) {
		t.Errorf("problems are %v", got.Problems)
	}
	c.has("2")
	broken.prefix = "m/"
	if _, err := c.try(stream.Request{Scope: stream.Names}); !errors.Is(err, errBroken) {
		t.Errorf("without any answer: %v", err)
	}
	broken.prefix = ""
	c.fetch(stream.Names)
	c.has("1", "2")
}

// TestManyNamed: a record that has seen machines that do not exist costs a bounded number of requests.
func TestManyNamed(t *testing.T) {
	meter := bucket.NewMeter(new(bucket.Memory))
	r := newRemote(t, meter)
	a, b := newMachine(t, r), newMachine(t, r)
	for i := range 1000 {
		a.have[seal.MachineOf([]byte(fmt.Sprint(i)))] = stream.Cursor{Seq: 1, Lamport: 1}
	}
	a.say("1")
	if err := a.Upload(ctx); err != nil {
		t.Fatal(err)
	}
	before := meter.Usage()
	if got := b.fetch(stream.Names); len(got.Held) != 1 {
		t.Errorf("%+v", got)
	}
	if used := meter.Usage().Sub(before); used.Requests() > 1000 {
		t.Errorf("the fetch made %+v", used)
	}
}

// TestManyGivenUp: a machine that names many others as retired has a reader give up a limited number.
func TestManyGivenUp(t *testing.T) {
	s := &scene{T: t, store: new(bucket.Memory)}
	s.a = newMachine(t, newRemote(t, s.store))
	reader := newMachine(t, s.a.Remote)
	for _, text := range []string{"1", "2", "3"} {
		s.a.publish(text)
	}
	s.forge(s.a.Key, s.signer(), func(r *record.Record) {
		r.Seen, r.Ops = record.Vector{}, nil
		for i := range 1500 {
			m := seal.MachineOf(fmt.Append(nil, i))
			r.Seen[m] = 2
			r.Ops = append(r.Ops, record.Op{Do: record.Remove, Entity: "machine/" + string(m), Value: []byte(`{"through":2}`)})
		}
	})
	given := record.Vector{}
	for range 6 {
		got, err := reader.try(stream.Request{Scope: stream.Names, Lost: given})
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(given, got.Lost)
	}
	if len(given) == 0 || len(given) > 1000 || reader.got["3"] != 0 {
		t.Errorf("%d machines are given up", len(given))
	}
}

// TestGreatLamport: the Lamport of a record is at most the number of records that it has seen, whatever others claim.
func TestGreatLamport(t *testing.T) {
	s := &scene{T: t, store: new(bucket.Memory)}
	s.a = newMachine(t, newRemote(t, s.store))
	reader := newMachine(t, s.a.Remote)
	for _, text := range []string{"1", "2", "3"} {
		s.a.publish(text)
	}
	s.forge(s.a.Key, s.signer(), func(r *record.Record) { r.Lamport = 900 })
	if _, err := reader.try(stream.Request{Scope: stream.Names, Lost: record.Vector{seal.MachineOf([]byte("lost")): 1000}}); err != nil || reader.got["3"] != 1 {
		t.Fatalf("%v, %v", reader.got, err)
	}
	list, err := reader.Append(reader.have, nil, ops("4"))
	if err != nil || list[0].Lamport != 4 {
		t.Errorf("Append = %+v, %v", list, err)
	}
}
