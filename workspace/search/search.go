package search

import (
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/workspace/lines"
)

// MarshalJSON implements [json.Marshaler].
func (s Session) MarshalJSON() ([]byte, error) { return rawjson.Answer(s), nil }

// MarshalJSON implements [json.Marshaler].
func (m Match) MarshalJSON() ([]byte, error) { return rawjson.Answer(m), nil }

// Options select messages. The zero value selects all.
type Options struct {
	// Text lists words that must all occur in the message, ignoring case; "quoted
	// words" must occur as a phrase; a word after a hyphen must not occur.
	Text string
	// Words is like Text, but a hyphen has no special meaning.
	Words string
	// Regexp is a regular expression of package regexp that must match too.
	Regexp string

	Role       string      // only messages of this role
	Tool       string      // only calls of this tool, ignoring case, and their results
	Since      time.Time   // only messages written at this time or later
	Until      time.Time   // only messages written before this time
	In         string      // only the line of this session
	Where      lines.Where // only conversations with this setting
	Limit      int         // maximum number of matches, 0 for no limit
	PerSession int         // maximum number per conversation, 0 for no limit
	Context    int         // how many messages to include before and after each match, on its path
}

// A Result is the result of a search.
type Result struct {
	Matches  []Match   `json:"matches"`
	Sessions []Session `json:"sessions"` // the conversations of Matches
	Total    int       `json:"total"`    // number of matches in the conversations that were searched
	More     bool      `json:"more"`     // the limits omitted some matches
	// NotSearched is the number of conversations that were not searched because more
	// recently active ones had enough matches.
	NotSearched int `json:"not_searched"`
}

// A Session is a conversation with matches.
type Session struct {
	Session    string    `json:"session_id"` // id of its first file
	Title      string    `json:"title"`
	LastActive time.Time `json:"last_active"`
	Total      int       `json:"total"`    // number of matches in it
	AtLeast    bool      `json:"at_least"` // its search stopped early, so there may be more than Total matches

	// Piece is a part of the conversation's id that is unique.
	Piece string `json:"-"`
}

// A Match is a message that was found.
type Match struct {
	Session   string    `json:"session_id"` // the conversation: id of its first file
	Title     string    `json:"title"`      // of the conversation
	ID        string    `json:"message_id"`
	Ref       string    `json:"ref"` // the shortest REF to it
	Role      string    `json:"role"`
	Speaker   Speaker   `json:"speaker"`
	CreatedAt time.Time `json:"created_at"` // if unknown, when the session was created
	Tools     []string  `json:"tools"`      // that it calls or has results of
	Snippet   string    `json:"snippet"`    // the text around the match, on one line
	Spans     [][2]int  `json:"spans"`      // of the matches in the snippet: start and end, in characters
	Also      []string  `json:"also"`       // the other conversations with a copy of it, oldest first
	Before    []Context `json:"before"`     // the messages before it, root first
	After     []Context `json:"after"`      // the messages after it, on the newest path
}

// A Context is a message near a match.
type Context struct {
	ID   string `json:"message_id"`
	Ref  string `json:"ref"`
	Role string `json:"role"`
	Text string `json:"text"` // its first words, on one line
}

// A Speaker is the author of the text that was found.
type Speaker string

// The speakers, in the order of their matches.
const (
	Person    Speaker = "person"
	Assistant Speaker = "assistant"
	Tool      Speaker = "tool"
	System    Speaker = "system"
)

// Rank returns the position of a speaker in this order.
func (s Speaker) Rank() int {
	return slices.Index([]Speaker{Person, Assistant, Tool, System}, s)
}
