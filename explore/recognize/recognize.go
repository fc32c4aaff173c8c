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
	Rule       string  `json:"rule"`       // where it was found: headings, list, table or sentence
}

const (
	MaxReply  = 64 << 10 // bytes of a reply that are looked at: the parser takes two seconds for so many brackets
	mostNamed = 64       // strategies
	mostName  = 80       // characters of a name
	oneIsNone = 0.3      // the most that a single way is worth: there is nothing to choose
)

// Reply returns the strategies that a reply, Markdown, offers to choose from, in its
// order, and the confidence that it offers a choice at all, from 0 to 1. It returns the
// group that looks most like a choice: headings or bold words that begin paragraphs, a
// list, a table, or sentences that name several. Names that are nearly the same are one.
// A list of steps or ingredients is returned too, with a low confidence.
func Reply(reply string) ([]Found, float64) {
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
