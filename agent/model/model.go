// Package model describes language models and the tools that they may call, as bough
// uses them: a [Model] answers a [Request] with a [Reply], and [Tools] execute its
// [Call]s. The packages below it are models of providers; package agent/mcp has the
// tools of MCP servers. A program can bring its own.
//
// The package holds only types. Package agent/turn decides which calls are executed
// and what is asked next.
package model

import (
	"context"
	"encoding/json"
)

// A Model answers conversations. Implementations must be safe for concurrent use.
type Model interface {
	// Ask returns the model's next message. While the message arrives, Ask passes
	// its text to stream, in pieces of valid UTF-8, from one goroutine and never
	// after Ask has returned; a model that does not stream never calls it.
	//
	// The error is a text for a person: the model cannot be reached, refused,
	// returned an invalid message, or stopped before the end of one. The streamed
	// text is not lost. Ask handles timeouts and retries, but must not retry once
	// text was streamed. When ctx is done Ask returns soon.
	Ask(ctx context.Context, r *Request, stream func(text string)) (*Reply, error)
}

// A Request is the input of a model. Its JSON is the input of a model that is a
// program.
type Request struct {
	Agent    string    `json:"agent"`    // the agent's name
	ModelID  string    `json:"model_id"` // the provider's name of the model
	System   string    `json:"system"`   // the system prompt, "" for none
	Messages []Message `json:"messages"` // from the root, see package agent/turn, Context
	Tools    []Tool    `json:"tools,omitempty"`
}

// A Message is a message of a session file. Package content decodes its content in
// all the formats that programs store.
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

	// Call executes a call and returns the result for the model. The error is a
	// text that the model reads in place of a result: unknown tool, invalid
	// arguments, timeout, too large a result. When ctx is done Call returns soon.
	Call(ctx context.Context, c Call) (Result, error)
}

// A Tool is the description of a tool for the model.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of its arguments
	Writes      bool            `json:"-"`      // it may have side effects, so the user is asked first
}

// A Result is the result of a tool.
type Result struct {
	Text   string // valid UTF-8
	Failed bool   // the tool was called and reports that it failed
}
