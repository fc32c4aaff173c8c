package store

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/sessionid"
)

// A Naming makes REFs to the messages of one conversation. They are as short as
// possible, and need no quoting in a shell.
type Naming struct {
	Session string // before the @
	uuid    string // UUID of the line
	heads   map[string]int
}

// headLength is the minimum length of a prefix of a UUID in a REF.
const headLength = 8

// Naming returns the naming of the messages of l, as messages of a session. If
// l is nil, UUIDs are not abbreviated.
func (v *View) Naming(id string, l *Line) *Naming {
	n := &Naming{Session: v.pieceOf(id), uuid: sessionid.UUID(id)}
	if !isPlain(n.Session) {
		n.Session = id
	}
	if !isPlain(n.Session) {
		n.Session = sessionid.UUID(id)
	}
	if l == nil {
		return n
	}
	n.uuid, n.heads = l.UUID(), map[string]int{}
	for node := range l.Len() {
		if message := l.ID(node); sessionid.IsUUID(message) {
			n.heads[strings.ToLower(message[:headLength])]++
		}
	}
	return n
}

// Ref returns a REF to the message with an id.
func (n *Naming) Ref(message string) string { return n.Session + "@" + n.message(message) }

func (n *Naming) message(id string) string {
	switch {
	case sessionid.IsUUID(id) && n.heads[strings.ToLower(id[:headLength])] == 1:
		return id[:headLength]
	case isPlain(id):
		return id
	}
	return sessionid.MessageUUID(n.uuid, id)
}

// isPlain reports whether an id, or a part of one, can be used in a REF and in
// a shell: it has only letters, digits, '_', '.', ':' and '-', does not look
// like a flag, and is not a name with a special meaning in a REF.
func isPlain(id string) bool {
	switch id {
	case "", "HEAD", "first", "last":
		return false
	}
	return id[0] != '-' && utf8.ValidString(id) && !strings.ContainsFunc(id, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.:-", r)
	})
}
