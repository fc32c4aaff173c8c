package explore

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/sessionid"
)

// begin adds the branches of the first depth.
func (e *Exploration) begin(strategies []Strategy, newID func() string, now string) {
	e.CreatedAt = now
	e.Branches, e.Active, e.Notes = []Branch{}, []string{}, []Note{}
	e.add(e.Node, 1, strategies, newID, now)
}

// add adds branches. A branch that exceeds a limit is added as failed.
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
			b.fail("not tried: branches may not propose branches", now)
		case len(e.Branches) >= c.MaxBranches:
			b.fail(fmt.Sprintf("not tried: the limit of %d branches is reached", c.MaxBranches), now)
		}
		e.Branches = append(e.Branches, b)
	}
}

func (b *Branch) fail(reason, now string) {
	b.Status, b.Reason, b.EndedAt = Failed, reason, now
}

// next marks pending branches as executing, up to the limit, and returns copies
// of them with the ids of their conversations, which the caller creates.
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
	e.settle(now)
	return list
}

// sessionOf returns the id of the conversation of b. It depends only on b.ID
// and e.CreatedAt, so it can be found after a crash even if the file does not
// have it.
func (e *Exploration) sessionOf(b *Branch) string {
	if b.Session != "" {
		return b.Session
	}
	begun, _ := time.Parse(time.RFC3339Nano, e.CreatedAt)
	sum := sha256.Sum256([]byte(b.ID))
	id, err := sessionid.New(begun, bytes.NewReader(sum[:]))
	if err != nil {
		panic("explore: " + err.Error()) // the reader does not run out of bytes
	}
	return id
}

// An outcome is the end of a branch.
type outcome struct {
	answer
	Failure string // why there is no result, else ""
	Output  int64  // bytes of output of the runner
	Session string // the conversation of the branch
	Folder  string // see Branch.Folder
}

// endBranch ends an executing branch, and adds the branches that it proposes.
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
		b.Status, b.Reason = Failed, "it reported that it did not succeed"
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
	e.settle(now)
}

// continued reports whether children of a branch have not ended.
func (e *Exploration) continued(id string) bool {
	return slices.ContainsFunc(e.Branches, func(b Branch) bool {
		return b.Parent == id && (b.Status == Pending || b.Status == Executing)
	})
}

// stop fails all pending branches.
func (e *Exploration) stop(reason, now string) {
	for i := range e.Branches {
		if b := &e.Branches[i]; b.Status == Pending {
			b.fail(reason, now)
		}
	}
	e.settle(now)
}

// release makes an executing branch pending again.
func (e *Exploration) release(id string) {
	if b := e.Branch(id); b != nil && b.Status == Executing {
		b.Status, b.StartedAt = Pending, ""
		e.Active = slices.DeleteFunc(e.Active, func(active string) bool { return active == id })
	}
}

// resume makes all executing branches pending again, after a crash.
func (e *Exploration) resume() {
	for i := range e.Branches {
		if b := &e.Branches[i]; b.Status == Executing {
			b.Status, b.StartedAt = Pending, ""
		}
	}
	e.Active = []string{}
}

// settle sets EndedAt and prunes the branches once all have ended.
func (e *Exploration) settle(now string) {
	if e.EndedAt == "" && e.Done() {
		e.EndedAt = now
		e.Branches = prune(e.Branches, e.Config)
	}
}

// learnings returns a learning for each branch that began.
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
