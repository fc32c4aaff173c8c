package origin

import (
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/files"
)

// A Bisection is the states of a path of messages, between which something went wrong. Messages
// without a state of their own, or with the state of the message before, are no step.
type Bisection struct {
	Dir      string `json:"dir"`
	Messages int    `json:"messages"` // number of messages of the path from the first step to the last
	Steps    []Step `json:"steps"`    // the oldest first; at least two
	// Next is the index of the step to test next, if the first one is good and the last one bad;
	// null if no other step can be tested.
	Next  *int `json:"next"`
	Tests int  `json:"tests_left"` // about how many tests are left
}

// A Step is a message with the state that belongs to it, and what changed the folder since the
// step before.
type Step struct {
	Session session.ID `json:"session_id"`
	Message session.ID `json:"message_id"`
	State   string     `json:"state_id"`
	Time    *time.Time `json:"time"` // of the state
	By      string     `json:"by"`   // turn, you, restore or older; of the first step older
	Turn    *Turn      `json:"turn"` // null unless By is turn
	Sure    bool       `json:"sure"` // see [Line.Sure]
}

// BisectOptions are what is known about messages on the path of a bisection, as REFs.
type BisectOptions struct {
	Good string   // was good; empty means the first message with a state
	Bad  string   // was bad; empty means the end of the path
	Skip []string // cannot be tested
}

// A Verdict says whether the files of a step are as they should be.
type Verdict string

const (
	Good    Verdict = "good"
	Bad     Verdict = "bad"
	Skipped Verdict = "skipped" // it cannot be tested
)

// A Trial is a step that is about to be tested.
type Trial struct {
	Step
	Number, Of int     // of the step, from 1, and how many steps the path has
	Want       Verdict // of one of the ends, and of a step that is tested again; else ""
	Again      bool    // the step was tested before
	Steps      int     // how many steps can still be the one that is looked for
	Tests      int     // about how many tests are left
	Dir        string  // the folder with the files of the step, which is removed afterwards
}

// A Test is the test of a step.
type Test struct {
	Message string  `json:"message_id"`
	State   string  `json:"state_id"`
	Verdict Verdict `json:"verdict"`
	Exit    int     `json:"exit"` // exit status of the command, -1 if it timed out
	Seconds float64 `json:"seconds"`
}

// A Found is what a bisection found.
type Found struct {
	Dir string `json:"dir"`
	// Candidates are the steps that can have made it go wrong: the first bad one, the last of the
	// list, and those before it that were skipped.
	Candidates []Step `json:"candidates"`
	Good       Step   `json:"good"` // the last good step before them
	Tests      []Test `json:"tests"`
	Flaky      bool   `json:"flaky"` // the same files were good once and bad once
	// Diff is what the candidates changed.
	Diff *files.Diff `json:"diff"`
}
