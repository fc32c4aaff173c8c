package agent

import (
	"context"
	"encoding/json"
)

// A Model answers conversations. Implementations may be used by several goroutines.
type Model interface {
	// Ask returns the model's next message. While it comes in, its text is given to
	// stream, piece by piece and in valid UTF-8, from one goroutine and never after Ask
	// has returned; a model that does not stream never calls it.
	//
	// The error says in words for a person why there is no message: the model cannot be
	// reached, refused, answered something that is no message, or stopped before the end
	// of one. What was streamed until then is not lost. Time-outs and repeated attempts
	// are Ask's own affair, but nothing is tried again once something was streamed. When
	// ctx is done Ask returns soon.
	Ask(ctx context.Context, r *Request, stream func(text string)) (*Reply, error)
}

// A Request is what a model is asked. Its JSON is what a program gets that is a model.
type Request struct {
	Agent    string    `json:"agent"`    // the agent's name
	ModelID  string    `json:"model_id"` // which model of the provider
	System   string    `json:"system"`   // what it is to be, "" for nothing
	Messages []Message `json:"messages"` // root first, see [Context]
	Tools    []Tool    `json:"tools,omitempty"`
}

// A Message is what a session file says of a message. Package content reads it in all
// the forms in which programs store it.
type Message struct {
	ID       string          `json:"id"`
	Role     string          `json:"role"`
	Content  json.RawMessage `json:"content"`
	Metadata json.RawMessage `json:"metadata"` // an object
}

// A Reply is a whole message of a model. Every call in it has a name and an id that no
// other call in it has, and there is a text or a call; a turn fails with one that is
// otherwise.
type Reply struct {
	Text  string
	Calls []Call
}

// A Call is a call of a tool, as a model made it.
type Call struct {
	ID        string `json:"id"` // the model's name for it
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON, if the model is sane
}

// Tools are what a model may call. Implementations may be used by several goroutines.
type Tools interface {
	// List returns the tools that there are.
	List(ctx context.Context) ([]Tool, error)

	// Call carries a call out and returns what the model is to read. The error says why
	// there is nothing to read: no such tool, arguments that are not for it, a time-out,
	// too large a result. The model reads that instead. When ctx is done Call returns soon.
	Call(ctx context.Context, c Call) (Result, error)
}

// A Tool is what a model is told of a tool.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of its arguments, a JSON Schema
	Writes      bool            `json:"-"`      // it may change something, so the user is asked first
}

// A Result is what a tool says.
type Result struct {
	Text   string // valid UTF-8
	Failed bool   // the tool was called, and says that it failed
}
