package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// printCandidates prints the candidates for an ambiguous name, one per line: a short id, the
// day, the source and length of a session, and the title or the first words.
func (p *program) printCandidates(e *fault.AmbiguousError) {
	names := candidateNames(e.Candidates)
	widest := 0
	for _, name := range names {
		widest = max(widest, width(name))
	}
	for i, c := range e.Candidates {
		day := strings.Repeat(" ", len(time.DateOnly))
		if t, ok := session.ParseTime(c.Time); ok {
			day = t.Local().Format(time.DateOnly)
		}
		text := c.Title
		if c.Message != "" && c.Text != "" {
			text = c.Text
			if c.Kind != "" {
				text = c.Kind + ": " + text
			}
		}
		row := "  " + pad(names[i], widest) + "  " + day + "  "
		if c.MessageCount > 0 {
			row += line(strings.TrimPrefix(c.Tool+" · "+count(c.MessageCount, "message"), " · ")) + "  "
		}
		fmt.Fprintln(p.stderr, strings.TrimRight(row+p.talk.fit(line(text), p.talk.width-width(row)), " "))
	}
	if more := e.Total - len(e.Candidates); more > 0 {
		fmt.Fprintf(p.stderr, "  and %d more\n", more)
	}
}

// candidateNames returns a unique name for each candidate.
func candidateNames(list []fault.Candidate) []string {
	var sessions []workspace.Entry
	var messages []string
	for _, c := range list {
		sessions, messages = append(sessions, workspace.Entry{ID: string(c.Session)}), append(messages, string(c.Message))
	}
	shortSession, shortMessage := shortIDs(sessions), shortMessages(messages)
	names := make([]string, len(list))
	for i, c := range list {
		switch {
		case c.Session == "":
			names[i] = line(cmp.Or(string(c.Message), c.Title))
		case c.Message == "":
			names[i] = line(shortSession(string(c.Session)))
		default:
			names[i] = line(tail(string(c.Session))) + "@" + shortMessage(string(c.Message))
		}
	}
	return names
}
