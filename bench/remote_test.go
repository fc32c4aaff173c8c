package main

import (
	"os/exec"
	"testing"
)

// TestRemotes compares the bytes that go to and from a bucket with those of restic, which compresses too: a first push
// takes at most 1.2 times as many, and a message at most a tenth, in both directions.
func TestRemotes(t *testing.T) {
	for _, program := range []string{"versitygw", "restic"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%v: see CONTRIBUTING.md for versitygw; restic is a package of Debian", err)
		}
	}
	w, err := newWork(t.TempDir(), small)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{work: w, log: t.Output()}
	server, stop, err := startBucket(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	rows, _, err := r.carryAll(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	bough, restic := rows[0], rows[1] // as carriers has them
	for _, c := range []struct {
		what          string
		ours, theirs  traffic
		most, ofTheir int64 // parts
	}{
		{"the first push", bough.first, restic.first, 12, 10},
		{"a message, pushed", bough.one, restic.one, 1, 10},
		{"a message, pulled", bough.oneBack, restic.oneBack, 1, 10},
	} {
		ours, theirs := c.ours.sent+c.ours.received, c.theirs.sent+c.theirs.received
		t.Logf("%s: %d bytes, and %d of restic", c.what, ours, theirs)
		if ours == 0 || ours*c.ofTheir > theirs*c.most {
			t.Errorf("%s: %d bytes, and %d of restic", c.what, ours, theirs)
		}
	}
}
