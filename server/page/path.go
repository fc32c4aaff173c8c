package page

import (
	"cmp"
	"net/url"
	"strconv"

	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace"
)

// chunkSize is how many messages of a path are loaded together.
const chunkSize = 50

// A span is the messages of a path from one index up to but not including another.
type span struct{ From, To int }

// chunksOf divides a path of total messages into chunks: the last chunkSize messages, and
// chunks of chunkSize before them. The chunk before the last may be shorter.
func chunksOf(total int) (list []span) {
	last := max(0, total-chunkSize)
	for from := 0; from < last; from += chunkSize {
		list = append(list, span{from, min(from+chunkSize, last)})
	}
	if total > 0 {
		list = append(list, span{last, total})
	}
	return list
}

// A placement is how the messages of a path lie in the tree of their conversation.
type placement struct {
	session  string
	runs     []workspace.StraightRun
	children map[int][]int // by run, -1 for the roots
	byFirst  map[string]int
	tips     []int // for each run, the run with the newest leaf at or below it
}

// place returns the placement of the messages of a tree.
func place(t *workspace.MessageTree) *placement {
	p := &placement{
		session: t.Session, runs: t.Runs,
		children: map[int][]int{}, byFirst: make(map[string]int, len(t.Runs)), tips: make([]int, len(t.Runs)),
	}
	for i, r := range t.Runs {
		p.children[p.parent(i)] = append(p.children[p.parent(i)], i)
		if _, known := p.byFirst[r.First]; !known {
			p.byFirst[r.First] = i
		}
		p.tips[i] = i
	}
	for i := len(t.Runs) - 1; i >= 0; i-- { // children are behind their parents
		for n, child := range p.children[i] {
			if n == 0 || p.newer(p.tips[child], p.tips[i]) {
				p.tips[i] = p.tips[child]
			}
		}
	}
	return p
}

// newer reports whether the leaf of run a is preferred to that of run b.
func (p *placement) newer(a, b int) bool {
	x, y := p.runs[a], p.runs[b]
	if x.Leaf != y.Leaf { // an incomplete import that was replaced is no leaf
		return x.Leaf
	}
	return x.Newest || !y.Newest && !x.LastActive.Before(y.LastActive)
}

func (p *placement) parent(run int) int {
	if parent := p.runs[run].Parent; parent != nil {
		return *parent
	}
	return -1
}

// tip returns the newest leaf at or below the end of a path, given its ids, and "" for an
// empty path.
func (p *placement) tip(path []string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if run, ok := p.byFirst[path[i]]; ok {
			return p.runs[p.tips[run]].Last
		}
	}
	return ""
}

// A fork is a message that is one of several replies to the same message, or one of
// several beginnings.
type fork struct {
	At, Count  int // At counts from 1
	Prev, Next string
	Siblings   []sibling
	Hidden     int // siblings that are not in Siblings
}

// A sibling is a reply at a fork.
type sibling struct {
	Number  int // from 1
	Href    string
	Role    string
	Words   string
	Current bool
	Below   int // messages from it to the newest leaf below it
}

// maxSiblings is how many siblings a fork lists.
const maxSiblings = 9

// fork returns the fork that a message is at, nil if it has no siblings.
func (p *placement) fork(id string) *fork {
	run, ok := p.byFirst[id]
	if !ok {
		return nil
	}
	runs := p.children[p.parent(run)]
	if len(runs) < 2 {
		return nil
	}
	f := &fork{Count: len(runs)}
	for i, r := range runs {
		if r == run {
			f.At = i + 1
		}
	}
	if f.At > 1 {
		f.Prev = p.href(runs[f.At-2])
	}
	if f.At < len(runs) {
		f.Next = p.href(runs[f.At])
	}
	first := max(0, min(f.At-1-maxSiblings/2, len(runs)-maxSiblings))
	last := min(first+maxSiblings, len(runs))
	for i := first; i < last; i++ {
		r := p.runs[runs[i]]
		f.Siblings = append(f.Siblings, sibling{
			Number: i + 1, Href: p.href(runs[i]), Role: r.Role, Words: cmp.Or(spoken.Words(r.Message), r.Text, "(no text)"),
			Current: runs[i] == run, Below: p.below(runs[i]),
		})
	}
	f.Hidden = len(runs) - (last - first)
	return f
}

// below returns how many messages the path has from the first message of a run to the
// newest leaf below it.
func (p *placement) below(run int) int {
	return p.runs[p.tips[run]].Depth - p.runs[run].Depth + p.runs[run].Count
}

// href returns the address of the first message of a run, on the path to the newest leaf
// below it.
func (p *placement) href(run int) string {
	r := p.runs[run]
	at := ""
	if p.below(run) > chunkSize {
		at = r.First
	}
	return location{Session: p.session, Leaf: p.runs[p.tips[run]].Last, At: at, Anchor: r.First}.String()
}

// A location is the address of a path. All fields but Session may be empty.
type location struct {
	Checkpoint bool // Session is a checkpoint
	Session    string
	Leaf       string
	At         string // a message of the chunk that is loaded
	From       int    // the first message that is loaded, if it is positive
	Anchor     string // the message that is shown first
}

func (l location) String() string {
	u := url.URL{Path: "/c/" + l.Session}
	if l.Checkpoint {
		u.Path = "/k/" + l.Session
	}
	q := url.Values{}
	if l.Leaf != "" {
		q.Set("leaf", l.Leaf)
	}
	if l.At != "" {
		q.Set("at", l.At)
	}
	if l.From > 0 {
		q.Set("from", strconv.Itoa(l.From))
	}
	u.RawQuery = q.Encode()
	if l.Anchor != "" {
		u.Fragment = "m-" + l.Anchor
	}
	return u.String()
}

// messageAddress returns the address of a message, on the newest path through it.
func messageAddress(session, message string) string {
	return location{Session: session, At: message, Anchor: message}.String()
}

func agentAddress(name string) string { return (&url.URL{Path: "/agents/" + name}).String() }

func explorationAddress(id string) string { return (&url.URL{Path: "/explore/" + id}).String() }

// compareAddress returns the address of the comparison of some REFs. Of one, the page offers what
// to compare it with.
func compareAddress(refs ...string) string {
	q := url.Values{}
	for i, ref := range refs {
		q.Set(sideNames[i], ref)
	}
	return "/compare?" + q.Encode()
}

// mergeAddress returns the address of the plan to merge a branch. If into is empty, it is the head.
func mergeAddress(branch, into string) string {
	q := url.Values{"branch": {branch}}
	if into != "" {
		q.Set("into", into)
	}
	return "/merge?" + q.Encode()
}

// refOf returns the REF of a message.
func refOf(session, message string) string {
	if message == "" {
		return session
	}
	return session + "@" + message
}
