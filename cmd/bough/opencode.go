package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// fromOpencode runs opencode, which keeps its sessions in a database, to export those of
// the current project to a new folder, and returns the folder.
func (p *program) fromOpencode(ctx context.Context) (dir string, err error) {
	program, err := exec.LookPath("opencode")
	if err != nil {
		return "", &fault.Error{
			Code:    fault.NotFound,
			Message: "opencode is not in $PATH; it keeps its sessions in a database, which only opencode reads",
			Hint:    "run 'opencode export ID > FILE' where opencode is installed, then 'bough import FILE'",
		}
	}
	ask := func(args ...string) ([]byte, error) {
		var talk bytes.Buffer
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stderr = &talk
		out, err := cmd.Output()
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("opencode %s: %w: %s", quoteArgs(args), err, line(talk.String()))
		}
		return out, err
	}
	list, err := ask("session", "list", "--format", "json")
	if err != nil {
		return "", err
	}
	sessions := gjson.ParseBytes(list).Array()
	if dir, err = os.MkdirTemp("", "bough-opencode-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	for n, s := range sessions {
		p.meter.update("asking opencode for its sessions", int64(n), int64(len(sessions)))
		id := s.Get("id").String()
		if id == "" || filepath.Base(id) != id {
			continue
		}
		data, err := ask("export", id)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, id+".json"), data, 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}
