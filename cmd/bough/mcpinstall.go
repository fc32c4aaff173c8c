package main

import (
	"github.com/bough-dev/bough/cmd/bough/internal/setup"
	"github.com/bough-dev/bough/internal/integration"
)

// mcpSetupVerbs are the verbs below 'bough mcp' that change the settings of MCP clients.
func (p *program) mcpSetupVerbs() []verb {
	return []verb{
		p.setupVerb(setupVerb{
			kind: setup.MCP, parent: "mcp", install: true, programs: integration.Clients,
			short: "add bough to the MCP servers of other programs",
			long: `Adds the MCP server "bough", which is 'bough mcp' with this workspace, to your settings of each TOOL,
with absolute paths. Shows each change first and asks. Other settings, comments and layout are
kept, and installing again changes nothing.`,
		}),
		p.setupVerb(setupVerb{
			kind: setup.MCP, parent: "mcp", programs: integration.Clients,
			short: "remove bough from the MCP servers of other programs",
			long: `Removes what 'bough mcp install' added for this workspace, and nothing else. If nothing else changed
meanwhile, each file is as it was before, byte for byte.`,
		}),
		p.setupStatusVerb(setup.MCP, "mcp", integration.Clients),
	}
}
