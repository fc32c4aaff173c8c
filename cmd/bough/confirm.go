package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/bough-dev/bough/agent/model"
	"golang.org/x/term"
)

// An asker asks on the terminal whether a tool may be called. A nil *asker
// means that there is no terminal.
//
// It reads all lines that are typed, from its start to the end of the program: a line typed
// while no question is open is ignored, so that it does not answer the next question.
type asker struct {
	in  io.Reader
	out io.Writer

	mu      sync.Mutex
	allowed map[string]bool // tools that always run
	answer  chan string     // to the open question, nil if none is open
	over    bool            // at the end of the input
}

// newAsker returns an asker, nil without a terminal.
func (p *program) newAsker() *asker {
	f, ok := p.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || p.screen == nil {
		return nil
	}
	return &asker{in: f, out: p.screen, allowed: map[string]bool{}}
}

// start starts reading.
func (a *asker) start() {
	if a != nil {
		go a.read()
	}
}

func (a *asker) read() {
	lines := bufio.NewScanner(a.in)
	for lines.Scan() {
		a.close(lines.Text())
	}
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.close("")
}

// close answers the open question, if there is one.
func (a *asker) close(word string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer != nil {
		a.answer <- word
		a.answer = nil
	}
}

// allows reports whether the user allowed all calls of a tool.
func (a *asker) allows(tool string) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.allowed[tool]
}

// confirm asks whether a call may run. It returns false when ctx ends.
func (a *asker) confirm(ctx context.Context, c model.Call) bool {
	switch a.word(ctx, fmt.Sprintf("Run %s %s? [y/N/a] ", line(c.Name), line(c.Arguments))) {
	case "a", "all", "always":
		a.mu.Lock()
		defer a.mu.Unlock()
		a.allowed[c.Name] = true
		return true
	case "y", "yes":
		return true
	}
	return false
}

// ask asks a question that takes yes or no, and reports whether the answer is yes.
func (a *asker) ask(ctx context.Context, question string) bool {
	word := a.word(ctx, question)
	return word == "y" || word == "yes"
}

// word asks a question and returns the answer in lower case, "" if ctx ends before.
func (a *asker) word(ctx context.Context, question string) string {
	answer := make(chan string, 1)
	a.mu.Lock()
	io.WriteString(a.out, question)
	if a.answer = answer; a.over {
		a.answer = nil
		answer <- ""
	}
	a.mu.Unlock()
	word := ""
	select {
	case word = <-answer:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		a.withdraw(answer)
		return ""
	}
	return strings.ToLower(strings.TrimSpace(word))
}

// withdraw closes the question if it is open. If question is nil, it closes any open one.
func (a *asker) withdraw(question chan string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer != nil && (question == nil || question == a.answer) {
		a.answer = nil
		fmt.Fprintln(a.out)
	}
}
