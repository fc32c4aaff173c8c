package api

import (
	"context"
	"fmt"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/content"
	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/tokens"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/rewrite"
)

type head struct {
	Keep bool `json:"keep_head,omitempty" jsonschema:"do not move the head"`
}

type dryRun struct {
	DryRun bool `json:"dry_run,omitempty" jsonschema:"only return what would be done"`
}

type pickIn struct {
	Refs []string `json:"refs" jsonschema:"the messages to copy, in order: REFs as in show, or ranges A..B, which are the messages after A up to B"`
	Onto string   `json:"onto,omitempty" jsonschema:"the message below which they are copied, a REF, by default the head"`
	Turn bool     `json:"turn,omitempty" jsonschema:"copy the whole turn of each message"`
	head
	dryRun
}

type editIn struct {
	Ref    string `json:"ref" jsonschema:"the message of the user, a REF as in show"`
	Text   string `json:"text" jsonschema:"the new text"`
	Answer bool   `json:"answer,omitempty" jsonschema:"let an agent answer the new message"`
	Agent  string `json:"agent,omitempty" jsonschema:"with answer: who answers, by default the owner of the conversation, else the agent named replay"`
	models
	head
}

type pruneContextIn struct {
	optionalRef
	Drop    []string `json:"drop,omitempty" jsonschema:"messages to omit: their ids, REFs, or ranges A..B"`
	Squash  string   `json:"squash,omitempty" jsonschema:"instead of drop: the range A..B of messages in whose place a summary is put; ..B begins with the conversation"`
	Summary string   `json:"summary,omitempty" jsonschema:"the text of the summary"`
	Model   string   `json:"model,omitempty" jsonschema:"instead of summary: the model that writes it"`
	Name    string   `json:"name,omitempty" jsonschema:"the title, by default made from that of the conversation"`
	head
	dryRun
}

func rewriteVerbs() []*Verb {
	return []*Verb{
		verb("pick", Changes, "Pick messages", "Copies messages below another one, a tool call together with its results.",
			func(ctx context.Context, w *workspace.Workspace, in pickIn) (*rewrite.Pick, error) {
				return w.Pick(ctx, rewrite.PickOptions{Refs: in.Refs, Onto: in.Onto, Turn: in.Turn, KeepHead: in.Keep, DryRun: in.DryRun})
			}),
		turnVerb("edit", Changes, "Edit a message", "Adds a changed copy of a message of the user beside the original, and lets an agent answer it if asked to.", edit),
		turnVerb("replay", Changes, "Replay a conversation", "Sends the messages of the user again in a new branch, answered by an agent.", replay),
		turnVerb("prune-context", Changes, "Prune the context", "Makes a branch without some messages, or with a summary in their place.", pruneContext),
	}
}

func edit(ctx context.Context, env Env, in editIn) (*rewrite.Edited, error) {
	o := rewrite.EditOptions{Text: in.Text, KeepHead: in.Keep}
	if in.Answer {
		o.Answer = &rewrite.AnswerOptions{Agent: in.Agent, Turn: env.turns(in.models)}
	} else if in.Agent+in.Model+in.Fallback != "" {
		return nil, badArgument("agent, model and fallback need answer")
	}
	return env.Workspace.EditMessage(ctx, in.Ref, o)
}

type replayIn struct {
	Ref    string  `json:"ref,omitempty" jsonschema:"the end of the path whose messages of the user are repeated, a REF as in show, or a range A..B"`
	Onto   string  `json:"onto,omitempty" jsonschema:"the message below which they are added, a REF; by default the message before the first one"`
	Edit   string  `json:"edit,omitempty" jsonschema:"a message of the path whose text is changed"`
	Text   string  `json:"text,omitempty" jsonschema:"the new text"`
	Agent  string  `json:"agent,omitempty" jsonschema:"the agent that answers, by default the owner of the conversation, else one named replay"`
	System *string `json:"system,omitempty" jsonschema:"the system prompt, instead of the agent's"`
	Name   string  `json:"name,omitempty" jsonschema:"the name of the new branch"`
	Resume *string `json:"resume,omitempty" jsonschema:"instead of ref: continue the replay that made this session; if it is empty, the last one"`
	GoOn   bool    `json:"go_on,omitempty" jsonschema:"do not stop at an answer that asks something back"`
	models
	dryRun
}

// A Replayed is a replay with the difference between the old path and the new one.
type Replayed struct {
	rewrite.Replay
	Diff *Parting `json:"diff"` // null if nothing was said
}

// A Parting is where two paths part.
type Parting struct {
	Common session.ID `json:"common"` // the last common message
	A      []string   `json:"a"`      // messages that only the old path has
	B      []string   `json:"b"`      // messages that only the new path has

	RefA string `json:"-"` // the end of the old path, as short as it can be
	RefB string `json:"-"` // the end of the new path
}

func replay(ctx context.Context, env Env, in replayIn) (*Replayed, error) {
	o := rewrite.ReplayOptions{
		Ref: in.Ref, Onto: in.Onto, Edit: in.Edit, Text: in.Text, Agent: in.Agent, System: in.System, Name: in.Name,
		GoOn: in.GoOn, DryRun: in.DryRun, Turn: env.turns(in.models), Count: CountMessage(),
	}
	var err error
	if o.Price, err = Prices(env.Workspace.Dir()); err != nil {
		return nil, err
	}
	switch {
	case in.Edit != "" && in.Text == "":
		return nil, badArgument("edit needs text")
	case in.Text != "" && in.Edit == "":
		return nil, badArgument("text needs edit")
	case in.Resume != nil && in.Ref != "":
		return nil, badArgument("ref and resume exclude each other")
	case in.Resume != nil:
		return Compared(ctx, env.Workspace)(env.Workspace.ResumeReplay(ctx, *in.Resume, o))
	case in.Ref == "":
		return nil, badArgument("one of ref and resume is needed")
	}
	return Compared(ctx, env.Workspace)(env.Workspace.Replay(ctx, o))
}

// Compared returns a function that adds to a replay the difference between the two paths.
func Compared(ctx context.Context, w *workspace.Workspace) func(*rewrite.Replay, error) (*Replayed, error) {
	return func(r *rewrite.Replay, err error) (*Replayed, error) {
		if err != nil {
			return nil, err
		}
		out := &Replayed{Replay: *r}
		if r.Session == "" {
			return out, nil
		}
		d, err := w.Diff(ctx, r.Of.Session+"@"+r.Of.Message, string(r.Session)+"@"+string(r.Message), session.ReadOptions{})
		if err != nil {
			return nil, err
		}
		out.Diff = &Parting{d.Common, d.A, d.B, d.RefA, d.RefB}
		return out, nil
	}
}

func pruneContext(ctx context.Context, env Env, in pruneContextIn) (*rewrite.Pruned, error) {
	o := rewrite.PruneContextOptions{
		Drop: in.Drop, Squash: in.Squash, Summary: in.Summary, Name: in.Name,
		KeepHead: in.Keep, DryRun: in.DryRun, Count: CountMessage(),
	}
	switch {
	case in.Model != "" && in.Summary != "":
		return nil, badArgument("summary and model exclude each other")
	case in.Model != "":
		open := env.Models
		if open == nil {
			open = refuse
		}
		o.Model, o.Summarize = in.Model, Summarizer(ctx, open, in.Model)
	}
	return env.Workspace.PruneContext(ctx, in.orHead(), o)
}

// CountMessage returns a function that counts the tokens of a stored message.
func CountMessage() func(raw []byte) int {
	var counter tokens.Counter
	return func(raw []byte) int { return content.Read(raw).Tokens(counter.Count) }
}

// Prices returns a function that returns the price of a model from the settings of a workspace and of
// its user.
func Prices(dir string) (func(modelID string) (rewrite.Price, bool), error) {
	l, err := Settings(dir)
	if err != nil {
		return nil, err
	}
	prices := map[string]string{}
	if err := l.Decode("models.prices", &prices); err != nil {
		return nil, SettingError(err)
	}
	return func(modelID string) (p rewrite.Price, ok bool) {
		text, ok := prices[modelID]
		if ok {
			p.Input, p.Output, _ = config.ParsePrice(text) // it was checked
		}
		return p, ok
	}, nil
}

// SpentText says how many tokens models read and wrote, and what these cost if that is known.
func SpentText(t rewrite.ModelTokens) string {
	text := fmt.Sprintf("%s %s in, %s out", plural.Number(t.Input), plural.Noun(t.Input, "token"), plural.Number(t.Output))
	switch {
	case t.Cost == nil:
		return text
	case *t.Cost > 0 && *t.Cost < 0.01:
		return text + ", cost below 0.01"
	}
	return text + fmt.Sprintf(", cost %.2f", *t.Cost)
}

// Summarizer returns a function that asks the model with an id, which open opens.
func Summarizer(ctx context.Context, open func(context.Context, string) (model.Model, error), id string) func(prompt string) (string, error) {
	return func(prompt string) (string, error) {
		m, err := open(ctx, id)
		if err != nil {
			return "", err
		}
		r := &model.Request{ModelID: id, Messages: []model.Message{{ID: "summary", Role: "user", Content: rawjson.Compact(prompt), Metadata: []byte("{}")}}}
		reply, err := m.Ask(ctx, r, func(string) {})
		if err != nil {
			return "", &fault.Error{Code: fault.Failed, Message: "the model wrote no summary, and nothing was changed: " + err.Error(), Err: err}
		}
		return reply.Text, nil
	}
}
