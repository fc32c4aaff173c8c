package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/bough-dev/bough/cmd/bough/internal/list"
	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
)

// An operationList is the operations, newest first, and the titles of the conversations.
type operationList struct {
	operations []history.Operation
	titles     map[string]string
}

// maxOperations is how many operations are listed.
const maxOperations = 1000

// log lists the operations.
func (m *model) log() tea.Cmd {
	e := m.env
	return e.do(func() tea.Msg {
		log, err := e.w.Log(e.ctx, history.LogOptions{Limit: maxOperations, Groups: true})
		if err != nil {
			return failure{err}
		}
		return operationList{log.Operations, e.titles(e.ctx)}
	})
}

// A logRow is an operation, or a group of them that is undone as a whole.
type logRow struct {
	newest, oldest int // indexes
	size           int
}

func logRows(ops []history.Operation) (rows []logRow) {
	for i, op := range ops {
		if n := len(rows) - 1; op.Group != 0 && n >= 0 && ops[rows[n].newest].Group == op.Group {
			rows[n].oldest = i
			rows[n].size++
			continue
		}
		rows = append(rows, logRow{i, i, 1})
	}
	return rows
}

func (m *model) listOperations(l operationList) tea.Cmd {
	rows := logRows(l.operations)
	items := make([]list.Item, len(rows))
	for i, r := range rows {
		op := l.operations[r.newest]
		text := sentence.Describe(op, l.operations[r.newest:], l.titles, r.size)
		if op.Undone {
			text += " (undone)"
		}
		items[i] = list.Item{Text: line(text), Detail: itoa(int(op.Seq)) + " · " + age(op.Time, m.env.Now()), Ref: itoa(i)}
	}
	return m.pick(list.Options{Prompt: "Undo back to:", Items: items}, func(item list.Item) tea.Cmd {
		for i, it := range items {
			if it.Ref == item.Ref {
				return m.undoTo(l.operations[rows[i].oldest], item.Text)
			}
		}
		return nil
	})
}

// undoTo undoes an operation and all later ones, after a question.
func (m *model) undoTo(op history.Operation, text string) tea.Cmd {
	return m.confirm("Undo this and all later changes? "+text, func() tea.Cmd {
		return m.run(func(ctx context.Context, w *workspace.Workspace) (place, error) {
			o := history.UndoOptions{To: events.Seq(op.Seq - 1)}
			if o.To == 0 {
				o = history.UndoOptions{Count: maxOperations}
			}
			_, err := w.Undo(ctx, o)
			return place{}, err
		})
	})
}
