package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// arguments returns the arguments of a call, which must be an object. Empty
// arguments, which some models send, become an empty object.
func arguments(s string) (json.RawMessage, error) {
	if strings.TrimSpace(s) == "" {
		return json.RawMessage("{}"), nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s), &object); err != nil || object == nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("the arguments are not JSON: %v at byte %d", syntax, syntax.Offset)
		}
		return nil, errors.New("the arguments are not a JSON object")
	}
	return json.RawMessage(s), nil
}

// text converts a result to text for a model.
func text(r *sdk.CallToolResult) string {
	var parts []string
	texts := false
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, c.Text)
			texts = true
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[image: %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[audio: %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[resource: %s, %s]", c.Name, c.URI))
		case *sdk.EmbeddedResource:
			parts = append(parts, resource(c.Resource))
			texts = texts || c.Resource != nil && c.Resource.Text != ""
		default:
			parts = append(parts, fmt.Sprintf("[unsupported content: %T]", c))
		}
	}
	if !texts && r.StructuredContent != nil {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if enc.Encode(r.StructuredContent) == nil {
			parts = append(parts, strings.TrimSuffix(b.String(), "\n"))
		}
	}
	return strings.ToValidUTF8(strings.Join(parts, "\n"), "\uFFFD")
}

func resource(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return "[resource: nothing]"
	case r.Text != "":
		return fmt.Sprintf("[resource: %s]\n%s", r.URI, r.Text)
	}
	return fmt.Sprintf("[resource: %s, %s, %d bytes]", r.URI, r.MIMEType, len(r.Blob))
}
