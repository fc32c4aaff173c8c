package workspace_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// TestAppendTools: calls, results and parts are stored as a turn of an agent stores them,
// so a cut between a call and its result is detected.
func TestAppendTools(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	s.append(workspace.Append{Session: bread, Content: json.RawMessage(`[{"type":"text","text":"How warm is it?"}]`)})
	call := s.append(workspace.Append{Session: bread, Calls: []model.Call{{ID: "c1", Name: "oven", Arguments: `{"rack": 2}`}}})
	s.append(workspace.Append{Session: bread, CallID: "c1", Tool: "oven", Text: "230"})
	c, err := s.Show(t.Context(), bread, session.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	doc := string(c.JSON())
	for path, want := range map[string]string{
		"messages.#.role":                                     `["user","assistant","tool"]`,
		"messages.0.content.0.text":                           `"How warm is it?"`,
		"messages.1.content":                                  `""`,
		"messages.1.metadata.tool_calls.0.id":                 `"c1"`,
		"messages.1.metadata.tool_calls.0.function.name":      `"oven"`,
		"messages.1.metadata.tool_calls.0.function.arguments": `"{\"rack\": 2}"`,
		"messages.2.metadata.tool_call_id":                    `"c1"`,
		"messages.2.metadata.action_type":                     `"oven"`,
		"messages.2.category":                                 `"SYSTEM_OUTPUT"`,
	} {
		if got := gjson.Get(doc, path).Raw; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	snap, err := s.Checkpoint(t.Context(), bread+"@"+call.Message, workspace.SnapshotOptions{})
	if err == nil && string(snap.BranchPoint) == call.Message || err != nil && !errors.Is(err, fault.ToolCut) {
		t.Errorf("a checkpoint between a call and its result: %+v, %v", snap, err)
	}
}

// TestAppendToolsRefused: an invalid append is refused and writes nothing.
func TestAppendToolsRefused(t *testing.T) {
	t.Parallel()
	s := openSpace(t, t.TempDir(), 0)
	bread := s.new("Bread")
	before := s.files()
	one := model.Call{ID: "c1", Name: "oven"}
	for name, a := range map[string]workspace.Append{
		"nothing":           {},
		"text and content":  {Text: "x", Content: json.RawMessage(`"y"`)},
		"no JSON":           {Content: json.RawMessage(`[`)},
		"a number":          {Content: json.RawMessage(`7`)},
		"calls of a user":   {Role: "user", Calls: []model.Call{one}},
		"a call without id": {Calls: []model.Call{{Name: "oven"}}},
		"two of one id":     {Calls: []model.Call{one, one}},
		"a result of user":  {Role: "user", Text: "x", CallID: "c1"},
		"a tool alone":      {Role: "tool", Text: "x", Tool: "oven"},
		"call and result":   {CallID: "c1", Calls: []model.Call{one}},
	} {
		a.Session = bread
		if _, err := s.Append(t.Context(), a); !errors.Is(err, fault.Usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	sameFiles(t, "refused messages", before, s.files())
}
