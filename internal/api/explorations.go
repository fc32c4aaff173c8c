package api

import (
	"context"
	"slices"
	"time"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/restores"
)

type explorationIn struct {
	ID string `json:"id" jsonschema:"the id of an exploration, or a unique prefix of it"`
}

type evaluateIn struct {
	explorationIn
	Method string `json:"evaluate" jsonschema:"the method of the evaluation; for a synthesis, the model of the exploration is asked"`
	adoptOutcome
}

type adoptIn struct {
	explorationIn
	Branch string `json:"branch_id,omitempty" jsonschema:"adopt the result of this branch, a strategy or an id, instead of the outcome"`
}

type adoptFilesIn struct {
	adoptIn
	planning
}

// AdoptedFiles is an exploration, and what adopting the files of a branch did or would do.
type AdoptedFiles struct {
	*explore.Exploration
	Files *restores.Restore `json:"files"`
}

// adoptFiles adopts a result with the files. The folder is one that has states.
func adoptFiles(ctx context.Context, w *workspace.Workspace, in adoptFilesIn) (*AdoptedFiles, error) {
	o, err := in.options()
	if err != nil {
		return nil, err
	}
	e, r, err := explorer(w.Confined()).AdoptFiles(in.context(ctx), in.ID, in.Branch, o)
	return explained(&AdoptedFiles{e, r}, err)
}

type explorationRemoveIn struct {
	explorationIn
	Branches bool `json:"branches,omitempty" jsonschema:"also move the conversations of its branches to the trash, except those in use"`
}

type similarIn struct {
	Similar string `json:"similar,omitempty" jsonschema:"only outcomes of questions similar to this text, most similar first"`
}

// Explorations lists explorations, newest first.
type Explorations struct {
	Explorations []ExplorationSummary `json:"explorations"`
}

// An ExplorationSummary is an exploration in a list.
type ExplorationSummary struct {
	ID        string         `json:"id"`
	Session   string         `json:"session_id"`
	Node      string         `json:"parent_node_id"`
	Agent     string         `json:"agent"`
	Question  string         `json:"question"`
	Method    explore.Method `json:"method"`
	Branches  int            `json:"branch_count"`
	Completed int            `json:"completed_count"`
	Active    []string       `json:"active_ids"`
	Outcome   *string        `json:"outcome_node_id"`
	Adopted   *string        `json:"adopted_node_id"`
	CreatedAt string         `json:"created_at"`
	EndedAt   string         `json:"ended_at"`
}

// ExplorationsOf returns the document of a list of explorations.
func ExplorationsOf(list []*explore.Exploration) Explorations {
	var out Explorations
	for _, e := range list {
		s := ExplorationSummary{
			ID: e.ID, Session: e.Session, Node: e.Node, Agent: e.Agent, Question: e.Question, Method: e.Method,
			Branches: len(e.Branches), Active: e.Active, Outcome: e.Outcome, Adopted: e.Adopted,
			CreatedAt: e.CreatedAt, EndedAt: e.EndedAt,
		}
		for _, b := range e.Branches {
			if b.Status == explore.Completed {
				s.Completed++
			}
		}
		out.Explorations = append(out.Explorations, s)
	}
	return out
}

// Strategies are the results of each strategy so far.
type Strategies struct {
	Strategies []explore.Statistics `json:"strategies"`
}

// Learnings are outcomes of strategies.
type Learnings struct {
	Learnings []Learning `json:"learnings"`
}

// A Learning is an outcome of a strategy and, if learnings similar to a text were
// requested, its similarity.
type Learning struct {
	explore.Learning
	Similarity *float64 `json:"similarity,omitempty"`
}

// LearningsOf returns the document of learnings: newest first or, if similar is not nil,
// those similar to that text, most similar first.
func LearningsOf(known []explore.Learning, similar *string) Learnings {
	var out Learnings
	if similar == nil {
		for _, l := range slices.Backward(known) {
			out.Learnings = append(out.Learnings, Learning{Learning: l})
		}
		return out
	}
	for _, s := range explore.FindSimilar(*similar, known, len(known)) {
		out.Learnings = append(out.Learnings, Learning{s.Learning, &s.Similarity})
	}
	return out
}

func explorationVerbs() []*Verb {
	return []*Verb{
		turnVerb("explore", Changes, "Explore strategies", "Tries each strategy in its own branch from a message, with a model, and evaluates the results.", runExploration),
		turnVerb("explore/dry-run", Reads, "Plan an exploration", "Returns the strategies that explore would try, in their order, and the settings.", planned),
		verb("explore/ls", Reads, "List explorations", "Lists the explorations, newest first.",
			func(ctx context.Context, w *workspace.Workspace, _ none) (Explorations, error) {
				all, err := explorer(w).List(ctx)
				return ExplorationsOf(all), err
			}),
		verb("explore/show", Reads, "Show an exploration", "Returns the branches and the result of an exploration.",
			func(ctx context.Context, w *workspace.Workspace, in explorationIn) (*explore.Exploration, error) {
				return explained(explorer(w).Open(ctx, in.ID))
			}),
		turnVerb("explore/evaluate", Changes, "Evaluate an exploration", "Evaluates a finished exploration by another method. No branch runs again.", evaluate),
		turnVerb("explore/resume", Changes, "Resume an exploration", "Continues an interrupted exploration: a model tries the branches that have not ended.", resumeExploration),
		verb("explore/adopt", Changes, "Adopt an outcome", "Moves the head to the outcome of an exploration or to the result of one branch.",
			func(ctx context.Context, w *workspace.Workspace, in adoptIn) (*explore.Exploration, error) {
				return explained(explorer(w).Adopt(ctx, in.ID, in.Branch))
			}),
		verb("explore/adopt/files", Destroys, "Adopt an outcome with its files", "Moves the head to the outcome of an exploration or to the result of one branch, and brings what the branch changed in its folder into the explored one. What the folder has is kept as a state first.", adoptFiles),
		verb("explore/cancel", Changes, "Cancel an exploration", "Stops the running branches of an exploration and starts no others.", cancel),
		verb("explore/rm", Destroys, "Remove an exploration", "Moves a finished exploration to the trash.",
			func(ctx context.Context, w *workspace.Workspace, in explorationRemoveIn) (*workspace.RemovedExploration, error) {
				return explained(explorer(w).Remove(ctx, in.ID, in.Branches))
			}),
		verb("explore/stats", Reads, "Success of strategies", "Returns the success, the duration and the confidence of each strategy.",
			func(ctx context.Context, w *workspace.Workspace, _ none) (Strategies, error) {
				list, err := explorer(w).Statistics(ctx)
				return Strategies{list}, err
			}),
		verb("learnings", Reads, "Learnings", "Lists the outcomes of explored strategies, newest first.",
			func(ctx context.Context, w *workspace.Workspace, in similarIn) (Learnings, error) {
				known, err := explorer(w).Learnings(ctx)
				if in.Similar == "" {
					return LearningsOf(known, nil), err
				}
				return LearningsOf(known, &in.Similar), err
			}),
	}
}

// explorer returns an explorer that runs nothing.
func explorer(w *workspace.Workspace) *explore.Explorer { return &explore.Explorer{Workspace: w} }

// cancelWait is how long a running exploration may take to stop.
const cancelWait = 30 * time.Second

func cancel(ctx context.Context, w *workspace.Workspace, in explorationIn) (*explore.Exploration, error) {
	ctx, stop := context.WithTimeout(ctx, cancelWait)
	defer stop()
	return explained(explorer(w).Cancel(ctx, in.ID))
}
