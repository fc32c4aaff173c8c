package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/settingsfile"
)

func machine(goos string, env ...string) Machine {
	return Machine{Home: "/home/ada", GOOS: goos, Env: func(name string) string {
		for i := 0; i+1 < len(env); i += 2 {
			if env[i] == name {
				return env[i+1]
			}
		}
		return ""
	}}
}

var here = Call{Program: "/usr/bin/bough", Workspace: "/home/ada/my notes"}

// TestInputs: what each program passes to each of its hooks is understood.
func TestInputs(t *testing.T) {
	files := 0
	for _, h := range Hooks() {
		for _, e := range h.Events {
			files++
			data, err := os.ReadFile(filepath.Join("testdata", h.Name+"."+e.Name+".json"))
			if err != nil {
				t.Error(err)
				continue
			}
			in, err := ParseInput(data)
			if err != nil || in.Session == "" || in.Side {
				t.Errorf("%s %s: %+v, %v", h.Name, e.Name, in, err)
			}
			if h.Name == "opencode" {
				if !json.Valid(in.Export) || !strings.HasPrefix(string(in.Export), `{"info":`) {
					t.Errorf("%s %s: the export is %.40q", h.Name, e.Name, in.Export)
				}
			} else if !strings.Contains(in.Transcript, in.Session[:8]) {
				t.Errorf("%s %s: the transcript is %q", h.Name, e.Name, in.Transcript)
			}
			if e.Before && in.Export == nil && !strings.HasPrefix(in.Prompt, "And a ") {
				t.Errorf("%s %s: the prompt is %q", h.Name, e.Name, in.Prompt)
			}
			if got, ok := h.Event(e.Name); !ok || got != e {
				t.Errorf("%s has no event %s", h.Name, e.Name)
			}
		}
		if _, ok := h.Event("Nap"); ok {
			t.Errorf("%s has an event Nap", h.Name)
		}
	}
	if entries, err := filepath.Glob("testdata/*.json"); len(entries) != files || err != nil {
		t.Errorf("%d files for %d events, %v", len(entries), files, err)
	}
}

func TestBadInput(t *testing.T) {
	for input, want := range map[string]string{
		"":                        "not JSON",
		`{"session_id":"x"`:       "not JSON",
		`[]`:                      "names no session",
		`{"session_id":7}`:        "names no session",
		`{"export":"x"}`:          "names no session",
		`{"transcript_path":"a"}`: "not absolute",
	} {
		if in, err := ParseInput([]byte(input)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", input, in, err)
		}
	}
	for input, side := range map[string]bool{
		`{"session_id":"x","agent_id":"y"}`:                     true,
		`{"session_id":"x","export":{"info":{"parentID":"p"}}}`: true,
		`{"session_id":"x","transcript_path":null}`:             false,
	} {
		if in, err := ParseInput([]byte(input)); err != nil || in.Side != side {
			t.Errorf("%q: %+v, %v", input, in, err)
		}
	}
}

// TestPaths: each program has its file where it looks for it.
func TestPaths(t *testing.T) {
	if filepath.Separator != '/' {
		t.Skip("the paths of this test have slashes")
	}
	moved := machine("linux", "CLAUDE_CONFIG_DIR", "/c", "CODEX_HOME", "/x", "GEMINI_CLI_HOME", "/g", "OPENCODE_CONFIG_DIR", "/o",
		"PI_CODING_AGENT_DIR", "/p", "XDG_CONFIG_HOME", "/cfg")
	hooks, clients := map[string]Program{}, map[string]Program{}
	for _, h := range Hooks() {
		hooks[h.Name] = h.Program
	}
	for _, c := range Clients() {
		clients[c.Name] = c
	}
	for _, c := range []struct {
		programs map[string]Program
		m        Machine
		name     string
		want     string
	}{
		{hooks, machine("linux"), "claude-code", "/home/ada/.claude/settings.json"},
		{hooks, machine("linux"), "codex", "/home/ada/.codex/hooks.json"},
		{hooks, machine("linux"), "gemini", "/home/ada/.gemini/settings.json"},
		{hooks, machine("linux"), "opencode", "/home/ada/.config/opencode/plugins/bough.js"},
		{hooks, machine("linux"), "pi", "/home/ada/.pi/agent/extensions/bough.ts"},
		{hooks, moved, "claude-code", "/c/settings.json"},
		{hooks, moved, "codex", "/x/hooks.json"},
		{hooks, moved, "gemini", "/g/.gemini/settings.json"},
		{hooks, moved, "opencode", "/o/plugins/bough.js"},
		{hooks, moved, "pi", "/p/extensions/bough.ts"},
		{clients, machine("linux"), "claude-code", "/home/ada/.claude.json"},
		{clients, moved, "claude-code", "/c/.claude.json"},
		{clients, machine("linux"), "claude-desktop", "/home/ada/.config/Claude/claude_desktop_config.json"},
		{clients, machine("darwin"), "claude-desktop", "/home/ada/Library/Application Support/Claude/claude_desktop_config.json"},
		{clients, machine("windows", "APPDATA", "/app"), "claude-desktop", "/app/Claude/claude_desktop_config.json"},
		{clients, machine("linux"), "cursor", "/home/ada/.cursor/mcp.json"},
		{clients, machine("linux"), "vscode", "/home/ada/.config/Code/User/mcp.json"},
		{clients, machine("darwin"), "vscode", "/home/ada/Library/Application Support/Code/User/mcp.json"},
		{clients, machine("linux"), "codex", "/home/ada/.codex/config.toml"},
		{clients, machine("linux"), "gemini", "/home/ada/.gemini/settings.json"},
		{clients, machine("linux"), "zed", "/home/ada/.config/zed/settings.json"},
		{clients, machine("darwin"), "zed", "/home/ada/.config/zed/settings.json"},
		{clients, machine("windows", "APPDATA", "/app"), "zed", "/app/Zed/settings.json"},
	} {
		p := c.programs[c.name]
		if got := p.Target(c.m, here).Path; got != c.want || len(p.Dirs(c.m)) == 0 {
			t.Errorf("%s on %s: %s, want %s", c.name, c.m.GOOS, got, c.want)
		}
	}
}

// TestServers: each client gets the server in its own form, and no other program owns it.
func TestServers(t *testing.T) {
	want := map[string]string{
		"claude-code":    `{"mcpServers":{"bough":{"type":"stdio","command":"/usr/bin/bough","args":["-w","/home/ada/my notes","mcp"]}}}`,
		"claude-desktop": `{"mcpServers":{"bough":{"command":"/usr/bin/bough","args":["-w","/home/ada/my notes","mcp"]}}}`,
		"cursor":         `{"mcpServers":{"bough":{"command":"/usr/bin/bough","args":["-w","/home/ada/my notes","mcp"]}}}`,
		"vscode":         `{"servers":{"bough":{"type":"stdio","command":"/usr/bin/bough","args":["-w","/home/ada/my notes","mcp"]}}}`,
		"gemini":         `{"mcpServers":{"bough":{"command":"/usr/bin/bough","args":["-w","/home/ada/my notes","mcp"]}}}`,
		"zed":            `{"context_servers":{"bough":{"command":"/usr/bin/bough","args":["-w","/home/ada/my notes","mcp"]}}}`,
		"codex":          "[mcp_servers.bough]\nargs = ['-w', '/home/ada/my notes', 'mcp']\ncommand = '/usr/bin/bough'\n",
	}
	for _, c := range Clients() {
		set := c.Target(machine("linux"), here).Set
		old := ""
		if set.Syntax == settingsfile.JSON {
			old = `{"a":1}`
		}
		got, _, splices, err := settingsfile.Add([]byte(old), set)
		text := strings.Replace(string(got), `"a":1,`, "", 1)
		if err != nil || text != want[c.Name] {
			t.Errorf("%s gets\n%s\nwant\n%s\n%v", c.Name, text, want[c.Name], err)
		}
		if back, err := settingsfile.Remove(got, set, splices, nil); err != nil || string(back) != old {
			t.Errorf("%s: %q, %v", c.Name, back, err)
		}
		other := c.Target(machine("linux"), Call{Program: here.Program, Workspace: "/elsewhere"}).Set
		if owned, err := settingsfile.Owned(got, other); owned || err != nil {
			t.Errorf("%s: another workspace owns the server: %v", c.Name, err)
		}
	}
}

// TestQuoted: a command line of a hook has the paths as single words.
func TestQuoted(t *testing.T) {
	for _, c := range []struct{ goos, path, want string }{
		{"linux", "/usr/bin/bough", "/usr/bin/bough"},
		{"linux", "/home/ada/my notes", "'/home/ada/my notes'"},
		{"darwin", "/a'b$(x)", `'/a'\''b$(x)'`},
		{"windows", `C:\bin\bough.exe`, "C:/bin/bough.exe"},
		{"windows", `C:\Program Files\bough.exe`, `"C:/Program Files/bough.exe"`},
	} {
		if got := quoted(machine(c.goos), c.path); got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.path, c.goos, got, c.want)
		}
	}
	if got := here.hookCommand(machine("linux"), "codex", "Stop"); got != "/usr/bin/bough -w '/home/ada/my notes' hook run codex Stop || true" {
		t.Error(got)
	}
	spaced := Call{Program: `C:\Program Files\bough.exe`, Workspace: `C:\w`}
	if got := spaced.hookCommand(machine("windows"), "gemini", "Stop"); got != `& "C:/Program Files/bough.exe" -w C:/w hook run gemini Stop` {
		t.Error(got)
	}
}

// TestMixedGroup: of a group of handlers that the user extended, only the own handler is
// removed.
func TestMixedGroup(t *testing.T) {
	target := Hooks()[0].Target(machine("linux"), here)
	added, _, splices, err := settingsfile.Add([]byte("{}\n"), target.Set)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(added), `"hooks": [
          {`, `"hooks": [
          {
            "type": "command",
            "command": "mine"
          },
          {`, 1)
	got, err := settingsfile.Remove([]byte(edited), target.Set, splices, nil)
	if err != nil || strings.Contains(string(got), "bough") || !strings.Contains(string(got), `"mine"`) || strings.Contains(string(got), "Stop") {
		t.Errorf("%s\n%v", got, err)
	}
}

func TestOwnerOf(t *testing.T) {
	want := Hooks()[3].Target(machine("linux"), here).Content
	for _, c := range []struct {
		data string
		want Owner
	}{
		{string(want), Own},
		{strings.Replace(string(want), "/usr/bin", "/opt", 1), Own},
		{strings.Replace(string(want), "my notes", "x", 1), Other},
		{string(want) + "// mine\n", Edited},
		{"// mine\n" + string(want), Foreign},
		{"", Foreign},
	} {
		if got, _ := OwnerOf([]byte(c.data), want); got != c.want {
			t.Errorf("%.80q is %s, want %s", c.data, got, c.want)
		}
	}
}
