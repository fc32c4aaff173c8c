package explore_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bough-dev/bough/explore"
	"github.com/bough-dev/bough/explore/recognize"
)

func learning(context, strategy string, success bool) explore.Learning {
	return explore.Learning{Time: "2026-11-20T07:29:04.980213+00:00", Context: context, Strategy: strategy, Success: success, Exploration: "e", Branch: "b"}
}

func TestLearningLine(t *testing.T) {
	c, bad := 0.75, math.NaN()
	l := learning("fix <it>\nnow", "rewrite", true)
	l.Confidence, l.Metrics, l.Insights, l.Seconds = &c, json.RawMessage("{\n\"n\": 1.0}"), []string{"it is slow"}, 1.5
	const want = `{"time":"2026-11-20T07:29:04.980213+00:00","context":"fix <it>\nnow","strategy":"rewrite","description":"","confidence":0.75,` +
		`"success":true,"metrics":{"n":1.0},"insights":["it is slow"],"seconds":1.5,"exploration_id":"e","branch_id":"b"}` + "\n"
	if got := string(l.Encode()); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	l.Confidence, l.Metrics, l.Insights, l.Seconds = &bad, json.RawMessage("[1"), nil, math.Inf(1)
	if got := string(l.Encode()); !strings.Contains(got, `"confidence":null,"success":true,"metrics":null,"insights":[],"seconds":0,`) {
		t.Errorf("an invalid learning is %s", got)
	}
}

func TestDecodeLearnings(t *testing.T) {
	good := learning("c", "s", false)
	file := string(good.Encode()) + "\n" + "hello\n" + `{"a":1}` + "\n[]\n" + `{"strategy":7,"branch_id":"b"}` + "\n" + strings.TrimSuffix(string(good.Encode()), "}\n") +
		"\n" + strings.Replace(string(good.Encode()), "{", `{"more":[1],`, 1) + `{"strategy":"s","bran`
	list, skipped := explore.DecodeLearnings([]byte(file))
	if len(list) != 2 || list[0].Strategy != "s" || list[1].Strategy != "s" {
		t.Errorf("got %+v", list)
	}
	var lines []int
	for _, s := range skipped {
		lines = append(lines, s.Line)
	}
	if !reflect.DeepEqual(lines, []int{3, 4, 5, 6, 7, 9}) {
		t.Errorf("skipped are %+v", skipped)
	}
	if last := skipped[len(skipped)-1].Problem; !strings.Contains(last, "torn") {
		t.Errorf("the note on the torn line is %q", last)
	}
}

// FuzzDecodeLearnings: each line is a learning, is skipped, or is blank; an encoded
// learning is one line and decodes to the same learning.
func FuzzDecodeLearnings(f *testing.F) {
	one := learning("c", "s", false)
	f.Add(one.Encode())
	f.Add([]byte(`{"strategy":"s","branch_id":"b","metrics":[1],"confidence":7,"seconds":-1}` + "\n\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, skipped := explore.DecodeLearnings(data)
		lines := 0
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSpace(line)) > 0 {
				lines++
			}
		}
		if len(list)+len(skipped) != lines {
			t.Fatalf("%d learnings and %d skipped of %d lines", len(list), len(skipped), lines)
		}
		for _, l := range list {
			line := l.Encode()
			if bytes.Count(line, []byte("\n")) != 1 {
				t.Fatalf("a line is %q", line)
			}
			again, skipped := explore.DecodeLearnings(line)
			if len(again) != 1 || skipped != nil || !reflect.DeepEqual(again[0], l) {
				t.Fatalf("%+v reads back as %+v, %v", l, again, skipped)
			}
		}
		explore.Stats(list)
	})
}

func TestFindSimilar(t *testing.T) {
	contexts := []string{
		"Fix the failing test TestParse in package parser",
		"Make the query of the orders table faster",
		"Write a release note for version 1.4",
		"The test TestLexer in package lexer fails, please fix it",
		"Translate the README into German",
		"The parser panics on empty input; find out why and add a test",
		"Speed up the slow SQL query on the table orders",
		"Rename the type Node to Element everywhere",
	}
	var list []explore.Learning
	for _, c := range contexts {
		list = append(list, learning(c, "s", true))
	}
	for _, c := range []struct {
		context string
		first   []int // the most similar, in any order
	}{
		{"Fix the failing test TestScan in package scanner", []int{0, 3}},
		{"The query on the orders table is slow, make it faster", []int{1, 6}},
		{"orders table", []int{1}},
		{"release note", []int{2}},
		{"Draw a picture of a horse", nil},
		{"", nil},
		{"zzzz qqqq", nil},
	} {
		got := explore.FindSimilar(c.context, list, len(c.first)+1)
		var names []string
		for _, s := range got {
			names = append(names, s.Context)
		}
		for i := range c.first {
			found := false
			for _, want := range c.first {
				found = found || i < len(got) && got[i].Context == contexts[want]
			}
			if !found {
				t.Errorf("similar to %q are %q", c.context, names)
			}
		}
		if c.first == nil && len(got) > 0 {
			t.Errorf("similar to %q are %q, with %v", c.context, names, got[0].Similarity)
		}
	}
	two := []explore.Learning{learning("the same", "older", true), learning("the same", "newer", true)}
	if got := explore.FindSimilar("the same", two, 1); len(got) != 1 || got[0].Strategy != "newer" || got[0].Similarity != 1 {
		t.Errorf("got %+v", got)
	}
	if got := explore.FindSimilar("the same", two, -1); len(got) != 0 {
		t.Errorf("with a negative limit they are %+v", got)
	}
}

func TestAdjust(t *testing.T) {
	ways := []recognize.Offer{
		{Strategy: explore.Strategy{Name: "Rewrite"}, Confidence: 0.7},
		{Strategy: explore.Strategy{Name: "Patch"}, Confidence: 0.6},
		{Strategy: explore.Strategy{Name: "Revert"}, Confidence: 0.6},
	}
	var similar []explore.Similar
	for range 3 {
		similar = append(similar, explore.Similar{Learning: learning("c", "rewrite!", false), Similarity: 1}, explore.Similar{Learning: learning("c", "patch", true), Similarity: 1})
	}
	names := func(list []explore.RankedStrategy) string {
		var s []string
		for _, a := range list {
			s = append(s, a.Name)
		}
		return strings.Join(s, " ")
	}
	c := explore.Defaults()
	got := explore.Rank(ways, similar, c)
	if names(got) != "Patch Revert Rewrite" {
		t.Errorf("the order is %s", names(got))
	}
	if got[0].Reason != "3 of 3 runs in similar contexts succeeded: confidence 0.72, was 0.60" || got[0].Was != 0.6 || got[1].Reason != "" {
		t.Errorf("got %+v", got)
	}
	if got[2].Reason != "0 of 3 runs in similar contexts succeeded: confidence 0.58, was 0.70" {
		t.Errorf("got %+v", got[2])
	}
	c.LearnFromFailures = false
	if got := explore.Rank(ways, similar, c); names(got) != "Patch Rewrite Revert" || got[1].Confidence != 0.7 || got[1].Reason != "" {
		t.Errorf("without failures: %+v", got)
	}
	c.Prefer = []string{"revert", "nothing"}
	if got := explore.Rank(ways, nil, c); names(got) != "Revert Rewrite Patch" || got[0].Reason != "it is preferred" {
		t.Errorf("with a preference: %+v", got)
	}
	far := []explore.Similar{{Learning: learning("c", "Patch", true), Similarity: 0.1}, {Learning: learning("c", "Patch", true), Similarity: math.NaN()}}
	if got := explore.Rank(ways, far, explore.Defaults()); names(got) != "Rewrite Patch Revert" {
		t.Errorf("with distant learnings the order is %s", names(got))
	}
}

func TestStats(t *testing.T) {
	half, bad := 0.5, 7.0
	a, b, c := learning("c", "Rewrite", true), learning("d", "rewrite.", false), learning("c", "Patch", true)
	a.Confidence, a.Seconds = &half, 1
	b.Confidence, b.Seconds = &bad, 3
	data, err := json.Marshal(explore.Stats([]explore.Learning{a, b, c}))
	const want = `[{"strategy":"Patch","runs":1,"succeeded":1,"rate":1,"seconds":0,"confidence":null},` +
		`{"strategy":"rewrite.","runs":2,"succeeded":1,"rate":0.5,"seconds":2,"confidence":0.5}]`
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v, want %s", data, err, want)
	}
	if data, _ := json.Marshal(explore.Stats(nil)); string(data) != `[]` {
		t.Errorf("without learnings it is %s", data)
	}
}
