package explore_test

import (
	"testing"

	"github.com/bough-dev/bough/explore"
)

// TestConsensusClaims: answers agree if their conclusion is the same, whatever their
// reasons.
func TestConsensusClaims(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		agree      bool
	}{
		{"a reason more", "42", "It is 42 because six times seven is 42.", true},
		{"another reason", "Use a mutex. The critical section is short and contention on it is low.", "I would use a mutex, since channels are slower for this and the section is short.", true},
		{"marked", "I counted the rows of both tables by hand.\n\n**Answer:** 1,204", "A query over both tables gives a number.\n\nAnswer: 1204.", true},
		{"marked otherwise", "First I looked at the plan.\nConclusion: add an index on user_id", "The table is scanned from end to end.\nRecommendation: Add an index on `user_id`.", true},
		{"the last mark", "Answer: 3? No.\nFinal answer: 4", "Answer: 4", true},
		{"word order", "A mutex should be used", "Use a mutex", true},
		{"code", "Turn it into runes:\n\n```go\nr := []rune(s)\n```\nThat is all.", "```go\n// as runes\nr := []rune(s)\n```", true},

		{"another number", "Answer: 3\nWe counted them twice and checked the list.", "Answer: 4\nWe counted them twice and checked the list.", false},
		{"the same beginning", "I looked at the profile of the program. Hoist the expression out of the loop.", "I looked at the profile of the program. A larger cache of database pages removes all misses.", false},
		{"long and alike", "Answer: yes\nThe migration is safe as it only adds a column, which takes no lock that lasts.", "Answer: no\nThe migration is safe as it only adds a column, which takes no lock that lasts.", false},
		{"instead", "Use a mutex instead of a channel", "Use a channel instead of a mutex", false},
		{"from and to", "Move the check from the client to the server", "Move the check from the server to the client", false},
		{"other code", "The same:\n```go\nreturn a - b\n```", "The same:\n```go\nreturn b - a\n```", false},
		{"code and prose", "```go\nreturn a\n```", "return a", false},
		{"another thing", "Use a mutex", "Use a channel", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, results := range [][]string{{c.a, c.b}, {c.b, c.a}} {
				e := explore.Evaluate(explore.Consensus, branches([]float64{0.6, 0.6}, results...), explore.Defaults())
				if agree := e.Fallback == ""; agree != c.agree {
					t.Errorf("%q agree: %v, want %v: %q", results, agree, c.agree, e.Reasons)
				}
			}
		})
	}
}
