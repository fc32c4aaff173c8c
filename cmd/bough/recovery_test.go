package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecovery: the commands of docs/remote.md print all messages of a remote, those in packs too,
// without bough.
func TestRecovery(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "remote.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?s)\n```sh\n(.*?)```").FindSubmatch(page)
	if commands == nil {
		t.Fatal("docs/remote.md has no commands")
	}
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	folder, key := filepath.Join(dir, "nas"), filepath.Join(dir, "nas.key")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("a long message ", 1<<13)
	bough := func(args ...string) {
		t.Helper()
		var out, talk bytes.Buffer
		if code := run(append([]string{"-w", filepath.Join(dir, "ws")}, args...), strings.NewReader(long), &out, &talk); code != 0 {
			t.Fatalf("bough %q exits with %d: %s", args, code, &talk)
		}
	}
	bough("remote", "add", "nas", "file://"+filepath.ToSlash(folder), "--key", key)
	bough("new", "--title", "Trip")
	bough("append", "To Lisbon, of all places.")
	bough("push")
	bough("append", "-")
	bough("push")
	cmd := exec.Command(sh, "-c", string(commands[1]))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "FOLDER="+folder, "KEY="+key)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, text := range []string{"To Lisbon, of all places.", strings.TrimSpace(long)} {
		if !bytes.Contains(out, []byte(text)) {
			t.Errorf("the commands do not print %.40q, but %.400q", text, out)
		}
	}
	if packs, _ := filepath.Glob(filepath.Join(folder, "p", "*")); len(packs) != 1 {
		t.Errorf("there are %d packs", len(packs))
	}
}
