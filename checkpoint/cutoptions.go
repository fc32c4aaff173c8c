package checkpoint

import (
	"github.com/bough-dev/bough/session"
)

// CutOptions say how to choose the message at which a path is cut.
type CutOptions struct {
	// Strict makes a cut that would separate a tool call from its result a
	// [ToolCutError]. Otherwise the path is cut above the call.
	Strict bool
	session.ReadOptions
}

// An Adjustment reports that a path was cut above the requested message, so
// that no tool call is separated from its result. The zero value means that it
// was not.
type Adjustment struct {
	Requested   session.ID `json:"requested,omitempty"`    // the requested message
	SteppedBack bool       `json:"stepped_back,omitempty"` // the path ends above it
}
