package stream_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/remote/stream"
)

// TestConfirm: a copy of a disk whose records took the numbers of deleted ones learns it from the base of
// these; the copy that made the base does not take it for that of another one.
func TestConfirm(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	a := newMachine(t, r)
	a.publish("1")
	b := copyOf(a)
	a.publish("a2")
	a.publish("a3")
	if _, err := a.PutBase(ctx, seal.Base{Content: []byte("all")}, unchecked); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Collect(ctx, stream.Plan{Through: 3}); err != nil {
		t.Fatal(err)
	}
	a.publish("a4")
	if n := a.Unconfirmed(); n != 4 {
		t.Errorf("%d records are not confirmed", n)
	}
	if err := a.Confirm(ctx); err != nil || a.Unconfirmed() != 0 {
		t.Errorf("the copy with the base: %v", err)
	}
	b.publish("b2")
	own := b.Machine()
	err := b.Confirm(ctx)
	var forked *stream.ForkedError
	if !errors.As(err, &forked) || forked.Machine != own || forked.Seq != 3 {
		t.Fatalf("the other copy: %v", err)
	}
	b.say("b3")
	pack := b.pack(messages("a", 3, 100))[0][0].Pack
	if b.reopen(); !b.Forked() {
		t.Fatal("it is not known to be forked")
	}
	if err := b.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if b.Machine() == own || b.Forked() || len(b.Unsent())+len(b.Published())+b.Unconfirmed() != 0 {
		t.Errorf("it is the machine %s, published %v", b.Machine(), b.Published())
	}
	if b.reopen(); b.Machine() == own {
		t.Error("it is the old machine again")
	}
	if made, err := b.Made(); err != nil || !slices.Equal(made, []string{pack}) {
		t.Errorf("of the pack %s, it knows that it made %v, %v", pack, made, err)
	}
	if _, err := store.Get(ctx, "m/"+string(own)+"/00000002"); err == nil {
		t.Error("the record that nobody reads is there")
	}
	if _, err := store.Get(ctx, "m/"+string(own)+"/00000004"); err != nil {
		t.Errorf("a record of the other copy: %v", err)
	}
}
