package recognize

import (
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/likeness"
)

// A cue is a phrase that makes it more, or less, likely that the names near it
// are strategies.
type cue struct {
	words  string // normalized
	weight float64
}

// The score of a group is start plus the following weights.
const (
	start      = 0.3
	labelled   = 0.55 // all are called "Option A", "Approach 2"
	bold       = 0.05 // all names are bold
	counted    = 0.1  // as many as announced
	asked      = 0.15 // the reply recommends one, or asks for a choice
	askedWhich = 0.35 // the reply asks which one to take
	crowd      = -0.4 // there are more names than many
	many       = 12
)

// cues returns the cues for the text before a group. The strongest positive and the strongest
// negative one count.
func cues() []cue {
	return []cue{
		{"approaches", 0.45}, {"options", 0.45}, {"alternatives", 0.45}, {"strategies", 0.45},
		{"ways", 0.4}, {"possibilities", 0.4}, {"solutions", 0.4}, {"choices", 0.4}, {"methods", 0.35},
		{"paths", 0.35}, {"routes", 0.35}, {"directions", 0.3}, {"designs", 0.35}, {"proposals", 0.4}, {"candidates", 0.3},
		{"ideas", 0.3}, {"variants", 0.35}, {"techniques", 0.3}, {"architectures", 0.35}, {"either", 0.4},
		{"one of the following", 0.4}, {"choose between", 0.45}, {"trade offs", 0.2}, {"tradeoffs", 0.2},
		{"which of these", 0.4}, {"could", 0.15}, {"might", 0.1}, {"consider", 0.15},
		{"fixes", 0.35}, {"ways out", 0.45}, {"more than one way", 0.45}, {"plans", 0.25}, {"versions", 0.3}, {"rewrites", 0.35}, {"drafts", 0.3},
		{"candidate", 0.35}, {"suggestions", 0.3}, {"alternative", 0.35},
		{"could work", 0.4}, {"would work", 0.4}, {"might work", 0.4}, {"might try", 0.35}, {"could try", 0.4}, {"could go", 0.35}, {"go either way", 0.4},
		{"one of these", 0.45}, {"one of two", 0.45}, {"choose one", 0.5}, {"choose from", 0.4}, {"pick one", 0.45}, {"pick something", 0.4}, {"pick from", 0.4},
		{"decide on", 0.35}, {"decide between", 0.45}, {"the decision", 0.35}, {"the choice", 0.4}, {"your choice", 0.4}, {"a choice", 0.4},
		{"torn between", 0.45}, {"trade off", 0.3}, {"id consider", 0.35}, {"id explore", 0.35},

		{"step", -0.6}, {"steps", -0.6}, {"ingredients", -0.8}, {"todo", -0.7}, {"to do list", -0.7}, {"things to do", -0.5}, {"left to do", -0.5}, {"tasks", -0.6},
		{"checklist", -0.7}, {"changes", -0.5}, {"changed", -0.5}, {"files", -0.4}, {"you need", -0.5}, {"you will need", -0.6},
		{"requirements", -0.5}, {"prerequisites", -0.6}, {"tests", -0.3}, {"errors", -0.4}, {"issues", -0.3}, {"bugs", -0.4},
		{"reasons", -0.6}, {"summary", -0.4}, {"i have", -0.4}, {"ive", -0.4}, {"i did", -0.5}, {"features", -0.4},
		{"benefits", -0.5}, {"advantages", -0.5}, {"disadvantages", -0.5}, {"pros", -0.6}, {"cons", -0.6},
		{"results", -0.4}, {"notes", -0.4}, {"flags", -0.6}, {"accepts", -0.6}, {"takes", -0.5}, {"command line", -0.5},
		{"supports", -0.5}, {"tried", -0.5}, {"all of", -0.4}, {"in order", -0.5}, {"in this order", -0.5},
		{"questions", -0.5}, {"contains", -0.4}, {"includes", -0.4}, {"settings", -0.4}, {"arguments", -0.5},
		{"installation", -0.6}, {"instructions", -0.6}, {"procedure", -0.6}, {"timeline", -0.6}, {"usage", -0.5},
		{"risks", -0.5}, {"causes", -0.5}, {"problems", -0.4}, {"findings", -0.5}, {"references", -0.6}, {"stages", -0.5}, {"ingredient", -0.6},
		{"found", -0.4}, {"i made", -0.5}, {"made two", -0.4}, {"wrong", -0.4}, {"i considered", -0.4}, {"implemented", -0.4}, {"said", -0.4}, {"wrote", -0.4},
		{"discussed", -0.5}, {"kinds", -0.4}, {"removed", -0.5}, {"dependencies", -0.3}, {"schedule", -0.5}, {"tips", -0.4}, {"important", -0.3}, {"levels", -0.4},
		{"ways it", -0.5}, {"ways in which", -0.5}, {"configuration", -0.4}, {"ruled out", -0.6},
	}
}

// heard returns the weight of the cues in a text, and the number of items that
// it announces, 0 for none.
func heard(text string) (weight float64, announced int) {
	words := " " + likeness.Normal(text) + " "
	high, low := 0.0, 0.0
	for _, c := range cues() {
		if strings.Contains(words, " "+c.words+" ") {
			high, low = max(high, c.weight), min(low, c.weight)
		}
	}
	if high > 0 {
		for _, w := range strings.Fields(words) {
			if n := numeral(w); n > 1 && announced == 0 {
				announced = n
			}
		}
	}
	if fields := strings.Fields(words); len(fields) > 0 && len(fields) <= 7 {
		// These words have less weight in a longer sentence.
		switch {
		case len(fields) < 4 && slices.Contains(fields, "dont"):
			low = min(low, -0.3)
		case oneOf(fields[0], "possible", "potential", "instead"):
			high = max(high, 0.35)
		}
	}
	return high + low, announced
}

func numeral(w string) int {
	for i, name := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"} {
		if w == name || w == "1234567891"[i:i+1] && i < 9 {
			return i + 1
		}
	}
	switch w {
	case "both", "couple":
		return 2
	}
	return 0
}

// weigh returns the score of names, given the text before, above and after
// them.
func weigh(names []string, before, above, after string) float64 {
	score := start
	weight, announced := heard(lastSentence(before))
	if weight == 0 {
		weight, announced = heard(before)
	}
	if more, n := heard(above); weight == 0 || weight > 0 && more > weight {
		weight = more
		if announced == 0 {
			announced = n
		}
	}
	score += weight
	if announced == len(names) {
		score += counted
	}
	score += chooses(after)
	if len(names) > many {
		score += crowd
	}
	odd := map[string]int{}
	for _, n := range names {
		odd[character(n)]++
	}
	for kind, penalty := range map[string]float64{"step": 0.6, "done": 0.6, "amount": 0.6, "box": 1, "part": 0.4} {
		if kind == "box" && weight >= 0.3 {
			continue // options may have check boxes too
		}
		if 3*odd[kind] >= len(names) && odd[kind] > 0 {
			score -= penalty
		}
	}
	return score
}

// chooses returns the weight of the text after a group if it asks for a choice.
func chooses(after string) float64 {
	words := " " + likeness.Normal(after) + " "
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(words, " "+w+" ") })
	}
	switch {
	case has("which approach", "which option", "which of these", "which of the", "which one", "which way", "which direction", "which would you"):
		return askedWhich
	case has("recommend", "prefer", "your call", "pick", "choose", "i would go with", "id go with", "let me know which", "i suggest", "best option", "tell me which"):
		return asked
	}
	return 0
}

// character returns what a name is if it is not a strategy: a step, a completed change ("done"),
// an amount, a check box, or a part of a text; otherwise "".
func character(name string) string {
	if strings.HasPrefix(name, "[ ]") || strings.HasPrefix(strings.ToLower(name), "[x]") {
		return "box"
	}
	words := strings.Fields(likeness.Normal(unmark(name)))
	if len(words) == 0 {
		return ""
	}
	switch words[0] {
	case "first", "firstly", "second", "secondly", "then", "next", "finally", "lastly", "afterwards", "step", "phase", "day", "week":
		return "step"
	case "added", "fixed", "updated", "removed", "changed", "refactored", "implemented", "moved", "renamed", "created", "replaced", "improved":
		return "done"
	}
	if r := rune(words[0][0]); digit(r) && len(words) > 1 {
		return "amount"
	}
	if len(words) <= 3 {
		for _, w := range words {
			switch w {
			case "pros", "cons", "advantages", "disadvantages", "benefits", "drawbacks", "summary", "conclusion", "recommendation",
				"overview", "background", "comparison", "introduction", "context", "note", "notes", "example", "examples", "usage",
				"tradeoffs", "verdict", "problem", "goal", "caveat", "caveats", "effort", "risk", "risks", "complexity", "warning", "important":
				return "part"
			}
		}
	}
	return ""
}
