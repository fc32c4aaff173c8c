package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// A meter shows on one line of a terminal how far long work is. What is done in
// less than patience shows nothing.
type meter struct {
	out   io.Writer // nil if it is no terminal
	width int
	now   func() time.Time

	start time.Time // of all work
	phase time.Time // of what is being done
	doing string
	drawn time.Time // zero while there is nothing on the line
}

const (
	patience = time.Second
	redraw   = 100 * time.Millisecond
)

// newMeter returns a meter that draws on out if that is a terminal.
func newMeter(out io.Writer) *meter {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return &meter{now: time.Now}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 80
	}
	return &meter{out: out, width: width, now: time.Now}
}

// tell takes note of how many bytes are done.
func (m *meter) tell(doing string, done, total int64) {
	if m.out == nil {
		return
	}
	now := m.now()
	if m.start.IsZero() {
		m.start = now
	}
	if doing != m.doing {
		m.doing, m.phase = doing, now
	}
	if now.Sub(m.start) < patience || now.Sub(m.drawn) < redraw {
		return
	}
	m.drawn = now
	fmt.Fprintf(m.out, "\r\x1b[K%s", bar(doing, done, total, now.Sub(m.phase), m.width))
}

// clear takes the meter off the terminal.
func (m *meter) clear() {
	if !m.drawn.IsZero() {
		io.WriteString(m.out, "\r\x1b[K")
		m.drawn = time.Time{}
	}
}

// end has the meter draw nothing any more.
func (m *meter) end() {
	m.clear()
	m.out = nil
}

// bar is one line that says how far work is after some time.
func bar(doing string, done, total int64, after time.Duration, columns int) string {
	if total <= 0 {
		return doing
	}
	done = min(done, total)
	text := fmt.Sprintf("%s of %s", size(done), size(total))
	if done > 0 && after > 0 {
		left := time.Duration(float64(after) * float64(total-done) / float64(done))
		text += ", " + left.Round(time.Second).String() + " left"
	}
	room := min(40, columns-len(doing)-len(text)-6)
	if room < 5 {
		return doing + " " + text
	}
	full := int(int64(room) * done / total)
	return fmt.Sprintf("%s [%s%s] %s", doing, strings.Repeat("=", full), strings.Repeat(" ", room-full), text)
}

// under is a stream that shares the terminal with a meter.
type under struct {
	io.Writer
	meter *meter
}

func (u under) Write(b []byte) (int, error) {
	u.meter.clear()
	return u.Writer.Write(b)
}
