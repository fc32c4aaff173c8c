package stored_test

import (
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/stored"
	"github.com/bough-dev/bough/session"
)

const tenKeys = "role content category id timestamp metadata tokens agent_id recipient_id message_type"

func decode(t *testing.T, id, messages, metadata string) *session.Session {
	t.Helper()
	s, err := session.Decode(id, []byte(`{"metadata":{`+metadata+`},"messages":[`+messages+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func one(t *testing.T, raw string) session.Message {
	t.Helper()
	return decode(t, "s", raw, "").Messages[0]
}

func keys(t *testing.T, object []byte) (list []string) {
	t.Helper()
	members, err := rawjson.Members(object, rawjson.Root(object))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		list = append(list, m.Key)
	}
	return list
}

func TestMessage(t *testing.T) {
	raw := stored.Message{ID: "a", Role: "tool", Content: []byte(`"<b>\"分\u2028\"</b>"`), Time: "now",
		Metadata: []rawjson.Pair{{Key: "parent_id", Value: []byte("null")}}}.Encode()
	const want = `{
      "role": "tool",
      "content": "<b>\"分\u2028\"</b>",
      "category": "SYSTEM_OUTPUT",
      "id": "a",
      "timestamp": "now",
      "metadata": {
        "parent_id": null
      },
      "tokens": 0,
      "agent_id": null,
      "recipient_id": null,
      "message_type": "message"
    }`
	if string(raw) != want {
		t.Errorf("the message is\n%s\nwant\n%s", raw, want)
	}
	if got := one(t, string(raw)).Text(); got != "<b>\"分\u2028\"</b>" {
		t.Errorf("the text is %q", got)
	}
	for role, want := range map[string]string{"system": "SYSTEM", "user": "DIALOG", "assistant": "DIALOG", "tool": "SYSTEM_OUTPUT"} {
		if got := one(t, string(stored.Message{ID: "a", Role: role, Content: []byte(`""`)}.Encode())).Category(); got != want {
			t.Errorf("the category of %s is %q, want %q", role, got, want)
		}
	}
	if got := one(t, string(stored.Message{ID: "a", Role: "system", Content: []byte(`""`), Category: "CONTEXT"}.Encode())).Category(); got != "CONTEXT" {
		t.Errorf("the category is %q, want CONTEXT", got)
	}
}

func TestMarker(t *testing.T) {
	raw := stored.Marker("a", "p", "b", "now")
	if got := strings.Join(keys(t, raw), " "); got != tenKeys {
		t.Errorf("the keys are %s, want %s", got, tenKeys)
	}
	if !one(t, string(raw)).IsMarker() {
		t.Errorf("%s is not a marker", raw)
	}
	tree, err := session.NewTree([]*session.Outline{
		decode(t, "p", `{"id":"a"},{"id":"b"},{"id":"c"}`, "").Outline,
		decode(t, "q", string(raw)+`,{"id":"d"}`, `"continued_from":"p"`).Outline,
	}, nil)
	if err != nil || tree.Len() != 4 || tree.ID(3) != "d" || tree.ID(tree.Parent(3)) != "b" {
		t.Errorf("the tree is %+v, %v", tree, err)
	}
}
