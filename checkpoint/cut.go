package checkpoint

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/session"
)

// A ToolCutError reports that a cut would separate a tool call from its result.
type ToolCutError struct {
	Message string // the id of the message of the requested cut
	Call    string // the id of the call
	Before  string // the nearest message before that separates no call, "" if none
	After   string // the nearest message after that separates no call, "" if none
}

func (e *ToolCutError) Error() string {
	return fmt.Sprintf("a cut at %s would separate the tool call %s from its result", e.Message, e.Call)
}

// Cut returns a *[ToolCutError] if a cut at node at would separate a tool call at
// or before it from a later result. Calls without a result do not matter.
func Cut(t *session.Tree, at int) error {
	if at < 0 || t.IsLeaf(at) {
		return nil
	}
	open := map[string]bool{} // at the cut
	for _, run := range t.Runs(at) {
		run.Part.OpenCalls(run.From, run.To, open)
	}
	if len(open) == 0 {
		return nil
	}
	c := findCuts(t)
	if !c.separates(at) {
		return nil
	}
	err := &ToolCutError{Message: t.ID(at), Call: c.below[at].call}
	if before := c.before(at); before >= 0 {
		err.Before = t.ID(before)
	}
	if after := c.after(at); after >= 0 {
		err.After = t.ID(after)
	}
	return err
}

// WholeBefore returns the node at or its nearest ancestor where Cut returns nil, or
// -1.
func WholeBefore(t *session.Tree, at int) int { return findCuts(t).before(at) }

// cuts records for every node of a tree whether the path can be cut there.
type cuts struct {
	tree  *session.Tree
	depth []int
	below []answer // per node, the answer below it whose call is nearest to the root
}

// An answer is the result of a call below a node.
type answer struct {
	call  string
	depth int // of the node that makes the call
	via   int // the child below which the result is, or none
}

const none = -1

// separates reports whether a cut at n would separate a call from its result.
func (c *cuts) separates(n int) bool {
	return c.below[n].via != none && c.below[n].depth <= c.depth[n]
}

func (c *cuts) before(n int) int {
	for n >= 0 && c.separates(n) {
		n = c.tree.Parent(n)
	}
	return n
}

// after returns the nearest descendant of n, towards the missing results, that
// separates no call.
func (c *cuts) after(n int) int {
	for c.separates(n) {
		n = c.below[n].via
	}
	return n
}

// findCuts walks the tree once from root to leaf with the set of open calls, and
// propagates the results that it finds back towards the root.
func findCuts(t *session.Tree) *cuts {
	c := &cuts{t, t.Depths(), make([]answer, t.Len())}
	children := t.Children()
	open := map[string]int{} // depth of the message that makes the call
	var stack []step
	for n := t.Len() - 1; n >= 0; n-- {
		c.below[n].via = none
		if t.Parent(n) == none {
			stack = append(stack, step{node: n})
		}
	}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.leaving {
			s.restore(open)
			c.handUp(s.node)
			continue
		}
		stack = append(stack, c.visit(s.node, open))
		for _, child := range children[s.node] {
			stack = append(stack, step{node: child})
		}
	}
	return c
}

// A step is a node to visit, or to leave by undoing the changes of its visit.
type step struct {
	node    int
	leaving bool
	changes []change
}

// A change is the depth of a call in open before a visit, none if it was absent.
type change struct {
	call string
	was  int
}

func (s *step) restore(open map[string]int) {
	for i := len(s.changes) - 1; i >= 0; i-- {
		if ch := s.changes[i]; ch.was == none {
			delete(open, ch.call)
		} else {
			open[ch.call] = ch.was
		}
	}
}

// visit adds the calls of a node to open, removes those that it answers, and
// records at its parent the answer whose call is nearest to the root.
func (c *cuts) visit(n int, open map[string]int) step {
	leave := step{node: n, leaving: true}
	calls, answers := c.tree.Tools(n)
	set := func(call string, depth int) {
		was, ok := open[call]
		if !ok {
			was = none
		}
		leave.changes = append(leave.changes, change{call, was})
		if depth == none {
			delete(open, call)
		} else {
			open[call] = depth
		}
	}
	for _, call := range answers {
		if made, ok := open[call]; ok {
			c.note(c.tree.Parent(n), answer{call, made, n})
			set(call, none)
		}
	}
	for _, call := range calls {
		if !slices.Contains(answers, call) {
			set(call, c.depth[n])
		}
	}
	return leave
}

// note records the answer a at node n if its call is nearer to the root than the
// known one.
func (c *cuts) note(n int, a answer) {
	if n != none && (c.below[n].via == none || a.depth < c.below[n].depth) {
		c.below[n] = a
	}
}

// handUp propagates the answer below n to its parent, once all nodes below n were
// visited.
func (c *cuts) handUp(n int) {
	parent := c.tree.Parent(n)
	if a := c.below[n]; a.via != none && parent != none && a.depth <= c.depth[parent] {
		a.via = n
		c.note(parent, a)
	}
}
