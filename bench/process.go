package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/session"
)

// buildBough builds the command of the module that contains this one.
func buildBough(ctx context.Context, w *work) error {
	w.bough = filepath.Join(w.dir, "bough.exe") // a name that every system runs
	out, err := exec.CommandContext(ctx, "go", "build", "-C", "..", "-o", w.bough, "./cmd/bough").CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

// openProcess calls bough as a command, from its start to its end.
func openProcess(ctx context.Context, w *work, dir string) (*running, error) {
	snapshot := func(verb string) func(string) (string, error) {
		return func(ref string) (string, error) {
			id, err := output(exec.CommandContext(ctx, w.bough, "-w", dir, verb, ref))
			return filepath.Join(dir, session.FileName(strings.TrimSpace(string(id)))), err
		}
	}
	return boughTasks(w, dir, boughWay{
		checkpoint: snapshot("checkpoint"),
		branch:     snapshot("branch"),
		load: func(ref string) (func([]testchat.Message) error, error) {
			doc, err := output(exec.CommandContext(ctx, w.bough, "-w", dir, "show", "--json", ref))
			return func(want []testchat.Message) error { return sameDocument(doc, compacted(want)) }, err
		},
	})
}

// output runs a command and returns what it prints.
func output(c *exec.Cmd) ([]byte, error) {
	var talk strings.Builder
	c.Stderr = &talk
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, talk.String())
	}
	return out, nil
}
