package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/google/uuid"
)

// A run tries the branches of an exploration. One goroutine, the caller of
// run.run, owns the exploration and makes every write to the workspace: the
// file of the exploration, and the conversations of the branches. Each runner
// is a goroutine that reads, works in its folder, and sends the result of its
// branch.
type run struct {
	x        *Explorer
	w        *workspace.Workspace
	e        *Exploration
	model    model.Model // nil if a command tries the branches
	similar  []Similar   // given to runners
	folder   string      // of the exploration; contains those of the branches
	from     *isolate.Source
	resumed  bool            // branches may have run before
	messages []model.Message // the path to the explored message
	system   string
	results  chan ended
	cancel   map[string]context.CancelCauseFunc // for running branches
	folders  map[string]bool                    // branches whose folder has not been removed
	first    string                             // the branch whose conversation prepare made
	removals sync.WaitGroup
}

// An ended is the result of a runner.
type ended struct {
	id string
	outcome
	kept  bool // its conversation already has the result
	notes []Note
}

// newRun returns a run of e. folder is the parent of its branches' folders.
func newRun(x *Explorer, e *Exploration, folder string, m model.Model, similar []Similar) *run {
	return &run{
		x: x, w: x.Workspace, e: e, model: m, similar: similar, folder: filepath.Join(folder, e.ID),
		from: &isolate.Source{Dir: e.Runner.Dir}, resumed: slices.ContainsFunc(e.Branches, begun),
		results: make(chan ended), cancel: map[string]context.CancelCauseFunc{}, folders: map[string]bool{},
	}
}

// begun reports whether a branch may have run before.
func begun(b Branch) bool { return b.StartedAt != "" || b.Session != "" }

// run tries the branches that have not ended, as many at once as the settings
// allow, and returns when all have ended. The caller must hold the exploration.
//
// The file is written before a branch begins, and after its result is in its
// conversation. So run can continue after a crash: a branch that ended does not
// run again, nor does one whose result is in its conversation.
//
// If ctx ends, running branches are stopped and no other begins. If the cause
// is errCancelled, the exploration ends. Otherwise, and if the file cannot be
// written, stopped branches become pending for the next run, and run returns
// the cause.
func (r *run) run(ctx context.Context) error {
	r.progress()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	if r.e.EndedAt != "" {
		r.unshare()
		return nil
	}
	work, stop := r.limit(ctx)
	defer stop(nil)
	err := r.step(ctx, work)
	for len(r.e.Active) > 0 {
		x := <-r.results
		r.cancel[x.id](nil)
		if x.Failure != "" && (err != nil || interrupted(ctx)) {
			r.e.release(x.id)
			r.discard(x.id)
		} else {
			r.record(ctx, x)
		}
		if err != nil {
			continue
		}
		if err = r.step(ctx, work); err != nil {
			stop(err)
		}
	}
	r.removals.Wait()
	if err == nil && interrupted(ctx) {
		err = context.Cause(ctx)
	}
	if err == nil {
		r.tidy()
		r.unshare()
	}
	return err
}

// interrupted reports whether ctx ended for another reason than cancellation,
// so that the exploration can continue later.
func interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errCancelled)
}

// limit returns a context that ends when the time limit of the exploration is
// reached.
func (r *run) limit(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	most := time.Duration(r.e.Config.MaxTime)
	if most <= 0 {
		return context.WithCancelCause(ctx)
	}
	ctx, done := context.WithTimeoutCause(ctx, most, fmt.Errorf("the exploration took longer than %v", most))
	work, stop := context.WithCancelCause(ctx)
	return work, func(err error) { stop(err); done() }
}

// prepare reads what runners need, and removes the folders that a crash left.
// If the conversation of the first branch cannot be created, nothing begins and
// nothing is written.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.resumed {
		r.tidy()
	}
	r.e.resume()
	if r.e.Done() {
		return nil
	}
	if r.messages, err = r.w.Conversation(ctx, r.e.Session, r.e.Node); err != nil {
		return err
	}
	if r.e.Agent != "" && r.e.Runner.Command == "" {
		a, err := r.w.Agent(r.e.Agent).Info(ctx)
		if err != nil {
			return err
		}
		r.system = a.System
	}
	if !r.resumed && r.e.State == "" {
		if r.e.State, err = r.x.baseState(ctx, r.e); err != nil {
			return err
		}
	}
	for _, b := range r.e.Branches {
		r.folders[b.ID] = b.Folder != ""
	}
	first := slices.IndexFunc(r.e.Branches, func(b Branch) bool { return b.Status == Pending && b.Parent == r.e.Node })
	if first >= 0 && ctx.Err() == nil {
		b := r.e.Branches[first]
		b.Session = r.e.sessionOf(&b)
		if err := r.makeSession(ctx, b); err != nil {
			return err
		}
		r.first = b.ID
	}
	return r.share()
}

// step writes the exploration with the branches that begin next, and starts
// them. If work has ended, none begins.
func (r *run) step(ctx, work context.Context) error {
	var next []Branch
	switch {
	case work.Err() == nil:
		next = r.e.next(now())
	case !interrupted(ctx) && !r.e.Done():
		r.e.stop("not tried: "+context.Cause(work).Error(), now())
	}
	unneeded := r.unneeded()
	if err := r.store(ctx); err != nil {
		for _, b := range next {
			r.e.release(b.ID)
		}
		return err
	}
	r.progress()
	for _, id := range unneeded {
		r.discard(id)
	}
	for _, b := range next {
		r.start(work, b)
	}
	for _, b := range next { // while the runners work
		if b.ID == r.first {
			continue // the user may have removed it since
		}
		if err := r.makeSession(ctx, b); err != nil {
			failed := r.e.Branch(b.ID)
			failed.Session, failed.Reason = "", err.Error()
			r.cancel[b.ID](err)
		}
	}
	return nil
}

// start starts the runner of a branch.
func (r *run) start(work context.Context, b Branch) {
	var parent *Branch
	if up := r.e.Branch(b.Parent); up != nil {
		above := *up // a copy: the exploration changes while the runner works
		parent = &above
	}
	r.folders[b.ID] = true
	work, r.cancel[b.ID] = context.WithCancelCause(work)
	go func() { r.results <- r.try(work, b, parent) }()
}

// makeSession creates the conversation of a branch, unless it exists.
func (r *run) makeSession(ctx context.Context, b Branch) error {
	ref := r.e.Session + "@" + r.e.Node
	if parent := r.e.Branch(b.Parent); parent != nil {
		ref = parent.Session + "@" + parent.ID
	}
	return r.insist(ctx, func(ctx context.Context) error {
		_, err := r.w.Branch(ctx, ref, workspace.SnapshotOptions{ID: b.Session, Name: titleOf(b.Strategy), KeepHead: true})
		return err
	})
}

// titleOf returns the title of the conversation of a branch for the name of its strategy.
func titleOf(strategy string) string {
	const mark = "…"
	title := oneLine(printable.Clean(strategy))
	if len(title) > workspace.MaxTitle {
		title = strings.ToValidUTF8(title[:workspace.MaxTitle-len(mark)], "") + mark
	}
	return title
}

// record adds the result of a branch to its conversation, and ends the branch.
func (r *run) record(ctx context.Context, x ended) {
	var err error
	b := r.e.Branch(x.id)
	if b.Session == "" && x.Failure == "" {
		x.Failure = b.Reason
	}
	if x.Failure == "" && !x.kept {
		o := workspace.Outcome{ID: b.ID, Session: b.Session, Text: x.Result, From: member, Origin: originOf(r.e.ID, b.ID, x.outcome)}
		err = r.insist(ctx, func(ctx context.Context) error { return r.w.AddOutcome(ctx, o) })
	}
	if x.Failure == "" && err == nil {
		if err := r.keepFiles(ctx, b, x.Folder); err != nil {
			r.x.note("no state of the files of the branch " + b.Strategy + ": " + err.Error())
		}
	}
	r.e.note(x.id, x.notes)
	r.e.endBranch(x.id, x.outcome, uuid.NewString, now())
	if b := r.e.Branch(x.id); err != nil {
		b.Reason = cmp.Or(b.Reason, "its result was not added to its conversation: "+err.Error())
	}
}

// unneeded returns the branches whose folders no other branch needs any more,
// and clears their Folder.
func (r *run) unneeded() (ids []string) {
	for i := range r.e.Branches {
		b := &r.e.Branches[i]
		if !r.folders[b.ID] || b.Status == Pending || b.Status == Executing || r.e.continued(b.ID) {
			continue
		}
		if ids = append(ids, b.ID); !r.e.Runner.Keep {
			b.Folder = ""
		}
	}
	return ids
}

// discard removes the folders of a branch while the run continues.
func (r *run) discard(id string) {
	delete(r.folders, id)
	r.removals.Go(func() { r.removeFolders(id) })
}

func (r *run) progress() {
	if r.x.Progress != nil {
		r.x.Progress(r.e)
	}
}

// store writes the exploration's file.
func (r *run) store(ctx context.Context) error {
	data := r.e.Encode()
	return r.insist(ctx, func(ctx context.Context) error { return r.w.Exploration(r.e.ID).Write(ctx, data) })
}

// insist calls write even if ctx has ended. While another process holds the
// lock of the workspace, it retries until ctx ends.
func (r *run) insist(ctx context.Context, write func(context.Context) error) error {
	retry := time.NewTicker(100 * time.Millisecond)
	defer retry.Stop()
	for first := true; ; first = false {
		err := write(context.WithoutCancel(ctx))
		if err == nil || ctx.Err() != nil {
			return err
		}
		if code := workspace.Explain(err).Code; code != fault.Locked && code != fault.Busy {
			return err
		}
		if first {
			r.x.note("the exploration cannot be written, retrying: " + err.Error())
		}
		select {
		case <-ctx.Done():
		case <-retry.C:
		}
	}
}
