package native

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/google/jsonschema-go/jsonschema"
)

// An object is a JSON object of the description.
type object = map[string]any

// Describe returns the OpenAPI document of the API.
func Describe() []byte {
	d := describer{schemas: object{}}
	d.schemas["Failure"] = d.failure()
	paths := object{
		prefix + "events": object{"get": d.events()},
		contentPath:       object{"get": d.content()},
		Description: object{"get": object{
			"operationId": "openapi", "summary": "This document", "security": []any{},
			"responses": object{"200": object{"description": "the document", "content": jsonContent(object{"type": "object"})}},
		}},
	}
	for _, v := range api.Verbs() {
		item := object{"post": d.operation(v, "post")}
		if hasGet(v) {
			item["get"] = d.operation(v, "get")
		}
		paths[prefix+v.Name] = item
	}
	data, err := json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "bough", "version": "1",
			"description": "The verbs of the command bough over HTTP. docs/http.md describes them.",
		},
		"security": []any{object{"token": []any{}}},
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
			"schemas":         d.schemas,
			"responses": object{"Failure": object{
				"description": "a failure",
				"content":     jsonContent(object{"$ref": "#/components/schemas/Failure"}),
			}},
		},
	})
	if err != nil {
		panic("native: " + err.Error()) // every schema can be encoded
	}
	return append(data, '\n')
}

func jsonContent(schema object) object {
	return object{"application/json": object{"schema": schema}}
}

// A describer collects the shared schemas of the document.
type describer struct{ schemas object }

// schema returns a schema of package api as part of the document, whose shared parts are
// in components.
func (d *describer) schema(s *jsonschema.Schema) object {
	data, err := json.Marshal(s)
	if err != nil {
		panic("native: " + err.Error())
	}
	var out object
	text := strings.ReplaceAll(string(data), `"#/$defs/`, `"#/components/schemas/`)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		panic("native: " + err.Error())
	}
	if defs, ok := out["$defs"].(object); ok {
		maps.Copy(d.schemas, defs)
		delete(out, "$defs")
	}
	return out
}

// operation describes a verb.
func (d *describer) operation(v *api.Verb, method string) object {
	in := d.schema(v.In())
	o := object{
		"operationId": operationID(v.Name, method),
		"summary":     v.Title,
		"description": v.Summary,
		"responses": object{
			"200":     object{"description": "the result", "content": jsonContent(d.schema(v.Out()))},
			"default": object{"$ref": "#/components/responses/Failure"},
		},
	}
	if method == "post" {
		required := len(v.In().Required) > 0
		o["requestBody"] = object{"required": required, "content": jsonContent(in)}
		if v.Remote {
			answer := o["responses"].(object)["200"].(object)
			answer["description"] = "the result; with Accept: text/event-stream, the events progress, and then result or error"
			answer["content"].(object)["text/event-stream"] = object{"schema": object{"type": "string"}}
		}
		return o
	}
	var params []any
	properties, _ := in["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		schema := properties[name].(object)
		p := object{"name": name, "in": "query", "schema": schema, "required": slices.Contains(v.In().Required, name)}
		if about, ok := schema["description"]; ok {
			p["description"] = about
			delete(schema, "description")
		}
		params = append(params, p)
	}
	if params != nil {
		o["parameters"] = params
	}
	return o
}

// operationID returns the name of an operation in generated clients.
func operationID(verb, method string) string {
	words := strings.FieldsFunc(verb, func(r rune) bool { return r == '/' || r == '-' })
	if method == "get" {
		words = append([]string{"get"}, words...)
	}
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// events describes the stream of events.
func (d *describer) events() object {
	d.schemas["Event"] = d.schema(api.Describe(reflect.TypeFor[events.Event]()))
	position := object{"type": "string", "description": "the id of the last event that the client has, LOG-SEQ"}
	return object{
		"operationId": "events",
		"summary":     "Events",
		"description": "Sends the events of the workspace as they happen, as server-sent events. The data of each is an Event. " +
			"The last event of an operation has the id LOG-SEQ, after which a client can continue. The event ready, with the present id, " +
			"says that the client has all events so far. The event reset says that it cannot continue: it has to read everything again.",
		"parameters": []any{
			object{"name": "Last-Event-ID", "in": "header", "schema": position},
			object{"name": "from", "in": "query", "schema": position},
		},
		"responses": object{
			"200":     object{"description": "the stream", "content": object{"text/event-stream": object{"schema": object{"type": "string"}}}},
			"default": object{"$ref": "#/components/responses/Failure"},
		},
	}
}

// content describes the bytes of a file of a state.
func (d *describer) content() object {
	show, ok := api.Find("files/show")
	if !ok {
		panic("native: no verb files/show")
	}
	o := d.operation(show, "get")
	o["operationId"], o["summary"] = "getFilesContent", "Content of a file of a state"
	o["description"] = "Returns the bytes of a file that a state has, as files/show with the same arguments does in JSON."
	o["responses"].(object)["200"] = object{
		"description": "the bytes", "content": object{"application/octet-stream": object{"schema": object{"type": "string", "format": "binary"}}},
	}
	return o
}

// failure returns the schema of a failure.
func (d *describer) failure() object {
	text := object{"type": "string"}
	return object{
		"type": "object", "required": []any{"error"},
		"properties": object{"error": object{
			"type": "object", "required": []any{"code", "message", "hint"},
			"properties": object{
				"code": object{
					"type":        "string",
					"description": "failed, usage, not_found, ambiguous, read_only, has_children, tool_cut, refused, busy, damaged or locked; treat any other as failed",
				},
				"message": text, "hint": text,
				"candidates": object{"type": "array", "items": d.schema(api.Describe(reflect.TypeFor[fault.Candidate]()))},
			},
		}},
	}
}
