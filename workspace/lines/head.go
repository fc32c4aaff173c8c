package lines

import (
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/restores"
)

// A Head is a message to which the next message is added.
type Head struct {
	Session string     `json:"session_id"`
	Message session.ID `json:"message_id"` // null in an empty session
}

// A Position is the head of the workspace.
type Position struct {
	Head     Head `json:"head"`
	ReadOnly bool `json:"read_only"` // in a checkpoint: the next message creates a branch first
	checkpoint.Adjustment
	Files *restores.Restore `json:"files,omitempty"` // nil if only the head moved
}
