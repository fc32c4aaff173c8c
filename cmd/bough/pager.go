package main

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"

	"github.com/bough-dev/bough/internal/config"
)

// pagerCommand returns the program that shows long output: $BOUGH_PAGER, else the user's
// setting, else $PAGER, else less, as git has it. "" means none.
func pagerCommand(setting string, env func(string) string) string {
	command := strings.TrimSpace(cmp.Or(env("BOUGH_PAGER"), setting, env("PAGER"), "less -FRX"))
	if command == "cat" {
		return ""
	}
	return command
}

// A pager is a program that output goes through. It is started with the first byte, so
// that a verb that prints nothing leaves the terminal alone.
type pager struct {
	command string
	screen  *os.File
	meter   *meter // is cleared for good before the program takes the screen
	once    sync.Once
	process *exec.Cmd
	in      io.WriteCloser
	err     error
}

func (g *pager) Write(b []byte) (int, error) {
	g.once.Do(g.start)
	if g.err != nil {
		return g.screen.Write(b)
	}
	return g.in.Write(b)
}

func (g *pager) start() {
	g.meter.end()
	words := []string{"sh", "-c", g.command}
	if runtime.GOOS == "windows" {
		words = strings.Fields(g.command)
	}
	g.process = exec.Command(words[0], words[1:]...)
	g.process.Stdout, g.process.Stderr = g.screen, os.Stderr
	g.process.Env = os.Environ()
	if os.Getenv("LESS") == "" {
		g.process.Env = append(g.process.Env, "LESS=FRX")
	}
	if program := strings.Fields(g.command)[0]; !strings.ContainsAny(program, `/$"'`) {
		if _, g.err = exec.LookPath(program); g.err != nil {
			return
		}
	}
	if g.in, g.err = g.process.StdinPipe(); g.err != nil {
		return
	}
	if g.err = g.process.Start(); g.err == nil {
		signal.Ignore(os.Interrupt) // the pager's now; a closed pager ends the verb
	}
}

// close waits until a person has left the pager.
func (g *pager) close() {
	if g.in != nil && g.err == nil {
		_ = g.in.Close()
		_ = g.process.Wait() // how the pager ends says nothing about the verb
	}
}

// paged reports whether the output of a verb may be long and is only to be read: a verb
// that asks or changes something is not paged.
func paged(verb string) bool {
	switch verb {
	case "ls", "search", "show", "tree", "branches", "lineage", "diff", "log", "bookmarks", "queue",
		"learnings", "agent ls", "agent show", "agent tree", "explore ls", "explore show", "config", "inspect", "help":
		return true
	}
	return false
}

// page sends the output of a verb through the pager if it goes to a terminal, and what
// it says beside it as well, in its place. The returned function waits for the pager.
func (p *program) page(v verb) (done func()) {
	screen, ok := p.terminal.(*os.File)
	if !paged(v.full()) || p.json || p.noPager || !ok || p.paint.width == 0 {
		return func() {}
	}
	command := pagerCommand(p.userPager(), os.Getenv)
	if command == "" {
		return func() {}
	}
	g := &pager{command: command, screen: screen, meter: p.meter}
	p.stdout.Flush()
	p.stdout.Reset(g)
	talk := p.stderr
	if p.talk.width > 0 {
		p.stderr = p.stdout
	}
	return func() {
		p.left = p.stdout.Flush() != nil
		g.close()
		p.stdout.Reset(under{screen, p.meter})
		p.stderr = talk
	}
}

// userPager returns the user's setting, which no workspace can make. A file that cannot
// be read has none: it must not be in the way of reading.
func (p *program) userPager() string {
	path, err := config.UserPath()
	if err != nil {
		return ""
	}
	f, err := config.Read(path, config.User)
	if err != nil {
		return ""
	}
	var command string
	_ = json.Unmarshal(f.Value("pager"), &command) // 'bough config' reports a wrong value
	return command
}
