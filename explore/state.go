package explore

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bough-dev/bough/session"
)

// An Exploration is several strategies, tried side by side from one message. It is the
// file of that name, which says at any time what there is, and a state machine: whoever
// carries it out asks Next what to begin, tells End what came of it, and stores it after
// each of both.
type Exploration struct {
	ID         string      `json:"id"` // a UUID
	Session    string      `json:"session_id"`
	Node       string      `json:"parent_node_id"` // the message of that session that it begins at
	Agent      string      `json:"agent"`          // whose conversation it is, "" for nobody's
	Question   string      `json:"question"`       // what is explored: what learnings are compared by
	Method     Method      `json:"method"`         // how it is to be judged
	Config     Config      `json:"config"`         // what was in force
	Runner     Runner      `json:"runner"`
	Active     []string    `json:"active_ids"` // the branches that are executed now
	Branches   []Branch    `json:"branches"`   // in the order in which they came up
	Output     int64       `json:"output"`     // bytes that all have printed
	Notes      []Note      `json:"notes"`      // what branches told each other
	Evaluation *Evaluation `json:"evaluation"` // null before
	Outcome    *string     `json:"outcome_node_id"`
	Adopted    *string     `json:"adopted_node_id"` // the message that the head was moved to
	CreatedAt  string      `json:"created_at"`
	EndedAt    string      `json:"ended_at"` // "" while branches are left
}

// A Runner is what tries a strategy.
type Runner struct {
	Command  string            `json:"command"`  // a command line, or
	Model    string            `json:"model"`    // the id of a model
	Dir      string            `json:"dir"`      // the folder that each branch has one of its own of, "" for an empty one
	Bindings map[string]string `json:"bindings"` // what stands in the environment too
	Share    bool              `json:"share"`    // branches may read each other's notes
	Keep     bool              `json:"keep"`     // the folders stay
}

// Begin adds the strategies that the exploration begins with.
func (e *Exploration) begin(strategies []Strategy, newID func() string, now string) {
	e.CreatedAt = now
	e.Branches, e.Active, e.Notes = []Branch{}, []string{}, []Note{}
	e.add(e.Node, 1, strategies, newID, now)
}

// add adds branches. Those that a limit keeps out are there too, failed, with the reason.
func (e *Exploration) add(parent string, depth int, strategies []Strategy, newID func() string, now string) {
	for _, s := range strategies {
		b := Branch{
			ID: newID(), Parent: parent, Strategy: s.Name, Description: s.Description, Depth: depth,
			Status: Pending, Insights: []string{},
		}
		switch c := &e.Config; {
		case depth > c.MaxDepth:
			b.fail(fmt.Sprintf("not tried: depth %d is beyond the limit of %d", depth, c.MaxDepth), now)
		case depth > 1 && !c.AllowRecursiveBranching:
			b.fail("not tried: a branch must not branch again here", now)
		case len(e.Branches) >= c.MaxBranches:
			b.fail(fmt.Sprintf("not tried: there are %d branches already, the most that are allowed", c.MaxBranches), now)
		}
		e.Branches = append(e.Branches, b)
	}
}

func (b *Branch) fail(reason, now string) {
	b.Status, b.Reason, b.EndedAt = Failed, reason, now
}

// Next returns the branches that are to be begun now, which count as executed from then
// on: as many as may be executed at once. They have the ids of their conversations, which
// are to be made.
func (e *Exploration) next(now string) []Branch {
	var list []Branch
	for i := range e.Branches {
		b := &e.Branches[i]
		if b.Status != Pending || len(e.Active) >= e.Config.MaxConcurrent {
			continue
		}
		b.Status, b.StartedAt, b.Session = Executing, now, e.sessionOf(b)
		e.Active = append(e.Active, b.ID)
		list = append(list, *b)
	}
	e.end(now)
	return list
}

// sessionOf returns the id of the conversation of b. It is always the same, so that after a
// crash it is found, whatever was stored until then.
func (e *Exploration) sessionOf(b *Branch) string {
	if b.Session != "" {
		return b.Session
	}
	begun, _ := time.Parse(time.RFC3339Nano, e.CreatedAt)
	sum := sha256.Sum256([]byte(b.ID))
	id, err := session.NewID(begun, bytes.NewReader(sum[:]))
	if err != nil {
		panic("explore: " + err.Error()) // there are enough bytes
	}
	return id
}

// An Ended is what came of a branch.
type outcome struct {
	answer
	Failure string // why there is no result, for a person; "" if there is one
	Output  int64  // bytes that the runner has printed
	Session string // the conversation of the branch
	Folder  string // where it worked, as Branch.Folder
}

// End takes in what came of a branch. What it proposes is tried next, as far as the
// limits allow.
func (e *Exploration) endBranch(id string, x outcome, newID func() string, now string) {
	b := e.Branch(id)
	if b == nil || b.Status != Executing {
		return
	}
	e.Active = slices.DeleteFunc(e.Active, func(active string) bool { return active == id })
	e.Output += x.Output
	b.Status, b.EndedAt = Completed, now
	b.Session = cmp.Or(x.Session, b.Session)
	b.Result, b.Confidence, b.Metrics, b.Reason = x.Result, x.Confidence, x.Metrics, x.Failure
	if b.Insights = x.Insights; b.Insights == nil {
		b.Insights = []string{}
	}
	switch {
	case x.Failure != "":
		b.Status = Failed
	case x.Success != nil && !*x.Success:
		b.Status, b.Reason = Failed, "it says that it did not succeed"
	}
	if b.Status == Completed {
		depth := b.Depth + 1
		e.add(id, depth, x.Strategies, newID, now)
		if e.continued(id) {
			e.Branch(id).Folder = x.Folder
		}
	}
	if e.Config.MaxTotal > 0 && e.Output > e.Config.MaxTotal {
		e.stop(fmt.Sprintf("not tried: the branches have printed more than %d bytes together", e.Config.MaxTotal), now)
	}
	e.end(now)
}

// continued reports whether branches below the one with an id have not ended.
func (e *Exploration) continued(id string) bool {
	return slices.ContainsFunc(e.Branches, func(b Branch) bool {
		return b.Parent == id && (b.Status == Pending || b.Status == Executing)
	})
}

// Stop has no more branches begin, and says why of those that wait.
func (e *Exploration) stop(reason, now string) {
	for i := range e.Branches {
		if b := &e.Branches[i]; b.Status == Pending {
			b.fail(reason, now)
		}
	}
	e.end(now)
}

// Release has a branch that was stopped with its program wait again.
func (e *Exploration) release(id, session string) {
	if b := e.Branch(id); b != nil && b.Status == Executing {
		b.Status, b.StartedAt, b.Session = Pending, "", cmp.Or(session, b.Session)
		e.Active = slices.DeleteFunc(e.Active, func(active string) bool { return active == id })
	}
}

// Resume has branches that were executed when a program ended wait again, so that they
// are executed once more. Those that have ended stay as they are.
func (e *Exploration) resume() {
	for i := range e.Branches {
		if b := &e.Branches[i]; b.Status == Executing {
			b.Status, b.StartedAt = Pending, ""
		}
	}
	e.Active = []string{}
}

// end notes that all branches have ended.
func (e *Exploration) end(now string) {
	if e.EndedAt == "" && e.Done() {
		e.EndedAt = now
		e.Branches = prune(e.Branches, e.Config)
	}
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

// Learnings returns what is to be remembered of the branches that were begun.
func (e *Exploration) learnings() []Learning {
	var list []Learning
	for _, b := range e.Branches {
		begun, err := time.Parse(time.RFC3339Nano, b.StartedAt)
		if err != nil {
			continue
		}
		ended, _ := time.Parse(time.RFC3339Nano, b.EndedAt)
		list = append(list, Learning{
			Time: b.EndedAt, Context: e.Question, Strategy: b.Strategy, Description: b.Description,
			Confidence: b.Confidence, Success: b.Status == Completed, Metrics: b.Metrics, Insights: b.Insights,
			Seconds: ended.Sub(begun).Seconds(), Exploration: e.ID, Branch: b.ID,
		})
	}
	return list
}

// Encode returns the file of e.
func (e *Exploration) Encode() []byte {
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		panic("explore: " + err.Error()) // there is nothing in it that JSON has not
	}
	return append(data, '\n')
}

// Decode reads the file of an exploration.
func Decode(data []byte) (*Exploration, error) {
	e := &Exploration{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, b := range e.Branches {
		switch {
		case b.ID == "" || seen[b.ID]:
			return nil, fmt.Errorf("the branch id %q is none, or stands twice", b.ID)
		case !slices.Contains([]Status{Pending, Executing, Completed, Failed}, b.Status):
			return nil, fmt.Errorf("no branch can be %q", b.Status)
		}
		seen[b.ID] = true
	}
	if e.Notes == nil {
		e.Notes = []Note{}
	}
	if e.Evaluation != nil && e.Evaluation.Metrics == nil { // of an older version
		e.Evaluation.Metrics = []string{}
	}
	if e.ID == "" || e.Node == "" || e.Session == "" {
		return nil, fmt.Errorf("it does not say what is explored")
	}
	return e, nil
}
