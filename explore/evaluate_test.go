package explore_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bough-dev/bough/explore"
)

// none means an unknown confidence, failed a failed branch.
const (
	none   = -1.0
	failed = -2.0
)

// branches returns branches with the ids b0, b1 and so on, and these confidences and
// results.
func branches(confidences []float64, results ...string) (list []explore.Branch) {
	for i, c := range confidences {
		b := explore.Branch{ID: fmt.Sprintf("b%d", i), Strategy: fmt.Sprintf("way %d", i), Status: explore.Completed, Result: fmt.Sprintf("result of %s", string(rune('a'+i)))}
		if i < len(results) {
			b.Result = results[i]
		}
		switch c {
		case none:
		case failed:
			b.Status, b.Reason, b.Result = explore.Failed, "it took longer than 30s", ""
		default:
			b.Confidence = &c
		}
		list = append(list, b)
	}
	return list
}

func TestEvaluate(t *testing.T) {
	for _, c := range []struct {
		name        string
		method      explore.Method
		confidences []float64
		results     []string
		selected    string
		from        string
		fallback    explore.Method
		reason      string // only one of them has it
	}{
		{"highest", explore.Best, []float64{0.5, 0.9, 0.7}, nil, "b1", "b1", "", "highest confidence 0.9"},
		{"tie", explore.Best, []float64{0.5, 0.9, 0.9}, nil, "b1", "b1", "", "is the first with the highest"},
		{"all failed", explore.Best, []float64{failed, failed}, nil, "", "", "", "no branch has a result that can be evaluated"},
		{"none", explore.Best, nil, nil, "", "", "", "no branch has a result that can be evaluated"},
		{"one survivor", explore.Best, []float64{failed, 0.4, failed}, nil, "b1", "b1", "", "the only one"},
		{"why it failed", explore.Best, []float64{failed, 0.4}, nil, "b1", "b1", "", "it is failed, it took longer than 30s"},
		{"below prune", explore.Best, []float64{0.29}, nil, "", "", "", "0.29 is below 0.3"},
		{"just below prune", explore.Best, []float64{math.Nextafter(0.3, 0)}, nil, "", "", "", "is below"},
		{"at prune", explore.Best, []float64{0.30}, nil, "b0", "b0", "", ""},
		{"no confidence", explore.Best, []float64{0.49, none, 0.5}, nil, "b1", "b1", "", "gave no confidence and is rated 0.5"},
		{"NaN", explore.Best, []float64{0.49, math.NaN()}, nil, "b1", "b1", "", "NaN, which is not from 0 to 1"},
		{"a percentage", explore.Best, []float64{0.6, 85}, nil, "b0", "b0", "", "85, which is not from 0 to 1"},

		{"votes", explore.Consensus, []float64{0.9, 0.4, 0.5}, []string{"41", "42.", "The answer is"}, "b0", "b0", explore.Best, "no answer has at least two votes"},
		{"majority", explore.Consensus, []float64{0.9, 0.4, 0.5}, []string{"41", " 42.0 ", "42"}, "b2", "b2 b1", "", "2 of 3 agree"},
		{"half is not a majority", explore.Consensus, []float64{0.9, 0.4, 0.5, 0.5}, []string{"x", "y", "x", "y"}, "b0", "b0", explore.Best, "more than half of 4"},
		{"punctuation", explore.Consensus, []float64{0.4, 0.6}, []string{"Use a **mutex**!", "use  a mutex"}, "b1", "b1 b0", "", "2 of 2"},
		{"alike", explore.Consensus, []float64{0.6, 0.4}, []string{"The test fails because the clock is not mocked", "The test fails because its clock is not mocked"}, "b0", "b0 b1", "", "2 of 2"},
		{"a not", explore.Consensus, []float64{0.6, 0.4}, []string{"The change is safe to be released today", "The change is not safe to be released today"}, "b0", "b0", explore.Best, "1 vote for"},
		{"isn't", explore.Consensus, []float64{0.6, 0.4}, []string{"The change is safe to be released today", "The change isn't safe to be released today"}, "b0", "b0", explore.Best, "1 vote for"},
		{"a number", explore.Consensus, []float64{0.6, 0.4}, []string{"It takes 1,000 seconds in all of the runs", "It takes 1001 seconds in all of the runs"}, "b0", "b0", explore.Best, "1 vote for"},
		{"thousands", explore.Consensus, []float64{0.6, 0.4}, []string{"1,000", "1000.0"}, "b0", "b0 b1", "", "2 of 2"},
		{"a sign", explore.Consensus, []float64{0.6, 0.4}, []string{"-1", "1"}, "b0", "b0", explore.Best, ""},
		{"operators", explore.Consensus, []float64{0.6, 0.4}, []string{"return a + b", "return a - b"}, "b0", "b0", explore.Best, ""},
		{"one vote", explore.Consensus, []float64{0.6, failed}, nil, "b0", "b0", explore.Best, "at least two votes"},
		{"empty results do not vote", explore.Consensus, []float64{0.6, 0.9, 0.9}, []string{"x", "", " "}, "b1", "b1", explore.Best, "has no vote"},
		{"the pruned have no vote", explore.Consensus, []float64{0.6, 0.1, 0.1}, []string{"x", "y", "y"}, "b0", "b0", explore.Best, "below 0.3"},
		{"no votes", explore.Consensus, nil, nil, "", "", explore.Best, "no branch has a vote"},

		{"parts", explore.Synthesis, []float64{0.70, 0.69, 0.8}, nil, "", "b2 b0", "", "are joined"},
		{"one part", explore.Synthesis, []float64{0.70, 0.69, 0.60}, nil, "b0", "b0", explore.Best, "1 branch with a confidence of at least 0.7"},
		{"no part", explore.Synthesis, []float64{0.59, 0.60}, nil, "b1", "b1", explore.Best, "0 branches"},
		{"no confidence is not part", explore.Synthesis, []float64{none, none}, nil, "b0", "b0", explore.Best, "0 branches"},
		{"empty parts", explore.Synthesis, []float64{0.9, 0.8}, []string{"", "x"}, "b0", "b0", explore.Best, "1 branch"},
		{"all failed", explore.Synthesis, []float64{failed, failed}, nil, "", "", explore.Best, "no branch has a result that can be evaluated"},
	} {
		t.Run(string(c.method)+"/"+c.name, func(t *testing.T) {
			list := branches(c.confidences, c.results...)
			e := explore.Evaluate(c.method, list, explore.Defaults())
			if e.Strategy != c.method || e.Selected != c.selected || strings.Join(e.From, " ") != c.from || e.Fallback != c.fallback {
				t.Errorf("got %+v", e)
			}
			if !strings.Contains(strings.Join(e.Reasons, "\n"), c.reason) {
				t.Errorf("the reasons %q do not have %q", e.Reasons, c.reason)
			}
			for _, b := range list {
				if b.ID == e.Selected && b.Result != e.Result {
					t.Errorf("the result is %q, that of %s is %q", e.Result, b.ID, b.Result)
				}
			}
			if (e.Confidence == nil) != (c.from == "") {
				t.Errorf("the confidence is %v of %q", e.Confidence, c.from)
			}
		})
	}
}

func TestPrune(t *testing.T) {
	list := branches([]float64{0.29, 0.30, 0.59, none, failed, math.NaN()})
	got := explore.Prune(list, explore.Defaults())
	for i, want := range []bool{true, false, false, false, false, false} {
		if got[i].Pruned != want || list[i].Pruned {
			t.Errorf("branch %d: pruned %v, want %v; before %v", i, got[i].Pruned, want, list[i].Pruned)
		}
	}
	if got[0].Reason != "its confidence 0.29 is below 0.3" || got[4].Reason != "it took longer than 30s" {
		t.Errorf("the reasons are %q and %q", got[0].Reason, got[4].Reason)
	}
	lower := explore.Defaults()
	lower.Prune = 0.2
	if again := explore.Prune(got, lower); again[0].Pruned || again[0].Reason != "" {
		t.Errorf("with %v it is %+v", lower.Prune, again[0])
	}
}

func TestSynthesis(t *testing.T) {
	list := branches([]float64{0.7, 0.9, 0.2}, "one", "two <<<>>> three")
	e := explore.Evaluate(explore.Synthesis, list, explore.Defaults())
	if want := "## way 1\n\ntwo <<<>>> three\n\n## way 0\n\none"; e.Result != want {
		t.Errorf("the result is %q, want %q", e.Result, want)
	}
	if math.Abs(*e.Confidence-0.8) > 1e-9 {
		t.Errorf("the confidence is %v", *e.Confidence)
	}
	prompt, ok := explore.SynthesisPrompt("count", list, explore.Defaults())
	if !ok || !strings.Contains(prompt, "<<<<>>>>\ntwo <<<>>> three\n<<<<>>>>\n") || strings.Contains(prompt, "result of c") {
		t.Errorf("the prompt is %v %q", ok, prompt)
	}
	before := len(e.Reasons)
	if made := e.Synthesized("a model", "both"); made.Result != "both" || len(made.Reasons) != before+1 || len(e.Reasons) != before {
		t.Errorf("made: %+v", made)
	}
	if made := e.Synthesized("a model", " \n"); made.Result != e.Result || len(made.Reasons) != before+1 {
		t.Errorf("of no branches: %+v", made)
	}
	if _, ok := explore.SynthesisPrompt("count", list[:1], explore.Defaults()); ok {
		t.Error("a prompt for one part")
	}
	alone := explore.Evaluate(explore.Synthesis, list[:1], explore.Defaults())
	if made := alone.Synthesized("a model", "both"); made.Result != "one" {
		t.Errorf("made of one: %+v", made)
	}
}

func TestParseMethod(t *testing.T) {
	for name, want := range map[string]explore.Method{"best": explore.Best, "consensus": explore.Consensus, "synthesis": explore.Synthesis, "merge": explore.Synthesis} {
		if m, err := explore.ParseMethod(name); m != want || err != nil {
			t.Errorf("%q is %q, %v", name, m, err)
		}
	}
	if _, err := explore.ParseMethod("vote"); err == nil || !strings.Contains(err.Error(), `"vote"`) {
		t.Errorf("the error is %v", err)
	}
}

// FuzzEvaluate: the selected branch counts, and the order of the branches changes nothing
// except for the selection among equal ones.
func FuzzEvaluate(f *testing.F) {
	f.Add(uint64(208), "0 0 0 0 0 0 0 0", uint8(0)) // equal ratings of different confidences
	f.Add(uint64(1), "a b c a b 42 42.0 a", uint8(0))
	f.Add(uint64(7), "", uint8(1))
	f.Add(uint64(9), "the_long_answer the_long_answers x", uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, words string, which uint8) {
		r := rand.New(rand.NewPCG(seed, 0))
		var list []explore.Branch
		for i, w := range strings.Fields(words) {
			if i == 12 {
				break
			}
			b := explore.Branch{ID: fmt.Sprint(i), Strategy: w, Status: []explore.Status{explore.Completed, explore.Completed, explore.Failed, explore.Pending}[r.IntN(4)], Result: w, Pruned: r.IntN(8) == 0}
			c := []float64{0, 0.29, 0.3, 0.5, 0.7, 0.7, 1, math.NaN(), 2, math.Inf(-1)}[r.IntN(10)]
			if r.IntN(5) > 0 {
				b.Confidence = &c
			}
			if r.IntN(2) > 0 {
				b.Metrics = fmt.Appendf(nil, `{"seconds":%d,"score":%v,"n":1}`, r.IntN(4)-1, r.Float64())
			}
			list = append(list, b)
		}
		method := []explore.Method{explore.Best, explore.Consensus, explore.Synthesis}[which%3]
		c := explore.Defaults()
		e := explore.Evaluate(method, list, c)
		pruned := explore.Prune(list, c)
		for _, id := range append([]string{e.Selected}, e.From...) {
			for i, b := range list {
				if b.ID == id && (b.Status != explore.Completed || b.Pruned || pruned[i].Pruned) {
					t.Fatalf("%+v supports the result", b)
				}
			}
		}
		if (e.Confidence == nil) != (len(e.From) == 0) || e.Confidence != nil && !(*e.Confidence >= 0 && *e.Confidence <= 1) {
			t.Fatalf("the confidence is %v of %v", e.Confidence, e.From)
		}
		other := slices.Clone(list)
		r.Shuffle(len(other), func(i, k int) { other[i], other[k] = other[k], other[i] })
		o := explore.Evaluate(method, other, c)
		if o.Fallback != e.Fallback || len(o.From) != len(e.From) || len(o.Reasons) != len(e.Reasons) {
			t.Fatalf("%+v, in another order %+v", e, o)
		}
		if e.Confidence != nil && math.Abs(*e.Confidence-*o.Confidence) > 1e-9 {
			t.Fatalf("the confidence is %v, in another order %v", *e.Confidence, *o.Confidence)
		}
		if e.Fallback == "" && method != explore.Best {
			slices.Sort(e.From)
			slices.Sort(o.From)
			if !slices.Equal(e.From, o.From) {
				t.Fatalf("from %v, in another order %v", e.From, o.From)
			}
		}
	})
}
