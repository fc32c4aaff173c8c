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
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/tidwall/gjson"
)

// Path returns the path to leaf, a message of the line; "" means the newest
// leaf. Unlike [Workspace.Show] it does not include messages of other lines.
func (ln Line) Path(ctx context.Context, leaf string, o session.ReadOptions) (*lines.Path, error) {
	return nodes(ctx, ln.w.store, ln.name, o, func(v *store.View, l *store.Line) ([]int, error) {
		node, err := nodeOrEnd(v, l, leaf, o.Partial)
		return l.Path(node), err
	})
}

// All returns all messages of the line, in the order of its files.
func (ln Line) All(ctx context.Context, o session.ReadOptions) (*lines.Path, error) {
	return nodes(ctx, ln.w.store, ln.name, o, func(_ *store.View, l *store.Line) ([]int, error) { return l.Every(), nil })
}

// nodes returns the messages of a line that choose returns.
func nodes(ctx context.Context, w *store.Store, name string, o session.ReadOptions, choose func(*store.View, *store.Line) ([]int, error)) (*lines.Path, error) {
	return store.Read(ctx, w, func(v *store.View) (*lines.Path, error) {
		l, err := v.LineNamed(name, o.Partial)
		if err != nil {
			return nil, err
		}
		entry, err := lineEntryOf(v, l.SessionID())
		if err != nil {
			return nil, err
		}
		nodes, err := choose(v, l)
		if err != nil {
			return nil, err
		}
		list, err := nodesOf(v, l, nodes)
		return &lines.Path{Line: *entry, Nodes: list}, err
	})
}

// nodeOrEnd returns the node of a message of l; if message is "", of the newest
// leaf.
func nodeOrEnd(v *store.View, l *store.Line, message string, partial bool) (int, error) {
	if message == "" {
		return v.End(l, partial)
	}
	return l.Lookup(message)
}

// nodesOf returns the messages at nodes of l.
func nodesOf(v *store.View, l *store.Line, nodes []int) ([]lines.Node, error) {
	messages, err := v.Messages(l, nodes)
	if err != nil {
		return nil, err
	}
	own := l.UUID()
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
	op := operation.Operation{Verb: "append", Args: store.Args{"session": ln.name}}
	return store.Update(ctx, ln.w.store, op, func(tx *store.Tx) (*lines.Node, error) {
		p, err := storePlace(tx.View, ln.name, s.Parent)
		if err != nil {
			return nil, err
		}
		m, err := storeMessage(tx.View, p, s)
		if err != nil {
			return nil, err
		}
		for _, f := range s.Files {
			if err := tx.KeepFile(f); err != nil {
				return nil, err
			}
		}
		node := &lines.Node{Message: session.Message{ID: m.ID}, UUID: m.ID, Stored: m.Stored()}
		if parent := p.MessageID(); parent != "" {
			node.Parent = sessionid.MessageUUID(p.UUID(), parent)
		}
		tx.Op.Args["session"], tx.Op.Args["role"], tx.Op.Args["message"] = p.SessionID(), m.Role, m.ID
		if node.Session, err = tx.AppendTo(p, m); err != nil {
			return nil, err
		}
		node.Raw = m.Raw
		describe(node)
		return node, nil
	})
}

// storePlace returns the place of the parent of a new message.
func storePlace(v *store.View, name, parent string) (*store.Place, error) {
	l, err := v.LineNamed(name, false)
	if err != nil {
		return nil, err
	}
	node, err := nodeOrEnd(v, l, parent, false)
	if err != nil {
		return nil, err
	}
	p := &store.Place{Line: l, Node: node}
	if frozen := p.Frozen(); frozen != "" {
		return nil, &fault.Error{
			Code:    fault.ReadOnly,
			Message: frozen + " is a checkpoint, which is read-only",
			Next:    fault.Do(fault.BranchToContinue, frozen),
		}
	}
	return p, nil
}

// storeMessage returns the message for s, to be added below p.
func storeMessage(v *store.View, p *store.Place, s lines.Message) (*store.Message, error) {
	c, err := s.Content(func() ([]lines.Node, error) { return nodesOf(v, p.Line, p.Path(p.Node)) })
	if err != nil {
		return nil, err
	}
	if err := checkContent(&c); err != nil {
		return nil, err
	}
	m := &store.Message{Role: c.Role, Content: rawjson.Layout(c.Value, 3)}
	if m.ID, err = sessionid.NewMessage(v.Store.Opts.Random); err != nil {
		return nil, err
	}
	for _, member := range c.Own {
		m.Own = append(m.Own, rawjson.Pair{Key: member.Name, Value: rawjson.Layout(member.Value, 5)})
	}
	if s.Meta != nil {
		m.Own = append(m.Own, rawjson.Pair{Key: ownMeta, Value: rawjson.Layout(s.Meta, 5)})
	}
	return m, nil
}

// checkContent returns an error if a session file cannot represent c.
func checkContent(c *lines.Content) error {
	if err := checkRole(c.Role); err != nil {
		return err
	}
	own := []string{ownMeta, store.OwnContinued}
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
	op := operation.Operation{Verb: "annotate", Args: store.Args{"session": ln.name, "message": message}}
	return store.Update(ctx, ln.w.store, op, func(tx *store.Tx) (json.RawMessage, error) {
		p, err := storePlace(tx.View, ln.name, message)
		if err != nil {
			return nil, err
		}
		if p.Node < 0 {
			return nil, store.NoSuch("message", message)
		}
		tx.Op.Args["session"], tx.Op.Args["message"] = p.SessionID(), p.MessageID()
		s, err := tx.View.Reopen(p.Parts[p.Part(p.Node)])
		if err != nil {
			return nil, err
		}
		i := p.Index(p.Node)
		all := merged(metaIn(gjson.GetBytes(s.Messages[i].Raw, "metadata")), meta)
		if err := checkSize("meta", all); err != nil {
			return nil, err
		}
		edit := s.Edit()
		if !edit.SetMessageOwn(s, i, ownMeta, rawjson.Layout(all, 5)) {
			return nil, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the message %q cannot have metadata of the user: its metadata is not an object", s.Messages[i].ID)}
		}
		return all, tx.Replace(edit)
	})
}
