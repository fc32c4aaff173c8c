package convert

import (
	"bytes"
	"maps"
	"path/filepath"
	"testing"
)

// TestQwenAgents: the conversation of another assistant has an id of its own, and the session
// and the call that began it. Qwen Code 0.24.4 wrote both files.
func TestQwenAgents(t *testing.T) {
	const session, agent = "80c37cc7-5df9-4cef-b67b-28c2e41b640d", "80c37cc7-5df9-4cef-b67b-28c2e41b640d/general-purpose-call_59"
	for _, c := range []struct {
		name, id, begunBy string
		began             map[string]string
	}{
		{"real.jsonl", session, "", map[string]string{agent: "call_59"}},
		{"agent.jsonl", agent, session, nil},
	} {
		list, problems, err := qwenFormat.ReadAll(bytes.NewReader(readFile(t, filepath.Join("testdata", "qwen-code", c.name))))
		if err != nil || len(problems) > 0 || len(list) != 1 {
			t.Fatalf("%s: %d conversations: %v, %v", c.name, len(list), problems, err)
		}
		if tr := list[0]; tr.ID != c.id || tr.BegunBy != c.begunBy || tr.Side != (c.begunBy != "") || !maps.Equal(tr.Began, c.began) {
			t.Errorf("%s: %s is begun by %q and began %v", c.name, tr.ID, tr.BegunBy, tr.Began)
		}
	}
	// A result in the conversation of an assistant does not have the type of another one.
	nested := `{"uuid":"1","parentUuid":null,"sessionId":"s","type":"assistant","agentId":"a-c1","isSidechain":true,"message":{"parts":[{"functionCall":{"id":"c2","name":"agent","args":{}}},{"functionCall":{"id":"c3","name":"agent","args":{"subagent_type":"b"}}},{"functionCall":{"id":"c4","name":"agent","args":{"subagent_type":"b"}}}]}}
{"uuid":"2","parentUuid":"1","sessionId":"s","type":"tool_result","agentId":"a-c1","isSidechain":true,"message":{"parts":[{"functionResponse":{"id":"c2","name":"agent","response":{"output":"x"}}}]},"toolCallResult":{"callId":"c2"}}
{"uuid":"3","parentUuid":"2","sessionId":"s","type":"tool_result","agentId":"a-c1","isSidechain":true,"message":{"parts":[{"functionResponse":{"id":"c3","name":"agent","response":{"error":"no"}}}]},"toolCallResult":{"callId":"c3","status":"error"}}
{"uuid":"4","parentUuid":"3","sessionId":"s","type":"tool_result","agentId":"a-c1","isSidechain":true,"message":{"parts":[{"functionResponse":{"id":"c4","name":"agent","response":{"output":"y"}}}]},"toolCallResult":{"callId":"c4"}}
`
	list, _, err := qwenFormat.ReadAll(bytes.NewReader([]byte(nested)))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d conversations: %v", len(list), err)
	}
	if want := map[string]string{"s/general-purpose-c2": "c2", "s/b-c4": "c4"}; list[0].ID != "s/a-c1" || list[0].BegunBy != "s" || !maps.Equal(list[0].Began, want) {
		t.Errorf("%s is begun by %q and began %v", list[0].ID, list[0].BegunBy, list[0].Began)
	}
}
