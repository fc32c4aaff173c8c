package page

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/internal/tokens"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/compare"
)

const (
	// maxCompared is how many messages of each path a comparison shows.
	maxCompared = 100

	// maxSides is how many paths it has.
	maxSides = 3
)

// A comparison is some paths side by side, from where they part.
type comparison struct {
	Sides  []comparedSide
	Common *comparedMessage // the last common message, nil if there is none
	Shared int              // how many messages they have in common
	Files  string           // the address of how the files of two sides differ, "" if one has no state
	More   string           // the address that offers another side, "" if there are enough

	Refs    []string // that a model is asked about, nil if it is not offered
	Models  bool     // the server has models
	Summary *comparedSummary
	Here    string

	data *compare.Comparison
}

// A comparedSummary is what a model says about a comparison.
type comparedSummary struct {
	Model string
	Body  template.HTML
	Cites []citedMessage
}

// A citedMessage is a message that a model cites.
type citedMessage struct {
	Ref, Words, Href string
}

// summaryOf returns what a model said about a comparison, with the messages that it cites.
func summaryOf(s *compare.Summary, d *compare.Comparison, now time.Time) *comparedSummary {
	out := &comparedSummary{Model: s.Model, Body: newRenderer(d.Sides[0].Session, now).markdown(s.Text)}
	for _, ref := range s.Cites {
		one := citedMessage{Ref: ref}
		for _, side := range d.Sides {
			for _, m := range side.Messages {
				if m.Ref == ref {
					one.Words, one.Href = m.Text, messageAddress(side.Session, m.ID)
				}
			}
			if ref == d.CommonRef && d.CommonMessage != nil {
				one.Words, one.Href = spoken.Words(*d.CommonMessage), messageAddress(side.Session, d.CommonMessage.ID)
			}
		}
		out.Cites = append(out.Cites, one)
	}
	return out
}

// SharedText is how many messages the paths have in common.
func (c *comparison) SharedText() string { return count(c.Shared, "message") }

// A comparedSide is one path of a comparison.
type comparedSide struct {
	Number   int // from 1
	Title    string
	Words    string // the first words of what it added, if another side has the title too
	Href     string
	Kind     session.Kind
	Added    string
	Authors  string // "" if they are unknown
	Outcome  string // of an exploration, "" without one
	Changed  []plannedPath
	Changes  string // how many files it changed, "" if that is unknown
	Files    string // the address of these changes
	Messages []*comparedMessage
	Hidden   string // how many messages are not shown, "" if all are
	Merge    string // the address of the plan to merge it, "" if it has nothing of its own
	Into     string // the title of the side that Merge proposes
}

// A comparedMessage is a message of a comparison. If Segments is not nil, they are shown
// instead of the body.
type comparedMessage struct {
	message
	Segments []segment
	Added    bool // changed segments are insertions, else deletions
}

// comparisonOf returns the comparison of some REFs.
func comparisonOf(ctx context.Context, w *workspace.Workspace, refs []string, now time.Time) (*comparison, error) {
	var counter tokens.Counter
	d, err := w.Compare(ctx, refs, compare.Options{Tokens: counter.Count, ReadOptions: partial()})
	if err != nil {
		return nil, err
	}
	c := &comparison{Shared: d.Shared, data: d}
	if d.CommonMessage != nil {
		c.Common = newRenderer(d.Sides[0].Session, now).compared(*d.CommonMessage)
	}
	for i := range d.Sides {
		c.Sides = append(c.Sides, sideOf(d, i, now))
	}
	if len(refs) == 2 {
		markSides(c.Sides[0].Messages, c.Sides[1].Messages, d.Sides[0].Messages, d.Sides[1].Messages)
	}
	if len(refs) < maxSides {
		c.More = compareAddress(refs...) + "&more=1"
	}
	return c, nil
}

// sideOf returns side i of a comparison.
func sideOf(d *compare.Comparison, i int, now time.Time) comparedSide {
	of := &d.Sides[i]
	s := comparedSide{
		Number: i + 1, Title: clip(of.Title), Kind: of.Kind, Authors: authorsText(of), Outcome: outcomeText(of.Outcome),
		Href:  location{Checkpoint: of.Kind == session.Checkpoint, Session: of.Session, Leaf: string(of.Message)}.String(),
		Added: count(len(of.Messages), "message") + " · " + count(of.Turns, "turn") + " · " + count(of.Tokens, "token"),
	}
	titled := func(other compare.Side) bool { return other.Title == of.Title }
	if len(of.Messages) > 0 {
		if slices.ContainsFunc(d.Sides[:i], titled) || slices.ContainsFunc(d.Sides[i+1:], titled) {
			s.Words = of.Messages[0].Text
		}
		other := d.Sides[max(0, 1-i)]
		s.Into = clip(other.Title)
		s.Merge = mergeAddress(refOf(of.Session, string(of.Message)), refOf(other.Session, string(other.Message)))
	}
	if f := of.Files; f != nil {
		s.Changes = count(len(f.Changes), "file") + " changed"
		s.Files = differenceAddress(f.From, f.To)
		for _, change := range f.Changes[:min(len(f.Changes), maxPlanned)] {
			s.Changed = append(s.Changed, plannedPath{Path: change.Path, Why: change.Kind})
		}
	}
	r := newRenderer(of.Session, now)
	for _, m := range of.Messages[:min(len(of.Messages), maxCompared)] {
		s.Messages = append(s.Messages, r.compared(m.Message))
	}
	if n := len(of.Messages) - maxCompared; n > 0 {
		s.Hidden = count(n, "more message") + " in the conversation"
	}
	return s
}

// authorsText returns who wrote a side: models, and the agent that owns it.
func authorsText(s *compare.Side) string {
	list := slices.Clone(s.Models)
	if s.Agent != "" {
		list = append(list, "agent "+s.Agent)
	}
	return strings.Join(list, ", ")
}

// outcomeText describes the result of an exploration, "" for none.
func outcomeText(o *compare.Outcome) string {
	if o == nil {
		return ""
	}
	var list []string
	if o.Confidence != nil {
		list = append(list, fmt.Sprintf("confidence %.0f %%", math.Round(100**o.Confidence)))
	}
	if o.Success != nil && *o.Success {
		list = append(list, "succeeded")
	} else if o.Success != nil {
		list = append(list, "did not succeed")
	}
	for _, m := range metricsOf(o.Metrics) {
		list = append(list, m.Name+" "+m.Value)
	}
	return cmp.Or(strings.Join(list, " · "), "without a confidence")
}

// markSides marks the differences of messages at the same position.
func markSides(x, y []*comparedMessage, a, b []compare.Message) {
	for i := range min(len(x), len(y)) {
		if x[i].Class == y[i].Class {
			mark(x[i], y[i], a[i].Message, b[i].Message)
		}
	}
}

func (r *renderer) compared(m session.Message) *comparedMessage {
	shown := r.show(m)
	shown.Link = messageAddress(r.session, m.ID)
	if m.IsMerge() {
		shown.Tags = append(shown.Tags, "merge")
	}
	return &comparedMessage{message: shown}
}

// A choice is a path that another one can be compared with, or merged into.
type choice struct {
	Ref   string
	Title string
	Words string
	About string
	Href  string // of the comparison
}

// Text names the choice in one line.
func (c choice) Text() string {
	if c.Words == "" {
		return c.Title
	}
	return c.Title + ": " + c.Words
}

// choices returns what a REF can be compared with: the leaves of its conversation, and the
// sessions that were copied from it or that it was copied from.
func choices(ctx context.Context, w *workspace.Workspace, ref string) (title string, list []choice, err error) {
	o := partial()
	shown, err := w.Show(ctx, ref, o)
	if err != nil {
		return "", nil, err
	}
	leaf := ""
	if n := len(shown.Messages); n > 0 {
		leaf = shown.Messages[n-1].ID
	}
	branches, err := w.Branches(ctx, shown.Entry.ID, workspace.BranchesOptions{Messages: true, ReadOptions: o})
	if err != nil {
		return "", nil, err
	}
	for _, l := range branches.Leaves {
		if l.ID == leaf {
			continue
		}
		list = append(list, choice{
			Ref: refOf(shown.Entry.ID, l.ID), Title: "Branch in this conversation",
			Words: cmp.Or(spoken.Words(l.Message), l.Text), About: count(l.Depth, "message"),
		})
	}
	trees, err := w.Tree(ctx, shown.Entry.ID)
	if err != nil {
		return "", nil, err
	}
	eachEntry(trees.Roots, func(e workspace.TreeEntry, _ *workspace.TreeEntry) {
		if e.ID == shown.Entry.ID || e.Kind == session.Continuation {
			return
		}
		list = append(list, choice{Ref: e.ID, Title: clip(e.Title), About: string(e.Kind) + " · " + count(e.MessageCount, "message")})
	})
	return clip(shown.Entry.Title), list, nil
}

// A choosePage offers what some paths can be compared with.
type choosePage struct {
	Title   string
	Refs    []field // of the paths that were chosen, as the address has them
	Name    string  // the parameter of the next one
	Choices []choice
}

// sideNames are the parameters of a comparison.
var sideNames = [maxSides]string{"a", "b", "c"}

// showComparison compares two paths or three, or offers what one can be compared with.
func showComparison(c *request) (view, error) {
	refs := []string{cmp.Or(c.r.FormValue(sideNames[0]), "HEAD")}
	for _, name := range sideNames[1:] {
		if ref := c.r.FormValue(name); ref != "" {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 1 || len(refs) < maxSides && c.r.FormValue("more") != "" {
		return c.choose(refs)
	}
	shown, err := comparisonOf(c.r.Context(), c.workspace, refs, c.opts.Now())
	if err != nil {
		return view{}, err
	}
	if len(refs) == 2 && c.hasFiles(refs[0]) && c.hasFiles(refs[1]) {
		shown.Files = differenceAddress(refs[0], refs[1])
	}
	shown.Refs, shown.Models, shown.Here = refs, c.opts.Models != nil, c.r.URL.RequestURI()
	if s := c.summaries.of(shown.data); s != nil {
		shown.Summary = summaryOf(s, shown.data, c.opts.Now())
	}
	return view{Template: "compare", Title: "Compare " + shown.Sides[0].Title, Data: shown}, nil
}

// choose offers what some paths can be compared with.
func (c *request) choose(refs []string) (view, error) {
	title, list, err := choices(c.r.Context(), c.workspace, refs[0])
	if err != nil {
		return view{}, err
	}
	p := choosePage{Title: title, Name: sideNames[len(refs)]}
	for i, ref := range refs {
		p.Refs = append(p.Refs, field{sideNames[i], ref})
	}
	for _, one := range list {
		if !slices.Contains(refs, one.Ref) {
			one.Href = compareAddress(append(slices.Clip(refs), one.Ref)...)
			p.Choices = append(p.Choices, one)
		}
	}
	return view{Template: "choose", Title: "Compare " + title, Data: p}, nil
}
