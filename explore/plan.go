package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/explore/recognize"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// A Request describes an exploration to plan.
type Request struct {
	Ref        string     // the message to explore
	Strategies []Strategy // if empty, those that the assistant's message at Ref offers
	// Recent is the number of replies before the one at Ref to consider. If the reply at Ref offers
	// no choice, the newest of these that does is explored, provided that the choice is still open.
	// If Recent is positive, the learnings for similar questions also decide whether to explore.
	Recent     int
	Recognizer string // id of the model that recognizes these; if empty, rules do
	Method     Method // if empty, Best
	Runner     Runner // if it has no command and no model, the model of the conversation's agent is used
	Settings   []byte // an object with members of a Config, which take precedence; may be nil
}

// ParseStrategies returns the strategies in a text: one on each line, with a description after a
// colon.
func ParseStrategies(text string) (list []Strategy) {
	for line := range strings.Lines(text) {
		name, about, _ := strings.Cut(line, ":")
		if name, about = strings.TrimSpace(name), strings.TrimSpace(about); name != "" || about != "" {
			list = append(list, Strategy{Name: name, Description: about})
		}
	}
	return list
}

// A Plan is a planned exploration. Its JSON is the output of a dry run.
type Plan struct {
	Session    string           `json:"session_id"`
	Node       string           `json:"parent_node_id"`
	Agent      string           `json:"agent"` // the agent that owns the conversation, "" for none
	Question   string           `json:"question"`
	Explores   bool             `json:"explores"`   // whether Run explores it
	Reason     string           `json:"reason"`     // if not, why; with [Request.Recent] also why it does
	Confidence *float64         `json:"confidence"` // that the reply offers a choice, null if the strategies were given
	Strategies []RankedStrategy `json:"strategies"` // in the order in which they will be tried
	Config     Config           `json:"config"`     // the merged settings

	Method     Method `json:"-"`
	Runner     Runner `json:"-"`
	Checkpoint string `json:"-"` // the checkpoint with Node: Run explores a branch of it

	similar []Similar
}

// Validate returns an error with the code [fault.Usage] or [fault.NotFound] if
// r is invalid for any workspace.
func (r *Request) Validate() error {
	wrong := func(format string, a ...any) error {
		return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf(format, a...)}
	}
	for i, s := range r.Strategies {
		switch {
		case strings.TrimSpace(s.Name) == "":
			return wrong("strategy %d has no name", i+1)
		case !utf8.ValidString(s.Name + s.Description):
			return wrong("the strategy %q is not valid UTF-8", s.Name)
		case slices.ContainsFunc(r.Strategies[:i], func(a Strategy) bool { return a.Name == s.Name }):
			return wrong("two strategies are named %q", s.Name)
		}
	}
	if r.Method != "" {
		if _, err := ParseMethod(string(r.Method)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Runner.Bindings)) {
		switch value := r.Runner.Bindings[name]; {
		case name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00"):
			return wrong("the binding %q cannot be a variable of the environment", name+"="+value)
		case strings.HasPrefix(name, "BOUGH_"):
			return wrong("%s cannot be bound: variables that begin with BOUGH_ are set by bough", name)
		}
	}
	if dir := r.Runner.Dir; dir != "" {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no folder %q", dir), Err: err}
		case err != nil:
			return err
		case !info.IsDir():
			return wrong("%q is not a folder", dir)
		case !filepath.IsAbs(dir):
			return wrong("%q is not an absolute path", dir)
		}
	}
	if _, err := (Config{}).with(r.Settings); len(r.Settings) > 0 && err != nil {
		return wrong("%v", err)
	}
	return nil
}

// Plan plans an exploration for [Explorer.Run]. It writes nothing. Past
// outcomes for similar questions rank the strategies.
func (x *Explorer) Plan(ctx context.Context, r Request) (*Plan, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	start, err := x.Workspace.ExplorationPlace(ctx, r.Ref)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Session: start.Session, Node: start.Message, Question: start.Question, Checkpoint: start.Frozen,
		Runner: r.Runner, Explores: true,
	}
	if p.Method, err = ParseMethod(string(cmp.Or(r.Method, Best))); err != nil {
		return nil, err
	}
	if p.Config, err = x.config(ctx, start.Agent, r.Settings); err != nil {
		return nil, err
	}
	if a := start.Agent; a != nil && start.Frozen == "" {
		p.Agent = a.Name
		if p.Runner.Command == "" && p.Runner.Model == "" {
			p.Runner.Model = a.Model
		}
	}
	known, err := x.Learnings(ctx)
	if err != nil {
		return nil, err
	}
	p.similar = FindSimilar(p.Question, known, similarLearnings)
	if len(r.Strategies) > 0 {
		p.given(r.Strategies)
		return p, nil
	}
	if start.Reply == "" {
		return nil, problem(NoReply, "", &fault.Error{Code: fault.Refused, Message: "the message at " + r.Ref + " is not a reply of an assistant"})
	}
	found, sure, err := x.recognize(ctx, r.Recognizer, start.Reply, p.Config)
	if err != nil {
		return nil, err
	}
	p.offered(found, sure)
	if r.Recent > 0 {
		if err := x.decide(ctx, p, start, r.Recent); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// given plans the strategies of the request.
func (p *Plan) given(strategies []Strategy) {
	var found []recognize.Offer
	for _, s := range strategies {
		found = append(found, recognize.Offer{Strategy: s, Confidence: neutral, Rule: "given"})
	}
	p.Strategies = rank(found, p.similar, p.Config)
	if !p.Config.Enabled {
		p.Explores, p.Reason = false, switchedOff
	}
}

const switchedOff = "explorations are disabled"

// offered plans the strategies that a reply offers, if it offers a choice.
func (p *Plan) offered(found []recognize.Offer, sure float64) {
	p.Strategies, p.Confidence = rank(found, p.similar, p.Config), &sure
	switch {
	case !p.Config.Enabled:
		p.Reason = switchedOff
	case len(found) < 2:
		p.Reason = "it does not offer several ways"
	case sure < p.Config.MinConfidence:
		p.Reason = fmt.Sprintf("the confidence that it offers several ways, %s, is below %s", figure(sure), figure(p.Config.MinConfidence))
	}
	p.Explores = p.Reason == ""
}

// recognize returns the strategies that a reply offers, and the confidence that
// it offers a choice. It uses the model with an id, or rules if id is empty or
// the model fails.
func (x *Explorer) recognize(ctx context.Context, id, reply string, c Config) ([]recognize.Offer, float64, error) {
	if id != "" && c.Enabled {
		m, err := x.model(ctx, Runner{Model: id})
		if err != nil {
			return nil, 0, err
		}
		asked, stop := context.WithTimeout(ctx, time.Duration(c.Timeout))
		defer stop()
		found, sure, err := recognizeWith(asked, m, id, reply)
		if err == nil || ctx.Err() != nil {
			return found, sure, err
		}
		x.note("strategies are recognized by rules instead of the model: " + err.Error())
	}
	found, sure := recognize.Reply(reply)
	return found, sure, nil
}

// config returns the merged settings. Those of the request take precedence,
// then those of the agent, of the workspace, and of the user.
func (x *Explorer) config(ctx context.Context, a *agents.Agent, request []byte) (Config, error) {
	own, err := x.Workspace.ExplorationSettings(ctx)
	if err != nil {
		return Config{}, err
	}
	var agents []byte
	if a != nil {
		agents = []byte(gjson.GetBytes(a.File, "explore").Raw)
	}
	c, err := merge(own, agents, request)
	if err != nil {
		return c, &fault.Error{Code: fault.Damaged, Message: err.Error(), Hint: "correct " + workspace.ExplorationSettingsPath + ` or the agent's member "explore"`, Err: err}
	}
	return c, nil
}
