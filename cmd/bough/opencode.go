package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bough-dev/bough/workspace/fault"
	"github.com/tidwall/gjson"
)

// An opencodeClient runs opencode, which keeps its sessions in a database.
type opencodeClient struct {
	program  string
	exported map[string]string // when the sessions that were exported had changed, by id
}

func newOpencodeClient() (*opencodeClient, error) {
	program, err := exec.LookPath("opencode")
	if err != nil {
		return nil, &fault.Error{
			Code:    fault.NotFound,
			Message: "opencode is not in $PATH; it keeps its sessions in a database, which only opencode reads",
			Hint:    "run 'opencode export ID > FILE' where opencode is installed, then 'bough import FILE'",
		}
	}
	return &opencodeClient{program, map[string]string{}}, nil
}

// run runs opencode and returns its output.
func (o *opencodeClient) run(ctx context.Context, args ...string) ([]byte, error) {
	var talk bytes.Buffer
	cmd := exec.CommandContext(ctx, o.program, args...)
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("opencode %s: %w: %s", quoteArgs(args), err, line(talk.String()))
	}
	return out, err
}

// export exports the sessions of the current project that changed since the last call to a new
// folder, and returns the files. done removes them. progress is called with the number of the
// sessions that were exported, and of all.
func (o *opencodeClient) export(ctx context.Context, progress func(n, of int)) (files []string, done func(), err error) {
	list, err := o.run(ctx, "session", "list", "--format", "json")
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "bough-opencode-")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	sessions := gjson.ParseBytes(list).Array()
	for n, s := range sessions {
		progress(n, len(sessions))
		id, updated := s.Get("id").String(), s.Get("updated").Raw+s.Get("time.updated").Raw
		if id == "" || filepath.Base(id) != id || updated != "" && o.exported[id] == updated {
			continue
		}
		data, err := o.run(ctx, "export", id)
		if err != nil {
			return nil, nil, err
		}
		file := filepath.Join(dir, id+".json")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return nil, nil, err
		}
		files = append(files, file)
		o.exported[id] = updated
	}
	return files, func() { os.RemoveAll(dir) }, nil
}

// opencodeName returns the display name of an exported session.
func opencodeName(path string) string {
	return "opencode export " + strings.TrimSuffix(filepath.Base(path), ".json")
}

// opencodeDatabase is the name of the database of opencode.
const opencodeDatabase = "opencode.db"

// opencodeDir returns the folder with the database of opencode.
func opencodeDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "opencode")
	}
	return filepath.Join(machine().Home, ".local", "share", "opencode")
}
