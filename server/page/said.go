package page

import (
	"context"
	"strconv"
	"time"

	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
)

// A said is what an operation did, in a sentence.
type said struct {
	Text string
	Undo events.Seq // the operation, if an undo can undo it; else 0
	Redo events.Seq // the operation, if it is an undo that a redo can repeat; else 0
}

// saidTime is how long a page says what an operation did, if it is loaded again.
const saidTime = 5 * time.Minute

// said returns what the operation did that the address names, nil if it names no recent one.
// The text comes from the log, never from the address.
func (c *request) said() *said {
	seq, err := strconv.ParseInt(c.r.URL.Query().Get(saidField), 10, 64)
	if err != nil || seq < 1 {
		return nil
	}
	log, err := c.workspace.Log(c.r.Context(), history.LogOptions{Limit: recent})
	if err != nil {
		return nil // the view says what is wrong with the workspace
	}
	for _, op := range log.Operations {
		if op.Seq == events.Seq(seq) && c.opts.Now().Sub(op.Time) < saidTime {
			s := c.saidOf(c.r.Context(), op)
			return &s
		}
	}
	return nil
}

// saidOf returns what an operation did.
func (p *Page) saidOf(ctx context.Context, op history.Operation) said {
	titles := map[string]string{}
	if list, err := p.workspace.Sessions(ctx, workspace.ListOptions{SubAgents: true}); err == nil {
		for _, e := range list.Sessions {
			titles[e.ID] = e.Title
		}
	}
	var s said
	switch {
	case op.Undone:
	case op.Verb == "undo":
		if p.isLast(ctx, op) {
			s.Redo = op.Seq
		}
	default:
		if _, _, err := p.undoOf(ctx, op.Seq, history.UndoOptions{}); err == nil {
			s.Undo = op.Seq
		}
	}
	log := []history.Operation{op}
	if op.Undoes != 0 || op.Group != 0 {
		all, err := p.workspace.Log(ctx, history.LogOptions{})
		if err != nil {
			return s
		}
		log = all.Operations
	}
	size := 0
	for _, one := range log {
		if one.Seq == op.Seq || op.Group != 0 && one.Group == op.Group {
			size++
		}
	}
	s.Text = sentence.Describe(op, log, titles, size)
	return s
}

// isLast reports whether no operation follows one and its group.
func (p *Page) isLast(ctx context.Context, op history.Operation) bool {
	log, err := p.workspace.Log(ctx, history.LogOptions{Limit: 1})
	if err != nil || len(log.Operations) == 0 {
		return false
	}
	last := log.Operations[0]
	return last.Seq == op.Seq || op.Group != 0 && last.Group == op.Group
}
