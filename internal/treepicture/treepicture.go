// Package treepicture lays out trees of messages, and writes them as a picture in SVG.
//
// # The layout
//
// Each row of the picture has one node, or a chain of nodes that is folded into one line.
// Rows are drawn from top to bottom: each is below its parent. A branch has a lane of its
// own, to the right of the lane that it leaves, and no other branch of the tree uses that
// lane, so that a lane which ends is never mistaken for one that begins below it.
//
// At a fork, the child with the most descendants continues the lane. The other branches are
// drawn between the fork and this child, so that nothing is to the right of a node, where
// its words are, and no two lines cross.
//
// A node is drawn on a row of its own if it begins a tree or a branch, if it is a fork or a
// leaf, or if it is marked. Other nodes are folded.
// A message that merged branches has a dashed line from the end of each. These lines are to the
// left of the first lane, where they cross no words.
//
// A tree with more lanes than the limit omits the smallest branches without marks; the row
// that they leave says how many they are, and is folded as if they were not there.
//
// The layout is deterministic and takes time in proportion to the number of nodes, except
// that the branches of a tree beyond the limit are sorted.
package treepicture

// A Node is one node of a tree.
type Node struct {
	Parent int    // index of an earlier node, or -1 for the root of a tree
	Edge   Edge   // how it follows its parent
	Kind   Kind   // its shape
	Label  string // its words
	Note   string // further facts
	Link   string // the target of its link, "" for none
	Marks  []Mark
	Merged []int // indexes of the ends of the branches that it merged
	Active bool  // it is on the active path
}

// An Edge is how a node follows its parent.
type Edge uint8

// The edges.
const (
	Follows Edge = iota
	Copied       // it begins a copy of the conversation, made at the parent
	Joined       // its own parent is missing, and it is joined to this one
	Begun        // it begins the conversation of a sub-agent, which the parent called
)

// leaves reports whether a node with the edge is never in the lane of its parent.
func (e Edge) leaves() bool { return e == Copied || e == Begun }

// A Kind is the kind of a node.
type Kind uint8

// The kinds.
const (
	Message      Kind = iota // by an assistant, a tool or the system
	Prompt                   // a message by a person
	Conversation             // the title of a conversation, or a branch without messages
)

// A Mark is a name at a node.
type Mark struct {
	Kind  MarkKind
	Label string
	Link  string // the target of its link, "" for none
}

// A MarkKind is the kind of a mark.
type MarkKind uint8

// The kinds of marks, in the order in which they are drawn. A node with a mark is not folded, unless the mark is an automatic
// checkpoint.
const (
	Checkpoint     MarkKind = iota // a checkpoint of the path to the node
	AutoCheckpoint                 // one without a name
	Bookmark
	Title // of the branch that begins here
	Merge // of a branch that the message merged
	Head
)
