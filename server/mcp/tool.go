package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool is a tool of the server.
type tool struct {
	name   string
	title  string
	about  string                                   // for the model
	open   bool                                     // it may reach beyond the workspace
	models bool                                     // it may ask a model
	again  bool                                     // a second call with the same arguments changes nothing
	list   string                                   // the member of the result with a list that may be long, "" for none
	ask    func(ctx context.Context, c *call) error // asks the user first; nil if run does, or no question is needed
	trim   func(doc []byte) []byte                  // bounds the lists of states in the result; nil if it has none
	enums  func() map[string][]string               // the values of arguments that are one of a few words; may be nil

	// complete sets what follows. It takes a while, so only a server calls it.
	complete func(*tool)
	effect   api.Effect
	in, out  *jsonschema.Schema
	run      func(ctx context.Context, c *call) (any, error)
}

func (t *tool) words() map[string][]string {
	if t.enums == nil {
		return nil
	}
	return t.enums()
}

// A call is a call of a tool in progress.
type call struct {
	*Server
	w    *workspace.Workspace // reports progress and notes to the client
	req  *sdk.CallToolRequest
	args json.RawMessage // without the cursor
	at   cursor

	report func(doing string, done, total int64) // reports progress; nil if the client did not ask

	mu    sync.Mutex
	notes []string
}

// A texter is a result with a text for the model that is easier to read than its
// JSON. It has a bounded size.
type texter interface{ text() string }

// env returns what verbs work with.
func (c *call) env() api.Env {
	env := api.Env{Workspace: c.w, Remotes: c.opts.Remotes}
	if c.report != nil {
		env.OnProgress = func(p remote.Progress) { c.report(doing(p), p.Done, p.Total) }
	}
	return env
}

// doing describes the work of an exchange with a remote.
func doing(p remote.Progress) string {
	return map[string]string{"send": "sending", "get": "receiving", "apply": "adding sessions"}[p.Doing]
}

// ofVerb completes t with a verb, which has the schemas and the effect, and
// handles the calls.
func ofVerb(name string, t tool) *tool {
	t.complete = func(t *tool) {
		v, ok := api.Find(name)
		if !ok {
			panic("mcp: no verb " + name)
		}
		t.effect, t.in, t.out = v.Effect, v.In(), v.Out()
		if t.trim != nil {
			t.out = withOmittedLeft(t.out)
		}
		if ask := t.ask; ask != nil {
			resolved := resolve(t.in)
			t.ask = func(ctx context.Context, c *call) error {
				if err := check(resolved, c.args); err != nil {
					return err // before the user is asked
				}
				return ask(ctx, c)
			}
		}
		t.run = func(ctx context.Context, c *call) (any, error) {
			env := c.env()
			if t.models {
				env.Models = c.opts.Models
			}
			return v.Call(ctx, env, c.args)
		}
	}
	return &t
}

// callVerb calls a verb with arguments that are a struct.
func callVerb[Out any](ctx context.Context, c *call, name string, args any) (out Out, err error) {
	v, ok := api.Find(name)
	if !ok {
		panic("mcp: no verb " + name)
	}
	result, err := v.Call(ctx, c.env(), rawjson.Compact(args))
	if err != nil {
		return out, err
	}
	return result.(Out), nil
}

// define completes t with f, which handles the calls. The schemas are those of In
// and Out.
func define[In, Out any](t tool, f func(ctx context.Context, c *call, in In) (Out, error)) *tool {
	t.complete = func(t *tool) {
		var err error
		if t.in, err = jsonschema.For[In](nil); err != nil {
			panic("mcp: " + err.Error()) // a mistake in a type of this package
		}
		for name, words := range t.words() {
			for _, w := range words {
				t.in.Properties[name].Enum = append(t.in.Properties[name].Enum, w)
			}
		}
		t.out = api.Describe(reflect.TypeFor[Out]())
		resolved := resolve(t.in)
		t.run = func(ctx context.Context, c *call) (any, error) {
			var in In
			if err := check(resolved, c.args); err != nil {
				return nil, err
			}
			if err := json.Unmarshal(c.args, &in); err != nil {
				return nil, badArguments(err)
			}
			return f(ctx, c, in)
		}
	}
	return &t
}

func resolve(s *jsonschema.Schema) *jsonschema.Resolved {
	r, err := s.Resolve(nil)
	if err != nil {
		panic("mcp: " + err.Error()) // a mistake in a type
	}
	return r
}

// check returns an error if arguments do not fit a schema.
func check(s *jsonschema.Resolved, args json.RawMessage) error {
	var object map[string]any
	err := json.Unmarshal(args, &object)
	if err == nil {
		err = s.Validate(object)
	}
	if err != nil {
		return badArguments(err)
	}
	return nil
}

func badArguments(err error) error {
	text := strings.TrimPrefix(err.Error(), "validating root: ")
	return &fault.Error{Code: fault.Usage, Message: "the arguments do not fit the schema of the tool: " + text, Err: err}
}

// paged adds the cursor to the schemas of a tool that returns a list in pages. A
// tool that changes something returns the beginning of the list: a call with a
// cursor would change it again. The schemas may be shared, so they are copied.
func (t *tool) paged() {
	if t.list == "" {
		return
	}
	in, out := *t.in, *t.out
	in.Properties, out.Properties = maps.Clone(in.Properties), maps.Clone(out.Properties)
	if in.Properties == nil {
		in.Properties = map[string]*jsonschema.Schema{}
	}
	if t.effect != api.Reads {
		out.Properties["omitted"] = &jsonschema.Schema{Type: "integer", Description: "how many elements the answer omits, by default 0"}
		t.out = &out
		return
	}
	in.Properties["cursor"] = &jsonschema.Schema{Type: "string", Description: "next_cursor of the previous answer, to read on"}
	out.Properties["next_cursor"] = &jsonschema.Schema{Type: "string", Description: "absent at the end of the list"}
	out.Properties["offset"] = &jsonschema.Schema{Type: "integer", Description: "index in the whole list of the first element of this page, by default 0"}
	t.in, t.out = &in, &out
}

// addTool registers a tool.
func (s *Server) addTool(t *tool) {
	yes, no := true, false
	reads := t.effect == api.Reads
	hints := &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: reads, IdempotentHint: reads || t.again, DestructiveHint: &no, OpenWorldHint: &t.open}
	if t.effect == api.Destroys {
		hints.DestructiveHint = &yes
	}
	s.sdk.AddTool(&sdk.Tool{
		Name: t.name, Title: t.title, Description: t.about, Annotations: hints, InputSchema: t.in, OutputSchema: t.out,
	}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return s.call(ctx, t, req)
	})
}

// call handles a call of t. The error is one of the protocol.
func (s *Server) call(ctx context.Context, t *tool, req *sdk.CallToolRequest) (res *sdk.CallToolResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.opts.Log(fmt.Sprintf("the tool %s: %v", t.name, p))
			res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
		}
	}()
	args := req.Params.Arguments
	if len(bytes.TrimSpace(args)) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the arguments of a tool are an object: " + err.Error()}
	}
	at, err := cursorOf(args)
	if err != nil {
		return failed(err), nil
	}
	if delete(object, "cursor"); t.in.Properties["cursor"] != nil {
		args = rawjson.Compact(object)
	}
	c := &call{Server: s, req: req, args: args, at: at}
	c.report = c.progress(ctx)
	c.w = s.workspace.Observed(c.report, c.note)
	var value any
	if t.ask != nil {
		err = t.ask(ctx, c)
	}
	if err == nil {
		value, err = t.run(ctx, c)
	}
	var ask *question
	switch {
	case errors.As(err, &ask):
		return ask.result(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		e := workspace.Explain(err)
		if e.Code == fault.Failed {
			s.opts.Log(fmt.Sprintf("the tool %s: %s", t.name, e.Message))
		}
		return failed(err), nil
	}
	return c.answer(t, value)
}

// answer returns the result of a tool.
func (c *call) answer(t *tool, value any) (*sdk.CallToolResult, error) {
	doc := api.Encode(value)
	if t.trim != nil {
		doc = t.trim(doc)
	}
	var err error
	if t.list != "" {
		if doc, err = page(doc, t.list, c.at, t.effect == api.Reads); err != nil {
			return failed(err), nil
		}
	}
	var text string
	if v, ok := value.(texter); ok {
		text = v.text()
	} else {
		doc = shortened(doc)
		text = string(doc)
	}
	res := &sdk.CallToolResult{StructuredContent: json.RawMessage(doc), Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notes {
		res.Content = append(res.Content, &sdk.TextContent{Text: "Note: " + n})
	}
	return res, nil
}

// note records a note about something that did not fail the call.
func (c *call) note(s string) {
	const most = 10
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.notes) < most {
		c.notes = append(c.notes, oneLine(s, 500))
	}
}

// progress returns the function that reports the progress of the call, or nil
// if the client did not ask for reports.
func (c *call) progress(ctx context.Context) func(doing string, done, total int64) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var mu sync.Mutex
	var p meter
	return func(doing string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		at, of, ok := p.step(doing, done, total)
		if !ok {
			return
		}
		// An error means that the client is gone, which also ends ctx.
		c.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: doing, Progress: float64(at), Total: float64(of)})
	}
}

// A meter adds up the progress of consecutive parts of a call, because
// progress must increase. The zero meter is at the start of a call.
type meter struct {
	doing       string
	before      int64 // total of the parts that ended
	done, total int64 // of the current part
	sent        int64 // the last progress that was reported
}

// step returns the progress and the total of the call, and reports whether the
// client is notified: at the start and end of a part, and at each percent.
func (m *meter) step(doing string, done, total int64) (at, of int64, ok bool) {
	if doing != m.doing || done < m.done {
		m.before += m.total
		m.doing, m.done = doing, 0
	}
	m.done, m.total = done, max(done, total)
	at, of = m.before+m.done, m.before+m.total
	if at <= m.sent || at < of && at-m.sent < of/100 {
		return at, of, false
	}
	m.sent = at
	return at, of, true
}
