package server

import (
	"encoding/base64"
	"encoding/json"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// A messageItem is a message in Acontext's format, for clients of both generations.
type messageItem struct {
	messagePlace
	Role  string         `json:"role"`
	Parts []content.Part `json:"parts"`
	messageState
}

// A messagePlace is the position of a message.
type messagePlace struct {
	ID      string  `json:"id"`
	Session string  `json:"session_id"`
	Parent  *string `json:"parent_id"`
}

// A messageState holds the properties of a message besides its content.
type messageState struct {
	Meta      json.RawMessage `json:"meta"`
	Task      *string         `json:"task_id"`
	Status    task.Status     `json:"session_task_process_status"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
}

// newMessageItem returns the message at n of a line, without its content.
func newMessageItem(l *lines.Entry, n *lines.Node, t lines.MessageTracking) messageItem {
	at := n.Time
	if at.IsZero() {
		at = l.CreatedAt
	}
	written := session.Bough.Time(at)
	return messageItem{
		messagePlace: messagePlace{n.UUID, l.UUID, orNull(n.Parent)},
		messageState: messageState{orEmpty(n.Meta), orNull(t.Task), t.Status, written, written},
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orEmpty returns object, or the empty object for nil.
func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}

// acontextItems adds the items in Acontext's format, which has more than the
// content of a message.
func (c *call) acontextItems(rd *reading, path *lines.Path, p page, messages []*content.Message, places []int, out *messageList) error {
	tracked, err := c.workspace.TrackingOf(c.r.Context(), path, c.buffer.Running)
	if err != nil {
		return err
	}
	said := make([]*content.Message, len(messages))
	for i, m := range messages {
		said[i] = &content.Message{Role: m.Role, Parts: m.Parts}
		out.link(c, rd, m)
	}
	out.Items = content.Items(content.Acontext, said, nil)
	for i, m := range messages {
		at := p.from + places[i]
		item := newMessageItem(&path.Line, &path.Nodes[at], tracked[at])
		item.Meta = storedMeta(m, path.Nodes[at].Meta)
		out.Items[i] = joined(rawjson.Compact(item.messagePlace), out.Items[i], rawjson.Compact(item.messageState))
	}
	return nil
}

// joined returns an object with the members of objects, which must not be empty.
func joined(objects ...json.RawMessage) json.RawMessage {
	size := 0
	for _, o := range objects {
		size += len(o)
	}
	all := make(json.RawMessage, 0, size)
	for i, o := range objects {
		if i > 0 {
			all[len(all)-1] = ','
			o = o[len("{"):]
		}
		all = append(all, o...)
	}
	return all
}

// link adds the URLs of the assets of a message if requested.
func (l *messageList) link(c *call, rd *reading, m *content.Message) {
	for _, part := range m.Parts {
		if a := part.Asset; a != nil && rd.links {
			if l.URLs == nil {
				l.URLs = map[string]publicURL{}
			}
			l.URLs[a.SHA256] = c.publicURL(a.SHA256, part.Filename, a.MIME)
		}
	}
}

// storedMeta returns the meta of an item of a list. Acontext combines two objects:
// the message's metadata in its format, and the user's metadata in __user_meta__.
func storedMeta(m *content.Message, noted json.RawMessage) json.RawMessage {
	own, err := m.Own.MarshalJSON()
	if err != nil || noted == nil {
		return orEmpty(own)
	}
	if len(own) > len("{}") {
		own = append(own[:len(own)-1], ',')
	} else {
		own = own[:1]
	}
	own = append(own, `"__user_meta__":`...)
	return append(append(own, noted...), '}')
}

// inline returns a function that returns the URL of an asset for a recipient on
// another machine, who cannot follow links to this one: a data URL with the
// content.
func (c *call) inline(rd *reading) func(*content.Asset) string {
	left := c.opts.Limits.Inline
	return func(a *content.Asset) string {
		if !rd.links || a.SizeB > left {
			return ""
		}
		f, err := c.workspace.OpenFile(c.r.Context(), a.SHA256)
		if err != nil {
			return ""
		}
		defer f.Close()
		data, err := bounded.ReadAll(f, left)
		if err != nil {
			return ""
		}
		left -= int64(len(data))
		return "data:" + a.MIME + ";base64," + base64.StdEncoding.EncodeToString(data)
	}
}
