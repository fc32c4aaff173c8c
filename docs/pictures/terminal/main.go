//go:build pictures

// Command terminal makes the pictures of bough on the terminal: recordings of tmux, and what
// package cast draws of them. 'docs/pictures/make --terminal' runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/bough-dev/bough/docs/pictures/internal/cast"
)

// A recorder records a terminal of tmux. Its first error ends it: later steps do nothing.
type recorder struct {
	ctx    context.Context
	socket string
	path   string // where the shell finds bough
	cast   cast.Cast
	at     time.Duration
	err    error
}

// The size of the terminal, in cells.
const (
	terminalWidth  = 92
	terminalHeight = 26
)

// newRecorder begins a shell in a terminal of this name, in a folder with the workspace trips. program is bough.
func newRecorder(ctx context.Context, dir, program, name, title string) *recorder {
	r := &recorder{ctx: ctx, socket: filepath.Join(dir, name), path: filepath.Dir(program) + ":" + os.Getenv("PATH"), cast: cast.Cast{Width: terminalWidth, Height: terminalHeight, Title: title}}
	r.tmux("-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(terminalWidth), "-y", fmt.Sprint(terminalHeight),
		"-c", dir, "-e", "BOUGH_WORKSPACE="+filepath.Join(dir, workspace), "-e", "ENV=", "sh")
	r.tmux("send-keys", "-l", "PS1='$ '; clear")
	r.tmux("send-keys", "Enter")
	return r
}

func (r *recorder) tmux(args ...string) string {
	if r.err != nil {
		return ""
	}
	cmd := exec.CommandContext(r.ctx, "tmux", append([]string{"-u", "-S", r.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8", "TZ=UTC", "PATH="+r.path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.err = fmt.Errorf("%v: %v: %s", cmd, err, out)
	}
	return string(out)
}

// waits waits until the screen has a text.
func (r *recorder) waits(text string) {
	const patience = 2 * time.Minute
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

// write types a text, a part of it a frame. before is what is before it on the screen.
func (r *recorder) write(before, text string) {
	const part = 5
	shown := before
	for runes := []rune(text); len(runes) > 0 && r.err == nil; {
		n := min(part, len(runes))
		typed := string(runes[:n])
		r.tmux("send-keys", "-l", typed)
		shown += typed
		r.waits(strings.TrimRight(shown, " "))
		r.frame(200 * time.Millisecond)
		runes = runes[n:]
	}
}

// save ends the terminal, and writes the recording and its picture.
func (r *recorder) save(out, name string) error {
	defer func() { _ = exec.Command("tmux", "-S", r.socket, "kill-server").Run() }()
	if r.err != nil {
		return r.err
	}
	fmt.Printf("%s: %d frames, %.1f s\n", name, len(r.cast.Frames), r.at.Seconds())
	return errors.Join(
		os.WriteFile(filepath.Join(out, name+".cast"), r.cast.Encode(), 0o644),
		os.WriteFile(filepath.Join(out, name+".svg"), r.cast.SVG(), 0o644))
}

// workspace is the folder of the workspace.
const workspace = "trips"

func main() {
	log.SetFlags(0)
	out := flag.String("out", "docs/pictures", "the `folder` for the pictures")
	program := flag.String("bough", "", "the `path` of bough, in a file of this name")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *program, *out); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, program, out string) error {
	dir, err := os.MkdirTemp("", "bough-terminal-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := fill(ctx, program, filepath.Join(dir, workspace)); err != nil {
		return err
	}
	return errors.Join(tree(ctx, dir, program, out), page(ctx, dir, program, out))
}

// fill makes a workspace: the conversation of the fixtures with a checkpoint, a branch and a
// bookmark, and conversations of Claude Code.
func fill(ctx context.Context, program, dir string) error {
	if err := os.CopyFS(dir, os.DirFS("fixtures/demo")); err != nil {
		return err
	}
	const lisbon = "A weekend in Lisbon"
	for _, args := range [][]string{
		{"import", "docs/pictures/claude"},
		{"checkpoint", lisbon, "--name", "Before the budget"},
		{"bookmark", lisbon + "@23e29eb0", "the sardines"},
		{"branch", lisbon + "@849dde0b", "--name", "By the sea instead"},
		{"append", "What if we stay by the sea instead?"},
		{"append", "--role", "assistant", "Then take the train to Cascais on Friday evening and sleep there:\n\n- Saturday: the cliffs at Boca do Inferno, early, then the beach\n- Sunday: back by eleven, before the rain, for the tile museum\n\nIt costs a little more, and you wake up to the waves."},
		{"rewind", lisbon + "@849dde0b"},
		{"append", "And if it rains all weekend?"},
		{"append", "--role", "assistant", "Then Gulbenkian on Saturday, with its garden between the showers, and on Sunday the tile museum."},
	} {
		cmd := exec.CommandContext(ctx, program, append([]string{"-w", dir}, args...)...)
		if printed, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %v: %s", cmd, err, printed)
		}
	}
	return nil
}

func tree(ctx context.Context, dir, program, out string) error {
	r := newRecorder(ctx, dir, program, "tree", "bough tree")
	r.tmux("send-keys", "-l", "clear; bough tree")
	r.press(0, "A weekend in Lisbon", "Enter")
	if r.err == nil {
		r.cast.Height = strings.Count(strings.TrimRight(r.cast.Frames[0].Screen, "\n"), "\n") + 1
	}
	return r.save(out, "terminal-tree")
}

// page records a story: search, branch, write, compare, and undo.
func page(ctx context.Context, dir, program, out string) error {
	r := newRecorder(ctx, dir, program, "ui", "bough ui: search, branch, write, compare, and undo")
	r.tmux("send-keys", "-l", "clear; bough")
	r.press(1500*time.Millisecond, "Gulbenkian", "Enter")
	r.press(300*time.Millisecond, "Search:", "/")
	r.write("Search: ", "sardines")
	r.waits("Cais do Sodr")
	r.frame(1200 * time.Millisecond)
	r.press(1500*time.Millisecond, "· ★ the sardines", "Enter")
	r.press(300*time.Millisecond, "Name of the branch", "b")
	r.write("\n", "No fish")
	r.press(1500*time.Millisecond, "Created branch", "Enter")
	r.press(300*time.Millisecond, "Message:", "i")
	r.write("\n", "And where do we eat without fish?")
	r.press(1500*time.Millisecond, "Added a message", "Enter")
	r.press(800*time.Millisecond, "Comparing with", "=")
	r.press(300*time.Millisecond, "Go to:", "C-k")
	r.write("Go to: ", "By the sea")
	r.press(900*time.Millisecond, "you wake up", "Enter")
	r.press(2500*time.Millisecond, "Compare, after", "=")
	r.press(400*time.Millisecond, "? help", "q")
	r.press(1200*time.Millisecond, "Undo back to:", "L")
	r.press(400*time.Millisecond, "? help", "Escape")
	r.press(2500*time.Millisecond, "Undid", "u")
	return r.save(out, "terminal-ui")
}
