package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/rewrite"
)

// PruneContext creates a branch with the path to ref, without some of its messages, and moves the
// head to its end. The messages before the first that is omitted are in the branch as they are;
// those after it are copies, as [Workspace.Pick] makes them. A tool call and its results are left
// out together. The original conversation does not change.
func (w *Workspace) PruneContext(ctx context.Context, ref string, o rewrite.PruneContextOptions) (*rewrite.Pruned, error) {
	squash := o.Squash != ""
	switch {
	case squash == (len(o.Drop) > 0):
		return nil, &fault.Error{Code: fault.Usage, Message: "nothing is omitted: give messages to drop or a range to squash, not both"}
	case !squash && (o.Summary != "" || o.Summarize != nil):
		return nil, &fault.Error{Code: fault.Usage, Message: "a summary needs a range to squash"}
	case squash && o.Summary != "" && strings.TrimSpace(o.Summary) == "":
		return nil, emptySummary(fault.Usage)
	case squash && o.Summary == "" && o.Summarize == nil && !o.DryRun:
		return nil, &fault.Error{Code: fault.Usage, Message: "a squash needs a summary, or a model that writes it"}
	}
	if err := store.CheckTitle("name", o.Name); err != nil {
		return nil, err
	}
	if err := store.CheckUTF8("summary", o.Summary); err != nil {
		return nil, err
	}
	plan, err := store.Read(ctx, w.store, func(v *store.View) (*prunePlan, error) { return planPrune(v, ref, o) })
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		plan.out.DryRun = true
		return plan.out, nil
	}
	if squash && o.Summary == "" {
		if o.Summary, err = o.Summarize(plan.prompt); err != nil {
			return nil, err
		}
		if o.Summary = strings.ToValidUTF8(o.Summary, "\uFFFD"); strings.TrimSpace(o.Summary) == "" {
			return nil, emptySummary(fault.Failed)
		}
	} else {
		o.Model = ""
	}
	// The path may have grown while the model was asked, but the branch has what was shown to it.
	ref = plan.at
	op := operation.Operation{Verb: "prune-context", Args: store.Args{"ref": ref, "name": o.Name}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*rewrite.Pruned, error) {
		plan, err := planPrune(tx.View, ref, o)
		if err != nil {
			return nil, err
		}
		return plan.out, plan.apply(tx, o)
	})
}

func emptySummary(code fault.Code) error {
	return &fault.Error{Code: code, Message: "the summary is empty; nothing was changed"}
}

// A prunePlan is a path without some of its messages.
type prunePlan struct {
	place  *store.Place
	at     string // the REF of the place by ids
	omit   checkpoint.Omission
	copies []store.Copy
	prompt string // for the model that summarizes
	out    *rewrite.Pruned
}

func planPrune(v *store.View, ref string, o rewrite.PruneContextOptions) (*prunePlan, error) {
	p, err := v.Place(ref, false)
	if err != nil {
		return nil, err
	}
	if err := checkpoint.Cut(p.Tree, p.Node); err != nil {
		return nil, err
	}
	var drop []int
	for _, name := range append(slices.Clone(o.Drop), o.Squash) {
		if name == "" {
			continue
		}
		nodes, err := omitted(v, p, name, o.Squash != "")
		if err != nil {
			return nil, err
		}
		drop = append(drop, nodes...)
	}
	plan := &prunePlan{place: p, at: p.SessionID() + "@" + p.MessageID(), omit: checkpoint.Omit(p.Tree, p.Node, drop)}
	if plan.omit.Shared+len(plan.omit.Kept) == 0 && o.Squash == "" {
		return nil, &fault.Error{Code: fault.Refused, Message: "no message would remain"}
	}
	plan.out = &rewrite.Pruned{Shared: plan.omit.Shared, Messages: []rewrite.Copy{}, Dropped: []rewrite.Copy{}}
	if err := plan.describe(v, o); err != nil {
		return nil, err
	}
	return plan, nil
}

// omitted returns the nodes of the path to p that a message or a range names.
func omitted(v *store.View, p *store.Place, name string, mustRange bool) ([]int, error) {
	path := p.Path(p.Node)
	place := func(name string) (*store.Place, error) {
		n, err := onPath(v, p, name)
		if err != nil {
			return nil, err
		}
		return &store.Place{Line: p.Line, Node: n}, nil
	}
	end, from, isRange, err := rangeOf(name, p, place, v)
	switch {
	case err != nil:
		return nil, err
	case isRange:
		return path[from:len(end.Path(end.Node))], nil
	case mustRange:
		return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q is not a range", name), Hint: "A..B are the messages after A up to B; without A they begin with the conversation"}
	}
	n, err := onPath(v, p, name)
	return []int{n}, err
}

// describe sets the copies, the prompt and the result of the plan.
func (plan *prunePlan) describe(v *store.View, o rewrite.PruneContextOptions) error {
	p := plan.place
	count := o.Count
	if count == nil {
		count = func([]byte) int { return 0 }
	}
	for _, n := range p.Path(p.Node) {
		m, err := v.Message(p.Line, n)
		if err != nil {
			return err
		}
		plan.out.Tokens.Before += count(m.Raw)
	}
	for _, n := range plan.omit.Kept {
		c, row, err := copyOf(v, p.Line, checkpoint.Picked{Tree: p.Tree, Node: n})
		if err != nil {
			return err
		}
		plan.copies = append(plan.copies, c)
		plan.out.Messages = append(plan.out.Messages, row)
	}
	var prompt strings.Builder
	for _, omit := range plan.omit.Omitted {
		c, row, err := copyOf(v, p.Line, omit)
		if err != nil {
			return err
		}
		plan.out.Dropped = append(plan.out.Dropped, row)
		plan.out.Tokens.Saved += count(c.Raw)
		fmt.Fprintf(&prompt, "\n[%s]\n%s\n", row.Role, strings.Join(content.Read(c.Raw).Texts(), "\n"))
	}
	if o.Squash != "" {
		plan.out.Summary = &rewrite.Summary{Text: o.Summary, Model: o.Model}
		if o.Summary == "" {
			plan.prompt = summaryPrompt + prompt.String()
			plan.out.Summary.Prompt = plan.prompt
		} else {
			plan.out.Tokens.Saved -= count(plan.summary(v, o))
		}
	}
	plan.out.Tokens.After = plan.out.Tokens.Before - plan.out.Tokens.Saved
	return nil
}

// summaryPrompt is what a model is asked that summarizes messages, which follow it.
const summaryPrompt = `Summarize the part of a conversation below. The summary replaces it in the conversation, and later messages follow it, so keep what matters later: decisions and their reasons, facts, names, numbers, paths, code that is still needed, and open questions. Write only the summary, in the language of the conversation.
`

// ownSummary is the member of metadata.bough of a message that stands for others.
const ownSummary = "summary_of"

// summary returns the stored form of the summary.
func (plan *prunePlan) summary(v *store.View, o rewrite.PruneContextOptions) []byte {
	first, last := plan.omit.Omitted[0], plan.omit.Omitted[len(plan.omit.Omitted)-1]
	p := plan.place
	of := struct {
		Session string `json:"session_id"`
		First   string `json:"first"`
		Last    string `json:"last"`
		Count   int    `json:"messages"`
		Model   string `json:"model_id,omitempty"`
	}{p.Parts[p.Part(first.Node)].ID, p.ID(first.Node), p.ID(last.Node), len(plan.omit.Omitted), o.Model}
	m := store.Message{Role: "user", Content: rawjson.Compact(o.Summary), Own: []rawjson.Pair{{Key: ownSummary, Value: rawjson.Compact(of)}}}
	return m.Encode(v.Index.Dialect().Time(v.Now(p.Line)))
}

// apply stages the branch and sets what is new of the result.
func (plan *prunePlan) apply(tx *store.Tx, o rewrite.PruneContextOptions) error {
	p, out := plan.place, plan.out
	list := plan.copies
	if o.Squash != "" {
		list = append([]store.Copy{{Raw: plan.summary(tx.View, o)}}, list...)
	}
	if err := tx.NewCopies(list); err != nil {
		return err
	}
	end := &store.Place{Line: p.Line, Node: -1}
	path := p.Path(p.Node)
	if plan.omit.Shared > 0 {
		end.Node = path[plan.omit.Shared-1]
	}
	if err := p.Unique(path); err != nil {
		return err
	}
	raws, err := store.EncodeBelow(end.MessageID(), list)
	if err != nil {
		return err
	}
	spec, err := tx.View.Spec(end, checkpoint.Spec{Kind: session.Branch, Title: o.Name})
	if err != nil {
		return err
	}
	d, err := plan.omit.Flatten(p.Tree, p.Node, raws, spec, tx.View.Reopen)
	if err != nil {
		return err
	}
	if err := tx.Create(d); err != nil {
		return err
	}
	last := end.MessageID()
	if n := len(list); n > 0 {
		last = list[n-1].ID
	}
	out.Session, out.Title, out.Last = session.ID(d.ID), entryOf(tx.View, d.ID).Title, session.ID(last)
	for i, c := range list[len(list)-len(out.Messages):] {
		out.Messages[i].Message = session.ID(c.ID)
	}
	if out.Summary != nil {
		out.Summary.Message, out.Summary.Prompt = session.ID(list[0].ID), ""
	}
	if o.KeepHead {
		return nil
	}
	_, err = tx.MoveHead(d.ID, last, last)
	return err
}
