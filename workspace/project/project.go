// Package project identifies the projects of conversations, whatever their folders are called on a
// machine: by the address of a repository of git, else by a name that the user gives. The package
// reads configuration files of git, and writes nothing.
package project

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/gitconfig"
	"github.com/bough-dev/bough/internal/gitrepo"
)

// A Project is what a folder is about. It names no folder of any machine.
type Project struct {
	// ID is the address of a repository, HOST/PATH, as [Normalize] returns it, or a name.
	ID string `json:"id"`
	// Path is the path below the top of the repository or below the folder with the name, with
	// slashes, "" for that itself.
	Path string `json:"path"`
}

// maxID is the maximum length of an ID and of a path, in bytes.
const maxID = 1 << 10

// Valid reports whether p can come from another machine: it has an id, and its path stays below any
// folder.
func (p Project) Valid() bool {
	return ValidID(p.ID) && len(p.Path) <= maxID && (p.Path == "" || isText(p.Path) && filepath.IsLocal(filepath.FromSlash(p.Path)))
}

// ValidID reports whether id can name a project. The path of a folder cannot.
func ValidID(id string) bool {
	return id != "" && len(id) <= maxID && isText(id) && strings.TrimSpace(id) == id && !strings.ContainsAny(id, `\@?#`) &&
		!strings.HasPrefix(id, "/") && !strings.HasPrefix(id, "~") && !strings.HasPrefix(id, ".") && !strings.Contains(id, "://")
}

// isText reports whether s is on one line and has no control characters.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' })
}

// String returns the id, and the path if there is one.
func (p Project) String() string {
	if p.Path == "" {
		return p.ID
	}
	return p.ID + "/" + p.Path
}

// In returns the folder of p where its id is at a folder.
func (p Project) In(folder string) string { return filepath.Join(folder, filepath.FromSlash(p.Path)) }

// Normalize returns the id of the repository at an address, which is the same for all forms of the
// address: HOST/PATH, without scheme, port, user, password, query, fragment and the suffix .git. It
// returns "" for the path of a folder and for anything else that is not an address.
func Normalize(address string) string {
	address = strings.TrimSpace(address)
	var host, name string
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil {
			return ""
		}
		switch strings.TrimPrefix(strings.ToLower(u.Scheme), "git+") {
		case "ssh", "git", "http", "https", "ftp", "ftps":
		default:
			return "" // a file, or a helper of git
		}
		host, name = u.Hostname(), u.Path
	} else {
		before, _, _ := strings.Cut(address, "/")
		user := strings.LastIndex(before, "@") + 1
		var ok bool
		if host, name, ok = strings.Cut(address[user:], ":"); !ok || len(host) < 2 || strings.ContainsAny(host, `/\`) || strings.HasPrefix(name, ":") {
			return "" // a path, also one with the letter of a drive, or a helper of git
		}
		if at := strings.IndexAny(name, "?#"); at >= 0 {
			name = name[:at]
		}
	}
	name = strings.TrimSuffix(strings.Trim(name, "/"), ".git")
	id := strings.ToLower(host) + "/" + strings.TrimPrefix(path.Clean("/"+name), "/")
	// A path with an @ may be the rest of a password with a slash.
	if host == "" || name == "" || strings.Contains(name, "..") || !ValidID(id) {
		return ""
	}
	return id
}

// Of returns the project of a folder by the repository of git that it is in, and the folder of that.
// ok is false if there is none, or if it has no address: origin, else its only remote. Env returns
// variables of the environment, as [os.Getenv] does.
func Of(folder string, env func(name string) string) (p Project, top string, ok bool) {
	if !filepath.IsAbs(folder) {
		return p, "", false
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return p, "", false
	}
	r, _ := gitrepo.Find(real, env)
	if r == nil {
		return p, "", false
	}
	below, err := filepath.Rel(r.Top, real)
	if err != nil {
		return p, "", false
	}
	p.ID = Normalize(addressOf(r.Config()))
	if below != "." {
		p.Path = filepath.ToSlash(below)
	}
	return p, r.Top, p.Valid()
}

// addressOf returns the address of origin, else that of the only remote, else "".
func addressOf(c gitconfig.Config) string {
	urls := map[string]string{} // the first of each remote
	for _, e := range c {
		name, ok := strings.CutPrefix(e.Key, "remote.")
		if name, ok2 := strings.CutSuffix(name, ".url"); ok && ok2 && urls[name] == "" {
			urls[name] = e.Value
		}
	}
	address := urls["origin"]
	if len(urls) == 1 {
		for _, address = range urls {
		}
	}
	return expand(address, c)
}

// expand replaces the beginning of an address as url.BASE.insteadOf says; the longest counts.
func expand(address string, c gitconfig.Config) string {
	longest, base := "", ""
	for _, e := range c {
		name, ok := strings.CutPrefix(e.Key, "url.")
		if name, ok2 := strings.CutSuffix(name, ".insteadof"); ok && ok2 && len(e.Value) > len(longest) && strings.HasPrefix(address, e.Value) {
			longest, base = e.Value, name
		}
	}
	if longest == "" {
		return address
	}
	return base + address[len(longest):]
}

// A Place is where a project is on this machine.
type Place struct {
	ID       string `json:"project"`
	Folder   string `json:"folder"`   // absolute, "" if it is not known
	Named    bool   `json:"named"`    // the user named the folder
	Sessions int    `json:"sessions"` // about it
}
