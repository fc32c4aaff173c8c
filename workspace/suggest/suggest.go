// Package suggest decides which branches of conversations are worth comparing, merging or
// adopting. It works on counts and marks only and accesses no files.
package suggest

import (
	"cmp"
	"slices"
	"time"

	"github.com/bough-dev/bough/session"
)

// Options are the choices for suggestions.
type Options struct {
	// Session limits the suggestions to forks and explorations of the line of this session.
	// Empty means all lines.
	Session string
	// Limit is the maximum number of suggestions. Zero means no limit.
	Limit int
}

// A List is what was found, the most valuable suggestion first.
type List struct {
	Suggestions []Suggestion `json:"suggestions"`
	Total       int          `json:"total"` // the number without [Options.Limit]
}

// A Kind is what a suggestion is about.
type Kind string

const (
	// Answer is a branch that ends with a complete answer and was not continued far.
	Answer Kind = "answer"
	// Branch is a branch that was continued far.
	Branch Kind = "branch"
	// Explored is an exploration with results.
	Explored Kind = "exploration"
)

// A Place is a message of a session.
type Place struct {
	Session string     `json:"session_id"` // the file that has the message
	Message session.ID `json:"message_id"`
}

// A Suggestion is a fork or an exploration from which nothing was brought back.
type Suggestion struct {
	Kind    Kind     `json:"kind"`
	Score   int      `json:"score"` // greater is more valuable; it has a meaning only beside the others
	Reasons []Reason `json:"reasons"`

	// Place is the end of the branch, of an exploration the explored message.
	Place
	Title string    `json:"title"` // of the conversation
	Text  string    `json:"text"`  // the beginning of the message at Place, of an exploration its question
	Time  time.Time `json:"time"`  // of that message, of an exploration when it began

	// Of a fork.
	Base session.ID `json:"base"` // the last message that both paths have, else null
	Main *Place     `json:"main"` // the end of the path that the conversation took, else nil

	Exploration session.ID `json:"exploration_id"` // null for a fork
}

// A Code says what a [Reason] counts.
type Code string

const (
	// UnusedAnswer counts the messages of a branch whose answer was neither merged nor picked.
	UnusedAnswer Code = "unused_answer"
	// Continued counts the messages of a branch that was never merged.
	Continued Code = "continued"
	// SinceMerge counts the messages of a branch since the last one that was merged.
	SinceMerge Code = "since_merge"
	// MainContinued counts the messages after the fork on the other path.
	MainContinued Code = "main_continued"
	// NotAdopted counts the results of an exploration.
	NotAdopted Code = "not_adopted"
)

// A Reason is one reason for a suggestion.
type Reason struct {
	Code  Code `json:"reason"`
	Count int  `json:"count"`
}

// A Fork is a branch beside the path that its conversation took. Its lengths do not count the
// messages that call tools and their results.
type Fork struct {
	Main, Tip  Place
	Base       string // the id of the last common message
	Title      string
	Text       string // the first words of the message at Tip
	Time       time.Time
	Length     int  // messages of the branch since Base, or since the last of them that was merged
	MainLength int  // messages of the other path since Base
	Merged     bool // a part of the branch was merged or copied to the other path, or the reverse
	Answered   bool // the message at Tip is a complete answer
	Bookmarked bool // a message of the branch has a bookmark
	Head       bool // a head is in the branch
}

// Far is the length from which a branch was continued far: three questions with answers.
const Far = 6

// wentOn is the length from which a path did more than reply to a fork: a question, its answer
// and another question.
const wentOn = 3

// Kind returns what can be suggested about f, "" for nothing. It does not depend on Answered,
// which only [Make] needs, for [Answer], nor on the texts.
func (f *Fork) Kind() Kind {
	switch {
	case f.Bookmarked || f.Head || f.Length == 0 || f.MainLength == 0:
		return ""
	case f.Length >= Far:
		return Branch
	case f.MainLength >= wentOn:
		return Answer
	}
	return ""
}

// An Exploration is an exploration that has ended.
type Exploration struct {
	ID       string
	Place    // the explored message
	Title    string
	Question string
	Time     time.Time
	Results  int  // branches with a result that was not pruned
	Settled  bool // a result was adopted, merged, copied or bookmarked
}

// The least scores of each kind. What was said in a branch and in a path counts up to a limit, so
// results that were asked for come before long branches, and these before single answers.
const (
	exploredScore = 100
	branchScore   = 40
	answerScore   = 10
)

// Make returns the suggestions about forks and explorations, the most valuable first, and at the
// same score the newest first.
func Make(forks []Fork, explorations []Exploration, limit int) *List {
	l := &List{Suggestions: []Suggestion{}}
	for _, e := range explorations {
		if e.Results == 0 || e.Settled {
			continue
		}
		l.Suggestions = append(l.Suggestions, Suggestion{
			Kind: Explored, Score: exploredScore + min(e.Results, 10), Reasons: []Reason{{NotAdopted, e.Results}},
			Place: e.Place, Title: e.Title, Text: e.Question, Time: e.Time, Exploration: session.ID(e.ID),
		})
	}
	for _, f := range forks {
		if s, ok := f.suggestion(); ok {
			l.Suggestions = append(l.Suggestions, s)
		}
	}
	slices.SortStableFunc(l.Suggestions, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Time.Compare(a.Time))
	})
	l.Total = len(l.Suggestions)
	if limit > 0 {
		l.Suggestions = l.Suggestions[:min(limit, l.Total)]
	}
	return l
}

func (f *Fork) suggestion() (Suggestion, bool) {
	s := Suggestion{
		Kind: f.Kind(), Place: f.Tip, Title: f.Title, Text: f.Text, Time: f.Time,
		Base: session.ID(f.Base), Main: &f.Main,
	}
	main := Reason{MainContinued, f.MainLength}
	switch {
	case s.Kind == Branch:
		code := Continued
		if f.Merged {
			code = SinceMerge
		}
		s.Score = branchScore + min(f.Length, 40) + min(f.MainLength, 10)
		s.Reasons = []Reason{{code, f.Length}, main}
	case s.Kind == Answer && f.Answered:
		s.Score = answerScore + min(f.MainLength, 20)
		s.Reasons = []Reason{{UnusedAnswer, f.Length}, main}
	default:
		return s, false
	}
	return s, true
}
