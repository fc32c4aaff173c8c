package agent_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
)

const file = `{
  "id": "4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77",
  "name": "ada",
  "model_id": "command:cat",
  "system": "Be brief.",
  "tree_ids": [
    "one",
    "two"
  ],
  "trees": [
    {
      "id": "one",
      "name": null,
      "created_at": "2026-05-25T15:32:00.000000+00:00",
      "node_id": null
    },
    {
      "id": "two",
      "name": "rest",
      "created_at": "2026-05-25T15:33:00.000000+00:00",
      "node_id": "m1"
    }
  ],
  "head": {
    "tree_id": "two",
    "node_id": "m1"
  },
  "queue": [],
  "turn": {
    "state": "idle"
  },
  "steer_policy": "after_call",
  "auto_checkpoint": true,
  "created_at": "2026-05-25T15:32:00.000000+00:00"
}
`

func decode(t testing.TB, data string) *agent.Agent {
	t.Helper()
	a, err := agent.Decode("ada", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestEncode(t *testing.T) {
	at := time.Date(2026, 5, 25, 15, 32, 0, 0, time.UTC)
	a := agent.Agent{
		ID: "4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77", Name: "ada", Model: "command:cat", System: "Be brief.",
		Trees:   []agent.Tree{{ID: "one", Created: at}, {ID: "two", Name: "rest", Created: at.Add(time.Minute)}},
		Created: at,
	}
	a.Move("two", "m1")
	if got := string(a.Encode()); got != file {
		t.Errorf("Encode returns\n%s\nwant\n%s", got, file)
	}
	b := decode(t, file)
	if b.ID != a.ID || b.Model != a.Model || b.System != a.System || b.Head != a.Head || b.Tree("two").Name != "rest" || !b.Created.Equal(at) {
		t.Errorf("Decode returns %+v", b)
	}
}

// TestUnknown: unknown members of the file are kept byte for byte by every change.
func TestUnknown(t *testing.T) {
	odd := strings.NewReplacer(
		`"model_id"`, `"notes": [ {"n":1e-07, "x":[]} ],   "model_id"`,
		`"node_id": null`, `"node_id": null, "pinned" : true`,
		`"tree_id": "two"`, `"since":12345678901234567890, "tree_id": "two"`,
		"\n}\n", ",\"mood\":{\"state\":\"idle\"}\n}",
	).Replace(file)
	same := decode(t, odd)
	if got := string(same.Encode()); got != odd {
		t.Errorf("unchanged, the file is\n%s\nwant\n%s", got, odd)
	}
	a := decode(t, odd)
	a.Move("one", "m0")
	a.Model = "other"
	want := strings.NewReplacer(
		`"command:cat"`, `"other"`,
		`"node_id": null, `, `"node_id": "m0", `,
		`"tree_id": "two",
    "node_id": "m1"`, `"tree_id": "one",
    "node_id": "m0"`,
	).Replace(odd)
	if got := string(a.Encode()); got != want {
		t.Errorf("after a move the file is\n%s\nwant\n%s", got, want)
	}
	a.Trees = append(a.Trees, agent.Tree{ID: "three"})
	for _, word := range []string{`[ {"n":1e-07, "x":[]} ]`, `"pinned" : true`, "12345678901234567890", `"mood":{"state":"idle"}`} {
		if got := string(a.Encode()); !strings.Contains(got, word) {
			t.Errorf("with another tree the file is\n%s\nwithout %s", got, word)
		}
	}
}

// TestQueueAndTurn: the queue and the turn are members of the file, and a file without them
// is that of an idle agent.
func TestQueueAndTurn(t *testing.T) {
	old := strings.NewReplacer("  \"queue\": [],\n  \"turn\": {\n    \"state\": \"idle\"\n  },\n  \"steer_policy\": \"after_call\",\n  \"auto_checkpoint\": true,\n", "").Replace(file)
	a := decode(t, old)
	if a.Turn.State != "" && a.Turn.State != turn.Idle || len(a.Queue) != 0 || a.NoCheckpoint || a.Trees[0].Archived {
		t.Errorf("without the members the agent is %+v", a)
	}
	if got := string(a.Encode()); got != old {
		t.Errorf("unchanged it is\n%s", got)
	}
	a.Queue.Add(turn.Entry{ID: "q1", Mode: turn.Steer, Content: "<stop>", Cut: true})
	a.Turn = turn.Turn{State: turn.InTool, Prompt: "m1", Last: "m2", Calls: []turn.OpenCall{{Call: model.Call{ID: "c", Name: "f", Arguments: "{}"}, Node: "m3"}}}
	a.Policy, a.NoCheckpoint, a.Trees[1].Archived = turn.FinishBatch, true, true
	b := decode(t, string(a.Encode()))
	if !slices.Equal(a.Queue, b.Queue) || !reflect.DeepEqual(a.Turn, b.Turn) || b.Policy != a.Policy || !b.NoCheckpoint || !b.Trees[1].Archived || b.Trees[0].Archived {
		t.Errorf("it decodes to %+v", b)
	}
	b.Queue.Drop("q1")
	b.Turn = turn.Turn{}
	b.Policy, b.NoCheckpoint, b.Trees[1].Archived = "", false, false
	c := decode(t, string(b.Encode()))
	if len(c.Queue) != 0 || c.Turn.State != turn.Idle || c.Policy != turn.AfterCall || c.NoCheckpoint || c.Trees[1].Archived {
		t.Errorf("reverted, the agent is %+v", c)
	}
}

func TestDamage(t *testing.T) {
	for _, c := range []struct{ was, is, at string }{
		{"}\n", "", ""},
		{file, "", ""},
		{file, "[]", "[]"},
		{`"name": "ada"`, `"name": "bob"`, `"bob"`},
		{`"name": "ada"`, `"name": 1`, "1,\n"},
		{`"4f3c0a52-7d0e-4c5e-9d6b-0d2f3b1a9c77"`, `"x"`, `"x"`},
		{`"system"`, `"sistem"`, "{"},
		{`"system"`, `"name"`, `"name": "Be brief."`},
		{`"one",`, `"three",`, "[\n    \"three\""},
		{`"id": "two"`, `"id": "one"`, "{\n      \"id\": \"one\",\n      \"name\": \"rest\""},
		{`"id": "two"`, `"id": "../x"`, `"../x"`},
		{`"name": null`, `"name": "rest"`, "{\n      \"id\": \"two\""},
		{`"2026-05-25T15:33:00.000000+00:00"`, `"soon"`, `"soon"`},
		{`"tree_id": "two"`, `"tree_id": "three"`, "{\n    \"tree_id\""},
		{"\"node_id\": \"m1\"\n  }", "\"node_id\": null\n  }", "{\n    \"tree_id\""},
		{`"head"`, `"tail"`, "{"},
		{`"name": null`, `"name": null, "odd": NaN`, "NaN"},
		{`"name": null`, `"name": null, "archived": 1`, "1,\n"},
		{`"queue": []`, `"queue": [{"id":"","delivery_mode":"steer","content":"","state":"held"}]`, "[{"},
		{`"queue": []`, `"queue": [{"id":"q","delivery_mode":"steer","content":"","state":"lost"}]`, "[{"},
		{`"queue": []`, `"queue": {}`, "{},"},
		{`"state": "idle"`, `"state": "asleep"`, "{\n    \"state\": \"asleep"},
		{`"state": "idle"`, `"state": "tool"`, "{\n    \"state\": \"tool"},
		{`"state": "idle"`, `"state": "idle", "unwritten": [{"id":"n","kind":"odd"}]`, "{\n    \"state\""},
		{`"after_call"`, `"never"`, `"never"`},
		{`"auto_checkpoint": true`, `"auto_checkpoint": 1`, "1,"},
	} {
		data := strings.Replace(file, c.was, c.is, 1)
		_, err := agent.Decode("ada", []byte(data))
		var damage *session.DamageError
		if !errors.As(err, &damage) || damage.Path != "agents/ada.json" {
			t.Errorf("with %q: %v", c.is, err)
			continue
		}
		if c.at != "" && damage.Offset != strings.Index(data, c.at) {
			t.Errorf("with %q: %v, want byte %d", c.is, err, strings.Index(data, c.at))
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, name := range []string{"a", "0", "ada.2_x-", long} {
		if !agent.ValidName(name) {
			t.Errorf("invalid agent name %q", name)
		}
		if got, ok := agent.NameOf(agent.Path(name)); got != name || !ok {
			t.Errorf("%s is the file of %q, %v", agent.Path(name), got, ok)
		}
	}
	for _, name := range []string{"", ".a", "-a", "_", "Ada", "a b", "a/b", "ä", "a\n", long + "a"} {
		if agent.ValidName(name) {
			t.Errorf("an agent can have the name %q", name)
		}
	}
	for _, path := range []string{"agents/.ada.json", "agents/ada.json.bak", "ada.json", "agents/x/ada.json", "agents/ada"} {
		if name, ok := agent.NameOf(path); ok {
			t.Errorf("%s is the file of %q", path, name)
		}
	}
}

// FuzzDecode: a decoded file encodes to the same bytes. After a move the head is at
// its new position, in a tree that is not archived, and a move back restores the
// file.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(file))
	f.Add([]byte(strings.ReplaceAll(file, " ", "")))
	f.Add([]byte(strings.Replace(file, `"name": null`, `"name": null, "archived": true`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := agent.Decode("ada", data)
		if err != nil {
			return
		}
		if !bytes.Equal(a.Encode(), data) {
			t.Fatalf("it decodes to %q", a.Encode())
		}
		was := a.Head
		a.Move(a.Trees[0].ID, "elsewhere")
		b, err := agent.Decode("ada", a.Encode())
		if err != nil || b.Head != a.Head || b.Trees[0].Node != "elsewhere" || b.Trees[0].Archived {
			t.Fatalf("moved it is %q: %v", a.Encode(), err)
		}
		b.Move(was.Tree, was.Node)
		c, err := agent.Decode("ada", b.Encode())
		if err != nil || c.Head != was || c.ID != a.ID || c.System != a.System || len(c.Trees) != len(a.Trees) {
			t.Fatalf("after a move back the file is %q: %v", b.Encode(), err)
		}
	})
}
