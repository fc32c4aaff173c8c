package hook

import (
	"io"
	"strings"
	"testing"
	"time"
)

// An openInput is an input that is not closed: after its text, a read reports that to waiting
// and blocks.
type openInput struct {
	text    io.Reader
	waiting chan time.Time
}

func (o *openInput) Read(p []byte) (int, error) {
	if n, err := o.text.Read(p); err == nil {
		return n, nil
	}
	close(o.waiting)
	select {}
}

// TestInputOpen: a hook does not wait for the end of an input that a tool leaves open.
func TestInputOpen(t *testing.T) {
	t.Parallel()
	const text = `{"session_id":"s"}`
	in := &openInput{strings.NewReader(text), make(chan time.Time)}
	if data, err := ReadUntil(in, in.waiting); err != nil || string(data) != text {
		t.Errorf("it reads %q, %v", data, err)
	}
}
