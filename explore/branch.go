package explore

import (
	"encoding/json"

	"github.com/bough-dev/bough/explore/recognize"
)

// A Strategy is one way to go about something. No other of the exploration's siblings has
// its name.
type Strategy = recognize.Strategy

// A Status is how far a branch is.
type Status string

const (
	Pending   Status = "pending"   // it waits for its turn
	Executing Status = "executing" // its runner is at work
	Completed Status = "completed" // it has a result
	Failed    Status = "failed"    // it has none: Reason says why
)

// A Branch is one strategy, tried.
type Branch struct {
	ID          string          `json:"branch_id"`   // a UUID
	Parent      string          `json:"parent"`      // the branch that it came from, or the message that the exploration began at
	Session     string          `json:"session_id"`  // its conversation, "" before it has one
	Strategy    string          `json:"strategy"`    // the name
	Description string          `json:"description"` // of the strategy
	Depth       int             `json:"depth"`       // from 1
	Status      Status          `json:"status"`
	Reason      string          `json:"reason"`     // why it failed, was pruned or not begun, for a person; "" for nothing to say
	Confidence  *float64        `json:"confidence"` // from 0 to 1, nil if nobody said
	Pruned      bool            `json:"pruned"`     // its confidence is below the threshold; it does not count, and stays for reading
	Result      string          `json:"result"`
	Metrics     json.RawMessage `json:"metrics"`    // an object, null for none
	Insights    []string        `json:"insights"`   // what is to be remembered
	StartedAt   string          `json:"started_at"` // "" before, as the times of sessions
	EndedAt     string          `json:"ended_at"`
	// Folder is where it worked, relative to the folder of the exploration's branches,
	// as long as branches below it begin with what it left there; "" else.
	Folder string `json:"folder"`
}
