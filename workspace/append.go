package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/stored"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// New begins an empty conversation and moves the head there. The title may be
// empty.
func (w *Workspace) New(ctx context.Context, title string) (*Entry, error) {
	return w.NewSession(ctx, NewOptions{Title: title})
}

// NewOptions are the choices for a new conversation.
type NewOptions struct {
	Title string // may be empty

	// Dialect is "bough" or "penguin": how links and times are written. It must
	// match the sessions of the folder. Empty means their dialect, and bough's in an
	// empty folder.
	Dialect string
}

// dialect returns o.Dialect, or folder, the dialect of the folder, if that is
// empty. It returns an error if the folder has sessions in the other dialect.
func (o NewOptions) dialect(folder session.Dialect, empty bool) (session.Dialect, error) {
	var d session.Dialect
	switch o.Dialect {
	case "":
		return folder, nil
	case session.Bough.String():
		d = session.Bough
	case session.Penguin.String():
		d = session.Penguin
	default:
		return 0, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("unknown dialect %q", o.Dialect), Hint: "dialects are bough, penguin"}
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
	if err := checkUTF8("title", o.Title); err != nil {
		return nil, err
	}
	if _, err := o.dialect(session.Bough, true); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "new", Args: args{"title": o.Title}}
	return create(ctx, w.store, op, func(tx *Tx) (*Entry, error) {
		dialect, err := o.dialect(tx.View.index.Dialect(), len(tx.View.index.IDs()) == 0)
		if err != nil {
			return nil, err
		}
		id, err := tx.newSessionIn(dialect, "", o.Title)
		if err != nil {
			return nil, err
		}
		entry := tx.View.entryOf(id)
		_, err = tx.moveHead(id, "", "")
		return &entry, err
	})
}

// newSession stages an empty root session and returns its id. If id is "", one
// is generated. own are members of metadata.bough.
func (tx *Tx) newSession(id, title string, own ...rawjson.Pair) (string, error) {
	return tx.newSessionIn(tx.View.index.Dialect(), id, title, own...)
}

// newSessionIn is newSession with a dialect.
func (tx *Tx) newSessionIn(dialect session.Dialect, id, title string, own ...rawjson.Pair) (string, error) {
	if id == "" {
		var err error
		if id, err = tx.View.newID(); err != nil {
			return "", err
		}
	}
	now := dialect.Time(tx.View.now(nil))
	d := &session.Document{ID: id, CreatedAt: now, LastActive: now, Metadata: newMetadata(dialect, title, 0)}
	if len(own) > 0 {
		d.Metadata.Set("bough", rawjson.AppendObject(nil, own, 2))
	}
	return id, tx.create(d)
}

// newMetadata returns the metadata of a session that is not a snapshot.
func newMetadata(dialect session.Dialect, title string, messages int, from ...string) session.Metadata {
	var m session.Metadata
	set := func(key string, value any) { m.Set(key, rawjson.Value(value, 2)) }
	if title != "" {
		set("title", title)
	}
	set("message_count", messages)
	switch {
	case dialect == session.Bough:
		set("continued_from", list(from))
		set("continued_to", []string{})
	case len(from) > 0:
		set("continued_from", from[0])
	}
	return m
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
	return update(ctx, w.store, operation.Operation{Verb: "append", Args: a.args()}, func(tx *Tx) (*AppendResult, error) {
		p, err := tx.View.appendPlace(&a)
		if err != nil {
			return nil, err
		}
		out := &AppendResult{Parent: session.ID(p.messageID())}
		if out.Message, err = sessionid.NewMessage(tx.View.store.opts.Random); err != nil {
			return nil, err
		}
		m := &message{id: out.Message, role: a.Role, content: a.content(), metadata: a.tools()}
		if a.Kind != "" {
			if err := tx.View.checkClarification(p, a.Kind); err != nil {
				return nil, err
			}
			m.metadata = append(m.metadata, rawjson.Pair{Key: "kind", Value: rawjson.Compact(a.Kind)})
		}
		if frozen := tx.View.frozen(p); frozen != "" {
			out.ForkedFrom = session.ID(frozen)
			out.Session, err = tx.appendFork(p, m, "")
		} else {
			out.Mixed = p.node >= 0 && !p.IsLeaf(p.node) && tx.View.index.Dialect() == session.Penguin
			out.Session, err = tx.appendTo(p, m)
		}
		tx.op.Args["message"] = out.Message
		if err != nil || a.Session != "" {
			return out, err
		}
		if out.ForkedFrom != "" {
			_, err = tx.moveHead(out.Session, out.Message, out.Message)
			return out, err
		}
		return out, tx.advanceHead(out.Session, out.Message)
	})
}

// args returns the arguments for the log, without the text, which the session
// has.
func (a *Append) args() args {
	list := args{"session": a.Session, "role": a.Role}
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
		if err := checkWord("kind", string(a.Kind), string(turn.KindClarificationOpened), string(turn.KindClarificationClosed)); err != nil {
			return err
		}
	}
	return checkRole(a.Role)
}

// checkClarification returns an error if a message of this kind would open a
// batch of clarifications inside another one, or close one that is not open.
func (v *View) checkClarification(p *place, kind turn.Kind) error {
	nodes, err := v.nodesOf(p.line, p.Path(p.node))
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
	return checkWord("role", role, "user", "assistant", "system", "tool")
}

// checkUTF8 returns an error if JSON cannot represent s.
func checkUTF8(what, s string) error {
	if !utf8.ValidString(s) {
		return &fault.Error{Code: fault.Usage, Message: "the " + what + " is not valid UTF-8"}
	}
	return nil
}

// appendPlace returns the place of the message that a replies to.
func (v *View) appendPlace(a *Append) (*place, error) {
	name := a.Session
	if name == "" {
		h, ok := v.head()
		if !ok {
			return nil, &fault.Error{
				Code:    fault.NotFound,
				Message: "the head is not set, so the message has no parent",
				Next:    fault.Do(fault.NameSession),
			}
		}
		name = h.Session
	}
	l, err := v.lineNamed(name, false)
	if err != nil {
		return nil, err
	}
	p := &place{line: l, node: -1}
	if a.Parent != "" {
		p.node, err = l.find(a.Parent)
		return p, err
	}
	if node, ok := v.headIn(l); ok {
		p.node = node
		return p, nil
	}
	p.node, err = v.end(l, false)
	return p, err
}

// frozen returns the checkpoint that a message below p would change: the
// session that was requested, or the file of the parent if another program
// continued a checkpoint. It returns "" if there is none.
func (v *View) frozen(p *place) string {
	for _, id := range []string{p.id(), p.Parts[p.filePart()].ID} {
		if v.kind(id) == session.Checkpoint {
			return id
		}
	}
	return ""
}

// ownContinued is a member of metadata.bough: the message was added to its file
// after that was continued.
const ownContinued = "continued"

// A message is a message to add.
type message struct {
	id, role string
	content  []byte // JSON
	metadata []rawjson.Pair
	own      []rawjson.Pair // members of metadata.bough
	raw      []byte         // the stored form, set when it is written
}

// kind returns the kind in the metadata of m.
func (m *message) kind() turn.Kind {
	if i := slices.IndexFunc(m.metadata, isKind); i >= 0 {
		return turn.Kind(gjson.ParseBytes(m.metadata[i].Value).String())
	}
	return turn.KindOf(m.role)
}

func isKind(p rawjson.Pair) bool { return p.Key == "kind" }

// encode returns the stored form of m. metadata are additional members of its
// metadata.
func (m *message) encode(at string, metadata ...rawjson.Pair) []byte {
	if !slices.ContainsFunc(m.metadata, isKind) {
		metadata = append(metadata, rawjson.Pair{Key: "kind", Value: rawjson.Compact(m.kind())})
	}
	metadata = append(metadata, m.metadata...)
	if len(m.own) > 0 {
		metadata = append(metadata, rawjson.Pair{Key: "bough", Value: rawjson.AppendObject(nil, m.own, 4)})
	}
	m.raw = stored.Message{ID: m.id, Role: m.role, Content: m.content, Time: at, Metadata: metadata}.Encode()
	return m.raw
}

// appendFork creates a branch at p with the message, in one file. The title may
// be empty.
func (tx *Tx) appendFork(p *place, m *message, title string) (string, error) {
	d, err := tx.View.document(p, checkpoint.Spec{Kind: session.Branch, Title: title})
	if err != nil {
		return "", err
	}
	tx.logAddition(m, addition{Parent: session.ID(p.messageID()), Copy: true})
	d.Messages = append(d.Messages, session.Run{Raw: m.encode(d.LastActive)})
	d.Metadata.Set("message_count", rawjson.Compact(d.Len()))
	return d.ID, tx.create(d)
}

// appendTo adds the message below p, in the file of its parent, or, under the
// newest leaf of the line, in the line's last file or a new continuation.
func (tx *Tx) appendTo(p *place, m *message) (string, error) {
	tx.logAddition(m, addition{Parent: session.ID(p.messageID()), Branch: p.branchesAt()})
	s := p.Parts[p.filePart()]
	at := tx.View.index.Dialect().Time(tx.View.now(p.line))
	if p.node >= 0 && p.node == p.Newest(0) && s.Len()-s.Header >= tx.View.store.opts.Limit {
		return tx.appendContinuation(p, s, m, at)
	}
	var metadata []rawjson.Pair
	if p.node != p.Follows(p.filePart()) {
		parent := rawjson.Compact(session.ID(p.messageID()))
		metadata = append(metadata, rawjson.Pair{Key: "parent_id", Value: parent})
	}
	if len(tx.View.index.Continuations(s.ID)) > 0 {
		m.own = append(m.own, rawjson.Pair{Key: ownContinued, Value: []byte("true")})
	}
	edit := s.Edit()
	edit.SetActive(at)
	edit.SetMeta("message_count", s.Len()+1)
	edit.Append(m.encode(at, metadata...))
	if err := tx.replace(edit); err != nil {
		return "", err
	}
	return s.ID, tx.completeLink(p.line, s)
}

// completeLink adds the link to s in the file that s continues, if it is
// missing: a crash may have occurred between the two writes.
func (tx *Tx) completeLink(l *line, s *session.Outline) error {
	if s.Meta.Kind() != session.Continuation {
		return nil
	}
	for _, part := range l.Parts {
		if part.ID == s.Meta.Origin() && !slices.Contains(part.Meta.ContinuedTo, s.ID) {
			return tx.setContinuedTo(part)
		}
	}
	return nil
}

// filePart returns the index of the file for a message below p: the file of its
// parent, or the last empty file that continues it.
func (p *place) filePart() int {
	part := 0
	if p.node >= 0 {
		part = p.Part(p.node)
	}
	for i := range p.Parts {
		if i > part && p.Follows(i) == p.node && p.Parts[i].Len() == p.Parts[i].Header {
			part = i
		}
	}
	return part
}

// appendContinuation stages m in a new file that continues s, which is full.
func (tx *Tx) appendContinuation(p *place, s *session.Outline, m *message, at string) (string, error) {
	return tx.continuation(p, s, p.messageID(), at, m.encode(at))
}

// continuation stages a new file that continues s, a file of the line of p: the line's
// headers, a marker with parent, and messages. It links the file in s.
func (tx *Tx) continuation(p *place, s *session.Outline, parent, at string, messages ...[]byte) (string, error) {
	id, err := tx.View.newID()
	if err != nil {
		return "", err
	}
	d := &session.Document{ID: id, CreatedAt: at, LastActive: at}
	first, err := tx.View.reopen(p.Parts[0])
	if err != nil {
		return "", err
	}
	for i, header := range first.Messages {
		if c := header.Category(); c != "SYSTEM" && c != "CONTEXT" || header.IsMarker() {
			continue
		}
		copied, err := sessionid.NewMessage(tx.View.store.opts.Random)
		if err != nil {
			return "", err
		}
		d.Messages = append(d.Messages, session.Run{Raw: first.Copy(i, copied, at)})
	}
	marker, err := sessionid.NewMessage(tx.View.store.opts.Random)
	if err != nil {
		return "", err
	}
	d.Messages = append(d.Messages, session.Run{Raw: stored.Marker(marker, s.ID, parent, at)})
	for _, raw := range messages {
		d.Messages = append(d.Messages, session.Run{Raw: raw})
	}
	d.Metadata = newMetadata(tx.View.index.Dialect(), "", len(d.Messages), s.ID)
	if err := tx.create(d); err != nil {
		return "", err
	}
	return id, tx.setContinuedTo(s)
}

// setContinuedTo writes the continuations of s into its file, in the dialect of
// the file.
func (tx *Tx) setContinuedTo(s *session.Outline) error {
	edit := s.Edit()
	linkTo(edit, s.Meta.Dialect(), tx.View.index.Continuations(s.ID))
	return tx.edit(edit, true)
}

// linkTo sets the continuations of a session, in the dialect d.
func linkTo(edit *session.Edit, d session.Dialect, ids []string) {
	switch {
	case d == session.Bough:
		edit.SetMeta("continued_to", list(ids))
	case len(ids) == 0:
		edit.DeleteMeta("continued_to")
	case len(ids) == 1:
		edit.SetMeta("continued_to", ids[0])
	default:
		edit.SetMeta("continued_to", ids)
	}
}
