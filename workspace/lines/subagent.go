package lines

import "github.com/bough-dev/bough/session"

// A Begun says how the conversation of a sub-agent began. A branch of such a conversation is
// the user's.
type Begun struct {
	Conversation string     `json:"conversation_id"` // the conversation that began it, as its program identifies it
	Session      session.ID `json:"session_id"`      // the session with the call; null if it is not in the workspace
	Message      session.ID `json:"message_id"`      // the message with the call; null if unknown
	Call         session.ID `json:"call_id"`         // null if unknown
}

// A SubAgent is the conversation of a sub-agent that a message of another conversation began.
type SubAgent struct {
	Session      string     `json:"session_id"`
	Title        string     `json:"title"`
	MessageCount int        `json:"message_count"` // in all files
	Message      session.ID `json:"message_id"`    // the message with the call; null if unknown
	Call         session.ID `json:"call_id"`       // null if unknown
}
