package explore

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/explore/recognize"
)

// A Strategy is one approach to a question.
type Strategy = recognize.Strategy

// A Status is the status of a branch.
type Status string

const (
	Pending   Status = "pending"   // it has not begun
	Executing Status = "executing" // its runner is running
	Completed Status = "completed" // it has a result
	Failed    Status = "failed"    // it has a Reason
)

// An Exploration is the content of the file explorations/ID.json (22.1):
// several strategies, each tried in a branch from one message.
type Exploration struct {
	ID         string      `json:"id"`             // a UUID
	Session    string      `json:"session_id"`     // the line of the explored message
	Node       string      `json:"parent_node_id"` // the explored message
	Agent      string      `json:"agent"`          // the agent that owns the conversation, "" for none
	State      string      `json:"state"`          // with whose files the branches begin, "" if there is none
	Question   string      `json:"question"`       // the user's last message on the path to Node
	Method     Method      `json:"method"`         // how to evaluate the results
	Config     Config      `json:"config"`         // the settings when it began
	Runner     Runner      `json:"runner"`
	Active     []string    `json:"active_ids"` // branches with the status Executing
	Branches   []Branch    `json:"branches"`   // in the order in which they were proposed
	Output     int64       `json:"output"`     // bytes of output of all runners
	Notes      []Note      `json:"notes"`      // published by branches for their siblings
	Evaluation *Evaluation `json:"evaluation"` // null until evaluated
	Outcome    *string     `json:"outcome_node_id"`
	Adopted    *string     `json:"adopted_node_id"` // the message that a head was moved to, else null
	CreatedAt  string      `json:"created_at"`
	EndedAt    string      `json:"ended_at"` // "" until all branches have ended
}

// A Runner tries strategies with a command or a model.
type Runner struct {
	Command  string            `json:"command"`  // a command line, or ""
	Model    string            `json:"model"`    // id of a model; if there is a command, it is only used for a synthesis
	Dir      string            `json:"dir"`      // folder of which each branch gets a copy; "" for an empty folder
	Bindings map[string]string `json:"bindings"` // environment variables for the command
	Share    bool              `json:"share"`    // branches can read their siblings' notes
	Keep     bool              `json:"keep"`     // keep the folders of the branches
}

// A Branch is one strategy that is tried (22.2).
type Branch struct {
	ID          string          `json:"branch_id"`   // a UUID; also the id of the message with its result
	Parent      string          `json:"parent"`      // the branch that proposed it, or the explored message
	Session     string          `json:"session_id"`  // its conversation, "" if it has none yet
	Strategy    string          `json:"strategy"`    // name of the strategy, unique among siblings
	Description string          `json:"description"` // of the strategy
	Depth       int             `json:"depth"`       // from 1
	Status      Status          `json:"status"`
	Reason      string          `json:"reason"`     // why it failed, was pruned or did not begin, in words; may be ""
	Confidence  *float64        `json:"confidence"` // from 0 to 1, null if the runner gave none
	Pruned      bool            `json:"pruned"`     // ignored, because its confidence is below the threshold
	Result      string          `json:"result"`
	Metrics     json.RawMessage `json:"metrics"`    // an object, or null
	Insights    []string        `json:"insights"`   // to remember for later explorations
	StartedAt   string          `json:"started_at"` // "" until it begins
	EndedAt     string          `json:"ended_at"`   // "" until it ends
	// Folder is where its runner worked, relative to the exploration's folder. It is
	// set while a child branch needs the content, and with Runner.Keep.
	Folder string `json:"folder"`
	State  string `json:"state"` // the files that its runner left, "" if there is none
}

// Done reports whether all branches have ended.
func (e *Exploration) Done() bool {
	return !slices.ContainsFunc(e.Branches, func(b Branch) bool { return b.Status == Pending || b.Status == Executing })
}

// Branch returns the branch with an id, nil if there is none.
func (e *Exploration) Branch(id string) *Branch {
	i := slices.IndexFunc(e.Branches, func(b Branch) bool { return b.ID == id })
	if i < 0 {
		return nil
	}
	return &e.Branches[i]
}

// Encode returns the content of the file of e.
func (e *Exploration) Encode() []byte {
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		panic("explore: " + err.Error()) // every field can be encoded
	}
	return append(data, '\n')
}

// Decode parses and validates the content of an exploration's file.
func Decode(data []byte) (*Exploration, error) {
	e := &Exploration{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, b := range e.Branches {
		switch {
		case b.ID == "" || seen[b.ID]:
			return nil, fmt.Errorf("branch id %q is empty or a duplicate", b.ID)
		case !slices.Contains([]Status{Pending, Executing, Completed, Failed}, b.Status):
			return nil, fmt.Errorf("unknown branch status %q", b.Status)
		}
		seen[b.ID] = true
	}
	if e.Notes == nil {
		e.Notes = []Note{}
	}
	if e.Evaluation != nil && e.Evaluation.Metrics == nil { // a file of an older version
		e.Evaluation.Metrics = []string{}
	}
	if e.ID == "" || e.Node == "" || e.Session == "" {
		return nil, fmt.Errorf("id, session_id or parent_node_id is missing")
	}
	return e, nil
}
