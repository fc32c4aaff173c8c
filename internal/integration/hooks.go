package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bough-dev/bough/internal/settingsfile"
	"github.com/tidwall/gjson"
)

// A Hooked is a program that runs hooks.
type Hooked struct {
	Program
	Events []Event
	// RootVariable is the environment variable with the folder of the project, "" if there is
	// none.
	RootVariable string
}

// An Event is a moment at which a program runs a hook.
type Event struct {
	Name string
	// Before reports whether the event is before a prompt of the user, when a checkpoint is
	// made.
	Before bool
	// After reports whether the event is after a turn. Other events are at the end of a
	// session.
	After bool
}

// Root returns the folder of the project in which a program runs a hook: that of its variable,
// else dir.
func (h Hooked) Root(env func(name string) string, dir string) string {
	if root := env(h.RootVariable); h.RootVariable != "" && filepath.IsAbs(root) {
		return root
	}
	return dir
}

// Event returns the event with a name.
func (h Hooked) Event(name string) (Event, bool) {
	i := slices.IndexFunc(h.Events, func(e Event) bool { return e.Name == name })
	if i < 0 {
		return Event{}, false
	}
	return h.Events[i], true
}

// Hooks returns the programs that run hooks. Their names are those of the formats of their
// conversations.
func Hooks() []Hooked {
	claude := []Event{{"UserPromptSubmit", true, false}, {"Stop", false, true}, {"SessionEnd", false, false}}
	codex := []Event{{"UserPromptSubmit", true, false}, {"Stop", false, true}}
	gemini := []Event{{"BeforeAgent", true, false}, {"AfterAgent", false, true}, {"SessionEnd", false, false}}
	return []Hooked{
		{Program{
			Name: "claude-code", Aliases: []string{"claude"},
			Dirs: func(m Machine) []string { return []string{m.dir("CLAUDE_CONFIG_DIR", ".claude")} },
			Target: func(m Machine, c Call) Target {
				return c.hooks(m, filepath.Join(m.dir("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"), "claude-code", claude, seconds)
			},
		}, claude, "CLAUDE_PROJECT_DIR"},
		{Program{
			Name: "codex", Aliases: []string{"codex-cli"},
			Dirs: codexDirs,
			Target: func(m Machine, c Call) Target {
				return c.hooks(m, filepath.Join(codexDir(m), "hooks.json"), "codex", codex, seconds)
			},
			After: "Codex runs a new hook only after you trust it: type /hooks in Codex",
		}, codex, ""},
		{Program{
			Name: "gemini", Aliases: []string{"gemini-cli"},
			Dirs: geminiDirs,
			Target: func(m Machine, c Call) Target {
				return c.hooks(m, filepath.Join(geminiDir(m), "settings.json"), "gemini", gemini, milliseconds)
			},
		}, gemini, "GEMINI_PROJECT_DIR"},
		{Program{
			Name: "opencode", Aliases: []string{"open-code"},
			Dirs: func(m Machine) []string {
				return []string{opencodeDir(m), filepath.Join(m.dir("XDG_DATA_HOME", ".local", "share"), "opencode")}
			},
			Target: func(m Machine, c Call) Target {
				return Target{Path: filepath.Join(opencodeDir(m), "plugins", "bough.js"), Content: c.plugin(opencodePlugin)}
			},
		}, []Event{{"chat.message", true, false}, {"session.idle", false, true}}, ""},
		{Program{
			Name: "pi",
			Dirs: func(m Machine) []string { return []string{piDir(m)} },
			Target: func(m Machine, c Call) Target {
				return Target{Path: filepath.Join(piDir(m), "extensions", "bough.ts"), Content: c.plugin(piExtension)}
			},
		}, []Event{{"before_agent_start", true, false}, {"agent_end", false, true}, {"session_shutdown", false, false}}, ""},
	}
}

func codexDir(m Machine) string    { return m.dir("CODEX_HOME", ".codex") }
func codexDirs(m Machine) []string { return []string{codexDir(m)} }
func geminiDir(m Machine) string   { return filepath.Join(m.dir("GEMINI_CLI_HOME"), ".gemini") }
func geminiDirs(m Machine) []string {
	return []string{geminiDir(m)}
}
func piDir(m Machine) string { return m.dir("PI_CODING_AGENT_DIR", ".pi", "agent") }

func opencodeDir(m Machine) string {
	if dir := m.Env("OPENCODE_CONFIG_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	return m.config("opencode")
}

// The time limit of a hook, which ends far earlier, in the units of the programs.
const (
	seconds      = 10
	milliseconds = 10_000
)

// A hookGroup is an entry of an event in the settings of Claude Code, Codex and Gemini.
type hookGroup struct {
	Hooks []hookHandler `json:"hooks"`
}

type hookHandler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// hooks returns the target with a hook for each event.
func (c Call) hooks(m Machine, path, tool string, events []Event, timeout int) Target {
	set := &settingsfile.Set{Syntax: settingsfile.JSON}
	for _, e := range events {
		set.Additions = append(set.Additions, settingsfile.Addition{
			Path: []string{"hooks", e.Name}, Append: true,
			Value: raw(hookGroup{[]hookHandler{{"command", c.hookCommand(m, tool, e.Name), timeout}}}),
		})
	}
	set.Own = func(doc any) [][]string {
		var own [][]string
		for _, e := range events {
			ending := c.hookEnding(m, tool, e.Name)
			groups, _ := memberOf(doc, "hooks", e.Name).([]any)
			for i, group := range groups {
				path := []string{"hooks", e.Name, strconv.Itoa(i)}
				own = append(own, ownHandlers(path, group, ending)...)
			}
		}
		return own
	}
	return Target{Path: path, Set: set}
}

// ownHandlers returns the path of a group if all its handlers are commands with the given
// ending, else those of these handlers.
func ownHandlers(path []string, group any, ending string) (own [][]string) {
	object, _ := group.(map[string]any)
	handlers, _ := object["hooks"].([]any)
	for i, h := range handlers {
		handler, _ := h.(map[string]any)
		if command, _ := handler["command"].(string); strings.HasSuffix(strings.TrimSuffix(command, guard), ending) {
			own = append(own, append(slices.Clone(path), "hooks", strconv.Itoa(i)))
		}
	}
	if len(own) > 0 && len(own) == len(handlers) {
		return [][]string{path}
	}
	return own
}

// hookCommand returns the command line of a hook.
func (c Call) hookCommand(m Machine, tool, event string) string {
	program := quoted(m, c.Program)
	if m.GOOS == "windows" && tool == "gemini" && strings.HasPrefix(program, `"`) {
		program = "& " + program // for PowerShell
	}
	if m.GOOS != "windows" {
		return program + c.hookEnding(m, tool, event) + guard
	}
	return program + c.hookEnding(m, tool, event)
}

// guard ends the command line of a hook where the shell is sh: a program that is missing or
// crashes does not fail the tool. Exit code 2, which is also that of a crash, would block
// the prompt.
const guard = " || true"

// hookEnding returns the part of the command line of a hook after the program, without
// guard.
func (c Call) hookEnding(m Machine, tool, event string) string {
	return fmt.Sprintf(" -w %s hook run %s %s", quoted(m, c.Workspace), tool, event)
}

// quoted returns a path as a word of a command line, quoted if it needs to be. On Windows
// the shells of the programs differ, but all of them take slashes and double quotes.
func quoted(m Machine, path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,", r)
	}
	if m.GOOS == "windows" {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	switch {
	case !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }):
		return path
	case m.GOOS == "windows":
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// An Input is what a program passes to a hook.
type Input struct {
	Session    string `json:"session"`
	Transcript string `json:"transcript,omitempty"` // path of the file, "" if there is none
	Prompt     string `json:"prompt,omitempty"`
	PromptID   string `json:"prompt_id,omitempty"` // that its transcript has too, "" if it has none
	Dir        string `json:"dir,omitempty"`       // where the conversation is, "" if unknown
	// Export is the conversation as 'opencode export' prints it, nil for other programs.
	Export []byte `json:"export,omitempty"`
	// Side is true for a conversation that another conversation of the program started.
	Side bool `json:"side,omitempty"`
}

// ParseInput parses the JSON that a program passes to a hook.
func ParseInput(data []byte) (Input, error) {
	if !json.Valid(data) {
		return Input{}, errors.New("the input of the hook is not JSON")
	}
	v := gjson.ParseBytes(data)
	text := func(name string) string {
		if r := v.Get(name); r.Type == gjson.String {
			return r.Str
		}
		return ""
	}
	in := Input{Session: text("session_id"), Transcript: text("transcript_path"), Prompt: text("prompt"), PromptID: text("prompt_id"), Side: text("agent_id") != ""}
	if export := v.Get("export"); export.IsObject() {
		in.Export = []byte(export.Raw)
		in.Side = in.Side || export.Get("info.parentID").Str != ""
	}
	if dir := text("cwd"); filepath.IsAbs(dir) {
		in.Dir = dir
	}
	if in.Session == "" && in.Transcript == "" && in.Export == nil {
		return in, errors.New("the input of the hook names no session")
	}
	if in.Transcript != "" && !filepath.IsAbs(in.Transcript) {
		return in, errors.New("the path of the transcript is not absolute")
	}
	return in, nil
}
