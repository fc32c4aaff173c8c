package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/rewrite"
)

// A refusal is why something is not done.
type refusal struct{ text string }

// planMerge shows the message that a merge of a branch into the head would add.
func (m *model) planMerge(ref string) tea.Cmd {
	e := m.env
	return e.do(func() tea.Msg {
		r, err := e.w.Merge(e.ctx, ref, merge.Options{DryRun: true})
		switch {
		case err != nil:
			return failure{err}
		case r.Nothing == merge.Ancestor:
			return refusal{"The head has all messages of this branch"}
		case r.Nothing != "":
			return refusal{"All messages of this branch were merged into the head before"}
		}
		return screenRequest{m.mergeScreen(ref, r)}
	})
}

// mergeScreen shows the plan of a merge. Enter makes it.
func (m *model) mergeScreen(ref string, r *merge.Result) screen {
	title := "Merge “" + line(r.Title) + "”, " + messages(r.Merged.Messages) + ", into the head"
	if r.Parent != "" {
		title += " after " + line(lookup.Short(string(r.Parent)))
	}
	return &textScreen{
		title: title, hint: "enter merges",
		text: func(columns int) []string { return wrap(clean(r.Text), columns) },
		keys: map[string]func() tea.Cmd{"enter": func() tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				done, err := w.Merge(ctx, ref, merge.Options{})
				if err != nil {
					return place{}, err
				}
				return place{session: string(done.Session), leaf: string(done.Message)}, nil
			})
		}},
	}
}

// pickMessage copies the selected message, or the turn that it belongs to, to the head.
func (m *model) pickMessage(turn bool) tea.Cmd {
	if m.focus == treeSide || m.conv.selected() == "" {
		m.refuse("Select a message to copy it to the head")
		return nil
	}
	ref, _ := m.target()
	what := "this message"
	if turn {
		what = "the turn of this message"
	}
	return m.confirm("Copy "+what+" to the head?", func() tea.Cmd {
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			done, err := w.Pick(ctx, rewrite.PickOptions{Refs: []string{ref}, Turn: turn})
			if err != nil {
				return place{}, err
			}
			last := done.Messages[len(done.Messages)-1].Message
			return place{session: done.Session, leaf: string(last)}, nil
		})
	})
}
