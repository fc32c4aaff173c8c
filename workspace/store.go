package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/tidwall/gjson"
)

// Path returns the path to leaf, a message of the line; "" means the newest
// leaf. Unlike [Workspace.Show] it does not include messages of other lines.
func (ln Line) Path(ctx context.Context, leaf string, o session.ReadOptions) (*lines.Path, error) {
	return ln.w.store.nodes(ctx, ln.name, o, func(v *View, l *line) ([]int, error) {
		node, err := v.nodeOrEnd(l, leaf, o.Partial)
		return l.Path(node), err
	})
}

// All returns all messages of the line, in the order of its files.
func (ln Line) All(ctx context.Context, o session.ReadOptions) (*lines.Path, error) {
	return ln.w.store.nodes(ctx, ln.name, o, func(_ *View, l *line) ([]int, error) { return l.every(), nil })
}

// nodes returns the messages of a line that choose returns.
func (w *base) nodes(ctx context.Context, name string, o session.ReadOptions, choose func(*View, *line) ([]int, error)) (*lines.Path, error) {
	return read(ctx, w, func(v *View) (*lines.Path, error) {
		l, err := v.lineNamed(name, o.Partial)
		if err != nil {
			return nil, err
		}
		entry, err := v.lineEntryOf(l.id())
		if err != nil {
			return nil, err
		}
		nodes, err := choose(v, l)
		if err != nil {
			return nil, err
		}
		list, err := v.nodesOf(l, nodes)
		return &lines.Path{Line: *entry, Nodes: list}, err
	})
}

// every returns all nodes of l.
func (l *line) every() []int {
	nodes := make([]int, l.Len())
	for n := range nodes {
		nodes[n] = n
	}
	return nodes
}

// nodeOrEnd returns the node of a message of l; if message is "", of the newest
// leaf.
func (v *View) nodeOrEnd(l *line, message string, partial bool) (int, error) {
	if message == "" {
		return v.end(l, partial)
	}
	return l.find(message)
}

// nodesOf returns the messages at nodes of l.
func (v *View) nodesOf(l *line, nodes []int) ([]lines.Node, error) {
	messages, err := v.messages(l, nodes)
	if err != nil {
		return nil, err
	}
	own := l.uuid()
	list := make([]lines.Node, len(nodes))
	known := make(map[int]string, len(nodes)) // UUIDs, by node
	for i, n := range nodes {
		known[n] = sessionid.MessageUUID(own, messages[i].ID)
	}
	for i, n := range nodes {
		list[i] = lines.Node{Message: messages[i], UUID: known[n], Session: l.Parts[l.Part(n)].ID, Stored: l.Stored(n)}
		if p := l.Parent(n); p >= 0 {
			if list[i].Parent = known[p]; list[i].Parent == "" {
				list[i].Parent = sessionid.MessageUUID(own, l.ID(p))
			}
		}
		describe(&list[i])
	}
	return list, nil
}

// describe sets the fields of n that derive from its message.
func describe(n *lines.Node) {
	var at, metadata gjson.Result
	gjson.ParseBytes(n.Raw).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "timestamp":
			at = value
		case "metadata":
			metadata = value
		}
		return true
	})
	n.Time, _ = session.ParseTime(at.Str)
	n.Meta = metaIn(metadata)
}

// metaIn returns the user's metadata in the metadata of a message, nil if there
// is none.
func metaIn(metadata gjson.Result) json.RawMessage {
	v := metadata.Get("bough." + ownMeta)
	if !v.IsObject() || !json.Valid([]byte(v.Raw)) {
		return nil
	}
	return json.RawMessage(v.Raw)
}

// ownMeta is the member of metadata.bough of a message with the user's metadata.
const ownMeta = "meta"

// Store adds a message to the line, below its parent. Heads are neither used
// nor moved. If the line is a checkpoint, the error has the code
// [fault.ReadOnly].
func (ln Line) Store(ctx context.Context, s lines.Message) (*lines.Node, error) {
	if err := checkObject("meta", s.Meta); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "append", Args: args{"session": ln.name}}
	return update(ctx, ln.w.store, op, func(tx *Tx) (*lines.Node, error) {
		p, err := tx.View.storePlace(ln.name, s.Parent)
		if err != nil {
			return nil, err
		}
		m, err := tx.View.storeMessage(p, s)
		if err != nil {
			return nil, err
		}
		for _, f := range s.Files {
			if err := tx.keepFile(f); err != nil {
				return nil, err
			}
		}
		node := &lines.Node{Message: session.Message{ID: m.id}, UUID: m.id, Stored: m.stored()}
		if parent := p.messageID(); parent != "" {
			node.Parent = sessionid.MessageUUID(p.uuid(), parent)
		}
		tx.op.Args["session"], tx.op.Args["role"], tx.op.Args["message"] = p.id(), m.role, m.id
		if node.Session, err = tx.appendTo(p, m); err != nil {
			return nil, err
		}
		node.Raw = m.raw
		describe(node)
		return node, nil
	})
}

// storePlace returns the place of the parent of a new message.
func (v *View) storePlace(name, parent string) (*place, error) {
	l, err := v.lineNamed(name, false)
	if err != nil {
		return nil, err
	}
	node, err := v.nodeOrEnd(l, parent, false)
	if err != nil {
		return nil, err
	}
	p := &place{line: l, node: node}
	if frozen := v.frozen(p); frozen != "" {
		return nil, &fault.Error{
			Code:    fault.ReadOnly,
			Message: frozen + " is a checkpoint, which is read-only",
			Next:    fault.Do(fault.BranchToContinue, frozen),
		}
	}
	return p, nil
}

// storeMessage returns the message for s, to be added below p.
func (v *View) storeMessage(p *place, s lines.Message) (*message, error) {
	c, err := s.Content(func() ([]lines.Node, error) { return v.nodesOf(p.line, p.Path(p.node)) })
	if err != nil {
		return nil, err
	}
	if err := checkContent(&c); err != nil {
		return nil, err
	}
	m := &message{role: c.Role, content: rawjson.Layout(c.Value, 3)}
	if m.id, err = sessionid.NewMessage(v.store.opts.Random); err != nil {
		return nil, err
	}
	for _, member := range c.Own {
		m.own = append(m.own, rawjson.Pair{Key: member.Name, Value: rawjson.Layout(member.Value, 5)})
	}
	if s.Meta != nil {
		m.own = append(m.own, rawjson.Pair{Key: ownMeta, Value: rawjson.Layout(s.Meta, 5)})
	}
	return m, nil
}

// stored reports whether m is in a format of its own; [session.Outline.Stored]
// will report the same.
func (m *message) stored() bool {
	return slices.ContainsFunc(m.own, func(p rawjson.Pair) bool { return p.Key == "format" })
}

// checkContent returns an error if a session file cannot represent c.
func checkContent(c *lines.Content) error {
	if err := checkRole(c.Role); err != nil {
		return err
	}
	own := []string{ownMeta, ownContinued}
	values := []json.RawMessage{c.Value}
	for _, m := range c.Own {
		if m.Name == "" || slices.Contains(own, m.Name) {
			return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q is not a valid name for a member of a message", m.Name)}
		}
		own = append(own, m.Name)
		values = append(values, m.Value)
	}
	for _, value := range values {
		if err := rawjson.Check(value); err != nil {
			return &fault.Error{Code: fault.Usage, Message: "the content of the message is not JSON: " + err.Error(), Err: err}
		}
	}
	return nil
}

// SetMeta merges meta, an object, into the user's metadata of a message and
// returns the result. null removes a member. If the line is a checkpoint, the
// error has the code [fault.ReadOnly].
func (ln Line) SetMeta(ctx context.Context, message string, meta json.RawMessage) (json.RawMessage, error) {
	if meta == nil {
		meta = json.RawMessage("{}")
	}
	if err := checkObject("meta", meta); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "annotate", Args: args{"session": ln.name, "message": message}}
	return update(ctx, ln.w.store, op, func(tx *Tx) (json.RawMessage, error) {
		p, err := tx.View.storePlace(ln.name, message)
		if err != nil {
			return nil, err
		}
		if p.node < 0 {
			return nil, notFound("message", message)
		}
		tx.op.Args["session"], tx.op.Args["message"] = p.id(), p.messageID()
		s, err := tx.View.reopen(p.Parts[p.Part(p.node)])
		if err != nil {
			return nil, err
		}
		i := p.Index(p.node)
		all := merged(metaIn(gjson.GetBytes(s.Messages[i].Raw, "metadata")), meta)
		if err := checkSize("meta", all); err != nil {
			return nil, err
		}
		edit := s.Edit()
		if !edit.SetMessageOwn(s, i, ownMeta, rawjson.Layout(all, 5)) {
			return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the message %q cannot have metadata of the user: its metadata is not an object", s.Messages[i].ID)}
		}
		return all, tx.replace(edit)
	})
}
