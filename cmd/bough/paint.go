package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/session"
	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

// paint styles text for a terminal. Its zero value changes nothing.
type paint struct {
	color bool
	width int // of the terminal, 0 without one
}

// newPaint returns the paint for an output. NO_COLOR turns colours off.
func newPaint(w io.Writer) paint {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return paint{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 { // some terminals do not report it
		width = 80
	}
	return paint{os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb", width}
}

func (p paint) bold(s string) string   { return p.sgr("1", s) }
func (p paint) dim(s string) string    { return p.sgr("2", s) }
func (p paint) yellow(s string) string { return p.sgr("33", s) }
func (p paint) cyan(s string) string   { return p.sgr("36", s) }
func (p paint) green(s string) string  { return p.sgr("32", s) }

// found paints a match of a search.
func (p paint) found(s string) string { return p.sgr("1;31", s) }

func (p paint) sgr(code, s string) string {
	if !p.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// fit cuts s to a number of columns. Without a terminal it returns s.
func (p paint) fit(s string, columns int) string {
	if p.width == 0 {
		return s
	}
	return displaywidth.TruncateString(s, max(columns, 8), "…")
}

// role paints the name of a role.
func (p paint) role(role string) string {
	switch role {
	case "user":
		return p.green(role)
	case "assistant":
		return p.cyan(role)
	}
	return p.dim(role)
}

// width returns the number of columns of s.
func width(s string) int { return displaywidth.String(s) }

// pad adds blanks up to a number of columns.
func pad(s string, columns int) string { return s + strings.Repeat(" ", max(0, columns-width(s))) }

// clean returns text that is safe to print on a terminal. All text from a file or another
// program passes through it.
func clean(s string) string { return printable.Clean(s) }

// line returns clean text on one line.
func line(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// age formats the age of a time, "-" for the zero time.
func age(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return ago(time.Since(t))
}

// ageOf formats the age of a time in the notation of a file.
func ageOf(s string) string {
	t, ok := session.ParseTime(s)
	if !ok {
		return line(s)
	}
	return age(t)
}

// ago formats an age in the largest unit of which it has at least one. A negative age is in
// the future.
func ago(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		name string
		time.Duration
	}{{"year", 365 * day}, {"month", 30 * day}, {"week", 7 * day}, {"day", day}, {"hour", time.Hour}, {"minute", time.Minute}} {
		switch n := int(d.Abs() / unit.Duration); {
		case n == 0:
		case d < 0:
			return count(n, unit.name) + " from now"
		default:
			return count(n, unit.name) + " ago"
		}
	}
	return "just now"
}

// count formats a number with a noun.
func count(n int, noun string) string { return plural.Number(n) + " " + plural.Noun(n, noun) }

// size formats a number of bytes.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	unit, x := 0, float64(n)/1000
	for ; x >= 999.5 && unit < 5; unit++ {
		x /= 1000
	}
	digits := 0
	if x < 9.95 {
		digits = 1
	}
	return fmt.Sprintf("%.*f %cB", digits, x, "kMGTPE"[unit])
}
