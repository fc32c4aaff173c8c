package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cheggaaa/pb/v3"
	"golang.org/x/term"
)

// A meter shows the progress of long work on one line of a terminal. Work that takes less
// than patience shows nothing.
type meter struct {
	out   io.Writer // nil if it is not a terminal
	width int

	start time.Time // of all work
	doing string
	bar   *pb.ProgressBar // of that
	drawn time.Time       // zero while the line is empty
}

const (
	patience = time.Second
	redraw   = 100 * time.Millisecond
)

// newMeter returns a meter, which draws only if out is a terminal.
func newMeter(out io.Writer) *meter {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return &meter{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 80
	}
	return &meter{out: out, width: width}
}

// update records how many bytes are done, of a total that is 0 if it is not known.
func (m *meter) update(doing string, done, total int64) { m.show(doing, done, total, true) }

// count records how many things are done.
func (m *meter) count(doing string, done, total int64) { m.show(doing, done, total, false) }

func (m *meter) show(doing string, done, total int64, bytes bool) {
	if m.out == nil {
		return
	}
	now := time.Now()
	if m.start.IsZero() {
		m.start = now
	}
	if doing != m.doing {
		m.doing, m.bar = doing, newBar(doing, m.width).Set(pb.Bytes, bytes)
		_ = m.bar.String() // the remaining time is measured from the first rendering
	}
	m.bar.SetTotal(total).SetCurrent(min(done, total))
	if now.Sub(m.start) < patience || now.Sub(m.drawn) < redraw {
		return
	}
	m.drawn = now
	line := doing
	switch {
	case total > 0:
		line = m.bar.String()
	case done > 0 && bytes:
		line += " " + size(done)
	}
	fmt.Fprintf(m.out, "\r\x1b[K%s", line)
}

// clear removes the meter from the terminal.
func (m *meter) clear() {
	if !m.drawn.IsZero() {
		io.WriteString(m.out, "\r\x1b[K")
		m.drawn = time.Time{}
	}
}

// end clears the meter and stops it from drawing again.
func (m *meter) end() {
	m.clear()
	m.out = nil
}

// newBar returns the bar of a phase, which does not draw by itself. pb can render without
// drawing; progressbar draws when a percentage changes, not when the meter may draw, and
// never again once it is full; mpb owns the terminal and is older.
func newBar(doing string, columns int) *pb.ProgressBar {
	const widest = 100
	b := pb.New64(0).Set(pb.Static, true).Set(pb.SIBytesPrefix, true)
	b.SetTemplateString(`{{string . "doing"}} {{bar . "[" "=" "=" " " "]"}} {{counters . "%s of %s"}}{{rtime . ", %s left" "" ""}}`)
	return b.Set("doing", doing).SetWidth(min(columns, widest)).Start()
}

// under is a stream on the same terminal as a meter.
type under struct {
	io.Writer
	meter *meter
}

func (u under) Write(b []byte) (int, error) {
	u.meter.clear()
	return u.Writer.Write(b)
}
