package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// A testMachine is a workspace with a user.
type testMachine struct {
	s      *remoteSiege
	name   string
	dir    string
	w      *workspace.Workspace
	random *rand.Rand
	added  []string // texts of messages
	acts   int
}

// A told is what users did, with what was acknowledged to them.
type told struct {
	texts  map[string]string // of messages, their sessions
	gone   map[string]bool   // texts that users undid, or removed with their session
	titles map[string][]string
	labels map[string]string // of bookmarks, their places: SESSION@MESSAGE
	sent   map[string]bool   // texts that an acknowledged push sent
}

func (t *told) send(mu *sync.Mutex, texts []string) {
	mu.Lock()
	defer mu.Unlock()
	for _, text := range texts {
		t.sent[text] = true
	}
}

func (m *testMachine) open() {
	w, err := workspace.Open(m.s.t.Context(), m.dir, nil)
	if err != nil {
		m.s.t.Fatal(err)
	}
	m.w = w
}

// facts returns what is in the workspace.
func (m *testMachine) facts() *mirror.Facts {
	f, err := m.w.Mirror().Facts(m.s.t.Context(), mirror.Known{})
	if err != nil {
		m.s.fail("%s: %v", m.name, err)
		return &mirror.Facts{}
	}
	return f
}

func (m *testMachine) messages(session string) []mirror.Message {
	list, err := m.w.Mirror().Messages(m.s.t.Context(), session)
	if err != nil {
		m.s.fail("%s: %s: %v", m.name, session, err)
	}
	return slices.DeleteFunc(list, func(one mirror.Message) bool { return one.Header })
}

// act does what a user may do. Unless alone, an exchange runs meanwhile, and nothing is taken away.
func (m *testMachine) act(alone bool) {
	ctx, s := m.s.t.Context(), m.s
	f := m.facts()
	m.acts++
	word := fmt.Sprintf("%s-%d", m.name, m.acts)
	what := m.random.IntN(20)
	if len(f.Sessions) == 0 || what == 0 {
		if e, err := m.w.New(ctx, word); err == nil {
			s.told.title(s, e.ID, word)
			s.note(m, "new %s", e.ID)
		}
		return
	}
	one := f.Sessions[m.random.IntN(len(f.Sessions))].ID
	place := one
	if list := m.messages(one); len(list) > 0 && m.random.IntN(3) == 0 {
		place = one + "@" + list[m.random.IntN(len(list))].ID
	}
	var err error
	switch {
	case what < 11:
		_, parent, _ := strings.Cut(place, "@")
		var a *workspace.AppendResult
		text := m.randomText(word)
		if a, err = m.w.Append(ctx, workspace.Append{Session: one, Text: text, Parent: parent}); err == nil {
			m.added = append(m.added, word)
			s.told.text(s, word, a.Session)
		}
	case what < 13:
		if _, err = m.w.Rename(ctx, one, word); err == nil {
			s.told.title(s, one, word)
		}
	case what < 15:
		if b, markErr := m.w.Bookmark(ctx, place, word, workspace.BookmarkOptions{}); markErr == nil {
			s.told.label(s, word, b.Session+"@"+b.Message)
		}
	case what < 17:
		snapshot := m.w.Checkpoint
		if what == 16 {
			snapshot = m.w.Branch
		}
		if e, snapErr := snapshot(ctx, place, workspace.SnapshotOptions{Name: word}); snapErr == nil {
			s.told.title(s, e.ID, word)
		}
	case what == 17 && alone:
		m.takeAway(func() error {
			_, err := m.w.Remove(ctx, one, workspace.RemoveOptions{Line: true, Force: true})
			return err
		})
	case what == 18 && alone:
		m.takeAway(func() error {
			done, err := m.w.Undo(ctx, history.UndoOptions{})
			if err == nil && done.Operations[0].Args["verb"] == operation.Pull {
				return errors.New("what the undo of a pull takes away, the next one brings back")
			}
			return err
		})
	}
	s.note(m, "act %d on %s: %s: %v", what, place, word, err)
	if err != nil {
		s.fail("%s: act %d on %s: %v", m.name, what, place, err)
	}
}

func (t *told) title(s *remoteSiege, id, title string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.titles[id] = append(t.titles[id], title)
}

func (t *told) text(s *remoteSiege, text, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.texts[text] = id
}

func (t *told) label(s *remoteSiege, label, place string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.labels[label] = place
}

// takeAway notes what is gone after do, unless that returns an error. What an undo does to titles and bookmarks is not judged.
func (m *testMachine) takeAway(do func() error) {
	before := m.texts()
	if err := do(); err != nil {
		return // or there is nothing to undo
	}
	after := m.texts()
	t := &m.s.told
	f := m.facts()
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	for text := range before {
		if !after[text] {
			t.gone[text] = true
			m.s.log = append(m.s.log, m.name+" takes away "+text)
		}
	}
	for text := range after {
		if !before[text] {
			delete(t.gone, text) // an undo brought it back
			delete(t.sent, text)
			m.s.log = append(m.s.log, m.name+" brings back "+text)
		}
	}
	clear(t.labels)
	for _, one := range f.Sessions {
		t.titles[one.ID] = append(t.titles[one.ID], one.Title)
	}
}

// texts returns the first words of the messages that are in the session to which they were added.
func (m *testMachine) texts() map[string]bool {
	texts, told := map[string]bool{}, &m.s.told
	m.s.mu.Lock()
	where := maps.Clone(told.texts)
	m.s.mu.Unlock()
	for _, one := range m.facts().Sessions {
		for _, message := range m.messages(one.ID) {
			if word := wordIn(message); where[word] == one.ID {
				texts[word] = true
			}
		}
	}
	return texts
}

func wordIn(m mirror.Message) string {
	word, _, _ := strings.Cut(gjson.GetBytes(m.Raw, "content").Str, " ")
	return word
}

// answers returns what the machine has, in lines.
func (m *testMachine) answers() string {
	ctx := m.s.t.Context()
	var lines []string
	f := m.facts()
	for _, one := range f.Sessions {
		var words []string
		for _, message := range m.messages(one.ID) {
			words = append(words, message.ID+" "+wordIn(message))
		}
		slices.Sort(words)
		var leaves []string // the newest first
		branches, err := m.w.Branches(ctx, one.ID, workspace.BranchesOptions{})
		if err != nil {
			m.s.fail("%s: %s: %v", m.name, one.ID, err)
			continue
		}
		for _, leaf := range branches.Leaves {
			leaves = append(leaves, leaf.Session+"@"+leaf.ID)
		}
		lines = append(lines, fmt.Sprintln(one.ID, one.Kind, one.Title, words, leaves))
	}
	for _, b := range m.bookmarks() {
		lines = append(lines, fmt.Sprintln("bookmark", b.Label, b.Session, b.Message))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// bookmarks returns the bookmarks on messages that are there.
func (m *testMachine) bookmarks() []bookmark.Bookmark {
	list, err := m.w.Bookmarks(m.s.t.Context(), workspace.BookmarksOptions{})
	if err != nil {
		m.s.fail("%s: bookmarks: %v", m.name, err)
		return nil
	}
	return list.Bookmarks
}

// judge compares what the machine has with what users did.
func (m *testMachine) judge(t *told) {
	have, f := m.texts(), m.facts()
	for text, id := range t.texts {
		if !have[text] && !t.gone[text] {
			m.s.fail("%s has lost %q in %s", m.name, text, id)
		}
	}
	there, marks := map[string]bool{}, map[string]bool{} // of SESSION@MESSAGE, and of labels before these
	for _, one := range f.Sessions {
		if titles := t.titles[one.ID]; titles != nil && !slices.Contains(titles, one.Title) {
			m.s.fail("%s has the title %q for %s, and users gave it %q", m.name, one.Title, one.ID, titles)
		}
		for _, message := range m.messages(one.ID) {
			there[one.ID+"@"+message.ID] = true
		}
	}
	for _, b := range m.bookmarks() {
		label, _, _ := strings.Cut(b.Label, "@")
		marks[label+" "+b.Session+"@"+b.Message] = true
	}
	for label, place := range t.labels {
		if there[place] && !marks[label+" "+place] {
			m.s.fail("%s has lost the bookmark %q of %s", m.name, label, place)
		}
	}
}

// healthy: doctor finds nothing after the next change.
func (m *testMachine) healthy() {
	ctx := m.s.t.Context()
	if _, err := m.w.New(ctx, "last"); err != nil {
		m.s.fail("%s: new: %v", m.name, err)
	}
	report, err := m.w.Doctor(ctx, doctor.Options{})
	if err != nil || !report.OK || slices.ContainsFunc(report.Problems, func(p doctor.Problem) bool { return p.Kind != "unused_pack" }) {
		m.s.fail("%s: doctor finds %+v, %v", m.name, report, err)
	}
}
