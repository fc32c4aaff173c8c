//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
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

// long writes a conversation of so many messages, as another program does.
func (d *tmuxDesk) long(count int) {
	d.t.Helper()
	dir := filepath.Join(d.ws, "conversations")
	var b strings.Builder
	b.WriteString(`{"metadata":{"title":"Long"},"messages":[`)
	for i := range count {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"id":"m%d","role":%q,"content":"message %d: %s"}`, i, []string{"user", "assistant"}[i%2], i, strings.Repeat("日本 🍞 words ", i%20))
	}
	b.WriteString("]}")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "long.json"), []byte(b.String()), 0o600)); err != nil {
		d.t.Fatal(err)
	}
}

// frame presses a key and returns how long it takes until the terminal has the last of what is
// written for it: nothing follows for some time.
func (d *tmuxDesk) frame(key string) time.Duration {
	d.t.Helper()
	const quiet = 40 * time.Millisecond // two frames and a half
	begun := time.Now()
	d.written = false
	d.tmux("send-keys", key)
	last := time.Now()
	for !d.written {
		if _, ok := d.line(); !ok {
			d.t.Fatalf("%s changes nothing on the screen:\n%s", key, d.screen())
		}
		last = time.Now()
	}
	for {
		select {
		case l := <-d.lines:
			if strings.HasPrefix(l, "%output ") {
				last = time.Now()
			}
		case <-time.After(quiet):
			return last.Sub(begun)
		}
	}
}

// scrolls scrolls a conversation of so many messages from its beginning to its end, and reports how
// long the frames took. used returns the processor time of the page until now, 0 if it is unknown.
func (d *tmuxDesk) scrolls(count int, used func() time.Duration) {
	d.t.Helper()
	d.waits(fmt.Sprintf("message %d:", count-1))
	d.types("", "Tab")
	d.types("g")
	d.waits("message 0:", fmt.Sprintf("message 1 of %d", count))
	begun := used()
	var frames []time.Duration
	for end := fmt.Sprintf("message %d:", count-1); !strings.Contains(d.screen(), end); {
		frames = append(frames, d.frame("PageDown"))
	}
	each := (used() - begun) / time.Duration(len(frames))
	slices.Sort(frames)
	d.t.Logf("%d messages, %d pages: median %v, 99 %% %v, longest %v from the key to the end of the frame; %v of processor time a page",
		count, len(frames), frames[len(frames)/2].Round(time.Millisecond/10), frames[len(frames)*99/100].Round(time.Millisecond/10), frames[len(frames)-1].Round(time.Millisecond/10), each)
	d.types("q")
	d.waits(shellReady)
}

// TestUILong scrolls a conversation of 10,000 messages from end to end in a real terminal: in tmux, in
// one of 16 colours, without colours, and over ssh.
func TestUILong(t *testing.T) {
	t.Parallel()
	count := testsize.Of(200, 500, 10_000)
	for _, c := range []struct {
		name, variables string
	}{{"tmux", ""}, {"16 colours", "export TERM=xterm-16color; "}, {"NO_COLOR", "export NO_COLOR=1; "}} {
		t.Run(c.name, func(t *testing.T) {
			d := newTmuxDesk(t)
			d.long(count)
			d.tmux("resize-window", "-x", "200", "-y", "50")
			if c.variables != "" {
				d.types(c.variables+"clear", "Enter")
				d.waits(shellReady)
			}
			pid := d.starts("bough ui", "message ")
			d.scrolls(count, func() time.Duration { return processorTime(pid) })
		})
	}
	t.Run("ssh", func(t *testing.T) {
		d := newTmuxDesk(t)
		d.long(count)
		d.tmux("resize-window", "-x", "200", "-y", "50")
		modes, settings := d.modes(), d.settings()
		d.types("clear; "+d.ssh("BOUGH_WORKSPACE="+d.ws+" PATH="+os.Getenv("PATH")+" LC_ALL=C.UTF-8 bough ui"), "Enter")
		d.scrolls(count, func() time.Duration { return 0 })
		d.ended("ssh", modes, settings)
	})
}

// ssh starts a server for this test, and returns the command that runs another one over it, on a
// terminal.
func (d *tmuxDesk) ssh(command string) string {
	d.t.Helper()
	server, err := exec.LookPath("sshd")
	if err != nil {
		server = "/usr/sbin/sshd"
		if _, err := os.Stat(server); err != nil {
			d.t.Skip("sshd is missing; install the package openssh-server of your system")
		}
	}
	run := func(name string, args ...string) {
		d.t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			d.t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	key := filepath.Join(d.dir, "key")
	run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			d.t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		d.t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	cmd := exec.Command(server, "-D", "-e", "-f", os.DevNull, "-p", port, "-h", key, "-o", "ListenAddress=127.0.0.1", "-o", "PidFile=none",
		"-o", "UsePAM=no", "-o", "StrictModes=no", "-o", "PasswordAuthentication=no", "-o", "AuthorizedKeysFile="+key+".pub")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if d.t.Failed() {
			d.t.Logf("sshd: %s", log.String())
		}
	})
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = c.Close()
			break
		} else if time.Since(begun) > answerTime {
			d.t.Fatal(err)
		}
	}
	return "ssh -q -t -F none -p " + port + " -i " + key + " -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 127.0.0.1 '" + command + "'"
}
