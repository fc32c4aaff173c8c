package models

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model"
)

func TestOpen(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	t.Setenv("ANTHROPIC_API_KEY", "key")
	for _, id := range []string{"script", "command:cat", "openai:gpt-5", "anthropic:claude"} {
		if m, err := Open(t.Context(), id); err != nil || m == nil {
			t.Errorf("Open(%q) = %v, %v", id, m, err)
		}
	}
	for _, id := range []string{"", "openai:", "gpt-5"} {
		if _, err := Open(t.Context(), id); err == nil || !strings.Contains(err.Error(), Forms) {
			t.Errorf("Open(%q): %v", id, err)
		}
	}
}

// TestScript: a script streams its reply to the message, and stops when its context ends.
func TestScript(t *testing.T) {
	s := &Script{Lines: []string{"one two", "three"}}
	ask := func(ctx context.Context, messages int) (streamed string, reply *model.Reply, err error) {
		r := &model.Request{}
		for range messages {
			r.Messages = append(r.Messages, model.Message{Role: "user"}, model.Message{Role: "assistant"})
		}
		reply, err = s.Ask(ctx, r, func(text string) { streamed += text })
		return streamed, reply, err
	}
	for n, want := range map[int]string{1: "one two", 2: "three", 3: "one two"} {
		if streamed, reply, err := ask(t.Context(), n); err != nil || streamed != want || reply.Text != want {
			t.Errorf("message %d gets %q, %+v, %v", n, streamed, reply, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Pace = 1 << 40
	if _, _, err := ask(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
