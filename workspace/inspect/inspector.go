package inspect

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/title"
	"github.com/bough-dev/bough/session"
)

// An inspector collects the conversations of a file. It implements
// [convert.Sink].
type inspector struct {
	file *Result
	data []byte
	list []inspected
}

// An inspected is a message with its parent.
type inspected struct {
	Message
	parent string
	title  string
	time   time.Time
}

// Message implements [convert.Sink].
func (r *inspector) Message(m *transcript.Message) error {
	role := cmp.Or(m.Own.Role, m.Role)
	if m.Own.Role == "" && m.IsToolAnswer() {
		role = "tool"
	}
	title, _ := title.Of(m)
	if m.Role != "user" || m.Kind != transcript.Said || m.IsToolAnswer() {
		title = ""
	}
	of := inspected{Message{ID: strings.Clone(m.ID), Role: role, Text: beginning(m.Texts())}, strings.Clone(cmp.Or(m.Parent, m.Joined)), title, m.Time}
	if !m.Time.IsZero() {
		of.Time = m.Time.UTC().Truncate(time.Microsecond)
	}
	r.list = append(r.list, of)
	return nil
}

// beginning returns the first line of texts that has words, at most 200
// characters of it.
func beginning(texts []string) string {
	const most = 200
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if runes := []rune(line); len(runes) > most {
				return string(runes[:most]) + "…"
			}
			return line
		}
	}
	return ""
}

// End implements [convert.Sink].
func (r *inspector) End(c *transcript.Conversation) error {
	of := Conversation{ID: session.ID(c.ID), Title: c.Title, Messages: len(r.list), Roles: map[string]int{}, Ends: []End{}}
	place := make(map[string]int, len(r.list))
	for n := range r.list {
		place[r.list[n].ID] = n
	}
	depth := make([]int, len(r.list))
	inner := make([]bool, len(r.list))
	parents := make([]int, len(r.list))
	var first, last time.Time
	for n := range r.list {
		m := &r.list[n]
		of.Roles[m.Role]++
		of.Title = cmp.Or(of.Title, m.title)
		if parent, ok := c.Parents[m.ID]; ok {
			m.parent = parent
		}
		parents[n] = -1
		if at, ok := place[m.parent]; ok && m.parent != "" {
			parents[n], inner[at] = at, true
		} else if m.parent != "" {
			of.Orphans++
		}
		if !m.time.IsZero() {
			if first.IsZero() || m.time.Before(first) {
				first = m.time
			}
			if m.time.After(last) {
				last = m.time
			}
		}
	}
	for n := range r.list {
		if !inner[n] {
			of.Ends = append(of.Ends, End{r.list[n].Message, depthOf(n, parents, depth)})
		}
	}
	if len(r.list) > 0 {
		of.First = &r.list[0].Message
	}
	if first.IsZero() {
		first = c.Created
	}
	if !first.IsZero() {
		of.Begins = first.UTC().Truncate(time.Microsecond)
	}
	if !last.IsZero() {
		of.LastTime = last.UTC().Truncate(time.Microsecond)
	}
	r.file.Conversations = append(r.file.Conversations, of)
	r.list = nil
	return nil
}

// depthOf returns the number of messages on the path to n, inclusive. depth caches known
// ones, 0 for others.
func depthOf(n int, parents, depth []int) int {
	var path []int
	known := 0
	for at := n; at >= 0 && len(path) < len(parents); at = parents[at] {
		if known = depth[at]; known > 0 {
			break
		}
		path = append(path, at)
	}
	for i := len(path) - 1; i >= 0; i-- {
		known++
		depth[path[i]] = known
	}
	return known
}

// Problem implements [convert.Sink]. The offset of a problem in a line is that
// of the first invalid byte.
func (r *inspector) Problem(p transcript.Problem) {
	of := Problem{Offset: p.Offset, Line: p.Line, Detail: p.What, Note: p.Note}
	if p.Line > 0 && !p.Note && p.Offset < int64(len(r.data)) {
		line := r.data[p.Offset:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		lead := len(line) - len(bytes.TrimLeft(line, " \t\r\n"))
		var syntax *rawjson.SyntaxError
		if err := rawjson.Check(bytes.TrimSpace(line)); errors.As(err, &syntax) {
			of.Offset, of.Detail = p.Offset+int64(lead+syntax.Offset), syntax.Problem
		}
	}
	if !p.Note {
		r.file.Whole = false
	}
	r.file.Problems = append(r.file.Problems, of)
}
