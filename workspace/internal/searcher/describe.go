package searcher

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/search"
)

// describe adds snippets and context to matches. Most matches are not shown, so
// it runs after the limits are applied, unless all are shown.
func (s *finder) describe(matches []hit) error {
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
		if s.v.Ctx.Err() == nil {
			errs[i] = s.describeIn(files[i], wanted[files[i]])
		}
	})
	if err := s.v.Ctx.Err(); err != nil {
		return err
	}
	for i, err := range errs {
		if err != nil {
			return store.Gone(files[i], err)
		}
	}
	return nil
}

// describeIn adds snippets to the matches in a file. wanted has them by message
// id.
func (s *finder) describeIn(id string, wanted map[string]*hit) error {
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
func (s *finder) look(id string, f func(*session.Session) error) error {
	if s.v.IsPenguin(id) {
		file, err := checkpoint.ReadPenguin(s.v.Root, id)
		if err != nil {
			return err
		}
		return f(file)
	}
	return s.v.Folder.Look(id, func([]byte) bool { return true }, f)
}

// name adds names to hits and their conversations, and the context to each hit.
func (s *finder) name(hits []hit, sessions []search.Session) error {
	at := 0
	for i := range sessions {
		one := &sessions[i]
		l, err := s.v.Line(one.Session, false)
		if err != nil { // the matches are valid without names
			l = nil
		}
		names := s.v.Naming(one.Session, l)
		one.Piece = names.Session
		var children [][]int
		for ; at < len(hits) && hits[at].Session == one.Session; at++ {
			m := &hits[at]
			m.Ref, m.Before, m.After = names.Ref(m.ID), []search.Context{}, []search.Context{}
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
func (s *finder) around(m *hit, l *store.Line, children [][]int, names *store.Naming) error {
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
		list  *[]search.Context
	}{{before, &m.Before}, {after, &m.After}} {
		messages, err := s.v.Messages(l, side.nodes)
		if err != nil {
			return err
		}
		for _, c := range messages {
			*side.list = append(*side.list, search.Context{ID: c.ID, Ref: names.Ref(c.ID), Role: c.Role(), Text: firstLine(messageText(content.Read(c.Raw)))})
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
