package mcp

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bough-dev/bough/remote"
	"github.com/bough-dev/bough/workspace/fault"
)

type syncInput struct {
	Remote    string `json:"remote,omitempty" jsonschema:"the name of a remote; by default the only one, or the one named origin"`
	Direction string `json:"direction,omitempty" jsonschema:"pull gets what other machines sent, push sends what this workspace has; by default both"`
	Session   string `json:"session_id,omitempty" jsonschema:"pull only this conversation, which list_remote lists, with those that it needs"`
	DryRun    bool   `json:"dry_run,omitempty" jsonschema:"only report what would be exchanged"`
}

// maxExchanged is the length of the lists in the result of an exchange.
const maxExchanged = 20

// An exchanged is the result of an exchange, with the beginnings of its lists.
type exchanged struct {
	*remote.Result
	Omitted int `json:"omitted,omitempty" jsonschema:"how many sessions, conflicts, machines and things that were omitted are not listed, by default 0"`
}

// syncRemote exchanges the workspace with a remote that the user added, after the user confirmed it.
func syncRemote(ctx context.Context, c *call, in syncInput) (*exchanged, error) {
	if in.Session != "" && in.Direction != "pull" {
		return nil, &fault.Error{Code: fault.Usage, Message: "session_id is for the direction pull"}
	}
	info, err := remote.Find(c.w, in.Remote)
	if err != nil {
		return nil, err
	}
	verb := cmp.Or(in.Direction, "sync")
	if !in.DryRun {
		question := map[string]string{
			"pull": "Get what other machines sent to %s",
			"push": "Send all conversations, encrypted, to %s",
			"sync": "Send all conversations, encrypted, to %s, and get what other machines sent to it",
		}[verb]
		command := []string{verb, info.Name}
		if verb == "pull" {
			command = []string{verb, "--remote", info.Name}
		}
		if in.Session != "" {
			question = "Receive the conversation " + oneLine(in.Session, 100) + " from %s"
			command = append(command, in.Session)
		}
		if err := c.confirm(fmt.Sprintf(question, oneLine(info.Name+", "+info.URL, 300))+"?", info.ID, command...); err != nil {
			return nil, err
		}
	}
	args := map[string]any{"remote": info.Name, "dry_run": in.DryRun}
	if in.Session != "" {
		args["session_id"] = in.Session
	}
	r, err := callVerb[*remote.Result](ctx, c, verb, args)
	if err != nil {
		return nil, err
	}
	out := &exchanged{Result: r}
	r.Sessions = beginning(r.Sessions, &out.Omitted)
	r.Conflicts = beginning(r.Conflicts, &out.Omitted)
	r.Machines = beginning(r.Machines, &out.Omitted)
	r.Left = beginning(r.Left, &out.Omitted)
	r.Problems = beginning(r.Problems, &out.Omitted)
	return out, nil
}

func beginning[T any](list []T, omitted *int) []T {
	n := min(len(list), maxExchanged)
	*omitted += len(list) - n
	return list[:n]
}
