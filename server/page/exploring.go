package page

import (
	"cmp"
	"context"
	"fmt"
	"net/url"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/workspace/fault"
)

// An exploreForm is the form that begins an exploration.
type exploreForm struct {
	Ref      string
	About    string   // the words of the message, "" if Ref is none: then there is no form
	Commands []string // the names of commands that may run
	Unknown  string   // why the commands are unknown, "" if they are known
	Here     string
}

// exploreForm returns the form for a message.
func (c *request) exploreForm(ref string) exploreForm {
	f := exploreForm{Ref: ref, Here: "/explore"}
	if shown, err := c.workspace.Show(c.r.Context(), ref, partial()); err == nil && len(shown.Messages) > 0 {
		f.About = cmp.Or(spoken.Words(shown.Messages[len(shown.Messages)-1]), "(no text)")
	}
	if c.opts.Commands == nil {
		return f
	}
	names, err := c.opts.Commands()
	if err != nil {
		f.Unknown = workspaceError(err).Error()
	}
	f.Commands = names
	return f
}

// explorationOf returns the exploration that a form describes. Its command is one that the user
// approved, by its name.
func (p *Page) explorationOf(fields url.Values) (r explore.Request, err error) {
	r = explore.Request{
		Ref: fields.Get("ref"), Method: explore.Method(fields.Get("evaluate")),
		Strategies: explore.ParseStrategies(fields.Get(strategiesField)), Runner: explore.Runner{Model: fields.Get("model")},
	}
	if r.Ref == "" {
		r.Ref = "HEAD"
	}
	name := fields.Get("command")
	switch {
	case len(r.Strategies) == 0:
		return r, &fault.Error{Code: fault.Usage, Message: "no strategies are given", Hint: "write one on each line"}
	case name == "":
		return r, nil
	case r.Runner.Model != "":
		return r, &fault.Error{Code: fault.Usage, Message: "a command and a model exclude each other"}
	case p.opts.Command == nil:
		return r, &fault.Error{Code: fault.Refused, Message: "this server runs no commands"}
	}
	r.Runner.Command, err = p.opts.Command(name)
	return r, err
}

// explore begins an exploration, and returns its path. It continues in the background.
func (p *Page) explore(ctx context.Context, fields url.Values) (to string, err error) {
	r, err := p.explorationOf(fields)
	if err != nil {
		return "", err
	}
	begun, ended := make(chan string, 1), make(chan error, 1)
	x := &explore.Explorer{Workspace: p.workspace, Model: p.opts.Models, Note: p.opts.Log}
	x.Progress = func(e *explore.Exploration) {
		if _, err := x.Open(context.WithoutCancel(ctx), e.ID); err != nil {
			return // it is not written yet
		}
		select {
		case begun <- e.ID:
		default:
		}
	}
	plan, err := x.Plan(ctx, r)
	switch {
	case err != nil:
		return "", err
	case !plan.Config.Enabled:
		return "", &fault.Error{Code: fault.Refused, Message: "explorations are disabled", Hint: "explore.enabled of the settings, or of the agent, is false"}
	}
	if err := p.background(func(ctx context.Context) {
		_, err := x.Run(ctx, plan)
		ended <- err
	}); err != nil {
		return "", err
	}
	select {
	case err := <-ended: // or it has both begun and ended
		if err != nil || len(begun) == 0 {
			return "", err
		}
		return explorationAddress(<-begun), nil
	case id := <-begun:
		to = explorationAddress(id)
	case <-ctx.Done():
		return "", ctx.Err()
	}
	go func() {
		if err := <-ended; err != nil {
			p.opts.Log(fmt.Sprintf("explore: %v", err))
		}
	}()
	return to, nil
}

// background calls f, unless too much runs already.
func (p *Page) background(f func(context.Context)) error {
	if p.turns.run(f) {
		return nil
	}
	return &fault.Error{Code: fault.Busy, Message: "too much runs at once", Hint: fmt.Sprintf("at most %d turns, imports and explorations", maxTurns)}
}
