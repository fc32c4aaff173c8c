// Package merge decides what a merge of one branch of a conversation into another brings.
//
// A merge adds one message to the target: no message gets two parents. The message says in
// metadata.bough.merged what was merged, so that the next merge of the branch brings only what
// is new since. The package itself accesses no files.
package merge

import (
	"slices"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/restores"
)

// Own is the member of metadata.bough of a message that says what it merged: a [Merged].
const Own = session.OwnMerged

// A Merged is what a message merged.
type Merged struct {
	Session  string     `json:"session_id"` // the line of the branch, by the id of its first file
	Message  string     `json:"message_id"` // the end of the branch
	Base     session.ID `json:"base"`       // the message before the first merged one, null if there is none
	Messages int        `json:"messages"`   // how many messages were merged
}

// A Mark is a message that merged a branch, in a tree of messages.
type Mark struct {
	Message string `json:"message_id"`
	From    string `json:"from_id"` // the last merged message
	Session string `json:"session_id"`
	// Title is the title of the branch. For a branch inside the same conversation, and for a branch
	// that no longer exists, it is the beginning of the first merged message, or of the id.
	Title string `json:"title"`
}

// Options are the choices for a merge. The zero value writes a digest at the head.
type Options struct {
	// Into is a REF to the message after which the merge is added. If empty, it is the head,
	// which then moves to the merge.
	Into string
	// Summary is the text of the message. If empty, Model writes it; without a model it is a
	// digest, which rules make; see docs/merge.md.
	Summary string
	// Model is asked for the text, once. If nil, it is not.
	Model   model.Model
	ModelID string // the provider's name of Model
	// DryRun writes nothing and asks no model: the result has the prompt.
	DryRun bool
	// Files brings the files that the branch changed too, to the folder Dir; see
	// workspace.Folder. Restore says what happens to conflicts; its DryRun is ignored.
	Files   bool
	Dir     string
	Restore restores.Options
}

// The values of [Result.By].
const (
	BySummary = "summary"
	ByModel   = "model"
	ByDigest  = "digest"
)

// The values of [Result.Nothing].
const (
	Ancestor = "ancestor" // the target has all messages of the branch
	Already  = "merged"   // the other messages were merged before
)

// A Result says what a merge did, or would do.
type Result struct {
	Session    session.ID `json:"session_id"`  // the file that was written, null if none was
	Message    session.ID `json:"message_id"`  // the new message, null if there is none
	Parent     session.ID `json:"parent_id"`   // the message before it, null in an empty conversation
	ForkedFrom session.ID `json:"forked_from"` // the checkpoint that was branched first, else null
	Nothing    string     `json:"nothing"`     // why nothing was merged: ancestor or merged, else ""
	Title      string     `json:"title"`       // of the merged branch
	Merged     *Merged    `json:"merged"`      // null if nothing was merged
	By         string     `json:"by"`          // who wrote the text: summary, model or digest; "" if nothing was merged
	Text       string     `json:"text"`        // of the message, "" in a dry run with a model
	Prompt     string     `json:"prompt,omitempty"`
	// MovedFrom is the end of the target when the merge was planned, if another message was added
	// meanwhile and the merge is after that one.
	MovedFrom session.ID        `json:"moved_from,omitempty"`
	Files     *restores.Restore `json:"files,omitempty"` // what happened to the files, if they were asked for
}

// A Step is a message of a path, as far as the plan of a merge depends on it.
type Step struct {
	ID     string
	Merged string // the last message that it merged, "" if it is not a merge
	Copied string // the message that it is a copy of, "" for none
	// Content is equal in messages that are copies of each other although no id says so, as
	// copies of other programs are; "" if that is unknown.
	Content string
	// First and Last are the first and the last message that it summarizes, "" if it is not a summary.
	First, Last string
	// Session has the messages that it merged or summarizes, "" if it did neither, and Base is the
	// message before the first merged one. Make uses neither.
	Session, Base string
}

// A Plan is what a merge brings.
type Plan struct {
	Base    int    // index in the path of the branch of the message before the first one that is brought, -1 for none
	Brings  []int  // indexes in the path of the branch of the messages that are brought
	Nothing string // why nothing is brought: [Ancestor], [Already] or ""
}

// A content is the messages of which a path has the content, and the ends of what it merged.
type content struct {
	within   map[string][]Step
	added    map[string]bool
	has      map[string]bool
	contents map[string]bool
	merged   map[string]bool
	answered map[string]bool // what knows returned for a message
}

// add adds what a message says, and what it stands for.
func (c *content) add(s Step) {
	if c.added[s.ID] {
		return
	}
	c.added[s.ID], c.has[s.ID] = true, true
	if s.Content != "" {
		c.contents[s.Content] = true
	}
	for _, id := range []string{s.Copied, s.Last} {
		if id != "" {
			c.has[id] = true
		}
	}
	if s.Merged != "" {
		c.merged[s.Merged] = true
	}
	for _, inner := range c.within[s.ID] {
		c.add(inner)
	}
}

// knows reports whether the content of a message is there: the message, what it is a copy of, or all
// that it stands for. Of a message that stands for others that are unknown, the last one decides.
func (c *content) knows(s Step) bool {
	inner := c.within[s.ID]
	switch known, done := c.answered[s.ID]; {
	case done:
		return known
	case c.has[s.ID] || c.merged[s.Merged]:
		return true
	case c.has[s.Copied] || c.contents[s.Content]:
		return true
	case len(inner) == 0:
		return c.has[s.Last] || c.has[s.Merged]
	}
	c.answered[s.ID] = false // a message that claims to stand for itself adds nothing
	known := !slices.ContainsFunc(inner, func(s Step) bool { return !c.knows(s) })
	c.answered[s.ID] = known
	return known
}

// summarized adds the messages of a path that a summary stands for.
func (c *content) summarized(path []Step, summary Step) {
	first := slices.IndexFunc(path, func(s Step) bool { return s.ID == summary.First })
	last := slices.IndexFunc(path, func(s Step) bool { return s.ID == summary.Last })
	if first < 0 || last < first {
		return
	}
	for _, s := range path[first : last+1] {
		c.add(s)
	}
}

// Make plans the merge of the path branch into the path target. The common messages are target[:t]
// and branch[:b]. within maps the id of each merge and summary to the messages that it merged or
// summarizes, as far as they still exist.
//
// Make omits the messages that target has merged already, directly or through other merges. It also
// omits a message of branch whose content target has: a copy, a merge or a summary of messages of
// target only, and a message of which target has a copy or a summary.
func Make(target, branch []Step, within map[string][]Step, t, b int) Plan {
	p := Plan{Base: b - 1}
	if b == len(branch) {
		p.Nothing = Ancestor
		return p
	}
	c := &content{
		within: within, added: map[string]bool{}, has: make(map[string]bool, len(target)),
		contents: map[string]bool{}, merged: map[string]bool{}, answered: map[string]bool{},
	}
	for _, s := range target {
		c.add(s)
		if s.First != "" {
			c.summarized(branch, s)
		}
	}
	for i, s := range branch[b:] {
		if c.merged[s.ID] {
			p.Base = b + i
		}
	}
	for i := p.Base + 1; i < len(branch); i++ {
		switch {
		case !c.knows(branch[i]):
			p.Brings = append(p.Brings, i)
		case len(p.Brings) == 0:
			p.Base = i
		}
	}
	if len(p.Brings) == 0 {
		p.Nothing = Already
	}
	return p
}
