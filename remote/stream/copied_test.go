package stream_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/bough-dev/bough/remote/bucket"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
)

// TestCopied: of two copies of a disk that both write, one becomes another machine; what it had not
// sent is not lost, and refers to itself where it did.
func TestCopied(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	a := newMachine(t, r)
	a.publish("1")
	b := copyOf(a)
	a.publish("a2")
	own := b.Machine()
	second := b.say("b2")[0]
	name := record.Op{Do: record.Set, Entity: "machine/" + string(own), Field: "name", Value: json.RawMessage(`"b4"`)}
	drop := record.Op{Do: record.Drop, Entity: "session/a", Field: "messages", Value: json.RawMessage(`"b3"`),
		Stamps: []record.Stamp{second.Stamp(0), {Lamport: 1, Machine: own, Seq: 1}}}
	if _, err := b.Append(b.have, nil, []record.Op{drop, name}); err != nil {
		t.Fatal(err)
	}
	err := b.Upload(ctx)
	var copied *stream.CopiedError
	if !errors.As(err, &copied) || copied.Seq != 2 || copied.Machine != own {
		t.Fatalf("Upload of the copy: %v", err)
	}
	list, err := b.Renew()
	if err != nil || len(list) != 2 {
		t.Fatalf("Renew = %d records, %v", len(list), err)
	}
	if b.Machine() == own || list[0].Seen[own] != 1 {
		t.Errorf("the new machine is %s, and has seen %v", b.Machine(), list[0].Seen)
	}
	want := []record.Stamp{list[0].Stamp(0), {Lamport: 1, Machine: own, Seq: 1}}
	if got := list[1].Ops[0].Stamps; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("the stamps are %v, want %v", got, want)
	}
	if got := list[1].Ops[1].Entity; got != "machine/"+string(b.Machine()) {
		t.Errorf("the name is that of %s", got)
	}
	b.reopen()
	b.upload()
	b.fetch(stream.Names)
	b.has("a2")
	reader := newMachine(t, r)
	reader.fetch(stream.Names)
	reader.has("1", "a2", "b2", "b3", "b4")
}

// TestCopiedReader: a copy that only reads sees what the other one writes.
func TestCopiedReader(t *testing.T) {
	r := newRemote(t, new(bucket.Memory))
	a := newMachine(t, r)
	a.publish("1")
	b := copyOf(a)
	a.publish("2")
	if got := b.fetch(stream.Known); !got.Copied {
		t.Errorf("the copy: %+v", got)
	}
	b.has("2")
}

// TestLostAnswer: after a crash between the answer of the store and the note of it, the record is
// known as sent.
func TestLostAnswer(t *testing.T) {
	store := new(bucket.Memory)
	r := newRemote(t, store)
	a := newMachine(t, r)
	a.say("1")
	before := copyOf(a)
	a.upload()
	if got := before.fetch(stream.Known); got.Copied || len(got.Records) != 0 {
		t.Errorf("a record that was sent: %+v", got)
	}
	before.upload()
	if n := len(before.Unsent()); n != 0 {
		t.Errorf("%d records are not known as sent", n)
	}
}
