package page

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

// relations are the sessions around a conversation.
type relations struct {
	entry    workspace.Entry // of the first file
	files    []string
	messages int // in all files, without repeated headers
	origin   *snapshotLink
	point    string                    // the last message that was copied
	copies   map[string][]snapshotLink // by the message at which they were made
	readOnly bool
	delete   deletion
	agent    string          // the agent that owns it, "" for none
	all      map[string]bool // ids of all sessions
}

// exists reports whether there is a session.
func (r relations) exists(session string) bool { return r.all[session] }

// relate returns the sessions around the line that begins with a session. trees are the
// trees of all sessions, and list all agents.
func relate(trees *workspace.Forest, list []agents.Agent, first string) relations {
	rel := relations{copies: map[string][]snapshotLink{}, all: map[string]bool{}, agent: ownerOf(list, first)}
	var titles []string
	eachEntry(trees.Roots, func(e workspace.TreeEntry, parent *workspace.TreeEntry) {
		rel.all[e.ID] = true
		isFile := e.ID == first || e.Kind == session.Continuation && len(e.ContinuedFrom) > 0 && slices.Contains(rel.files, e.ContinuedFrom[0])
		switch {
		case isFile:
			if e.ID == first {
				rel.entry = e.Entry
				if parent != nil && e.Kind != session.Root {
					l := linkTo(parent.Entry)
					rel.origin, rel.point = &l, string(e.BranchPoint)
				}
			}
			rel.files = append(rel.files, e.ID)
			rel.messages += e.MessageCount - e.HeaderCount
		case slices.Contains(rel.files, string(e.BranchedFrom)):
			rel.copies[string(e.BranchPoint)] = append(rel.copies[string(e.BranchPoint)], linkTo(e.Entry))
			if !e.Auto && !e.Penguin {
				titles = append(titles, clip(e.Title))
			}
		}
	})
	rel.readOnly = rel.entry.Kind == session.Checkpoint
	rel.delete = deletion{Session: first, Line: len(rel.files) > 1}
	if n := len(titles); n > 0 {
		const few = 3
		rel.delete.Refused = plural.Of(n, "copy") + " of it: " + strings.Join(titles[:min(n, few)], ", ")
		if n > few {
			rel.delete.Refused += ", …"
		}
	}
	if rel.entry.Penguin {
		rel.delete.Refused = anotherProgram
	}
	if rel.agent != "" && rel.delete.Refused == "" {
		rel.delete.Refused = "it is a topic of the agent " + rel.agent
	}
	return rel
}

// eachEntry calls f for each session of trees, parents before their children. parent is nil
// for a root.
func eachEntry(trees []workspace.TreeEntry, f func(e workspace.TreeEntry, parent *workspace.TreeEntry)) {
	type pending struct{ entry, parent *workspace.TreeEntry }
	var stack []pending
	push := func(list []workspace.TreeEntry, parent *workspace.TreeEntry) {
		for i := len(list) - 1; i >= 0; i-- {
			stack = append(stack, pending{&list[i], parent})
		}
	}
	push(trees, nil)
	for len(stack) > 0 {
		next := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		f(*next.entry, next.parent)
		push(next.entry.Children, next.entry)
	}
}

// ownerOf returns the name of the agent that owns a line, "" if none does.
func ownerOf(list []agents.Agent, line string) string {
	for i := range list {
		if list[i].Tree(line) != nil {
			return list[i].Name
		}
	}
	return ""
}
