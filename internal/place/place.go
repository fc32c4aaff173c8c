// Package place knows the directories of a machine that are too wide to be the folder of a
// conversation: the home of the user, what contains it, its folders for the desktop, for
// documents and for downloads, and those for temporary files. What lies below them is not
// too wide.
package place

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A Place is a directory that is too wide.
type Place struct {
	Path string
	Why  string // "the home folder"
}

// home is why the home of the user is too wide.
const home = "the home folder"

// A Machine is what the places depend on.
type Machine struct {
	System string // as runtime.GOOS
	Home   string
	Temp   string // as os.TempDir
	// Env returns the value of a variable of the environment.
	Env func(name string) string
	// UserDirs is what the file user-dirs.dirs of the user has: on Linux, the folders with
	// names in the user's language.
	UserDirs []byte
}

// Here returns this machine.
func Here() Machine {
	home, _ := os.UserHomeDir() // "" if it is unknown
	m := Machine{System: runtime.GOOS, Home: home, Temp: os.TempDir(), Env: os.Getenv}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		dir = filepath.Join(home, ".config")
	}
	m.UserDirs, _ = os.ReadFile(filepath.Join(dir, "user-dirs.dirs")) // most machines have none
	return m
}

// Places returns the places of a machine, which need not exist.
func (m Machine) Places() []Place {
	list := []Place{{m.Temp, "the folder for temporary files"}}
	if m.System == "windows" {
		if root := m.Env("SystemRoot"); root != "" {
			list = append(list, Place{filepath.Join(root, "Temp"), "the folder for temporary files"})
		}
	} else {
		list = append(list, Place{"/tmp", "the folder for temporary files"}, Place{"/var/tmp", "the folder for temporary files"})
	}
	if m.Home != "" {
		list = append(list, Place{m.Home, home})
		homes := []string{m.Home}
		if m.System == "windows" {
			for _, name := range []string{"OneDrive", "OneDriveConsumer", "OneDriveCommercial"} {
				if dir := m.Env(name); dir != "" {
					homes = append(homes, dir)
					list = append(list, Place{dir, "the folder of OneDrive"})
				}
			}
		}
		if m.System == "darwin" {
			cloud := filepath.Join(m.Home, "Library", "Mobile Documents", "com~apple~CloudDocs")
			homes = append(homes, cloud)
			list = append(list, Place{cloud, "the folder of iCloud"})
		}
		for _, dir := range homes {
			for _, name := range []string{"Desktop", "Documents", "Downloads"} {
				list = append(list, Place{filepath.Join(dir, name), "the folder " + name})
			}
		}
		list = append(list, m.userDirs()...)
	}
	return list
}

// userDirs returns the places in UserDirs. A line is XDG_DESKTOP_DIR="$HOME/Schreibtisch".
func (m Machine) userDirs() (list []Place) {
	for line := range strings.Lines(string(m.UserDirs)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		name := map[string]string{"XDG_DESKTOP_DIR": "Desktop", "XDG_DOCUMENTS_DIR": "Documents", "XDG_DOWNLOAD_DIR": "Downloads"}[key]
		value, ok := strings.CutSuffix(strings.TrimPrefix(value, `"`), `"`)
		if name == "" || !ok {
			continue
		}
		if rest, below := strings.CutPrefix(value, "$HOME/"); below {
			value = filepath.Join(m.Home, rest)
		}
		if value != "" && value[0] != '$' {
			list = append(list, Place{value, "the folder " + name})
		}
	}
	return list
}

// Refuse returns why a folder is too wide, or "". The folder is an absolute path without
// symbolic links. Same is [Same], but for tests.
func Refuse(folder string, places []Place, same func(a, b string) bool) (why string) {
	if filepath.Dir(folder) == folder {
		return "the root of a file system"
	}
	for _, p := range places {
		if p.Path != "" && same(folder, p.Path) {
			return p.Why
		}
	}
	for _, p := range places {
		if p.Why != home {
			continue
		}
		for dir := filepath.Dir(p.Path); filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			if same(folder, dir) {
				return "a folder that contains the home folder"
			}
		}
	}
	return ""
}

// Same reports whether two paths are those of one directory. A path that does not exist is
// the same as no other.
func Same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
