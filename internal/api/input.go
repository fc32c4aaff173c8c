package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/workspace/fault"
	"github.com/google/jsonschema-go/jsonschema"
)

// argumentsOf returns the schema of arguments.
func argumentsOf[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic("api: " + err.Error()) // a mistake in a type of this package
	}
	for name, p := range s.Properties {
		p.Type, p.Types = withoutNull(p)
		p.Enum = choices()[name]
	}
	return s
}

// withoutNull returns the types of a property that are not null: an absent argument is
// omitted, not null.
func withoutNull(s *jsonschema.Schema) (string, []string) {
	types := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
	if s.Type == "" && len(types) == 1 {
		return types[0], nil
	}
	return s.Type, types
}

// choices are the values of arguments that are one of a few words.
func choices() map[string][]any {
	return map[string][]any{
		"conflicts":    {"keep", "take", "merge"},
		"dialect":      {"bough", "penguin"},
		"evaluate":     {"best", "consensus", "synthesis"},
		"scope":        {"message", "branch", "subtree"},
		"sort":         {"active", "created", "messages", "title"},
		"steer_policy": {"after_call", "finish_batch"},
	}
}

func badArgument(format string, args ...any) *fault.Error {
	return &fault.Error{Code: fault.Usage, Message: fmt.Sprintf(format, args...)}
}

// check returns the arguments without those that are null. It returns an error if they
// are not a JSON object, or for a member that is unknown or missing.
func check(s *jsonschema.Schema, in json.RawMessage) ([]byte, error) {
	given := map[string]json.RawMessage{}
	switch in := bytes.TrimSpace(in); {
	case len(in) == 0:
	case in[0] != '{':
		return nil, badArgument("the arguments must be a JSON object")
	default:
		if err := json.Unmarshal(in, &given); err != nil {
			return nil, badArgument("the arguments are not JSON: %v", err)
		}
	}
	maps.DeleteFunc(given, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := s.Properties[name]
		if p == nil {
			e := badArgument("unknown argument %q", name)
			e.Hint = "there are none"
			if len(s.Properties) > 0 {
				e.Hint = "arguments are " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
			}
			return nil, e
		}
		if err := checkChoice(name, p.Enum, given[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range s.Required {
		if given[name] == nil {
			return nil, badArgument("the argument %q is missing", name)
		}
	}
	return json.Marshal(given)
}

// checkChoice returns an error for a text that is not one of the choices, if there are any.
func checkChoice(name string, choices []any, value json.RawMessage) error {
	var word string
	if choices == nil || json.Unmarshal(value, &word) != nil || slices.Contains(choices, any(word)) {
		return nil
	}
	var words []string
	for _, c := range choices {
		words = append(words, fmt.Sprint(c))
	}
	e := badArgument("unknown %s %q", name, word)
	e.Hint = "one of " + strings.Join(words, ", ")
	return e
}

// decode decodes arguments that were checked.
func decode(data []byte, in any) error {
	err := json.Unmarshal(data, in)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return badArgument("the argument %q is a %s; it must be a %s", mistyped.Field, mistyped.Value, typeName(mistyped))
	}
	if err != nil {
		return badArgument("the arguments cannot be decoded: %v", err)
	}
	return nil
}

// typeName returns the JSON type that a decoding error expected.
func typeName(e *json.UnmarshalTypeError) string {
	switch kind := e.Type.Kind().String(); kind {
	case "bool":
		return "boolean"
	case "slice":
		return "list"
	case "string":
		return kind
	}
	return "whole number"
}
