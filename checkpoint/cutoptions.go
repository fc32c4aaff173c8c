package checkpoint

import (
	"github.com/bough-dev/bough/session"
)

// CutOptions say how to choose the message at which a path is cut.
type CutOptions struct {
	// Strict returns a [ToolCutError] for a cut that would separate a tool call from its result,
	// instead of stepping back.
	Strict bool
	session.ReadOptions
}

// An Adjustment says that a path was cut above the message that was requested: at the
// nearest one where no tool call is separated from its result. The zero value says that it
// was cut where it was requested.
type Adjustment struct {
	Requested   session.ID `json:"requested,omitempty"`    // the message that was requested
	SteppedBack bool       `json:"stepped_back,omitempty"` // the cut is above it
}
