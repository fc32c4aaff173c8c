package workspace

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/sessionid"
)

// A naming makes REFs to the messages of one conversation. They are as short as
// possible, and need no quoting in a shell.
type naming struct {
	session string // before the @
	uuid    string // UUID of the line
	heads   map[string]int
}

// headLength is the minimum length of a prefix of a UUID in a REF.
const headLength = 8

// naming returns the naming of the messages of l, as messages of a session. If
// l is nil, UUIDs are not abbreviated.
func (v *View) naming(id string, l *line) *naming {
	n := &naming{session: v.pieceOf(id), uuid: sessionid.UUID(id)}
	if !isPlain(n.session) {
		n.session = id
	}
	if !isPlain(n.session) {
		n.session = sessionid.UUID(id)
	}
	if l == nil {
		return n
	}
	n.uuid, n.heads = l.uuid(), map[string]int{}
	for node := range l.Len() {
		if message := l.ID(node); sessionid.IsUUID(message) {
			n.heads[strings.ToLower(message[:headLength])]++
		}
	}
	return n
}

// ref returns a REF to the message with an id.
func (n *naming) ref(message string) string { return n.session + "@" + n.message(message) }

func (n *naming) message(id string) string {
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
