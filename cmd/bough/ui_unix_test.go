//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
)

// A tmuxDesk is a shell in a terminal of tmux.
type tmuxDesk struct {
	t      *testing.T
	socket string
	ws     string
}

// shellReady is the prompt of the shell.
const shellReady = "ready>"

func newTmuxDesk(t *testing.T) *tmuxDesk {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is missing; install the package tmux of your system")
	}
	dir := t.TempDir()
	d := &tmuxDesk{t, filepath.Join(dir, "s"), filepath.Join(dir, "trips")}
	d.tmux("-f", os.DevNull, "new-session", "-d", "-x", "80", "-y", "24", "-e", "BOUGH_WORKSPACE="+d.ws, "-e", "PATH="+os.Getenv("PATH"), "sh")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", d.socket, "kill-server").Run() })
	d.types("PS1='rea''dy> '", "Enter")
	d.waits(shellReady)
	return d
}

func (d *tmuxDesk) tmux(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-S", d.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

func (d *tmuxDesk) screen() string { return d.tmux("capture-pane", "-p") }

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
	const patience = time.Minute
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		screen, missing := d.screen(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Since(begun) > patience {
			d.t.Fatalf("no %q on the screen:\n%s", missing, screen)
		}
	}
}

// terminal returns the settings of the terminal, and its modes.
func (d *tmuxDesk) terminal() string {
	d.t.Helper()
	file := filepath.Join(filepath.Dir(d.ws), "stty")
	_ = os.Remove(file)
	d.types("clear; stty -a > "+file+".new; mv "+file+".new "+file, "Enter")
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(file); err == nil {
			return string(data) + d.tmux("display-message", "-p", "alternate #{alternate_on} cursor #{cursor_flag} mouse #{mouse_any_flag} keypad #{keypad_flag} bracket #{bracket_paste_flag}")
		}
		if time.Since(begun) > time.Minute {
			d.t.Fatalf("the shell does not answer:\n%s", d.screen())
		}
	}
}

// bough runs a command line of another process.
func (d *tmuxDesk) bough(args ...string) {
	d.t.Helper()
	cmd := exec.Command("bough", append([]string{"-w", d.ws}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

// TestUI tells a story by keys in a real terminal: 'bough' alone shows the conversations, another
// process adds to them, the terminal gets many sizes, and after each end it is as before.
func TestUI(t *testing.T) {
	t.Parallel()
	d := newTmuxDesk(t)
	d.bough("new", "--title", "面包 and 🍞 bread")
	d.bough("append", "How wet is too wet? 多湿算太湿?")
	d.bough("append", "--role", "assistant", "It depends on the flour.")
	before := d.terminal()

	d.types("bough", "Enter")
	d.waits("bough · trips · 面包 and 🍞 bread", "It depends on the flour.", "message 2 of 2")
	d.types("", "Tab")
	d.types("c")
	d.waits("Name of the checkpoint")
	d.types("Before rye", "Enter")
	d.waits("Saved checkpoint “Before rye” · u undoes it", "◆ Before rye")
	d.types("b")
	d.waits("Name of the branch")
	d.types("裸麦", "Enter")
	d.waits("Created branch “裸麦”")
	d.types("i")
	d.waits("Message:")
	d.types("And with rye?", "Enter")
	d.waits("Added a message to “裸麦”", "And with rye?")
	d.types("u")
	d.waits("Undid: added a message to “裸麦”")
	d.types("/flour")
	d.waits("1/1")
	d.types("", "Enter")
	d.waits("message 2 of 2")

	d.bough("append", "面包 and 🍞 bread", "From another process")
	d.waits("From another process")
	for i := range testsize.Of(10, 20, 100) {
		d.tmux("resize-window", "-x", strconv.Itoa(20+i*37%160), "-y", strconv.Itoa(4+i*13%50))
	}
	d.tmux("resize-window", "-x", "80", "-y", "24")
	d.waits("bough · trips · 面包 and 🍞 bread", "From another process", "? help  q quit")
	d.types("q")
	d.ended(before, "q")

	d.types("bough ui", "Enter")
	d.waits("message ")
	d.types("", "C-c")
	d.ended(before, "Ctrl+C")
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		pid := filepath.Join(filepath.Dir(d.ws), fmt.Sprint("pid", int(s)))
		d.types("sh -c 'echo $$ > "+pid+"; exec bough ui'", "Enter")
		d.waits("message ")
		data, err := os.ReadFile(pid)
		n, err2 := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if err := syscall.Kill(n, s); err != nil {
			t.Fatal(err)
		}
		d.ended(before, s.String())
	}
}

// ended checks that the terminal is as before.
func (d *tmuxDesk) ended(before, how string) {
	d.t.Helper()
	d.waits(shellReady)
	if after := d.terminal(); after != before {
		d.t.Errorf("after %s the terminal is\n%s\nbefore it was\n%s", how, after, before)
	}
}
