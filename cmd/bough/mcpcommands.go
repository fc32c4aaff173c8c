package main

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/api"
	"github.com/bough-dev/bough/internal/printable"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// mcpCommands is the setting with the commands that an assistant may run by name. A command
// runs only if a person typed exactly it at a terminal, into this setting.
const mcpCommands = "mcp.commands"

// approveCommands approves the commands in a value of the setting, nil for none, if a person
// typed it at a terminal. Otherwise it notes which are not approved.
func (p *program) approveCommands(ctx context.Context, value []byte) error {
	commands := map[string]string{}
	if value != nil {
		if err := json.Unmarshal(value, &commands); err != nil {
			return err
		}
	}
	w, err := p.open(ctx, checkpoint.Retention{})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		s := storedCommand{Workspace: realPath(w.Dir()), Command: commands[name]}
		switch {
		case p.canChoose():
			p.keepTyped(w, s)
		case !s.approved():
			p.note("the command " + name + " is not approved, because it was not set at a terminal: " + s.summary())
		}
	}
	return nil
}

// settingCommands returns the commands of the setting by name.
func settingCommands(w *workspace.Workspace) (map[string]string, error) {
	layered, err := api.Settings(w.Dir())
	if err != nil {
		return nil, err
	}
	commands := map[string]string{}
	return commands, api.SettingError(layered.Decode(mcpCommands, &commands))
}

// mcpCommand returns a function that returns the command with a name, for an assistant or the
// page.
func mcpCommand(w *workspace.Workspace) func(name string) (string, error) {
	return func(name string) (string, error) {
		commands, err := settingCommands(w)
		if err != nil {
			return "", err
		}
		s := storedCommand{Workspace: realPath(w.Dir()), Command: commands[name]}
		switch {
		case strings.TrimSpace(s.Command) == "":
			e := &fault.Error{Code: fault.NotFound, Message: "no command " + name + " in the setting " + mcpCommands}
			if names := slices.Sorted(maps.Keys(commands)); len(names) > 0 {
				e.Hint = "commands are " + strings.Join(names, ", ")
			}
			return "", e
		case !s.approved():
			return "", &fault.Error{
				Code: fault.Refused, Message: "the user has not approved the command " + name + ": " + s.summary(),
				Hint: "the user can approve it at a terminal: bough -w " + printable.ShellWord(w.Dir()) + " config " + mcpCommands + " " + printable.ShellWord(name+"="+s.Command),
			}
		}
		return s.Command, nil
	}
}
