package mcp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestRestoreFiles: files are brought back only after the user has seen the plan and confirmed
// it, and only as they were planned. Conflicts are refused before the user is asked.
func TestRestoreFiles(t *testing.T) {
	r := newRoom(t, nil)
	dir := r.snap("HEAD", map[string]string{"flour": "rye"}, map[string]string{"flour": "wheat", "salt": "2 %"})
	first := r.append(r.first, "user", "Salt it")
	r.snapAgain(dir)
	read := func() (text string) {
		for _, name := range []string{"flour", "salt"} {
			data, _ := os.ReadFile(filepath.Join(dir, name))
			text += string(data) + ";"
		}
		return text
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := args{"ref": "HEAD~1"}
	if text := r.connect(nil).fails("restore_files", in); !strings.Contains(text, "cannot ask") || !strings.Contains(text, "rewind HEAD~1 --files --dir") {
		t.Errorf("without elicitation: %q", text)
	}
	var asked []string
	if text := r.connect(accepts("decline", &asked)).fails("restore_files", in); !strings.Contains(text, "declined") || read() != "wheat;2 %;" {
		t.Errorf("declined: %q; the files are %q", text, read())
	}
	if len(asked) != 1 || !strings.Contains(asked[0], "Restore 2 files in "+dir+" to the state of 20") || !strings.Contains(asked[0], "\nwrite flour\ndelete salt") {
		t.Errorf("the question is %q", asked)
	}
	c := r.connect(accepts("accept", &asked))
	if got := c.call("restore_files", args{"ref": "HEAD~1", "dry_run": true}); got.Get("files.deleted.0").String() != "salt" || read() != "wheat;2 %;" || len(asked) != 1 {
		t.Errorf("dry run: %s", got)
	}
	if got := c.call("restore_files", in); got.Get("files.written.0").String() != "flour" || read() != "rye;;" {
		t.Errorf("%s; the files are %q", got, read())
	}
	c.call("undo", nil)
	if read() != "wheat;2 %;" {
		t.Errorf("after undo the files are %q", read())
	}
	if got := c.call("restore_files", args{"ref": "HEAD~1", "conversation": true}); got.Get("head.message_id").String() == first || read() != "rye;;" {
		t.Errorf("with the conversation: %s; the files are %q", got, read())
	}
	c.call("undo", nil)
	n := len(asked)
	write("flour", "spelt")
	if text := c.fails("restore_files", in); !strings.HasPrefix(text, "refused: ") || !strings.Contains(text, "\n- flour") || !strings.Contains(text, "keep, take or merge") || len(asked) != n {
		t.Errorf("a conflict: %q, asked %q", text, asked[n:])
	}
	if got := c.call("restore_files", args{"ref": "HEAD~1", "conflicts": "keep"}); read() != "spelt;;" || got.Get("files.kept.0.path").String() != "flour" {
		t.Errorf("%s; the files are %q", got, read())
	}
	c.call("restore_files", args{"ref": "HEAD~1", "whole": true})
	if last := asked[len(asked)-1]; !strings.Contains(last, "The whole folder becomes this state") || read() != "rye;;" {
		t.Errorf("the question is %q; the files are %q", last, read())
	}
	if text := c.fails("restore_files", args{"ref": "HEAD~1", "dir": filepath.Dir(dir)}); !strings.HasPrefix(text, "refused: there are no states") {
		t.Errorf("another folder: %q", text)
	}
	if text := c.fails("restore_files", args{"ref": "HEAD", "whole": true, "conflicts": "take"}); !strings.HasPrefix(text, "usage: ") {
		t.Errorf("%q", text)
	}
}

// TestRestoreTurn: the changes of one turn are taken back, and what came later stays.
func TestRestoreTurn(t *testing.T) {
	r := newRoom(t, nil)
	r.append(r.first, "user", "Use wheat")
	dir := r.snap("HEAD", map[string]string{"flour": "rye"}, map[string]string{"flour": "wheat"})
	r.append(r.first, "assistant", "Done.")
	r.snapAgain(dir)
	if err := os.WriteFile(filepath.Join(dir, "salt"), []byte("2 %"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.append(r.first, "user", "Salt it")
	r.snapAgain(dir)
	var asked []string
	c := r.connect(accepts("accept", &asked))
	got := c.call("restore_files", args{"ref": "HEAD~1", "turn": true})
	flour, err := os.ReadFile(filepath.Join(dir, "flour"))
	if err != nil || string(flour) != "rye" || got.Get("files.deleted.#").Int() != 0 || len(asked) != 1 || !strings.Contains(asked[0], "before a turn") {
		t.Errorf("%s; flour is %q, %v; asked %q", got, flour, err, asked)
	}
	if _, err := os.Stat(filepath.Join(dir, "salt")); err != nil {
		t.Error(err)
	}
	if text := c.fails("restore_files", args{"ref": "HEAD~1", "turn": true, "conversation": true}); !strings.HasPrefix(text, "usage: ") {
		t.Errorf("%q", text)
	}
}

// TestRestoreChanged: if the folder changes while the user is asked, nothing is restored.
func TestRestoreChanged(t *testing.T) {
	r := newRoom(t, nil)
	dir := r.snap("HEAD", map[string]string{"flour": "rye"}, map[string]string{"flour": "wheat"})
	pepper := filepath.Join(dir, "pepper")
	c := r.connect(&sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept"}, os.WriteFile(pepper, nil, 0o600)
	}})
	text := c.fails("restore_files", args{"ref": "HEAD", "whole": true})
	if _, err := os.Stat(pepper); err != nil || !strings.Contains(text, "changed after the user was asked") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestRestoreMany: the answer is bounded however many files there are.
func TestRestoreMany(t *testing.T) {
	r := newRoom(t, nil)
	many := map[string]string{}
	for i := range 600 {
		many[fmt.Sprintf("%s%03d", strings.Repeat("a long name ", 8), i)] = ""
	}
	dir := r.snap("HEAD", map[string]string{"flour": "rye"}, many)
	r.append(r.first, "user", "More")
	r.snapAgain(dir)
	got := r.connect(accepts("accept", nil)).call("restore_files", args{"ref": "HEAD~1"})
	if n := got.Get("files.deleted.#").Int() + got.Get("omitted").Int(); n != 600 || len(got.Raw) > 16<<10 {
		t.Errorf("%d paths in %d bytes", n, len(got.Raw))
	}
}
