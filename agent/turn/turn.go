package turn

import (
	"errors"
	"fmt"
	"github.com/bough-dev/bough/agent/model"
	"slices"
)

// A State is the event source for which a turn waits.
type State string

const (
	Idle       State = "idle"       // the user
	Streaming  State = "streaming"  // the model
	InTool     State = "tool"       // a tool
	Confirming State = "confirming" // the user's confirmation of a call
)

// An Ending is the reason why a turn ended.
type Ending string

const (
	Finished Ending = "finished" // the model made no more calls
	Failed   Ending = "failed"   // the model returned no valid message
	Aborted  Ending = "aborted"  // by the user
	Limited  Ending = "limited"  // too many requests to the model, see [Rules.MaxAsks]
	Crashed  Ending = "crashed"  // the program that ran it exited
)

// A Turn is the processing of a prompt by an agent: it asks the model, runs the
// tools that the model calls, one after the other, and asks again, until the
// model calls none. It is stored as the member turn of the agent's file, and is
// a pure state machine: its input is an [Event], its output a list of
// [Action]s. The zero Turn is idle. A turn that was read from a file must pass
// [Turn.Recover] before Step is called, whatever its state.
//
// # Executing a turn
//
// The caller reads the turn and the queue, calls [Turn.Step] with an event,
// stores both, and then executes the actions in order; the head moves to each
// message that is written. An entry that Step removed from the queue stays in
// the stored one until its message is written ([Queue.Restore]). When all
// messages are written, the caller stores the head together with the turn,
// whose Unwritten is then nil. No action is executed before the turn is stored,
// so after a crash [Turn.Recover] can tell which actions may have been
// executed. Pieces of text are an exception: storing each is too expensive.
//
// While a model call or tool call is running, other events may arrive. Its
// outcome is an event with the id of the resulting message, as in the action.
// An event for which the turn no longer waits is ignored.
//
// # Invariants
//
// A message of the user is written before the model is asked. Each call of a
// written message gets exactly one result before the model is asked again.
// Streamed pieces are not written: the complete message is, or, if it was
// interrupted, its text so far, marked as partial. A partial message is never
// sent to the model ([Context]).
//
// When the model fails, the turn ends with an error; [OnRetry] asks for another
// answer to the same message. The same applies to a turn that was aborted,
// crashed, or reached its limit.
//
// # Steering
//
// A waiting steer is delivered when the running call returns, or at once if a
// call waits for the user's confirmation, which it thereby does not get. The
// remaining calls are not run; their results name the steer. While a message is
// streaming the steer waits for its end, unless Cut is set. With the policy
// FinishBatch it waits for all calls.
type Turn struct {
	State         State      `json:"state"`
	Prompt        string     `json:"prompt,omitempty"`         // the user's message that is, or was, being answered
	Last          string     `json:"last,omitempty"`           // the parent of the next message; retry is possible only while the head is there
	Reply         string     `json:"reply,omitempty"`          // while streaming: the id of the message
	Text          string     `json:"text,omitempty"`           // its text so far
	Calls         []OpenCall `json:"calls,omitempty"`          // without a result; the first one is running, or waits for confirmation
	Asked         int        `json:"asked,omitempty"`          // number of requests to the model since the user's last message
	InterruptedBy string     `json:"interrupted_by,omitempty"` // the last steer that interrupted a message or calls, in this turn or an unanswered one before it
	Ended         Ending     `json:"ended,omitempty"`          // "" while it is running, and for the zero Turn
	Error         string     `json:"error,omitempty"`          // why it failed
	Unwritten     []Node     `json:"unwritten,omitempty"`      // messages that may not be written yet
}

// An OpenCall is a call without a result.
type OpenCall struct {
	model.Call
	Node string `json:"node"` // id of the message that will be its result
}

// Check returns an error if t is not a valid turn.
func (t *Turn) Check() error {
	calls := len(t.Calls) > 0
	switch t.State {
	case "", Idle:
		if calls || t.Reply != "" {
			return errors.New("an idle turn has a reply or calls")
		}
	case Streaming:
		if t.Reply == "" || calls {
			return errors.New("a streaming turn has no reply, or has calls")
		}
	case InTool, Confirming:
		if !calls || t.Reply != "" {
			return errors.New("a turn that waits for a tool has no call, or has a reply")
		}
	default:
		return fmt.Errorf("unknown state %q of the turn", t.State)
	}
	for _, c := range t.Calls {
		if c.ID == "" || c.Node == "" {
			return errors.New("a call of the turn has no id")
		}
	}
	for _, n := range t.Unwritten {
		if n.ID == "" || !slices.Contains([]Kind{KindUser, KindAssistant, KindToolBoundary}, n.Kind) {
			return errors.New("a message of the turn has no id, or no kind")
		}
	}
	return nil
}

// A SteerPolicy is when a steer is delivered while tools are running.
type SteerPolicy string

const (
	AfterCall   SteerPolicy = "after_call"   // after the running call; the others are skipped
	FinishBatch SteerPolicy = "finish_batch" // after all calls of the message
)

// ParseSteerPolicy returns the policy with a name, and whether it exists.
func ParseSteerPolicy(name string) (p SteerPolicy, ok bool) {
	p = SteerPolicy(name)
	return p, p == AfterCall || p == FinishBatch
}

// Rules are a user's settings for turns. NewID must be set; the other fields
// default to zero.
type Rules struct {
	NewID    func() string // returns a unique message id
	Policy   SteerPolicy   // "" means AfterCall
	MaxAsks  int           // maximum number of requests to the model per message of the user, 0 means 50
	MaxCalls int           // maximum number of calls in one reply, 0 means 128
	Again    bool          // the caller retries failed turns, so the queue is not held after one
}

// An EventKind is the kind of an [Event], with the fields that it uses.
type EventKind string

const (
	OnPrompt  EventKind = "prompt"  // ID, Text: the user sends a message; ID must be new, or the text is lost
	OnQueue   EventKind = "queue"   // an entry was added, or the queue was resumed
	OnRetry   EventKind = "retry"   // ID: the user wants another answer below that message, "" for Last
	OnText    EventKind = "text"    // ID, Text: a piece of the streaming message
	OnReply   EventKind = "reply"   // ID, Text, Calls: the complete message
	OnFailure EventKind = "failure" // ID, Text: the model failed, with the reason; "" means that it was interrupted
	OnResult  EventKind = "result"  // ID, Text, Failed: a tool has returned
	OnConfirm EventKind = "confirm" // ID: the next call needs the user's confirmation
	OnAnswer  EventKind = "answer"  // ID, Yes: the user's answer
	OnAbort   EventKind = "abort"   // the user aborts the turn
)

// An Event is an input of a turn. Its texts are valid UTF-8.
type Event struct {
	Kind   EventKind
	ID     string // of the resulting message
	Text   string
	Calls  []model.Call
	Failed bool
	Yes    bool
}

// An ActionKind is the kind of an [Action], with the fields that it uses.
type ActionKind string

const (
	DoWrite   ActionKind = "write"   // Node: write it, unless a message with its id exists
	DoAsk     ActionKind = "ask"     // ID of the reply, Leaf: answer the path to Leaf. Then [OnText], [OnReply], [OnFailure]
	DoRun     ActionKind = "run"     // ID, Call, Confirmed: run it. Then [OnResult], or [OnConfirm] if it must be confirmed
	DoConfirm ActionKind = "confirm" // ID, Call: ask the user. Then [OnAnswer]
	DoStop    ActionKind = "stop"    // ID: cancel the request, call or confirmation
	DoEmit    ActionKind = "emit"    // Event, ID, Text: notify listeners
)

// The events for listeners.
const (
	ChatStart       = "chat_start"       // ID: the message that is answered
	ChatContent     = "chat_content"     // ID, Text: a piece of a streaming message
	ChatComplete    = "chat_complete"    // ID: the last message, Text: the [Ending]
	SteerDelivered  = "steer_delivered"  // ID: the steer
	TurnInterrupted = "turn_interrupted" // ID: the steer that interrupted a message or calls, "" for an abort
)

// An Action is something that the caller of a turn must execute.
type Action struct {
	Kind      ActionKind
	ID        string
	Leaf      string
	Node      *Node
	Call      model.Call
	Confirmed bool
	Event     string
	Text      string
}

// ErrRunning is the error for a prompt while a turn is running: the user can steer
// or follow up.
var ErrRunning = errors.New("a turn is running")

// ErrNoRetry is the error for a retry without an unanswered message.
var ErrNoRetry = errors.New("no unanswered message")
