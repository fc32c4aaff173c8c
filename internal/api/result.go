package api

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/files"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
	"github.com/google/jsonschema-go/jsonschema"
)

// A describer makes schemas of the JSON that package rawjson writes for Go types. It
// differs from [jsonschema.For] as rawjson differs from encoding/json: a nil list is
// empty, an embedded type has no JSON of its own; and types may be recursive.
type describer struct {
	defs map[string]*jsonschema.Schema // of shared types
}

// shared are the types that schemas refer to by a name, as in docs/json.md.
func shared() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[workspace.Entry]():         "Entry",
		reflect.TypeFor[workspace.TreeEntry]():     "Node",
		reflect.TypeFor[workspace.Snapshot]():      "Snapshot",
		reflect.TypeFor[session.Message]():         "Message",
		reflect.TypeFor[lines.Head]():              "Head",
		reflect.TypeFor[agents.Head]():             "TreeHead",
		reflect.TypeFor[bookmark.Bookmark]():       "Bookmark",
		reflect.TypeFor[history.Operation]():       "Operation",
		reflect.TypeFor[events.Event]():            "Event",
		reflect.TypeFor[transcript.Loss]():         "Loss",
		reflect.TypeFor[agents.Agent]():            "Agent",
		reflect.TypeFor[turn.Entry]():              "Queued",
		reflect.TypeFor[agents.Tree]():             "Tree",
		reflect.TypeFor[explore.Branch]():          "Try",
		reflect.TypeFor[explore.Evaluation]():      "Evaluation",
		reflect.TypeFor[workspace.StraightRun]():   "Run",
		reflect.TypeFor[workspace.PruneDecision](): "PruneDecision",
		reflect.TypeFor[files.State]():             "State",
		reflect.TypeFor[restores.Restore]():        "Restore",
	}
}

// resultOf returns the schema of a result.
func resultOf[Out any]() *jsonschema.Schema { return Describe(reflect.TypeFor[Out]()) }

// Describe returns the schema of the JSON of a Go type, with its shared parts in $defs.
func Describe(t reflect.Type) *jsonschema.Schema {
	d := &describer{map[string]*jsonschema.Schema{}}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := d.own(t)
	if len(d.defs) > 0 {
		s.Defs = d.defs
	}
	return s
}

func typed(types ...string) *jsonschema.Schema {
	if len(types) == 1 {
		return &jsonschema.Schema{Type: types[0]}
	}
	return &jsonschema.Schema{Types: types}
}

// schema returns the schema of a type, a reference for a shared one.
func (d *describer) schema(t reflect.Type) *jsonschema.Schema {
	name, ok := shared()[t]
	if !ok {
		return d.own(t)
	}
	if d.defs[name] == nil {
		d.defs[name] = &jsonschema.Schema{} // ends a recursion
		*d.defs[name] = *d.own(t)
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}

// own returns the schema of a type itself.
func (d *describer) own(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case reflect.TypeFor[session.ID]():
		return typed("string", "null")
	case reflect.TypeFor[events.Seq]():
		return typed("integer", "null")
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[[]byte]():
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	case reflect.TypeFor[session.Message]():
		return d.open(messageMembers{})
	case reflect.TypeFor[workspace.Conversation]():
		return d.open(conversationMembers{})
	case reflect.TypeFor[agents.Agent]():
		return d.open(agentMembers{})
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(d.schema(t.Elem()))
	case reflect.Interface:
		return &jsonschema.Schema{}
	case reflect.Struct:
		return d.object(t)
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return typed("string")
	}
	switch t.Kind() {
	case reflect.Bool:
		return typed("boolean")
	case reflect.String:
		return typed("string")
	case reflect.Float64:
		return typed("number")
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return typed("integer")
	case reflect.Slice, reflect.Array:
		return &jsonschema.Schema{Type: "array", Items: d.schema(t.Elem())}
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: d.schema(t.Elem())}
	}
	panic("api: no schema for " + t.String())
}

// nullable returns a schema that allows null too.
func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	switch {
	case s.Ref != "":
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, typed("null")}}
	case s.Type != "":
		s.Types, s.Type = []string{s.Type, "null"}, ""
	}
	return s
}

// object returns the schema of a struct.
func (d *describer) object(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	depths := map[string]int{}
	d.fields(s, t, 0, false, depths)
	return s
}

// fields adds the fields of a struct at a depth of embedding; an outer field hides an
// inner one. optional is set in a struct that is embedded by a pointer, which may be nil.
func (d *describer) fields(s *jsonschema.Schema, t reflect.Type, depth int, optional bool, depths map[string]int) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" {
			inner, byPointer := f.Type, false
			if inner.Kind() == reflect.Pointer {
				inner, byPointer = inner.Elem(), true
			}
			if inner.Kind() == reflect.Struct {
				d.fields(s, inner, depth+1, optional || byPointer, depths)
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if at, ok := depths[name]; ok && at <= depth {
			continue
		}
		depths[name] = depth
		s.Properties[name] = d.schema(f.Type)
		s.Properties[name].Description = f.Tag.Get("jsonschema")
		if !slices.Contains(s.PropertyOrder, name) {
			s.PropertyOrder = append(s.PropertyOrder, name)
		}
		s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		if !optional && !strings.Contains(options, "omit") {
			s.Required = append(s.Required, name)
		}
	}
}

// open returns the schema of a document that has the members of a file, unknown ones
// included. like has the known members; those with omitempty may be missing.
func (d *describer) open(like any) *jsonschema.Schema {
	s := d.object(reflect.TypeOf(like))
	s.AdditionalProperties = &jsonschema.Schema{}
	return s
}

// messageMembers are the members of a message that bough writes. A file of another
// program may lack all but the id.
type messageMembers struct {
	ID        string          `json:"id"`
	Role      string          `json:"role,omitempty"`
	Content   any             `json:"content,omitempty"`
	Category  any             `json:"category,omitempty"`
	Timestamp any             `json:"timestamp,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// conversationMembers are the members of a session document.
type conversationMembers struct {
	ID         string            `json:"id"`
	CreatedAt  time.Time         `json:"created_at"`
	LastActive time.Time         `json:"last_active"`
	Metadata   map[string]any    `json:"metadata"`
	Messages   []session.Message `json:"messages"`
	Lifecycles []any             `json:"llm_request_lifecycles"`
	Calls      []any             `json:"tool_call_records"`
	Results    []any             `json:"tool_result_records"`
}

// agentMembers are the members of an agent's file.
type agentMembers struct {
	ID             string         `json:"id"`
	Name           string         `json:"name"`
	Model          string         `json:"model_id,omitempty"`
	System         string         `json:"system,omitempty"`
	TreeIDs        []string       `json:"tree_ids"`
	Trees          []any          `json:"trees,omitempty"`
	Head           agents.Head    `json:"head"`
	Queue          []any          `json:"queue,omitempty"`
	Turn           map[string]any `json:"turn,omitempty"`
	Policy         string         `json:"steer_policy,omitempty"`
	AutoCheckpoint bool           `json:"auto_checkpoint,omitempty"`
	CreatedAt      time.Time      `json:"created_at,omitempty"`
}
