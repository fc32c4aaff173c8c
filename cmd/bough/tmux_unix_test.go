//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"
)

// A tmuxDesk is a shell in a terminal of tmux. A client in control mode runs the commands of
// tmux, and says when something was written to the terminal, so that nothing is polled.
type tmuxDesk struct {
	t       *testing.T
	dir, ws string
	client  io.Writer
	lines   chan string // of the client
	written bool        // something was written to the terminal since the last look
	tty     *os.File
}

// shellReady is the prompt of the shell.
const shellReady = "ready>"

func newTmuxDesk(t *testing.T) *tmuxDesk {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is missing; install the package tmux of your system")
	}
	dir := t.TempDir()
	d := &tmuxDesk{t: t, dir: dir, ws: filepath.Join(dir, "trips"), lines: make(chan string, 1)}
	cmd := exec.Command("tmux", "-u", "-S", filepath.Join(dir, "s"), "-f", os.DevNull, "-C", "new-session", "-c", dir, "-x", "80", "-y", "24",
		"-e", "BOUGH_WORKSPACE="+d.ws, "-e", "XDG_STATE_HOME="+filepath.Join(dir, "state"), "-e", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "-e", "PATH="+os.Getenv("PATH"), "-e", "ENV=", "sh")
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.client = in
	go func() {
		defer close(d.lines)
		for r := bufio.NewReader(out); ; {
			l, err := r.ReadString('\n')
			if err != nil {
				return
			}
			d.lines <- strings.TrimRight(l, "\r\n")
		}
	}()
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "kill-server\n")
		for range d.lines {
		}
		_ = cmd.Wait()
	})
	d.reply() // of new-session
	d.tmux("resize-window", "-x", "80", "-y", "24")
	if d.tty, err = os.OpenFile(strings.TrimSpace(d.tmux("display-message", "-p", "#{pane_tty}")), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.tty.Close() })
	d.types("PS1='rea''dy> '; clear", "Enter") // a shell of root has its own in place of that of the environment
	d.waits(shellReady)
	return d
}

// answerTime is how long something on the terminal may take.
const answerTime = time.Minute

// line returns the next line of the client. ok is false if there is none for a long time.
func (d *tmuxDesk) line() (l string, ok bool) {
	select {
	case l, ok = <-d.lines:
	case <-time.After(answerTime):
	}
	d.written = d.written || strings.HasPrefix(l, "%output ")
	return l, ok
}

// reply returns what a command printed.
func (d *tmuxDesk) reply() string {
	d.t.Helper()
	var b strings.Builder
	for begun := false; ; {
		l, ok := d.line()
		switch {
		case !ok:
			d.t.Fatal("tmux does not answer")
		case strings.HasPrefix(l, "%begin "):
			begun = true
		case begun && strings.HasPrefix(l, "%end "):
			return b.String()
		case begun && strings.HasPrefix(l, "%error "):
			d.t.Fatalf("tmux: %s", b.String())
		case begun:
			b.WriteString(l + "\n")
		}
	}
}

// tmux runs a command of tmux.
func (d *tmuxDesk) tmux(args ...string) string {
	d.t.Helper()
	var b strings.Builder
	for _, a := range args {
		b.WriteString("'" + strings.ReplaceAll(a, "'", `'\''`) + "' ")
	}
	if _, err := io.WriteString(d.client, b.String()+"\n"); err != nil {
		d.t.Fatal(err)
	}
	return d.reply()
}

func (d *tmuxDesk) screen() string {
	d.t.Helper()
	return d.tmux("capture-pane", "-p")
}

// types types a text, and then the named keys.
func (d *tmuxDesk) types(text string, keys ...string) {
	d.t.Helper()
	if text != "" {
		d.tmux("send-keys", "-l", text)
	}
	if len(keys) > 0 {
		d.tmux(append([]string{"send-keys"}, keys...)...)
	}
}

// waits waits until the screen has texts.
func (d *tmuxDesk) waits(texts ...string) {
	d.t.Helper()
	for {
		d.written = false
		screen, missing := d.screen(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		for !d.written {
			if _, ok := d.line(); !ok {
				d.t.Fatalf("no %q on the screen:\n%s", missing, screen)
			}
		}
	}
}

// modes returns the modes of the terminal.
func (d *tmuxDesk) modes() string {
	d.t.Helper()
	return d.tmux("display-message", "-p", "alternate #{alternate_on} cursor #{cursor_flag} mouse #{mouse_any_flag} keypad #{keypad_flag} bracket #{bracket_paste_flag}")
}

// settings returns the settings of the terminal.
func (d *tmuxDesk) settings() *term.State {
	d.t.Helper()
	s, err := term.GetState(int(d.tty.Fd()))
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// bough runs a command line of another process.
func (d *tmuxDesk) bough(args ...string) {
	d.t.Helper()
	cmd := exec.Command("bough", append([]string{"-w", d.ws}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}
