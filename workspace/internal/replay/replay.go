// Package replay decides what a replay does: how far it is, when it stops, and about what it costs.
// A replay says the messages of the user of a path again, in a branch. The package accesses no
// files.
package replay

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/tidwall/gjson"
)

// Own is the member of metadata.bough of a message that says another one again (10.13).
const Own = "replayed"

// A Plan is what is to be said again. The first message that is said again has it.
type Plan struct {
	Of     turn.Origin `json:"of"`    // the end of the path
	First  string      `json:"first"` // the first message of the user
	Edit   string      `json:"edit,omitempty"`
	Text   string      `json:"text,omitempty"` // of Edit
	Agent  string      `json:"agent"`
	Model  string      `json:"model_id,omitempty"`
	System *string     `json:"system,omitempty"`
}

// A Step is a message of the branch of a replay.
type Step struct {
	ID      string
	Of      string // the message that it says again, "" for none
	Plan    *Plan  // of the replay that it begins, nil if it begins none
	Answers bool   // it is a complete answer
}

// StepOf returns a message as a step. calls reports whether it calls tools.
func StepOf(m session.Message, calls bool) (Step, error) {
	own := gjson.GetBytes(m.Raw, "metadata.bough")
	s := Step{
		ID: m.ID, Of: own.Get(Own + ".message_id").Str,
		Answers: m.Role() == "assistant" && !calls && !own.Get("partial").Bool(),
	}
	plan := own.Get(Own + ".plan")
	if !plan.IsObject() {
		return s, nil
	}
	s.Plan = &Plan{}
	return s, json.Unmarshal([]byte(plan.Raw), s.Plan)
}

// Progress is how far a replay is.
type Progress struct {
	Plan     Plan
	Of       string // the last message that was said again
	Prompt   string // the message that says it
	Answered bool   // the path ends with a complete answer to that
	Said     []Said // all that were said again, in order
}

// A Said is a message that was said again.
type Said struct {
	Of     string // the old message
	Prompt string // the message that says it
	Answer string // the last complete answer to that, "" if there is none yet
}

// Far returns how far the last replay of a path is. It reports false if the path has none.
func Far(path []Step) (p Progress, ok bool) {
	for _, s := range path {
		if s.Plan != nil {
			p, ok = Progress{Plan: *s.Plan}, true
		}
		if ok && s.Of != "" {
			p.Of, p.Prompt = s.Of, s.ID
			p.Said = append(p.Said, Said{Of: s.Of, Prompt: s.ID})
		}
		if n := len(p.Said); n > 0 && s.Answers {
			p.Said[n-1].Answer = s.ID
		}
		p.Answered = s.Answers
	}
	return p, ok && p.Of != "" && p.Plan.First != ""
}

// Asks reports whether an answer asks something back: it opens a batch of clarifications, or its
// last line ends with a question mark.
func Asks(kind turn.Kind, answer string) bool {
	if kind == turn.KindClarificationOpened {
		return true
	}
	text := strings.TrimRightFunc(answer, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("*_`\"'”’»)", r) })
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
}

// A Size is a message of the old path, as far as the estimate depends on it.
type Size struct {
	Tokens int
	Again  bool // it is said again
	Answer bool // the model wrote it
}

// Estimate returns about how many tokens the model reads and writes in a replay, if it asks for the
// same tools as before and its answers are as long. before are the tokens of the system prompt and
// of the messages before the first of path.
func Estimate(before int, path []Size) (t rewrite.ModelTokens) {
	asked := false // a message that is said again has no answer yet
	for _, s := range path {
		switch {
		case s.Answer:
			t.Input += before
			t.Output += s.Tokens
			asked = false
		case s.Again:
			if asked {
				t.Input += before
			}
			asked = true
		}
		before += s.Tokens
	}
	if asked {
		t.Input += before
	}
	return t
}
