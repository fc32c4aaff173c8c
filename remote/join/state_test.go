package join

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/fault"
)

// A pen writes the next record of a machine, which has merged a state, and merges it.
type pen struct {
	*State
	machine record.Machine
}

func newPen(n int) *pen { return &pen{New(), machineID(n)} }

func (p *pen) write(ops ...record.Op) *record.Record {
	seen := p.Vector()
	r := &record.Record{Format: record.Format, Machine: p.machine, Seq: seen[p.machine] + 1, Lamport: p.Lamport() + 1, Seen: seen, Ops: ops}
	if err := p.Add(r); err != nil {
		panic(err)
	}
	return r
}

// sync adds records to all.
func sync(t *testing.T, pens []*pen, records ...*record.Record) {
	t.Helper()
	for _, p := range pens {
		for _, r := range records {
			mustAdd(t, p.State, r)
		}
	}
}

func setOp(entity, field, value string) record.Op {
	return record.Op{Do: record.Set, Entity: entity, Field: field, Value: json.RawMessage(value)}
}

func addOp(entity, field, value string) record.Op {
	return record.Op{Do: record.Add, Entity: entity, Field: field, Value: json.RawMessage(value)}
}

func removeOp(entity string) record.Op { return record.Op{Do: record.Remove, Entity: entity} }

func TestHeld(t *testing.T) {
	a, b := newPen(0), newPen(1)
	first, second := a.write(setOp("session/s", "title", `"x"`)), a.write(setOp("session/s", "title", `"y"`))
	sync(t, []*pen{b}, first, second)
	answer := b.write(removeOp("session/s"))
	s := New()
	for _, c := range []struct {
		add     *record.Record
		missing record.Vector
	}{
		{second, record.Vector{a.machine: 1}},
		{answer, record.Vector{a.machine: 2}},
		{first, nil},
		{first, nil},
		{answer, record.Vector{a.machine: 2}},
		{second, nil},
		{answer, nil},
	} {
		before := s.Encode()
		err := s.Add(c.add)
		var held *HeldError
		switch {
		case c.missing == nil && err != nil:
			t.Fatal(err)
		case c.missing != nil && (!errors.As(err, &held) || !reflect.DeepEqual(held.Missing, c.missing)):
			t.Fatalf("record %d of %s: %v, want held for %v", c.add.Seq, c.add.Machine, err, c.missing)
		case c.missing != nil && !bytes.Equal(s.Encode(), before):
			t.Fatal("a record that is held changed the state")
		}
	}
}

// TestLastWord: no machine can have the last word for ever by a great Lamport, nor go back by a
// small one.
func TestLastWord(t *testing.T) {
	a, b := newPen(0), newPen(1)
	for i, lamport := range []uint64{math.MaxUint64, 0, 0} {
		sync(t, []*pen{a, b}, &record.Record{Machine: a.machine, Seq: uint64(i) + 1, Lamport: lamport, Ops: []record.Op{setOp("session/s", "title", fmt.Sprintf(`"%d"`, i))}})
	}
	if got := string(b.Entity("session/s").Registers["title"].Value); got != `"2"` {
		t.Errorf("the title is %s, want that of the last record", got)
	}
	sync(t, []*pen{a}, b.write(setOp("session/s", "title", `"b"`)))
	if got := string(a.Entity("session/s").Registers["title"].Value); got != `"b"` {
		t.Errorf("the title is %s, want the one by a machine that had seen the other", got)
	}
	if got := a.Lamport(); got != 4 {
		t.Errorf("after 4 records the Lamport is %d", got)
	}
}

// TestRemoval: removing wins over what the remover had seen, and only over that.
func TestRemoval(t *testing.T) {
	a, b, c := newPen(0), newPen(1), newPen(2)
	all := []*pen{a, b, c}
	alive := func(want bool) {
		t.Helper()
		for _, p := range all {
			if got := p.Entity("session/s").Alive; got != want {
				t.Fatalf("machine %s: alive is %v, want %v", p.machine, got, want)
			}
		}
	}
	sync(t, all, a.write(setOp("session/s", "shell", `{}`), removeOp("session/s"), setOp("session/s", "title", `"x"`)))
	alive(true) // the removal is before the last operation of its own record
	sync(t, all, b.write(removeOp("session/s"), removeOp("session/s")))
	alive(false)
	if n := len(b.Entity("session/s").removed); n != 2 {
		t.Errorf("%d removals are remembered, want the last one of each machine", n)
	}
	removed, appended := b.write(removeOp("session/s")), c.write(addOp("session/s", "undone", `"m"`))
	sync(t, all, removed, appended)
	alive(true)
	sync(t, all, a.write(removeOp("session/s")), c.write(record.Op{Do: record.Drop, Entity: "session/s", Field: "undone", Stamps: []record.Stamp{appended.Stamp(0)}}))
	alive(false) // to drop something is no reason to keep the rest
}

// TestNoEffect: operations that are not known or not valid have no effect, block nothing and are
// kept, also by a base.
func TestNoEffect(t *testing.T) {
	a := newPen(0)
	huge := strings.Repeat("x", maxName+1)
	pack := record.Body{Pack: strings.Repeat("a", 64), Size: 1, Count: 1}
	body := func(change func(*record.Body)) record.Op {
		b := pack
		change(&b)
		return record.Op{Do: record.Add, Entity: "session/s", Field: "messages", Body: &b}
	}
	bad := []record.Op{
		{},
		{Do: "flip", Entity: "session/s", Value: json.RawMessage(`[1]`)},
		{Do: record.Remove},
		{Do: record.Remove, Entity: "/s"},
		{Do: record.Remove, Entity: "session/"},
		{Do: record.Remove, Entity: "session/\n"},
		{Do: record.Remove, Entity: "session/\""},
		{Do: record.Remove, Entity: "session/\\"},
		{Do: record.Remove, Entity: "session/\xff"},
		{Do: record.Remove, Entity: huge},
		setOp("session/s", "", `1`),
		setOp("session/s", huge, `1`),
		setOp("session/s", "title", ``),
		setOp("session/s", "title", `{`),
		setOp("session/s", "title", `1 2`),
		{Do: record.Add, Entity: "session/s", Field: "messages"},
		{Do: record.Add, Entity: "session/s", Field: "messages", Body: &pack, Value: json.RawMessage(`1`)},
		body(func(b *record.Body) { b.Pack = "../x" }),
		body(func(b *record.Body) { b.Pack = strings.Repeat("A", 64) }),
		body(func(b *record.Body) { b.At = -1 }),
		body(func(b *record.Body) { b.Size = math.MaxInt64 }),
		body(func(b *record.Body) { b.Count = math.MaxInt }),
		body(func(b *record.Body) { b.Pack = "" }),
		body(func(b *record.Body) { b.Items = []record.Item{{ID: "m"}} }),
		body(func(b *record.Body) { *b = record.Body{Items: []record.Item{{Raw: json.RawMessage("{")}}} }),
		setOp("machine/"+string(machineID(1)), "name", `"mine"`),
		{Do: record.Drop, Entity: "session/s", Field: "messages"},
		{Do: record.Drop, Entity: "session/s", Field: "messages", Stamps: []record.Stamp{{Machine: "x", Seq: 1}}},
		{Do: record.Drop, Entity: "session/s", Field: "messages", Stamps: []record.Stamp{{Machine: a.machine, Seq: 1, Index: math.MaxInt}}},
	}
	a.write(bad...)
	a.write(setOp("session/t", "title", `"x"`))
	for name := range a.Entities("") {
		if name != "session/t" {
			t.Errorf("there is an entity %q", name)
		}
	}
	data := a.Base(a.machine).Encode()
	b, err := DecodeBase(data)
	if err != nil {
		t.Fatal(err)
	}
	newcomer := New()
	newcomer.AddBase(b)
	for _, s := range []*State{a.State, mustDecode(t, a.Encode()), newcomer} {
		if got := len(s.Kept()); got != len(bad) {
			t.Errorf("%d operations are kept, want %d", got, len(bad))
		}
	}
}

// TestDamaged: a changed byte of a stored state is found, and the text of a base is not believed.
func TestDamaged(t *testing.T) {
	h := newHistory(t, 3, 3, 60)
	data := h.all(t).Encode()
	body := bytes.IndexByte(data, '\n') + 1
	for i := 0; i < len(data); i += testsize.Of(61, 17, 1) {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		if _, err := Decode(changed); !errors.Is(err, fault.Damaged) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	for _, cut := range []int{0, 1, body - 1, len(data) - 1} {
		if _, err := Decode(data[:cut]); !errors.Is(err, fault.Damaged) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	me, other := string(machineID(0)), string(machineID(1))
	head := fmt.Sprintf(`{"format":1,"machine":%q,"seq":5,"lamport":5,"seen":{%q:3}}`+"\n", me, other)
	retiring := strings.TrimSuffix(head, "}\n") + `,"removals":{"5":{"` + other + `":9}}}` + "\n"
	retired := `{"n":"machine/` + other + `","m":["` + me + `"],"x":[[0,5,0]]}` + "\n"
	for what, text := range map[string]string{
		"no header":                `[]`,
		"another format":           strings.Replace(head, `"format":1`, `"format":2`, 1),
		"a machine that is a path": strings.Replace(head, me, "../x", 1),
		"a great sequence number":  strings.Replace(head, `"seq":5`, `"seq":9999999999999999`, 1),
		"a great Lamport":          strings.Replace(head, `"lamport":5`, `"lamport":9`, 1),
		"the element of another":   head + `{"n":"session/s","m":["` + other + `"],"s":{"undone":[{"s":[1,0,1,0],"v":"m"}]}}`,
		"the register of another":  head + `{"n":"session/s","m":["` + other + `"],"r":{"title":{"s":[1,0,1,0],"v":"m"}}}`,
		"a record to come":         head + `{"n":"session/s","m":["` + me + `"],"r":{"title":{"s":[1,0,6,0],"v":"m"}}}`,
		"a Lamport to come":        head + `{"n":"session/s","m":["` + me + `"],"r":{"title":{"s":[6,0,5,0],"v":"m"}}}`,
		"a machine without name":   head + `{"n":"session/s","m":[],"r":{"title":{"s":[1,0,1,0],"v":"m"}}}`,
		"a value that is no JSON":  head + `{"n":"session/s","m":["` + me + `"],"r":{"title":{"s":[1,0,1,0],"w":"{"}}}`,
		"a touch of another":       head + `{"n":"session/s","m":["` + other + `"],"t":[[0,1,0]]}`,
		"a removal of nowhere":     head + `{"n":"session/s","m":["` + me + `"],"x":[[0,1,0]]}`,
		"a drop that is not seen":  head + `{"n":"session/s","m":["` + me + `","` + other + `"],"d":{"all":[{"e":[1,4,0],"by":[0]}]}}`,
		"a drop by another":        head + `{"n":"session/s","m":["` + me + `","` + other + `"],"d":{"all":[{"e":[1,3,0],"by":[1]}]}}`,
		"an entity twice":          head + strings.Repeat(`{"n":"session/s","m":["`+me+`"],"t":[[0,1,0]]}`+"\n", 2),
		"another machine":          head + `{"n":"machine/` + other + `","m":["` + me + `"],"t":[[0,1,0]]}`,
		"many elements":            head + `{"n":"session/s","m":["` + me + `"],"s":{"all":[` + strings.Repeat("{},", maxNested) + `{}]}}`,
		"many names":               strings.TrimSuffix(head, "}\n") + `,"kept":[` + strings.Repeat("{},", maxNested) + "{}]}\n",
		"lost of itself":           strings.TrimSuffix(head, "}\n") + `,"lost":{"` + me + `":1}}`,
		"a Lamport beyond lost":    strings.Replace(strings.TrimSuffix(head, "}\n"), `"lamport":5`, `"lamport":16`, 1) + `,"lost":{"` + other + `":10}}`,
		"a removal of more":        retiring + `{"n":"session/s","m":["` + me + `"],"x":[[0,5,0]]}`,
		"of more than a machine":   retiring + retired + `{"n":"session/s","m":["` + me + `"],"x":[[0,5,1]]}`,
		"a great retirement":       strings.Replace(retiring, ":9}", ":9999999999999999}", 1) + retired,
		"a hostile name":           head + `{"n":"session/","m":["` + me + `"],"t":[[0,1,0]]}`,
	} {
		if _, err := DecodeBase([]byte(text)); !errors.Is(err, fault.Damaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, text := range map[string]string{
		"a title":           head + `{"n":"session/s","m":["` + me + `"],"r":{"title":{"s":[1,0,1,0],"v":"m"}}}`,
		"a Lamport":         strings.Replace(strings.TrimSuffix(head, "}\n"), `"lamport":5`, `"lamport":15`, 1) + `,"lost":{"` + other + `":10}}`,
		"a retired machine": retiring + retired,
	} {
		if _, err := DecodeBase([]byte(text)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// FuzzDecodeBase: whatever a base says, nothing panics, and a state with it can be stored.
func FuzzDecodeBase(f *testing.F) {
	for seed := range uint64(4) {
		for _, b := range newHistory(f, seed, 3, 40).bases {
			f.Add(b.Encode())
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := DecodeBase(data)
		if err != nil {
			return
		}
		s := New()
		s.AddBase(b)
		again := mustDecode(t, s.Encode())
		Project(again)
		again.Packs()
		again.Base(b.Machine)
	})
}

// FuzzAdd: whatever a record has, nothing panics, and the state can be stored.
func FuzzAdd(f *testing.F) {
	for _, r := range newHistory(f, 1, 3, 30).records {
		data, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r record.Record
		if json.Unmarshal(data, &r) != nil || !hexadecimal(string(r.Machine), 32) || r.Seq != 1 {
			return
		}
		s := New()
		if s.Add(&r) != nil {
			return
		}
		first := s.Encode()
		again := mustDecode(t, first)
		Project(again)
		if !bytes.Equal(again.Encode(), first) {
			t.Errorf("encoded again:\n%s\nwant\n%s", again.Encode(), first)
		}
	})
}

// TestRetireThrough: a machine that is retired with more records than were read is retired for who reads a base too, and
// another removal in the same record keeps it from covering more.
func TestRetireThrough(t *testing.T) {
	gone, other := machineID(1), machineID(2)
	retire := removeOp("machine/" + string(gone))
	retire.Value = json.RawMessage(`{"through":7}`)
	for what, c := range map[string]struct {
		ops  []record.Op
		want record.Vector
	}{
		"alone":   {[]record.Op{retire, setOp("session/s", "title", `"x"`)}, record.Vector{gone: 7}},
		"before":  {[]record.Op{retire, removeOp("session/s")}, record.Vector{}},
		"after":   {[]record.Op{removeOp("session/s"), retire}, record.Vector{}},
		"several": {[]record.Op{removeOp("machine/" + string(other)), retire}, record.Vector{}},
	} {
		p := newPen(0)
		p.write(c.ops...)
		b, err := DecodeBase(p.Base(p.machine).Encode())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		s := New()
		s.AddBase(b)
		for _, s := range []*State{p.State, s} {
			if got := s.RetiredThrough(); !maps.Equal(got, c.want) {
				t.Errorf("%s: retired are %v", what, got)
			}
		}
	}
}

// TestLamportOfLost: what a machine gave up counts in its Lamports, so that it wins over what it has seen.
func TestLamportOfLost(t *testing.T) {
	lost := machineID(1)
	for want, r := range map[uint64]*record.Record{
		1: {Lamport: 9},
		6: {Lamport: 9, Lost: record.Vector{lost: 5}},
		4: {Lamport: 4, Lost: record.Vector{lost: 5}},
	} {
		s := New()
		r.Machine, r.Seq, r.Ops = machineID(0), 1, []record.Op{setOp("session/s", "title", `"x"`)}
		s.GiveUp(record.Vector{lost: 5})
		mustAdd(t, s, r)
		if got := s.Lamport(); got != want {
			t.Errorf("a record of Lamport %d that lost %v counts as %d", r.Lamport, r.Lost, got)
		}
		if _, err := DecodeBase(s.Base(r.Machine).Encode()); err != nil {
			t.Error(err)
		}
	}
}
