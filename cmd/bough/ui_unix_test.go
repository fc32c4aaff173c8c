//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testsize"
	"golang.org/x/term"
)

// TestUI tells a story by keys in a real terminal: 'bough' alone shows the conversations, another
// process adds to them, the terminal gets many sizes, the editor is killed, and after each end
// the terminal is as before.
func TestUI(t *testing.T) {
	t.Parallel()
	d := newTmuxDesk(t)
	d.bough("new", "--title", "面包 and 🍞 bread")
	d.bough("append", "How wet is too wet? 多湿算太湿?")
	d.bough("append", "--role", "assistant", "It depends on the flour.")
	modes, settings := d.modes(), d.settings()
	ended := func(how string) {
		t.Helper()
		d.waits(shellReady)
		d.ended(how, modes, settings)
	}

	// An editor that is killed leaves its own screen, mouse and settings on.
	const editor = `stty raw -echo; printf '\033[?1049h\033[?1000h\033[?25l'; kill -9 $$`
	if err := os.WriteFile(filepath.Join(d.dir, "e"), []byte(editor), 0o600); err != nil {
		t.Fatal(err)
	}
	d.types("export EDITOR='. ./e #'; clear; bough", "Enter")
	d.waits("bough · trips · 面包 and 🍞 bread", "It depends on the flour.", "message 2 of 2")
	d.types("", "Tab")
	d.types("c")
	d.waits("Name of the checkpoint")
	d.types("Before rye", "Enter")
	d.waits("Saved checkpoint “Before rye” · u undoes it", "◆ Before rye")
	d.types("b")
	d.waits("Name of the branch")
	d.types("裸麦", "Enter")
	d.waits("Created branch “裸麦”", "bough · trips · 裸麦")
	d.types("k")
	d.waits("message 1 of 2")
	d.types("e")
	d.waits("nothing was changed: signal: killed")
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
	for i := range testsize.Of(5, 10, 40) {
		d.tmux("resize-window", "-x", strconv.Itoa(20+i*37%160), "-y", strconv.Itoa(4+i*13%50))
	}
	d.tmux("resize-window", "-x", "80", "-y", "24")
	d.waits("bough · trips · 面包 and 🍞 bread", "From another process", "? help  q quit")
	d.types("q")
	ended("q")

	d.types("clear; bough ui", "Enter")
	d.waits("message ")
	d.types("", "C-c")
	ended("Ctrl+C")

	site := filepath.Join(d.dir, "site")
	page := filepath.Join(site, "index.html")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(site, 0o700), os.WriteFile(page, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("before")
	d.bough("files", "snap", "裸麦", "--dir", site)
	write("after")
	d.types("clear; bough ui", "Enter")
	d.waits("message ")
	d.types("F")
	d.waits("Files:")
	d.types("", "Enter")
	d.waits("r restores")
	d.types("r")
	d.waits("Where others changed a file too")
	d.types("5")
	d.waits("1 file would change", "enter restores")
	d.types("", "Enter")
	d.waits("Restored files of “site” · u undoes it")
	if got, err := os.ReadFile(page); err != nil || string(got) != "before" {
		t.Errorf("the file has %q, %v", got, err)
	}
	d.types("", "Tab")
	d.types("x")
	d.waits("Strategies, one a line")
	d.types("wheat", "C-j")
	d.types("spelt", "Enter")
	d.waits("Tried by:")
	d.types("you type", "Enter")
	d.waits("Command, which the shell runs")
	d.types("echo good", "Enter")
	d.waits("Folder of which each gets a copy")
	d.types("", "Enter")
	d.waits("Result:")
	d.types("", "Enter")
	d.waits("2 of 2 strategies completed", "1  wheat  completed", "good")
	if kept, err := filepath.Glob(filepath.Join(d.dir, "state", "bough", "approved", "*")); err != nil || len(kept) != 1 {
		t.Errorf("%q, %v were approved, want the command that was typed", kept, err)
	}
	d.types("q")
	d.types("aada", "Enter")
	d.waits("Model of ada")
	d.types("", "Enter")
	d.waits("Created agent “ada”", "agent ada")
	d.types("q")
	ended("restore, explore and create")
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if err := syscall.Kill(d.starts("bough ui", "message "), s); err != nil {
			t.Fatal(err)
		}
		ended(s.String())
	}
}

// starts starts a command in the shell, waits for texts, and returns the id of its process.
func (d *tmuxDesk) starts(command string, texts ...string) int {
	d.t.Helper()
	file := filepath.Join(d.dir, "pid")
	d.types("clear; sh -c 'echo $$ > "+file+"; exec "+command+"'", "Enter")
	d.waits(texts...)
	data, err := os.ReadFile(file)
	if err != nil {
		d.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		d.t.Fatal(err)
	}
	return pid
}

// ended checks that the terminal is as before.
func (d *tmuxDesk) ended(how, modes string, settings *term.State) {
	d.t.Helper()
	if now := d.modes(); now != modes {
		d.t.Errorf("after %s the modes of the terminal are %s, before they were %s", how, now, modes)
	}
	if now := d.settings(); !reflect.DeepEqual(now, settings) {
		d.t.Errorf("after %s the settings of the terminal are %+v, before they were %+v", how, now, settings)
	}
}

// processorTime returns how much a process has used, 0 where /proc does not say it.
func processorTime(pid int) time.Duration {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(data), ") ")
	f := strings.Fields(after)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	const tick = time.Second / 100
	return time.Duration(user+system) * tick
}

// TestUILong scrolls a conversation of 10,000 messages from end to end in a real terminal.
func TestUILong(t *testing.T) {
	t.Parallel()
	d := newTmuxDesk(t)
	count := testsize.Of(500, 1000, 10_000)
	dir := filepath.Join(d.ws, "conversations")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(`{"metadata":{"title":"Long"},"messages":[`)
	for i := range count {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"id":"m%d","role":%q,"content":"message %d: %s"}`, i, []string{"user", "assistant"}[i%2], i, strings.Repeat("日本 🍞 words ", i%20))
	}
	b.WriteString("]}")
	if err := os.WriteFile(filepath.Join(dir, "long.json"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	d.tmux("resize-window", "-x", "200", "-y", "50")
	pid := d.starts("bough ui", fmt.Sprintf("message %d:", count-1))
	begun := processorTime(pid)
	d.types("", "Tab")
	d.types("g")
	d.waits("message 0:", fmt.Sprintf("message 1 of %d", count))
	pages := 0
	for end := fmt.Sprintf("message %d:", count-1); !strings.Contains(d.screen(), end); pages += 20 {
		d.tmux("send-keys", "-N", "20", "PageDown")
		d.types("m") // is answered after them
		d.waits("Label:")
		d.types("", "Escape")
		d.waits("Nothing was changed")
	}
	if used := processorTime(pid) - begun; used > 0 {
		t.Logf("%d messages, %d pages: %v of processor time a page", count, pages, used/time.Duration(pages))
	}
	d.types("q")
	d.waits(shellReady)
}
