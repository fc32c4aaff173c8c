package content_test

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert/content"
)

func TestParseStrategies(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string // the error
	}{
		{`[]`, 0, ""},
		{`[{"type":"remove_tool_result"}]`, 1, ""},
		{`[{"type":"remove_tool_result","params":null}]`, 1, ""},
		{`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":0,"tool_result_placeholder":"","keep_tools":[],"gt_token":1}}]`, 1, ""},
		{`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":null,"tool_result_placeholder":null,"keep_tools":null,"gt_token":null}}]`, 1, ""},
		{`[{"type":"remove_tool_call_params","params":{"keep_recent_n_tool_calls":2.0,"keep_tools":["f"],"gt_token":10,"other":true}}]`, 1, ""},
		{` [ {"type":"token_limit","params":{"limit_tokens":100000000000}}, {"type":"middle_out","params":{"token_reduce_to":5}} ] `, 2, ""},
		{`[{"type":"token_limit"`, 0, "the strategies are not JSON"},
		{"[{\"type\":\"token_limit\xff\"}]", 0, "the strategies are not JSON"},
		{`{"type":"token_limit"}`, 0, "the strategies must be an array"},
		{`["token_limit"]`, 0, "[0]: must be an object"},
		{`[{}]`, 0, "[0].type: must be one of remove_tool_result, remove_tool_call_params, middle_out or token_limit"},
		{`[{"type":"token_limit","params":{"limit_tokens":1}},{"type":"summarize"}]`, 0, "[1].type: must be one of remove_tool_result, remove_tool_call_params, middle_out or token_limit"},
		{`[{"type":"token_limit","params":[]}]`, 0, "[0].params: must be an object"},
		{`[{"type":"token_limit"}]`, 0, "[0].params.limit_tokens: must be given"},
		{`[{"type":"token_limit","params":{"limit_tokens":null}}]`, 0, "[0].params.limit_tokens: must be given"},
		{`[{"type":"token_limit","params":{"limit_tokens":0}}]`, 0, "[0].params.limit_tokens: must be at least 1"},
		{`[{"type":"token_limit","params":{"limit_tokens":"1"}}]`, 0, "[0].params.limit_tokens: must be a whole number"},
		{`[{"type":"middle_out","params":{}}]`, 0, "[0].params.token_reduce_to: must be given"},
		{`[{"type":"middle_out","params":{"token_reduce_to":1.5}}]`, 0, "[0].params.token_reduce_to: must be a whole number"},
		{`[{"type":"middle_out","params":{"token_reduce_to":-1}}]`, 0, "[0].params.token_reduce_to: must be at least 1"},
		{`[{"type":"remove_tool_result","params":{"keep_recent_n_tool_results":-1}}]`, 0, "[0].params.keep_recent_n_tool_results: must be at least 0"},
		{`[{"type":"remove_tool_result","params":{"tool_result_placeholder":1}}]`, 0, "[0].params.tool_result_placeholder: must be a string"},
		{`[{"type":"remove_tool_result","params":{"keep_tools":"f"}}]`, 0, "[0].params.keep_tools: must be an array of strings"},
		{`[{"type":"remove_tool_result","params":{"keep_tools":["f",1]}}]`, 0, "[0].params.keep_tools: must be an array of strings"},
		{`[{"type":"remove_tool_call_params","params":{"gt_token":0}}]`, 0, "[0].params.gt_token: must be at least 1"},
		{`[{"type":"remove_tool_call_params","params":{"keep_recent_n_tool_calls":true}}]`, 0, "[0].params.keep_recent_n_tool_calls: must be a whole number"},
	} {
		list, err := content.ParseStrategies([]byte(c.in))
		got := ""
		if err != nil {
			_ = err.(*content.Error)
			got = err.Error()
		}
		if got != c.want || len(list) != c.n {
			t.Errorf("%s: %d strategies, %q, want %d, %q", c.in, len(list), got, c.n, c.want)
		}
	}
}

// edited returns the remaining messages in OpenAI's format, one per line: the
// index, text, calls and results of each.
func edited(t *testing.T, list []*content.Message, n int, strategies string) string {
	t.Helper()
	parsed, err := content.ParseStrategies([]byte(strategies))
	if err != nil {
		t.Fatal(err)
	}
	var before []string
	for _, m := range list {
		before = append(before, asItem(m))
	}
	left, places := content.Edit(list, n, parsed, func(s string) int { return len(s) })
	if len(left) != len(places) {
		t.Fatalf("%d messages and %d places", len(left), len(places))
	}
	for i, m := range list {
		if asItem(m) != before[i] {
			t.Fatalf("message %d changed: %s", i, asItem(m))
		}
	}
	var lines []string
	for i, m := range left {
		lines = append(lines, string(rune('0'+places[i]))+summary(m))
	}
	return strings.Join(lines, " ")
}

// summary returns the texts, calls and results of a message in short.
func summary(m *content.Message) (s string) {
	for _, p := range m.Parts {
		switch p.Type {
		case "tool-call":
			s += "!" + decodedMeta(p, "id") + "(" + decodedMeta(p, "arguments") + ")"
		case "tool-result":
			s += "=" + decodedMeta(p, "tool_call_id") + ":" + p.Text
		default:
			s += p.Text
		}
	}
	return s
}
