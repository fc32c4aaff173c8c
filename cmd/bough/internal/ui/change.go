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

// A changeResult is the end of a change.
type changeResult struct {
	said string
	undo events.Seq // the operation, 0 if it cannot be undone
	to   place      // what to show, the zero place for what is shown
	over screen     // to show over it, nil for none
	err  error
}

// run returns a command that changes the workspace. The change ends also if the page does
// meanwhile.
func (m *model) run(f func(ctx context.Context, w *workspace.Workspace) (place, error)) tea.Cmd {
	return m.runShowing(func(ctx context.Context, w *workspace.Workspace) (place, screen, error) {
		to, err := f(ctx, w)
		return to, nil, err
	})
}

// runShowing is run for a change whose result has a screen, which may be nil.
func (m *model) runShowing(f func(ctx context.Context, w *workspace.Workspace) (place, screen, error)) tea.Cmd {
	m.busy++
	e := m.env
	return e.do(func() tea.Msg {
		ctx := context.WithoutCancel(e.ctx)
		before, err := e.w.Position(ctx)
		if err != nil {
			return changeResult{err: err}
		}
		to, over, err := f(ctx, e.w)
		if err != nil {
			return changeResult{err: err}
		}
		said, undo := e.operationAfter(ctx, before)
		return changeResult{said: said, undo: undo, to: to, over: over}
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
	if l, err := e.w.Sessions(ctx, workspace.ListOptions{SubAgents: true}); err == nil {
		for _, s := range l.Sessions {
			titles[s.ID] = s.Title
		}
	}
	return titles
}

func (m *model) endChange(c changeResult) tea.Cmd {
	m.busy--
	if c.err != nil {
		m.refuse(explain(c.err))
		return m.reload()
	}
	m.say(line(c.said))
	if c.said == "" {
		m.say("Nothing was changed")
	}
	if c.said != "" {
		m.undo, m.offered = c.undo, c.undo != 0
	}
	if c.over != nil {
		m.push(c.over)
	}
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
	case "bookmarks":
		return m.bookmarks()
	case "files":
		return m.files()
	case "explorations":
		return m.explorations()
	case "agents":
		return m.agents()
	case "create-agent":
		return m.createAgent()
	case "new":
		return m.newConversation()
	case "undo":
		return m.planUndo()
	case "redo":
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			_, err := w.Redo(ctx, history.UndoOptions{})
			return place{}, err
		})
	}
	ref, id := m.target()
	if ref == "" {
		m.refuse("Nothing is selected")
		return nil
	}
	if row, ok := m.row(id); ok && (act == "branch" || act == "checkpoint" || act == "bookmark") {
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
		return m.continueFrom(ref, id)
	case "rename":
		return m.prompt("Title:", m.title(id), false, func(title string) tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				_, err := w.Rename(ctx, id, title)
				return place{}, err
			})
		})
	case "delete":
		return m.remove(id)
	case "compare":
		return m.compare(ref)
	case "write":
		return m.addMessage()
	case "edit":
		return m.editMessage()
	case "pick", "pick-turn":
		return m.pickMessage(act == "pick-turn")
	case "merge":
		return m.planMerge(ref)
	case "restore-files":
		return m.restoreFiles(ref, id)
	case "explore":
		return m.explore(ref)
	}
	return nil
}

// continueFrom moves the head to a message or, of a checkpoint, to its end. In a tree of an agent,
// it moves the head of the agent.
func (m *model) continueFrom(ref, id string) tea.Cmd {
	restores := m.isCheckpoint(id) && m.focus == treeSide
	agent := m.tree.source.Agents[id]
	return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
		if agent != "" {
			return place{}, continueAgent(ctx, w.Agent(agent), ref)
		}
		if restores {
			_, err := w.Restore(ctx, id)
			return place{}, err
		}
		_, err := w.Rewind(ctx, ref, checkpoint.CutOptions{})
		return place{}, err
	})
}

// remove moves a conversation to the trash, or says why it cannot be removed. At a bookmark in
// the tree, it removes the bookmark.
func (m *model) remove(id string) tea.Cmd {
	if r := m.tree.selected(); m.focus == treeSide && r.Kind == treerows.Bookmark {
		return m.confirm("Remove the bookmark “"+line(r.Title)+"”?", func() tea.Cmd {
			return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
				_, err := w.RemoveBookmark(ctx, r.Title)
				return place{}, err
			})
		})
	}
	row, _ := m.row(id) // of one that is not listed, the workspace says whether it can be removed
	title := "“" + line(m.title(id)) + "”"
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

// planUndo undoes the newest change: at once if this page made it, else after a question, because it
// may be that of another program.
func (m *model) planUndo() tea.Cmd {
	own := m.undo
	e := m.env
	return e.do(func() tea.Msg {
		ctx := context.WithoutCancel(e.ctx)
		plan, err := e.w.Undo(ctx, history.UndoOptions{DryRun: true})
		if err != nil {
			return undoPlan{err: err}
		}
		only := make([]events.Seq, len(plan.Operations))
		for i, op := range plan.Operations {
			only[i] = op.Seq
		}
		text := sentence.Describe(plan.Operations[0], plan.Operations, e.titles(ctx), len(plan.Operations))
		return undoPlan{only: only, text: text, asked: !slices.Contains(only, own)}
	})
}

// An undoPlan is what an undo would undo.
type undoPlan struct {
	only  []events.Seq
	text  string
	asked bool // the user has to confirm it
	err   error
}

func (m *model) confirmUndo(p undoPlan) tea.Cmd {
	switch {
	case p.err != nil:
		m.refuse(explain(p.err))
		return nil
	case m.ask != nil || len(m.screens) > 0: // what is typed now is no answer to this question
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
	at := m.conv.path
	if agent := m.tree.source.Agents[at.line]; agent != "" {
		return m.chat(agent)
	}
	text, readOnly := "Message:", m.isCheckpoint(at.line)
	if readOnly {
		text = "Message to a new branch of this checkpoint:"
	} else if !at.tip {
		text = "Message of a new branch, after what is shown:"
	}
	return m.write(text, func(text string, _ bool) tea.Cmd {
		if now := m.conv.path; now != nil && now.line == at.line {
			at = now // it may have grown
		}
		a := workspace.Append{Session: at.line, Parent: at.last, Text: text}
		if readOnly {
			a.Parent = ""
		}
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			r, err := w.Append(ctx, a)
			if err != nil {
				return place{}, err
			}
			return place{session: r.Session, leaf: r.Message}, nil
		})
	})
}
