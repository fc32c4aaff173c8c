package explore_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/bough-dev/bough/explore"
)

// TestMetrics: metrics count beside the confidence if two branches have them and their
// direction is known.
func TestMetrics(t *testing.T) {
	for _, c := range []struct {
		name        string
		settings    string // of metrics
		confidences []float64
		metrics     []string
		selected    string
		counted     string
		reason      string
	}{
		{"lower is better", `{}`, []float64{0.9, 0.8}, []string{`{"seconds":10}`, `{"seconds":2}`}, "b1", "seconds", "way 1 is rated 0.9: confidence 0.8, seconds 2 (lower is better)"},
		{"higher is better", `{}`, []float64{0.9, 0.8}, []string{`{"testsPassed":3}`, `{"testsPassed":12}`}, "b1", "testsPassed", "highest rating 0.9"},
		{"truth", `{}`, []float64{0.9, 0.8}, []string{`{"ok":false}`, `{"ok":true}`}, "b1", "ok", ""},
		{"two", `{}`, []float64{0.9, 0.8}, []string{`{"errors":0,"lines":4}`, `{"errors":3,"lines":4}`}, "b0", "errors lines", ""},
		{"the difference is small", `{}`, []float64{0.9, 0.8}, []string{`{"seconds":101}`, `{"seconds":100}`}, "b0", "seconds", ""},
		{"none has it", `{}`, []float64{0.9, 0.8}, []string{``, ``}, "b0", "", "highest confidence 0.9"},
		{"one has it", `{}`, []float64{0.9, 0.8}, []string{``, `{"seconds":1}`}, "b0", "", "highest confidence 0.9"},
		{"two of three", `{}`, []float64{0.8, 0.8, 0.8}, []string{``, `{"seconds":1}`, `{"seconds":9}`}, "b1", "seconds", "way 0 is rated 0.65: confidence 0.8, no metrics"},
		{"an unknown name", `{}`, []float64{0.9, 0.8}, []string{`{"n":10}`, `{"n":2}`}, "b0", "", ""},
		{"a contradictory name", `{}`, []float64{0.9, 0.8}, []string{`{"lines_covered":1}`, `{"lines_covered":9}`}, "b0", "", ""},
		{"no number", `{}`, []float64{0.9, 0.8}, []string{`{"seconds":"10"}`, `{"seconds":"2"}`}, "b0", "", ""},
		{"a setting", `{"n":"lower"}`, []float64{0.9, 0.8}, []string{`{"n":10}`, `{"n":2}`}, "b1", "n", ""},
		{"a setting over a name", `{"seconds":"higher"}`, []float64{0.8, 0.8}, []string{`{"seconds":10}`, `{"seconds":2}`}, "b0", "seconds", ""},
		{"ignored", `{"seconds":"ignore"}`, []float64{0.9, 0.8}, []string{`{"seconds":10}`, `{"seconds":2}`}, "b0", "", ""},
		{"negative", `{"gain":"higher"}`, []float64{0.8, 0.8}, []string{`{"gain":-3}`, `{"gain":-1}`}, "b1", "gain", ""},
		{"not without a result", `{}`, []float64{0.7, 0.8, failed}, []string{`{"seconds":10}`, ``, `{"seconds":1}`}, "b1", "", ""},
		{"not of the pruned", `{}`, []float64{0.7, 0.8, 0.1}, []string{`{"seconds":10}`, ``, `{"seconds":1}`}, "b1", "", "below 0.3"},
		{"no object", `{}`, []float64{0.9, 0.8}, []string{`[1]`, `{`}, "b0", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := branches(c.confidences)
			for i, m := range c.metrics {
				list[i].Metrics = json.RawMessage(m)
			}
			config, err := explore.Merge(nil, nil, []byte(`{"metrics":`+c.settings+`}`))
			if err != nil {
				t.Fatal(err)
			}
			e := explore.Evaluate(explore.Best, list, config)
			if e.Selected != c.selected || strings.Join(e.Metrics, " ") != c.counted {
				t.Errorf("got %s by %q, want %s by %q: %q", e.Selected, e.Metrics, c.selected, c.counted, e.Reasons)
			}
			if !strings.Contains(strings.Join(e.Reasons, "\n"), c.reason) {
				t.Errorf("the reasons %q do not have %q", e.Reasons, c.reason)
			}
		})
	}
}

// TestMetricsOfConsensus: the best rated branch of those that agree is selected, and the
// stored confidence does not include the metrics.
func TestMetricsOfConsensus(t *testing.T) {
	list := branches([]float64{0.9, 0.8, 0.9}, "42", "42", "41")
	for i, m := range []string{`{"seconds":10}`, `{"seconds":1}`, `{"seconds":1}`} {
		list[i].Metrics = json.RawMessage(m)
	}
	e := explore.Evaluate(explore.Consensus, list, explore.Defaults())
	if e.Selected != "b1" || e.Result != "42" || math.Abs(*e.Confidence-0.85) > 1e-9 {
		t.Errorf("got %+v with the confidence %v", e, *e.Confidence)
	}
}

func TestMetricsSetting(t *testing.T) {
	for _, wrong := range []string{`{"metrics":{"n":"up"}}`, `{"metrics":["n"]}`, `{"metrics":null}`, `{"metrics":{"n":1}}`} {
		if c, err := explore.Merge(nil, nil, []byte(wrong)); err == nil || !strings.Contains(err.Error(), "metrics") {
			t.Errorf("%s is %+v, %v", wrong, c.Metrics, err)
		}
	}
	c, err := explore.Merge([]byte(`{"metrics":{"n":"lower"}}`), nil, []byte(`{"metrics":{"m":"higher"}}`))
	if err != nil || len(c.Metrics) != 1 || c.Metrics["m"] != explore.Higher {
		t.Errorf("got %v, %v", c.Metrics, err)
	}
}

// TestMetricsOfOlderFile: an evaluation without metrics has an empty list of them.
func TestMetricsOfOlderFile(t *testing.T) {
	e, err := explore.Decode([]byte(`{"id":"e","session_id":"s","parent_node_id":"m","evaluation":{"strategy":"best"}}`))
	if err != nil || e.Evaluation.Metrics == nil {
		t.Errorf("got %+v, %v", e, err)
	}
}
