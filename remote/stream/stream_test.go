package stream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestCreate: a remote is created once, with at most three requests, and opened with its key alone;
// with another one nothing is written.
func TestCreate(t *testing.T) {
	store := new(bucket.Memory)
	meter := bucket.NewMeter(store)
	if _, err := stream.Open(ctx, meter, newKey(t)); !errors.Is(err, fault.NotFound) {
		t.Errorf("Open without a remote: %v", err)
	}
	before := meter.Usage()
	r := newRemote(t, meter)
	if used := meter.Usage().Sub(before); used.Requests() > 3 {
		t.Errorf("Create made %+v", used)
	}
	again, created, err := stream.Create(ctx, meter, r.Key)
	if err != nil || created || again.ID != r.ID {
		t.Errorf("Create again = %+v, %v, %v", again, created, err)
	}
	before = meter.Usage()
	for name, open := range map[string]func(bucket.Store, *seal.Key) error{
		"Open":   func(s bucket.Store, k *seal.Key) error { _, err := stream.Open(ctx, s, k); return err },
		"Create": func(s bucket.Store, k *seal.Key) error { _, _, err := stream.Create(ctx, s, k); return err },
	} {
		err := open(meter, newKey(t))
		if !errors.Is(err, fault.Refused) || !errors.Is(err, seal.ErrKey) || !strings.Contains(err.Error(), "the key is not that of this remote") {
			t.Errorf("%s with another key: %v", name, err)
		}
	}
	if used := meter.Usage().Sub(before); used.Puts > 0 {
		t.Errorf("with another key %d objects were written", used.Puts)
	}
}

// TestOpenDamaged: a first object that is damaged, of a newer version, or put together is an error.
func TestOpenDamaged(t *testing.T) {
	key := newKey(t)
	token, err := key.Seal([]byte("bough remote other"))
	if err != nil {
		t.Fatal(err)
	}
	for text, code := range map[string]fault.Code{
		"":                         fault.Damaged,
		`{"format":2,"token":"x"}`: fault.Damaged,
		`{"format":2}`:             fault.Refused,
		`{"format":1,"id":"a"}`:    fault.Damaged,
		`{"format":1,"id":"a","token":` + string(quoted(token)) + `}`: fault.Damaged,
	} {
		store := new(bucket.Memory)
		if err := store.Put(ctx, "bough.json", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Open(ctx, store, key); !errors.Is(err, code) {
			t.Errorf("%.40s: %v, want %s", text, err, code)
		}
	}
}

// TestRequests: what pushes and pulls cost.
func TestRequests(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	meter := bucket.NewMeter(store)
	a, b := newMachine(t, through(r, meter)), newMachine(t, through(r, meter))
	a.publish("1")
	b.publish("2")
	a.fetch(stream.Names)
	b.fetch(stream.Names)
	for _, c := range []struct {
		what string
		do   func()
		want int64
	}{
		{"a push of nothing", func() { a.upload() }, 0},
		{"a pull of nothing from two machines", func() { a.fetch(stream.Names) }, 3},
		{"a push of one record", func() { a.publish("3") }, 1},
		{"a pull of one record", func() { b.fetch(stream.Names) }, 3},
		{"a look without a listing", func() { b.fetch(stream.Known) }, 2},
		{"a push of two records", func() { a.say("4"); a.publish("5") }, 2},
		{"a pull of two records", func() { b.fetch(stream.Names) }, 4 + 1},
	} {
		before := meter.Usage()
		c.do()
		if used := meter.Usage().Sub(before); used.Requests() > c.want {
			t.Errorf("%s made %+v, want at most %d requests", c.what, used, c.want)
		}
	}
	b.has("1", "3", "4", "5")
}

// TestOrder: a record waits for those that it has seen, in whatever order they arrive.
func TestOrder(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	late := &hiding{Store: store}
	a, b, c := newMachine(t, r), newMachine(t, r), newMachine(t, through(r, late))
	a.publish("1")
	b.fetch(stream.Names)
	b.publish("2")
	late.hide = "m/" + string(a.Machine())
	got := c.fetch(stream.Names)
	if len(got.Held) != 1 || got.Held[0].Needs[a.Machine()] != 1 || len(got.Problems) != 0 {
		t.Errorf("without the first record: %+v", got)
	}
	c.has()
	late.hide = ""
	if got := c.fetch(stream.Known); len(got.Records) != 2 || len(got.Held) != 0 { // no listing is needed
		t.Errorf("with the first record: %+v", got)
	}
	c.has("1", "2")
}

// TestLimit: a fetch ends at its limit, and the next one continues.
func TestLimit(t *testing.T) {
	r := newRemote(t, new(bucket.Memory))
	a, b := newMachine(t, r), newMachine(t, r)
	values := []string{"1", "2", "3", "4", "5", "6", "7", "8"}
	for _, v := range values {
		a.publish(v)
	}
	fetches := 0
	for more := true; more; fetches++ {
		got, err := b.try(stream.Request{Scope: stream.Names, MaxBytes: 1})
		if err != nil {
			t.Fatal(err)
		}
		more = got.More
	}
	if fetches < 2 {
		t.Error("one fetch returned everything")
	}
	b.has(values...)
}

// TestManyOperations: operations that are too many for a record become several.
func TestManyOperations(t *testing.T) {
	r := newRemote(t, new(bucket.Memory))
	a, b := newMachine(t, r), newMachine(t, r)
	a.Writer.Limit(8000)
	large := strings.Repeat("x", 3000)
	values := []string{large + "1", large + "2", large + "3", "4"}
	if list := a.say(values...); len(list) != 2 {
		t.Errorf("9 kB are %d records", len(list))
	}
	a.upload()
	b.fetch(stream.Names)
	b.has(values...)
}

// TestMissingState: a machine whose file is gone while it has records to send is not replaced by a
// new one, and one of another remote is refused.
func TestMissingState(t *testing.T) {
	r := newRemote(t, new(bucket.Memory))
	a := newMachine(t, r)
	a.say("1")
	root := rootOf(t, a.dir)
	other := newRemote(t, new(bucket.Memory))
	if _, err := other.OpenWriter(root); !errors.Is(err, fault.Refused) {
		t.Errorf("another remote: %v", err)
	}
	if err := root.Remove("machine.json"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.OpenWriter(root); !errors.Is(err, fault.Damaged) || !strings.Contains(err.Error(), "machine.json") {
		t.Errorf("without machine.json: %v", err)
	}
}
