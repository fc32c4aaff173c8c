// Package treegraph merges conversations that were copied from each other into one tree of
// messages, for a picture.
//
// A conversation is a node with its messages below it, from all of its files. A branch that
// was copied from it leaves it at the branch point: the messages that both have, by id, are
// drawn once. A checkpoint is a mark at its last message. If the origin of a branch was
// deleted, the branch leaves the nearest conversation that exists, after the last message
// that both have. The conversation of a sub-agent is below the message with the call that began it.
package treegraph

import (
	"context"

	"github.com/bough-dev/bough/internal/treepicture"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/lines"
)

// Links returns the targets of links in a picture. If a function is nil, there are no such
// links.
type Links struct {
	Session    func(session string) string
	Message    func(session, message string) string // session is the first file of its line
	Checkpoint func(id string) string
}

// Options are the choices for a graph.
type Options struct {
	Links
	session.ReadOptions
}

// A Graph is the trees of messages of a workspace, or one of them.
type Graph struct {
	Nodes []treepicture.Node
	Title string // of the first conversation, "" if there is none
	// Unreadable are the errors of conversations that are drawn without their messages.
	Unreadable []error
}

// Load reads the tree that contains a session, or all trees if name is empty. If no
// conversation can be read, Load returns the first error.
func Load(ctx context.Context, w *workspace.Workspace, name string, o Options) (*Graph, error) {
	forest, err := w.Tree(ctx, name)
	if err != nil {
		return nil, err
	}
	head, err := w.Head(ctx)
	if err != nil {
		return nil, err
	}
	read := func(id string) (*workspace.MessageTree, error) {
		return w.MessageTree(ctx, id, o.ReadOptions)
	}
	g := build(forest, head, read, o.Links)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(g.Unreadable) > 0 && !g.hasMessages() {
		return nil, g.Unreadable[0]
	}
	return g, nil
}

func (g *Graph) hasMessages() bool {
	for i := range g.Nodes {
		if g.Nodes[i].Kind != treepicture.Conversation {
			return true
		}
	}
	return false
}

// build merges the sessions of a forest. read returns the messages of a line.
func build(forest *workspace.Forest, head *lines.Position, read func(id string) (*workspace.MessageTree, error), links Links) *Graph {
	g := &Graph{Nodes: []treepicture.Node{}}
	for i := range forest.Roots {
		root := &forest.Roots[i]
		b := &builder{
			Graph: g, read: read, links: links, first: len(g.Nodes),
			ids: map[string]int{}, lineOf: map[string]string{}, own: map[string]int{}, sessions: map[string]bool{}, tops: map[int]bool{},
		}
		b.collect(root)
		b.line(root, -1)
		b.markMerges()
		b.markHead(head)
	}
	if len(forest.Roots) > 0 {
		g.Title = forest.Roots[0].Title
	}
	return g
}
