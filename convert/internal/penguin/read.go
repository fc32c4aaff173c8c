// Package penguin reads and writes session files, as bough and the Penguin assistant write
// them. Messages are copied byte for byte.
package penguin

import (
	"bytes"
	"io"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

func Detect(head []byte) bool {
	v := gjson.ParseBytes(bytes.TrimSpace(head))
	if !v.IsObject() || v.Get("sessionId").Exists() || !v.Get("messages").IsArray() {
		return false
	}
	m := v.Get("messages.0")
	if !m.Exists() {
		return v.Get("created_at").Exists() && v.Get("metadata").IsObject()
	}
	return m.Get("id").Type == gjson.String && m.Get("role").Type == gjson.String &&
		(v.Get("metadata").IsObject() || m.Get("category").Exists())
}

func Read(in io.Reader, to transcript.Sink) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	s, err := session.Decode(gjson.GetBytes(data, "id").String(), data)
	if err != nil {
		if torn, _, ok := session.Recover(data); ok {
			to.Problem(transcript.Problem{What: "truncated; the complete messages are read"})
			s, err = session.Decode(gjson.GetBytes(data, "id").String(), torn)
		}
		if err != nil {
			return err
		}
	}
	tree, err := session.NewTree([]*session.Outline{s.Outline}, func(*session.Outline) (*session.Session, error) { return s, nil })
	if err != nil {
		return err
	}
	c := &transcript.Conversation{ID: s.OwnID, Title: s.Meta.Title, Session: s}
	c.Created, _ = session.ParseTime(s.CreatedAt)
	if from := s.Meta.Origin(); from != "" && !s.Meta.Snapshot {
		c.Fork = &transcript.Fork{ID: from, Records: transcript.AllRecords}
	}
	for n := range tree.Len() {
		raw := s.Messages[tree.Index(n)]
		m := &transcript.Message{Message: *content.Read(raw.Raw), ID: raw.ID, Raw: raw.Raw}
		if p := tree.Parent(n); p >= 0 {
			m.Parent = tree.ID(p)
		} else if orphan := gjson.GetBytes(raw.Raw, "metadata.parent_id"); orphan.Type == gjson.String {
			m.Parent = orphan.Str
		} else if c.Fork != nil && s.Header > 0 {
			m.Parent = gjson.GetBytes(s.Messages[s.Header-1].Raw, "metadata.parent_id").String()
		}
		m.Time, _ = raw.Time()
		if err := to.Message(m); err != nil {
			return err
		}
	}
	if n := tree.Newest(0); n >= 0 {
		c.Leaf = tree.ID(n)
	}
	return to.End(c)
}
