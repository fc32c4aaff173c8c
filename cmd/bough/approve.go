package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/urfave/cli/v2"
)

// A storedCommand is a command line that a workspace stores: the model of an agent, or the
// runner of an exploration. Any writer to the workspace can change it, so it runs only
// after the user approved exactly these values.
type storedCommand struct {
	Workspace string            `json:"workspace"`
	Command   string            `json:"command"`
	Dir       string            `json:"dir,omitempty"`      // the folder that is copied for it
	Bindings  map[string]string `json:"bindings,omitempty"` // additions to its environment
}

// An approver decides whether stored commands run.
type approver struct {
	dir   string          // of the workspace
	allow bool            // --allow-command
	asker func() *asker   // returns nil without a terminal
	typed map[string]bool // commands of the command line, which need no approval
}

// approve returns an error unless the command is approved: typed, approved before, allowed
// by a flag, or confirmed now. A command allowed or confirmed now stays approved.
func (a *approver) approve(ctx context.Context, s storedCommand) error {
	s.Workspace = realPath(a.dir)
	if a.typed[s.Command] && s.Dir == "" && len(s.Bindings) == 0 || s.approved() {
		return nil
	}
	if a.allow {
		return s.keep()
	}
	if asker := a.asker(); asker != nil {
		if asker.ask(ctx, fmt.Sprintf("%s stores a command that you have not approved:\n  %s\nRun it? [y/N] ", clean(s.Workspace), s.summary())) {
			return s.keep()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &fault.Error{Code: fault.Refused, Message: "command not approved; it did not run: " + s.summary()}
	}
	return &fault.Error{
		Code:    fault.Refused,
		Message: "the workspace stores a command that you have not approved; it did not run: " + s.summary(),
		Hint:    "--allow-command approves and runs it; on a terminal bough asks",
	}
}

// summary describes the command on one line.
func (s *storedCommand) summary() string {
	words := []string{exact(s.Command)}
	if s.Dir != "" {
		words = append(words, "in a copy of "+exact(s.Dir))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Bindings)) {
		words = append(words, "with "+exact(name+"="+s.Bindings[name]))
	}
	return strings.Join(words, ", ")
}

// exact returns s on one line, quoted if printing it unchanged would alter or hide
// characters, so that no two texts look the same.
func exact(s string) string {
	hidden := func(r rune) bool { return !strconv.IsPrint(r) }
	if !utf8.ValidString(s) || line(s) != s || strings.ContainsFunc(s, hidden) {
		return strconv.Quote(s)
	}
	return s
}

// path returns the file that records the approval. Its name is a hash of all fields of the
// command.
func (s *storedCommand) path() (string, error) {
	dir, err := stateDir()
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "approved", fmt.Sprintf("%x", sha256.Sum256(data))), nil
}

func (s *storedCommand) approved() bool {
	path, err := s.path()
	if err != nil {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// keep records that the command is approved. The file holds the command, for a person
// to read; removing it takes the approval back.
func (s *storedCommand) keep() error {
	path, err := s.path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		_, err = f.Write(append(data, '\n'))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// keepTyped records the approval of a command from the command line, which is now stored.
// If that fails, bough asks about it later.
func (p *program) keepTyped(w *workspace.Workspace, s storedCommand) {
	s.Workspace = realPath(w.Dir())
	if err := s.keep(); err != nil {
		p.note("the approval of the command is not stored: " + err.Error())
	}
}

// keepTypedModel is keepTyped for the id of a model.
func (p *program) keepTypedModel(w *workspace.Workspace, id string) {
	if command, ok := strings.CutPrefix(id, "command:"); ok && strings.TrimSpace(command) != "" {
		p.keepTyped(w, storedCommand{Command: command})
	}
}

// newApprover returns the approver of a verb. Models in its flags count as typed.
func (p *program) newApprover(c *cli.Context, w *workspace.Workspace, asker func() *asker) *approver {
	a := &approver{dir: w.Dir(), allow: c.Bool("allow-command"), asker: asker, typed: map[string]bool{}}
	for _, flag := range []string{"model", "fallback"} {
		if command, ok := strings.CutPrefix(c.String(flag), "command:"); ok {
			a.typed[command] = true
		}
	}
	return a
}

func allowCommandFlag() cli.Flag {
	return &cli.BoolFlag{Name: "allow-command", DisableDefaultText: true, Usage: "approve the command that the workspace stores as a model or runner, and run it without asking"}
}

// stateDir returns the user's folder for the state of bough.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bough"), nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		dir, err := os.UserConfigDir()
		return filepath.Join(dir, "bough"), err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "bough"), nil
}
