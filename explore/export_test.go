package explore

import (
	"context"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/explore/recognize"
)

// Unexported parts of the package that its external tests use.
var (
	ErrCancelled    = errCancelled
	DecodeLearnings = decodeLearnings
	Evaluate        = evaluate
	Merge           = merge
	ParseAnswer     = parseAnswer
	ParseReply      = parseReply
	Prune           = prune
	Rank            = rank
	RecognizeWith   = recognizeWith
	Stats           = statistics
	SynthesisPrompt = synthesisPrompt
)

type (
	Answer = answer
	Ended  = outcome
)

func (e *Exploration) Begin(strategies []Strategy, newID func() string, now string) {
	e.begin(strategies, newID, now)
}

func (e *Exploration) Next(now string) []Branch { return e.next(now) }

func (e *Exploration) End(id string, x Ended, newID func() string, now string) {
	e.endBranch(id, x, newID, now)
}

func (e *Exploration) Stop(reason, now string) { e.stop(reason, now) }
func (e *Exploration) Resume()                 { e.resume() }
func (e *Exploration) Learnings() []Learning   { return e.learnings() }

func (e Evaluation) Synthesized(model, text string) Evaluation { return e.synthesized(model, text) }

// Try tries the branches of e until ctx ends, and does nothing else.
func (x *Explorer) Try(ctx context.Context, e *Exploration, m model.Model) error {
	return newRun(x, e, x.Folder, m, nil).run(ctx)
}

func (x *Explorer) Conclude(ctx context.Context, e *Exploration, method Method, m model.Model) error {
	return x.conclude(ctx, e, method, m)
}

func (x *Explorer) AdoptBranch(ctx context.Context, e *Exploration, b *Branch) error {
	return x.adopt(ctx, e, b)
}

func (x *Explorer) Remember(ctx context.Context, e *Exploration) error { return x.remember(ctx, e) }

// PlanFor plans the strategies in a reply.
func PlanFor(found []recognize.Offer, sure float64, similar []Similar, c Config) *Plan {
	p := &Plan{similar: similar, Config: c}
	p.offered(found, sure)
	return p
}

// EndedWith returns the end of a branch whose runner answered a.
func EndedWith(a Answer) Ended { return Ended{answer: a} }

// SetGrace sets how long a runner that exceeds a limit may take to exit.
func (x *Explorer) SetGrace(grace time.Duration) { x.grace = grace }

// Find is find.
func (e *Exploration) Find(name string) (*Branch, error) { return e.find(name) }
