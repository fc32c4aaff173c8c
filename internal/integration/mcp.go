package integration

import (
	"path/filepath"
	"slices"

	"github.com/bough-dev/bough/internal/settingsfile"
)

// serverName is the name of the MCP server in all settings.
const serverName = "bough"

// A server is the entry of an MCP server. The type is omitted where a program has none.
type server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// Clients returns the programs that can start bough as an MCP server.
func Clients() []Program {
	return []Program{
		{
			Name: "claude-code", Aliases: []string{"claude"},
			Dirs: func(m Machine) []string { return []string{m.dir("CLAUDE_CONFIG_DIR", ".claude")} },
			Target: func(m Machine, c Call) Target {
				return c.server(filepath.Join(m.dir("CLAUDE_CONFIG_DIR"), ".claude.json"), "mcpServers", "stdio")
			},
		},
		{
			Name: "claude-desktop",
			Dirs: func(m Machine) []string { return []string{m.appData("Claude")} },
			Target: func(m Machine, c Call) Target {
				return c.server(filepath.Join(m.appData("Claude"), "claude_desktop_config.json"), "mcpServers", "")
			},
			After: "restart Claude Desktop",
		},
		{
			Name: "cursor",
			Dirs: func(m Machine) []string { return []string{filepath.Join(m.Home, ".cursor")} },
			Target: func(m Machine, c Call) Target {
				return c.server(filepath.Join(m.Home, ".cursor", "mcp.json"), "mcpServers", "")
			},
		},
		{
			Name: "vscode", Aliases: []string{"code"},
			Dirs: func(m Machine) []string { return []string{m.appData(filepath.Join("Code", "User"))} },
			Target: func(m Machine, c Call) Target {
				return c.server(filepath.Join(m.appData("Code"), "User", "mcp.json"), "servers", "stdio")
			},
		},
		{
			Name: "codex", Aliases: []string{"codex-cli"},
			Dirs: codexDirs,
			Target: func(m Machine, c Call) Target {
				t := c.server(filepath.Join(codexDir(m), "config.toml"), "mcp_servers", "")
				t.Set.Syntax = settingsfile.TOML
				return t
			},
		},
		{
			Name: "gemini", Aliases: []string{"gemini-cli"},
			Dirs: geminiDirs,
			Target: func(m Machine, c Call) Target {
				return c.server(filepath.Join(geminiDir(m), "settings.json"), "mcpServers", "")
			},
		},
		{
			Name: "zed",
			Dirs: func(m Machine) []string { return []string{zedDir(m)} },
			Target: func(m Machine, c Call) Target {
				return c.server(filepath.Join(zedDir(m), "settings.json"), "context_servers", "")
			},
		},
	}
}

// zedDir returns the folder of Zed's settings, which is in ~/.config on macOS too.
func zedDir(m Machine) string {
	if m.GOOS == "windows" {
		return m.appData("Zed")
	}
	return m.config("zed")
}

// server returns the target with the MCP server in the object member of a file.
func (c Call) server(path, member, kind string) Target {
	args := []string{"-w", c.Workspace, "mcp"}
	return Target{Path: path, Set: &settingsfile.Set{
		Syntax:    settingsfile.JSON,
		Additions: []settingsfile.Addition{{Path: []string{member, serverName}, Value: raw(server{kind, c.Program, args})}},
		Own: func(doc any) [][]string {
			entry, _ := memberOf(doc, member, serverName).(map[string]any)
			if list, ok := entry["args"].([]any); ok && slices.Equal(texts(list), args) {
				return [][]string{{member, serverName}}
			}
			return nil
		},
	}}
}

// memberOf returns the member of a member of an object, nil if there is none.
func memberOf(doc any, outer, inner string) any {
	object, _ := doc.(map[string]any)
	object, _ = object[outer].(map[string]any)
	return object[inner]
}

// texts returns the elements of a list, "" for those that are not strings.
func texts(list []any) []string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i], _ = v.(string)
	}
	return words
}
