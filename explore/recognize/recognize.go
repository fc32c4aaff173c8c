// Package recognize finds the strategies that a reply offers to choose from.
package recognize

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/internal/likeness"
)

// A Strategy is a way to go about something.
type Strategy struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// A Found is a strategy that a reply names.
type Found struct {
	Strategy
	Confidence float64 `json:"confidence"` // that it is one of several ways, and not a thing in a list
	Rule       string  `json:"rule"`       // where it was found: headings, list or sentence
}

const (
	MaxReply  = 64 << 10 // bytes of a reply that are looked at: the parser takes two seconds for so many brackets
	mostNamed = 64       // strategies
	mostName  = 80       // characters of a name
	oneIsNone = 0.3      // the most that a single way is worth: there is nothing to choose
)

// Reply returns the strategies that a reply, Markdown, offers to choose from, in
// its order, and how sure it is that it offers a choice at all, from 0 to 1. What looks
// most like a choice is taken: headings or bold words that begin paragraphs, a list, or a
// sentence that names several. Names that are nearly the same are one. A list of steps
// or ingredients is returned too, with a low confidence.
func Reply(reply string) ([]Found, float64) {
	if len(reply) > MaxReply {
		reply = reply[:MaxReply]
	}
	list := blocks(reply)
	var best group
	for _, g := range slices.Concat(headed(list), listed(list), spoken(list)) {
		g.settle()
		if len(g.named) > 0 && (best.named == nil || g.score > best.score+0.001) {
			best = g
		}
	}
	return best.found(), best.score
}

// Settle returns the strategies that another program found in a reply, and their
// confidence, as [Reply] returns those that it finds: without duplicates, and with a low
// confidence if there is only one.
func Settle(strategies []Strategy, confidence float64, rule string) ([]Found, float64) {
	g := group{rule: rule, named: strategies, score: confidence}
	g.settle()
	return g.found(), g.score
}

// A group is what a reply names together.
type group struct {
	rule  string
	named []Strategy
	score float64
}

func (g group) found() []Found {
	var list []Found
	for _, n := range g.named {
		list = append(list, Found{Strategy: n, Confidence: g.score, Rule: g.rule})
	}
	return list
}

// settle drops what has no name and what is named before, and brings the score into its limits.
func (g *group) settle() {
	var kept []Strategy
	for _, n := range g.named {
		n.Name, n.Description = strings.TrimRight(oneLine(n.Name), " :.;,"), oneLine(n.Description)
		if strings.IndexFunc(n.Name, func(r rune) bool { return letter(r) || unicode.IsDigit(r) }) < 0 || len(kept) == mostNamed {
			continue
		}
		i := slices.IndexFunc(kept, func(k Strategy) bool { return likeness.SameName(k.Name, n.Name) })
		if i < 0 {
			kept = append(kept, n)
		} else if len(n.Description) > len(kept[i].Description) {
			kept[i].Description = n.Description
		}
	}
	g.named = kept
	g.score = min(max(g.score, 0), 0.95)
	if len(kept) < 2 {
		g.score = min(g.score, oneIsNone)
	}
}

// A cue is words that say what the things named with them are.
type cue struct {
	words  string // normal
	weight float64
}

// A group begins at start, and what follows adds to that.
const (
	start      = 0.3
	labelled   = 0.55 // all are called "Option A", "Approach 2"
	bold       = 0.05 // all have a name in bold
	counted    = 0.1  // as many as were announced
	asked      = 0.15 // the reply recommends one, or has its reader choose
	askedWhich = 0.35 // it asks which one
	crowd      = -0.4 // more than anybody chooses from
	many       = 12
)

// cues returns what may stand in the words before a group. The strongest of either kind counts.
func cues() []cue {
	return []cue{
		{"approaches", 0.45}, {"options", 0.45}, {"alternatives", 0.45}, {"strategies", 0.45},
		{"ways", 0.4}, {"possibilities", 0.4}, {"solutions", 0.4}, {"choices", 0.4}, {"methods", 0.35},
		{"paths", 0.35}, {"routes", 0.35}, {"directions", 0.3}, {"designs", 0.35}, {"proposals", 0.4}, {"candidates", 0.3},
		{"ideas", 0.3}, {"variants", 0.35}, {"techniques", 0.3}, {"architectures", 0.35}, {"either", 0.4},
		{"one of the following", 0.4}, {"choose between", 0.45}, {"trade offs", 0.2}, {"tradeoffs", 0.2},
		{"which of these", 0.4}, {"could", 0.15}, {"might", 0.1}, {"consider", 0.15},

		{"step", -0.6}, {"steps", -0.6}, {"ingredients", -0.8}, {"todo", -0.7}, {"to do", -0.5}, {"tasks", -0.6},
		{"checklist", -0.7}, {"changes", -0.5}, {"changed", -0.5}, {"files", -0.4}, {"you need", -0.5}, {"you will need", -0.6},
		{"requirements", -0.5}, {"prerequisites", -0.6}, {"tests", -0.3}, {"errors", -0.4}, {"issues", -0.3}, {"bugs", -0.4},
		{"reasons", -0.6}, {"summary", -0.4}, {"i have", -0.4}, {"ive", -0.4}, {"i did", -0.5}, {"features", -0.4},
		{"benefits", -0.5}, {"advantages", -0.5}, {"disadvantages", -0.5}, {"pros", -0.6}, {"cons", -0.6},
		{"results", -0.4}, {"notes", -0.4}, {"flags", -0.6}, {"accepts", -0.6}, {"takes", -0.5}, {"command line", -0.5},
		{"supports", -0.5}, {"tried", -0.5}, {"all of", -0.4}, {"in order", -0.5}, {"in this order", -0.5},
		{"questions", -0.5}, {"contains", -0.4}, {"includes", -0.4}, {"settings", -0.4}, {"arguments", -0.5},
		{"installation", -0.6}, {"instructions", -0.6}, {"procedure", -0.6}, {"timeline", -0.6}, {"usage", -0.5},
		{"ways it", -0.5}, {"ways in which", -0.5}, {"configuration", -0.4}, {"dont", -0.3}, {"ruled out", -0.6},
	}
}

// heard returns what the cues in a text weigh, and how many things it announces, 0 for none.
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

// weigh returns the score of names with the words that stand before, above and after them.
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
		if 3*odd[kind] >= len(names) && odd[kind] > 0 {
			score -= penalty
		}
	}
	return score
}

// chooses returns what the words after a group weigh if they have its reader choose.
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

// character returns what a name is, if it is no way to go: a step, a thing that was done,
// an amount of something, a box to tick, or a part of a text.
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

// headed returns the groups of sections, whose names are headings, or the bold words
// that paragraphs begin with.
func headed(list []block) []group {
	const boldLevel = 7 // below all headings
	levelOf := func(b block) int {
		if b.level == 0 && b.lead != "" {
			return boldLevel
		}
		return b.level
	}
	var groups []group
	for level := 1; level <= boldLevel; level++ {
		for i := 0; i < len(list); i++ {
			if levelOf(list[i]) != level {
				continue
			}
			var sections []Strategy
			var names []string
			var labels []bool
			k := i
			for k < len(list) {
				b := list[k]
				if l := levelOf(b); l != level && l > 0 && l < level {
					break
				} else if l != level {
					k++
					continue
				}
				head, said := b.text, ""
				if level == boldLevel {
					head, said = b.lead, afterLead(b.text, b.lead)
				}
				rest, label := unlabel(head)
				s := Strategy{Name: rest, Description: said}
				if level == boldLevel && said != "" && len(likeness.Normal(rest)) < 10 && label {
					s = named(said) // **Option A:** what it is
				}
				for k++; k < len(list) && levelOf(list[k]) != level && (list[k].level == 0 || list[k].level > level); k++ {
					if s.Description == "" {
						s.Description = list[k].text
					}
				}
				sections, names, labels = append(sections, s), append(names, head), append(labels, label)
			}
			groups = append(groups, section(sections, names, labels, around(list, i, k)))
			i = k - 1
		}
	}
	return groups
}

// surroundings are the words that stand around a group.
type surroundings struct{ before, above, after string }

// around returns those of the blocks from i up to k.
func around(list []block, i, k int) (s surroundings) {
	if i > 0 && list[i-1].items == nil {
		s.before = list[i-1].text
	}
	for j := i - 1; j >= 0; j-- {
		if list[j].level > 0 && (list[i].level == 0 || list[j].level < list[i].level) {
			s.above = list[j].text
			break
		}
	}
	for j := k; j < len(list) && j < k+2; j++ {
		s.after += " " + list[j].text
	}
	if k == len(list) && k > 0 {
		s.after = list[k-1].text // what follows the last section is in it
	}
	return s
}

// section returns a group of named things. If some are labelled the others are not meant.
func section(all []Strategy, names []string, labels []bool, a surroundings) group {
	with := 0
	for _, l := range labels {
		if l {
			with++
		}
	}
	g := group{rule: "headings"}
	var kept []string
	for i := range all {
		if with >= 2 && !labels[i] || with < 2 && character(names[i]) == "part" {
			continue
		}
		g.named, kept = append(g.named, all[i]), append(kept, names[i])
	}
	if len(kept) == 0 {
		return g
	}
	g.score = weigh(kept, a.before, a.above, a.after)
	if with >= 2 {
		g.score = max(g.score, start) + labelled
	}
	return g
}

// listed returns the groups of lists. Lists that nothing but paragraphs keeps apart, and that have
// one thing each, are one: so a numbered list is read whose paragraphs are not indented.
func listed(list []block) []group {
	var groups []group
	for i := 0; i < len(list); i++ {
		if list[i].items == nil {
			continue
		}
		items := slices.Clone(list[i].items)
		k := i + 1
		for len(list[i].items) == 1 {
			next := k
			for next < len(list) && next < k+3 && list[next].items == nil && list[next].level == 0 {
				next++
			}
			if next >= len(list) || len(list[next].items) != 1 {
				break
			}
			items = append(items, list[next].items[0])
			k = next + 1
		}
		var all []Strategy
		var names []string
		var labels []bool
		leads := true
		for _, it := range items {
			text := it.text
			rest, label := unlabel(text)
			var s Strategy
			if it.lead != "" {
				said := afterLead(text, it.lead)
				name, bare := unlabel(it.lead)
				s = Strategy{Name: name, Description: said}
				if bare && said != "" && len(likeness.Normal(name)) < 10 {
					s = named(said)
				}
				label = label || bare
			} else {
				s, leads = named(rest), false
			}
			if s.Description == "" {
				s.Description = it.more
			}
			all, names, labels = append(all, s), append(names, text), append(labels, label)
		}
		g := section(all, names, labels, around(list, i, k))
		g.rule = "list"
		if leads && g.score > start {
			g.score += bold
		}
		groups = append(groups, g)
		i = k - 1
	}
	return groups
}

// spoken returns the groups that sentences name.
func spoken(list []block) []group {
	var groups []group
	var labels, others []Strategy
	sure := false // that the others are meant to be chosen from
	for _, b := range list {
		if b.text == "" || b.level > 0 {
			continue
		}
		for _, s := range sentences(b.text) {
			if rest, ok := unlabel(s); ok {
				rest, _ = cutPrefixes(rest, "is to", "would be to", "is", "would be")
				labels = append(labels, named(rest))
			}
			if rest, ok := cutPrefixes(s, "one option is", "one approach is", "one way is", "one possibility is", "one option would be", "one approach would be",
				"another option is", "another approach is", "another way is", "another is", "another option would be", "another would be", "another possibility is",
				"alternatively", "a third option is", "a third is", "the other option is", "the other is", "or we could", "or you could",
				"we could also", "you could also", "we could", "you could", "i could"); ok {
				sure = sure || !startsWith(s, "we could", "you could", "i could", "or we could", "or you could")
				rest, _ = cutPrefixes(rest, "to", "we could", "you could")
				others = append(others, named(rest))
			}
			if g := enumerated(s); len(g.named) > 1 {
				groups = append(groups, g)
			}
		}
	}
	score := start
	if sure {
		score += 0.4
	}
	return append(groups,
		group{"sentence", labels, start + labelled},
		group{"sentence", others, score})
}

// enumerated returns what a sentence names after words as "three approaches:", between
// either and or, or asks about.
func enumerated(s string) group {
	g := group{rule: "sentence"}
	head, tail, ok := cutAny(s, ": ", " — ", " – ", " namely ", " such as ")
	if weight, announced := heard(head); ok && weight >= 0.25 {
		parts := enumeration(tail)
		for _, p := range parts {
			if len(strings.Fields(p)) > 14 {
				return g
			}
			g.named = append(g.named, named(p))
		}
		g.score = start + weight
		if announced == len(parts) {
			g.score += counted
		} else if announced > 0 {
			g.score -= counted
		}
		return g
	}
	lower := strings.ToLower(s)
	if i := strings.Index(" "+lower, " either "); i >= 0 && len(lower) == len(s) {
		rest := s[i+len("either "):]
		subject := likeness.Normal(s[:i])
		if one, other, ok := strings.Cut(rest, " or "); ok && (strings.HasSuffix(subject, "could") || strings.HasSuffix(subject, "can") || strings.HasSuffix(subject, "should")) {
			g.named = []Strategy{named(one), named(other)}
			g.score = start + 0.4
			return g
		}
	}
	if rest, ok := cutPrefixes(s, "should we", "should i", "shall we", "shall i", "would you prefer", "do you prefer", "do you want", "would you like", "do you want me to", "would you like me to"); ok && strings.HasSuffix(s, "?") {
		if parts := enumeration(rest); strings.Contains(rest, " or ") && len(strings.Fields(rest)) < 30 {
			for _, p := range parts {
				if name := named(p); likeness.Normal(p) != "not" {
					g.named = append(g.named, name)
				}
			}
			g.score = start + 0.35
		}
	}
	return g
}

// enumeration returns the parts of "a, b, and c", without the marks before them.
func enumeration(s string) []string {
	separator := ","
	if strings.Contains(s, ";") {
		separator = ";"
	}
	var parts []string
	add := func(p string) {
		p = strings.TrimSpace(p)
		p, _ = cutPrefixes(p, "and", "or")
		p = unmark(strings.Trim(p, " .?!"))
		if p != "" {
			parts = append(parts, p)
		}
	}
	split := strings.Split(s, separator)
	for i, p := range split {
		last := i == len(split)-1 && separator == ","
		if one, other, ok := cutAny(p, " or ", " and "); ok && last && !startsWith(p, "and", "or") {
			add(one)
			add(other)
			continue
		}
		add(p)
	}
	return parts
}

// unmark returns s without what numbers it: "1.", "(2)", "b)".
func unmark(s string) string {
	s = strings.TrimSpace(s)
	i := strings.IndexAny(s, ".)")
	if i < 0 || i > 3 {
		return s
	}
	mark := strings.TrimLeft(s[:i], "(")
	number := mark != "" && strings.Trim(mark, "0123456789") == ""
	if (number || len(mark) == 1) && (i+1 == len(s) || s[i+1] == ' ') {
		return strings.TrimSpace(s[i+1:])
	}
	return s
}

// unlabel returns a text without a label as "Option A:" before it, and whether there was
// one. A text that is nothing but a label stays.
func unlabel(s string) (rest string, ok bool) {
	s = unmark(s)
	words := strings.Fields(s)
	if len(words) < 2 {
		return s, false
	}
	switch strings.ToLower(words[0]) {
	case "option", "approach", "strategy", "alternative", "method", "solution", "plan", "variant", "path", "choice", "idea", "proposal", "design", "way", "candidate":
	default:
		return s, false
	}
	id := strings.TrimRight(words[1], ":.)—–-,")
	number := strings.Trim(id, "0123456789") == "" || numeral(strings.ToLower(id)) > 0
	letters := len(id) == 1 && letter(rune(id[0])) && id != "a" || strings.Trim(id, "IVX") == ""
	if id == "" || !number && !letters || len(id) > 5 {
		return s, false
	}
	closed := id != words[1]
	rest = strings.TrimSpace(strings.TrimPrefix(s, words[0]))
	rest = strings.TrimSpace(strings.TrimPrefix(rest, words[1]))
	trimmed := strings.TrimLeft(rest, ":.)—–- ")
	if strings.HasPrefix(rest, "(") {
		trimmed, closed = strings.NewReplacer("(", "", ")", "").Replace(rest), true
	}
	switch {
	case trimmed == "":
		return strings.TrimRight(s, ":.)—–- "), true
	case !closed && trimmed == rest && !startsWith(rest, "is", "would be", "uses"):
		return s, false // "Option 1 looks good"
	}
	return trimmed, true
}

// named splits a text into a name and what it says of it.
func named(text string) Strategy {
	text = strings.TrimSpace(text)
	name, said, ok := cutAny(text, ": ", " — ", " – ", " - ")
	if ok && len(strings.Fields(name)) <= 10 && len([]rune(name)) <= mostName {
		return Strategy{trimName(name), said}
	}
	name = sentences(text + " ")[0]
	if len([]rune(name)) > mostName {
		if clause, _, ok := cutAny(name, ", ", "; ", " ("); ok {
			name = clause
		}
	}
	said = strings.TrimSpace(strings.TrimPrefix(text, name))
	if r := []rune(name); len(r) > mostName {
		cut := string(r[:mostName-1])
		if i := strings.LastIndexByte(cut, ' '); i > 0 {
			cut = cut[:i]
		}
		name, said = cut+"…", text
	}
	return Strategy{trimName(name), strings.TrimLeft(said, ",;. ")}
}

func trimName(s string) string { return strings.Trim(s, " :.;,?!—–-*_") }

// afterLead returns what a text says after the bold words that it begins with.
func afterLead(text, lead string) string {
	return strings.TrimLeft(strings.TrimPrefix(text, lead), " :.—–-")
}
