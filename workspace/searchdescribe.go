package workspace

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/content"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
)

// describe adds snippets and context to matches. Most matches are not shown, so
// it runs after the limits are applied, unless all are shown.
func (s *search) describe(matches []hit) error {
	wanted := map[string]map[string]*hit{} // by file and message
	var files []string
	for i := range matches {
		m := &matches[i]
		if m.Spans != nil {
			continue
		}
		if wanted[m.file] == nil {
			wanted[m.file] = map[string]*hit{}
			files = append(files, m.file)
		}
		wanted[m.file][m.ID] = m
	}
	errs := make([]error, len(files))
	parallel.Do(len(files), func(i int) {
		if s.v.ctx.Err() == nil {
			errs[i] = s.describeIn(files[i], wanted[files[i]])
		}
	})
	if err := s.v.ctx.Err(); err != nil {
		return err
	}
	for i, err := range errs {
		if err != nil {
			return gone(files[i], err)
		}
	}
	return nil
}

// describeIn adds snippets to the matches in a file. wanted has them by message
// id.
func (s *search) describeIn(id string, wanted map[string]*hit) error {
	described := 0
	look := func(file *session.Session) error {
		for _, m := range file.Messages[file.Header:] {
			if match := wanted[m.ID]; match != nil {
				match.Snippet, match.Spans = snippetOf(s.q, messageText(content.Read(m.Raw)))
				described++
			}
		}
		return nil
	}
	err := s.look(id, look)
	if err == nil && described < len(wanted) {
		err = fmt.Errorf("%s %w", session.FileName(id), session.ErrChanged)
	}
	return err
}

// look calls f with a session or one of Penguin's checkpoints.
func (s *search) look(id string, f func(*session.Session) error) error {
	if s.v.isPenguin(id) {
		file, err := checkpoint.ReadPenguin(s.v.root, id)
		if err != nil {
			return err
		}
		return f(file)
	}
	return s.v.folder.Look(id, func([]byte) bool { return true }, f)
}

// name adds names to hits and their conversations, and the context to each hit.
func (s *search) name(hits []hit, sessions []FoundSession) error {
	at := 0
	for i := range sessions {
		one := &sessions[i]
		l, err := s.v.line(one.Session, false)
		if err != nil { // the matches are valid without names
			l = nil
		}
		names := s.v.naming(one.Session, l)
		one.Piece = names.session
		var children [][]int
		for ; at < len(hits) && hits[at].Session == one.Session; at++ {
			m := &hits[at]
			m.Ref, m.Before, m.After = names.ref(m.ID), []ContextMessage{}, []ContextMessage{}
			if s.o.Context == 0 || l == nil {
				continue
			}
			if children == nil {
				children = l.Children()
			}
			if err := s.around(m, l, children, names); err != nil {
				return err
			}
		}
	}
	return nil
}

// around adds the messages before and after a match on its path.
func (s *search) around(m *hit, l *line, children [][]int, names *naming) error {
	nodes := l.Find(m.ID)
	if len(nodes) != 1 {
		return nil
	}
	var before, after []int
	for n := l.Parent(nodes[0]); n >= 0 && len(before) < s.o.Context; n = l.Parent(n) {
		before = append(before, n)
	}
	slices.Reverse(before)
	for n := nodes[0]; len(children[n]) > 0 && len(after) < s.o.Context; {
		n = children[n][len(children[n])-1]
		after = append(after, n)
	}
	for _, side := range []struct {
		nodes []int
		list  *[]ContextMessage
	}{{before, &m.Before}, {after, &m.After}} {
		messages, err := s.v.messages(l, side.nodes)
		if err != nil {
			return err
		}
		for _, c := range messages {
			*side.list = append(*side.list, ContextMessage{ID: c.ID, Ref: names.ref(c.ID), Role: c.Role(), Text: firstLine(messageText(content.Read(c.Raw)))})
		}
	}
	return nil
}

// firstLine returns the first words of a text, on one line.
func firstLine(text string) string {
	const enough = 4 * snippetLength // in bytes
	cut := len(text) > enough
	if cut {
		end := enough
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if cut || len(runes) > snippetLength {
		return string(runes[:min(len(runes), snippetLength)]) + "…"
	}
	return string(runes)
}
