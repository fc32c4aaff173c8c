package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// A Record records that a batch of messages was processed. As a line of the file:
//
//	time         when it was written
//	session_id   the line: the id of its first file
//	message_ids  the messages of the batch, in the order of their path
//	status       success or failed
//	error        why it failed
//	tasks        what was found or has changed, an array
//
// and each of the tasks:
//
//	id, session_id, message_id, branch_id, order, status, is_planning   see [Task]
//	data                     an object, see [CheckData]
//	created_at, updated_at   times
//	message_ids              the messages that it is about
type Record struct {
	Time     time.Time
	Session  string
	Messages []string
	Status   Status // Success or Failed
	Error    string // "" for success
	Tasks    []Task // empty if it failed
}

type recordLine struct {
	Time     string     `json:"time"`
	Session  string     `json:"session_id"`
	Messages []string   `json:"message_ids"`
	Status   Status     `json:"status"`
	Error    string     `json:"error,omitempty"`
	Tasks    []taskLine `json:"tasks"`
}

type taskLine struct {
	ID       string          `json:"id"`
	Session  string          `json:"session_id"`
	Message  string          `json:"message_id"`
	Branch   string          `json:"branch_id"`
	Order    int             `json:"order"`
	Data     json.RawMessage `json:"data"`
	Status   Status          `json:"status"`
	Planning bool            `json:"is_planning"`
	Created  string          `json:"created_at"`
	Updated  string          `json:"updated_at"`
	Messages []string        `json:"message_ids"`
}

// Encode returns the line of r, with its line break.
func (r *Record) Encode() []byte {
	line := recordLine{
		Time:     session.Bough.Time(r.Time),
		Session:  r.Session,
		Messages: r.Messages,
		Status:   r.Status,
		Error:    r.Error,
		Tasks:    make([]taskLine, len(r.Tasks)),
	}
	for i, t := range r.Tasks {
		line.Tasks[i] = taskLine{
			ID: t.ID, Session: t.Session, Message: t.Message, Branch: t.Branch,
			Order: t.Order, Data: t.Data, Status: t.Status, Planning: t.Planning,
			Created: session.Bough.Time(t.Created), Updated: session.Bough.Time(t.Updated),
			Messages: append([]string{}, t.Messages...),
		}
	}
	return append(rawjson.Compact(line), '\n')
}

// Decode decodes a line.
func Decode(line []byte) (*Record, error) {
	var l recordLine
	if err := json.Unmarshal(line, &l); err != nil {
		return nil, err
	}
	if l.Session == "" || len(l.Messages) == 0 {
		return nil, errors.New("no session, or no messages")
	}
	if l.Status != Success && l.Status != Failed {
		return nil, fmt.Errorf("status %q", l.Status)
	}
	at, ok := session.ParseTime(l.Time)
	if !ok {
		return nil, fmt.Errorf("time %q", l.Time)
	}
	r := &Record{Time: at.UTC(), Session: l.Session, Messages: l.Messages, Status: l.Status, Error: l.Error}
	for _, t := range l.Tasks {
		task, err := t.decode()
		if err != nil {
			return nil, err
		}
		r.Tasks = append(r.Tasks, task)
	}
	return r, nil
}

func (l *taskLine) decode() (Task, error) {
	t := Task{
		ID: l.ID, Session: l.Session, Message: l.Message, Branch: l.Branch,
		Order: l.Order, Data: l.Data, Status: l.Status, Planning: l.Planning,
		Messages: l.Messages,
	}
	if t.ID == "" || t.Message == "" || !t.Status.Valid() {
		return Task{}, errors.New("a task without an id, an anchor, or a status")
	}
	if err := CheckData(t.Data); err != nil {
		return Task{}, err
	}
	created, ok := session.ParseTime(l.Created)
	updated, also := session.ParseTime(l.Updated)
	if !ok || !also {
		return Task{}, errors.New("a task without its times")
	}
	t.Created, t.Updated = created.UTC(), updated.UTC()
	return t, nil
}
