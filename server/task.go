package server

import (
	"encoding/json"
	"strings"

	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/task"
)

// A taskItem is a task in Acontext's format, with the branch in which it was found.
type taskItem struct {
	ID        string          `json:"id"`
	Session   string          `json:"session_id"`
	Project   string          `json:"project_id"`
	Branch    string          `json:"branch_id"`
	Order     int             `json:"order"`
	Data      json.RawMessage `json:"data"`
	Status    task.Status     `json:"status"`
	Planning  bool            `json:"is_planning"`
	Digested  bool            `json:"space_digested"` // never: bough has no spaces
	Messages  []string        `json:"message_ids"`
	CreatedAt string          `json:"created_at"`
	UpdatedAt string          `json:"updated_at"`
}

func (s *Server) taskItem(sessionID string, t *task.Task) taskItem {
	item := taskItem{
		ID:        t.ID,
		Session:   sessionID,
		Project:   s.project.String(),
		Branch:    sessionid.MessageUUID(sessionID, t.Branch),
		Order:     t.Order,
		Data:      t.Data,
		Status:    t.Status,
		Planning:  t.Planning,
		Messages:  make([]string, len(t.Messages)),
		CreatedAt: session.Bough.Time(t.Created),
		UpdatedAt: session.Bough.Time(t.Updated),
	}
	for i, id := range t.Messages {
		item.Messages[i] = sessionid.MessageUUID(sessionID, id)
	}
	return item
}

// listTasks answers the tasks of a session, or with leaf_id those of the path to a
// message.
func listTasks(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	q := c.query()
	after, limit, newest, leaf := q.cursor(), q.number("limit", 20, 1, 200), q.truth("time_desc", false), q.message("leaf_id")
	if q.err != nil {
		return nil, q.err
	}
	line, err := c.workspace.Line(name).Entry(c.r.Context())
	if err != nil {
		return nil, err
	}
	tasks, err := c.workspace.Line(name).Tasks(c.r.Context(), leaf)
	if err != nil {
		return nil, err
	}
	return paged(tasks, after, limit, newest,
		func(t *task.Task) cursor { return cursor{Time: t.Created, UUID: t.ID} },
		func(t *task.Task) taskItem { return c.taskItem(line.UUID, t) })
}

// message returns a parameter that names a message, "" if it is absent.
func (q *query) message(name string) string {
	id := strings.TrimSpace(q.text(name))
	if id == "" {
		return ""
	}
	message, err := nameOf(name, id)
	if err != nil {
		q.err = err
	}
	return message
}

func observingStatus(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	t, err := c.buffer.Status(c.r.Context(), name)
	if err != nil {
		return nil, err
	}
	return ok(trackingItem{t.Observed, t.InProcess, t.Pending, session.Bough.Time(t.UpdatedAt)}), nil
}

// A trackingItem is a Tracking in Acontext's format.
type trackingItem struct {
	Observed  int    `json:"observed"`
	InProcess int    `json:"in_process"`
	Pending   int    `json:"pending"`
	UpdatedAt string `json:"updated_at"`
}

// A flushAnswer is the result of a flush.
type flushAnswer struct {
	Status int    `json:"status"` // 0 for success
	Errmsg string `json:"errmsg"`
}

// flush waits until all pending messages are processed. An error of the processor
// is part of the answer, not a failure of the request.
func flush(c *call) (*answer, error) {
	name, err := c.session()
	if err != nil {
		return nil, err
	}
	line, err := c.workspace.Line(name).Entry(c.r.Context())
	if err != nil {
		return nil, err
	}
	err = c.buffer.Flush(c.r.Context(), namePrefix+line.UUID) // whichever of its files was named
	switch {
	case err == nil:
		return ok(flushAnswer{}), nil
	case c.r.Context().Err() == nil && workspace.Explain(err).Code == fault.Failed:
		return ok(flushAnswer{1, err.Error()}), nil
	}
	return nil, err
}
