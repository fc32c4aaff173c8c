// Package state lists the fields of what readers keep between the parts of a transcript, for
// package fields.
package state

import (
	"encoding/json"
	"errors"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
)

var errSession = errors.New("a session file has no state")

// Conversation is for a conversation, which has no session file.
func Conversation(c *fields.Coder, v *transcript.Conversation) {
	if v.Session != nil {
		c.Fail(errSession)
	}
	for _, text := range []*string{&v.ID, &v.Title, &v.Dir, &v.Version, &v.Model, &v.Branch, &v.Leaf} {
		c.String(text)
	}
	c.Time(&v.Created)
	fields.Pointer(c, &v.Fork, func(f *transcript.Fork) {
		c.String(&f.ID)
		c.Int(&f.Records)
	})
	fields.Map(c, &v.Parents, c.String)
	c.Bool(&v.Anonymous)
	c.Bool(&v.Side)
	c.String(&v.BegunBy)
	fields.Map(c, &v.Began, c.String)
	Records(c, &v.Records)
}

// Records is for a list of records.
func Records(c *fields.Coder, v *[]json.RawMessage) {
	fields.Slice(c, v, func(raw *json.RawMessage) { fields.Bytes(c, raw) })
}

// Message is for a pointer to a message, which may be nil.
func Message(c *fields.Coder, v **transcript.Message) {
	fields.Pointer(c, v, func(m *transcript.Message) {
		c.String(&m.Role)
		Parts(c, &m.Parts)
		fields.Text(c, &m.Own.Format)
		c.String(&m.Own.Name)
		c.String(&m.Own.Role)
		fields.Bytes(c, &m.Own.Rest)
		for _, text := range []*string{&m.ID, &m.Parent, &m.Model, &m.CopyOf, &m.Joined, &m.Format} {
			c.String(text)
		}
		c.Time(&m.Time)
		fields.Text(c, &m.Kind)
		c.Bool(&m.Guessed)
		c.Bool(&m.Open)
		fields.Bytes(c, &m.Raw)
		Records(c, &m.Records)
	})
}

// Parts is for the parts of a message.
func Parts(c *fields.Coder, v *[]content.Part) {
	fields.Slice(c, v, func(p *content.Part) {
		c.String(&p.Type)
		c.String(&p.Text)
		fields.Pointer(c, &p.Asset, func(a *content.Asset) {
			for _, text := range []*string{&a.Bucket, &a.S3Key, &a.ETag, &a.SHA256, &a.MIME} {
				c.String(text)
			}
			c.Int64(&a.SizeB)
		})
		c.String(&p.Filename)
		fields.Bytes(c, &p.Meta)
		c.String(&p.FileField)
	})
}
