// Package api is the table of what a program can ask of a workspace, for HTTP and for
// MCP: the verbs of the command that run no program, open no path that the caller names and
// set up nothing. Some ask a model, which the [Env] opens.
//
// A [Verb] is data: its name, the JSON schemas of its arguments and of its result, and
// a function that makes one call of the workspace. The result is the document that the
// command prints with --json, which docs/json.md describes; [Encode] encodes it.
package api

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/google/jsonschema-go/jsonschema"
)

// An Effect is what a verb does to a workspace.
type Effect int

const (
	Reads    Effect = iota // nothing changes
	Changes                // something is added or altered
	Destroys               // something that exists is taken away: reverted, moved to the trash or deleted
)

func (e Effect) String() string { return [...]string{"reads", "changes", "destroys"}[e] }

// An Env is what verbs work with.
type Env struct {
	Workspace *workspace.Workspace
	// Models opens the model with an id, such as an agent's model_id. The result must
	// not run programs. If nil, what needs a model is refused.
	Models func(ctx context.Context, id string) (model.Model, error)
	// OnEvent is called with the events of turns, in order and from one goroutine. If nil,
	// it is not called.
	OnEvent func(events.Event)
	// Remotes returns how a remote is reached. If nil, what needs a remote is refused.
	Remotes func(remote.Info) remote.Options
	// OnProgress is called with the progress of an exchange with a remote, from any goroutine. If
	// nil, it is not called.
	OnProgress func(remote.Progress)
	// Machine describes where other programs keep their conversations. If nil, import takes
	// only the text of a transcript.
	Machine *transcript.Machine
}

// A Verb is something that a program can ask of a workspace.
type Verb struct {
	// Name is the name of the command's verb. The words of a verb of a verb are joined
	// with a slash, as in agent/rewind. If a flag of the command selects another result
	// or another [Effect], the flag is a word, as in trash/purge. config/get is config
	// with a key.
	Name    string
	Title   string // a few words
	Summary string // one or two sentences
	Effect  Effect
	Turns   bool // may ask a model, which takes long and ends with the context
	Remote  bool // exchanges something with a remote, which may take long and ends with the context

	in, out func() *jsonschema.Schema
	call    func(context.Context, Env, []byte) (any, error)
}

// In returns the schema of the arguments, an object that allows no other members. It
// must not be modified.
func (v *Verb) In() *jsonschema.Schema { return v.in() }

// Long reports whether the verb may take as long as others need to answer.
func (v *Verb) Long() bool { return v.Turns || v.Remote }

// Out returns the schema of the result, an object. Objects in it may get more members
// in later versions. It refers to its shared parts as #/$defs/NAME. It must not be
// modified.
func (v *Verb) Out() *jsonschema.Schema { return v.out() }

// Call decodes and checks the arguments, a JSON object or nothing, and calls the
// workspace. An error about the arguments has the code [fault.Usage].
func (v *Verb) Call(ctx context.Context, env Env, in json.RawMessage) (any, error) {
	args, err := check(v.In(), in)
	if err != nil {
		return nil, err
	}
	return v.call(ctx, env, args)
}

// Encode encodes a result as the command does, but always as valid JSON: the tokens NaN,
// Infinity and -Infinity, which Python writes, become null.
func Encode(result any) []byte {
	if source, ok := result.(rawjson.Source); ok { // a long conversation: one copy less
		return rawjson.Strict(source.JSON())
	}
	return rawjson.Strict(rawjson.Answer(result))
}

// Verbs returns all verbs, in the order of the command's help. The slice must not be
// modified.
func Verbs() []*Verb {
	table.once.Do(func() {
		table.verbs = slices.Concat(conversationVerbs(), rewriteVerbs(), agentVerbs(), explorationVerbs(), workspaceVerbs(), filesVerbs(), remoteVerbs(), configVerbs())
	})
	return table.verbs
}

var table struct {
	once  sync.Once
	verbs []*Verb
}

// Find returns the verb with a name.
func Find(name string) (*Verb, bool) {
	i := slices.IndexFunc(Verbs(), func(v *Verb) bool { return v.Name == name })
	if i < 0 {
		return nil, false
	}
	return Verbs()[i], true
}

// verb returns the verb that do implements. In is a struct whose fields are the
// arguments; those with omitempty are optional, and the tag jsonschema describes them.
func verb[In, Out any](name string, e Effect, title, summary string, do func(context.Context, *workspace.Workspace, In) (Out, error)) *Verb {
	return envVerb(name, e, title, summary, func(ctx context.Context, env Env, in In) (Out, error) { return do(ctx, env.Workspace, in) })
}

// turnVerb is verb for one that may ask a model.
func turnVerb[In, Out any](name string, e Effect, title, summary string, do func(context.Context, Env, In) (Out, error)) *Verb {
	v := envVerb(name, e, title, summary, do)
	v.Turns = true
	return v
}

// remoteVerb is verb for one that exchanges something with a remote.
func remoteVerb[In, Out any](name string, e Effect, title, summary string, do func(context.Context, Env, In) (Out, error)) *Verb {
	v := envVerb(name, e, title, summary, do)
	v.Remote = true
	return v
}

func envVerb[In, Out any](name string, e Effect, title, summary string, do func(context.Context, Env, In) (Out, error)) *Verb {
	return &Verb{
		Name: name, Title: title, Summary: summary, Effect: e,
		in:  sync.OnceValue(argumentsOf[In]),
		out: sync.OnceValue(resultOf[Out]),
		call: func(ctx context.Context, env Env, data []byte) (any, error) {
			var in In
			if err := decode(data, &in); err != nil {
				return nil, err
			}
			return do(ctx, env, in)
		},
	}
}
