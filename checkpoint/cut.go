package checkpoint

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/session"
)

// A ToolCutError says that a cut would separate a tool call from its result.
type ToolCutError struct {
	Message string // where the cut was asked for
	Call    string // the id of the call
	Before  string // the nearest message before that leaves calls whole, "" if none
	After   string // the nearest one after, "" if none
}

func (e *ToolCutError) Error() string {
	return fmt.Sprintf("a cut at %s would part the tool call %s from its result", e.Message, e.Call)
}

// Cut reports whether the path to node at can be cut there: a *[ToolCutError]
// if a result of a call at or before it comes after it. Calls that nothing
// answers are no obstacle.
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
	if !c.parts(at) {
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

// WholeBefore returns the nearest node at or above at where the path can be
// cut, -1 if there is none.
func WholeBefore(t *session.Tree, at int) int { return findCuts(t).before(at) }

// cuts knows for every node of a tree whether the path can be cut there.
type cuts struct {
	tree  *session.Tree
	depth []int
	below []answer // per node, of the calls answered below it the one made highest up
}

// An answer is a result below a node.
type answer struct {
	call  string
	depth int // of the node that makes the call
	via   int // the child below which the result is; none if there is no result
}

const none = -1

// parts reports whether a cut at n would part a call from its result.
func (c *cuts) parts(n int) bool {
	return c.below[n].via != none && c.below[n].depth <= c.depth[n]
}

func (c *cuts) before(n int) int {
	for n >= 0 && c.parts(n) {
		n = c.tree.Parent(n)
	}
	return n
}

// after goes down towards the results that are missing.
func (c *cuts) after(n int) int {
	for c.parts(n) {
		n = c.below[n].via
	}
	return n
}

// findCuts goes once over the tree, root to leaf, with the calls that are open
// on the way, and hands what it finds at each result back up.
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

// A step is a node to be visited, or to be left with what its visit changed.
type step struct {
	node    int
	leaving bool
	changes []change
}

// A change is what open said of a call before a visit; was is none if nothing.
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

// visit opens the calls that a node makes, closes those that it answers, and
// notes at its parent the answer to the call made highest up.
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

// note keeps a at node n if its call is made higher up than those known.
func (c *cuts) note(n int, a answer) {
	if n != none && (c.below[n].via == none || a.depth < c.below[n].depth) {
		c.below[n] = a
	}
}

// handUp tells the parent of n what is answered below n, once all of that is
// known.
func (c *cuts) handUp(n int) {
	parent := c.tree.Parent(n)
	if a := c.below[n]; a.via != none && parent != none && a.depth <= c.depth[parent] {
		a.via = n
		c.note(parent, a)
	}
}
