package server

import (
	"encoding/base64"
	"encoding/json"
	"io"

	"github.com/bough-dev/bough/content"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/task"
	"github.com/bough-dev/bough/workspace"
)

// A messageItem is a message as Acontext's clients, of both generations, know it.
type messageItem struct {
	ID        string          `json:"id"`
	Session   string          `json:"session_id"`
	Parent    *string         `json:"parent_id"`
	Role      string          `json:"role"`
	Meta      json.RawMessage `json:"meta"`
	Parts     []content.Part  `json:"parts"`
	Task      *string         `json:"task_id"`
	Status    task.Status     `json:"session_task_process_status"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
}

// newMessageItem returns the message m, which stands at n of a line.
func newMessageItem(l *workspace.LineEntry, n *workspace.Node, m *content.Message, t workspace.Tracked) messageItem {
	at := n.Time
	if at.IsZero() {
		at = l.CreatedAt
	}
	item := messageItem{
		ID:        n.UUID,
		Session:   l.UUID,
		Parent:    orNull(n.Parent),
		Role:      m.Role,
		Meta:      orEmpty(n.Meta),
		Parts:     m.Parts,
		Task:      orNull(t.Task),
		Status:    t.Status,
		CreatedAt: session.FormatTime(at),
	}
	item.UpdatedAt = item.CreatedAt
	if item.Parts == nil {
		item.Parts = []content.Part{}
	}
	return item
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orEmpty returns an object, the empty one for none.
func orEmpty(object json.RawMessage) json.RawMessage {
	if object == nil {
		return json.RawMessage("{}")
	}
	return object
}

// acontextItems fills in the items in the form of Acontext, which has more than the
// content of a message.
func (c *call) acontextItems(rd *reading, path *workspace.Path, p page, messages []*content.Message, places []int, out *messageList) error {
	tracked, err := c.workspace.Tracked(c.r.Context(), path, c.buffer.Running)
	if err != nil {
		return err
	}
	out.Items = make([]json.RawMessage, len(messages))
	for i, m := range messages {
		at := p.from + places[i]
		item := newMessageItem(&path.Line, &path.Nodes[at], m, tracked[at])
		item.Meta = storedMeta(m, path.Nodes[at].Meta)
		out.Items[i] = rawjson.Compact(item)
		for _, part := range m.Parts {
			if a := part.Asset; a != nil && rd.links {
				if out.URLs == nil {
					out.URLs = map[string]publicURL{}
				}
				out.URLs[a.SHA256] = c.publicURL(a.SHA256, part.Filename, a.MIME)
			}
		}
	}
	return nil
}

// storedMeta returns the meta of an item of a list, which in Acontext is more than what
// the user noted: what the format said of the message, and that in __user_meta__.
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

// inline returns a function that says where the asset of a part can be had by whoever
// the messages are sent to, for whom links into this machine are useless: in the
// message itself.
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
		data, err := io.ReadAll(io.LimitReader(f, left+1))
		if err != nil || int64(len(data)) > left {
			return ""
		}
		left -= int64(len(data))
		return "data:" + a.MIME + ";base64," + base64.StdEncoding.EncodeToString(data)
	}
}
