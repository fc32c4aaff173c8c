package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/cited"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/compare"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// Compare compares the paths to two or more REFs: from the last message that all of them have,
// as [Workspace.Diff] finds it, what each of them has beyond.
func (w *Workspace) Compare(ctx context.Context, refs []string, o compare.Options) (_ *compare.Comparison, err error) {
	defer func() { err = store.Explained(err) }()
	if len(refs) < 2 || len(refs) > compare.Max {
		return nil, &fault.Error{Code: fault.Usage, Message: "a comparison needs two paths or more, and at most 16"}
	}
	return store.Read(ctx, w.store, func(v *store.View) (*compare.Comparison, error) {
		paths := make([]*branchPath, len(refs))
		for i, ref := range refs {
			p, err := v.Place(ref, o.Partial)
			if err != nil {
				return nil, err
			}
			paths[i] = &branchPath{Place: p, nodes: p.Path(p.Node)}
			for j, other := range paths[:i] {
				if p.SessionID() == other.SessionID() && p.Node == other.Node {
					return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%s and %s are the same place", refs[j], refs[i])}
				}
			}
		}
		shared, err := partAll(v, paths)
		if err != nil {
			return nil, err
		}
		c := &compare.Comparison{Shared: shared, Sides: make([]compare.Side, len(paths))}
		if first := paths[0]; shared > 0 {
			node := first.nodes[first.from-1]
			m, err := v.Message(first.Line, node)
			if err != nil {
				return nil, err
			}
			c.Common, c.CommonMessage = session.ID(m.ID), &m
			c.CommonRef = v.Naming(first.SessionID(), first.Line).Ref(m.ID)
		}
		var stretches []folders.Stretch
		for i, p := range paths {
			if err := sideOf(v, &c.Sides[i], refs[i], p, o); err != nil {
				return nil, err
			}
			stretches = append(stretches, folders.Stretch{Line: p.Line, Path: p.nodes, From: p.from})
		}
		changed, err := folders.Changed(v, stretches)
		for i := range changed {
			c.Sides[i].Files = changed[i]
		}
		return c, err
	})
}

// A branchPath is the path to a place.
type branchPath struct {
	*store.Place
	nodes []int
	from  int // index of the first node beyond the common message
}

// part sets where two paths part.
func part(v *store.View, a, b *branchPath) (err error) {
	a.from, b.from, err = parting(v, a.Line, a.nodes, b.Line, b.nodes)
	return err
}

// partAll sets where all paths part, and returns how many messages they have in common.
func partAll(v *store.View, paths []*branchPath) (shared int, err error) {
	first := paths[0]
	at := len(first.nodes)
	for _, p := range paths[1:] {
		if err := part(v, first, p); err != nil {
			return 0, err
		}
		at = min(at, first.from)
	}
	common := &branchPath{Place: first.Place, nodes: first.nodes[:at]}
	for _, p := range paths[1:] {
		if err := part(v, common, p); err != nil {
			return 0, err
		}
	}
	first.from = at
	return at, nil
}

// beyond returns the messages of a path from an index on, with their REFs.
func (p *branchPath) beyond(v *store.View, from int) ([]cited.Message, error) {
	names := v.Naming(p.SessionID(), p.Line)
	messages, err := v.Messages(p.Line, p.nodes[from:])
	list := make([]cited.Message, len(messages))
	for i, m := range messages {
		list[i] = cited.Message{Ref: names.Ref(m.ID), Message: m}
	}
	return list, err
}

// sideOf describes a path of a comparison.
func sideOf(v *store.View, s *compare.Side, ref string, p *branchPath, o compare.Options) error {
	entry := entryOf(v, p.SessionID())
	*s = compare.Side{
		Ref: ref, Session: v.LineID(p.Line), Message: session.ID(p.MessageID()), Title: entry.Title, Kind: entry.Kind,
		Models: []string{}, Messages: []compare.Message{},
	}
	s.EndRef = shortRef(v, p.Place)
	owner, err := v.Owner(s.Session)
	if err != nil {
		return err
	}
	if owner != nil {
		s.Agent = owner.Name
	}
	list, err := p.beyond(v, p.from)
	if err != nil {
		return err
	}
	for _, m := range list {
		own := gjson.GetBytes(m.Raw, "metadata.bough")
		c := compare.Message{ID: m.ID, Ref: m.Ref, Role: m.Role(), Model: modelOf(own), Text: spoken.Words(m.Message), Merged: m.IsMerge(), Message: m.Message}
		c.Time, _ = m.Time()
		s.Messages = append(s.Messages, c)
		if spoken.Asks(m.Message) {
			s.Turns++
		}
		if c.Model != "" && !slices.Contains(s.Models, c.Model) {
			s.Models = append(s.Models, c.Model)
		}
		if o.Tokens != nil {
			s.Tokens += content.Read(m.Raw).Tokens(o.Tokens)
		}
		if outcome := own.Get("exploration"); outcome.IsObject() {
			s.Outcome = outcomeOf(m.ID, outcome)
		}
	}
	return nil
}

// modelOf returns the model that wrote a message, "" if it is unknown. own is its
// metadata.bough.
func modelOf(own gjson.Result) string {
	if id := own.Get("model_id").Str; id != "" {
		return id
	}
	return own.Get("source.model").Str
}

// outcomeOf returns the outcome in a message of an exploration.
func outcomeOf(message string, own gjson.Result) *compare.Outcome {
	o := &compare.Outcome{Exploration: own.Get("id").Str, Message: message}
	if c := own.Get("confidence"); c.Type == gjson.Number {
		n := c.Float()
		o.Confidence = &n
	}
	if s := own.Get("success"); s.IsBool() {
		ok := s.Bool()
		o.Success = &ok
	}
	if m := own.Get("metrics"); m.IsObject() {
		o.Metrics = json.RawMessage(m.Raw)
	}
	return o
}
