package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/workspace/project"
)

func TestMain(m *testing.M) { os.Exit(testsize.InMemory(m).Run()) }

// addresses are addresses of repositories with their ids.
var addresses = map[string]string{
	"git@github.com:bough-dev/bough.git":                               "github.com/bough-dev/bough",
	"ssh://git@github.com/bough-dev/bough":                             "github.com/bough-dev/bough",
	"ssh://git@GitHub.com:22/bough-dev/bough.git/":                     "github.com/bough-dev/bough",
	"https://github.com/bough-dev/bough.git":                           "github.com/bough-dev/bough",
	"https://me:hunter2@github.com/bough-dev/bough.git":                "github.com/bough-dev/bough",
	"https://hunter2@github.com:8443/bough-dev//bough?token=hunter2#x": "github.com/bough-dev/bough",
	"git+ssh://me@github.com/bough-dev/bough":                          "github.com/bough-dev/bough",
	"me:hunter2@github.com:bough-dev/bough.git?token=hunter2":          "github.com/bough-dev/bough",
	"github.com:bough-dev/bough#hunter2":                               "github.com/bough-dev/bough",

	"https://me:hun/ter2@github.com/bough-dev/bough": "", // the password has a slash
	"https://hun/hunter2@github.com/bough":           "",
	"/srv/git/bough.git":                             "",
	"file:///srv/git/bough.git":                      "",
	`C:\src\bough`:                                   "",
	"c:/src/bough":                                   "",
	"../bough":                                       "",
	"ext::sh -c hunter2":                             "",
	"https://github.com":                             "",
	"https://github.com/../x":                        "",
	"https://github.com/a/%2e%2e/%2e%2e/x":           "",
	"https://github.com/a%0ab":                       "",
	"origin":                                         "",
	"":                                               "",
}

// TestNormalize: all forms of an address have one id, and nothing secret is in it.
func TestNormalize(t *testing.T) {
	for address, want := range addresses {
		if got := project.Normalize(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// FuzzNormalize: an id is valid, and that of an address with a user, a password and a query is that of
// the address without them.
func FuzzNormalize(f *testing.F) {
	for address := range addresses {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		id := project.Normalize(address)
		if id == "" {
			return
		}
		if !(project.Project{ID: id}).Valid() || strings.ContainsAny(id, "@?#") {
			t.Errorf("%q has the id %q", address, id)
		}
		if got := project.Normalize("https://user:hunter2@" + id + "?token=hunter2"); strings.Contains(got, "hunter2") && !strings.Contains(id, "hunter2") {
			t.Errorf("%q becomes %q", id, got)
		}
	})
}

// TestValid: a project of another machine names no folder outside of that of the user.
func TestValid(t *testing.T) {
	for p, want := range map[project.Project]bool{
		{ID: "a"}:                                  true,
		{ID: "github.com/a/b", Path: "c/d"}:        true,
		{ID: "My project", Path: "Überall"}:        true,
		{}:                                         false,
		{ID: "/etc"}:                               false,
		{ID: "~/src"}:                              false,
		{ID: `C:\src`}:                             false,
		{ID: "https://github.com/a"}:               false,
		{ID: "me@github.com/a"}:                    false,
		{ID: "a", Path: "../b"}:                    false,
		{ID: "a", Path: "b/../../c"}:               false,
		{ID: "a", Path: "/etc"}:                    false,
		{ID: "a\x1b[2J"}:                           false,
		{ID: "a", Path: "b\nc"}:                    false,
		{ID: strings.Repeat("a", 2000)}:            false,
		{ID: "a", Path: strings.Repeat("a", 2000)}: false,
	} {
		if p.Valid() != want {
			t.Errorf("%+v: %v", p, p.Valid())
		}
	}
}

// TestOf: the project of a folder is that of the remote origin, else that of the only one.
func TestOf(t *testing.T) {
	for config, want := range map[string]string{
		"[remote \"origin\"]\nurl = https://hunter2@host.org/a/b.git\n[remote \"x\"]\nurl = host:c\n":                 "host.org/a/b/sub/dir",
		"[remote \"x\"]\nurl = host.org:c/d\n":                                                                        "host.org/c/d/sub/dir",
		"[remote \"x\"]\nurl = host.org:c/d\n[remote \"y\"]\nurl = host.org:e\n":                                      "",
		"[remote \"origin\"]\nurl = gh:c/d\n[url \"https://me:hunter2@host.org/\"]\ninsteadOf = gh:\ninsteadOf = g\n": "host.org/c/d/sub/dir",
		"[remote \"origin\"]\nurl = /srv/git/b\n":                                                                     "",
		"": "",
	} {
		top := t.TempDir()
		dir := filepath.Join(top, "sub", "dir")
		for _, name := range []string{dir, filepath.Join(top, ".git", "objects"), filepath.Join(top, ".git", "refs")} {
			if err := os.MkdirAll(name, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\nbare = false\n" + config} {
			if err := os.WriteFile(filepath.Join(top, ".git", name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		env := func(name string) string { return map[string]string{"GIT_CONFIG_NOSYSTEM": "1", "HOME": top}[name] }
		p, at, ok := project.Of(dir, env)
		if ok != (want != "") || ok && p.String() != want {
			t.Errorf("%s: %q, %v, want %q", config, p, ok, want)
		}
		if real, err := filepath.EvalSymlinks(top); err != nil || ok && (at != real || p.In(at) != filepath.Join(real, "sub", "dir")) {
			t.Errorf("it is in %s: %s", at, p.In(at))
		}
	}
	if p, _, ok := project.Of(t.TempDir(), os.Getenv); ok {
		t.Errorf("a folder outside of a repository has %q", p)
	}
}
