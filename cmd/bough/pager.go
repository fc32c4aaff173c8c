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

// pagerCommand returns the pager as git chooses it: $BOUGH_PAGER, else the user's setting,
// else $PAGER, else less. "" means none.
func pagerCommand(setting string, env func(string) string) string {
	command := strings.TrimSpace(cmp.Or(env("BOUGH_PAGER"), setting, env("PAGER"), "less -FRX"))
	if command == "cat" {
		return ""
	}
	return command
}

// A pager shows output in another program, which starts with the first byte, so that a verb
// without output does not start it.
type pager struct {
	command string
	screen  *os.File
	meter   *meter // ended before the program starts
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
		signal.Ignore(os.Interrupt) // interrupts are for the pager; when it is closed, the verb ends
	}
}

// close waits until the user quits the pager.
func (g *pager) close() {
	if g.in != nil && g.err == nil {
		_ = g.in.Close()
		_ = g.process.Wait() // the exit code of the pager does not matter
	}
}

// paged reports whether a verb only prints, possibly much. A verb that asks or changes
// something is not paged.
func paged(verb string) bool {
	switch verb {
	case "ls", "search", "show", "tree", "branches", "lineage", "diff", "log", "bookmarks", "queue",
		"learnings", "agent ls", "agent show", "agent tree", "explore ls", "explore show", "config", "inspect", "help":
		return true
	}
	return false
}

// page sends the output of a verb on a terminal, and standard error in its order, through
// the pager. The returned function waits for the pager.
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

// userPager returns the user's setting; a workspace cannot set the pager. It returns "" if
// the file cannot be read, because that must not prevent reading.
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
