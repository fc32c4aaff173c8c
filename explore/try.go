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

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/child"
	"github.com/bough-dev/bough/internal/gitcmd"
	"github.com/bough-dev/bough/internal/likeness"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

// try tries a branch, whose parent is nil at depth 1. Failures are part of the
// result.
func (r *run) try(ctx context.Context, b Branch, parent *Branch) ended {
	x, err := r.result(ctx, b, parent)
	x.id = b.ID
	if err != nil {
		x.Failure = strings.ToValidUTF8(err.Error(), "\uFFFD")
	}
	return x
}

func (r *run) result(ctx context.Context, b Branch, parent *Branch) (x ended, err error) {
	if ctx.Err() != nil {
		return x, context.Cause(ctx)
	}
	if r.resumed {
		if kept, ok, err := r.kept(ctx, b); ok || err != nil {
			return kept, err
		}
		r.removeFolders(b.ID)
	}
	messages := r.messages
	if parent != nil {
		if messages, err = r.w.Conversation(ctx, parent.Session, parent.ID); err != nil {
			return x, err
		}
	}
	if r.e.Runner.Command == "" {
		x.answer, err = r.ask(ctx, b, messages)
	} else {
		err = r.command(ctx, b, parent, messages, &x)
	}
	return x, err
}

// member is the member of metadata.bough of a message that an exploration wrote.
const member = "exploration"

// An origin is the value of that member for the result of a branch. It has the
// whole answer, so that the runner does not run again after a crash.
type origin struct {
	Exploration string          `json:"id"`
	Branch      string          `json:"branch_id"`
	Confidence  *float64        `json:"confidence"`
	Success     *bool           `json:"success,omitempty"`
	Metrics     json.RawMessage `json:"metrics,omitempty"`
	Insights    []string        `json:"insights,omitempty"`
	Strategies  []Strategy      `json:"strategies,omitempty"`
	Output      int64           `json:"output,omitempty"`
	Folder      string          `json:"folder,omitempty"`
}

func originOf(exploration, branch string, x outcome) origin {
	return origin{exploration, branch, x.Confidence, x.Success, x.Metrics, x.Insights, x.Strategies, x.Output, x.Folder}
}

// kept returns the result of a branch that is already in its conversation,
// because the program was killed before it wrote the exploration.
func (r *run) kept(ctx context.Context, b Branch) (x ended, ok bool, err error) {
	path, err := r.w.Conversation(ctx, b.Session, b.ID)
	if e := workspace.Explain(err); e != nil && e.Code == fault.NotFound {
		return x, false, nil
	} else if err != nil {
		return x, false, err
	}
	last := path[len(path)-1]
	var from origin
	said := gjson.GetBytes(last.Metadata, "bough."+member)
	if last.ID != b.ID || json.Unmarshal([]byte(said.Raw), &from) != nil || from.Exploration != r.e.ID {
		return x, false, fmt.Errorf("a message that is not its result has the id %s", b.ID)
	}
	if err := json.Unmarshal(last.Content, &x.Result); err != nil {
		return x, false, err
	}
	x.Confidence, x.Success, x.Metrics, x.Insights = from.Confidence, from.Success, from.Metrics, from.Insights
	x.Strategies, x.Output, x.Folder, x.kept = from.Strategies, from.Output, from.Folder, true
	if r.e.Runner.Share {
		x.notes = collect(r.notes(b.ID), b.ID)
	}
	return x, true, nil
}

// command runs the command for a branch, in a folder of its own.
func (r *run) command(ctx context.Context, b Branch, parent *Branch, messages []model.Message, x *ended) error {
	dir := filepath.Join(r.folder, b.ID)
	if r.resumed {
		// A runner that survived a crash may still use the old folder.
		dir += "-" + uuid.NewString()[:8]
	}
	made, err := r.makeFolder(ctx, dir, parent)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(r.folder, made); err == nil {
		x.Folder = filepath.ToSlash(rel)
	}
	given := task{
		Exploration: r.e.ID, Branch: b.ID, Strategy: Strategy{Name: b.Strategy, Description: b.Description}, Depth: b.Depth,
		Dir: made, Bindings: r.e.Runner.Bindings, Learnings: r.similar, Messages: []json.RawMessage{},
	}
	for _, m := range messages {
		raw, err := json.Marshal(m)
		if err != nil {
			return err
		}
		given.Messages = append(given.Messages, raw)
	}
	bind := []string{"BOUGH_EXPLORATION=" + r.e.ID, "BOUGH_BRANCH=" + b.ID, "BOUGH_STRATEGY=" + b.Strategy, "BOUGH_DEPTH=" + strconv.Itoa(b.Depth)}
	if r.e.Runner.Share {
		own := r.notes(b.ID)
		if err := errors.Join(os.RemoveAll(own), os.MkdirAll(own, 0o700)); err != nil { // from before a crash
			return err
		}
		given.Notes = r.notes("")
		bind = append(bind, "BOUGH_NOTES="+given.Notes)
		defer func() { x.notes = collect(own, b.ID) }()
	}
	input, err := json.Marshal(given)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.e.Runner.Bindings)) {
		bind = append(bind, name+"="+r.e.Runner.Bindings[name])
	}
	c := child.Command{
		Line: r.e.Runner.Command, Dir: made, Env: gitcmd.Environ(os.Environ()), Bind: bind, Input: append(input, '\n'),
		MaxOutput: int(r.e.Config.MaxOutput), Timeout: time.Duration(r.e.Config.Timeout), Grace: r.x.grace,
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
		return errors.New(reason)
	}
	x.answer, err = parseAnswer(out.Output)
	return err
}

// ask asks the model to try a branch.
func (r *run) ask(ctx context.Context, b Branch, messages []model.Message) (answer, error) {
	if t := time.Duration(r.e.Config.Timeout); t > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, t, fmt.Errorf("it took longer than %v", t))
		defer stop()
	}
	task := fmt.Sprintf("Go about this in one way only: %s.\n\n%s", approach(b), sayConfidence)
	for _, l := range r.similar {
		if likeness.SameName(l.Strategy, b.Strategy) {
			task += "\n\n" + remembered(l)
		}
	}
	text, err := json.Marshal(task)
	if err != nil {
		return answer{}, err
	}
	messages = append(slices.Clip(messages), model.Message{ID: b.ID, Role: "user", Content: text, Metadata: json.RawMessage("{}")})
	reply, err := r.model.Ask(ctx, &model.Request{Agent: r.e.Agent, ModelID: r.e.Runner.Model, System: r.system, Messages: messages}, func(string) {})
	if err != nil {
		return answer{}, cmp.Or(context.Cause(ctx), err)
	}
	return parseReply(reply.Text)
}

func approach(b Branch) string {
	text := strings.TrimSuffix(oneLine(b.Strategy), ".")
	if d := strings.TrimSuffix(oneLine(b.Description), "."); d != "" {
		text += ": " + d
	}
	return text
}

// remembered returns a past outcome of a strategy as text for a model.
func remembered(l Similar) string {
	text := "It was tried on something like this before, and it failed."
	if l.Success {
		text = "It was tried on something like this before, and it worked."
	}
	for _, s := range l.Insights {
		text += "\n- " + oneLine(s)
	}
	return text
}
