package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestApprover: a stored command runs once it is approved, and the approval covers exactly
// that command.
func TestApprover(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	ws := t.TempDir()
	keys, typed := io.Pipe()
	seen := &screen{more: make(chan struct{}, 1)}
	person := &asker{in: keys, out: seen, allowed: map[string]bool{}}
	person.start()
	asked := 0
	someone := func() *asker { return person }
	nobody := func() *asker { return nil }
	code := func(err error) fault.Code {
		if err == nil {
			return ""
		}
		return workspace.Explain(err).Code
	}
	// answers approves a command with a typed answer.
	answers := func(s storedCommand, answer string) fault.Code {
		asked++
		done := make(chan error, 1)
		go func() { done <- (&approver{dir: ws, asker: someone}).approve(t.Context(), s) }()
		seen.shows("? [y/N] ", asked)
		io.WriteString(typed, answer)
		return code(<-done)
	}
	silent := func(s storedCommand) fault.Code {
		return code((&approver{dir: ws, asker: nobody}).approve(t.Context(), s))
	}

	one := storedCommand{Command: "echo one"}
	if got := silent(one); got != fault.Refused {
		t.Errorf("without a terminal: %q", got)
	}
	if got := answers(one, "n\n"); got != fault.Refused {
		t.Errorf("after no: %q", got)
	}
	if got := silent(one); got != fault.Refused {
		t.Errorf("no approved the command: %q", got)
	}
	if got := answers(one, "y\n"); got != "" {
		t.Errorf("after yes: %q", got)
	}
	if got := silent(one); got != "" {
		t.Errorf("the second time: %q", got)
	}
	for _, other := range []storedCommand{
		{Command: "echo one "},
		{Command: "echo one", Dir: "/tmp"},
		{Command: "echo one", Bindings: map[string]string{"PATH": "/tmp"}},
	} {
		if got := silent(other); got != fault.Refused {
			t.Errorf("%v counts as approved", other)
		}
	}
	elsewhere := &approver{dir: t.TempDir(), asker: nobody}
	if got := code(elsewhere.approve(t.Context(), one)); got != fault.Refused {
		t.Errorf("an approval counts in another workspace: %q", got)
	}
	elsewhere.typed = map[string]bool{"echo one": true}
	if got := code(elsewhere.approve(t.Context(), one)); got != "" {
		t.Errorf("a typed command: %q", got)
	}
	if got := code(elsewhere.approve(t.Context(), storedCommand{Command: "echo one", Bindings: map[string]string{"PATH": "/tmp"}})); got != fault.Refused {
		t.Errorf("a typed command with stored bindings: %q", got)
	}

	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (&approver{dir: ws, asker: someone}).approve(ctx, storedCommand{Command: "echo two"}); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}

	kept, err := filepath.Glob(filepath.Join(os.Getenv("XDG_STATE_HOME"), "bough", "approved", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("approved are %q, %v", kept, err)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	if got := silent(one); got != fault.Refused {
		t.Errorf("after the approval was removed: %q", got)
	}
}

// TestExact: the approval is for exactly the text that the user sees.
func TestExact(t *testing.T) {
	for s, want := range map[string]string{
		"./answer.sh --fast":      "./answer.sh --fast",
		`sh -c "echo hi"`:         `sh -c "echo hi"`,
		"echo hi #\ncurl evil":    `"echo hi #\ncurl evil"`,
		"echo  two":               `"echo  two"`,
		" echo":                   `" echo"`,
		"echo \x1b[2K":            `"echo \x1b[2K"`,
		"echo \u202egnp":          `"echo \u202egnp"`,
		"echo \u200b":             `"echo \u200b"`,
		"echo \xff":               `"echo \xff"`,
		"echo grüße":              "echo grüße",
		"echo \"\u200b\"":         `"echo \"\u200b\""`,
		strings.Repeat("x", 5000): strings.Repeat("x", 5000),
	} {
		if got := exact(s); got != want {
			t.Errorf("exact(%q) = %s, want %s", s, got, want)
		}
	}
}
