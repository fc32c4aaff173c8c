package server

import (
	"encoding/json"

	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/lines"
)

func addEvent(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if in.Type == "" {
		return nil, exchange.Wrong("type is missing", "an event has a type and data")
	}
	data, err := c.object("data", in.Data, true)
	if err != nil {
		return nil, err
	}
	line, err := c.workspace.Line(name).Entry(c.r.Context())
	if err != nil {
		return nil, err
	}
	e, err := c.workspace.Line(name).AddEvent(c.r.Context(), in.Type, data)
	if err != nil {
		return nil, err
	}
	return ok(c.eventItem(line.UUID, e)), nil
}

// An eventItem is an event in Acontext's format.
type eventItem struct {
	ID        string          `json:"id"`
	Session   string          `json:"session_id"`
	Project   string          `json:"project_id"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
}

func (s *Server) eventItem(sessionID string, e *lines.Event) eventItem {
	at := session.Bough.Time(e.CreatedAt)
	data := plainJSON(e.Data)
	if data == nil {
		data = json.RawMessage("{}")
	}
	return eventItem{e.ID, sessionID, s.project.String(), e.Type, data, at, at}
}

func listEvents(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	q := c.query()
	after, limit, newest := q.cursor(), q.number("limit", 50, 1, 200), q.truth("time_desc", false)
	if q.err != nil {
		return nil, q.err
	}
	line, err := c.workspace.Line(name).Entry(c.r.Context())
	if err != nil {
		return nil, err
	}
	events, err := c.workspace.Line(name).Events(c.r.Context())
	if err != nil {
		return nil, err
	}
	return paged(events, after, limit, newest,
		func(e *lines.Event) cursor { return cursor{Time: e.CreatedAt, UUID: e.ID} },
		func(e *lines.Event) eventItem { return c.eventItem(line.UUID, e) })
}
