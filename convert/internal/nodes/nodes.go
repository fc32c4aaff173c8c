// Package nodes reads and writes trees whose nodes have an id, a parent, and the content
// of one message or of several in a row: the calls of tools, their results, and the text
// after them.
//
// A node is one record. The first of its messages has the id of the node and the record,
// the others have only the format.
package nodes

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/internal/export"
	"github.com/bough-dev/bough/convert/internal/report"
	"github.com/bough-dev/bough/convert/internal/tree"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
)

// A Node is a record of a tree.
type Node struct {
	ID       string
	Parent   string   // the id of its parent, "" for a root
	Children []string // their ids in the order of their program, nil if unknown
	Guessed  bool     // see [transcript.Message.Guessed]
	Record   json.RawMessage
}

// A Tree is a conversation of nodes.
type Tree struct {
	Conversation transcript.Conversation // its Leaf is the id of a node
	Nodes        []Node                  // only Append adds to them
	Torn         bool                    // the file ends before the conversation does

	// Messages returns the messages of a node, nil if it has none. Read calls it for
	// parents before their children.
	Messages func(n Node) []*transcript.Message
	// Open reports whether the record of a message is an incomplete answer.
	Open func(record json.RawMessage) bool

	places  map[string]int // of the nodes, by id
	renamed []string       // the ids that several records have
}

// Append adds a node and returns its id. If an earlier node has the id of n, n gets a new one, unless the two
// are equal: then n is a copy, and keeps its id.
func (t *Tree) Append(n Node) string {
	if t.places == nil {
		t.places = map[string]int{}
	}
	own := n.ID
	for {
		at, taken := t.places[n.ID]
		if !taken {
			t.places[n.ID] = len(t.Nodes)
			break
		}
		if first := t.Nodes[at]; first.Parent == n.Parent && bytes.Equal(first.Record, n.Record) {
			break
		}
		if before := n.ID; before == own {
			n.ID = transcript.ChainID(before, n.Record)
		} else { // with the parent, so that of many equal records each gets an id at once
			n.ID = transcript.ChainID(before+"\x00"+n.Parent, n.Record)
		}
	}
	if n.ID != own {
		t.renamed = append(t.renamed, own)
	}
	t.Nodes = append(t.Nodes, n)
	return n.ID
}

// Add appends a part to the messages of a node, to the last one or, if role is not its
// role, to another one. first has the properties of the first message.
func Add(list []*transcript.Message, first *transcript.Message, role string, p content.Part) []*transcript.Message {
	last := len(list) - 1
	if last < 0 || list[last].Role != role {
		m := *first
		m.Role, m.Parts = role, nil
		if last >= 0 {
			m.ID, m.Parent, m.Own.Role = transcript.ChainID(first.ID, rawjson.Compact(last+1)), list[last].ID, ""
		}
		if role != "assistant" && last >= 0 {
			m.Model = ""
		}
		list = append(list, &m)
		last++
	}
	list[last].Parts = append(list[last].Parts, p)
	return list
}

// Read passes the messages of a tree to a sink, parents first, and ends the conversation.
// A record without messages is attached to the message before it.
func (t *Tree) Read(to transcript.Sink) error {
	c, places := t.Conversation, t.places
	for _, id := range t.renamed {
		to.Problem(transcript.Problem{What: "duplicate message id; the second message gets a new one: " + id})
	}
	parents, names := make([]int, len(t.Nodes)), make([]string, len(t.Nodes))
	for i, n := range t.Nodes {
		parents[i], names[i] = -1, n.Parent
		if p, ok := places[n.Parent]; ok && p != i {
			parents[i] = p
		}
	}
	whole := func(int) bool { return true }
	if t.Torn {
		list := export.Rooted(parents, names)
		whole = func(i int) bool { return list[i] }
	}
	last := make([]string, len(t.Nodes)) // the last message of each node
	first := map[*transcript.Message]int{}
	var pending []json.RawMessage
	var list []*transcript.Message
	for _, i := range tree.ParentsFirst(parents, t.children(places, parents)) {
		n := &t.Nodes[i]
		if !whole(i) {
			continue
		}
		said := t.Messages(*n)
		if len(said) == 0 {
			pending = append(pending, n.Record)
			continue
		}
		said[0].Records = append(pending, n.Record)
		said[0].Guessed = n.Guessed
		pending = nil
		last[i], first[said[0]] = said[len(said)-1].ID, i
		list = append(list, said...)
	}
	// A node without messages is skipped.
	tip := func(i int) string {
		for range parents {
			if last[i] != "" || parents[i] < 0 {
				return cmp.Or(last[i], names[i])
			}
			i = parents[i]
		}
		return ""
	}
	for m, i := range first {
		if m.Parent = names[i]; parents[i] >= 0 {
			m.Parent = tip(parents[i])
		}
	}
	if len(list) == 0 {
		to.Problem(transcript.Problem{What: "a conversation has no messages: " + c.Title})
		return nil
	}
	if n := len(list); len(pending) > 0 {
		for n--; n > 0 && len(list[n].Records) == 0; n-- {
		}
		list[n].Records = append(list[n].Records, pending...)
	}
	leaf, ok := places[c.Leaf]
	if c.Leaf = ""; ok {
		c.Leaf = tip(leaf)
	}
	export.MarkOpen(list, func(m *transcript.Message) bool {
		i, ok := first[m]
		return ok && t.Open(t.Nodes[i].Record)
	})
	for _, m := range list {
		if err := to.Message(m); err != nil {
			return err
		}
	}
	return to.End(&c)
}

// children returns for each node the places of its children, nil if no node lists any.
func (t *Tree) children(places map[string]int, parents []int) [][]int {
	var all [][]int
	for i, n := range t.Nodes {
		for _, id := range n.Children {
			if c, ok := places[id]; ok && parents[c] == i {
				if all == nil {
					all = make([][]int, len(t.Nodes))
				}
				all[i] = append(all[i], c)
			}
		}
	}
	return all
}

// A Row is a node to write.
type Row struct {
	ID, Parent string
	Raw        []byte
	Attached   bool // it has no messages, and nothing in it changes
	Made       bool // Raw is of [Writer.Convert], not a record that was read
}

// Array returns the records of rows as a JSON array, each on a line of its own.
func Array(rows []*Row) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n ")
		b.Write(r.Raw)
	}
	b.WriteString("\n]")
	return b.Bytes()
}

// A Writer makes the nodes of a transcript.
type Writer struct {
	Format   string
	Messages func(n Node) []*transcript.Message
	ID       func(record json.RawMessage) string
	// Convert returns the record of a message of another format, nil if nothing of it
	// can be written.
	Convert func(m *transcript.Message) []byte
	// Split divides a message of another format into those that Convert gets, each a node of its own.
	// If it is nil, no message is divided.
	Split func(m *transcript.Message) []*transcript.Message
	Lost  *report.Report
}

// Rows returns the nodes of a transcript, parents first, and for each message the id of
// the node that has it; for a message that is not written, of the node before it.
func (w Writer) Rows(t *transcript.Transcript) (rows []*Row, of map[string]string) {
	o := tree.NewOutline(t)
	of = make(map[string]string, len(t.Messages))
	for _, m := range t.Messages {
		if _, done := of[m.ID]; done {
			continue // it is in the record of an earlier message
		}
		parent := m.Parent
		if o.Has(parent) {
			parent = of[parent]
		}
		if at, all := w.own(m, o); at >= 0 {
			for i, r := range m.Records {
				row := &Row{ID: w.ID(r), Parent: parent, Raw: r, Attached: i != at}
				if i == at {
					row.ID = m.ID
					w.Lost.Trace.Record(r, m)
				}
				rows = append(rows, row)
			}
			for _, part := range all {
				of[part.ID] = m.ID
			}
			continue
		}
		said := []*transcript.Message{m}
		if w.Split != nil {
			said = w.Split(m)
		}
		of[m.ID] = parent
		for _, part := range said {
			if raw := w.Convert(part); raw != nil {
				w.Lost.Trace.Record(raw, m)
				rows = append(rows, &Row{ID: part.ID, Parent: of[m.ID], Raw: raw, Made: true})
				of[m.ID] = part.ID
			}
		}
		if of[m.ID] == parent {
			w.Lost.Add(report.LostMessages)
		}
	}
	return rows, of
}

// Own returns the ids of the messages that Rows writes with their records.
func (w Writer) Own(t *transcript.Transcript) map[string]bool {
	o := tree.NewOutline(t)
	ids := map[string]bool{}
	for _, m := range t.Messages {
		if !ids[m.ID] {
			_, all := w.own(m, o)
			for _, part := range all {
				ids[part.ID] = true
			}
		}
	}
	return ids
}

// own returns the place of the record of m and its messages. It returns -1 if there is no
// such record, or if it has messages that the transcript has not, or not in a row.
func (w Writer) own(m *transcript.Message, o tree.Outline) (at int, all []*transcript.Message) {
	at = -1
	if m.Format != w.Format {
		return at, nil
	}
	for i, r := range m.Records {
		if id := w.ID(r); id == m.ID || at < 0 && w.Messages(Node{ID: m.ID, Record: r}) != nil {
			at = i
		}
	}
	if at < 0 {
		return at, nil
	}
	all = w.Messages(Node{ID: m.ID, Record: m.Records[at]})
	for i, part := range all {
		if !o.Has(part.ID) || i < len(all)-1 && len(o.Children[part.ID]) != 1 {
			return -1, nil
		}
	}
	if len(all) == 0 {
		return -1, nil
	}
	return at, all
}
