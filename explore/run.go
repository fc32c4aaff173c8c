package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/child"
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
// it: [workspace.Workspace.HoldExploration]. It is stored before anything begins and after
// anything ends, so whoever reads it sees how far it is, and after a crash Run goes on
// without running a branch again that has ended.
//
// When ctx ends the branches at work are stopped and none is begun any more; the reason is
// the cause of ctx. With [ErrCancelled] that is the end of the exploration; else those
// branches wait for the next Run.
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
	r := &run{w: w, e: e, o: o, ended: make(chan ended), from: &isolate.Source{Dir: e.Runner.Dir}}
	storing := context.WithoutCancel(ctx)
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if e.Config.MaxTime > 0 {
		var done context.CancelFunc
		work, done = context.WithTimeoutCause(work, time.Duration(e.Config.MaxTime), fmt.Errorf("the exploration took longer than %v", e.Config.MaxTime))
		defer done()
	}
	e.Resume()
	stopped := work.Done()
	why := "" // no more branches begin
	for {
		var begun []Branch
		switch {
		case why != "":
			e.Stop("not tried: "+why, r.now())
		case ctx.Err() == nil:
			begun = e.Next(r.now())
		}
		if err := r.store(storing); err != nil {
			stop(err)
			r.drain(len(e.Active))
			return err
		}
		for _, b := range begun {
			ref := e.Session + "@" + e.Node
			if parent := e.Branch(b.Parent); parent != nil {
				ref = parent.Session
			}
			go func() { r.ended <- ended{b.ID, r.try(work, b, ref)} }()
		}
		if len(e.Active) == 0 {
			break
		}
		select {
		case x := <-r.ended:
			if r.interrupted(ctx) && x.Failure != "" {
				e.Release(x.id, x.Session)
			} else {
				e.End(x.id, x.Ended, o.NewID, r.now())
			}
		case <-stopped:
			if stopped = nil; !r.interrupted(ctx) {
				why = context.Cause(work).Error()
			}
		}
	}
	if r.interrupted(ctx) {
		return context.Cause(ctx)
	}
	return nil
}

// A run is what carries out an exploration.
type run struct {
	w     *workspace.Workspace
	e     *Exploration
	o     Options
	from  *isolate.Source
	ended chan ended
}

type ended struct {
	id string
	Ended
}

// interrupted reports whether the program is to end, and the exploration goes on later.
func (r *run) interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrCancelled)
}

func (r *run) now() string { return session.FormatTime(r.o.Now()) }

func (r *run) store(ctx context.Context) error {
	r.o.Tell(r.e)
	return r.w.KeepExploration(ctx, r.e.ID, r.e.Encode())
}

// drain waits for branches at work.
func (r *run) drain(n int) {
	for range n {
		<-r.ended
	}
}

// try tries a branch, which begins where ref points. All that goes wrong is in what it
// returns.
func (r *run) try(ctx context.Context, b Branch, ref string) (x Ended) {
	x.Session = b.Session
	failed := func(err error) Ended {
		x.Failure = err.Error()
		return x
	}
	if x.Session == "" {
		snap, err := r.w.Branch(ctx, ref, workspace.SnapshotOptions{Name: b.Strategy, KeepHead: true})
		if err != nil {
			return failed(err)
		}
		x.Session = snap.ID
	}
	messages, err := r.w.Conversation(ctx, x.Session, "")
	if err != nil {
		return failed(err)
	}
	if r.e.Runner.Command == "" {
		x.Answer, err = r.ask(ctx, b, messages)
	} else {
		err = r.command(ctx, b, messages, &x)
	}
	if err != nil {
		return failed(err)
	}
	_, err = r.w.KeepOutcome(context.WithoutCancel(ctx), workspace.Outcome{
		Session: x.Session, Text: x.Result, From: "exploration", Origin: r.origin(b.ID, x.Confidence),
	})
	if err != nil {
		return failed(err)
	}
	return x
}

// origin is what a message says of where it came from.
func (r *run) origin(branch string, confidence *float64) map[string]any {
	return map[string]any{"id": r.e.ID, "branch_id": branch, "confidence": confidence}
}

// command runs the program for a branch, in a folder of its own.
func (r *run) command(ctx context.Context, b Branch, messages []agent.Message, x *Ended) error {
	dir := filepath.Join(r.o.Folder, r.e.ID, b.ID)
	made, err := r.folder(ctx, dir)
	if err != nil {
		return err
	}
	if !r.e.Runner.Keep {
		defer r.remove(dir)
	}
	task := Task{
		Exploration: r.e.ID, Branch: b.ID, Strategy: Strategy{b.Strategy, b.Description}, Depth: b.Depth,
		Dir: made, Bindings: r.e.Runner.Bindings, Learnings: r.o.Learnings, Messages: []json.RawMessage{},
	}
	for _, m := range messages {
		raw, err := json.Marshal(m)
		if err != nil {
			return err
		}
		task.Messages = append(task.Messages, raw)
	}
	if r.e.Runner.Share {
		task.Notes = filepath.Join(r.o.Folder, r.e.ID, "notes")
		if err := os.MkdirAll(task.Notes, 0o700); err != nil {
			return err
		}
	}
	input, err := json.Marshal(task)
	if err != nil {
		return err
	}
	bind := []string{"BOUGH_EXPLORATION=" + r.e.ID, "BOUGH_BRANCH=" + b.ID, "BOUGH_STRATEGY=" + b.Strategy, "BOUGH_DEPTH=" + strconv.Itoa(b.Depth)}
	for _, name := range slices.Sorted(maps.Keys(r.e.Runner.Bindings)) {
		bind = append(bind, name+"="+r.e.Runner.Bindings[name])
	}
	c := child.Command{
		Line: r.e.Runner.Command, Dir: made, Env: isolate.Environ(os.Environ()), Bind: bind, Input: append(input, '\n'),
		MaxOutput: int(r.e.Config.MaxOutput), Timeout: time.Duration(r.e.Config.Timeout),
	}
	out, err := c.Run(ctx)
	if err != nil {
		return err
	}
	x.Output = int64(len(out.Output))
	if out.Reason != "" {
		reason := out.Reason
		if said := strings.TrimSpace(out.Said); said != "" && out.End == child.Exited {
			reason += ": " + said
		}
		return errors.New(strings.ToValidUTF8(reason, "\uFFFD"))
	}
	x.Answer, err = ParseAnswer(out.Output)
	return err
}

// folder makes the folder of a branch, and returns what the explored folder is in it.
func (r *run) folder(ctx context.Context, dir string) (string, error) {
	if err := r.from.Remove(ctx, dir); r.e.Runner.Dir != "" && err != nil { // what a crash left
		return "", err
	}
	if r.e.Runner.Dir == "" {
		return dir, errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700))
	}
	f, err := r.from.Make(ctx, dir)
	if err != nil {
		return "", err
	}
	for _, left := range f.Left {
		r.o.Note("not in the folder of a branch: " + left)
	}
	return f.Dir, nil
}

func (r *run) remove(dir string) {
	err := error(nil)
	if r.e.Runner.Dir == "" {
		err = os.RemoveAll(dir)
	} else {
		err = r.from.Remove(context.Background(), dir)
	}
	if err != nil {
		r.o.Note(err.Error())
	}
}

// ask has the model try a branch.
func (r *run) ask(ctx context.Context, b Branch, messages []agent.Message) (Answer, error) {
	if t := time.Duration(r.e.Config.Timeout); t > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, t, fmt.Errorf("it took longer than %v", t))
		defer stop()
	}
	task := fmt.Sprintf("Go about this in one way only: %s.", strings.TrimSpace(b.Strategy+": "+b.Description))
	text, err := json.Marshal(task)
	if err != nil {
		return Answer{}, err
	}
	messages = append(slices.Clip(messages), agent.Message{ID: b.ID, Role: "user", Content: text, Metadata: json.RawMessage("{}")})
	reply, err := r.o.Model.Ask(ctx, &agent.Request{Agent: r.e.Agent, ModelID: r.e.Runner.Model, Messages: messages}, func(string) {})
	if err != nil {
		return Answer{}, cmp.Or(context.Cause(ctx), err)
	}
	return ParseAnswer([]byte(reply.Text))
}
