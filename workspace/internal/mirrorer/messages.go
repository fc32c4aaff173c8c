package mirrorer

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Messages returns the messages of the file of a session, in the order of the file; of a
// checkpoint only those that its seal counts. id is the id of the session.
func Messages(ctx context.Context, w *store.Store, id string) ([]mirror.Message, error) {
	return store.Read(ctx, w, func(v *store.View) ([]mirror.Message, error) { return readMessages(v, id) })
}

// Several returns the messages of the first of several sessions, as Messages does, and of those after it as
// far as that takes about limit bytes and they can be read. The error is that of the first one.
func Several(ctx context.Context, w *store.Store, ids []string, limit int) ([][]mirror.Message, error) {
	return store.Read(ctx, w, func(v *store.View) (lists [][]mirror.Message, err error) {
		bytes := 0
		for _, id := range ids {
			list, err := readMessages(v, id)
			if err != nil && len(lists) > 0 {
				break
			}
			if err != nil {
				return nil, err
			}
			lists = append(lists, list)
			for _, m := range list {
				bytes += len(m.Raw)
			}
			if bytes >= limit {
				break
			}
		}
		return lists, nil
	})
}

func readMessages(v *store.View, id string) ([]mirror.Message, error) {
	if v.Index.Entry(id) == nil {
		if err := v.Index.Err(id); err != nil {
			return nil, err
		}
		return nil, store.NoSuch("session", id)
	}
	o, err := v.Outline(id)
	if err != nil {
		return nil, err
	}
	s, err := v.Folder.Open(o)
	if err != nil {
		return nil, err
	}
	l, err := v.Line(id, true)
	if err != nil {
		return nil, err
	}
	parents := parentsIn(l.Tree, l.Named)
	list := make([]mirror.Message, 0, len(s.Messages))
	for i, m := range s.Messages[:o.Frozen()] {
		list = append(list, mirror.Message{ID: m.ID, Raw: m.Raw, Header: i < o.Header, Parent: session.ID(parents[m.ID])})
	}
	return list, nil
}

// parentsIn returns the ids of the parents of the messages of a part, "" for a root.
func parentsIn(t *session.Tree, part int) map[string]string {
	parents := make(map[string]string, t.Parts[part].Len())
	for n := range t.Len() {
		if _, known := parents[t.ID(n)]; known && t.Part(n) != part {
			continue
		}
		parents[t.ID(n)] = ""
		if p := t.Parent(n); p >= 0 {
			parents[t.ID(n)] = t.ID(p)
		}
	}
	return parents
}

// Attachment returns the content of an attachment.
func Attachment(ctx context.Context, w *store.Store, sum string) (_ []byte, err error) {
	defer func() { err = store.Explained(err) }()
	if !lines.ValidSum(sum) {
		return nil, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("%q is not a SHA-256", sum)}
	}
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := store.CheckFile(root, sum); err != nil {
		return nil, err
	}
	return durable.ReadFile(root, lines.FilePath(sum))
}

// decoded validates messages and returns them as a session with no other member. The error says
// which message is wrong.
func decoded(messages []mirror.Message) (*session.Session, error) {
	size := len(`{"messages":[]}`)
	for _, m := range messages {
		size += len(m.Raw) + len(session.Separator)
	}
	data := append(make([]byte, 0, size), `{"messages":[`...)
	for i, m := range messages {
		if i > 0 {
			data = append(data, session.Separator...)
		}
		data = append(data, m.Raw...)
	}
	s, err := session.Decode("messages", append(data, "]}"...))
	if err == nil && len(s.Messages) != len(messages) {
		err = fmt.Errorf("a message is more than one value")
	}
	if err != nil {
		for _, m := range messages {
			if _, alone := session.Decode("message", fmt.Appendf(nil, `{"messages":[%s]}`, m.Raw)); alone != nil {
				return nil, fmt.Errorf("the message %q is malformed: %w", m.ID, alone)
			}
		}
		return nil, err
	}
	for i, m := range messages {
		switch {
		case !bytes.Equal(s.Messages[i].Raw, bytes.TrimSpace(m.Raw)):
			return nil, fmt.Errorf("the message %q is malformed", m.ID) // it ends the array of messages
		case s.Messages[i].ID != m.ID:
			return nil, fmt.Errorf("the message %q has the id %q", m.ID, s.Messages[i].ID)
		}
	}
	return s, nil
}

// hasParent reports whether a message has a parent_id.
func hasParent(raw []byte) bool { return gjson.GetBytes(raw, "metadata.parent_id").Exists() }

// below returns a message with a parent_id, "" for none, unless it has one.
func below(raw []byte, parent string) ([]byte, error) {
	if hasParent(raw) {
		return raw, nil
	}
	value := []byte("null")
	if parent != "" {
		value = rawjson.Compact(parent)
	}
	return withMetadata(raw, "parent_id", value)
}

// withMetadata returns a message with a member of its metadata, whose path has no other dots than
// those between levels.
func withMetadata(raw []byte, path string, value []byte) ([]byte, error) {
	at := "metadata"
	for _, name := range strings.Split(path, ".") {
		if v := gjson.GetBytes(raw, at); v.Exists() && v.Type != gjson.Null && !v.IsObject() {
			return nil, fmt.Errorf("%s of a message is not an object", at)
		}
		at += "." + name
	}
	return sjson.SetRawBytes(bytes.Clone(raw), "metadata."+path, value)
}

// sameMessage reports whether two messages are equal except for white space, metadata.bough, which
// may change later, and the parent_id.
func sameMessage(a, b []byte) bool {
	return bytes.Equal(a, b) || bytes.Equal(content(a), content(b))
}

// content returns what never changes in a message.
func content(raw []byte) []byte {
	raw = bytes.Clone(raw)
	for _, path := range []string{"metadata.bough", "metadata.parent_id"} {
		if without, err := sjson.DeleteBytes(raw, path); err == nil {
			raw = without
		}
	}
	if m := gjson.GetBytes(raw, "metadata"); m.IsObject() && len(m.Map()) == 0 {
		if without, err := sjson.DeleteBytes(raw, "metadata"); err == nil {
			raw = without
		}
	}
	return rawjson.Dense(raw)
}
