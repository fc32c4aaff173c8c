package main

import (
	"os"
	"path/filepath"
	"testing"
)

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
