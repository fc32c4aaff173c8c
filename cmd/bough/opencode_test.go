package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeOpencode lists one session, whose time of change is in the file updated, and exports the
// file session. It logs its arguments and writes to the database, as a program that opens it may.
const fakeOpencode = `#!/bin/sh
cd "$OPENCODE_DIR"
echo "$@" >> ran
echo >> data/opencode/opencode.db
case "$1" in
session) echo '[{"id":"ses_1","updated":'"$(cat updated)"'}]' ;;
export) cat session ;;
esac
`

// TestFollowOpencode: opencode exports the sessions that changed when its database changes, and
// nothing when only its own look at the database changed that.
func TestFollowOpencode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for opencode is a shell script")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	session := func(messages string) string {
		return `{"info":{"id":"ses_1","title":"Birds","time":{"created":1,"updated":1}},"messages":[` + messages + `]}`
	}
	const one = `{"info":{"id":"msg_1","role":"user","time":{"created":1}},"parts":[{"id":"prt_1","type":"text","text":"Which birds?"}]}`
	const two = `{"info":{"id":"msg_2","role":"assistant","time":{"created":2,"completed":3}},"parts":[{"id":"prt_2","type":"text","text":"Wrens."}]}`
	write("bin/opencode", fakeOpencode)
	write("updated", "1")
	write("session", session(one))
	write("data/opencode/opencode.db", "db")
	t.Setenv("OPENCODE_DIR", dir)
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	f := startWatch(t, filepath.Join(dir, "ws"), "--import", "--from", "opencode")
	f.want("conversation_imported", "conversation.status", "new", "conversation.messages", "1", "conversation.path", "opencode export ses_1")
	write("session", session(one+","+two))
	write("updated", "2")
	write("data/opencode/opencode.db-wal", "wal")
	f.want("conversation_imported", "conversation.status", "updated", "conversation.messages", "2")
	f.stop()
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(ran), "export ses_1\n"); n != 2 {
		t.Errorf("it was exported %d times:\n%s", n, ran)
	}
}

// TestUnfollowedOpencode: without --from opencode its database is noted, and it is not run.
func TestUnfollowedOpencode(t *testing.T) {
	h := newHookTest(t)
	ran := filepath.Join(h.home, "ran")
	for path, text := range map[string]string{"data/opencode/opencode.db": "db", "bin/opencode": "#!/bin/sh\necho >> '" + ran + "'\n"} {
		path = filepath.Join(h.home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(h.home, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for dir, noted := range map[string]bool{filepath.Join(h.home, "data"): true, h.home: false} {
		t.Setenv("XDG_DATA_HOME", dir)
		cmd := exec.Command("bough", "-w", h.dir, "watch", "--import")
		talk, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		text := ""
		for lines := bufio.NewScanner(talk); !strings.Contains(text, "Watching") && lines.Scan(); {
			text += lines.Text() + "\n"
		}
		cmd.Process.Kill()
		cmd.Wait()
		if strings.Contains(text, "opencode is not followed") != noted {
			t.Errorf("with the data in %s it notes %q", dir, text)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("opencode was run")
	}
}
