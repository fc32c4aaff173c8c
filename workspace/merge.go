package workspace

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/cited"
	"github.com/bough-dev/bough/internal/copymerge"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/internal/digest"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/tidwall/gjson"
)

// Merge adds the result of a branch as one message of the user at the end of another path, the
// target. It merges the messages on the path to branch after the last common message, as found by
// [Workspace.Diff], except those that the target merged before and those whose content comes from
// the target; see [merge.Make]. If there are none, nothing is written, and the result says why.
//
// The branch and its messages stay as they are. The kind of the message is merge, and its
// metadata.bough.merged says what it merged. If the target is read-only, it is branched first.
//
// The model is asked without the lock. If the end of the target has changed by then, the merge is
// added at the new end, provided that it merges the same messages; otherwise it is refused. A
// summary by the model that cites no message, or one that is not in the branch, is refused too.
//
// If o.Files is set, the changes that the branch made to files, from the state at or before the
// base to the newest state of the merged messages, are applied to a folder in the same operation. A
// path that changed in the folder too is a conflict, as for [Folder.RestoreFiles].
func (w *Workspace) Merge(ctx context.Context, branch string, o merge.Options) (_ *merge.Result, err error) {
	defer func() { err = store.Explained(err) }()
	if err := checkMerge(&o); err != nil {
		return nil, err
	}
	m, err := store.Read(ctx, w.store, func(v *store.View) (*merging, error) { return planMerge(v, branch, o.Into) })
	if err != nil {
		return nil, err
	}
	if m.result.Nothing != "" {
		return &m.result, nil
	}
	if err := m.write(ctx, &o); err != nil {
		return nil, err
	}
	id, err := sessionid.NewMessage(w.store.Opts.Random)
	if err != nil {
		return nil, err
	}
	result := m.result
	add := store.Message{
		ID: id, Role: "user", Content: rawjson.Compact(result.Text),
		Metadata: []rawjson.Pair{{Key: "kind", Value: rawjson.Compact(turn.KindMerge)}},
		Own:      []rawjson.Pair{{Key: merge.Own, Value: rawjson.Compact(result.Merged)}},
	}
	op := operation.Operation{Verb: "merge", Args: store.Args{"branch": branch, "from": result.Merged.Session, "message": id}}
	if o.Files {
		return w.mergeFiles(ctx, m, add, op, o)
	}
	if o.DryRun {
		return &result, nil
	}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*merge.Result, error) {
		now, a, err := m.again(tx.View, add)
		if err != nil {
			return nil, err
		}
		written, err := a.Stage(tx)
		now.Session, now.Message = session.ID(written), session.ID(id)
		return now, err
	})
}

// mergeFiles writes a merge with files, or returns what it would do.
func (w *Workspace) mergeFiles(ctx context.Context, m *merging, add store.Message, op operation.Operation, o merge.Options) (*merge.Result, error) {
	o.Restore.DryRun = o.DryRun
	pos, done, err := folders.Merge(ctx, w.store, o.Dir, op, o.Restore, func(v *store.View) (folders.Stretch, *folders.Addition, error) {
		_, a, err := m.again(v, add)
		if err != nil {
			return folders.Stretch{}, nil, err
		}
		p, err := m.branchIn(v)
		return folders.Stretch{Line: p.Line, Path: p.nodes, From: m.base + 1}, a, err
	})
	if err != nil {
		return nil, err
	}
	result := m.result
	if result.Files = pos.Files; done != nil {
		result.Session, result.Message = session.ID(pos.Head.Session), pos.Head.Message
		moveTo(&result, session.ID(done.Parent))
	}
	return &result, nil
}

func checkMerge(o *merge.Options) error {
	if o.Summary != "" && o.Model != nil {
		return &fault.Error{Code: fault.Usage, Message: "either a summary is given or a model writes it"}
	}
	if o.Summary != "" && strings.TrimSpace(o.Summary) == "" {
		return &fault.Error{Code: fault.Usage, Message: "the summary is empty", Next: fault.Do(fault.GiveText)}
	}
	return store.CheckUTF8("summary", o.Summary)
}

// A merging is a merge that is planned.
type merging struct {
	result   merge.Result
	material digest.Material
	into     string // the REF of the target
	base     int    // index in the path of the branch of the message before the first merged one
	branch   struct{ session, message string }
	brings   []string // ids
}

// planMerge plans the merge of the path to a REF.
func planMerge(v *store.View, branch, into string) (*merging, error) {
	m := &merging{into: into}
	if into == "" {
		m.into = store.HeadName
	}
	from, err := v.Place(branch, false)
	if err != nil {
		return nil, err
	}
	if from.Node < 0 {
		return nil, &fault.Error{Code: fault.Refused, Message: from.SessionID() + " is empty: there is nothing to merge", Next: fault.Do(fault.AppendMessage)}
	}
	m.branch.session, m.branch.message = from.SessionID(), from.MessageID()
	target, err := v.Place(m.into, false)
	if err != nil {
		return nil, err
	}
	a, b := &branchPath{Place: target, nodes: target.Path(target.Node)}, &branchPath{Place: from, nodes: from.Path(from.Node)}
	plan, err := planPaths(v, a, b)
	if err != nil {
		return nil, err
	}
	m.base = plan.Base
	m.result = merge.Result{
		Parent: session.ID(target.MessageID()), ForkedFrom: session.ID(target.Frozen()),
		Nothing: plan.Nothing, Title: v.Overview(from.SessionID()).Title,
	}
	if plan.Nothing != "" {
		return m, m.name(v, a, b)
	}
	return m, m.describe(v, a, b, plan.Brings)
}

// planPaths plans the merge of the path b into the path a.
func planPaths(v *store.View, a, b *branchPath) (merge.Plan, error) {
	if err := part(v, a, b); err != nil {
		return merge.Plan{}, err
	}
	s := &stepReader{View: v, raws: map[string][]byte{}, times: map[string]int{}}
	target, err := s.of(a.Line, a.nodes, 0)
	if err != nil {
		return merge.Plan{}, err
	}
	branch, err := s.of(b.Line, b.nodes, b.from)
	if err != nil {
		return merge.Plan{}, err
	}
	within, err := s.stoodFor(append(slices.Clone(target), branch...))
	if err != nil {
		return merge.Plan{}, err
	}
	s.addContents(target)
	s.addContents(branch)
	for _, list := range within {
		s.addContents(list)
	}
	return merge.Make(target, branch, within, a.from, b.from), nil
}

// A stepReader reads the messages on which the plan of a merge depends.
type stepReader struct {
	*store.View
	raws  map[string][]byte // by id, of messages with a time of their own
	times map[string]int    // how many of them have a time
}

// of returns the messages of a path. Of those before index from it returns only the ids.
func (s *stepReader) of(l *store.Line, nodes []int, from int) ([]merge.Step, error) {
	list := make([]merge.Step, len(nodes))
	for i, n := range nodes {
		list[i].ID = l.ID(n)
	}
	beyond, err := s.Messages(l, nodes[from:])
	for i, m := range beyond {
		s.note(m)
		own := gjson.GetBytes(m.Raw, "metadata.bough")
		step := &list[from+i]
		step.Merged = own.Get(merge.Own + ".message_id").Str
		step.Copied = own.Get(store.OwnPicked + ".message_id").Str
		step.First, step.Last = own.Get(ownSummary+".first").Str, own.Get(ownSummary+".last").Str
		switch {
		case step.Merged != "":
			step.Session, step.Base = own.Get(merge.Own+".session_id").Str, own.Get(merge.Own+".base").Str
		case step.First != "":
			step.Session = own.Get(ownSummary + ".session_id").Str
		}
	}
	return list, err
}

// note remembers a message, for addContents.
func (s *stepReader) note(m session.Message) {
	if at := copymerge.OwnTime(m.Raw); at != "" && s.raws[m.ID] == nil {
		s.raws[m.ID] = m.Raw
		s.times[at]++
	}
}

// addContents sets the contents of messages, as far as others may have the same ones: of those with
// the time of another message.
func (s *stepReader) addContents(list []merge.Step) {
	for i := range list {
		if raw := s.raws[list[i].ID]; raw != nil && s.times[copymerge.OwnTime(raw)] > 1 {
			list[i].Content = string(copymerge.Content(raw))
		}
	}
}

// stoodFor returns the messages that the merges and summaries among some messages stand for, and
// those among these, by the ids of the merges and summaries. What no longer exists is omitted.
func (s *stepReader) stoodFor(open []merge.Step) (map[string][]merge.Step, error) {
	within := map[string][]merge.Step{}
	for len(open) > 0 {
		step := open[0]
		open = open[1:]
		if _, done := within[step.ID]; done || step.Session == "" {
			continue
		}
		inner, err := s.standsFor(step)
		if err != nil {
			return nil, err
		}
		within[step.ID] = inner
		open = append(open, inner...)
	}
	return within, nil
}

// standsFor returns the messages that a merge or a summary stands for, nil if they are not known.
func (s *stepReader) standsFor(step merge.Step) ([]merge.Step, error) {
	if !s.Has(step.Session) {
		return nil, nil
	}
	p, err := s.PlaceAt(step.Session, cmp.Or(step.Merged, step.Last), true)
	if store.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	nodes, from := p.Path(p.Node), 0
	if edge := cmp.Or(step.Base, step.First); edge != "" {
		from = slices.IndexFunc(nodes, func(n int) bool { return p.ID(n) == edge })
		if from < 0 {
			return nil, nil
		}
	}
	if step.Base != "" {
		from++
	}
	return s.of(p.Line, nodes[from:], 0)
}

// name names a branch that brings nothing and is inside the conversation of the target by its
// first words.
func (m *merging) name(v *store.View, a, b *branchPath) error {
	if b.from == len(b.nodes) || v.LineID(a.Line) != v.LineID(b.Line) {
		return nil
	}
	first, err := v.Message(b.Line, b.nodes[b.from])
	m.result.Title = spoken.Words(first)
	return err
}

// describe sets what the path b brings into the path a: messages with some indexes.
func (m *merging) describe(v *store.View, a, b *branchPath, brings []int) error {
	first := max(m.base, 0)
	all, err := b.beyond(v, first)
	if err != nil {
		return err
	}
	merged := &merge.Merged{Session: v.LineID(b.Line), Message: b.MessageID()}
	if m.base >= 0 {
		m.material.Base = &all[0]
		merged.Base = session.ID(all[0].ID)
	}
	var list []cited.Message
	for _, i := range brings {
		list = append(list, all[i-first])
	}
	merged.Messages = len(list)
	if v.LineID(a.Line) == v.LineID(b.Line) { // both have the same title
		m.result.Title = spoken.Words(list[0].Message)
	}
	m.material.Title, m.material.Messages, m.material.Labels = m.result.Title, list, map[string][]string{}
	labelled := v.BookmarksIn(b.Line)
	for _, c := range list {
		m.brings = append(m.brings, c.ID)
		for _, l := range labelled[c.ID] {
			m.material.Labels[c.ID] = append(m.material.Labels[c.ID], l.Label)
		}
	}
	changed, err := folders.Changed(v, []folders.Stretch{{Line: b.Line, Path: b.nodes, From: m.base + 1}})
	if err == nil && changed[0] != nil {
		m.material.Files = &files.Diff{Changes: changed[0].Changes}
	}
	m.result.Merged = merged
	return err
}

// write sets the text of the merge.
func (m *merging) write(ctx context.Context, o *merge.Options) error {
	r := &m.result
	switch {
	case o.Summary != "":
		r.By, r.Text = merge.BySummary, o.Summary
	case o.Model == nil:
		r.By, r.Text = merge.ByDigest, m.material.Text()
	case o.DryRun:
		r.By, r.Prompt = merge.ByModel, m.material.Prompt()
	default:
		text, _, err := cited.Ask(ctx, o.Model, o.ModelID, m.material.Prompt(), m.material.Sources())
		if wrong, ok := errors.AsType[*cited.Error](err); ok {
			err = &fault.Error{Code: fault.Refused, Message: wrong.Error(), Hint: "nothing was merged; try again, or write the summary yourself", Err: wrong}
		}
		if err != nil {
			return err
		}
		r.By, r.Text = merge.ByModel, text
	}
	return nil
}

// branchIn returns the path of the branch as it was planned.
func (m *merging) branchIn(v *store.View) (*branchPath, error) {
	p, err := v.PlaceAt(m.branch.session, m.branch.message, false)
	if err != nil {
		return nil, err
	}
	return &branchPath{Place: p, nodes: p.Path(p.Node)}, nil
}

// again plans the merge again, and returns what it does now and the message to add. It refuses if
// the merge would bring other messages.
func (m *merging) again(v *store.View, add store.Message) (*merge.Result, *folders.Addition, error) {
	target, err := v.Place(m.into, false)
	if err != nil {
		return nil, nil, err
	}
	b, err := m.branchIn(v)
	if err != nil {
		return nil, nil, err
	}
	plan, err := planPaths(v, &branchPath{Place: target, nodes: target.Path(target.Node)}, b)
	if err != nil {
		return nil, nil, err
	}
	var brings []string
	for _, i := range plan.Brings {
		brings = append(brings, b.ID(b.nodes[i]))
	}
	if plan.Nothing != "" || !slices.Equal(brings, m.brings) {
		return nil, nil, &fault.Error{Code: fault.Refused, Message: "the target changed meanwhile, and the merge would bring other messages", Hint: "nothing was merged; try again"}
	}
	now := m.result
	moveTo(&now, session.ID(target.MessageID()))
	now.ForkedFrom = session.ID(target.Frozen())
	return &now, &folders.Addition{
		Session: target.SessionID(), Parent: target.MessageID(), Message: add, Advance: store.IsHeadName(m.into) && m.into != "-",
	}, nil
}

// moveTo sets the message before the merge.
func moveTo(r *merge.Result, parent session.ID) {
	if parent != r.Parent {
		r.Parent, r.MovedFrom = parent, r.Parent
	}
}
