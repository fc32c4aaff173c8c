package main

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/explore"
)

// explorationOf returns an exploration with branches s1, s2 and so on of these statuses.
func explorationOf(statuses ...explore.Status) *explore.Exploration {
	e := &explore.Exploration{}
	for i, s := range statuses {
		b := explore.Branch{ID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i+1), Strategy: fmt.Sprint("s", i+1), Depth: 1, Status: s}
		if s != explore.Pending {
			b.StartedAt = "2026-11-20T10:00:00.000000+00:00"
		}
		if s == explore.Completed || s == explore.Failed {
			b.EndedAt = "2026-11-20T10:00:02.500000+00:00"
		}
		e.Branches = append(e.Branches, b)
	}
	return e
}

func TestBoardLines(t *testing.T) {
	sure := 0.85
	e := explorationOf(explore.Completed, explore.Executing, explore.Failed, explore.Pending)
	e.Branches[0].Confidence = &sure
	e.Branches[1].Depth, e.Branches[1].Strategy = 2, "be\x1bl\now"
	e.Branches[2].Reason = "exit status 3: it is\nnot there"
	now := time.Date(2026, 11, 20, 10, 1, 15, 0, time.UTC)
	want := []string{
		"BRANCH    STRATEGY  STATUS     CONFIDENCE  TIME",
		"00000001  s1        completed  0.85        2.5 s",
		"00000002    be\ufffdl ow  executing  -           1m15s",
		"00000003  s3        failed     -           2.5 s  exit status 3: it is not there",
		"00000004  s4        pending    -           -",
	}
	got := boardLines(e.Branches, now, paint{})
	for i := range want {
		if strings.Join(strings.Fields(got[i]), " ") != strings.Join(strings.Fields(want[i]), " ") {
			t.Errorf("line %d is %q, want %q", i, got[i], want[i])
		}
	}
	at := strings.Index(got[0], "STATUS")
	for i, status := range []string{"completed", "executing", "failed", "pending"} {
		if l := []rune(got[i+1]); !strings.HasPrefix(string(l[at:]), status) {
			t.Errorf("%q is not below %q", status, got[0])
		}
	}
	for _, l := range boardLines(e.Branches, now, paint{width: 40}) {
		if width(l) > 39 {
			t.Errorf("%q is wider than the terminal", l)
		}
	}
}

// TestBoard: output appears above the table, which fits the terminal, and the whole table
// is printed at the end.
func TestBoard(t *testing.T) {
	var out bytes.Buffer
	p := &program{stdout: bufio.NewWriter(&bytes.Buffer{}), stderr: &out}
	b := &board{p: p, under: &out, height: 6, printed: map[string]string{}, stop: make(chan struct{})}
	p.stderr = b
	e := explorationOf(explore.Completed, explore.Completed, explore.Executing, explore.Executing, explore.Pending, explore.Pending)
	b.update(e)
	if got := strings.Count(out.String(), "\n"); got > 5 {
		t.Errorf("%d lines on a terminal of 6", got)
	}
	if s := out.String(); strings.Contains(s, "s1") || !strings.Contains(s, "s3") || !strings.Contains(s, "and 4 more") {
		t.Errorf("the screen is\n%s", s)
	}
	p.note("look here")
	e.Branches = explorationOf(slices.Repeat([]explore.Status{explore.Completed}, 6)...).Branches
	b.update(e)
	b.close()
	screen := terminal(out.String())
	if !strings.HasPrefix(screen, "bough: look here\nBRANCH") || strings.Count(screen, "BRANCH") != 1 || strings.Count(screen, "completed") != 6 {
		t.Errorf("the final screen is\n%s", screen)
	}
	if p.stderr != &out {
		t.Error("standard error was not restored")
	}
}

// terminal renders text that moves the cursor up and erases the lines below.
func terminal(text string) string {
	var lines []string
	for text != "" {
		var up int
		if n, _ := fmt.Sscanf(text, "\x1b[%dA", &up); n == 1 {
			lines = lines[:len(lines)-up]
			_, text, _ = strings.Cut(text, "\r\x1b[J")
			continue
		}
		l, rest, _ := strings.Cut(text, "\n")
		lines, text = append(lines, l), rest
	}
	return strings.Join(lines, "\n")
}

// TestBoardWithoutTerminal: off a terminal there is one line for each change, and no other
// output.
func TestBoardWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	p := &program{stderr: &out}
	e := explorationOf(explore.Completed, explore.Pending, explore.Pending)
	b := p.newBoard(e)
	b.update(e)
	for _, status := range []explore.Status{explore.Executing, explore.Executing, explore.Pending, explore.Executing, explore.Failed} {
		e.Branches[1].Status = status
		b.update(e)
	}
	b.close()
	if want := "s2: executing\ns2: executing\ns2: failed\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
