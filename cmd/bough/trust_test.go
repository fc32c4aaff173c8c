package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bough-dev/bough/internal/config"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// TestCheckTrust: a workspace of another user is refused unless the configuration lists it.
// This also runs where the tests cannot change owners.
func TestCheckTrust(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	dir := t.TempDir()
	own := func(string) (string, error) { return "", nil }
	foreign := func(dir string) (string, error) { return filepath.Join(dir, ".bough"), nil }
	unknown := func(dir string) (string, error) { return dir, errors.New("no owner") }
	path, err := config.UserPath()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	trust := func(dir string) string { return `{"trust":["` + filepath.ToSlash(dir) + `"]}` }
	for _, c := range []struct {
		name   string
		owner  func(string) (string, error)
		config string
		want   fault.Code
	}{
		{"own", own, "", ""},
		{"own, with a damaged configuration", own, "{", ""},
		{"foreign", foreign, "", fault.Refused},
		{"unknown", unknown, "", fault.Refused},
		{"foreign, trusted", foreign, trust(dir), ""},
		{"foreign, another trusted", foreign, trust(home), fault.Refused},
		{"foreign, with a damaged configuration", foreign, "{", fault.Damaged},
	} {
		os.Remove(path)
		if c.config != "" {
			if err := os.WriteFile(path, []byte(c.config), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var got fault.Error
		if err := checkTrust(dir, c.owner); err != nil {
			got = *workspace.Explain(err)
		}
		if got.Code != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if c.want == fault.Refused && !strings.Contains(got.Hint, "bough config trust --add "+dir) {
			t.Errorf("%s: the hint is %q", c.name, got.Hint)
		}
	}
}

func TestTrusts(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	shared := filepath.Join(home, "shared")
	talk := filepath.Join(shared, "talk")
	link := filepath.Join(home, "link")
	for _, err := range []error{os.MkdirAll(talk, 0o700), os.Symlink(talk, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		entry   string
		trusted bool
	}{
		{talk, true},
		{talk + "/", true},
		{link, true},
		{"~/shared/talk", true},
		{"*", true},
		{shared + "/*", true},
		{home + "/*", true},
		{"~/*", true},
		{shared, false},
		{talk + "/*", false},
		{filepath.Join(home, "sha") + "/*", false},
		{shared + "/t*", false},
		{"shared/talk", false},
		{"talk", false},
		{"", false},
	} {
		for _, dir := range []string{talk, link} {
			if got := trusts([]string{"/elsewhere", c.entry}, dir); got != c.trusted {
				t.Errorf("trusts(%q, %s) = %v, want %v", c.entry, dir, got, c.trusted)
			}
		}
	}
}
