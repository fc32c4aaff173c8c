package workspace_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
	"github.com/tidwall/gjson"
)

// A vsCode is a machine with the folders of VS Code, of which one is for the folder trip.
type vsCode struct {
	t       *testing.T
	m       transcript.Machine
	trip    string
	user    string // the folder Code
	storage string
}

func newVSCode(t *testing.T) *vsCode {
	home := t.TempDir()
	c := &vsCode{t: t, trip: filepath.Join(home, "trip"), user: filepath.Join(home, "config", "Code")}
	c.storage = filepath.Join(c.user, "User", "workspaceStorage", "0a1b")
	c.m = transcript.Machine{
		Home: home, Dir: home, OS: "linux", Read: os.ReadFile, Stat: os.Stat,
		Env: func(name string) string {
			return map[string]string{"VSCODE_APPDATA": filepath.Join(home, "config")}[name]
		},
		Names: func(dir string) (names []string) {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		},
	}
	for _, dir := range []string{c.trip, c.storage, filepath.Join(c.user, "User", "workspaceStorage", "zzzz")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.write(filepath.Join(c.storage, "workspace.json"), `{"folder":"file://`+filepath.ToSlash(c.trip)+`"}`)
	c.exec("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
	return c
}

func (c *vsCode) write(path, content string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *vsCode) exec(command string) {
	c.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(c.storage, "state.vscdb"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(command); err != nil {
		c.t.Fatal(err)
	}
}

// list returns the entries in the list of chats.
func (c *vsCode) list() gjson.Result {
	c.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(c.storage, "state.vscdb"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	var value string
	err = db.QueryRow("SELECT value FROM ItemTable WHERE key = 'chat.ChatSessionStore.index'").Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		c.t.Fatal(err)
	}
	return gjson.Get(value, "entries")
}

// files returns the names of files in the folder of the storage.
func (c *vsCode) files() (names []string) {
	filepath.WalkDir(c.storage, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, d.Name())
		}
		return err
	})
	return names
}

// TestResumeRegisters: a conversation that continues in VS Code is added to its list, once the
// folder was open there and while it does not run, and is taken back.
func TestResumeRegisters(t *testing.T) {
	c := newVSCode(t)
	f, err := convert.Named("copilot-chat")
	if err != nil {
		t.Fatal(err)
	}
	w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
	in := filepath.Join(t.TempDir(), "chat.json")
	c.write(in, `{"messages":[{"role":"user","content":"Which day has no train?\nNext week"},{"role":"assistant","content":"Sunday."}]}`)
	report, err := w.Import(t.Context(), []string{in}, imports.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ref := string(report.Imported[0].Session)
	resume := func(dir string) (*workspace.Resumption, error) {
		return w.Resume(t.Context(), ref, c.m, workspace.ExportOptions{Format: f, Dir: dir})
	}
	refused := func(what string, err error, code fault.Code) {
		t.Helper()
		if !errors.Is(err, code) {
			t.Errorf("%s: %v, want %s", what, err, code)
		}
		if names := c.files(); len(names) != 2 || c.list().Exists() {
			t.Errorf("%s: there are %q and %s", what, names, c.list())
		}
	}
	_, err = resume(c.m.Home)
	refused("a folder that was never open", err, fault.NotFound)
	here := filepath.Join(c.storage, "workspace.json")
	local, err := os.ReadFile(here)
	if err != nil {
		t.Fatal(err)
	}
	c.write(here, strings.Replace(string(local), "file://", "vscode-remote://ssh-remote+host", 1))
	_, err = resume(c.trip)
	refused("a folder of another machine", err, fault.NotFound)
	c.write(here, string(local))
	lock := filepath.Join(c.user, "code.lock")
	c.write(lock, strconv.Itoa(os.Getpid()))
	_, err = resume(c.trip)
	refused("VS Code runs", err, fault.Refused)
	_, err = w.Withdraw(t.Context(), ref, f, c.m)
	refused("nothing was written", err, fault.NotFound)
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}

	r, err := resume(c.trip)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(c.storage, "chatSessions", r.ID+".json"); filepath.FromSlash(string(r.Path)) != want || r.Run[0] != "code" || r.Run[1] != c.trip {
		t.Errorf("it is written to %s, and continues with %q", r.Path, r.Run)
	}
	entry := c.list().Get(r.ID)
	if entry.Get("sessionId").Str != r.ID || entry.Get("title").Str != "Which day has no train?" || entry.Get("lastMessageDate").Int() == 0 || entry.Get("isEmpty").Bool() {
		t.Errorf("the entry is %s", entry)
	}
	if _, err := os.Stat(string(r.Backup)); err != nil {
		t.Error(err)
	}
	c.write(lock, strconv.Itoa(os.Getpid()))
	if _, err := w.Withdraw(t.Context(), ref, f, c.m); !errors.Is(err, fault.Refused) || !c.list().Get(r.ID).Exists() {
		t.Errorf("while VS Code runs: %v", err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(c.storage, "chatSessions", r.ID+".jsonl")
	c.write(log, `{"kind":0,"v":{"requests":[]}}`)
	if done, err := w.Withdraw(t.Context(), ref, f, c.m); err != nil || len(done.Continued) != 1 || len(done.Removed) != 0 || !c.list().Get(r.ID).Exists() {
		t.Errorf("what VS Code continued: %v, %v", done, err)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(string(r.Path)) // an older version of VS Code writes this file itself
	if err != nil {
		t.Fatal(err)
	}
	c.write(string(r.Path), strings.Replace(string(written), "Sunday.", "Monday.", 1))
	if done, err := w.Withdraw(t.Context(), ref, f, c.m); err != nil || len(done.Continued) != 1 || len(done.Removed) != 0 || !c.list().Get(r.ID).Exists() {
		t.Errorf("what VS Code rewrote: %v, %v", done, err)
	}
	c.write(string(r.Path), string(written))
	done, err := w.Withdraw(t.Context(), ref, f, c.m)
	if err != nil || len(done.Removed) != 1 || done.Removed[0] != r.Path {
		t.Errorf("removed is %v, %v", done, err)
	}
	if c.list().Raw != "{}" {
		t.Errorf("the list has %s", c.list())
	}
	if _, err := os.Stat(string(r.Path)); err == nil {
		t.Error("the file stays")
	}

	if r, err = resume(c.trip); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(string(r.Path))); err != nil {
		t.Fatal(err)
	}
	if done, err = w.Withdraw(t.Context(), ref, f, c.m); err != nil || len(done.Removed) != 0 || len(done.Unlisted) != 1 || done.Unlisted[0] != r.Path || c.list().Raw != "{}" {
		t.Errorf("of a file that is gone, %v, %v; the list has %s", done, err, c.list())
	}
	if _, err := w.Withdraw(t.Context(), ref, f, c.m); !errors.Is(err, fault.NotFound) {
		t.Errorf("once more: %v", err)
	}

	c.exec("UPDATE ItemTable SET value = '[]'")
	names := c.files()
	before, err := os.ReadFile(string(r.Backup))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resume(c.trip); !errors.Is(err, fault.Failed) || len(c.files()) != len(names) {
		t.Errorf("a list of another form: %v, %q", err, c.files())
	}
	if after, err := os.ReadFile(string(r.Backup)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a change that failed replaced the copy: %v", err)
	}
	pi, err := convert.Named("pi")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Withdraw(t.Context(), ref, pi, c.m); !errors.Is(err, fault.Usage) {
		t.Errorf("a program without a list: %v", err)
	}
}

// TestResumeWindows: a folder that VS Code had opened by a link, or with others in the file of a
// workspace, was open; the command opens that.
func TestResumeWindows(t *testing.T) {
	f, err := convert.Named("copilot-chat")
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"link", "workspace", "address"} {
		c := newVSCode(t)
		opens, is := filepath.Join(c.m.Home, "by"), "workspace"
		switch by {
		case "link":
			is = "folder"
			if err := os.Symlink(c.trip, opens); err != nil {
				t.Skip("no links: ", err)
			}
		case "workspace":
			opens += ".code-workspace"
			c.write(opens, "{\n// of the trip\n\"folders\":[{\"path\":\"other\"},{\"path\":\"./trip\"},],}")
		case "address":
			opens += ".code-workspace"
			c.write(opens, `{"folders":[{"uri":"vscode-remote://box`+filepath.ToSlash(c.trip)+`"},{"uri":"file://`+filepath.ToSlash(c.trip)+`"}]}`)
		}
		c.write(filepath.Join(c.storage, "workspace.json"), `{"`+is+`":"file://`+filepath.ToSlash(opens)+`"}`)
		w := openSpace(t, filepath.Join(t.TempDir(), "w"), 0)
		in := filepath.Join(t.TempDir(), "chat.json")
		c.write(in, `{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi."}]}`)
		report, err := w.Import(t.Context(), []string{in}, imports.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Resume(t.Context(), string(report.Imported[0].Session), c.m, workspace.ExportOptions{Format: f, Dir: c.trip})
		if err != nil {
			t.Errorf("%s: %v", by, err)
			continue
		}
		if want := []string{"code", opens}; !slices.Equal(r.Run, want) || !c.list().Get(r.ID).Exists() {
			t.Errorf("%s: it continues with %q, want %q; the list has %s", by, r.Run, want, c.list())
		}
	}
}

// TestRedactTitle: of a secret in which a title ends, nothing is exported.
func TestRedactTitle(t *testing.T) {
	t.Parallel()
	w := openSpace(t, t.TempDir(), 0)
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	if _, err := w.New(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	out, err := w.Append(t.Context(), workspace.Append{Text: strings.Repeat("word ", 14) + secret + " is it"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := w.Sessions(t.Context(), workspace.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if title := l.Sessions[0].Title; !strings.Contains(title, secret[:8]) || strings.Contains(title, secret) {
		t.Fatalf("the title does not end in the secret: %s", title)
	}
	whole := func(text []byte, _ bool) ([]byte, []string, error) { // as a rule finds it
		if !bytes.Contains(text, []byte(secret)) {
			return text, nil, nil
		}
		return bytes.ReplaceAll(text, []byte(secret), []byte("[redacted]")), []string{"secret"}, nil
	}
	for _, f := range convert.Formats {
		if !f.Writes() {
			continue
		}
		e, err := w.Export(t.Context(), string(out.Session), workspace.ExportOptions{Format: f, Redact: whole})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(e.Data), secret[:8]) {
			t.Errorf("%s has a part of the secret: %s", f.Name, e.Data)
		}
	}
}
