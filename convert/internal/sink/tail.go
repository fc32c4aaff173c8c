package sink

import (
	"io"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/fields"
)

// A Tail reads a transcript that grows. It passes on messages of its first conversation that later
// records do not change.
type Tail interface {
	// Read reads the next part, which ends with a record.
	Read(in io.Reader) error
	// End passes the remaining messages and the end of the conversation to to, as if the
	// transcript ended here, and the other conversations. It does not change the state: Read can
	// be called again.
	End(to transcript.Sink) error
	// Fields encodes or decodes the state. The state of a new tail is decoded before it reads.
	Fields(c *fields.Coder)
}

// ReadTail reads a complete transcript.
func ReadTail(t Tail, in io.Reader, to transcript.Sink) error {
	if err := t.Read(in); err != nil {
		return err
	}
	return t.End(to)
}

// checked is a tail that validates messages.
type checked struct {
	Tail
	c *checker
}

// NewTail returns the tail that open returns, with a sink that validates messages and passes
// them on to to.
func NewTail(open func(to transcript.Sink) Tail, to transcript.Sink) Tail {
	c := &checker{to: to}
	return &checked{open(c), c}
}

// End implements [Tail].
func (t *checked) End(to transcript.Sink) error { return t.Tail.End(t.c.after(to)) }

// Fields implements [Tail].
func (t *checked) Fields(c *fields.Coder) {
	t.c.fields(c)
	t.Tail.Fields(c)
}
