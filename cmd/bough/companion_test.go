package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bough-dev/bough/agent/model/pipe"
	"github.com/bough-dev/bough/workspace"
)

// exe is what names of programs end with.
func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// put writes a file that can be run.
func put(t *testing.T, parts ...string) string {
	t.Helper()
	file := filepath.Join(parts...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o700)); err != nil {
		t.Fatal(err)
	}
	return file
}

// The companion is the one beside the program, else that on the PATH.
func TestCompanionPlaces(t *testing.T) {
	dir := t.TempDir()
	bough := put(t, dir, "bin", "bough"+exe())
	t.Setenv("PATH", filepath.Join(dir, "path"))
	find := func() (string, error) {
		return (&companionPlaces{executable: bough, source: dir, cache: dir}).find(t.Context())
	}
	_, err := find()
	var e *workspace.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "bough-models") || !strings.Contains(e.Hint, "go install") {
		t.Errorf("the error is %v", err)
	}
	onPath := put(t, dir, "path", pipe.Program+exe())
	if got, err := find(); err != nil || got != onPath {
		t.Errorf("got %s, %v, want %s", got, err, onPath)
	}
	beside := put(t, dir, "bin", pipe.Program+exe())
	if got, err := find(); err != nil || got != beside {
		t.Errorf("got %s, %v, want %s", got, err, beside)
	}
	os.Remove(beside)
	if err := os.Mkdir(beside, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := find(); err != nil || got != onPath {
		t.Errorf("beside a folder of its name: got %s, %v, want %s", got, err, onPath)
	}
}

// Who has only the source and Go has the companion made, and is told so once. It is one
// that can be used.
func TestCompanionMade(t *testing.T) {
	if sourceFolder() == "" {
		t.Skip("the tests do not know where the source is")
	}
	cache := t.TempDir()
	var notes []string
	places := &companionPlaces{source: sourceFolder(), cache: cache, note: func(s string) { notes = append(notes, s) }}
	var made []string
	for range 2 {
		path, err := places.find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, path)
	}
	if made[0] != made[1] || !strings.HasPrefix(made[0], cache) || len(notes) != 1 || !strings.Contains(notes[0], "makes bough-models") {
		t.Errorf("made %q, and told %q", made, notes)
	}
	t.Setenv("PATH", filepath.Dir(made[0]))
	p := &program{stderr: &bytes.Buffer{}}
	c, err := p.companion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Model(t.Context(), "none:such"); err == nil || !strings.Contains(err.Error(), "openai:NAME") {
		t.Errorf("the error is %v", err)
	}
}

// A source that does not build is an error that says why.
func TestCompanionNotMade(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "cmd", pipe.Program, "main.go")
	put(t, dir, "go.mod")
	places := &companionPlaces{source: dir, cache: t.TempDir(), note: func(string) {}}
	if _, err := places.find(t.Context()); err == nil || !strings.Contains(err.Error(), "bough-models cannot be made from") {
		t.Errorf("the error is %v", err)
	}
}
