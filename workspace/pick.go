package workspace

import (
	"cmp"
	"context"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/rewrite"
)

// Pick copies messages below another one, in one operation, and moves the head to the last
// copy. A tool call is copied together with its results, and a result together with its call. A
// copy has the bytes of the original, with another id and parent; metadata.bough.picked says
// what it is a copy of. Copies below a message of a checkpoint begin a branch of it.
//
// If a tool call would be twice on the resulting path, the error has the code [fault.Refused];
// if the path would separate a call from its result, [fault.ToolCut].
func (w *Workspace) Pick(ctx context.Context, o rewrite.PickOptions) (*rewrite.Pick, error) {
	if len(o.Refs) == 0 {
		return nil, &fault.Error{Code: fault.Usage, Message: "no message to pick"}
	}
	if o.DryRun {
		return store.Read(ctx, w.store, func(v *store.View) (*rewrite.Pick, error) {
			plan, err := planPick(v, o)
			if err != nil {
				return nil, err
			}
			plan.out.DryRun = true
			return plan.out, nil
		})
	}
	op := operation.Operation{Verb: "pick", Args: store.Args{"refs": o.Refs, "onto": o.Onto}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*rewrite.Pick, error) {
		plan, err := planPick(tx.View, o)
		if err != nil {
			return nil, err
		}
		if err := tx.NewCopies(plan.copies); err != nil {
			return nil, err
		}
		for i := range plan.copies {
			plan.out.Messages[i].Message = session.ID(plan.copies[i].ID)
		}
		return plan.out, addCopies(tx, plan.place, plan.copies, o.KeepHead, plan.out.ForkedFrom != "", &plan.out.Session)
	})
}

// A pickPlan is what a pick does.
type pickPlan struct {
	place  *store.Place
	copies []store.Copy
	out    *rewrite.Pick
}

// planPick returns what a pick does, without the ids of the copies.
func planPick(v *store.View, o rewrite.PickOptions) (*pickPlan, error) {
	p, err := v.Place(cmp.Or(o.Onto, "HEAD"), false)
	if err != nil {
		return nil, err
	}
	var sources []checkpoint.Source
	lineOf := map[*session.Tree]*store.Line{}
	for _, ref := range o.Refs {
		l, s, err := pickSource(v, ref, o.Turn)
		if err != nil {
			return nil, err
		}
		lineOf[s.Tree] = l
		sources = append(sources, s)
	}
	list, err := checkpoint.Pick(p.Tree, p.Node, sources)
	if err != nil {
		return nil, err
	}
	plan := &pickPlan{place: p, out: &rewrite.Pick{Session: p.Parts[p.FilePart()].ID, Parent: session.ID(p.MessageID())}}
	for _, picked := range list {
		c, row, err := copyOf(v, lineOf[picked.Tree], picked)
		if err != nil {
			return nil, err
		}
		plan.copies = append(plan.copies, c)
		plan.out.Messages = append(plan.out.Messages, row)
	}
	for _, i := range checkpoint.Unpaired(p.Tree, p.Node, list) {
		plan.out.Messages[i].Unpaired = true
	}
	plan.out.ForkedFrom, plan.out.Mixed = forkOrMix(v, p)
	return plan, nil
}

// forkOrMix returns the checkpoint that a message below p would change, null if there is none,
// and whether it would begin a branch that Penguin does not show.
func forkOrMix(v *store.View, p *store.Place) (from session.ID, mixed bool) {
	if id := p.Frozen(); id != "" {
		return session.ID(id), false
	}
	return "", p.Node >= 0 && !p.IsLeaf(p.Node) && v.Index.Dialect() == session.Penguin
}

// pickSource returns the messages that a REF or a range names, and their line.
func pickSource(v *store.View, ref string, turn bool) (*store.Line, checkpoint.Source, error) {
	place := func(ref string) (*store.Place, error) { return v.Place(ref, false) }
	head, _ := v.Place("HEAD", false)
	p, from, isRange, err := rangeOf(ref, head, place, v)
	if err != nil {
		return nil, checkpoint.Source{}, err
	}
	if isRange {
		path := p.Path(p.Node)
		return p.Line, checkpoint.Source{Tree: p.Tree, Path: path, Chosen: path[from:]}, nil
	}
	if p, err = v.Place(ref, false); err != nil {
		return nil, checkpoint.Source{}, err
	}
	if p.Node < 0 {
		return nil, checkpoint.Source{}, &fault.Error{Code: fault.NotFound, Message: p.SessionID() + " has no messages"}
	}
	s := checkpoint.Source{Tree: p.Tree, Path: p.PathThrough(p.Node), Chosen: []int{p.Node}}
	if turn {
		s.Chosen, err = turnIn(v, p.Line, s.Path, p.Node)
	}
	return p.Line, s, err
}

// copyOf returns the copy of a message of l to add, and what is said about it.
func copyOf(v *store.View, l *store.Line, picked checkpoint.Picked) (store.Copy, rewrite.Copy, error) {
	m, err := v.Message(l, picked.Node)
	if err != nil {
		return store.Copy{}, rewrite.Copy{}, err
	}
	from := turn.Origin{Session: l.Parts[l.Part(picked.Node)].ID, Message: m.ID}
	row := rewrite.Copy{From: from, Role: m.Role(), Text: spoken.Words(m), Call: session.ID(picked.Call)}
	return store.Copy{Origin: from, Raw: m.Raw}, row, nil
}

// addCopies adds copies below p, or in a new branch at p, and moves the head to the last one
// unless keepHead is set. It sets in to the session.
func addCopies(tx *store.Tx, p *store.Place, list []store.Copy, keepHead, fork bool, in *string) (err error) {
	head := headOf(tx.View, p.Line)
	if fork {
		*in, err = tx.ForkCopies(p, list)
	} else {
		*in, err = tx.AppendCopies(p, list)
	}
	if err != nil || keepHead && (fork || head < 0) {
		return err
	}
	at, last := *in, list[len(list)-1].ID
	newest := last
	l, err := tx.View.Line(*in, false)
	if err != nil {
		return err
	}
	if n := l.Newest(0); n >= 0 {
		newest = l.ID(n)
	}
	if keepHead { // it would count as outdated, because the line has a newer message
		at, last = p.Parts[p.Part(head)].ID, p.ID(head)
	}
	_, err = tx.MoveHead(at, last, newest)
	return err
}
