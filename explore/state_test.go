package explore_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bough-dev/bough/explore"
)

// A game is an exploration that a test runs.
type game struct {
	*explore.Exploration
	ids int
}

func (r *game) id() string { r.ids++; return fmt.Sprint("b", r.ids) }

func begin(c explore.Config, names ...string) *game {
	r := &game{Exploration: &explore.Exploration{ID: "e", Session: "s", Node: "m", Question: "sort it", Method: explore.Best, Config: c}}
	r.Begin(strategies(names...), r.id, at(0))
	return r
}

func strategies(names ...string) (list []explore.Strategy) {
	for _, name := range names {
		list = append(list, explore.Strategy{Name: name})
	}
	return list
}

func at(second int) string { return fmt.Sprintf("2026-05-25T15:32:%02d.000000+00:00", second) }

func (r *game) begun(second int) string {
	var names []string
	for _, b := range r.Next(at(second)) {
		names = append(names, b.Strategy)
	}
	return strings.Join(names, " ")
}

func (r *game) ends(id string, second int, x explore.Ended) { r.End(id, x, r.id, at(second)) }

func sure(confidence float64, result string) explore.Ended {
	return explore.EndedWith(explore.Answer{Result: result, Confidence: &confidence})
}

// TestState runs an exploration: at most the allowed number of branches at once, another as
// soon as one has ended, proposed branches below their parent, and a reason for each branch
// that a limit excludes.
func TestState(t *testing.T) {
	c := explore.Defaults()
	c.MaxConcurrent, c.MaxDepth, c.MaxBranches = 2, 2, 5
	r := begin(c, "a", "b", "c")
	if got := r.begun(1); got != "a b" || r.begun(1) != "" {
		t.Errorf("begun are %q", got)
	}
	proposes := sure(0.9, "done")
	proposes.Strategies = strategies("a1", "a2", "a3")
	r.ends("b1", 2, proposes)
	if got := r.begun(2); got != "c" || r.Done() {
		t.Errorf("then %q", got)
	}
	r.ends("b2", 3, explore.Ended{Failure: "it exited with 1"})
	r.ends("b2", 3, sure(1, "too late"))
	if got := r.begun(3); got != "a1" {
		t.Errorf("then %q", got)
	}
	proposes.Result = "deep"
	r.ends("b4", 4, proposes)
	r.ends("b3", 5, sure(0.29, "unsure"))
	if got := r.begun(5); got != "a2" {
		t.Errorf("then %q", got)
	}
	r.ends("b5", 6, sure(0.3, "less unsure"))
	if got := r.begun(7); got != "" || !r.Done() || r.EndedAt != at(6) || len(r.Active) > 0 {
		t.Errorf("at the end %q, %+v", got, r.Exploration)
	}
	var got []string
	for _, b := range r.Branches {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %d %s pruned:%v %s", b.ID, b.Strategy, b.Depth, b.Status, b.Pruned, b.Reason)))
	}
	want := `b1 a 1 completed pruned:false
b2 b 1 failed pruned:false it exited with 1
b3 c 1 completed pruned:true its confidence 0.29 is below 0.3
b4 a1 2 completed pruned:false
b5 a2 2 completed pruned:false
b6 a3 2 failed pruned:false not tried: the limit of 5 branches is reached
b7 a1 3 failed pruned:false not tried: depth 3 is beyond the limit of 2
b8 a2 3 failed pruned:false not tried: depth 3 is beyond the limit of 2
b9 a3 3 failed pruned:false not tried: depth 3 is beyond the limit of 2`
	if strings.Join(got, "\n") != want {
		t.Errorf("the branches are\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	learned := r.Learnings()
	if len(learned) != 5 || learned[0].Seconds != 1 || learned[1].Success || learned[0].Context != "sort it" {
		t.Errorf("learned is %+v", learned)
	}
	data := r.Encode()
	again, err := explore.Decode(data)
	if err != nil || !bytes.Equal(again.Encode(), data) {
		t.Errorf("it decodes to %s, %v", again.Encode(), err)
	}
}

// TestStateStops: a pending branch does not begin any more, and an interrupted one begins
// again.
func TestStateStops(t *testing.T) {
	c := explore.Defaults()
	c.MaxConcurrent, c.MaxTotal = 1, 10
	r := begin(c, "a", "b", "c")
	r.begun(1)
	r.Resume()
	if got := r.begun(2); got != "a" || r.Branches[0].StartedAt != at(2) {
		t.Errorf("after a crash %q, %+v", got, r.Branches[0])
	}
	r.ends("b1", 3, sure(1, "x"))
	r.Resume()
	if got := r.begun(4); got != "b" {
		t.Errorf("an ended branch begins again: %q", got)
	}
	long := sure(1, "y")
	long.Output = 11
	r.ends("b2", 5, long)
	if got := r.begun(6); got != "" || !r.Done() || !strings.Contains(r.Branches[2].Reason, "10 bytes") {
		t.Errorf("after too much output %q, %+v", got, r.Branches[2])
	}
	c.AllowRecursiveBranching = false
	c.MaxTotal = 0
	r = begin(c, "a")
	r.begun(1)
	no := false
	r.ends("b1", 2, explore.EndedWith(explore.Answer{Result: "x", Success: &no, Strategies: strategies("deeper")}))
	if r.Branches[0].Status != explore.Failed || r.Branches[0].Result != "x" || len(r.Branches) != 1 {
		t.Errorf("without success it is %+v", r.Branches)
	}
	r = begin(c, "a", "b")
	r.begun(1)
	r.Stop("cancelled", at(2))
	deeper := sure(1, "x")
	deeper.Strategies = strategies("deeper")
	r.ends("b1", 3, deeper)
	if !r.Done() || r.Branches[1].Reason != "cancelled" || !strings.Contains(r.Branches[2].Reason, "may not propose branches") {
		t.Errorf("cancelled it is %+v", r.Branches)
	}
}

func TestParseAnswer(t *testing.T) {
	for _, c := range []struct{ out, want, problem string }{
		{" 42 \n", "42", ""},
		{`{"result":"x","confidence":0.5,"strategies":[{"name":" a ","description":"d"}]}`, "x", ""},
		{`{"result":{"n":1}}`, `{"n":1}`, ""},
		{`{"result":7}`, "7", ""},
		{`{"half": `, `{"half":`, ""},
		{"", "", "printed nothing"},
		{"\xff\xfe", "", "not valid UTF-8"},
		{`{"confidence":1}`, "", "no result"},
		{`{"result":null}`, "", "no result"},
		{`{"result":" "}`, "", "no result"},
		{`{"result":"x","strategies":[{"name":"a\u0000b"}]}`, "", "NUL byte"},
		{`{"result":"x","confidence":"high"}`, "", "parse its answer"},
		{`{"result":"x","strategies":[{"name":" "}]}`, "", "no name"},
		{`{"result":"x","metrics":[1]}`, "", "not an object"},
	} {
		a, err := explore.ParseAnswer([]byte(c.out))
		if a.Result != c.want || (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("ParseAnswer(%q) = %+v, %v", c.out, a, err)
		}
	}
	if a, err := explore.ParseAnswer([]byte(`{"result":"x","confidence":7}`)); err != nil || a.Confidence != nil {
		t.Errorf("a confidence of 7 is %v, %v", a.Confidence, err)
	}
	if _, err := explore.Decode([]byte(`{"id":"e","session_id":"s","parent_node_id":"m","branches":[{"branch_id":"b","status":"odd"}]}`)); err == nil {
		t.Error("an invalid branch is accepted")
	}
}
