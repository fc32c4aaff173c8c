// Package integration describes how other programs are set up to call bough: assistants
// that run hooks, and programs that start MCP servers. For each program it has the file to
// change and the values to add, as sets of package settingsfile; it changes nothing itself.
//
// The sources of every file, name and value are in docs/hooks.md.
package integration

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/settingsfile"
)

// A Machine is the environment of the user.
type Machine struct {
	Home string
	GOOS string
	Env  func(name string) string
}

// A Call names the program and the workspace in the installed settings.
type Call struct {
	Program   string // absolute path of bough
	Workspace string // absolute path
}

// A Target is a file that is changed for a program.
type Target struct {
	Path string
	// Set is added to the file. If nil, the whole file is written, and Content is
	// its content.
	Set     *settingsfile.Set
	Content []byte
}

// A Program is a program that can be set up.
type Program struct {
	Name    string
	Aliases []string
	// Dirs returns folders of which one exists if the program was used on a machine.
	Dirs func(m Machine) []string
	// Target returns the change to make.
	Target func(m Machine, c Call) Target
	// After is what the user has to do after the installation, "" for nothing.
	After string
}

// IsNamed reports whether name is the name or an alias of a program.
func (p Program) IsNamed(name string) bool {
	return strings.EqualFold(p.Name, name) || slices.ContainsFunc(p.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
}

// dir returns the folder that an environment variable names, else the path below the
// user's home folder.
func (m Machine) dir(variable string, below ...string) string {
	if dir := m.Env(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{m.Home}, below...)...)
}

// config returns the folder of a program with settings in the user's configuration folder.
func (m Machine) config(name string) string {
	return filepath.Join(m.dir("XDG_CONFIG_HOME", ".config"), name)
}

// appData returns the folder of a desktop program: in Application Support on macOS, in
// %APPDATA% on Windows, else in the configuration folder.
func (m Machine) appData(name string) string {
	switch m.GOOS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support", name)
	case "windows":
		return filepath.Join(m.dir("APPDATA", "AppData", "Roaming"), name)
	}
	return m.config(name)
}

// raw returns v as JSON, with the characters < and > as they are.
func raw(v any) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("integration: " + err.Error())
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
