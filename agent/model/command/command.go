// Package command implements models that are commands: a program reads a
// conversation and writes the next message.
//
// The command line is run for each message, with sh -c, or cmd /C on Windows,
// in the folder and with the environment of the caller. Its standard input is
// one JSON object, a [model.Request]:
//
//	agent     the agent's name
//	model_id  the name of the model, "" for none
//	system    the system prompt, "" for none
//	messages  root first: objects with id, role, content and metadata
//	tools     the tools that the agent has; absent if there are none
//
// Content and metadata are the bytes of the session file: content is usually a
// string, but may be any value in imported conversations, with the tokens NaN
// and Infinity that Python writes. If absent in the file, content is null and
// metadata {}.
//
// Its standard output is the reply, in UTF-8, without trailing line breaks. It
// is streamed in chunks. Such a model makes no tool calls.
//
// A blank reply, a reply that is too long or not UTF-8, and any exit code but 0
// are errors; the error for an exit code quotes the end of standard error. When
// the context ends, all processes of the program's process group are killed.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/internal/wire"
	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/child"
	"github.com/bough-dev/bough/internal/rawjson"
)

// Options configure a command. The zero value is the default.
type Options struct {
	Timeout  time.Duration // time limit for one reply, 0 for none
	MaxBytes int           // maximum size of a reply, 0 for 8 MiB
	Hide     []string      // secrets to remove from errors, even if the command prints them
}

const (
	maxBytes = 8 << 20
	maxTalk  = 1000 // bytes of standard error that are quoted
)

// A Model is a command line.
type Model struct {
	line string
	o    Options
}

var _ model.Model = (*Model)(nil)

// New returns a model that runs the command line.
func New(line string, o Options) *Model {
	if o.MaxBytes <= 0 {
		o.MaxBytes = maxBytes
	}
	return &Model{line, o}
}

// Ask implements [model.Model].
func (m *Model) Ask(ctx context.Context, r *model.Request, stream func(text string)) (*model.Reply, error) {
	if strings.TrimSpace(m.line) == "" {
		return nil, errors.New("the command of the model is empty")
	}
	if m.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, m.o.Timeout, fmt.Errorf("the model's command took longer than %v", m.o.Timeout))
		defer cancel()
	}
	for _, t := range r.Tools {
		if len(t.Schema) > 0 && !json.Valid(t.Schema) {
			return nil, fmt.Errorf("the schema of the tool %q is not JSON", t.Name)
		}
	}
	text := &wire.Text{Stream: stream, Trim: true}
	talk := talk{bounded.Tail{Limit: 8 * maxTalk}, m.o.Hide}
	err := child.Run(ctx, m.line, encode(r), &bounded.Writer{W: reply{text}, Limit: int64(m.o.MaxBytes), Verb: "the model's command said"}, &talk, 0)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && talk.String() != "":
		return nil, fmt.Errorf("the model's command failed with %v: %v", exit, &talk)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("the model's command failed with %v, without an error message", exit)
	case err != nil:
		return nil, err
	}
	said := text.End()
	switch {
	case text.Broken:
		return nil, errNotUTF8
	case strings.TrimSpace(said) == "":
		return nil, errors.New("the model's command printed nothing")
	}
	return &model.Reply{Text: said}, nil
}

var errNotUTF8 = errors.New("the output of the model's command is not valid UTF-8")

// encode returns a request as JSON. The contents of messages may be invalid JSON, so
// package json cannot do it.
func encode(r *model.Request) []byte {
	b := []byte(`{"agent":`)
	b = append(b, rawjson.Compact(r.Agent)...)
	b = append(b, `,"model_id":`...)
	b = append(b, rawjson.Compact(r.ModelID)...)
	b = append(b, `,"system":`...)
	b = append(b, rawjson.Compact(r.System)...)
	b = append(b, `,"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = append(b, rawjson.Compact(m.ID)...)
		b = append(b, `,"role":`...)
		b = append(b, rawjson.Compact(m.Role)...)
		b = append(b, `,"content":`...)
		b = append(b, or(m.Content, `null`)...)
		b = append(b, `,"metadata":`...)
		b = append(b, or(m.Metadata, `{}`)...)
		b = append(b, '}')
	}
	b = append(b, ']')
	if len(r.Tools) > 0 {
		b = append(b, `,"tools":`...)
		b = append(b, rawjson.Compact(r.Tools)...)
	}
	return append(b, '}', '\n')
}

func or(value []byte, other string) []byte {
	if len(value) == 0 {
		return []byte(other)
	}
	return value
}

// reply is a writer that passes on text, which must be UTF-8.
type reply struct{ text *wire.Text }

func (w reply) Write(p []byte) (int, error) {
	w.text.Add(string(p))
	if w.text.Broken {
		return 0, errNotUTF8
	}
	return len(p), nil
}

// A talk is the end of a command's standard error.
type talk struct {
	bounded.Tail
	hide []string // secrets to omit from errors
}

func (t *talk) String() string {
	said := string(t.Bytes())
	for _, secret := range t.hide {
		if secret != "" {
			said = strings.ReplaceAll(said, secret, "…")
		}
	}
	return wire.Line(said, maxTalk, true)
}
