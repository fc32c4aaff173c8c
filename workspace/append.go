package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/tidwall/gjson"
)

// MaxTitle is the maximum number of bytes of a title that is given. A conversation that was
// imported, or written by another program, can have a longer one.
const MaxTitle = store.MaxTitle

// New begins an empty conversation and moves the head there. The title may be
// empty.
func (w *Workspace) New(ctx context.Context, title string) (*Entry, error) {
	return w.NewSession(ctx, NewOptions{Title: title})
}

// NewOptions are the choices for a new conversation.
type NewOptions struct {
	Title string // one line of at most [MaxTitle] bytes; may be empty

	// Dialect is "bough" or "penguin": how links and times are written. It must
	// match the sessions of the folder. Empty means their dialect, and bough's in an
	// empty folder.
	Dialect string
}

// dialect returns o.Dialect, or folder, the dialect of the folder, if that is
// empty. It returns an error if the folder has sessions in the other dialect.
func (o NewOptions) dialect(folder session.Dialect, empty bool) (session.Dialect, error) {
	if o.Dialect == "" {
		return folder, nil
	}
	d, err := store.ParseDialect(o.Dialect)
	if err != nil {
		return 0, err
	}
	if d != folder && !empty {
		return 0, &fault.Error{
			Code: fault.Refused, Message: fmt.Sprintf("the sessions of this workspace are in the dialect %s", folder),
			Next: fault.Do(fault.RewriteLinks, d.String()),
		}
	}
	return d, nil
}

// NewSession begins an empty conversation and moves the head there.
func (w *Workspace) NewSession(ctx context.Context, o NewOptions) (*Entry, error) {
	if err := store.CheckTitle("title", o.Title); err != nil {
		return nil, err
	}
	if _, err := o.dialect(session.Bough, true); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "new", Args: store.Args{"title": o.Title}}
	return store.Create(ctx, w.store, op, func(tx *store.Tx) (*Entry, error) {
		dialect, err := o.dialect(tx.View.Index.Dialect(), len(tx.View.Index.IDs()) == 0)
		if err != nil {
			return nil, err
		}
		id, err := tx.NewSessionIn(dialect, "", o.Title)
		if err != nil {
			return nil, err
		}
		entry := entryOf(tx.View, id)
		_, err = tx.MoveHead(id, "", "")
		return &entry, err
	})
}

// An Append is a message to add: text of a user or model, tool calls, or the result of a
// call.
type Append struct {
	Session string // empty means the session of the head
	Text    string // may be empty with Content, Calls or CallID
	Role    string // empty means assistant with Calls, tool with CallID, else user
	Parent  string // the message to reply to; see Workspace.Append for the default

	// Content replaces Text: a JSON string or an array of parts. If nil, Text is
	// used.
	Content json.RawMessage
	// Calls are the tool calls of an assistant's message. Each needs a name and a
	// unique id.
	Calls []model.Call
	// CallID and Tool are the call that a tool's message is the result of, and the
	// name of the tool. Empty means the message is not a result.
	CallID, Tool string

	// Files is a folder. If it is not empty, a state of it is taken first, and the message refers
	// to that state.
	Files string

	// Kind marks a message that opens or closes a batch of clarifications. On a
	// path, a batch must be closed before the next is opened. Empty means neither.
	Kind turn.Kind
}

// An AppendResult describes a message that was added.
type AppendResult struct {
	Session    string     `json:"session_id"` // the file that was written
	Message    string     `json:"message_id"`
	Parent     session.ID `json:"parent_id"`   // null for the first message
	ForkedFrom session.ID `json:"forked_from"` // the checkpoint that was branched first, else null

	// Mixed reports that the message began a branch inside a session in Penguin's
	// dialect. Penguin does not support such branches and shows all messages as one
	// path.
	Mixed bool `json:"mixed,omitempty"`
}

// Append adds a message. Its parent is a.Parent; else the message at the head,
// if the head is in this line and the line has no newer message; else the
// newest message of the line. If a.Session is empty, the message is added at
// the head, and the head moves to it. Appending to a checkpoint first creates a
// branch, each time.
func (w *Workspace) Append(ctx context.Context, a Append) (*AppendResult, error) {
	switch {
	case a.Role != "":
	case len(a.Calls) > 0:
		a.Role = "assistant"
	case a.CallID != "":
		a.Role = "tool"
	default:
		a.Role = "user"
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	own, err := w.snapFor(ctx, &a)
	if err != nil {
		return nil, err
	}
	return store.Update(ctx, w.store, operation.Operation{Verb: "append", Args: a.args()}, func(tx *store.Tx) (*AppendResult, error) {
		p, err := appendPlace(tx.View, &a)
		if err != nil {
			return nil, err
		}
		out := &AppendResult{Parent: session.ID(p.MessageID())}
		if out.Message, err = sessionid.NewMessage(tx.View.Store.Opts.Random); err != nil {
			return nil, err
		}
		m := &store.Message{ID: out.Message, Role: a.Role, Content: a.content(), Metadata: a.tools(), Own: slices.Clone(own)}
		if a.Kind != "" {
			if err := checkClarification(tx.View, p, a.Kind); err != nil {
				return nil, err
			}
			m.Metadata = append(m.Metadata, rawjson.Pair{Key: "kind", Value: rawjson.Compact(a.Kind)})
		}
		if frozen := p.Frozen(); frozen != "" {
			out.ForkedFrom = session.ID(frozen)
			out.Session, err = tx.AppendFork(p, m, "")
		} else {
			out.Mixed = p.Node >= 0 && !p.IsLeaf(p.Node) && tx.View.Index.Dialect() == session.Penguin
			out.Session, err = tx.AppendTo(p, m)
		}
		tx.Op.Args["message"] = out.Message
		if err != nil || a.Session != "" {
			return out, err
		}
		if out.ForkedFrom != "" {
			_, err = tx.MoveHead(out.Session, out.Message, out.Message)
			return out, err
		}
		return out, tx.AdvanceHead(out.Session, out.Message)
	})
}

// snapFor takes the state of a.Files, if there is one, and returns the member of metadata.bough
// that names it.
func (w *Workspace) snapFor(ctx context.Context, a *Append) (own []rawjson.Pair, err error) {
	if a.Files == "" {
		return nil, nil
	}
	defer func() { err = store.Explained(err) }()
	want, err := store.Read(ctx, w.store, func(v *store.View) (want folders.Wish, err error) {
		p, err := appendPlace(v, a)
		if err != nil || p.Node < 0 {
			return want, err
		}
		return folders.Wish{Session: p.Parts[p.Part(p.Node)].ID, Message: p.MessageID()}, nil
	})
	if err != nil {
		return nil, err
	}
	switch want.At = states.Manual; a.Role {
	case "user":
		want.At = states.Prompt
	case "assistant":
		want.At = states.End
	}
	taken, err := folders.Take(ctx, w.store, a.Files, want)
	if err != nil {
		return nil, err
	}
	return []rawjson.Pair{{Key: "files", Value: rawjson.Compact(turn.FileState{Folder: taken.Folder, State: taken.ID})}}, nil
}

// args returns the arguments for the log, without the text, which the session
// has.
func (a *Append) args() store.Args {
	list := store.Args{"session": a.Session, "role": a.Role}
	if a.Parent != "" {
		list["parent"] = a.Parent
	}
	if a.Kind != "" {
		list["kind"] = string(a.Kind)
	}
	return list
}

func (a *Append) check() error {
	if err := cmp.Or(a.checkContent(), a.checkTools()); err != nil {
		return err
	}
	if a.Kind != "" {
		if err := lookup.Word("kind", a.Kind, turn.KindClarificationOpened, turn.KindClarificationClosed); err != nil {
			return err
		}
	}
	return checkRole(a.Role)
}

// checkClarification returns an error if a message of this kind would open a
// batch of clarifications inside another one, or close one that is not open.
func checkClarification(v *store.View, p *store.Place, kind turn.Kind) error {
	nodes, err := nodesOf(v, p.Line, p.Path(p.Node))
	if err != nil {
		return err
	}
	last := turn.KindClarificationClosed
	for _, n := range nodes {
		switch k := turn.Kind(gjson.GetBytes(n.Raw, "metadata.kind").String()); k {
		case turn.KindClarificationOpened, turn.KindClarificationClosed:
			last = k
		}
	}
	switch {
	case kind != last:
		return nil
	case kind == turn.KindClarificationOpened:
		return &fault.Error{Code: fault.Refused, Message: "a batch of clarifications is already open", Next: fault.Do(fault.CloseClarifications)}
	}
	return &fault.Error{Code: fault.Refused, Message: "no batch of clarifications is open", Next: fault.Do(fault.OpenClarifications)}
}

func checkRole(role string) error {
	return lookup.Word("role", role, "user", "assistant", "system", "tool")
}

// appendPlace returns the place of the message that a replies to.
func appendPlace(v *store.View, a *Append) (*store.Place, error) {
	name := a.Session
	if name == "" {
		h, ok := v.Head()
		if !ok {
			return nil, &fault.Error{
				Code:    fault.NotFound,
				Message: "the head is not set, so the message has no parent",
				Next:    fault.Do(fault.NameSession),
			}
		}
		name = h.Session
	}
	l, err := v.LineNamed(name, false)
	if err != nil {
		return nil, err
	}
	p := &store.Place{Line: l, Node: -1}
	if a.Parent != "" {
		p.Node, err = l.Lookup(a.Parent)
		return p, err
	}
	if node, ok := v.HeadIn(l); ok {
		p.Node = node
		return p, nil
	}
	p.Node, err = v.End(l, false)
	return p, err
}
