package mcp

import (
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct{ in, want, problem string }{
		{"", "{}", ""},
		{" ", "{}", ""},
		{`{"a": 12345678901234567890}`, `{"a": 12345678901234567890}`, ""},
		{"null", "", "the arguments are not a JSON object"},
		{"[1]", "", "the arguments are not a JSON object"},
		{`"x"`, "", "the arguments are not a JSON object"},
		{`{"a":`, "", "the arguments are not JSON: unexpected end of JSON input at byte 5"},
		{`{"a":NaN}`, "", "the arguments are not JSON: invalid character 'N' looking for beginning of value at byte 6"},
	} {
		got, err := arguments(c.in)
		if string(got) != c.want || (err == nil) != (c.problem == "") || err != nil && err.Error() != c.problem {
			t.Errorf("arguments(%q) = %s, %v", c.in, got, err)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		in   sdk.CallToolResult
		want string
	}{
		{sdk.CallToolResult{}, ""},
		{sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a\xffb"}}}, "a\uFFFDb"},
		{sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a"}}, StructuredContent: map[string]any{"a": 1}}, "a"},
		{sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png"}}, StructuredContent: map[string]any{"a": "<"}}, "[image: image/png, 0 bytes]\n{\"a\":\"<\"}"},
		{sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{}}}, "[resource: nothing]"},
	} {
		if got := text(&c.in); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
