// Package model defines language models and the tools that they can call: a
// [Model] answers a [Request] with a [Reply], and [Tools] execute its [Call]s.
// The packages below it implement models of providers; package agent/mcp
// implements tools of MCP servers. Programs can implement their own.
//
// The package has only types. Package agent/turn decides which calls are
// executed and when the model is asked.
package model

import (
	"context"
	"encoding/json"
)

// A Model answers conversations. Implementations must be safe for concurrent use.
type Model interface {
	// Ask returns the model's next message. While the message arrives, Ask passes
	// its text to stream, in pieces of valid UTF-8, from one goroutine and never
	// after Ask has returned. A model that does not stream never calls it.
	//
	// The error is a text for a person: the model cannot be reached, refused,
	// returned an invalid message, or stopped before the end of one. Text that was
	// streamed before is kept by the caller. Ask handles timeouts and retries, but
	// must not retry once text was streamed. It must return soon after ctx is done.
	Ask(ctx context.Context, r *Request, stream func(text string)) (*Reply, error)
}

// A Request is the input of a model. Its JSON is the input of a model that is
// run as a command.
type Request struct {
	Agent    string    `json:"agent"`    // the agent's name
	ModelID  string    `json:"model_id"` // the provider's name of the model
	System   string    `json:"system"`   // the system prompt, "" for none
	Messages []Message `json:"messages"` // from the root; see turn.Context
	Tools    []Tool    `json:"tools,omitempty"`
}

// A Message is a message of a session file, in any of the formats that programs
// store.
type Message struct {
	ID       string          `json:"id"`
	Role     string          `json:"role"`
	Content  json.RawMessage `json:"content"`
	Metadata json.RawMessage `json:"metadata"` // an object
}

// A Reply is a complete message of a model. Every call must have a name and a
// unique id, and there must be text or a call; otherwise the turn fails.
type Reply struct {
	Text  string
	Calls []Call
}

// A Call is a tool call by a model.
type Call struct {
	ID        string `json:"id"` // assigned by the model
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // usually JSON, not validated
}

// Tools are the tools that a model may call. Implementations must be safe for
// concurrent use.
type Tools interface {
	// List returns the available tools.
	List(ctx context.Context) ([]Tool, error)

	// Call executes a call and returns the result for the model. The error is a text
	// that the model reads in place of a result, for example for an unknown tool,
	// invalid arguments, a timeout, or a result that is too large. Call must return
	// soon after ctx is done.
	Call(ctx context.Context, c Call) (Result, error)
}

// A Tool is the description of a tool for the model.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of its arguments
	Writes      bool            `json:"-"`      // it may have side effects, so the user is asked before it runs
}

// A Result is the result of a tool.
type Result struct {
	Text   string // valid UTF-8
	Failed bool   // the tool was called and reports that it failed
}
