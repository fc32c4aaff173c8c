package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/history"
)

// undo undoes the change that the form names, and no other.
func (p *Page) undo(ctx context.Context, fields url.Values) error {
	seq, err := seqOf(fields)
	if err != nil {
		return err
	}
	o, newer, err := p.undoOf(ctx, seq, history.UndoOptions{In: fields.Get("in")})
	if err != nil {
		return err
	}
	_, err = p.workspace.Undo(context.WithoutCancel(ctx), o)
	if e := workspaceError(err); newer != nil && (errors.Is(e, fault.Refused) || errors.Is(e, fault.HasChildren)) {
		return cameAfter(seq, newer, err)
	}
	return err
}

// redo repeats what an undo undid: that which the form names, else the newest one.
func (p *Page) redo(ctx context.Context, fields url.Values) error {
	o := history.UndoOptions{In: fields.Get("in")}
	if fields.Get(seqField) != "" {
		seq, err := seqOf(fields)
		if err != nil {
			return err
		}
		o.Only = []events.Seq{seq}
	}
	_, err := p.workspace.Redo(context.WithoutCancel(ctx), o)
	return err
}

// seqOf returns the operation that a form names.
func seqOf(fields url.Values) (events.Seq, error) {
	text := fields.Get(seqField)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q is not the number of an operation", text)}
	}
	return events.Seq(n), nil
}

// askUndo returns what an undo would undo, for a form that names no operation: it may be a
// change of another program.
func (p *Page) askUndo(ctx context.Context) (*done, error) {
	planned, err := p.workspace.Undo(ctx, history.UndoOptions{DryRun: true})
	if err != nil {
		return nil, err
	}
	s := p.saidOf(ctx, planned.Operations[0])
	return &done{Said: "Undo this? " + s.Text, Undo: &planned.Operations[0].Seq}, nil
}

// undoOf returns the options with which an undo undoes the operation with a number, which may be
// that of a redo of it: as the newest one or, because other programs change the workspace too,
// as the newest one of a session that it changed. Then newer is the newest one.
func (p *Page) undoOf(ctx context.Context, seq events.Seq, o history.UndoOptions) (_ history.UndoOptions, newer *history.Operation, err error) {
	log, err := p.workspace.Log(ctx, history.LogOptions{Limit: recent})
	if err != nil {
		return o, nil, err
	}
	wanted, sessions := []events.Seq{seq}, []string(nil)
	for _, op := range log.Operations { // newest first
		if op.Seq != wanted[len(wanted)-1] {
			continue
		}
		if op.Seq == seq && op.Undone {
			return o, nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("operation %d is already undone", seq), Hint: "the log has all operations"}
		}
		sessions = op.Sessions
		if op.Undoes != 0 {
			wanted = append(wanted, op.Undoes)
		}
	}
	o.Only = wanted
	if newer, err = p.nextUndo(ctx, wanted, o); newer == nil || err != nil {
		return o, nil, err
	}
	for _, id := range sessions {
		in := history.UndoOptions{In: id, Only: wanted}
		if other, err := p.nextUndo(ctx, wanted, in); other == nil && err == nil {
			return in, newer, nil
		}
	}
	return o, nil, cameAfter(seq, newer, nil)
}

// cameAfter returns the error for an operation that cannot be undone because of a newer one.
func cameAfter(seq events.Seq, newer *history.Operation, err error) error {
	return &fault.Error{
		Code:    fault.Refused,
		Message: fmt.Sprintf("operation %d cannot be undone: operation %d (%s) came after it", seq, newer.Seq, newer.Verb),
		Hint:    "the log has all operations",
		Err:     err,
	}
}

// nextUndo returns the operation that an undo would undo, nil if it is one of those that are
// wanted.
func (p *Page) nextUndo(ctx context.Context, wanted []events.Seq, o history.UndoOptions) (*history.Operation, error) {
	o.DryRun = true
	planned, err := p.workspace.Undo(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, op := range planned.Operations {
		if slices.Contains(wanted, op.Seq) {
			return nil, nil
		}
	}
	return &planned.Operations[0], nil
}

// restoreRemoved undoes the removal of a session, if that is the last change of it.
func (p *Page) restoreRemoved(ctx context.Context, id string) error {
	log, err := p.workspace.Log(ctx, history.LogOptions{In: id, Limit: 1})
	if err != nil {
		return err
	}
	if id == "" || len(log.Operations) == 0 || log.Operations[0].Verb != "rm" || log.Operations[0].Undone {
		return &fault.Error{Code: fault.Refused, Message: "this file cannot be restored alone", Hint: "undo the changes since its removal; the log has them"}
	}
	_, err = p.workspace.Undo(ctx, history.UndoOptions{In: id, Only: []events.Seq{log.Operations[0].Seq}})
	return err
}
