package agent

import (
	"slices"
	"strings"
	"time"
)

// Dir is the folder of the agents inside the workspace.
const Dir = "agents"

// Path returns the path of an agent's file inside the workspace.
func Path(name string) string { return Dir + "/" + name + ".json" }

// NameOf returns the name of the agent whose file is at path, and whether it is one.
func NameOf(path string) (name string, ok bool) {
	name, ok = strings.CutSuffix(strings.TrimPrefix(path, Dir+"/"), ".json")
	return name, ok && ValidName(name) && Path(name) == path
}

// ValidName reports whether an agent can have the name: up to 63 of the letters a to
// z, digits, and after the first of them '.', '_' and '-'. So it is a safe name for a
// file, too.
func ValidName(name string) bool {
	const most = 63
	if name == "" || len(name) > most || strings.ContainsRune("._-", rune(name[0])) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
}

// An Agent is the owner of trees. Only one that [Decode] returned keeps what it does
// not know.
type Agent struct {
	ID      string
	Name    string
	Model   string // "" if none is chosen
	System  string // "" for nothing
	Trees   []Tree // oldest first, at least one
	Head    Head   // in one of the trees
	Queue   Queue
	Turn    Turn // for [Turn.Recover] if nobody carries it out
	Created time.Time

	Policy       SteerPolicy
	NoCheckpoint bool // no automatic checkpoint is made before a turn

	raw []byte // the file that it was read from, nil for a new one
}

// A Tree is one of an agent's conversations.
type Tree struct {
	ID      string // of the first file of the line
	Name    string // "" if it has none
	Created time.Time
	Node    string // where the head last was in it, "" if it was empty then

	Archived bool // its user does not need it now; the head is elsewhere

	raw []byte
}

// A Head is where the next message of an agent goes.
type Head struct {
	Tree string // its id
	Node string // the message that it answers, "" in an empty tree
}

// Tree returns the tree with an id, nil if the agent has none.
func (a *Agent) Tree(id string) *Tree {
	i := slices.IndexFunc(a.Trees, func(t Tree) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &a.Trees[i]
}

// Move moves the head to a message of one of the trees, "" in an empty one. That tree is
// not archived then. It panics if the agent has no such tree.
func (a *Agent) Move(tree, node string) {
	t := a.Tree(tree)
	t.Node, t.Archived = node, false
	a.Head = Head{tree, node}
}
