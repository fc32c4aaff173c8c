package ui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/internal/treerows"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
)

// A changed is the end of a change.
type changed struct {
	said string
	undo events.Seq // the operation, 0 if it cannot be undone
	to   place      // what to show, the zero place for what is shown
	err  error
}

// run returns a command that changes the workspace. The change ends also if the page does
// meanwhile.
func (m *model) run(f func(ctx context.Context, w *workspace.Workspace) (place, error)) tea.Cmd {
	m.busy++
	e := m.env
	return e.do(func() tea.Msg {
		ctx := context.WithoutCancel(e.ctx)
		before, err := e.w.Position(ctx)
		if err != nil {
			return changed{err: err}
		}
		to, err := f(ctx, e.w)
		if err != nil {
			return changed{err: err}
		}
		said, undo := e.operationAfter(ctx, before)
		return changed{said: said, undo: undo, to: to}
	})
}

// recent is how many operations are searched for that of a change.
const recent = 50

// operationAfter says what the first change after a position did, "" if there was none.
func (e *env) operationAfter(ctx context.Context, before events.Position) (said string, undo events.Seq) {
	log, err := e.w.Log(ctx, history.LogOptions{Limit: recent})
	if err != nil {
		return "", 0
	}
	for i, op := range slices.Backward(log.Operations) {
		if op.Seq > before.Seq && op.Args["auto"] != true && op.Verb != operation.External {
			said = sentence.Describe(op, log.Operations[i:], e.titles(ctx), 1)
			if op.Undoes == 0 {
				undo = op.Seq
			}
			return said, undo
		}
	}
	return "", 0
}

// titles returns the titles of the conversations, empty if they cannot be read.
func (e *env) titles(ctx context.Context) map[string]string {
	titles := map[string]string{}
	if l, err := e.w.Sessions(ctx, workspace.ListOptions{}); err == nil {
		for _, s := range l.Sessions {
			titles[s.ID] = s.Title
		}
	}
	return titles
}

func (m *model) changed(c changed) tea.Cmd {
	m.busy--
	if c.err != nil {
		m.refuse(explain(c.err))
		return m.reload()
	}
	m.say(line(c.said))
	if c.said == "" {
		m.say("Nothing was changed")
	}
	m.undo = c.undo
	if c.to.session != "" {
		m.tree.show(c.to.session)
		return tea.Batch(m.open(c.to), m.reload())
	}
	return tea.Batch(m.refresh(), m.reload())
}

// change begins an act of the table of keys that changes something or shows a screen.
func (m *model) change(act string) tea.Cmd {
	switch act {
	case "search":
		return m.search()
	case "go":
		return m.goTo()
	case "log":
		return m.log()
	case "undo":
		return m.takeBack()
	case "redo":
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			_, err := w.Redo(ctx, history.UndoOptions{})
			return place{}, err
		})
	}
	ref, line := m.target()
	if ref == "" {
		m.refuse("Nothing is selected")
		return nil
	}
	if row, ok := m.row(line); ok && (act == "branch" || act == "checkpoint" || act == "bookmark") {
		m.tree.open[row.ID] = true // what is made is listed below it
	}
	switch act {
	case "branch":
		return m.prompt("Name of the branch, or none:", "", true, func(name string) tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				s, err := w.Branch(ctx, ref, workspace.SnapshotOptions{Name: name})
				if err != nil {
					return place{}, err
				}
				return place{session: s.ID}, nil
			})
		})
	case "checkpoint":
		return m.prompt("Name of the checkpoint, or none:", "", true, func(name string) tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				_, err := w.Checkpoint(ctx, ref, workspace.SnapshotOptions{Name: name})
				return place{}, err
			})
		})
	case "bookmark":
		return m.prompt("Label:", "", false, func(label string) tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				_, err := w.Bookmark(ctx, ref, label, workspace.BookmarkOptions{})
				return place{}, err
			})
		})
	case "continue":
		return m.continueFrom(ref, line)
	case "rename":
		row, _ := m.row(line)
		return m.prompt("Title:", row.Title, false, func(title string) tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				_, err := w.Rename(ctx, line, title)
				return place{}, err
			})
		})
	case "delete":
		return m.remove(line)
	case "compare":
		return m.compare(ref)
	case "write":
		return m.addMessage()
	}
	return nil
}

// continueFrom moves the head to a message or, of a checkpoint, to its end.
func (m *model) continueFrom(ref, line string) tea.Cmd {
	restores := m.isCheckpoint(line) && m.focus == treeSide
	return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
		if restores {
			_, err := w.Restore(ctx, line)
			return place{}, err
		}
		_, err := w.Rewind(ctx, ref, checkpoint.CutOptions{})
		return place{}, err
	})
}

// remove moves a conversation to the trash, or says why it cannot be removed.
func (m *model) remove(id string) tea.Cmd {
	row, ok := m.row(id)
	if !ok {
		m.refuse("Nothing is selected")
		return nil
	}
	title := "“" + line(row.Title) + "”"
	switch row.Delete.Refused {
	case treerows.HasCopies:
		m.refuse("Cannot delete " + title + ": it has copies, such as “" + line(row.Delete.By[0].Title) + "”")
		return nil
	case treerows.OwnedByAgent:
		m.refuse("Cannot delete " + title + ": it belongs to the agent " + line(row.Delete.Agent))
		return nil
	case treerows.ReadOnly:
		m.refuse("Cannot delete " + title + ": another program made it")
		return nil
	}
	return m.confirm("Move "+title+" to the trash?", func() tea.Cmd {
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			_, err := w.Remove(ctx, id, workspace.RemoveOptions{Line: true})
			return place{}, err
		})
	})
}

// takeBack undoes the newest change: at once if it is the one that the page has just reported,
// else after a question, because it may be that of another program.
func (m *model) takeBack() tea.Cmd {
	reported := m.undo
	e := m.env
	return e.do(func() tea.Msg {
		ctx := context.WithoutCancel(e.ctx)
		plan, err := e.w.Undo(ctx, history.UndoOptions{DryRun: true})
		if err != nil {
			return undoPlanned{err: err}
		}
		only := make([]events.Seq, len(plan.Operations))
		for i, op := range plan.Operations {
			only[i] = op.Seq
		}
		text := sentence.Describe(plan.Operations[0], plan.Operations, e.titles(ctx), len(plan.Operations))
		return undoPlanned{only: only, text: text, asked: !slices.Contains(only, reported)}
	})
}

// An undoPlanned is what an undo would undo.
type undoPlanned struct {
	only  []events.Seq
	text  string
	asked bool // the user has to confirm it
	err   error
}

func (m *model) undoPlanned(p undoPlanned) tea.Cmd {
	if p.err != nil {
		m.refuse(explain(p.err))
		return nil
	}
	undo := func() tea.Cmd {
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			_, err := w.Undo(ctx, history.UndoOptions{Only: p.only})
			return place{}, err
		})
	}
	if p.asked {
		return m.confirm("Undo this? "+line(p.text), undo)
	}
	return undo()
}

// addMessage asks for a message and adds it at the end of the path that is shown.
func (m *model) addMessage() tea.Cmd {
	if m.conv.path == nil {
		m.refuse("Open a conversation to write to")
		return nil
	}
	line, last := m.conv.path.line, m.conv.path.last
	if agent := m.tree.source.Agents[line]; agent != "" {
		return m.chat(agent)
	}
	text := "Message:"
	if m.isCheckpoint(line) {
		text, last = "Message to a new branch of this checkpoint:", ""
	} else if !m.conv.path.tip {
		text = "Message of a new branch, after what is shown:"
	}
	return m.write(text, func(text string, _ bool) tea.Cmd {
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			r, err := w.Append(ctx, workspace.Append{Session: line, Parent: last, Text: text})
			if err != nil {
				return place{}, err
			}
			return place{session: r.Session, leaf: r.Message}, nil
		})
	})
}
