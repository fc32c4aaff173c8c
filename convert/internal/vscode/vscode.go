// Package vscode finds the files that VS Code, and the editors made of its sources, keep for
// a user: the folder User, in which globalStorage has the data of extensions and
// workspaceStorage a folder for each folder that was open, with the address of that folder in
// workspace.json.
//
// The places are those of src/vs/platform/environment/node/userDataPath.ts in the repository
// microsoft/vscode.
package vscode

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tidwall/gjson"
)

// Editors are the names of VS Code's folders: its own, and those of other editors.
var (
	Own    = []string{"Code", "Code - Insiders", "VSCodium"}
	Others = []string{"Cursor", "Windsurf"}
)

// Users returns the folders User of editors, and that of the server which VS Code starts on
// a remote machine.
func Users(m transcript.Machine, editors ...string) []string {
	return append([]string{path.Join(m.Home, ".vscode-server", "data", "User")}, Local(m, editors...)...)
}

// Local returns the folders User of editors on this machine.
func Local(m transcript.Machine, editors ...string) (list []string) {
	config := cmp.Or(m.Env("XDG_CONFIG_HOME"), path.Join(m.Home, ".config"))
	switch m.OS {
	case "darwin":
		config = path.Join(m.Home, "Library", "Application Support")
	case "windows":
		config = cmp.Or(m.Env("APPDATA"), path.Join(m.Home, "AppData", "Roaming"))
	}
	config = cmp.Or(m.Env("VSCODE_APPDATA"), config)
	for _, editor := range editors {
		list = append(list, path.Join(config, editor, "User"))
	}
	return list
}

// Storages returns the folders in workspaceStorage of editors for a folder, for each editor the
// one that changed last first: VS Code keeps another one if a folder is made anew. A folder on a
// remote machine is another one, even if its path is the same.
func Storages(m transcript.Machine, dir string, editors ...string) (list []string) {
	for _, storage := range AllStorages(m, editors...) {
		data, err := m.Read(path.Join(storage, "workspace.json"))
		if err != nil || !strings.HasPrefix(gjson.GetBytes(data, "folder").Str, "file:") {
			continue
		}
		if is := Folder(data); is != "" && (is == dir || m.OS == "windows" && strings.EqualFold(is, dir)) {
			list = append(list, storage)
		}
	}
	return list
}

// AllStorages returns the folders in workspaceStorage of editors.
func AllStorages(m transcript.Machine, editors ...string) (list []string) {
	if m.Names == nil || m.Read == nil {
		return nil
	}
	for _, user := range Local(m, editors...) {
		all := path.Join(user, "workspaceStorage")
		for _, name := range m.Names(all) {
			list = append(list, path.Join(all, name))
		}
	}
	return list
}

// Folder returns the path of the folder that a file workspace.json names. It returns "" for
// one that names no folder of a machine, or several in the file of a workspace.
func Folder(workspace []byte) string {
	scheme, rest, _ := strings.Cut(gjson.GetBytes(workspace, "folder").Str, "://")
	host, dir, ok := strings.Cut(rest, "/")
	dir, err := url.PathUnescape("/" + dir)
	switch {
	case err != nil || !ok:
		return ""
	case scheme == "file" && host != "":
		return `\\` + host + strings.ReplaceAll(dir, "/", `\`)
	case scheme == "file" && len(dir) > 2 && dir[2] == ':': // of a drive
		return strings.ToUpper(dir[1:2]) + strings.ReplaceAll(dir[2:], "/", `\`)
	case scheme == "file", scheme == "vscode-remote":
		return dir
	}
	return ""
}
