package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace/fault"
)

// exploreIn has no command: a model tries the strategies.
type exploreIn struct {
	optionalRef
	Strategies []strategy        `json:"strategies,omitempty" jsonschema:"what to try, each in a branch of its own"`
	FromReply  bool              `json:"from_reply,omitempty" jsonschema:"try the strategies that the assistant's message at ref offers, instead of strategies"`
	Model      string            `json:"model,omitempty" jsonschema:"the model that tries the strategies, by default that of the agent; with from_reply, it recognizes them too"`
	Method     string            `json:"evaluate,omitempty" jsonschema:"how to evaluate the results, by default best"`
	Depth      *int              `json:"max_depth,omitempty" jsonschema:"the maximum depth of branches"`
	Concurrent *int              `json:"max_concurrent,omitempty" jsonschema:"how many branches run at once"`
	Timeout    *string           `json:"timeout,omitempty" jsonschema:"the time limit of a branch, such as 30s"`
	Confidence *float64          `json:"min_confidence,omitempty" jsonschema:"explore a reply only if the confidence that it offers a choice is at least this, from 0 to 1"`
	Prune      *float64          `json:"prune,omitempty" jsonschema:"ignore results with a lower confidence"`
	Synthesize *float64          `json:"synthesize,omitempty" jsonschema:"use results with at least this confidence in a synthesis"`
	Metrics    map[string]string `json:"metrics,omitempty" jsonschema:"the direction in which each metric is better, by name: higher, lower or ignore"`
}

type strategy struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type exploreRunIn struct {
	exploreIn
	adoptOutcome
}

type adoptOutcome struct {
	Adopt bool `json:"adopt,omitempty" jsonschema:"move the head to the outcome"`
}

type exploreResumeIn struct {
	explorationIn
	adoptOutcome
}

// request returns the exploration to plan.
func (in *exploreIn) request() (explore.Request, error) {
	r := explore.Request{
		Ref: in.orHead(), Method: explore.Method(in.Method),
		Runner: explore.Runner{Model: in.Model}, Settings: in.settings(),
	}
	switch {
	case in.FromReply && len(in.Strategies) > 0:
		return r, badArgument("strategies and from_reply exclude each other")
	case !in.FromReply && len(in.Strategies) == 0:
		return r, badArgument("one of strategies and from_reply is needed")
	case in.FromReply:
		r.Recognizer = in.Model
	}
	for _, s := range in.Strategies {
		r.Strategies = append(r.Strategies, explore.Strategy(s))
	}
	return r, nil
}

// settings returns the settings of the exploration that are given, as a [explore.Request]
// has them.
func (in *exploreIn) settings() []byte {
	data, err := json.Marshal(struct {
		Depth      *int              `json:"max_depth,omitempty"`
		Concurrent *int              `json:"max_concurrent,omitempty"`
		Timeout    *string           `json:"timeout,omitempty"`
		Confidence *float64          `json:"min_confidence,omitempty"`
		Prune      *float64          `json:"prune,omitempty"`
		Synthesize *float64          `json:"synthesize,omitempty"`
		Metrics    map[string]string `json:"metrics,omitempty"`
	}{in.Depth, in.Concurrent, in.Timeout, in.Confidence, in.Prune, in.Synthesize, in.Metrics})
	if err != nil {
		panic("api: " + err.Error()) // numbers from JSON are finite
	}
	return data
}

// explorer returns an explorer whose strategies the models of e try. It runs no command.
func (e Env) explorer() *explore.Explorer {
	x := explorer(e.Workspace)
	x.Model = e.Models
	return x
}

// planned returns the plan of an exploration.
func planned(ctx context.Context, env Env, in exploreIn) (*explore.Plan, error) {
	r, err := in.request()
	if err != nil {
		return nil, err
	}
	plan, err := explained(env.explorer().Plan(ctx, r))
	if err == nil && !plan.Config.Enabled {
		err = &fault.Error{Code: fault.Refused, Message: "explorations are disabled", Hint: "explore.enabled of the settings, or of the agent, is false"}
	}
	return plan, err
}

func runExploration(ctx context.Context, env Env, in exploreRunIn) (*explore.Exploration, error) {
	plan, err := planned(ctx, env, in.exploreIn)
	if err != nil {
		return nil, err
	}
	if !plan.Explores {
		return nil, &fault.Error{Code: fault.Refused, Message: "the reply is not explored: " + plan.Reason}
	}
	x := env.explorer()
	x.AdoptOutcome = in.Adopt
	return explained(x.Run(ctx, plan))
}

func resumeExploration(ctx context.Context, env Env, in exploreResumeIn) (*explore.Exploration, error) {
	x := env.explorer()
	x.AdoptOutcome = in.Adopt
	return explained(x.Resume(ctx, in.ID))
}

func evaluate(ctx context.Context, env Env, in evaluateIn) (*explore.Exploration, error) {
	method, err := explore.ParseMethod(in.Method)
	if err != nil {
		return nil, err
	}
	x := env.explorer()
	x.AdoptOutcome = in.Adopt
	return explained(x.Evaluate(ctx, in.ID, method))
}

// explained returns err as the error in it that has a code, with what a client can do then.
func explained[T any](result T, err error) (T, error) {
	var e *explore.Error
	if !errors.As(err, &e) {
		return result, err
	}
	known := *e.Err
	known.Hint = cmp.Or(known.Hint, afterProblem(e.Problem))
	return result, &known
}

// afterProblem returns how a client can continue after a problem.
func afterProblem(p explore.Problem) string {
	switch p {
	case explore.Interrupted:
		return "explore/resume continues it"
	case explore.Cancelled:
		return "explore/evaluate evaluates the results before that"
	case explore.NotStopped:
		return "explore/show returns how far it is"
	case explore.NotOver:
		return "explore/resume continues it; explore/cancel ends it"
	case explore.NotEvaluated:
		return "the results are kept; explore/resume evaluates them, explore/evaluate by another method"
	case explore.NoRunner:
		return "give a model"
	case explore.NoReply:
		return "from_reply takes an assistant's message, SESSION@MESSAGE"
	}
	return ""
}
