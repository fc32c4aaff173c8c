package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A Direction is whether higher or lower values of a metric are better.
type Direction string

const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
	Ignore Direction = "ignore" // the metric is ignored
)

// rate sets the rating of each voice, and returns the names of the metrics
// used: those with a direction that are numbers or booleans in at least two
// voices. A rating is the confidence, or its mean with the mean share of the
// metrics.
func rate(voices []voice, c Config) []string {
	values := make([]map[string]float64, len(voices))
	have := map[string]int{}
	for i, v := range voices {
		values[i] = numbersOf(v.Metrics)
		for name := range values[i] {
			have[name]++
		}
	}
	counting := []string{}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if d := directionOf(name, c); have[name] > 1 && (d == Higher || d == Lower) {
			counting = append(counting, name)
		}
	}
	for i := range voices {
		voices[i].rating = voices[i].confidence
	}
	if len(counting) == 0 {
		return counting
	}
	sums := make([]float64, len(voices))
	for _, name := range counting {
		shares := sharesOf(values, name, directionOf(name, c))
		for i := range sums {
			sums[i] += shares[i]
		}
	}
	for i := range voices {
		voices[i].rating = (voices[i].confidence + sums[i]/float64(len(counting))) / 2
	}
	return counting
}

// numbersOf returns the members of metrics that are numbers, true (1) or false (0).
func numbersOf(metrics json.RawMessage) map[string]float64 {
	var members map[string]any
	if !bytes.HasPrefix(bytes.TrimSpace(metrics), []byte("{")) || json.Unmarshal(metrics, &members) != nil {
		return nil
	}
	list := map[string]float64{}
	for name, value := range members {
		switch v := value.(type) {
		case float64:
			list[name] = v
		case bool:
			list[name] = 0
			if v {
				list[name] = 1
			}
		}
	}
	return list
}

// sharesOf returns each value of a metric as a share of the best one, from 0 to 1. Without a
// value it is 0.5.
func sharesOf(values []map[string]float64, name string, d Direction) []float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if x, ok := v[name]; ok {
			least, most = min(least, x), max(most, x)
		}
	}
	shares := make([]float64, len(values))
	for i, v := range values {
		x, ok := v[name]
		switch {
		case !ok:
			shares[i] = 0.5
		case least == most:
			shares[i] = 1
		case least < 0 && d == Lower:
			shares[i] = min(max((most/2-x/2)/(most/2-least/2), 0), 1)
		case least < 0:
			shares[i] = min(max((x/2-least/2)/(most/2-least/2), 0), 1)
		case d == Lower && least == 0:
			shares[i] = 1 / (1 + x)
		case d == Lower:
			shares[i] = least / x
		default:
			shares[i] = x / most
		}
	}
	return shares
}

// directionOf returns the direction of a metric: that in c.Metrics, else that
// of a word in its name, else "".
func directionOf(name string, c Config) Direction {
	if d, ok := c.Metrics[name]; ok {
		return d
	}
	var found Direction
	for _, w := range nameWords(name) {
		d := wordDirection(w)
		if d != "" && found != "" && d != found {
			return ""
		}
		if d != "" {
			found = d
		}
	}
	return found
}

func wordDirection(w string) Direction {
	switch w {
	case "score", "accuracy", "passed", "passes", "passing", "success", "succeeded", "successes", "coverage", "covered", "throughput", "quality", "precision", "recall", "f1", "ok", "speedup":
		return Higher
	case "seconds", "second", "secs", "ms", "millis", "milliseconds", "ns", "time", "duration", "latency", "elapsed", "errors", "error", "failed", "failures", "failing", "fails", "warnings",
		"cost", "costs", "price", "bytes", "size", "memory", "lines", "loc", "complexity", "allocs", "allocations", "retries", "tokens", "issues", "violations", "loss", "risk":
		return Lower
	}
	return ""
}

// nameWords returns the words of a name such as "testSeconds" or
// "test_seconds", in lower case.
func nameWords(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	upper := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && !upper:
			flush()
			fallthrough
		default:
			word = append(word, r)
		}
		upper = unicode.IsUpper(r)
	}
	flush()
	return words
}

// addRatings adds the ratings that use metrics to the reasons.
func (e *Evaluation) addRatings(voices []voice, c Config) {
	for _, v := range voices {
		values := numbersOf(v.Metrics)
		var list []string
		for _, name := range e.Metrics {
			if x, ok := values[name]; ok {
				list = append(list, fmt.Sprintf("%s %s (%s is better)", name, figure(x), directionOf(name, c)))
			}
		}
		if len(list) == 0 {
			list = append(list, "no metrics")
		}
		e.say("%s is rated %s: confidence %s, %s", called(v.Branch), figure(v.rating), figure(v.confidence), strings.Join(list, ", "))
	}
}
