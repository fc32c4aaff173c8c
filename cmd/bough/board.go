package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"golang.org/x/term"
)

// A board shows the progress of an exploration: on a terminal as a table that is redrawn in
// place, otherwise as one line per change. On a terminal it replaces standard error until
// it is closed, so that other output appears above it.
type board struct {
	p      *program
	under  io.Writer // standard error
	height int       // of the terminal, 0 if standard error is not one

	mu       sync.Mutex
	branches []explore.Branch
	printed  map[string]string // the last line of each branch
	drawn    int               // lines of the table on the terminal
	stop     chan struct{}
	stopped  sync.WaitGroup
}

func (p *program) newBoard(e *explore.Exploration) *board {
	b := &board{p: p, under: p.stderr, printed: map[string]string{}, stop: make(chan struct{})}
	for _, branch := range e.Branches {
		b.printed[branch.ID] = change(branch) // ended before
	}
	f, ok := p.screen.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return b
	}
	b.height = 24
	if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 2 {
		b.height = height
	}
	p.stderr = b
	b.stopped.Go(func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.mu.Lock()
				b.draw(b.height - 1)
				b.mu.Unlock()
			case <-b.stop:
				return
			}
		}
	})
	return b
}

// update draws the current state of the exploration.
func (b *board) update(e *explore.Exploration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.branches = slices.Clone(e.Branches)
	if b.height > 0 {
		b.draw(b.height - 1)
		return
	}
	for _, branch := range b.branches {
		now := change(branch)
		if now != "" && now != b.printed[branch.ID] {
			fmt.Fprintln(b.under, now)
		}
		b.printed[branch.ID] = now
	}
}

// Write writes above the table.
func (b *board) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	n, err := b.under.Write(data)
	b.draw(b.height - 1)
	return n, err
}

// close draws the complete table and leaves it on the terminal.
func (b *board) close() {
	if b.height == 0 {
		return
	}
	close(b.stop)
	b.stopped.Wait()
	b.draw(len(b.branches) + 1)
	b.p.stderr = b.under
}

// erase removes the table from the terminal.
func (b *board) erase() {
	if b.drawn > 0 {
		fmt.Fprintf(b.under, "\x1b[%dA\r\x1b[J", b.drawn)
		b.drawn = 0
	}
}

// draw draws the table in at most maxLines lines. If it has more, only running branches are
// shown.
func (b *board) draw(maxLines int) {
	if len(b.branches) == 0 {
		return
	}
	list := b.branches
	if len(list)+1 > maxLines {
		list = slices.DeleteFunc(slices.Clone(list), func(x explore.Branch) bool { return x.Status != explore.Executing })
		list = list[:min(len(list), max(maxLines-2, 0))]
	}
	lines := boardLines(list, time.Now(), b.p.talk)
	if left := len(b.branches) - len(list); left > 0 {
		lines = append(lines, b.p.talk.dim(fmt.Sprintf("and %d more", left)))
	}
	b.erase()
	io.WriteString(b.under, strings.Join(lines, "\n")+"\n")
	b.drawn = len(lines)
}

// change returns a line with the status of a branch, "" for a pending one.
func change(b explore.Branch) string {
	if b.Status == explore.Pending {
		return ""
	}
	text := line(b.Strategy) + ": " + line(string(b.Status))
	if b.Confidence != nil {
		text += ", confidence " + confident(b.Confidence)
	}
	if b.Pruned {
		text += ", pruned"
	}
	if b.Reason != "" {
		text += ": " + line(b.Reason)
	}
	return text
}

// boardLines returns branches as a table with their status, confidence and duration.
func boardLines(branches []explore.Branch, now time.Time, p paint) []string {
	rows := [][]string{{"BRANCH", "STRATEGY", "STATUS", "CONFIDENCE", "TIME", ""}}
	for _, b := range branches {
		status := line(string(b.Status))
		if b.Pruned {
			status = "pruned"
		}
		strategy := strings.Repeat("  ", max(b.Depth-1, 0)) + line(b.Strategy)
		rows = append(rows, []string{shortMessage(b.ID), p.fit(strategy, widestLabel), status, confident(b.Confidence), since(b, now), line(b.Reason)})
	}
	lines := columns(rows)
	for i, l := range lines {
		l = p.fit(l, p.width-1)
		switch {
		case i == 0:
			l = p.dim(l)
		case branches[i-1].Status == explore.Executing:
			l = p.bold(l)
		case branches[i-1].Status == explore.Failed || branches[i-1].Pruned:
			l = p.yellow(l)
		case branches[i-1].Status == explore.Completed:
			l = p.green(l)
		}
		lines[i] = l
	}
	return lines
}

// columns aligns the cells of rows.
func columns(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(cell))
		}
	}
	var lines []string
	for _, row := range rows {
		var l strings.Builder
		for i, cell := range row {
			l.WriteString(pad(cell, widths[i]) + "  ")
		}
		lines = append(lines, strings.TrimRight(l.String(), " "))
	}
	return lines
}

// confident formats a confidence, "-" if there is none.
func confident(c *float64) string {
	if c == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *c)
}

// since returns the duration of a branch, so far if it is still running.
func since(b explore.Branch, now time.Time) string {
	begun, ok := session.ParseTime(b.StartedAt)
	if !ok {
		return "-"
	}
	if ended, ok := session.ParseTime(b.EndedAt); ok {
		now = ended
	}
	return formatDuration(now.Sub(begun))
}

// formatDuration formats a duration in tenths of a second, longer ones in
// seconds.
func formatDuration(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
