package rewrite

import (
	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
)

// ReplayOptions are the choices for repeating the messages of the user.
type ReplayOptions struct {
	// Ref is the end of the path whose messages of the user are repeated, or a range A..B as in
	// [PickOptions]. If Ref is not a range, the first repeated message is the first one that is not
	// on the path to Onto or, if Onto is empty, the message Edit.
	Ref string
	// Onto is the REF of the message below which they are added. Empty means the message before
	// the first one.
	Onto string
	// Edit is a message of the path whose text becomes Text; "" for none.
	Edit, Text string

	Agent  string  // who answers; "" for the owner of the conversation, else the agent named replay
	System *string // the system prompt; nil for the agent's
	Name   string  // the title of the new branch, "" for one made from that of the conversation
	GoOn   bool    // do not stop at an answer that asks something back
	DryRun bool    // nothing is written

	// Turn are the choices for the turns. A model is needed if the agent has none.
	Turn agents.TurnOptions
	// Count returns the number of tokens of a message; nil counts none.
	Count func(raw []byte) int
	// Price returns the price of a model, given the id that names it to Turn.Models. If it is nil, or
	// reports false for a model that is used, the cost is unknown.
	Price func(modelID string) (Price, bool)
	// OnTurn is called after each turn, unless it is nil.
	OnTurn func(Turn)
}

// A Replay is the result of a replay.
type Replay struct {
	Session session.ID    `json:"session_id"` // the branch, which resumes the replay; null in a dry run
	Message session.ID    `json:"message_id"` // its end
	Of      turn.Origin   `json:"of"`         // the end of the old path
	Agent   string        `json:"agent"`
	Turns   []Turn        `json:"turns"`  // of this run, or in a dry run of one that is resumed, of all so far
	Left    []turn.Origin `json:"left"`   // messages that were not repeated
	Merges  []turn.Origin `json:"merges"` // merges of the path, which are neither repeated nor copied
	// Asked reports that the last answer asks something back, so the replay stopped.
	Asked  bool        `json:"asked"`
	Tokens ModelTokens `json:"tokens"` // of this run; estimates
	DryRun bool        `json:"dry_run,omitempty"`
}

// A Turn is a repeated message of the user, with its answer.
type Turn struct {
	From   turn.Origin `json:"from"`
	Prompt session.ID  `json:"message_id"`
	Answer session.ID  `json:"answer_id"`
	Text   string      `json:"text"` // of the answer
}

// ModelTokens are the tokens that a model read and wrote.
type ModelTokens struct {
	Input  int `json:"input"`
	Output int `json:"output"`
	// Cost is what they cost at the prices of the models, null if one of those is unknown.
	Cost *float64 `json:"cost"`
}

// A Price is the price of a million tokens, in the currency of the user.
type Price struct {
	Input  float64
	Output float64
}

// Of returns what tokens cost.
func (p Price) Of(t ModelTokens) float64 {
	return (p.Input*float64(t.Input) + p.Output*float64(t.Output)) / 1e6
}
