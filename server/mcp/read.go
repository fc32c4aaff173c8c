package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/when"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// showInput are the arguments of show_conversation.
type showInput struct {
	Ref      string `json:"ref,omitempty" jsonschema:"the path to this message; a session's id or title for its newest message; HEAD if it is absent"`
	Last     int    `json:"last,omitempty" jsonschema:"only the last messages of the path, as many as this"`
	Since    string `json:"since,omitempty" jsonschema:"only messages from this time on: a date or an age, such as 2026-02-03, yesterday or 7d"`
	Only     bool   `json:"only,omitempty" jsonschema:"only the message at ref, with its whole text"`
	Thinking bool   `json:"thinking,omitempty" jsonschema:"also what the model thought"`
	Cursor   string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous answer, to read on"`
}

// A shownConversation is a part of the path to a message.
type shownConversation struct {
	Session  string         `json:"session_id"`
	Kind     string         `json:"kind"`
	Title    string         `json:"title"`
	Leaf     session.ID     `json:"message_id" jsonschema:"the last message of the path"`
	Total    int            `json:"total" jsonschema:"messages of the path"`
	Messages []shownMessage `json:"messages"`
	Next     string         `json:"next_cursor,omitempty" jsonschema:"absent at the end of the path"`
}

// showConversation returns a page of the path to a message. The cursor of the
// next page names the end of the path, so that it is of the same path.
func showConversation(ctx context.Context, c *call, in showInput) (*shownConversation, error) {
	at := c.at
	ref := orHead(in.Ref)
	if at.Ref != "" {
		ref = at.Ref
	}
	conv, err := c.w.Show(ctx, ref, session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	v := newShown(conv)
	if v.Total == 0 {
		return v, nil
	}
	at.Ref = v.Session + "@" + string(v.Leaf)
	if in.Only {
		return v, v.only(conv, at, in.Thinking)
	}
	from := 0
	if in.Last > 0 {
		from = max(0, v.Total-in.Last)
	}
	if in.Since != "" {
		start, _, err := when.Span(in.Since, time.Now())
		if err != nil {
			return nil, &fault.Error{Code: fault.Usage, Message: "since: " + err.Error(), Hint: "a time is a date or an age: 2026-02-03, 2026-02, yesterday, 7d or '2 weeks ago'"}
		}
		from = max(from, conv.Since(start))
	}
	from = max(from, min(at.At, v.Total))
	texts := renderer{thinking: in.Thinking}.texts(conv.Messages, from, from+maxMessages)
	size := 0
	for i := from; i < v.Total; i++ {
		m := shown(i, conv.Messages[i], conv.Refs[i], texts[i], maxMessage)
		if size += m.size(); i > from && (size > maxAnswer || i == from+maxMessages) {
			at.At = i
			v.Next = at.String()
			break
		}
		v.Messages = append(v.Messages, m)
	}
	return v, nil
}

func newShown(conv *workspace.Conversation) *shownConversation {
	v := &shownConversation{Session: conv.Entry.ID, Kind: string(conv.Entry.Kind), Title: shortText(conv.Entry.Title, maxName), Total: len(conv.Messages), Messages: []shownMessage{}}
	if v.Total > 0 {
		v.Leaf = session.ID(conv.Messages[v.Total-1].ID)
	}
	return v
}

// only adds the part of the last message that begins at a cursor.
func (v *shownConversation) only(conv *workspace.Conversation, at cursor, thinking bool) error {
	i := v.Total - 1
	text := renderer{thinking: thinking, whole: true}.texts(conv.Messages, i, i+1)[i]
	from := min(at.Byte, len(text))
	m := shown(i, conv.Messages[i], conv.Refs[i], text[from:], maxAnswer)
	m.Offset = from
	if m.Omitted > 0 {
		at.Byte = from + len(m.Text)
		v.Next = at.String()
	}
	v.Messages = append(v.Messages, m)
	return nil
}

func (v *shownConversation) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %q, %d messages\n", v.Kind, v.Session, oneLine(v.Title, 200), v.Total)
	for i := range v.Messages {
		m := v.Messages[i]
		if v.Next != "" && len(v.Messages) == 1 && m.Omitted > 0 {
			m.Omitted = 0 // the cursor continues it
		}
		b.WriteString("\n" + m.String())
	}
	if v.Next != "" {
		fmt.Fprintf(&b, "\n(more follows; cursor %s)\n", v.Next)
	}
	return b.String()
}

// treeInput are the arguments of conversation_tree.
type treeInput struct {
	Session string `json:"session_id,omitempty" jsonschema:"the conversation whose messages are shown; if it is absent, the sessions of the workspace are, with the branches and checkpoints of each"`
}

// A conversationTree is the messages of a conversation, or the sessions of the
// workspace, as a list in which each element comes after its parent.
type conversationTree struct {
	Session session.ID `json:"session_id"`
	Nodes   []treeNode `json:"nodes"`
}

// A treeNode is a run of messages without a fork, or a session.
type treeNode struct {
	Parent  *int       `json:"parent" jsonschema:"index in the whole list of the parent, null for a root"`
	Session session.ID `json:"session_id" jsonschema:"of a session, null for messages"`
	Kind    string     `json:"kind,omitempty" jsonschema:"of a session: root, continuation, branch or checkpoint"`
	First   session.ID `json:"first" jsonschema:"the first message of a run, null for a session"`
	Last    session.ID `json:"last" jsonschema:"the last message of a run; of a branch or checkpoint the message up to which it was copied"`
	Count   int        `json:"message_count"`
	Text    string     `json:"text" jsonschema:"the title of a session, or the first words of a run"`
	Role    string     `json:"role,omitempty" jsonschema:"who says the first words of a run"`
	Time    time.Time  `json:"last_active"`
	Leaf    bool       `json:"leaf,omitempty" jsonschema:"a branch ends with this run"`
	Newest  bool       `json:"newest,omitempty" jsonschema:"the conversation continues at this leaf"`
	Head    bool       `json:"head,omitempty" jsonschema:"the head of the workspace is here"`
	Labels  []string   `json:"bookmarks,omitempty"`
}

func showTree(ctx context.Context, c *call, in treeInput) (*conversationTree, error) {
	t := &conversationTree{Nodes: []treeNode{}}
	if in.Session == "" {
		forest, err := c.w.Tree(ctx, "")
		if err != nil {
			return nil, err
		}
		for _, root := range forest.Roots {
			t.add(root, nil)
		}
		return t, nil
	}
	tree, err := c.w.MessageTree(ctx, in.Session, session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	t.Session = session.ID(tree.Session)
	for _, r := range tree.Runs {
		n := treeNode{
			Parent: r.Parent, First: session.ID(r.First), Last: session.ID(r.Last), Count: r.Count, Text: r.Text, Role: r.Role,
			Time: r.LastActive, Leaf: r.Leaf, Newest: r.Newest, Head: r.Head != "",
		}
		for _, b := range r.Bookmarks {
			n.Labels = append(n.Labels, b.Label)
		}
		t.Nodes = append(t.Nodes, n)
	}
	return t, nil
}

// add adds a session and its children.
func (t *conversationTree) add(e workspace.TreeEntry, parent *int) {
	at := len(t.Nodes)
	if parent != nil && e.BegunBy != nil {
		e.BranchPoint = e.BegunBy.Message
	}
	t.Nodes = append(t.Nodes, treeNode{
		Parent: parent, Session: session.ID(e.ID), Kind: string(e.Kind), Last: e.BranchPoint, Count: e.MessageCount, Text: e.Title,
		Time: e.LastActive, Head: e.Head,
	})
	for _, child := range e.Children {
		t.add(child, &at)
	}
}

// compareInput are the arguments of compare_branches.
type compareInput struct {
	A      string `json:"a" jsonschema:"ref to the end of the first path"`
	B      string `json:"b" jsonschema:"ref to the end of the second path"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the previous answer, to read on"`
}

// A comparison is what each of two paths has beyond the last message that both
// have.
type comparison struct {
	Common session.ID `json:"common" jsonschema:"the last message of both paths, null if they share none"`
	A      side       `json:"a"`
	B      side       `json:"b"`
	Next   string     `json:"next_cursor,omitempty" jsonschema:"absent at the end"`
}

// A side is the part of a path beyond the common one.
type side struct {
	Total    int            `json:"total" jsonschema:"messages that only this path has"`
	Messages []shownMessage `json:"messages" jsonschema:"the index counts from the first message that only this path has"`
}

func compareBranches(ctx context.Context, c *call, in compareInput) (*comparison, error) {
	at := c.at
	a, b := in.A, in.B
	if at.Ref != "" && at.Ref2 != "" {
		a, b = at.Ref, at.Ref2
	}
	d, err := c.w.Diff(ctx, a, b, session.ReadOptions{})
	if err != nil {
		return nil, err
	}
	v := &comparison{Common: d.Common}
	if n := len(d.A); n > 0 {
		a = d.A[n-1]
	}
	if n := len(d.B); n > 0 {
		b = d.B[n-1]
	}
	var moreA, moreB bool
	v.A, moreA = sideOf(d.MessagesA, &at.At)
	v.B, moreB = sideOf(d.MessagesB, &at.Other)
	if moreA || moreB {
		at.Ref, at.Ref2 = a, b
		v.Next = at.String()
	}
	return v, nil
}

// sideOf returns a page of messages from index from on, which it advances, and
// reports whether there are more.
func sideOf(messages []session.Message, from *int) (s side, more bool) {
	s = side{Total: len(messages), Messages: []shownMessage{}}
	first := min(*from, len(messages))
	texts := renderer{}.texts(messages, first, first+maxMessages)
	size := 0
	for i := first; i < len(messages); i++ {
		m := shown(i, messages[i], "", texts[i], maxMessage)
		if size += m.size(); i > first && (size > maxAnswer/2 || i == first+maxMessages) {
			*from = i
			return s, true
		}
		s.Messages = append(s.Messages, m)
	}
	*from = len(messages)
	return s, false
}

func (v *comparison) text() string {
	var b strings.Builder
	if v.Common == "" {
		b.WriteString("The paths share no message.\n")
	} else {
		fmt.Fprintf(&b, "The paths part after the message %s.\n", v.Common)
	}
	for _, s := range []struct {
		name string
		side side
	}{{"first", v.A}, {"second", v.B}} {
		fmt.Fprintf(&b, "\n== only the %s path: %d messages\n", s.name, s.side.Total)
		for i := range s.side.Messages {
			b.WriteString("\n" + s.side.Messages[i].String())
		}
	}
	if v.Next != "" {
		fmt.Fprintf(&b, "\n(more follows; cursor %s)\n", v.Next)
	}
	return b.String()
}
