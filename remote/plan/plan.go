// Package plan decides what a workspace tells the other machines of a remote, and what it takes in
// from them. The package is pure.
//
// A register, a bookmark or an agent is told if it differs both from what was here at the last
// comparison and from the joined state: so what a pull applied is not told again, and neither is what
// another machine changed and this one has not taken in yet. Messages are told if they were never
// published. What is missing here was removed only if the log of operations says so.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Here is what a workspace had when it was last compared with a remote.
type Here struct {
	Since        events.Seq          `json:"since"` // the last operation of its log
	Sessions     map[string]Session  `json:"sessions"`
	Bookmarks    []bookmark.Bookmark `json:"bookmarks"`
	Agents       map[string]agentHad `json:"agents"`       // by key
	Explorations map[string]string   `json:"explorations"` // sums, by id

	// Pending are the sessions of which the workspace may lack messages, or have undone ones. The value
	// is true if any run may have them, and false if only runs without notes.
	Pending map[string]bool `json:"pending"`
}

// A Session is what a workspace had of a session.
type Session struct {
	Version string `json:"version"` // "" if it changed since
	Title   string `json:"title,omitempty"`
	Shell   string `json:"shell,omitempty"` // its sum; "" if it is that of the joined state
}

// An agentHad is what a workspace had of an agent.
type agentHad struct {
	Name     string       `json:"name"`
	Settings string       `json:"settings"` // their sum
	Trees    []string     `json:"trees"`
	Head     *mirror.Head `json:"head"`
}

// NewHere returns that of a workspace that was never compared.
func NewHere() *Here {
	return &Here{Sessions: map[string]Session{}, Agents: map[string]agentHad{}, Explorations: map[string]string{}, Pending: map[string]bool{}}
}

// An Op is an operation to record. Items is its body before that is stored.
type Op struct {
	record.Op
	Items []record.Item
}

const (
	sessionPrefix     = "session/"
	agentPrefix       = "agent/"
	explorationPrefix = "exploration/"
	attachmentPrefix  = "attachment/"
	machinePrefix     = "machine/"
	bookmarksEntity   = "bookmarks"
	learningsEntity   = "learnings"

	purged = "purged" // a register of a session
)

func set(entity, field string, value json.RawMessage) Op {
	return Op{Op: record.Op{Do: record.Set, Entity: entity, Field: field, Value: value}}
}

func add(entity, field string, value json.RawMessage) Op {
	return Op{Op: record.Op{Do: record.Add, Entity: entity, Field: field, Value: value}}
}

func addItems(entity, field string, items []record.Item) Op {
	return Op{Op: record.Op{Do: record.Add, Entity: entity, Field: field}, Items: items}
}

func drop(entity, field string, stamps []record.Stamp) Op {
	return Op{Op: record.Op{Do: record.Drop, Entity: entity, Field: field, Stamps: stamps}}
}

func remove(entity string) Op {
	return Op{Op: record.Op{Do: record.Remove, Entity: entity}}
}

// valueOf returns v in JSON. It must be of a type that has one.
func valueOf(v any) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// sumOf returns half of the SHA-256 of data, in hexadecimal digits.
func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// SessionOf returns the id of the session that is an entity, and reports whether it is one.
func SessionOf(entity string) (id string, ok bool) { return strings.CutPrefix(entity, sessionPrefix) }

// Purge returns the operations that take a session out of the store, as far as it is in a register:
// its messages are dropped by the machines that added them.
func Purge(id string) []Op {
	entity := sessionPrefix + id
	return []Op{set(entity, purged, json.RawMessage("true")), set(entity, "shell", json.RawMessage("{}")), set(entity, "title", json.RawMessage(`""`))}
}

// Replace returns the operations that replace runs of a session by items; without items they are
// dropped.
func Replace(id string, runs []record.Stamp, items []record.Item) (ops []Op) {
	if len(items) > 0 {
		ops = append(ops, addItems(sessionPrefix+id, "messages", items))
	}
	return append(ops, drop(sessionPrefix+id, "messages", runs))
}
