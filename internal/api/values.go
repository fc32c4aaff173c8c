package api

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Parse returns the arguments in the values of a query or of a form, as a JSON object with
// the types of the schema. Call checks their names.
func (v *Verb) Parse(values url.Values) (json.RawMessage, error) {
	in := map[string]any{}
	for name, list := range values {
		p := v.In().Properties[name]
		if p != nil && p.Type == "array" {
			in[name] = list
			continue
		}
		if len(list) > 1 {
			return nil, badArgument("the parameter %s is given more than once", quote(name))
		}
		value, err := parseValue(p, list[0])
		if err != nil {
			return nil, badArgument("%s must be %v, not %s", name, err, quote(list[0]))
		}
		in[name] = value
	}
	return json.Marshal(in)
}

// IsFlat reports whether each argument can be a value, or a list of values, of a query.
func (v *Verb) IsFlat() bool {
	for _, p := range v.In().Properties {
		if p.Type == "object" || p.Type == "" || p.Items != nil && p.Items.Type != "string" {
			return false
		}
	}
	return true
}

// parseValue returns a text as a value of the type of a schema, which is nil for an unknown
// name. An error says what the text must be.
func parseValue(p *jsonschema.Schema, text string) (any, error) {
	switch {
	case p == nil:
		return text, nil
	case p.Type == "boolean":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New("true or false")
		}
		return b, nil
	case p.Type == "integer":
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, errors.New("a whole number")
		}
		return n, nil
	}
	return text, nil
}

// quote quotes a text for an error, shortened if necessary.
func quote(s string) string {
	const maxLength = 100
	if len(s) > maxLength {
		s = strings.ToValidUTF8(s[:maxLength], "") + "…"
	}
	return strconv.Quote(s)
}
