package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// Options are what an exploration is carried out with.
type Options struct {
	// Model answers for a branch, and makes one result of several; nil where nothing asks.
	Model agent.Model
	// Folder is where the folders of branches are made, outside of the explored one.
	Folder string
	// Learnings are past outcomes for the runner.
	Learnings []Similar
	// Tell is told of each change, from one goroutine. Nil means that nobody is told.
	Tell func(*Exploration)
	// Note is told what a person should know although nothing failed.
	Note func(string)

	Now   func() time.Time // nil for time.Now
	NewID func() string    // makes a UUID
}

// ErrCancelled is why an exploration stops that its user cancels.
var ErrCancelled = errors.New("cancelled")

// Run carries out what is left of an exploration, as many branches at once as its Config
// allows and another as soon as one has ended, and returns when all have. The caller holds
// it: [workspace.Workspace.HoldExploration]. It is stored before the first begins and after
// each change, once the result of a branch stands in the conversation of the branch, so
// whoever reads it sees how far it is. After a crash Run goes on: a branch that has ended
// is not run again, nor is one whose result stands in its conversation already.
//
// Nothing waits for the disk that need not: the next branch begins while the result of the
// last one is stored. Where another process has the lock of the workspace Run waits for it.
//
// When ctx ends the branches at work are stopped and none is begun any more; the reason is
// the cause of ctx. With [ErrCancelled] that is the end of the exploration; else, and if it
// cannot be stored, which is an error, those branches wait for the next Run.
func Run(ctx context.Context, w *workspace.Workspace, e *Exploration, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tell == nil {
		o.Tell = func(*Exploration) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if e.Runner.Command == "" && o.Model == nil && !e.Done() {
		return &workspace.Error{Code: workspace.Usage, Message: "there is nothing to try a strategy with", Hint: "name a command or a model"}
	}
	r := &run{
		w: w, e: e, o: o, from: &isolate.Source{Dir: e.Runner.Dir}, again: slices.ContainsFunc(e.Branches, begun),
		ended: make(chan ended), jobs: make(chan job), wrote: make(chan job),
		cancel: map[string]context.CancelCauseFunc{}, unkept: map[string]bool{}, held: map[string][]Branch{}, left: map[string]func(){},
	}
	return r.run(ctx)
}

// breath is how long writing waits when a branch begins, so that programs that end
// together are followed by others together, and these are not waiting for a processor.
const breath = 15 * time.Millisecond

// begun reports whether a branch may have been at work before.
func begun(b Branch) bool { return b.StartedAt != "" || b.Session != "" }

// A run is what carries out an exploration. Its loop alone changes the exploration.
type run struct {
	w        *workspace.Workspace
	e        *Exploration
	o        Options
	from     *isolate.Source
	again    bool   // not for the first time
	made     string // the branch that has a conversation before any begins
	messages []agent.Message
	system   string

	ended   chan ended
	running sync.WaitGroup
	cancel  map[string]context.CancelCauseFunc // of branches at work
	unkept  map[string]bool                    // branches whose result, or those below them, are not stored yet
	held    map[string][]Branch                // those below them, which wait for that
	left    map[string]func()                  // removes the folders that branches below a branch begin with
	discard []func()                           // the same, of folders that the stored exploration still names
	settled []string                           // branches whose result is stored, but not yet those below them

	queue []job // what is to be written before the exploration is
	jobs  chan job
	wrote chan job
	busy  bool  // something is being written
	dirty bool  // the exploration is not stored as it is
	fatal error // why it cannot be
}

// An ended is what came of a branch.
type ended struct {
	id string
	Ended
	kept  bool // its result stands in its conversation
	notes []Note
	clean func() // removes its folder
}

// A job is something to be written. They are done one after another.
type job struct {
	kind    string // session, outcome or exploration
	branch  string
	settled []string // of an exploration
	discard []func() // of an exploration
	do      func() error
	err     error
}

func (r *run) run(ctx context.Context) error {
	if err := r.readContext(ctx); err != nil {
		return err
	}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if most := r.e.Config.MaxTime; most > 0 {
		var done context.CancelFunc
		work, done = context.WithTimeoutCause(work, time.Duration(most), fmt.Errorf("the exploration took longer than %v", most))
		defer done()
	}
	if r.again {
		r.tidy()
		r.findFolders()
	}
	r.e.Resume()
	if err := r.share(); err != nil {
		return err
	}
	list := r.next(ctx, "")
	if len(list) > 0 && r.e.Branch(list[0].Parent) == nil {
		// Where no branch can begin nothing is begun, or stored.
		if err := r.session(ctx, list[0], r.e.Session+"@"+r.e.Node)(); err != nil {
			for _, b := range list {
				r.e.Release(b.ID, "")
			}
			return err
		}
		r.made = list[0].ID
	}
	if err := r.storing(ctx, r.e.Encode())(); err != nil {
		return err
	}
	r.dirty = false
	go func() {
		for j := range r.jobs {
			j.err = j.do()
			r.wrote <- j
		}
	}()
	defer close(r.jobs)
	stopped, why := work.Done(), ""
	var quiet <-chan time.Time
	for {
		for _, b := range list {
			r.begin(ctx, work, b)
			if quiet == nil {
				quiet = time.After(breath)
			}
		}
		var next job
		var free chan job
		switch store := r.dirty && r.fatal == nil; {
		case r.busy, quiet != nil && len(r.e.Active) > 0:
		case len(r.queue) > 0:
			next, free = r.queue[0], r.jobs
		case store:
			next, free = job{kind: "exploration", settled: r.settled, discard: r.discard, do: r.storing(ctx, r.e.Encode())}, r.jobs
		case len(r.e.Active) == 0:
			r.running.Wait()
			if r.interrupted(ctx) {
				return cmp.Or(r.fatal, context.Cause(ctx))
			}
			r.unshare()
			if r.again {
				r.tidy() // branches that were stopped before they ran again
			}
			return nil
		}
		select {
		case free <- next:
			if r.busy = true; next.kind == "exploration" {
				r.dirty, r.settled, r.discard = false, nil, nil
			} else {
				r.queue = r.queue[1:]
			}
		case <-quiet:
			quiet, list = nil, nil
			continue
		case j := <-r.wrote:
			r.busy = false
			if list = r.written(j); r.fatal != nil {
				stop(r.fatal)
			}
			continue
		case x := <-r.ended:
			r.end(ctx, x)
		case <-stopped:
			if stopped = nil; !r.interrupted(ctx) {
				why = context.Cause(work).Error()
			}
		}
		list = r.next(ctx, why)
	}
}

// readContext reads what the runner is given of the conversation, if a branch is left.
func (r *run) readContext(ctx context.Context) (err error) {
	if r.e.Done() {
		return nil
	}
	if r.messages, err = r.w.Conversation(ctx, r.e.Session, r.e.Node); err != nil {
		return err
	}
	if r.e.Agent != "" && r.e.Runner.Command == "" {
		a, err := r.w.Agent(ctx, r.e.Agent)
		if err != nil {
			return err
		}
		r.system = a.System
	}
	return nil
}

// findFolders takes up the folders that an interrupted run left for branches below others.
func (r *run) findFolders() {
	for _, b := range r.e.Branches {
		if b.Folder != "" {
			r.left[b.ID] = func() { r.removeFolders(b.ID) }
		}
	}
}

// next returns the branches that are to begin, none for a reason why.
func (r *run) next(ctx context.Context, why string) []Branch {
	var list []Branch
	switch {
	case why != "" && !r.e.Done():
		r.e.Stop("not tried: "+why, r.now())
		r.changed()
	case why == "" && !r.interrupted(ctx):
		if list = r.e.Next(r.now()); len(list) > 0 {
			r.changed()
		}
	}
	return list
}

// changed has the exploration be stored, and told, and removes the folders that no branch
// begins with any more.
func (r *run) changed() {
	for id, remove := range r.left {
		if r.e.continued(id) {
			continue
		}
		delete(r.left, id)
		b := r.e.Branch(id)
		if b.Folder == "" {
			r.running.Go(remove)
			continue
		}
		// After a crash a branch that is not stored as ended begins with it again.
		r.discard = append(r.discard, remove)
		if !r.e.Runner.Keep {
			b.Folder = ""
		}
	}
	r.dirty = true
	r.o.Tell(r.e)
}

// begin begins a branch, once there is what it begins at.
func (r *run) begin(ctx, work context.Context, b Branch) {
	parent, ref := r.e.Branch(b.Parent), r.e.Session+"@"+r.e.Node
	if parent != nil {
		if r.unkept[parent.ID] && r.fatal == nil {
			r.held[parent.ID] = append(r.held[parent.ID], b)
			return
		}
		ref = parent.Session + "@" + parent.ID
		up := *parent
		parent = &up
	}
	if b.ID != r.made {
		r.queue = append(r.queue, job{kind: "session", branch: b.ID, do: r.session(ctx, b, ref)})
	}
	work, cancel := context.WithCancelCause(work)
	r.cancel[b.ID] = cancel
	r.running.Go(func() {
		x, clean := r.try(work, b, parent)
		x.id, x.clean = b.ID, clean
		r.ended <- x
	})
}

// session returns what makes the conversation of a branch, which begins where ref points.
func (r *run) session(ctx context.Context, b Branch, ref string) func() error {
	return r.insist(ctx, func(ctx context.Context) error {
		_, err := r.w.Branch(ctx, ref, workspace.SnapshotOptions{ID: b.Session, Name: b.Strategy, KeepHead: true})
		return err
	})
}

// end takes in what came of a branch.
func (r *run) end(ctx context.Context, x ended) {
	r.cancel[x.id](nil)
	delete(r.cancel, x.id)
	b := r.e.Branch(x.id)
	r.left[x.id] = x.clean
	if r.interrupted(ctx) && x.Failure != "" {
		r.e.Release(x.id, "")
		r.changed()
		return
	}
	switch {
	case x.Failure != "":
	case x.kept:
		r.unkept[b.ID], r.settled = true, append(r.settled, b.ID)
	default:
		o := workspace.Outcome{ID: b.ID, Session: b.Session, Text: x.Result, From: member, Origin: originOf(r.e.ID, b.ID, x.Ended)}
		r.unkept[b.ID] = true
		r.queue = append(r.queue, job{kind: "outcome", branch: b.ID, do: r.insist(ctx, func(ctx context.Context) error {
			return r.w.KeepOutcome(ctx, o)
		})})
	}
	r.e.note(x.id, x.notes)
	r.e.End(x.id, x.Ended, r.o.NewID, r.now())
	r.changed()
}

// written takes in that something was written, or cannot be, and returns what can begin
// now.
func (r *run) written(j job) (list []Branch) {
	b := r.e.Branch(j.branch)
	switch {
	case j.kind == "exploration":
		if r.fatal = j.err; r.fatal != nil {
			return slices.Concat(slices.Collect(maps.Values(r.held))...)
		}
		for _, remove := range j.discard {
			r.running.Go(remove)
		}
		for _, id := range j.settled {
			delete(r.unkept, id)
			list = append(list, r.held[id]...)
			delete(r.held, id)
		}
	case j.kind == "session" && j.err != nil:
		if cancel := r.cancel[j.branch]; cancel != nil {
			cancel(j.err)
		}
		b.Session = ""
		r.changed()
	case j.kind == "outcome":
		// What is below it begins when it is stored that there is such a branch: else
		// after a crash there would be another one in its place.
		r.settled = append(r.settled, j.branch)
		r.dirty = true
		if j.err != nil {
			b.Reason = cmp.Or(b.Reason, "its result stands in no conversation: "+j.err.Error())
			r.changed()
		}
	}
	return list
}

// interrupted reports whether the program is to end, and the exploration goes on later.
func (r *run) interrupted(ctx context.Context) bool {
	return r.fatal != nil || ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrCancelled)
}

func (r *run) now() string { return session.FormatTime(r.o.Now()) }

// storing returns what stores the exploration as it is in data.
func (r *run) storing(ctx context.Context, data []byte) func() error {
	return r.insist(ctx, func(ctx context.Context) error { return r.w.KeepExploration(ctx, r.e.ID, data) })
}

// insist returns what writes something although ctx ends, as often as it takes while
// others have the workspace, but then not for ever.
func (r *run) insist(ctx context.Context, write func(context.Context) error) func() error {
	return func() error {
		for told := false; ; told = true {
			err := write(context.WithoutCancel(ctx))
			if err == nil || ctx.Err() != nil {
				return err
			}
			if code := workspace.Explain(err).Code; code != workspace.Locked && code != workspace.Busy {
				return err
			}
			if !told {
				r.o.Note("the exploration waits until it can be stored: " + err.Error())
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
}
