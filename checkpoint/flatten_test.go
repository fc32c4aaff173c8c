package checkpoint_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// A part is one file of a line, in short.
type part struct {
	id, metadata string
	messages     []string
	records      string
}

func message(id, metadata string) string {
	return fmt.Sprintf(`{"id":%q,"content":"text of %s","metadata":{%s}}`, id, id, metadata)
}

func under(parent, id string) string { return message(id, fmt.Sprintf(`"parent_id":%q`, parent)) }

func joined(parent, to, id string) string {
	return message(id, fmt.Sprintf(`"parent_id":%s,"bough":{"joined":%q}`, parent, to))
}
func marker(previous string) string {
	return message("marker of "+previous, fmt.Sprintf(`"type":"session_transition","previous_session":%q`, previous))
}

func decodeParts(t *testing.T, parts ...part) []*session.Session {
	t.Helper()
	var list []*session.Session
	for _, p := range parts {
		data := fmt.Sprintf(`{"metadata":{%s},"messages":[%s]%s}`, p.metadata, strings.Join(p.messages, " ,\n"), p.records)
		list = append(list, decode(t, p.id, []byte(data)))
	}
	return list
}

func tree(t *testing.T, parts ...part) *session.Tree {
	t.Helper()
	return grow(t, decodeParts(t, parts...)...)
}

func grow(t *testing.T, parts ...*session.Session) *session.Tree {
	t.Helper()
	tr, err := newTree(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// newTree builds the tree of sessions in memory.
func newTree(parts ...*session.Session) (*session.Tree, error) {
	var outlines []*session.Outline
	for _, s := range parts {
		outlines = append(outlines, s.Outline)
	}
	return session.NewTree(outlines, inMemory)
}

// inMemory opens sessions that were decoded in a test.
func inMemory(o *session.Outline) (*session.Session, error) { return o.Session(o.Bytes()), nil }

func decode(t *testing.T, id string, data []byte) *session.Session {
	t.Helper()
	s, err := session.Decode(id, data)
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return s
}

// flatten writes a snapshot and reads it again.
func flatten(t *testing.T, tr *session.Tree, at int, snap checkpoint.Spec) *session.Session {
	t.Helper()
	d, err := checkpoint.Flatten(tr, at, snap, inMemory)
	return decode(t, snap.ID, join(t, d, err))
}

func join(t *testing.T, d *session.Document, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	data, err := d.Bytes(inMemory)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// node returns the node of the message id, -1 for "".
func node(t *testing.T, tr *session.Tree, id string) int {
	t.Helper()
	if id == "" {
		return -1
	}
	nodes := tr.Find(id)
	if len(nodes) != 1 {
		t.Fatalf("%q is at %v", id, nodes)
	}
	return nodes[0]
}

// raws returns the messages of the path to a node.
func raws(tr *session.Tree, at int) []string {
	list := []string{}
	for _, n := range tr.Path(at) {
		s, err := inMemory(tr.Parts[tr.Part(n)])
		if err != nil {
			panic(err)
		}
		list = append(list, string(s.Messages[tr.Index(n)].Raw))
	}
	return list
}

func rawMessages(s *session.Session) []string {
	list := []string{}
	for _, m := range s.Messages {
		list = append(list, string(m.Raw))
	}
	return list
}

func idsOf(messages []session.Message) string {
	var list []string
	for _, m := range messages {
		list = append(list, m.ID)
	}
	return strings.Join(list, " ")
}

// TestFlattenFiles: a snapshot of a line of many files holds each message of the
// conversation once, in order, byte for byte.
func TestFlattenFiles(t *testing.T) {
	files := testchat.Chat{Messages: 500, PerFile: 40, Text: 60, Odd: true}.Files()
	all := testchat.All(files)
	var parts []*session.Session
	for _, f := range files {
		parts = append(parts, decode(t, f.ID, f.Data))
	}
	tr := grow(t, parts...)
	for _, n := range []int{0, 1, 39, 40, 41, 250, 498, 499} {
		s := flatten(t, tr, node(t, tr, all[n].ID), checkpoint.Spec{ID: "snap", Kind: session.Checkpoint, Source: "x"})
		if len(s.Messages) != n+1 {
			t.Fatalf("a snapshot at message %d holds %d messages", n, len(s.Messages))
		}
		for i, m := range s.Messages {
			if !bytes.Equal(m.Raw, all[i].Raw) {
				t.Fatalf("message %d of %d is\n%s\nwant\n%s", i, n, m.Raw, all[i].Raw)
			}
		}
		if !s.FitsSeal || s.Meta.Sealed.Messages != n+1 || s.Meta.BranchPoint != all[n].ID {
			t.Errorf("a snapshot at message %d has the seal %+v and the branch point %q", n, s.Meta.Sealed, s.Meta.BranchPoint)
		}
	}
}

func TestFlattenBranches(t *testing.T) {
	tr := tree(t,
		part{"p", "", []string{message("a", ""), message("b", ""), message("c", ""), under("b", "d"), message("e", "")}, ""},
		part{"q", `"continued_from":"p"`, []string{message("h", ""), marker("p"), message("f", ""), under("c", "g"), message("i", `"parent_id":null`)}, ""},
		part{"r", `"continued_from":["p"]`, []string{message("h2", ""), marker("p"), under("g", "j")}, ""},
	)
	for at, want := range map[string]string{
		"": "", "a": "a", "c": "a b c", "e": "a b d e", "f": "a b d e f", "g": "a b c g", "i": "i", "j": "a b c g j",
	} {
		s := flatten(t, tr, node(t, tr, at), checkpoint.Spec{ID: "snap", Kind: session.Branch, Source: "x"})
		if got := idsOf(s.Messages); got != want {
			t.Errorf("a snapshot at %q holds %q, want %q", at, got, want)
		}
		if again := grow(t, s); len(s.Messages) > 0 && !slices.Equal(raws(again, again.Newest(0)), raws(tr, node(t, tr, at))) {
			t.Errorf("the path of a snapshot at %q is %q", at, raws(again, again.Newest(0)))
		}
	}
}

// TestFlattenDocument compares complete snapshots, in both dialects.
func TestFlattenDocument(t *testing.T) {
	tr := tree(t, part{"p", `"title":"Old","agent_id":"default","n":1.0,"message_count":9,"continued_from":[],"continued_to":["q"]`, []string{message("a", ""), message("b", "")}, ""})
	const head = `{
  "id": "snap",
  "created_at": "now",
  "last_active": "now",
  "metadata": {
    "agent_id": "default",
    "n": 1.0,
    "title": "New <T>",`
	const foot = `
  },
  "messages": [
    {"id":"a","content":"text of a","metadata":{}} ,
{"id":"b","content":"text of b","metadata":{}}
  ],
  "llm_request_lifecycles": [],
  "tool_call_records": [],
  "tool_result_records": []
}`
	for _, c := range []struct {
		snap checkpoint.Spec
		want string
	}{
		{checkpoint.Spec{Kind: session.Checkpoint, Auto: true, Dialect: session.Bough}, `
    "continued_from": [
      "p"
    ],
    "continued_to": [],
    "branched_from": "p",
    "branch_point": "b",
    "lineage": [
      "r",
      "p"
    ],
    "flattened_snapshot": true,
    "message_count": 2,
    "bough": {
      "kind": "checkpoint",
      "auto": true,
      "sealed": {
        "messages": 2,
        "crc32c": "4213270d"
      }
    }`},
		{checkpoint.Spec{Kind: session.Branch, Dialect: session.Penguin}, `
    "branched_from": "p",
    "branch_point": "b",
    "lineage": [
      "r",
      "p"
    ],
    "flattened_snapshot": true,
    "message_count": 2,
    "bough": {
      "kind": "branch"
    }`},
	} {
		c.snap.ID, c.snap.Title, c.snap.Now, c.snap.Source, c.snap.Lineage = "snap", "New <T>", "now", "p", []string{"r", "p"}
		d, err := checkpoint.Flatten(tr, 1, c.snap, inMemory)
		if got, want := string(join(t, d, err)), head+c.want+foot; got != want {
			t.Errorf("the snapshot is\n%s\nwant\n%s", got, want)
		}
	}
}

func TestFlattenMetadata(t *testing.T) {
	tr := tree(t,
		part{"p", `"title":"T","a":1.0,"b":NaN,"c":"\ud83d ","token_count":5,"tool_call_record_count":1,"original_created_at":"x","continued_to":"q","continuation_time":"x","parentID":"x"`,
			[]string{message("a", "")}, ""},
		part{"q", `"continued_from":"p","continuation_index":1,"source_session_tokens":0,"b":2e0,"d":{"k":1,"k":2},"_opencode_usage_v1":{},"_opencode_transcript_v1":{"order":["a"]},"_opencode_revert_v1":1,"_opencode_revert_snapshot_v1":2`,
			[]string{marker("p"), message("b", "")}, ""},
		part{"r", `"continued_from":"q","e":1,"bough":{"other":true},"lineage":["x"],"flattened_snapshot":false`,
			[]string{marker("q"), message("c", "")}, ""},
	)
	for at, want := range map[string]string{
		"":  `a=1.0 b=NaN c="\ud83d " parentID="x"`,
		"a": `a=1.0 b=NaN c="\ud83d " parentID="x"`,
		"b": `a=1.0 b=2e0 c="\ud83d " parentID="x" d={"k":1,"k":2} _opencode_usage_v1={}`,
		"c": `a=1.0 b=2e0 c="\ud83d " parentID="x" d={"k":1,"k":2} _opencode_usage_v1={} e=1`,
	} {
		s := flatten(t, tr, node(t, tr, at), checkpoint.Spec{ID: "snap", Kind: session.Checkpoint, Source: "r", Dialect: session.Penguin})
		var carried []string
		for name, value := range s.Metadata().All() {
			if name == "branched_from" {
				break
			}
			carried = append(carried, name+"="+string(value))
		}
		if got := strings.Join(carried, " "); got != want {
			t.Errorf("at %q the snapshot copies\n%s\nwant\n%s", at, got, want)
		}
		if s.Meta.Kind() != session.Checkpoint || s.Meta.Title != "" || s.Meta.BranchPoint != at || !s.FitsSeal {
			t.Errorf("at %q the snapshot is %+v", at, s.Meta)
		}
	}
}

func TestFlattenRecords(t *testing.T) {
	tr := tree(t,
		part{"p", "", []string{message("a", ""), message("b", `"tool_calls":[{"id":"c1"}]`), message("c", `"tool_call_id":"c1"`)},
			`,"llm_request_lifecycles":[{"n":1}],"tool_call_records":[{"call_id":"c1","n":1.0},{"call_id":"never"}],"tool_result_records":[{"call_id":"c1"}]`},
		part{"q", `"continued_from":"p"`, []string{marker("p"), message("d", `"tool_calls":[{"id":"c2"}]`), message("e", "")},
			`,"llm_request_lifecycles":[{"n":2}],"tool_call_records":[{"call_id":"c2","x":NaN}],"tool_result_records":[{"call_id":"c1","again":true},{}]`},
	)
	for at, want := range map[string]string{
		"":  `[] [] []`,
		"a": `[] [] []`,
		"b": `[] [{"call_id":"c1","n":1.0}] [{"call_id":"c1"} {"call_id":"c1","again":true}]`,
		"d": `[] [{"call_id":"c1","n":1.0} {"call_id":"c2","x":NaN}] [{"call_id":"c1"} {"call_id":"c1","again":true}]`,
		"e": `[{"n":1} {"n":2}] [{"call_id":"c1","n":1.0} {"call_id":"never"} {"call_id":"c2","x":NaN}] [{"call_id":"c1"} {"call_id":"c1","again":true} {}]`,
	} {
		r := flatten(t, tr, node(t, tr, at), checkpoint.Spec{ID: "snap", Kind: session.Branch, Source: "x"}).Records()
		if got := fmt.Sprintf("%s %s %s", records(r.Lifecycles), records(r.Calls), records(r.Results)); got != want {
			t.Errorf("at %q the records are\n%s\nwant\n%s", at, got, want)
		}
	}
}

func records(list []session.Record) (raws []string) {
	for _, r := range list {
		raws = append(raws, string(r.Raw))
	}
	return raws
}

func TestView(t *testing.T) {
	tr := tree(t,
		part{"p", `"title":"T"`, []string{message("a", ""), message("b", "")}, ""},
		part{"q", `"continued_from":"p","n":NaN`, []string{message("h", ""), marker("p"), message("c", "")}, `,"tool_call_records":[1],"created_at":"then"`},
	)
	d, err := checkpoint.View(tr, node(t, tr, "c"), tr.Parts[1], inMemory)
	s := decode(t, "q", join(t, d, err))
	if s.OwnID != "q" || s.CreatedAt != "then" || idsOf(s.Messages) != "a b c" || len(s.Records().Calls) != 1 {
		t.Errorf("the view is %q of %q: %q with %d records", s.OwnID, s.CreatedAt, idsOf(s.Messages), len(s.Records().Calls))
	}
	if got := fmt.Sprintf("%s", s.Metadata()); got != fmt.Sprintf("%s", tr.Parts[1].Metadata()) {
		t.Errorf("the metadata is %s", got)
	}
}
