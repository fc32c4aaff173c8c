package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// rangeOf resolves a range A..B: the messages of the path to the returned place from the one
// with the index from on, which the path to A has not. Without A these are all, without B the
// path is the one to end. ok is false if text is no range.
func rangeOf(text string, end *store.Place, place func(ref string) (*store.Place, error), v *store.View) (p *store.Place, from int, ok bool, err error) {
	a, b, ok := strings.Cut(text, "..")
	if !ok {
		return nil, 0, false, nil
	}
	failed := func(err error) (*store.Place, int, bool, error) {
		if store.IsNotFound(err) {
			if p, _ := place(text); p != nil { // a title or label with two dots
				return nil, 0, false, nil
			}
		}
		return nil, 0, true, err
	}
	if p = end; b != "" {
		if p, err = place(b); err != nil {
			return failed(err)
		}
	} else if end == nil {
		return nil, 0, true, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("the range %q has no end", text)}
	}
	if a != "" {
		pa, err := place(a)
		if err != nil {
			return failed(err)
		}
		if _, from, err = parting(v, pa.Line, pa.Path(pa.Node), p.Line, p.Path(p.Node)); err != nil {
			return nil, 0, true, err
		}
	}
	if from == len(p.Path(p.Node)) {
		return nil, 0, true, &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("the range %q has no messages", text), Hint: "A..B are the messages after A up to B"}
	}
	return p, from, true, nil
}

// onPath returns the node of a message of the path to p. name is its id, a unique prefix of one,
// or a REF.
func onPath(v *store.View, p *store.Place, name string) (int, error) {
	node, err := p.Lookup(name)
	if err != nil {
		other, failed := v.Place(name, false)
		if failed != nil || other.Node < 0 {
			return -1, cmp.Or(err, failed)
		}
		nodes := p.Find(other.MessageID())
		if len(nodes) != 1 {
			return -1, notOnPath(v, name, p)
		}
		node = nodes[0]
	}
	if !slices.Contains(p.Path(p.Node), node) {
		return -1, notOnPath(v, name, p)
	}
	return node, nil
}

func notOnPath(v *store.View, name string, p *store.Place) error {
	path := cmp.Or(shortRef(v, p), p.SessionID())
	return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("the message %s is not on the path to %s", name, path), Next: fault.Do(fault.ShowPath, path)}
}

// turnIn returns the nodes of the turn of a message in a path: from the message of the user at
// it or before it to the last one before the next message of the user.
func turnIn(v *store.View, l *store.Line, path []int, node int) ([]int, error) {
	byPerson := func(i int) (bool, error) {
		m, err := v.Message(l, path[i])
		return err == nil && spoken.ByPerson(m), err
	}
	at := slices.Index(path, node)
	first := at
	for ; first >= 0; first-- {
		if begins, err := byPerson(first); begins || err != nil {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	if first < 0 {
		return nil, &fault.Error{
			Code: fault.NotFound, Message: fmt.Sprintf("the message %s is in no turn: there is no message of the user at it or before it", l.ID(node)),
			Hint: "a turn begins with a message of the user",
		}
	}
	last := at + 1
	for ; last < len(path); last++ {
		if ends, err := byPerson(last); ends || err != nil {
			if err != nil {
				return nil, err
			}
			break
		}
	}
	return path[first:last], nil
}
