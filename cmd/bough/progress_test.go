package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		after       time.Duration
		columns     int
		want        string
	}{
		{0, 1000, 0, 60, "writing [                                   ] 0 B of 1.00 kB"},
		{500, 1000, 2 * time.Second, 60, "writing [============            ] 500 B of 1.00 kB, 2s left"},
		{1000, 1000, 2 * time.Second, 60, "writing [======================] 1.00 kB of 1.00 kB, 0s left"},
		{1 << 30, 1 << 31, 90 * time.Second, 200, "writing [==============================                             ] 1.07 GB of 2.15 GB, 1m30s left"},
		{500, 1000, time.Second, 20, "writing  500 B of 1."},
		{2000, 1000, time.Second, 60, "writing [======================] 1.00 kB of 1.00 kB, 0s left"},
		{0, 0, time.Second, 60, "writing"},
		{1_200_000, 0, time.Second, 60, "writing 1.2 MB"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			m := &meter{out: &out, width: c.columns, start: time.Now().Add(-time.Hour)}
			m.update("writing", 0, c.total)
			m.drawn = time.Time{}
			time.Sleep(c.after) // of the clock of synctest
			out.Reset()
			m.update("writing", c.done, c.total)
			if got := strings.TrimPrefix(out.String(), "\r\x1b[K"); got != c.want {
				t.Errorf("%d of %d after %v is\n%q, want\n%q", c.done, c.total, c.after, got, c.want)
			}
		})
	}
}

// TestBarOfThings: a number of things is no number of bytes.
func TestBarOfThings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := &meter{out: &out, width: 60, start: time.Now().Add(-time.Hour)}
		m.count("Adding sessions", 40, 120)
		if got := strings.TrimPrefix(out.String(), "\r\x1b[K"); !strings.Contains(got, "] 40 of 120") {
			t.Errorf("the meter shows %q", got)
		}
	})
}

// TestMeter: short work shows nothing, long work a line that is erased before other output.
func TestMeter(t *testing.T) { synctest.Test(t, testMeter) }

func testMeter(t *testing.T) {
	var out bytes.Buffer
	m := &meter{out: &out, width: 60}
	other := under{&out, m}
	m.update("reading", 0, 1000)
	time.Sleep(patience - 1) // of the clock of synctest
	m.update("reading", 900, 1000)
	m.clear()
	if out.Len() > 0 {
		t.Errorf("short work shows %q", out.String())
	}
	time.Sleep(time.Nanosecond)
	m.update("reading", 950, 1000)
	time.Sleep(redraw - 1)
	m.update("reading", 960, 1000)
	other.Write([]byte("text"))
	other.Write([]byte("more"))
	const clear = "\r\x1b[K"
	got := out.String()
	if strings.Count(got, "reading") != 1 || !strings.HasPrefix(got, clear+"reading [") || !strings.HasSuffix(got, "left"+clear+"textmore") {
		t.Errorf("long work shows %q", got)
	}
	none := &meter{}
	none.update("reading", 1, 2)
	none.clear()
}
