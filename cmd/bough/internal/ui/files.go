package ui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/cmd/bough/internal/list"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
)

// files lists the states that belong to the messages of the path that is shown.
func (m *model) files() tea.Cmd {
	p, e := m.conv.path, m.env
	if p == nil {
		m.refuse("Open a conversation to see the states of its files")
		return nil
	}
	return e.do(func() tea.Msg {
		states, all, err := statesOf(e.ctx, e.w, p)
		if err != nil {
			return failure{err}
		}
		if len(states) == 0 {
			return refusal{"No states of files belong to this conversation; 'bough files snap' takes one"}
		}
		items := make([]list.Item, len(states))
		for i, st := range states {
			items[i] = list.Item{Text: line(m.stateText(&st)), Detail: line(stateDetail(p, &st)), Ref: itoa(i)}
		}
		return listRequest{list.Options{Prompt: "Files:", Items: items}, func(item list.Item) tea.Cmd {
			i := slices.IndexFunc(items, func(it list.Item) bool { return it.Ref == item.Ref })
			st := states[i]
			if from := before(all, &st); from != "" {
				return m.showDifference(&st, from, st.ID)
			}
			return m.showDifference(&st, st.ID, files.Now)
		}}
	})
}

// statesOf returns the states of a path, the newest first, and all states, the oldest first.
func statesOf(ctx context.Context, w *workspace.Workspace, p *path) (states, all []files.State, err error) {
	own, err := w.States(ctx, p.line)
	if err != nil {
		return nil, nil, err
	}
	marks, err := w.FileMarks(ctx, p.Conversation)
	if err != nil {
		return nil, nil, err
	}
	states = own.States
	for _, mark := range marks { // also those of the messages that a branch copied
		if !slices.ContainsFunc(states, func(st files.State) bool { return st.ID == mark.State.ID }) {
			states = append(states, mark.State)
		}
	}
	slices.SortStableFunc(states, func(a, b files.State) int { return b.Time.Compare(a.Time) })
	every, err := w.States(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	return states, every.States, nil
}

// before returns the id of the state of the same folder before a state, "" if it is the first.
func before(all []files.State, st *files.State) (id string) {
	for _, other := range all {
		if other.ID == st.ID {
			return id
		}
		if other.Dir == st.Dir {
			id = other.ID
		}
	}
	return id
}

// stateText says what a state is of, and when it was taken.
func (m *model) stateText(st *files.State) string {
	return filepath.Base(st.Dir) + " " + sentence.Moment(st.At) + ", " + age(st.Time, m.env.Now())
}

// stateDetail says how much a state holds, and which message it belongs to.
func stateDetail(p *path, st *files.State) string {
	text := plural.Of(st.Files, "file")
	if i, ok := p.index[string(st.Message)]; ok {
		text += " · " + spoken.Words(p.Messages[i])
	}
	return text
}

// showDifference shows what changed between two states, of which st is one.
func (m *model) showDifference(st *files.State, from, to string) tea.Cmd {
	e := m.env
	return e.do(func() tea.Msg {
		d, err := e.w.Folder("").Diff(e.ctx, from, to, files.DiffOptions{Patch: true})
		if err != nil {
			return failure{err}
		}
		since := "since the state before"
		if to == files.Now {
			since = "since then"
		}
		s := &textScreen{
			title: line(m.stateText(st)) + ": " + plural.Of(len(d.Changes), "change") + " " + since,
			text:  func(columns int) []string { return differenceLines(d, columns) },
		}
		s.hint, s.keys = "r restores", map[string]func() tea.Cmd{"r": func() tea.Cmd { return m.planRestore(restore{ref: st.ID}) }}
		if to != files.Now {
			s.hint += ", n shows what changed since then"
			s.keys["n"] = func() tea.Cmd { return m.showDifference(st, st.ID, files.Now) }
		}
		return screenRequest{s}
	})
}

// maxPatch is how many lines of the patch of a file are shown.
const maxPatch = 2000

// differenceLines returns the changes of a difference with their patches.
func differenceLines(d *files.Diff, columns int) (lines []string) {
	if len(d.Changes) == 0 {
		return []string{dim(fit("No file is different.", columns))}
	}
	for _, c := range d.Changes {
		lines = append(lines, bold(fit(line(c.Kind)+"  "+line(c.Path), columns)))
		if c.Unshown != "" {
			lines = append(lines, dim(fit("its lines are not shown: "+line(c.Unshown), columns)))
		}
		n := 0
		for l := range strings.Lines(c.Patch) {
			if n++; n > maxPatch {
				lines = append(lines, dim(fit("… more; 'bough files diff' prints all", columns)))
				break
			}
			lines = append(lines, patchStyle(l)(fit(clean(strings.TrimRight(l, "\r\n")), columns)))
		}
		lines = append(lines, "")
	}
	return lines
}

func patchStyle(l string) func(string) string {
	switch {
	case strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
		return dim
	case strings.HasPrefix(l, "+"):
		return green
	case strings.HasPrefix(l, "-"):
		return red
	case strings.HasPrefix(l, "@@"):
		return cyan
	}
	return plainly
}
