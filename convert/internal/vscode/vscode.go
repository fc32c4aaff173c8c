// Package vscode finds the files that VS Code, and the editors made of its sources, keep for
// a user: the folder User, in which globalStorage has the data of extensions and
// workspaceStorage a folder for each folder that was open, with the address of that folder in
// workspace.json.
//
// The places are those of src/vs/platform/environment/node/userDataPath.ts in the repository
// microsoft/vscode. Of a window with several folders, workspace.json has the member workspace, the
// address of the file that lists them (src/vs/platform/storage/electron-main/storageMain.ts, and
// IStoredWorkspace in src/vs/platform/workspaces/common/workspaces.ts).
package vscode

import (
	"cmp"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/tailscale/hujson"
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

// Storages returns the folders in workspaceStorage of editors for a folder: first those of windows
// with exactly its path, then those with another path to it, such as a link, and then those with
// several folders of which it is one. Of each kind, for each editor the one that changed last is
// first: VS Code keeps another one if a folder is made anew. A folder on a remote machine is another
// one, even if its path is the same.
func Storages(m transcript.Machine, dir string, editors ...string) []string {
	var exact, same, several []string
	for _, storage := range AllStorages(m, editors...) {
		data, err := m.Read(path.Join(storage, "workspace.json"))
		if err != nil {
			continue
		}
		folder, file := gjson.GetBytes(data, "folder").Str, gjson.GetBytes(data, "workspace").Str
		is := func(other string) bool { return other != "" && samePath(m, dir, other) }
		switch {
		case strings.HasPrefix(folder, "file:") && (Folder(data) == dir || m.OS == "windows" && strings.EqualFold(Folder(data), dir)):
			exact = append(exact, storage)
		case strings.HasPrefix(folder, "file:") && is(Folder(data)):
			same = append(same, storage)
		case strings.HasPrefix(file, "file:") && slices.ContainsFunc(foldersIn(m, pathOf(file)), is):
			several = append(several, storage)
		}
	}
	return slices.Concat(exact, same, several)
}

// samePath reports whether two paths lead to the same folder.
func samePath(m transcript.Machine, a, b string) bool {
	if a == b || m.OS == "windows" && strings.EqualFold(a, b) {
		return true
	}
	one, err := m.Stat(a)
	other, err2 := m.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// foldersIn returns the folders on this machine that a file .code-workspace lists, which is JSON
// with comments.
func foldersIn(m transcript.Machine, file string) (list []string) {
	data, err := m.Read(file)
	if err != nil {
		return nil
	}
	if data, err = hujson.Standardize(data); err != nil {
		return nil
	}
	for _, f := range gjson.GetBytes(data, "folders").Array() {
		dir := f.Get("path").Str
		switch uri := f.Get("uri").Str; {
		case strings.HasPrefix(uri, "file:"):
			dir = pathOf(uri)
		case dir == "":
			continue
		case m.OS == "windows":
			dir = strings.ReplaceAll(dir, `\`, "/")
			if !strings.HasPrefix(dir, "/") && (len(dir) < 2 || dir[1] != ':') {
				dir = path.Join(path.Dir(strings.ReplaceAll(file, `\`, "/")), dir)
			}
			dir = strings.ReplaceAll(dir, "/", `\`)
		case !path.IsAbs(dir):
			dir = path.Join(path.Dir(file), dir)
		}
		list = append(list, dir)
	}
	return list
}

// Exists reports whether there is a file or a folder.
func Exists(m transcript.Machine, path string) bool {
	_, err := m.Stat(path)
	return err == nil
}

// AllStorages returns the folders in workspaceStorage of editors.
func AllStorages(m transcript.Machine, editors ...string) (list []string) {
	if m.Names == nil || m.Read == nil || m.Stat == nil {
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
func Folder(workspace []byte) string { return pathOf(gjson.GetBytes(workspace, "folder").Str) }

// Opens returns the path that opens a window with a file workspace.json: of its folder, or of the
// file that lists several. It returns "" if there is none on this machine.
func Opens(workspace []byte) string {
	for _, name := range []string{"folder", "workspace"} {
		if uri := gjson.GetBytes(workspace, name).Str; strings.HasPrefix(uri, "file:") {
			return pathOf(uri)
		}
	}
	return ""
}

// pathOf returns the path in an address, also of a remote machine, "" if it has none.
func pathOf(uri string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
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
