package transcript

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/bough-dev/bough/convert/content"
)

// A Same identifies a message of a written transcript with the message of the
// conversation that it was written for.
type Same struct {
	ID     string // of the message in the written transcript
	Digest uint64 // of the message in the written transcript
	Of     string // the id of the message in the conversation
}

// Digest returns a hash of the role and the content of m. It does not change when m is
// stored or its transcript is read again, nor between versions of bough.
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
