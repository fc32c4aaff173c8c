package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/restores"
	"github.com/google/uuid"
)

// An Explorer runs explorations of a workspace. A method that changes an
// exploration holds its lock (22.5); if another process holds it, the error has
// the code [fault.Busy]. Parameters called name are an exploration's id or a
// unique prefix of it.
//
// All fields but Workspace may be zero. They must not change after the first
// call of a method.
type Explorer struct {
	Workspace *workspace.Workspace

	// Model opens a model by its id, which may come from a file of the workspace. If
	// nil, no model can be used.
	Model func(ctx context.Context, id string) (model.Model, error)
	// Approve returns an error if a command that is stored in the workspace must not
	// run. If nil, [Explorer.Resume] runs no command.
	Approve func(context.Context, Runner) error
	// Progress is called before the first branch begins, and after each write of the
	// exploration, which it must not modify or retain. If nil, it is not called.
	Progress func(*Exploration)
	// Note is called with a sentence about a problem that is not an error. It must
	// be safe for concurrent use. If nil, it is not called.
	Note func(string)
	// Folder is the parent of the branches' folders. If empty, it is
	// bough/explorations in the user's cache folder.
	Folder string
	// AdoptOutcome makes Run, Resume and Evaluate adopt the outcome, if there is
	// one.
	AdoptOutcome bool

	grace time.Duration // of the commands of runners, see [child.Command]
}

// similarLearnings is the maximum number of past outcomes that are used for the
// ranking and given to runners.
const similarLearnings = 50

// errCancelled is the cause of a context that ends because the exploration is
// cancelled.
var errCancelled = errors.New("cancelled")

// Run creates the exploration of a plan, tries its strategies, stores the
// learnings, and evaluates the results. The outcome is added as a message below
// the explored one. If there is neither a command nor a model to try the
// strategies, nothing is written.
//
// If the exploration was created, it is returned even with an error. If ctx
// ends, the error has the problem [Interrupted], and [Explorer.Resume]
// continues.
func (x *Explorer) Run(ctx context.Context, p *Plan) (*Exploration, error) {
	if !p.Explores {
		return nil, &fault.Error{Code: fault.Refused, Message: p.Reason}
	}
	if _, err := x.folder(p.Runner.Dir); err != nil {
		return nil, err
	}
	m, err := x.model(ctx, p.Runner)
	if err != nil {
		return nil, err
	}
	line := p.Session
	if p.Checkpoint != "" {
		snap, err := x.Workspace.Branch(ctx, p.Checkpoint+"@"+p.Node, workspace.SnapshotOptions{KeepHead: true})
		if err != nil {
			return nil, err
		}
		line = snap.ID
	}
	e := &Exploration{
		ID: uuid.NewString(), Session: line, Node: p.Node, Agent: p.Agent, Question: p.Question,
		Method: p.Method, Config: p.Config, Runner: p.Runner,
	}
	var strategies []Strategy
	for _, s := range p.Strategies {
		strategies = append(strategies, s.Strategy)
	}
	e.begin(strategies, uuid.NewString, now())
	release, err := x.Workspace.Exploration(e.ID).Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return e, x.finish(ctx, e, m, p.similar)
}

// Resume continues an interrupted exploration: it tries the branches that have
// not ended, and evaluates the results by the method of the plan unless they
// were evaluated.
func (x *Explorer) Resume(ctx context.Context, name string) (*Exploration, error) {
	return x.hold(ctx, name, func(e *Exploration) error {
		known, err := x.Learnings(ctx)
		if err != nil {
			return err
		}
		if e.Runner.Command != "" && !e.Done() {
			if x.Approve == nil {
				return &fault.Error{Code: fault.Refused, Message: "the exploration stores a command that is not approved"}
			}
			if err := x.Approve(ctx, e.Runner); err != nil {
				return err
			}
		}
		m, err := x.model(ctx, e.Runner)
		if err != nil {
			return err
		}
		return x.finish(ctx, e, m, FindSimilar(e.Question, known, similarLearnings))
	})
}

// Evaluate evaluates an exploration that has ended, by another method. The
// outcome is added as another message below the explored one.
func (x *Explorer) Evaluate(ctx context.Context, name string, method Method) (*Exploration, error) {
	method, err := ParseMethod(string(method))
	if err != nil {
		return nil, err
	}
	return x.hold(ctx, name, func(e *Exploration) error {
		if !e.Done() {
			return notOver(e)
		}
		var m model.Model
		if method == Synthesis {
			var err error
			if m, err = x.model(ctx, e.Runner); err != nil {
				return err
			}
		}
		if err := x.conclude(ctx, e, method, m); err != nil {
			return notEvaluated(e, err)
		}
		return x.adoptOutcome(ctx, e)
	})
}

// Adopt moves a head to the outcome of an exploration or, if branch is not
// empty, to the result of that branch, which is added as a message below the
// explored one. The head is that of the agent that owns the explored
// conversation, else the workspace's. branch is the branch's id, else its strategy,
// else an unambiguous prefix of its id of at least four characters.
func (x *Explorer) Adopt(ctx context.Context, name, branch string) (*Exploration, error) {
	return x.hold(ctx, name, func(e *Exploration) error {
		b, err := e.named(branch)
		if err != nil {
			return err
		}
		return x.adopt(ctx, e, b)
	})
}

// AdoptFiles does the same as [Explorer.Adopt], and changes the files of the explored folder, or
// of the repository that contains it, as the branch changed them; see [workspace.Folder.Adopt].
// If branch is empty, the outcome must be the result of one branch. Without an agent, files and
// head change in one operation. In a dry run nothing changes.
func (x *Explorer) AdoptFiles(ctx context.Context, name, branch string, o restores.Options) (e *Exploration, r *restores.Restore, err error) {
	e, err = x.hold(ctx, name, func(e *Exploration) error {
		b, err := e.named(branch)
		if err != nil {
			return err
		}
		r, err = x.adoptFiles(ctx, e, b, o)
		return err
	})
	return e, r, err
}

// Remove moves an exploration that has ended to the trash. With branches, it
// also moves the conversations of its branches that nothing else needs. The
// outcome, adopted results and learnings stay. The file of a damaged
// exploration can be removed only without branches.
func (x *Explorer) Remove(ctx context.Context, name string, branches bool) (*workspace.RemovedExploration, error) {
	id, err := x.Workspace.ExplorationID(ctx, name)
	if err != nil {
		return nil, err
	}
	release, err := x.Workspace.Exploration(id).Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	e, err := x.Open(ctx, id)
	switch {
	case errors.Is(err, fault.Damaged) && !branches:
		return x.Workspace.Exploration(id).Remove(ctx, nil)
	case err != nil:
		return nil, err
	case !e.Done():
		return nil, notOver(e)
	}
	folder, err := x.folder(e.Runner.Dir)
	if err != nil {
		return nil, err
	}
	sessions := map[string]string{}
	for _, b := range e.Branches {
		if branches && b.Session != "" {
			sessions[b.Session] = b.ID
		}
	}
	removed, err := x.Workspace.Exploration(e.ID).Remove(ctx, sessions)
	if err != nil {
		return nil, err
	}
	r := newRun(x, e, folder, nil, nil)
	for _, b := range e.Branches {
		r.removeFolders(b.ID)
	}
	return removed, nil
}

// Open returns an exploration. If its file is damaged, the error has the code
// [fault.Damaged].
func (x *Explorer) Open(ctx context.Context, name string) (*Exploration, error) {
	data, err := x.Workspace.Exploration(name).Read(ctx)
	if err != nil {
		return nil, err
	}
	e, err := Decode(data)
	if err != nil {
		return nil, &fault.Error{
			Code: fault.Damaged, Message: fmt.Sprintf("the file of the exploration %s is damaged: %v", name, err),
			Hint: "the conversations of its branches can be used", Err: err,
		}
	}
	return e, nil
}

// List returns all explorations, newest first. It skips damaged ones, with a
// note.
func (x *Explorer) List(ctx context.Context) ([]*Exploration, error) {
	ids, err := x.Workspace.Explorations(ctx)
	if err != nil {
		return nil, err
	}
	var list []*Exploration
	for _, id := range ids {
		e, err := x.Open(ctx, id)
		if err != nil {
			x.note(err.Error())
			continue
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b *Exploration) int { return cmp.Compare(b.CreatedAt, a.CreatedAt) })
	return list, nil
}

// BranchFolders returns the parent of the folders of an exploration's branches.
func (x *Explorer) BranchFolders(e *Exploration) (string, error) {
	folder, err := x.folder(e.Runner.Dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, e.ID), nil
}

// hold calls change under the lock of an exploration, with its current content.
func (x *Explorer) hold(ctx context.Context, name string, change func(*Exploration) error) (*Exploration, error) {
	id, err := x.Workspace.ExplorationID(ctx, name)
	if err != nil {
		return nil, err
	}
	release, err := x.Workspace.Exploration(id).Hold(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	e, err := x.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return e, change(e)
}

// finish tries the branches of e that have not ended, and evaluates the
// results.
func (x *Explorer) finish(ctx context.Context, e *Exploration, m model.Model, similar []Similar) error {
	if err := x.try(ctx, e, m, similar); err != nil {
		return err
	}
	if err := x.remember(ctx, e); err != nil {
		return err
	}
	if e.Evaluation == nil {
		if err := x.conclude(ctx, e, cmp.Or(e.Method, Best), m); err != nil {
			return notEvaluated(e, err)
		}
	}
	return x.adoptOutcome(ctx, e)
}

func (x *Explorer) adoptOutcome(ctx context.Context, e *Exploration) error {
	if !x.AdoptOutcome || len(e.Evaluation.From) == 0 {
		return nil
	}
	return x.adopt(ctx, e, nil)
}

// try tries the branches of e that have not ended, until it is cancelled or ctx ends.
func (x *Explorer) try(ctx context.Context, e *Exploration, m model.Model, similar []Similar) error {
	folder, err := x.folder(e.Runner.Dir)
	if err != nil {
		return err
	}
	watched, stop := x.untilCancelled(ctx, e.ID)
	err = newRun(x, e, folder, m, similar).run(watched)
	stop()
	os.Remove(filepath.Join(folder, e.ID)) // only if it is empty
	switch {
	case err == nil && errors.Is(context.Cause(watched), errCancelled):
		x.noteError(x.Workspace.Exploration(e.ID).ClearCancel(ctx))
		x.noteError(x.remember(ctx, e))
		return cancelled(e)
	case ctx.Err() != nil:
		return stopped(e, err)
	}
	return err
}

// model opens the model of a runner, nil if it has none.
func (x *Explorer) model(ctx context.Context, r Runner) (model.Model, error) {
	switch {
	case r.Model == "":
		if r.Command == "" {
			return nil, problem(NoRunner, "", &fault.Error{Code: fault.Usage, Message: "no command and no model is given to try the strategies"})
		}
		return nil, nil
	case x.Model == nil:
		return nil, &fault.Error{Code: fault.Refused, Message: "no models can be used here"}
	}
	return x.Model(ctx, r.Model)
}

// folder returns the parent of the branches' folders. It must be outside of
// dir, the folder that they are copies of.
func (x *Explorer) folder(dir string) (string, error) {
	folder := x.Folder
	if folder == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if !filepath.IsAbs(cache) {
			var err error
			if cache, err = os.UserCacheDir(); err != nil {
				return "", err
			}
		}
		folder = filepath.Join(cache, "bough", "explorations")
	}
	if dir != "" {
		if rel, err := filepath.Rel(dir, folder); err == nil && filepath.IsLocal(rel) {
			return "", &fault.Error{
				Code: fault.Refused, Message: fmt.Sprintf("the folders of branches would be made in %s, which is in %s", folder, dir),
				Hint: "set $XDG_CACHE_HOME to a folder elsewhere",
			}
		}
	}
	return folder, nil
}

func (x *Explorer) note(s string) {
	if x.Note != nil {
		x.Note(s)
	}
}

func (x *Explorer) noteError(err error) {
	if err != nil {
		x.note(err.Error())
	}
}

func now() string { return session.Bough.Time(time.Now()) }
