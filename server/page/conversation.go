package page

import (
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/origin"
)

// A conversation is a path of a conversation as the page shows it.
type conversation struct {
	Session  string // the first file of the line
	Title    string
	Facts    []string // about the conversation, for its header
	Origin   *snapshotLink
	Agent    string // the agent that owns it, "" for none
	Leaf     string // "" if there are no messages
	Branches int    // leaves of the tree
	Total    int
	Loaded   span
	Chunks   []chunk
	Replies  []reply
	Earlier  string // the address with the messages before the loaded ones, "" if there are none
	Later    string
	Notes    []string // problems with its files
	Here     string   // the address of the path
	Running  []running
	ReadOnly bool // it is a checkpoint
	Head     bool // the head is at the leaf
	End      bool // no message follows the leaf
	Picture  string
	Compare  string
	Merge    string
	Again    string // the address of the form that says the messages of the user again, "" for none
	Files    string // the address of the states of files, "" if the path has none
	Bisect   string // the address that finds the turn that made something go wrong, "" with fewer than two states
	Restore  string // of a checkpoint that has states, the address of the plan to restore it with its files
	Delete   deletion
	Composer composer
}

// Ref is the REF of the leaf.
func (c *conversation) Ref() string { return refOf(c.Session, c.Leaf) }

// A chunk is a part of a path. Messages is nil if it is not loaded.
type chunk struct {
	span
	Messages []message
}

// A reply is a reply in progress. Its text is shown as it is until the message is complete:
// half of a fence or a table would be something else as HTML, and each chunk would render the
// whole text again.
type reply struct {
	ID     string
	Text   string // so far
	Length int    // of Text, in characters
}

// repliesIn returns the replies in progress of a conversation that a path does not have yet.
func repliesIn(w *workspace.Workspace, f *found) (list []reply) {
	for _, p := range w.Replies() {
		id := string(p.Message)
		if _, complete := f.first[id]; string(p.Session) == f.session && !complete {
			list = append(list, reply{id, p.Text, utf8.RuneCountInString(p.Text)})
		}
	}
	return list
}

// A deletion is whether and why a session can be removed.
type deletion struct {
	Session string
	Line    bool   // with its continuations
	Refused string // why not, "" if it can be removed
}

// A composer is the input below a conversation.
type composer struct {
	Action  string
	Session string
	Parent  string // the message to which the next one is a reply, "" for none
	Back    string // the page of the form
	Agent   string
	Note    string       // what a message does, if that is not obvious
	Instead snapshotLink // where to write instead, "" for nowhere
	Label   string
	Buttons []composerButton
}

// A composerButton sends a message in a mode.
type composerButton struct {
	Action string // if it is not that of the composer
	Mode   string // send, steer or follow-up
	Icon   string
	Label  string
	Title  string
}

// isOrphan reports whether a message is a root because its parent is missing.
func (p *placement) isOrphan(id string) bool {
	run, ok := p.byFirst[id]
	return ok && p.runs[run].Orphan
}

// leaves returns how many leaves the conversation has.
func (p *placement) leaves() (n int) {
	for _, r := range p.runs {
		if r.Leaf {
			n++
		}
	}
	return n
}

// conversation returns the page of a path, given the sessions around it.
func (f *found) conversation(q pathQuery, related relations) *conversation {
	e := related.entry
	c := &conversation{
		Session: f.session, Title: clip(e.Title), Origin: related.origin,
		Leaf: f.leaf, Branches: f.leaves(), Total: len(f.shown.Messages), Loaded: f.loaded(q),
		Notes: f.notes, ReadOnly: related.readOnly, Delete: related.delete, Agent: related.agent,
		Picture: "/tree/" + url.PathEscape(f.session), Compare: compareAddress(refOf(f.session, f.leaf)), Merge: mergeAddress(refOf(f.session, f.leaf), ""),
	}
	c.Here = location{Checkpoint: c.ReadOnly, Session: f.session, Leaf: f.leaf}.String()
	if len(f.files) > 0 {
		c.Files = statesAddress(f.session, f.leaf)
		if len(f.files) > 1 {
			c.Bisect = bisectAddress(refOf(f.session, f.leaf), "", origin.BisectOptions{})
		}
		if c.ReadOnly {
			c.Restore = restoreAddress(f.session) + "&what=both"
		}
	}
	c.Chunks = f.chunks(c.Loaded, related)
	_, head := f.marks()
	c.Head = head != "" && head == f.leaf
	run, known := f.endOf(f.leaf)
	c.End = known && f.runs[run].Leaf
	if from := c.Loaded.From; from > 0 {
		c.Earlier = f.window(related, max(0, from-chunkSize))
	}
	if c.Loaded.To < c.Total {
		c.Later = f.window(related, c.Loaded.To)
	}
	if slices.ContainsFunc(f.shown.Messages, spoken.ByPerson) {
		c.Again = againAddress(refOf(f.session, f.leaf), "")
	}
	c.Facts = append(c.Facts, plural.Of(c.Total, "message"))
	if c.Branches > 1 {
		c.Facts = append(c.Facts, plural.Of(c.Branches, "branch"))
	}
	for _, s := range []string{e.Tool, e.Model, e.Directory, e.GitBranch} {
		if s != "" {
			c.Facts = append(c.Facts, clip(s))
		}
	}
	c.Composer = f.composer(related)
	c.Composer.Back = c.Here
	return c
}

// composer returns the input below a path.
func (f *found) composer(related relations) composer {
	in := composer{Action: "/do/append", Session: f.session, Parent: f.leaf, Label: "Message",
		Buttons: []composerButton{{Mode: "send", Icon: "send", Label: "Add message", Title: "Add the message to the conversation"}}}
	run, known := f.endOf(f.leaf)
	switch {
	case related.readOnly:
		in.Parent = ""
		in.Label = "Message to a new branch"
		in.Note = "This checkpoint is read-only. A message makes a branch of it; the checkpoint does not change."
		in.Buttons[0].Label = "Branch with this message"
		in.Buttons[0].Title = "Make a branch of the checkpoint that begins with the message"
	case related.agent != "":
		in.Note = "This is a topic of the agent " + related.agent + ". A message is added here without an answer."
		in.Instead = snapshotLink{Title: "Chat with " + related.agent, Href: agentAddress(related.agent)}
	case f.leaf == "":
	case !known || !f.runs[run].Leaf:
		in.Note = "Other messages follow this one. A message here begins another branch; they stay."
		in.Buttons[0].Label = "Begin a branch"
	}
	return in
}

// endOf returns the run that ends with a message.
func (p *placement) endOf(id string) (run int, ok bool) {
	for i, r := range p.runs {
		if r.Last == id {
			return i, true
		}
	}
	return 0, false
}
