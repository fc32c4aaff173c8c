package agents

import (
	"encoding/json"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/task"
)

// A TaskPoint is what was being done when a checkpoint was taken. The checkpoint stores it, as
// the member task of metadata.bough. It is a record: tasks go with the messages that a
// checkpoint copies, and nothing puts queued messages back.
type TaskPoint struct {
	// Turn is the message of the user that began the turn in which the path ends, null if the
	// path has none.
	Turn  session.ID   `json:"turn"`
	Agent string       `json:"agent"` // the agent that owns the conversation, "" if none does
	Tasks []TaskAt     `json:"tasks"` // those of the path, by their order
	Queue []turn.Entry `json:"queue"` // undelivered messages of the agent
}

// A TaskAt is a task at a checkpoint.
type TaskAt struct {
	ID       string          `json:"id"`
	Order    int             `json:"order"` // from 1
	Data     json.RawMessage `json:"data"`
	Status   task.Status     `json:"status"`
	Planning bool            `json:"is_planning"`
	Messages []string        `json:"message_ids"` // to which it refers
}
