package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/bough-dev/bough/agent/model"
)

// A screen is a terminal on which a test waits for text.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits until the screen shows text for the n-th time.
func (s *screen) shows(text string, n int) {
	for strings.Count(s.String(), text) < n {
		<-s.more
	}
}

// TestAsker: each question gets the answer that is typed while it is open, and no other.
func TestAsker(t *testing.T) {
	keys, typed := io.Pipe()
	seen := &screen{more: make(chan struct{}, 1)}
	a := &asker{in: keys, out: seen, allowed: map[string]bool{}}
	a.start()
	asked := 0
	ask := func(ctx context.Context) chan bool {
		asked++
		answer := make(chan bool, 1)
		go func() {
			answer <- a.confirm(ctx, model.Call{Name: "dig\x1b[2J", Arguments: "{\"deep\":\"\n\x1b]0;\"}"})
		}()
		seen.shows("? [y/N/a] ", asked)
		return answer
	}
	// A pipe accepts a line only after the line before it was read.
	press := func(keys string) { io.WriteString(typed, keys) }
	// An empty write is accepted by the next read, which follows the handling of a line.
	handled := func() { typed.Write(nil) }
	for _, c := range []struct {
		keys string
		want bool
	}{{"y\n", true}, {"n\n", false}, {"\n", false}, {" YES \n", true}, {"yesterday\n", false}} {
		answer := ask(t.Context())
		press(c.keys)
		if got := <-answer; got != c.want {
			t.Errorf("%q is the answer %v", c.keys, got)
		}
	}
	press("y\n")
	press("n\n")
	handled()
	answer := ask(t.Context())
	press("\n")
	if <-answer {
		t.Error("a line typed before the question answers it")
	}

	ctx, stop := context.WithCancel(t.Context())
	answer = ask(ctx)
	stop()
	if <-answer {
		t.Error("a withdrawn question is answered")
	}
	press("y\n")
	handled()
	answer = ask(t.Context())
	press("\n")
	if <-answer {
		t.Error("the answer to the previous question answers this one")
	}

	if a.allows("dig\x1b[2J") {
		t.Error("a tool is allowed without an answer")
	}
	answer = ask(t.Context())
	press("a\n")
	if !<-answer || !a.allows("dig\x1b[2J") || a.allows("write") {
		t.Error("a tool that is allowed for the rest of the command is not")
	}
	answer = ask(t.Context())
	typed.Close()
	if <-answer {
		t.Error("the end of the input confirms a call")
	}
	if answer = ask(t.Context()); <-answer {
		t.Error("an empty line confirms a call")
	}
	if strings.ContainsRune(seen.String(), '\x1b') || !strings.Contains(seen.String(), "Run dig\ufffd[2J {\"deep\":\" \ufffd]0;\"}? ") {
		t.Errorf("the screen is %q", seen)
	}
	var nobody *asker
	nobody.start()
	nobody.withdraw(nil)
	if nobody.allows("dig") {
		t.Error("a tool was allowed without an answer")
	}
}

// TestTellerText: text ends with one line end and has no control sequence.
func TestTellerText(t *testing.T) {
	for _, c := range []struct {
		name   string
		width  int
		pieces []string
		want   string
	}{
		{"lines", 80, []string{"a\n", "\nb", "\n\n\n"}, "a\n\nb\n"},
		{"nothing", 80, []string{"\n", "\r\n"}, ""},
		{"control characters", 80, []string{"a\x1b[2", "Jb\r\nc\r", "\n\u202ed\x07\u009b"}, "a\ufffd[2Jb\nc\n\ufffdd\ufffd\ufffd\n"},
		{"a file", 0, []string{"a\x1b[2", "Jb\r\nc\r", "\n"}, "a\x1b[2Jb\r\nc\n"},
	} {
		var out bytes.Buffer
		p := &program{stdout: bufio.NewWriter(&out), paint: paint{width: c.width}}
		te := &turnPrinter{p: p}
		for _, piece := range c.pieces {
			te.text(piece)
		}
		te.endText()
		if out.String() != c.want {
			t.Errorf("%s: %q", c.name, out.String())
		}
	}
}
