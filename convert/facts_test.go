package convert

import (
	"fmt"
	"strings"
	"testing"
)

// TestFacts: readers find the folder, the git branch and the model in a transcript.
func TestFacts(t *testing.T) {
	const item = `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One"}]}}` + "\n"
	for _, c := range []struct {
		f        *Format
		in, want string // the folder, the branch and the model
	}{
		{codexFormat, `{"type":"session_meta","payload":{"id":"s","cwd":"/x","git":{"branch":"topic","commit_hash":"0"}}}` + "\n" +
			`{"type":"turn_context","payload":{"cwd":"/y","model":"gpt-x"}}` + "\n" + item, "/x topic gpt-x"},
		{codexFormat, `{"id":"s","timestamp":"2025-01-01T00:00:00Z","instructions":null,"git":{"branch":"old"}}` + "\n" +
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/z</cwd>\n</environment_context>"}]}` + "\n" + item, "/z old "},
		{geminiFormat, `{"sessionId":"s","projectHash":"0"}` + "\n" +
			`{"$set":{"messages":[{"id":"e","type":"user","content":[{"text":"<session_context>\nx\n- **Workspace Directories:**\n  - /w\n  - /v\n</session_context>"}]}]}}` + "\n" +
			`{"id":"a","type":"gemini","content":"One","model":"gemini-x"}` + "\n", "/w  gemini-x"},
		{opencodeFormat, `{"info":{"id":"ses_1"},"messages":[{"info":{"id":"msg_1","role":"assistant","modelID":"m","path":{"cwd":"/o"},"time":{"created":1}},"parts":[{"type":"text","text":"One"}]}]}`, "/o  m"},
		{chatGPTFormat, `{"mapping":{"a":{"parent":null,"message":{"author":{"role":"assistant"},"metadata":{"model_slug":"gpt-y"},"content":{"content_type":"text","parts":["One"]}}}}}`, "  gpt-y"},
	} {
		list, problems, err := c.f.ReadAll(strings.NewReader(c.in))
		if err != nil || len(problems) > 0 {
			t.Fatal(c.f.Name, problems, err)
		}
		if got := fmt.Sprintf("%s %s %s", list[0].Dir, list[0].Branch, list[0].Model); got != c.want {
			t.Errorf("%s says %q, want %q, in\n%s", c.f.Name, got, c.want, c.in)
		}
	}
}
