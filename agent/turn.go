package agent

import (
	"errors"
	"fmt"
	"slices"
)

// A State is what a turn waits for.
type State string

const (
	Idle       State = "idle"       // the user
	Streaming  State = "streaming"  // the model
	InTool     State = "tool"       // a tool
	Confirming State = "confirming" // the user's word on a call
)

// An Ending is why a turn is over.
type Ending string

const (
	Finished Ending = "finished" // the model made no more calls
	Failed   Ending = "failed"   // it gave no message that can be used
	Aborted  Ending = "aborted"  // the user wanted so
	Limited  Ending = "limited"  // it made calls and calls, see [Rules]
	Crashed  Ending = "crashed"  // the program that carried it out is gone
)

// A Turn is what an agent does with a prompt: it asks the model, runs the tools that the
// model calls, one after the other, and asks again, until the model calls none. It is
// the member turn of the agent's file and decides everything, but does nothing: it is
// told what happened, an [Event], and answers with what is to be done, [Action]s. The
// zero Turn is idle. One that was read from a file is for [Turn.Recover] first, whatever
// it says, and for Step only then.
//
// # Carrying it out
//
// Whoever carries a turn out reads the turn and the queue, calls [Turn.Step] with an
// event, stores both, and then carries out the actions, in their order; the head moves to
// each message that is written. When all are, it is stored together with the turn, whose
// Unwritten is nil then. Nothing is done before it is stored, so [Turn.Recover] knows
// after a crash what may have been done. Pieces of text are an exception: storing them
// each time is not worth it.
//
// A model call and a tool call go on while other events come in. What comes of them is
// an event with the id of the message that will tell of it, which the action named. An
// event about something that the turn does not wait for any more is too late and changes
// nothing.
//
// # What holds
//
// A message of the user is written before the model is asked. Each call of a message
// that is written gets one result before the model is asked again. What is streamed is
// not written: the whole message is, or, if there will be none, what came of it, marked
// as partial, which is never shown to the model again ([Context]).
//
// When the model fails, the turn is over and says why; [OnRetry] asks again for an
// answer to the same message. So it is with a turn that was aborted, that crashed, or
// that came to its limit.
//
// # Steering
//
// A steer that waits is delivered when the running call returns, and at once when a call
// waits for the user's word, which is no word on it. Then the remaining calls get
// results that name it in place of being run. While a message comes in the steer waits
// for its end, unless it is to cut it. The policy FinishBatch has it wait for all calls.
type Turn struct {
	State         State      `json:"state"`
	Prompt        string     `json:"prompt,omitempty"`         // the message of the user that is answered, also afterwards
	Last          string     `json:"last,omitempty"`           // the message that the next one follows; retry only while the head is there
	Reply         string     `json:"reply,omitempty"`          // while streaming: the message that comes in
	Text          string     `json:"text,omitempty"`           // what has come of it
	Calls         []OpenCall `json:"calls,omitempty"`          // without a result; the first runs, or waits for the user's word
	Asked         int        `json:"asked,omitempty"`          // how often the model was asked since the user said something
	InterruptedBy string     `json:"interrupted_by,omitempty"` // the steer that stopped a message or calls last, of this turn or of those before it that have no answer
	Ended         Ending     `json:"ended,omitempty"`          // "" while it runs, and if there was none
	Error         string     `json:"error,omitempty"`          // why it failed
	Unwritten     []Node     `json:"unwritten,omitempty"`      // messages that may not be written yet
}

// An OpenCall is a call that has no result yet.
type OpenCall struct {
	Call
	Node string `json:"node"` // the message that will be its result
}

// problem says why t is none that a turn can be, "" if it is one.
func (t *Turn) problem() string {
	calls := len(t.Calls) > 0
	switch t.State {
	case "", Idle:
		if calls || t.Reply != "" {
			return "a turn that is idle waits for something"
		}
	case Streaming:
		if t.Reply == "" || calls {
			return "a turn that is streaming does not say what"
		}
	case InTool, Confirming:
		if !calls || t.Reply != "" {
			return "a turn that waits for a tool does not say for which call"
		}
	default:
		return fmt.Sprintf("no turn can be %q", t.State)
	}
	for _, c := range t.Calls {
		if c.ID == "" || c.Node == "" {
			return "a call of the turn has no id"
		}
	}
	for _, n := range t.Unwritten {
		if n.ID == "" || !slices.Contains([]Kind{KindUser, KindAssistant, KindToolBoundary}, n.Kind) {
			return "a message of the turn has no id, or no kind"
		}
	}
	return ""
}

// A SteerPolicy says when a steer is delivered while tools run.
type SteerPolicy string

const (
	AfterCall   SteerPolicy = "after_call"   // when the running call returns; the rest is skipped
	FinishBatch SteerPolicy = "finish_batch" // when all calls of the message have returned
)

func (p SteerPolicy) valid() bool { return p == AfterCall || p == FinishBatch }

// ParseSteerPolicy returns the policy of that name, and whether there is one.
func ParseSteerPolicy(name string) (p SteerPolicy, ok bool) {
	p = SteerPolicy(name)
	return p, p.valid()
}

// Rules are how a user wants turns to be. The zero value is the default, but for NewID.
type Rules struct {
	NewID    func() string // makes an id of a message, which is like no other
	Policy   SteerPolicy   // "" for AfterCall
	MaxAsks  int           // how often the model is asked before the user says something again, 0 for 50
	MaxCalls int           // how many calls one reply may make, 0 for 128
	Again    bool          // a turn that fails is tried again, so what is queued goes on waiting
}

// An EventKind says what happened.
type EventKind string

const (
	OnPrompt  EventKind = "prompt"  // ID, Text: the user says something; a new id, or the text is lost
	OnQueue   EventKind = "queue"   // an entry was added, or the queue resumed
	OnRetry   EventKind = "retry"   // ID: the user wants an answer after all, below that message, "" for Last
	OnText    EventKind = "text"    // ID, Text: a piece of the message that comes in
	OnReply   EventKind = "reply"   // ID, Text, Calls: the whole message
	OnFailure EventKind = "failure" // ID, Text: there will be none, and why; "": it broke off
	OnResult  EventKind = "result"  // ID, Text, Failed: a tool has returned
	OnConfirm EventKind = "confirm" // ID: the call that is to be run needs the user's word
	OnAnswer  EventKind = "answer"  // ID, Yes: the user's word
	OnAbort   EventKind = "abort"   // the user wants the turn to be over
)

// An Event is something that happened. Its texts are valid UTF-8.
type Event struct {
	Kind   EventKind
	ID     string // of the message that will tell of it
	Text   string
	Calls  []Call
	Failed bool
	Yes    bool
}

// An ActionKind says what is to be done.
type ActionKind string

const (
	DoWrite   ActionKind = "write"   // Node: write it, unless there is a message with its id
	DoAsk     ActionKind = "ask"     // ID: of the reply, Leaf: answer the path to there. Then [OnText], [OnReply], [OnFailure]
	DoRun     ActionKind = "run"     // ID, Call, Confirmed: run it. Then [OnResult], or [OnConfirm] if it is not confirmed
	DoConfirm ActionKind = "confirm" // ID, Call: ask the user. Then [OnAnswer]
	DoStop    ActionKind = "stop"    // ID: what was asked, run or to be confirmed is not waited for any more
	DoEmit    ActionKind = "emit"    // Event, ID, Text: tell who listens
)

// The events that are emitted.
const (
	ChatStart       = "chat_start"       // ID: the message that is answered
	ChatContent     = "chat_content"     // ID, Text: a piece of a message that comes in
	ChatComplete    = "chat_complete"    // ID: the last message, Text: the [Ending]
	SteerDelivered  = "steer_delivered"  // ID: the steer
	TurnInterrupted = "turn_interrupted" // ID: the steer that stopped a message or calls, "" if the user aborted
)

// An Action is something that is to be done.
type Action struct {
	Kind      ActionKind
	ID        string
	Leaf      string
	Node      *Node
	Call      Call
	Confirmed bool
	Event     string
	Text      string
}

// ErrRunning is the error for a prompt while a turn runs: one can steer it, or follow up.
var ErrRunning = errors.New("a turn is running")

// ErrNoRetry is the error for a retry when nothing was left without an answer.
var ErrNoRetry = errors.New("nothing is without an answer")
