package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		after       time.Duration
		columns     int
		want        string
	}{
		{0, 1000, 0, 60, "writing [                                  ] 0 B of 1.0 kB"},
		{500, 1000, 2 * time.Second, 60, "writing [===========            ] 500 B of 1.0 kB, 2s left"},
		{1000, 1000, 2 * time.Second, 60, "writing [======================] 1.0 kB of 1.0 kB, 0s left"},
		{1 << 30, 1 << 31, 90 * time.Second, 200, "writing [====================                    ] 1.1 GB of 2.1 GB, 1m30s left"},
		{500, 1000, time.Second, 20, "writing 500 B of 1.0 kB, 1s left"},
		{2000, 1000, time.Second, 60, "writing [======================] 1.0 kB of 1.0 kB, 0s left"},
		{0, 0, time.Second, 60, "writing"},
	} {
		if got := bar("writing", c.done, c.total, c.after, c.columns); got != c.want {
			t.Errorf("bar(%d of %d after %v) is\n%q, want\n%q", c.done, c.total, c.after, got, c.want)
		}
	}
}

// TestMeter: short work shows nothing, long work a line that is taken away
// before anything else is printed.
func TestMeter(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	m := &meter{out: &out, width: 60, now: func() time.Time { return now }}
	other := under{&out, m}
	m.tell("reading", 0, 1000)
	now = now.Add(patience - 1)
	m.tell("reading", 900, 1000)
	m.clear()
	if out.Len() > 0 {
		t.Errorf("short work shows %q", out.String())
	}
	now = now.Add(1)
	m.tell("reading", 950, 1000)
	now = now.Add(redraw - 1)
	m.tell("reading", 960, 1000)
	other.Write([]byte("text"))
	other.Write([]byte("more"))
	const clear = "\r\x1b[K"
	got := out.String()
	if strings.Count(got, "reading") != 1 || !strings.HasPrefix(got, clear+"reading [") || !strings.HasSuffix(got, "left"+clear+"textmore") {
		t.Errorf("long work shows %q", got)
	}
	none := &meter{now: time.Now}
	none.tell("reading", 1, 2)
	none.clear()
}
