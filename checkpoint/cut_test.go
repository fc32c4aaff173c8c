package checkpoint_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/session"
)

func call(id string, calls ...string) string {
	return message(id, `"tool_calls":[{"id":"`+strings.Join(calls, `"},{"id":"`)+`"}]`)
}

func result(id, call string) string { return message(id, fmt.Sprintf(`"tool_call_id":%q`, call)) }

func TestCut(t *testing.T) {
	const both = `{"id":"b","content":[{"type":"tool_use","id":"c1"},{"type":"tool_result","tool_use_id":"c1"}]}`
	plain := part{id: "p", messages: []string{message("a", ""), call("b", "c1"), message("c", ""), result("d", "c1"), message("e", "")}}
	for _, c := range []struct {
		name  string
		parts []part
		want  string // id, or id:call<before>after for a refused cut, * for any
	}{
		{"a call and its result", []part{plain}, "a b:c1<a>d c:c1<a>d d e"},
		{"both in one message", []part{{id: "p", messages: []string{message("a", ""), both, message("c", "")}}}, "a b c"},
		{"both in one message, and a second result", []part{{id: "p", messages: []string{message("a", ""), both, result("c", "c1")}}}, "a b c"},
		{"a second result", []part{{id: "p", messages: []string{call("a", "c1"), result("b", "c1"), result("c", "c1")}}}, "a:c1<>b b c"},
		{"several calls", []part{{id: "p", messages: []string{message("a", ""), call("b", "c1", "c2"), result("c", "c2"), result("d", "c1"), message("e", "")}}},
			"a b:c2<a>d c:c1<a>d d e"},
		{"one call after the other", []part{{id: "p", messages: []string{call("a", "c1"), result("b", "c1"), call("c", "c2"), result("d", "c2")}}},
			"a:c1<>b b c:c2<b>d d"},
		{"calls that overlap", []part{{id: "p", messages: []string{message("r", ""), call("a", "c1"), call("b", "c2"), result("c", "c1"), result("d", "c2")}}},
			"r a:c1<r>d b:c1<r>d c:c2<r>d d"},
		{"a call without a result", []part{{id: "p", messages: []string{call("a", "c1"), message("b", "")}}}, "a b"},
		{"a result without a call", []part{{id: "p", messages: []string{message("a", ""), result("b", "c1"), message("c", "")}}}, "a b c"},
		{"an answer before the call", []part{{id: "p", messages: []string{result("a", "c1"), call("b", "c1"), message("c", "")}}}, "a b c"},
		{"a call at the first message, answered at the last", []part{{id: "p", messages: []string{call("a", "c1"), message("b", ""), result("c", "c1")}}},
			"a:c1<>c b:c1<>c c"},
		{"the result in the next file", []part{
			{id: "p", messages: []string{message("a", ""), call("b", "c1")}},
			{id: "q", metadata: `"continued_from":"p"`, messages: []string{message("h", ""), marker("p"), message("c", ""), result("d", "c1"), message("e", "")}},
		}, "a b:c1<a>d c:c1<a>d d e"},
		{"a header that repeats a call", []part{
			{id: "p", messages: []string{message("a", "")}},
			{id: "q", metadata: `"continued_from":"p"`, messages: []string{call("h", "c1"), marker("p"), result("b", "c1")}},
		}, "a b"},
		{"the result on another branch", []part{{id: "p", messages: []string{message("a", ""), call("b", "c1"), message("c", ""), strings.Replace(result("d", "c1"), `"metadata":{`, `"metadata":{"parent_id":"b",`, 1), message("e", "")}}},
			"a b:c1<a>d c d e"},
		{"results on two branches", []part{{id: "p", messages: []string{message("a", ""), call("b", "c1"), result("c", "c1"), strings.Replace(result("d", "c1"), `"metadata":{`, `"metadata":{"parent_id":"b",`, 1), message("e", "")}}},
			"a b:c1<a>* c d e"},
		{"inside another call", []part{{id: "p", messages: []string{message("a", ""), call("b", "c1"), strings.Replace(result("c", "c1"), `"metadata":{`, `"metadata":{"tool_calls":[{"id":"c2"}],`, 1), result("d", "c2")}}},
			"a b:c1<a>d c:c2<a>d d"},
	} {
		tr := tree(t, c.parts...)
		for n, want := range strings.Fields(c.want) {
			id, refused, _ := strings.Cut(want, ":")
			if tr.ID(n) != id {
				t.Fatalf("%s: node %d is %s, want %s", c.name, n, tr.ID(n), id)
			}
			err := checkpoint.Cut(tr, n)
			got, before := "", id
			var cut *checkpoint.ToolCutError
			if errors.As(err, &cut) {
				got, before = fmt.Sprintf("%s<%s>%s", cut.Call, cut.Before, cut.After), cut.Before
				if cut.Message != id {
					t.Errorf("%s: the error for %s names %s", c.name, id, cut.Message)
				}
				if strings.HasSuffix(refused, "*") {
					refused = strings.TrimSuffix(refused, "*") + cut.After
				}
			}
			if got != refused {
				t.Errorf("%s: Cut at %s is %q, want %q", c.name, id, got, refused)
			}
			if w := checkpoint.WholeBefore(tr, n); w != node(t, tr, before) {
				t.Errorf("%s: the nearest whole place at or before %s is node %d, want %q", c.name, id, w, before)
			}
			if cut != nil && cut.After != "" {
				if err := checkpoint.Cut(tr, node(t, tr, cut.After)); err != nil {
					t.Errorf("%s: the nearest whole place after %s is %s, where a cut is refused", c.name, id, cut.After)
				}
			}
		}
	}
	if err := checkpoint.Cut(tree(t, part{id: "p"}), -1); err != nil {
		t.Errorf("Cut in an empty conversation: %v", err)
	}
}

// TestCutFarApart: a result thousands of messages after its call is found, with the
// nearest allowed cuts; a search from each message anew would take hours.
func TestCutFarApart(t *testing.T) {
	n := testsize.Of(20_000, 100_000, 100_000)
	messages := []string{message("first", ""), call("call", "c1")}
	for i := range n {
		messages = append(messages, message(fmt.Sprint("m", i), ""))
	}
	messages = append(messages, result("result", "c1"))
	tr := tree(t, part{id: "p", messages: messages})
	var cut *checkpoint.ToolCutError
	if err := checkpoint.Cut(tr, tr.Len()/2); !errors.As(err, &cut) || cut.Before != "first" || cut.After != "result" {
		t.Errorf("Cut = %+v, want first and result", cut)
	}
}

// TestCutAllows: if Cut returns nil, no result is separated.
func TestCutAllows(t *testing.T) {
	tr := tree(t, part{id: "p", messages: []string{call("a", "c1"), call("b", "c2"), result("c", "c2"), result("d", "c1"), call("e", "c3")}})
	for n := range tr.Len() {
		s := flatten(t, tr, n, checkpoint.Spec{ID: "snap", Kind: session.Branch, Source: "x"})
		open := map[string]bool{}
		for i := range s.Messages {
			calls, results := s.Tools(i)
			for _, id := range calls {
				open[id] = true
			}
			for _, id := range results {
				delete(open, id)
			}
		}
		delete(open, "c3")
		if whole := len(open) == 0; whole != (checkpoint.Cut(tr, n) == nil) {
			t.Errorf("a cut at node %d leaves %v open: %v", n, open, checkpoint.Cut(tr, n))
		}
	}
}
