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
	// Memory is what the memory file of the agent had, nil if the agent names none.
	Memory *Memory `json:"memory,omitempty"`
}

// A Memory is what the memory file of an agent had at a checkpoint.
type Memory struct {
	Path string `json:"path"`
	Text string `json:"text"`
	// Why says why the text is not recorded: missing, unreadable, large (over [MaxMemory]), or
	// not_text. It is empty if the text is there.
	Why string `json:"why,omitempty"`
}

// MaxMemory is the maximum size of a memory file that a checkpoint records, in bytes.
const MaxMemory = 1 << 20

// A TaskAt is a task at a checkpoint.
type TaskAt struct {
	ID       string          `json:"id"`
	Order    int             `json:"order"` // from 1
	Data     json.RawMessage `json:"data"`
	Status   task.Status     `json:"status"`
	Planning bool            `json:"is_planning"`
	Messages []string        `json:"message_ids"` // to which it refers
}
