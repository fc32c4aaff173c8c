package buffer

import (
	"encoding/json"
	"fmt"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
	"github.com/tidwall/gjson"
)

// A Context is a batch of messages with the context needed to understand them. All
// ids are UUIDs, as over HTTP.
type Context struct {
	Session  string    `json:"session_id"`
	Branch   string    `json:"branch_id"`   // the first message after the fork, or the root
	Leaf     string    `json:"leaf_id"`     // the last of the new messages
	New      []string  `json:"message_ids"` // the new messages, in the order of their path
	Context  []Message `json:"context"`     // messages before the first new one
	Messages []Message `json:"messages"`    // the new messages, with context between them
	Path     []string  `json:"path"`        // from the root to the leaf
	Tasks    []Task    `json:"tasks"`       // the tasks that are visible on the path, in their order
}

// A Message is one message.
type Message struct {
	ID      string          `json:"id"`
	Parent  *string         `json:"parent_id"` // nil for a root
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`    // a string, or an array of parts
	Created *string         `json:"created_at"` // nil if unknown
}

// A Task is a task that was found earlier.
type Task struct {
	ID       string          `json:"id"`
	Order    int             `json:"order"`
	Data     json.RawMessage `json:"data"` // see [task.CheckData]
	Status   task.Status     `json:"status"`
	Planning bool            `json:"is_planning"`
	Messages []string        `json:"message_ids"` // the messages to which it refers
}

// A Result is the output of a processor.
type Result struct {
	Tasks []Found `json:"tasks"`
}

// A Found is a new or changed task. Unset fields are unchanged.
type Found struct {
	ID          string          `json:"id"` // of a changed task
	Description string          `json:"task_description"`
	Data        json.RawMessage `json:"data"` // an object; null removes a member
	Status      task.Status     `json:"status"`
	Planning    *bool           `json:"is_planning"`
	Messages    []string        `json:"message_ids"` // of the path; nil for the new ones
}

// contextOf returns the input of a processor for a batch.
func contextOf(b *lines.Batch) Context {
	uuids := func(ids []string) []string {
		list := make([]string, len(ids))
		for i, id := range ids {
			list[i] = sessionid.MessageUUID(b.UUID, id)
		}
		return list
	}
	c := Context{
		Session:  b.UUID,
		Branch:   sessionid.MessageUUID(b.UUID, b.Branch),
		New:      uuids(b.New),
		Context:  messagesOf(b.Context),
		Messages: messagesOf(b.Nodes),
		Path:     uuids(b.Path),
		Tasks:    make([]Task, len(b.Tasks)),
	}
	c.Leaf = c.New[len(c.New)-1]
	for i, t := range b.Tasks {
		c.Tasks[i] = Task{t.ID, t.Order, t.Data, t.Status, t.Planning, uuids(t.Messages)}
	}
	return c
}

func messagesOf(nodes []lines.Node) []Message {
	list := make([]Message, len(nodes))
	for i, n := range nodes {
		list[i] = Message{ID: n.UUID, Role: n.Role(), Content: contentOf(n)}
		if n.Parent != "" {
			list[i].Parent = &n.Parent
		}
		if !n.Time.IsZero() {
			at := session.Bough.Time(n.Time)
			list[i].Created = &at
		}
	}
	return list
}

// contentOf returns the raw content of a message, or its text if the content is not
// valid JSON because of Python's numbers.
func contentOf(n lines.Node) json.RawMessage {
	if raw := gjson.GetBytes(n.Raw, "content").Raw; json.Valid([]byte(raw)) {
		return json.RawMessage(raw)
	}
	return rawjson.Compact(n.Text())
}

// tasksOf returns the tasks in the result of a processor, to be recorded.
func tasksOf(b *lines.Batch, r Result) ([]task.Task, error) {
	known := map[string]task.Task{}
	for _, t := range b.Tasks {
		known[t.ID] = t
	}
	ids := map[string]string{}
	for _, id := range b.Path {
		ids[sessionid.MessageUUID(b.UUID, id)] = id
	}
	order := b.Order
	var list []task.Task
	for _, f := range r.Tasks {
		t := task.Task{Status: task.Pending}
		if f.ID != "" {
			was, ok := known[f.ID]
			if !ok {
				return nil, fmt.Errorf("it changed the task %.40q, which is not on this path, or changed it twice", f.ID)
			}
			delete(known, f.ID)
			t = was
		} else {
			order++
			t.Order = order
		}
		t.Session, t.Branch, t.Message = b.Line, b.Branch, b.New[len(b.New)-1]
		if err := f.change(&t); err != nil {
			return nil, err
		}
		about := b.New
		if f.Messages != nil {
			about = nil
			for _, uuid := range f.Messages {
				id, ok := ids[uuid]
				if !ok {
					return nil, fmt.Errorf("it found a task in the message %.40q, which is not on this path", uuid)
				}
				about = append(about, id)
			}
		}
		t.Messages = union(t.Messages, about)
		list = append(list, t)
	}
	return list, nil
}

// change applies f to t.
func (f *Found) change(t *task.Task) error {
	if f.Status != "" {
		t.Status = f.Status
	}
	if !t.Status.Valid() {
		return fmt.Errorf("it gave a task the status %.40q", t.Status)
	}
	if f.Planning != nil {
		t.Planning = *f.Planning
	}
	data := map[string]json.RawMessage{}
	if len(t.Data) > 0 {
		if err := json.Unmarshal(t.Data, &data); err != nil {
			return err
		}
	}
	if len(f.Data) > 0 {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(f.Data, &members); err != nil {
			return fmt.Errorf("the data of a task that it found: %w", err)
		}
		for name, value := range members {
			if string(value) == "null" {
				delete(data, name)
			} else {
				data[name] = value
			}
		}
	}
	if f.Description != "" {
		data["task_description"] = rawjson.Compact(f.Description)
	}
	t.Data = rawjson.Compact(data)
	return task.CheckData(t.Data)
}

// union returns the elements of a and those of b that are not in a.
func union(a, b []string) []string {
	has := map[string]bool{}
	list := []string{}
	for _, both := range [][]string{a, b} {
		for _, s := range both {
			if !has[s] {
				has[s] = true
				list = append(list, s)
			}
		}
	}
	return list
}
