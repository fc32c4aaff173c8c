package convert

import "io"

// ReadAll reads the conversations of a file that fits into memory.
func (f *Format) ReadAll(in io.Reader) ([]*Transcript, []Problem, error) {
	m := &memory{format: f.Name}
	err := f.Read(in, m)
	return m.list, m.problems, err
}

// memory is a sink that keeps everything.
type memory struct {
	format   string
	messages []*Message
	list     []*Transcript
	problems []Problem
}

func (m *memory) Message(msg *Message) error {
	m.messages = append(m.messages, msg)
	return nil
}

func (m *memory) End(c *Conversation) error {
	for _, msg := range m.messages {
		if parent, ok := c.Parents[msg.ID]; ok {
			msg.Parent = parent
		}
	}
	m.list = append(m.list, &Transcript{Conversation: *c, Format: m.format, Messages: m.messages})
	m.messages = nil
	return nil
}

func (m *memory) Problem(p Problem) { m.problems = append(m.problems, p) }
