//go:build pictures

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/docs/pictures/cast"
	"github.com/bough-dev/bough/fixtures"
)

// A recorder records a terminal of tmux. Its first error ends it: later steps do nothing.
type recorder struct {
	ctx    context.Context
	socket string
	cast   cast.Cast
	at     time.Duration
	err    error
}

// The size of the terminal, in cells.
const (
	terminalWidth  = 92
	terminalHeight = 26
)

// newRecorder begins a shell in a terminal. dir has the program.
func newRecorder(ctx context.Context, dir, workspace, title string) *recorder {
	r := &recorder{ctx: ctx, socket: filepath.Join(dir, "tmux"), cast: cast.Cast{Width: terminalWidth, Height: terminalHeight, Title: title}}
	r.tmux("-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(terminalWidth), "-y", fmt.Sprint(terminalHeight),
		"-e", "BOUGH_WORKSPACE="+workspace, "-e", "PATH="+dir+":"+os.Getenv("PATH"), "-e", "PS1=$ ", "-e", "ENV=", "sh")
	r.waits("$")
	return r
}

func (r *recorder) tmux(args ...string) string {
	if r.err != nil {
		return ""
	}
	cmd := exec.CommandContext(r.ctx, "tmux", append([]string{"-u", "-S", r.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8", "TZ=UTC")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.err = fmt.Errorf("%v: %v: %s", cmd, err, out)
	}
	return string(out)
}

// waits waits until the screen has a text.
func (r *recorder) waits(text string) {
	const patience = 30 * time.Second
	for begun := time.Now(); r.err == nil; time.Sleep(20 * time.Millisecond) {
		screen := r.tmux("capture-pane", "-p")
		if strings.Contains(screen, text) {
			return
		}
		if time.Since(begun) > patience {
			r.err = fmt.Errorf("no %q on the screen:\n%s", text, screen)
		}
	}
}

// frame adds the screen, which stays for a time.
func (r *recorder) frame(stays time.Duration) {
	screen := r.tmux("capture-pane", "-e", "-p")
	if n := len(r.cast.Frames); n == 0 || r.cast.Frames[n-1].Screen != screen {
		r.cast.Frames = append(r.cast.Frames, cast.Frame{At: r.at, Screen: screen})
	}
	r.at += stays
}

// press presses keys, waits for a text, and shows the screen for a time.
func (r *recorder) press(stays time.Duration, text string, keys ...string) {
	r.tmux(append([]string{"send-keys"}, keys...)...)
	r.waits(text)
	r.frame(stays)
}

// write types a text, a part of it a frame.
func (r *recorder) write(text string) {
	const part = 5
	for runes := []rune(text); len(runes) > 0 && r.err == nil; {
		n := min(part, len(runes))
		typed := string(runes[:n])
		r.tmux("send-keys", "-l", typed)
		r.waits(strings.TrimSpace(typed))
		r.frame(200 * time.Millisecond)
		runes = runes[n:]
	}
}

// save ends the terminal, and writes the recording and its picture.
func (r *recorder) save(out, name string) error {
	if r.err != nil {
		return r.err
	}
	r.tmux("kill-server")
	fmt.Printf("%s: %d frames, %.1f s\n", name, len(r.cast.Frames), r.at.Seconds())
	return errors.Join(
		os.WriteFile(filepath.Join(out, name+".cast"), r.cast.Encode(), 0o644),
		os.WriteFile(filepath.Join(out, name+".svg"), r.cast.SVG(), 0o644))
}

// terminals makes the pictures of the terminal.
func terminals(ctx context.Context, out string) (err error) {
	s, err := newSite(ctx, fixtures.Demo())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if _, err := tell(s); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bough-terminal-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if built, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "bough"), "./cmd/bough").CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %s", err, built)
	}

	r := newRecorder(ctx, dir, s.w.Dir(), "bough tree")
	r.tmux("send-keys", "-l", "clear; bough tree")
	r.press(0, "A weekend in Lisbon", "Enter")
	if err := r.save(out, "terminal-tree"); err != nil {
		return err
	}

	r = newRecorder(ctx, dir, s.w.Dir(), "bough ui: search, branch, write, compare, and undo")
	r.tmux("send-keys", "-l", "clear; bough")
	r.press(1500*time.Millisecond, "rains all weekend", "Enter")
	r.press(300*time.Millisecond, "Search:", "/")
	r.write("sardines")
	r.waits("Cais do Sodr")
	r.frame(1200 * time.Millisecond)
	r.press(1500*time.Millisecond, "★ the sardines", "Enter")
	r.press(300*time.Millisecond, "Name of the branch", "b")
	r.write("No fish")
	r.press(1500*time.Millisecond, "Created branch", "Enter")
	r.press(300*time.Millisecond, "Message:", "i")
	r.write("And where do we eat without fish?")
	r.press(1500*time.Millisecond, "Added a message", "Enter")
	r.press(800*time.Millisecond, "Comparing with", "=")
	r.press(300*time.Millisecond, "Go to:", "C-k")
	r.write("By the sea")
	r.press(900*time.Millisecond, "wake up to the waves", "Enter")
	r.press(2500*time.Millisecond, "Compare, after", "=")
	r.press(400*time.Millisecond, "? help", "q")
	r.press(1200*time.Millisecond, "Undo back to:", "L")
	r.press(400*time.Millisecond, "? help", "Escape")
	r.press(700*time.Millisecond, "Undo this?", "u")
	r.press(2500*time.Millisecond, "Undid", "y")
	return r.save(out, "terminal-ui")
}
