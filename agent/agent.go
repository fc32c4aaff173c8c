package agent

import (
	"github.com/bough-dev/bough/agent/turn"
	"slices"
	"strings"
	"time"
)

// Dir is the folder of the agents, relative to the workspace.
const Dir = "agents"

// Path returns the path of an agent's file, relative to the workspace.
func Path(name string) string { return Dir + "/" + name + ".json" }

// NameOf returns the name of the agent whose file has this path, and reports
// whether it is the path of an agent.
func NameOf(path string) (name string, ok bool) {
	name, ok = strings.CutSuffix(strings.TrimPrefix(path, Dir+"/"), ".json")
	return name, ok && ValidName(name) && Path(name) == path
}

// ValidName reports whether an agent can have the name: up to 63 of the letters a
// to z, digits, and after the first character '.', '_' and '-'. Such a name is also
// safe as a file name.
func ValidName(name string) bool {
	const most = 63
	if name == "" || len(name) > most || strings.ContainsRune("._-", rune(name[0])) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
}

// An Agent owns trees. Unknown members of its file are kept only if it was returned
// by [Decode].
type Agent struct {
	ID      string
	Name    string
	Model   string // "" for none
	System  string // "" for none
	Trees   []Tree // oldest first, at least one
	Head    Head   // in one of the trees
	Queue   turn.Queue
	Turn    turn.Turn // call [turn.Turn.Recover] unless a program is running it
	Created time.Time

	Policy       turn.SteerPolicy
	NoCheckpoint bool // do not make an automatic checkpoint before a turn

	// Memory is the absolute path of the file with the agent's memory, "" for none. A checkpoint
	// of the current work records its content.
	Memory string

	raw []byte // the decoded file, nil for a new agent
}

// A Tree is one of an agent's conversations.
type Tree struct {
	ID      string // of the first file of the line
	Name    string // "" if it has none
	Created time.Time
	Node    string // last position of the head in it, "" if it was empty then

	Archived bool // not in use; the head is in another tree

	raw []byte
}

// A Head is the message of an agent to which the next one is added.
type Head struct {
	Tree string // id of the tree
	Node string // id of the parent message, "" in an empty tree
}

// Tree returns the tree with an id, or nil.
func (a *Agent) Tree(id string) *Tree {
	i := slices.IndexFunc(a.Trees, func(t Tree) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &a.Trees[i]
}

// Move moves the head to a message of one of the trees, "" in an empty one, and
// unarchives that tree. It panics if the agent has no such tree.
func (a *Agent) Move(tree, node string) {
	t := a.Tree(tree)
	t.Node, t.Archived = node, false
	a.Head = Head{tree, node}
}
