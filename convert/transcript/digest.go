package transcript

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/bough-dev/bough/internal/content"
)

// A Same says that two messages are one: that of a transcript which bough wrote, and the
// one of the conversation that it was made of.
type Same struct {
	ID     string // as a reader of the transcript gives it
	Digest uint64 // see [Digest]
	Of     string // the id of the message in the conversation
}

// Digest returns a number for who says what in m. It stays the same when m is stored and
// when its transcript is read again, and it does not depend on the version of bough.
func Digest(m *Message) uint64 {
	h := sha256.New()
	put := func(texts ...string) {
		for _, s := range texts {
			var n [8]byte
			binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
			h.Write(n[:])
			h.Write([]byte(s))
		}
	}
	put(m.Role)
	for i := range m.Parts {
		p := &m.Parts[i]
		put(p.Type, p.Text)
		switch p.Type {
		case content.TypeToolCall, content.TypeToolResult:
			c := p.Call()
			put(c.ID, c.Name, c.Arguments)
		}
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}
