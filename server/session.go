package server

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/bough-dev/bough/server/internal/exchange"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/google/uuid"
)

// A sessionItem is a line in Acontext's format for sessions, for clients of both
// generations.
type sessionItem struct {
	ID        string          `json:"id"`
	Project   string          `json:"project_id"`
	Space     *string         `json:"space_id"` // none: bough has no spaces
	User      *string         `json:"user_id"`
	Untracked bool            `json:"disable_task_tracking"`
	Configs   json.RawMessage `json:"configs"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
}

func (s *Server) sessionItem(l *lines.Entry) sessionItem {
	item := sessionItem{
		ID:        l.UUID,
		Project:   s.project.String(),
		Untracked: l.Untracked,
		Configs:   plainJSON(l.Configs),
		CreatedAt: session.Bough.Time(l.CreatedAt),
		UpdatedAt: session.Bough.Time(l.UpdatedAt),
	}
	if l.User != "" {
		id := uuid.NewSHA1(s.project, []byte(l.User)).String()
		item.User = &id
	}
	return item
}

// plainJSON returns a value of a session file if it is valid JSON, or nil, encoded
// as null, if it contains Python's number tokens.
func plainJSON(value json.RawMessage) json.RawMessage {
	if !json.Valid(value) {
		return nil
	}
	return value
}

func listSessions(c *call) (*answer, error) {
	q := c.query()
	o := lines.ListOptions{
		User:   q.text("user"),
		Limit:  q.number("limit", 20, 1, 200),
		Newest: q.truth("time_desc", false),
		After:  q.cursor(),
	}
	filter := q.text("filter_by_configs")
	if q.err != nil {
		return nil, q.err
	}
	if filter != "" {
		var all map[string]json.RawMessage
		if err := c.bodyLimits().Unmarshal("parameter filter_by_configs", []byte(filter), &all); err != nil {
			return nil, err
		}
		if len(all) > 0 {
			o.Configs = json.RawMessage(filter)
		}
	}
	list, err := c.workspace.Lines(c.r.Context(), o)
	if err != nil {
		return nil, err
	}
	out := listAnswer[sessionItem]{Items: []sessionItem{}, More: list.More}
	for i := range list.Lines {
		out.Items = append(out.Items, c.sessionItem(&list.Lines[i]))
	}
	if n := len(list.Lines); list.More && n > 0 {
		last := list.Lines[n-1]
		out.Next = cursorText(cursor{Time: last.CreatedAt, UUID: last.UUID})
	}
	return ok(out), nil
}

func createSession(c *call) (*answer, error) {
	var in struct {
		User      string          `json:"user"`
		Untracked bool            `json:"disable_task_tracking"`
		Configs   json.RawMessage `json:"configs"`
		UUID      string          `json:"use_uuid"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	configs, err := c.object("configs", in.Configs, false)
	if err != nil {
		return nil, err
	}
	o := lines.Options{User: in.User, Configs: configs, Untracked: in.Untracked}
	if in.UUID != "" {
		if o.UUID, err = parseUUID("use_uuid", in.UUID); err != nil {
			return nil, err
		}
	}
	l, existed, err := c.workspace.NewLine(c.r.Context(), o)
	if err != nil {
		return nil, err
	}
	a := ok(c.sessionItem(l))
	if !existed {
		a.status = http.StatusCreated
	}
	return a, nil
}

func deleteSession(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	if _, err := c.workspace.Remove(c.r.Context(), name, workspace.RemoveOptions{Line: true, Force: true}); err != nil {
		return nil, err
	}
	return ok(nil), nil
}

func getConfigs(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	l, err := c.workspace.Line(name).Entry(c.r.Context())
	if err != nil {
		return nil, err
	}
	return ok(c.sessionItem(l)), nil
}

func putConfigs(c *call) (*answer, error) {
	_, err := c.setConfigs(false)
	if err != nil {
		return nil, err
	}
	return ok(nil), nil
}

func patchConfigs(c *call) (*answer, error) {
	l, err := c.setConfigs(true)
	if err != nil {
		return nil, err
	}
	configs := plainJSON(l.Configs)
	if configs == nil {
		configs = json.RawMessage("{}")
	}
	return ok(map[string]json.RawMessage{"configs": configs}), nil
}

func (c *call) setConfigs(merge bool) (*lines.Entry, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct {
		Configs json.RawMessage `json:"configs"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	configs, err := c.object("configs", in.Configs, true)
	if err != nil {
		return nil, err
	}
	return c.workspace.Line(name).SetConfigs(c.r.Context(), configs, merge)
}

// copySession uses Acontext's error messages, which clients may compare.
func copySession(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, reword(err, "INVALID_SESSION_ID")
	}
	l, err := c.workspace.Line(name).Copy(c.r.Context(), c.opts.Limits.Copy)
	if err != nil {
		switch {
		case errors.Is(err, workspace.ErrTooLarge):
			return nil, reword(err, "SESSION_TOO_LARGE")
		case workspace.Explain(err).Code == fault.NotFound:
			return nil, reword(err, "SESSION_NOT_FOUND")
		}
		return nil, err
	}
	old, err := parseUUID("session_id", c.r.PathValue("session_id"))
	if err != nil {
		return nil, err
	}
	return ok(map[string]string{"old_session_id": old, "new_session_id": l.UUID}), nil
}

// reword returns err as a failure with another message, and its original message as
// the detail.
func reword(err error, msg string) error {
	f := explain(err)
	return exchange.Fail(f.Status, msg, f.Message)
}
