package workspace

import (
	"slices"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/suggest"
)

// forks collects the forks of all lines that are wanted.
func (s *suggester) forks() error {
	for _, e := range s.Index.Entries() {
		if err := s.Ctx.Err(); err != nil {
			return err
		}
		if e.Kind() != session.Root && e.Kind() != session.Branch || s.results[e.ID] {
			continue
		}
		origin := ""
		if e.Kind() == session.Branch {
			origin = s.originLine(e.ID)
		}
		if !s.wants(e.ID, origin) {
			continue
		}
		l, err := s.Line(e.ID, false)
		if err != nil {
			s.Store.Opts.Note(err.Error())
			continue
		}
		if s.wants(e.ID) {
			s.inside(e, l)
		}
		if origin == "" {
			continue
		}
		if from, err := s.Line(origin, false); err == nil { // else its own turn notes the error
			s.between(e, l, from)
		}
	}
	return nil
}

// originLine returns the first file of the line that a branch, or the checkpoint of which it is
// a branch, was made from, "" if it is gone.
func (s *suggester) originLine(id string) string {
	lineage, err := s.LineageOf(id)
	if err != nil {
		return ""
	}
	for _, at := range slices.Backward(lineage[:len(lineage)-1]) {
		if e := s.Index.Entry(at); e != nil && e.Kind() != session.Checkpoint {
			return s.FirstFile(at)
		}
	}
	return ""
}

// inside collects the forks inside a line: the newest branch of each reply to a message of the
// path that the conversation took.
func (s *suggester) inside(e *index.Entry, l *store.Line) {
	leaves := l.Leaves()
	if len(leaves) < 2 {
		return
	}
	main := l.Path(l.Newest(0))
	depth := make(map[int]int, len(main)) // on the main path, from 1
	for i, n := range main {
		depth[n] = i + 1
	}
	newest := map[int][]int{} // by the first node of a branch, the path from there
	var firsts []int
	for _, leaf := range byTime(s.View, l, leaves, l.Time) {
		var path []int
		at := leaf.node
		for ; at >= 0 && depth[at] == 0; at = l.Parent(at) {
			path = append(path, at)
		}
		if at < 0 || len(path) == 0 {
			continue // the main path itself, or one without a common message
		}
		slices.Reverse(path)
		if newest[path[0]] == nil {
			firsts = append(firsts, path[0])
		}
		newest[path[0]] = path
	}
	for _, first := range firsts {
		s.add(e, l, newest[first], l, main[depth[l.Parent(first)]:], l.ID(l.Parent(first)))
	}
}

// between collects the fork of a branch and the line from which it was made.
func (s *suggester) between(e *index.Entry, l, from *store.Line) {
	branch, main := l.Path(l.Newest(0)), from.Path(from.Newest(0))
	common := 0
	for common < min(len(branch), len(main)) && l.ID(branch[common]) == from.ID(main[common]) {
		common++
	}
	if common > 0 && common < len(branch) && common < len(main) {
		s.add(e, l, branch[common:], from, main[common:], l.ID(branch[common-1]))
	}
}

// add adds the fork of the path branch of l and the path main of from, both after base, if
// something can be suggested about it.
func (s *suggester) add(e *index.Entry, l *store.Line, branch []int, from *store.Line, main []int, base string) {
	f := &foundFork{branch: steps(l, branch), main: steps(from, main)}
	end := branch[len(branch)-1]
	if s.results[l.ID(end)] {
		return
	}
	f.Fork = suggest.Fork{
		Tip: placeOfNode(l, end), Main: placeOfNode(from, main[len(main)-1]), Base: base,
		Title: s.Title(e), Time: store.Instant(momentOf(s.View, l, end, l.Time).at),
		Length: plain(f.branch), MainLength: plain(f.main),
	}
	head, _ := s.HeadIn(l)
	labelled := s.BookmarksIn(l)
	for i, n := range branch {
		id := f.branch[i].id
		f.Head = f.Head || n == head || s.heads[id]
		f.Bookmarked = f.Bookmarked || len(labelled[id]) > 0
	}
	if f.Kind() != "" {
		family := s.familyOf(e.ID)
		family.forks = append(family.forks, f)
	}
}

func placeOfNode(l *store.Line, n int) suggest.Place {
	return suggest.Place{Session: l.Parts[l.Part(n)].ID, Message: session.ID(l.ID(n))}
}

func steps(l *store.Line, nodes []int) []step {
	list := make([]step, len(nodes))
	for i, n := range nodes {
		calls, results := l.Tools(n)
		list[i] = step{l.ID(n), len(calls) == 0 && len(results) == 0}
	}
	return list
}

// plain returns the number of plain steps.
func plain(list []step) int {
	n := 0
	for _, s := range list {
		if s.plain {
			n++
		}
	}
	return n
}
