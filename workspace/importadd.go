package workspace

import (
	"github.com/bough-dev/bough/convert/transcript"
)

// An adding passes messages to a function in order, concurrently with its
// caller.
type adding struct {
	messages chan *transcript.Message
	done     chan struct{}
	err      error // of the function, which is not called again after it
}

// The limits of the messages that wait to be spooled: their number, and the size of each.
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

// sizeOf returns about how large a message is, in bytes.
func sizeOf(m *transcript.Message) int {
	size := len(m.Raw)
	for _, r := range m.Records {
		size += len(r)
	}
	return size
}

// put hands a message on. The error is that of an earlier one.
func (a *adding) put(m *transcript.Message) error {
	select {
	case a.messages <- m:
		return nil
	case <-a.done:
		return a.err
	}
}

// wait waits until all messages are added.
func (a *adding) wait() error {
	close(a.messages)
	<-a.done
	return a.err
}
