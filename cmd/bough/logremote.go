package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/urfave/cli/v2"
)

// A remoteLog is the document of 'bough log --remote'.
type remoteLog struct {
	Remote     string             `json:"remote"`
	Operations []remote.Operation `json:"operations"` // newest first
}

// logRemote lists the operations of all machines of the remote, newest first.
func (p *program) logRemote(c *cli.Context, w *workspace.Workspace) error {
	if c.IsSet("in") {
		return usageError("--remote excludes --in")
	}
	r, info, err := p.openRemote(c.Context, w, "")
	if err != nil {
		return err
	}
	defer r.Close()
	list, err := r.Operations(c.Context)
	if err != nil {
		return err
	}
	slices.Reverse(list)
	if n := c.Int("limit"); n > 0 {
		list = list[:min(n, len(list))]
	}
	if p.json {
		return p.printJSON(remoteLog{info.Name, list})
	}
	if len(list) == 0 {
		fmt.Fprintln(p.stderr, "No operations yet. 'bough sync' exchanges them.")
	}
	names := titles(c.Context, w)
	widest, people := 0, map[string]bool{}
	for _, o := range list {
		people[o.Person] = true
	}
	who := func(o remote.Operation) string {
		if len(people) < 2 || o.Person == "" {
			return line(o.Machine)
		}
		return line(o.Person + " (" + o.Machine + ")")
	}
	for _, o := range list {
		widest = max(widest, width(who(o)))
	}
	for _, one := range list {
		var o history.Operation
		if json.Unmarshal(one.Line, &o) != nil {
			continue // of a newer version
		}
		text := fmt.Sprintf("%s  %-14s  %-12s  ", pad(who(one), widest), age(o.Time), clean(o.Verb))
		fmt.Fprintln(p.stdout, text+p.paint.fit(line(about(o, names)), p.paint.width-width(text)))
	}
	return nil
}
