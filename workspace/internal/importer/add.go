package importer

import (
	"github.com/bough-dev/bough/convert/transcript"
)

// An adding passes messages to a function in order, in a goroutine of its own.
type adding struct {
	messages chan *transcript.Message
	done     chan struct{}
	err      error // returned by the function, which is then not called again
}

// Limits of the messages that wait to be spooled: their number, and the size of
// each.
const (
	mostAdding = 32
	maxAdding  = 256 << 10
)

func addMessages(add func(*transcript.Message) error) *adding {
	a := &adding{messages: make(chan *transcript.Message, mostAdding), done: make(chan struct{})}
	go func() {
		defer close(a.done)
		for m := range a.messages {
			if a.err = add(m); a.err != nil {
				return
			}
		}
	}()
	return a
}

// sizeOf estimates the size of a message in bytes.
func sizeOf(m *transcript.Message) int {
	size := len(m.Raw)
	for _, r := range m.Records {
		size += len(r)
	}
	return size
}

// put passes on a message. It returns the error of an earlier message, if there
// was one.
func (a *adding) put(m *transcript.Message) error {
	select {
	case a.messages <- m:
		return nil
	case <-a.done:
		return a.err
	}
}

// wait waits until all messages are processed.
func (a *adding) wait() error {
	close(a.messages)
	<-a.done
	return a.err
}
