package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
)

// A newMessage is the body of storeMessage.
type newMessage struct {
	Blob   json.RawMessage `json:"blob"`
	Format string          `json:"format"`
	Meta   json.RawMessage `json:"meta"`
	Parent json.RawMessage `json:"parent_id"`
}

// storeMessage stores a message with its files.
func storeMessage(c *call) (*answer, error) {
	in, form, err := c.newMessage()
	defer form.remove()
	if err != nil {
		return nil, err
	}
	meta, err := c.object("meta", in.Meta, false)
	if err != nil {
		return nil, err
	}
	m, err := c.parse(in)
	if err != nil {
		return nil, err
	}
	files, err := attach(m, form)
	if err != nil {
		return nil, err
	}
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	parent, err := parentName(in.Parent)
	if err != nil {
		return nil, err
	}
	line, err := c.workspace.Line(name).Entry(c.r.Context())
	if err != nil {
		return nil, err
	}
	said := m
	node, err := c.workspace.Line(name).Store(c.r.Context(), lines.Message{
		Parent: parent,
		Content: func(path func() ([]lines.Node, error)) (_ lines.Content, err error) {
			said, err = matched(m, path)
			return stored(said), err
		},
		Meta:  meta,
		Files: files,
	})
	if err != nil {
		return nil, err
	}
	c.buffer.Stored(namePrefix+line.UUID, node.ID)
	item := newMessageItem(line, node, c.trackedNew(line, node))
	item.Role, item.Parts = said.Role, said.Parts
	if item.Parts == nil {
		item.Parts = []content.Part{}
	}
	return &answer{status: http.StatusCreated, data: item}, nil
}

// newMessage decodes the body. The caller must remove the form, even if there is an
// error.
func (c *call) newMessage() (*newMessage, *form, error) {
	in := &newMessage{}
	if !isForm(c.r) {
		return in, &form{}, c.decode(in)
	}
	f, err := c.form()
	if err != nil {
		return nil, f, err
	}
	if f.payload == nil {
		return nil, f, exchange.Wrong("payload is missing", "a body with files has the message in the field payload")
	}
	return in, f, c.bodyLimits().Unmarshal("payload", f.payload, in)
}

// parse decodes the message in a body.
func (c *call) parse(in *newMessage) (*content.Message, error) {
	format, err := content.ParseFormat(in.Format)
	switch {
	case err != nil:
		return nil, exchange.Wrong("format is unknown", err)
	case isNull(in.Blob):
		return nil, exchange.Wrong("blob is missing", "it must be the message, an object")
	}
	m, err := content.Parse(format, in.Blob, c.opts.Random)
	if err != nil {
		return nil, err
	}
	if n := len(m.Parts); n > c.opts.Limits.Parts {
		return nil, exchange.Wrong("the message has too many parts", fmt.Sprintf("%d; at most %d are accepted", n, c.opts.Limits.Parts))
	}
	return m, nil
}

// attach sets the assets of the parts that refer to files of a form, and returns
// these files.
func attach(m *content.Message, f *form) ([]lines.File, error) {
	var files []lines.File
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.FileField == "" {
			continue
		}
		u := f.file(p.FileField)
		if u == nil {
			return nil, exchange.Wrong("missing file "+exchange.Quote(p.FileField), fmt.Sprintf("parts[%d] names it, and the body has no such file", i))
		}
		p.Asset = &content.Asset{
			Bucket: bucket,
			S3Key:  lines.FilePath(u.sha256),
			ETag:   u.sha256,
			SHA256: u.sha256,
			MIME:   u.mime,
			SizeB:  u.size,
		}
		p.Filename = u.name
		files = append(files, lines.File{SHA256: u.sha256, Open: u.open})
	}
	return files, nil
}

// bucket is the bucket of attachments in answers: all are in the workspace.
const bucket = "bough"

// parentName returns the name of the parent of a new message, "" for the newest
// message.
func parentName(raw json.RawMessage) (string, error) {
	if isNull(raw) {
		return "", nil
	}
	var id string
	if err := json.Unmarshal(raw, &id); err != nil {
		return "", exchange.Wrong("parent_id is not a UUID", "it is not a string")
	}
	if id = strings.TrimSpace(id); id == "" {
		return "", nil
	}
	return nameOf("parent_id", id)
}

// matched sets the call ids of tool results that name only the tool, from the calls
// on the path.
func matched(m *content.Message, path func() ([]lines.Node, error)) (*content.Message, error) {
	if !m.Unmatched() {
		return m, nil
	}
	nodes, err := path()
	if err != nil {
		return m, err
	}
	out, err := content.Match(m, readAll(nodes))
	if err != nil {
		return m, err
	}
	return out, nil
}

// stored converts a message to the form in which it is stored.
func stored(m *content.Message) lines.Content {
	role, value, own := m.Stored()
	out := lines.Content{Role: role, Value: value}
	for _, member := range own {
		out.Own = append(out.Own, lines.Member(member))
	}
	return out
}

// trackedNew returns the tracking state of a message that was just stored. It logs
// errors instead of returning them, because the client would store the message
// again.
func (c *call) trackedNew(l *lines.Entry, n *lines.Node) lines.MessageTracking {
	list, err := c.workspace.TrackingOf(c.r.Context(), &lines.Path{Line: *l, Nodes: []lines.Node{*n}}, c.buffer.Running)
	if err != nil {
		c.opts.Log(err.Error())
		return lines.MessageTracking{Status: task.Pending}
	}
	return list[0]
}
