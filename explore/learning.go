package explore

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/explore/recognize"
	"github.com/bough-dev/bough/internal/likeness"

	"github.com/bough-dev/bough/internal/plural"
	"github.com/bough-dev/bough/internal/rawjson"
)

// A Learning is the outcome of a branch. The file of learnings has one JSON
// object per line (22.7).
type Learning struct {
	Time        string          `json:"time"`    // when the branch ended
	Context     string          `json:"context"` // the question
	Strategy    string          `json:"strategy"`
	Description string          `json:"description"` // of the strategy
	Confidence  *float64        `json:"confidence"`  // null if there is none
	Success     bool            `json:"success"`
	Metrics     json.RawMessage `json:"metrics"` // an object, or null
	Insights    []string        `json:"insights"`
	Seconds     float64         `json:"seconds"` // duration of the branch
	Exploration string          `json:"exploration_id"`
	Branch      string          `json:"branch_id"`
}

// Encode returns l as a line with its line break. It omits an invalid
// confidence, duration or metrics.
func (l Learning) Encode() []byte {
	l = l.tidy()
	return append(rawjson.Compact(l), '\n')
}

func (l Learning) tidy() Learning {
	if _, said := confidence(l.Confidence); !said {
		l.Confidence = nil
	}
	if !(l.Seconds >= 0 && l.Seconds < 1e12) {
		l.Seconds = 0
	}
	var compact bytes.Buffer
	if !bytes.HasPrefix(bytes.TrimSpace(l.Metrics), []byte("{")) || json.Compact(&compact, l.Metrics) != nil {
		l.Metrics = json.RawMessage("null")
	} else {
		l.Metrics = compact.Bytes()
	}
	if l.Insights == nil {
		l.Insights = []string{}
	}
	return l
}

// A skippedLine is a line that is not a learning.
type skippedLine struct {
	Line    int    `json:"line"` // from 1
	Problem string `json:"problem"`
}

// decodeLearnings parses the file of learnings. A line that is not a learning, such as a torn
// last one, is skipped; an unknown member is ignored.
func decodeLearnings(data []byte) (list []Learning, skipped []skippedLine) {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		l, err := decodeLearning(text)
		if err != nil {
			problem := err.Error()
			if !bytes.HasSuffix(line, []byte("\n")) {
				problem = "the last line is torn: " + problem
			}
			skipped = append(skipped, skippedLine{n, problem})
			continue
		}
		list = append(list, l)
	}
	return list, skipped
}

func decodeLearning(line []byte) (Learning, error) {
	var l Learning
	if err := rawjson.Check(line); err != nil {
		return l, err
	}
	if line[0] != '{' {
		return l, errors.New("not a JSON object")
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return l, fmt.Errorf("not a learning: %v", err)
	}
	if strings.TrimSpace(l.Strategy) == "" || l.Branch == "" {
		return l, errors.New("not a learning: strategy or branch_id is missing")
	}
	return l.tidy(), nil
}

// A Similar is a learning with the similarity of its context to another text.
type Similar struct {
	Learning
	Similarity float64 `json:"similarity"` // from 0 to 1
}

// minSimilarity is the least similarity of contexts that count. Unrelated
// English sentences have about 0.2.
const minSimilarity = 0.4

// FindSimilar returns up to n learnings whose contexts are similar to a text,
// most similar first, and newest first if equal.
func FindSimilar(context string, learnings []Learning, n int) []Similar {
	key := likeness.Normal(clip(context))
	known := map[string]float64{} // the branches of an exploration share their context
	var list []Similar
	for _, l := range slices.Backward(learnings) {
		like, ok := known[l.Context]
		if !ok {
			like = likeness.Overlap(key, likeness.Normal(clip(l.Context)))
			known[l.Context] = like
		}
		if key != "" && like >= minSimilarity {
			list = append(list, Similar{l, like})
		}
	}
	slices.SortStableFunc(list, func(a, b Similar) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return list[:min(max(n, 0), len(list))]
}

// A RankedStrategy is a strategy whose confidence was adjusted by past
// outcomes.
type RankedStrategy struct {
	recognize.Offer
	Was    float64 `json:"was"`    // the confidence before
	Reason string  `json:"reason"` // for the confidence and the rank, in words; may be ""
}

// rank sorts strategies: those that c prefers first, then by confidence. Past
// outcomes change a strategy's confidence by up to 0.2, according to their rate
// of success; few outcomes and less similar contexts have less weight. If
// c.LearnFromFailures is not set, failures are ignored. The result is never
// nil.
func rank(strategies []recognize.Offer, similar []Similar, c Config) []RankedStrategy {
	const swing = 0.4
	list := []RankedStrategy{}
	for _, s := range strategies {
		if !unit(s.Confidence) {
			s.Confidence = neutral
		}
		a := RankedStrategy{Offer: s, Was: s.Confidence}
		won, weight, good, runs := 0.0, 0.0, 0, 0
		for _, l := range similar {
			if !l.Success && !c.LearnFromFailures || !unit(l.Similarity) || !likeness.SameName(l.Strategy, s.Name) {
				continue
			}
			runs++
			weight += l.Similarity
			if l.Success {
				good++
				won += l.Similarity
			}
		}
		if runs > 0 {
			rate := (won + 1) / (weight + 2) // Laplace smoothing
			a.Confidence = min(max(s.Confidence+swing*(rate-0.5), 0), 1)
			a.Reason = fmt.Sprintf("%d of %s in similar contexts succeeded: confidence %.2f, was %.2f", good, plural.Of(runs, "run"), a.Confidence, a.Was)
		}
		list = append(list, a)
	}
	preference := func(a RankedStrategy) int {
		i := slices.IndexFunc(c.Prefer, func(name string) bool { return likeness.SameName(name, a.Name) })
		if i < 0 {
			return len(c.Prefer)
		}
		return i
	}
	for i := range list {
		if preference(list[i]) < len(c.Prefer) {
			list[i].Reason = strings.TrimPrefix(list[i].Reason+"; it is preferred", "; ")
		}
	}
	slices.SortStableFunc(list, func(a, b RankedStrategy) int {
		return cmp.Or(cmp.Compare(preference(a), preference(b)), cmp.Compare(b.Confidence, a.Confidence))
	})
	return list
}

// Statistics summarize the learnings of one strategy, under its latest name.
type Statistics struct {
	Strategy   string   `json:"strategy"`
	Runs       int      `json:"runs"`
	Succeeded  int      `json:"succeeded"`
	Rate       float64  `json:"rate"`       // Succeeded divided by Runs
	Seconds    float64  `json:"seconds"`    // mean duration of a run
	Confidence *float64 `json:"confidence"` // mean of the runs that have one, null if none has
}

// statistics returns the statistics of each strategy, the most successful
// first. Strategies whose names differ only in case and punctuation are one.
// The result is never nil.
func statistics(learnings []Learning) []Statistics {
	type sum struct {
		Statistics
		seconds, confidence float64
		confident           int
	}
	var sums []sum
	at := map[string]int{}
	for _, l := range learnings {
		l = l.tidy()
		key := likeness.Normal(l.Strategy)
		i, ok := at[key]
		if !ok {
			i = len(sums)
			at[key], sums = i, append(sums, sum{})
		}
		s := &sums[i]
		s.Strategy = l.Strategy
		s.Runs++
		if l.Success {
			s.Succeeded++
		}
		s.seconds += l.Seconds
		if l.Confidence != nil {
			s.confidence += *l.Confidence
			s.confident++
		}
	}
	list := []Statistics{}
	for _, s := range sums {
		s.Rate = float64(s.Succeeded) / float64(s.Runs)
		s.Seconds = s.seconds / float64(s.Runs)
		if s.confident > 0 {
			mean := s.confidence / float64(s.confident)
			s.Confidence = &mean
		}
		list = append(list, s.Statistics)
	}
	slices.SortStableFunc(list, func(a, b Statistics) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Strategy, b.Strategy))
	})
	return list
}

// clip returns the part of a text that is compared.
func clip(s string) string {
	const most = 1000
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}
