package main

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// TestShowOnTerminal: the user's messages are highlighted, results of tools are not, lines
// of tools fit the terminal, and times are relative.
func TestShowOnTerminal(t *testing.T) {
	hour := session.Bough.Time(time.Now().Add(-90 * time.Minute))
	c := &workspace.Conversation{
		Entry: workspace.Entry{ID: "s", Kind: session.Root, Title: "Sea"},
		Refs:  []string{"s@u1", "s@a2", "s@t3"},
		Messages: []session.Message{
			{ID: "u1", Raw: []byte(`{"id":"u1","role":"user","content":"one\ntwo","timestamp":"` + hour + `"}`)},
			{ID: "a2", Raw: []byte(`{"id":"a2","role":"assistant","content":[{"type":"tool_use","id":"c","name":"bash","input":{"command":"cat a long name of a file in the folder"}}]}`)},
			{ID: "t3", Raw: []byte(`{"id":"t3","role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"\ta long line that the tool said\n2\n3\n4\n5\n6"}]}`)},
		},
		Joined: make([]bool, 3),
	}
	var out strings.Builder
	p := &program{stdout: bufio.NewWriter(&out), paint: paint{color: true, width: 30}}
	p.conversation(c, 3, showOptions{tools: true, thinking: true})
	p.stdout.Flush()
	got := strings.NewReplacer("\x1b[0m", "]", "\x1b[1m", "[bold ", "\x1b[2m", "[dim ", "\x1b[32m", "[green ", "\x1b[33m", "[yellow ", "\x1b[36m", "[cyan ").Replace(out.String())
	want := `[bold Sea]
[dim s · root · 3 messages]

[bold [green user]]  [yellow s@u1]  [dim 1 hour ago]
[bold one]
[bold two]

[cyan assistant]  [yellow s@a2]
[dim → ][cyan bash]  cat a long name of a …

[green user]  [yellow s@t3]
[dim ← ][cyan bash]
  [dim     a long line that the to…]
  [dim 2]
  [dim 3]
  [dim 4]
  [dim 5]
[dim   … 1 more line; --full prints all]
`
	if got != want {
		t.Errorf("it prints\n%s\nwant\n%s", got, want)
	}
}
