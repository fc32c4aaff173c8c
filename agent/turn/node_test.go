package turn_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/convert/content"
)

func TestNodeMessage(t *testing.T) {
	for _, c := range []struct {
		node turn.Node
		want string
	}{
		{turn.Node{ID: "m1", Kind: turn.KindUser, Mode: turn.Steer, Text: "1 < 2"},
			`{"id":"m1","role":"user","content":"1 < 2","metadata":{"kind":"user","delivery_mode":"steer"}}`},
		{turn.Node{ID: "m2", Kind: turn.KindAssistant, Mode: turn.Normal, Text: "So", Partial: true},
			`{"id":"m2","role":"assistant","content":"So","metadata":{"kind":"assistant","delivery_mode":"normal","bough":{"partial":true}}}`},
		{turn.Node{ID: "m3", Kind: turn.KindAssistant, Mode: turn.Normal, Calls: []model.Call{{ID: "c1", Name: "ls", Arguments: `{"a":1}`}}},
			`{"id":"m3","role":"assistant","content":"","metadata":{"kind":"assistant","delivery_mode":"normal",` +
				`"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]}}`},
		{turn.Node{ID: "m4", Kind: turn.KindToolBoundary, Mode: turn.Normal, Text: "no", CallID: "c1", Tool: "ls", Failed: true, SkippedBy: "m1"},
			`{"id":"m4","role":"tool","content":"no","metadata":{"kind":"tool_boundary","delivery_mode":"normal",` +
				`"tool_call_id":"c1","action_type":"ls","bough":{"failed":true,"skipped_by":"m1"}}}`},
	} {
		m := c.node.Message()
		got := `{"id":"` + m.ID + `","role":"` + m.Role + `","content":` + string(m.Content) + `,"metadata":` + string(m.Metadata) + `}`
		if got != c.want {
			t.Errorf("%s is stored as\n%s\nwant\n%s", c.node.ID, got, c.want)
		}
	}
}

// TestNodeItems: providers get calls and results in their own formats.
func TestNodeItems(t *testing.T) {
	nodes := []turn.Node{
		{ID: "m1", Kind: turn.KindUser, Mode: turn.Normal, Text: "Look"},
		{ID: "m2", Kind: turn.KindAssistant, Mode: turn.Normal, Calls: []model.Call{{ID: "c1", Name: "ls", Arguments: `{"a":1}`}}},
		{ID: "m3", Kind: turn.KindToolBoundary, Mode: turn.Normal, Text: "x y", CallID: "c1", Tool: "ls"},
	}
	var list []*content.Message
	for _, n := range nodes {
		data, err := json.Marshal(n.Message())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, content.Read(data))
	}
	for _, c := range []struct {
		format content.Format
		want   string
	}{
		{content.OpenAI, `{"role":"user","content":"Look"}
{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]}
{"role":"tool","tool_call_id":"c1","content":"x y"}`},
		{content.Anthropic, `{"role":"user","content":[{"type":"text","text":"Look"}]}
{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ls","input":{"a":1}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"x y"}],"is_error":false}]}`},
	} {
		var got []string
		for _, item := range content.Items(c.format, list, nil) {
			got = append(got, string(item))
		}
		if s := strings.Join(got, "\n"); s != c.want {
			t.Errorf("in the form of %s:\n%s\nwant\n%s", c.format, s, c.want)
		}
	}
}

func TestContext(t *testing.T) {
	say := func(id string) model.Message {
		n := turn.Node{ID: id, Kind: turn.KindUser, Text: "Hi"}
		return n.Message()
	}
	call := func(id string, calls ...string) model.Message {
		n := turn.Node{ID: id, Kind: turn.KindAssistant}
		for _, c := range calls {
			n.Calls = append(n.Calls, model.Call{ID: c, Name: "ls"})
		}
		return n.Message()
	}
	result := func(id, of string) model.Message {
		n := turn.Node{ID: id, Kind: turn.KindToolBoundary, CallID: of}
		return n.Message()
	}
	partial := turn.Node{ID: "p", Kind: turn.KindAssistant, Partial: true}
	for _, c := range []struct {
		name string
		path []model.Message
		want string
	}{
		{"nothing", nil, ""},
		{"whole", []model.Message{say("u"), call("a", "x", "y"), result("r", "x"), result("s", "y"), call("b")}, "u a r:x s:y b"},
		{"partial", []model.Message{say("u"), partial.Message(), call("b")}, "u b"},
		{"partial among results", []model.Message{call("a", "x"), partial.Message(), result("r", "x")}, "a r:x"},
		{"an open call at the end", []model.Message{say("u"), call("a", "x", "y"), result("r", "y")}, "u a r:y :x"},
		{"an open call", []model.Message{call("a", "x"), say("u"), call("b", "x"), result("r", "x")}, "a :x u b r:x"},
		{"a result without a call", []model.Message{say("u"), result("r", "x"), call("b")}, "u b"},
		{"a result too late", []model.Message{call("a", "x"), say("u"), result("r", "x")}, "a :x u"},
		{"a second result", []model.Message{call("a", "x"), result("r", "x"), result("s", "x")}, "a r:x"},
		{"of another program", []model.Message{{ID: "f", Role: "user", Content: []byte(`"Hi"`)}, {ID: "g", Role: "tool", Metadata: []byte(`{}`)}}, "f g"},
	} {
		var got []string
		for _, m := range turn.Context(c.path) {
			var of struct {
				Call string `json:"tool_call_id"`
			}
			s := m.ID
			if json.Unmarshal(m.Metadata, &of); of.Call != "" {
				s += ":" + of.Call
			}
			got = append(got, s)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: the model receives %q, want %q", c.name, s, c.want)
		}
	}
}
