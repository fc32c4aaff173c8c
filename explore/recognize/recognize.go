// Package recognize finds the strategies that an assistant's reply offers to
// choose from.
//
// [Reply] parses the reply as Markdown and collects groups of names by kind of
// cue: headings and bold leads (section.go), lists (list.go), tables
// (table.go), and sentences (sentence.go, enumeration.go). Each group gets a
// score from labels such as "Option A" (label.go) and from the words around it
// (cue.go); the group with the highest score is returned.
package recognize

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/internal/likeness"
)

// A Strategy is one approach to a question.
type Strategy struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// An Offer is a strategy that a reply offers.
type Offer struct {
	Strategy
	Confidence float64 `json:"confidence"` // that it is one of several alternatives
	Rule       string  `json:"rule"`       // where it was found: headings, list, table or sentence
}

const (
	MaxReply  = 64 << 10 // bytes of a reply that are parsed: the parser takes two seconds for this many brackets
	maxNamed  = 64       // maximum number of strategies
	maxName   = 80       // maximum length of a name in characters
	maxSingle = 0.3      // maximum score of a single strategy, which is not a choice
)

// Reply returns the strategies that a reply in Markdown offers, in order, and
// the confidence, from 0 to 1, that it offers a choice. It merges names that
// are nearly equal. A list of steps or ingredients is returned too, with a low
// confidence.
func Reply(reply string) ([]Offer, float64) {
	if len(reply) > MaxReply {
		reply = reply[:MaxReply]
	}
	list := blocks(reply)
	var best group
	for _, g := range slices.Concat(headed(list), listed(list), tabled(list), spoken(list)) {
		g.settle()
		if len(g.named) > 0 && (best.named == nil || g.score > best.score+0.001) {
			best = g
		}
	}
	return best.found(), best.score
}

// Settle applies the rules of [Reply] to strategies that were found in another
// way: it removes duplicates, and lowers the confidence if there is only one.
func Settle(strategies []Strategy, confidence float64, rule string) ([]Offer, float64) {
	g := group{rule: rule, named: strategies, score: confidence}
	g.settle()
	return g.found(), g.score
}

// A group is a list of names that belong together.
type group struct {
	rule  string
	named []Strategy
	score float64
}

func (g group) found() []Offer {
	var list []Offer
	for _, n := range g.named {
		list = append(list, Offer{Strategy: n, Confidence: g.score, Rule: g.rule})
	}
	return list
}

// settle removes empty and duplicate names, and clamps the score.
func (g *group) settle() {
	var kept []Strategy
	for _, n := range g.named {
		n.Name, n.Description = strings.TrimRight(oneLine(n.Name), " :.;,"), oneLine(n.Description)
		if strings.IndexFunc(n.Name, func(r rune) bool { return letter(r) || unicode.IsDigit(r) }) < 0 || len(kept) == maxNamed {
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
		g.score = min(g.score, maxSingle)
	}
}
