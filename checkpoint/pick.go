package checkpoint

import (
	"fmt"
	"slices"

	"github.com/bough-dev/bough/session"
)

// A Source is a choice of messages of one path.
type Source struct {
	Tree   *session.Tree
	Path   []int // nodes from the root
	Chosen []int // nodes of Path
}

// A Picked is a message to copy.
type Picked struct {
	Tree *session.Tree
	Node int
	Call string // the tool call because of which it is copied, "" if it was chosen
}

// A PickError reports a tool call that is already on the path to which it would be copied.
type PickError struct {
	Message string // the id of the message that makes the call
	Call    string // the id of the call
}

func (e *PickError) Error() string {
	return fmt.Sprintf("the tool call %s of %s is already on the path", e.Call, e.Message)
}

// Pick returns the messages to copy below node at of t, -1 for none: the chosen ones of each
// source in the order of its path, each once. A message that makes a tool call is copied
// together with the results of the call on the path of its source, and a result with its call,
// unless the call is on the path to at and has no result there.
//
// The error is a *[PickError] if a call would be twice on the resulting path and is not in the
// source. The error is a *[ToolCutError] if a cut at the node at separates a call from its result
// and that result is not among the messages.
func Pick(t *session.Tree, at int, sources []Source) ([]Picked, error) {
	unanswered := map[string]bool{} // calls of the path; false if they have a result
	for _, n := range t.Path(at) {
		use(t, n, unanswered)
	}
	open := map[string]bool{}
	for call, is := range unanswered {
		if is {
			open[call] = true
		}
	}
	type place struct{ file, message string }
	seen := map[place]bool{}
	var list []Picked
	for _, s := range sources {
		tied, repeated := s.ties(open)
		for _, p := range tied {
			key := place{s.Tree.Parts[s.Tree.Part(p.Node)].ID, s.Tree.ID(p.Node)}
			if seen[key] {
				continue
			}
			seen[key] = true
			calls, _ := s.Tree.Tools(p.Node)
			for _, call := range calls {
				if _, known := unanswered[call]; known && !slices.Contains(repeated[p.Node], call) {
					return nil, &PickError{s.Tree.ID(p.Node), call}
				}
			}
			use(s.Tree, p.Node, unanswered)
			list = append(list, p)
		}
	}
	if err := Cut(t, at); err != nil {
		for _, s := range sources {
			for call := range s.openAfter(t, at) {
				delete(open, call)
			}
		}
		for call := range open {
			if unanswered[call] {
				return nil, err
			}
		}
	}
	return list, nil
}

// openAfter returns the calls that have no result on the path of s up to the last chosen message,
// if the message at node at of t is on it.
func (s Source) openAfter(t *session.Tree, at int) map[string]bool {
	chosen := members(s.Path, s.Chosen)
	last, through := -1, false
	for i, n := range s.Path {
		through = through || s.Tree.ID(n) == t.ID(at)
		if chosen[i] {
			last = i
		}
	}
	unanswered := map[string]bool{}
	for i := 0; through && i <= last; i++ {
		use(s.Tree, s.Path[i], unanswered)
	}
	for call, is := range unanswered {
		if !is {
			delete(unanswered, call)
		}
	}
	return unanswered
}

// use adds the calls of a message to unanswered, and marks those that it answers.
func use(t *session.Tree, n int, unanswered map[string]bool) {
	calls, results := t.Tools(n)
	for _, call := range results {
		if _, made := unanswered[call]; made {
			unanswered[call] = false
		}
	}
	for _, call := range calls {
		unanswered[call] = !slices.Contains(results, call)
	}
}

// ties returns the chosen messages with those that they need, in the order of the path, and the
// calls of messages whose ids earlier messages of the path have too. A result does not need its
// call if it is in open.
func (s Source) ties(open map[string]bool) (list []Picked, repeated map[int][]string) {
	bonds, repeated := bondsOf(s.Tree, s.Path)
	chosen := members(s.Path, s.Chosen)
	skip := func(b bond) bool { return open[b.call] && !chosen[b.made] }
	for i, call := range tie(bonds, chosen, skip) {
		if chosen[i] || call != "" {
			p := Picked{Tree: s.Tree, Node: s.Path[i]}
			if !chosen[i] {
				p.Call = call
			}
			list = append(list, p)
		}
	}
	return list, repeated
}

// members reports for each node of path whether it is in list.
func members(path, list []int) []bool {
	in := make(map[int]bool, len(list))
	for _, n := range list {
		in[n] = true
	}
	found := make([]bool, len(path))
	for i, n := range path {
		found[i] = in[n]
	}
	return found
}

// A bond is a tool call that the message made of a path makes and the message answered has the
// result of. Both are indexes of the path.
type bond struct {
	call           string
	made, answered int
}

// bondsOf returns the bonds of a path, and the calls of its messages whose ids earlier messages
// of the path have too.
func bondsOf(t *session.Tree, path []int) (list []bond, repeated map[int][]string) {
	repeated = map[int][]string{}
	made := map[string]int{}
	open := map[string]bool{}
	for i, n := range path {
		calls, results := t.Tools(n)
		for _, call := range results {
			if open[call] {
				list = append(list, bond{call, made[call], i})
				open[call] = false
			}
		}
		for _, call := range calls {
			if _, again := made[call]; again {
				repeated[n] = append(repeated[n], call)
			}
			made[call], open[call] = i, !slices.Contains(results, call)
		}
	}
	return list, repeated
}

// tie returns for each message of a path the call that ties it to one of chosen, directly or by
// other messages, "" if there is none. Bonds that skip reports do not count; it may be nil.
func tie(bonds []bond, chosen []bool, skip func(bond) bool) []string {
	ties := make([]string, len(chosen))
	in := func(i int) bool { return chosen[i] || ties[i] != "" }
	for changed := true; changed; {
		changed = false
		for _, b := range bonds {
			if in(b.made) != in(b.answered) && (skip == nil || !skip(b)) {
				changed = true
				if in(b.made) {
					ties[b.answered] = b.call
				} else {
					ties[b.made] = b.call
				}
			}
		}
	}
	return ties
}

// Unpaired returns the messages of list with a tool call that has no result in it, or with a
// result whose call is neither in it nor on the path to at of t.
func Unpaired(t *session.Tree, at int, list []Picked) (unpaired []int) {
	maker := map[string]int{} // the index of the message with the open call, -1 if it is on the path
	for _, n := range t.Path(at) {
		calls, results := t.Tools(n)
		for _, call := range results {
			delete(maker, call)
		}
		for _, call := range calls {
			if !slices.Contains(results, call) {
				maker[call] = -1
			}
		}
	}
	found := make([]bool, len(list))
	for i, p := range list {
		calls, results := p.Tree.Tools(p.Node)
		for _, call := range results {
			if _, open := maker[call]; !open {
				found[i] = !slices.Contains(calls, call) || found[i]
			}
			delete(maker, call)
		}
		for _, call := range calls {
			if !slices.Contains(results, call) {
				maker[call] = i
			}
		}
	}
	for _, i := range maker {
		if i >= 0 {
			found[i] = true
		}
	}
	for i, is := range found {
		if is {
			unpaired = append(unpaired, i)
		}
	}
	return unpaired
}
