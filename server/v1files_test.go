package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

// writeFiles writes files into a folder.
func writeFiles(t *testing.T, dir string, contents map[string]string) {
	t.Helper()
	for name, text := range contents {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestV1Files: a client reads states of folders that have some, and no other folder. A file
// is sent so that a browser does nothing with it.
func TestV1Files(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	if got := s.v1("files/ls", "").want(200).Get("states").Raw; got != "[]" {
		t.Errorf("there are states: %s", got)
	}
	s.v1("new", `{"title":"Bread"}`).want(200)
	s.v1("append", `{"text":"How wet?"}`).want(200)
	const hostile = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
	dir, other := t.TempDir(), t.TempDir()
	writeFiles(t, dir, map[string]string{"flour": "rye\n", "sub/a b.svg": hostile})
	writeFiles(t, other, map[string]string{"secret": "x"})
	st, err := s.w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{})
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, map[string]string{"flour": "wheat\n", "salt": "2 %\n"})
	if got := s.v1("files/ls?session_id=Bread", "").want(200).Get("states.#.id").Raw; got != `["`+st.ID+`"]` {
		t.Errorf("the states are %s", got)
	}
	real := url.QueryEscape(st.Dir)
	for _, query := range []string{"", "?from=HEAD&to=now", "?dir=" + real, "?from=" + st.ID} {
		if got := s.v1("files/diff"+query, "").want(200).Get("changes.#.path").Raw; got != `["flour","salt"]` {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got := s.v1("files/diff", `{"paths":["salt"],"patch":true}`).want(200).Get("changes.#.patch").Raw; got != `["--- /dev/null\n+++ b/salt\n@@ -0,0 +1 @@\n+2 %\n"]` {
		t.Errorf("the patch is %s", got)
	}
	if got := s.v1("files/show?state=Bread", "").want(200).Get("entries.#.name").Raw; got != `["flour","sub"]` {
		t.Errorf("the folder has %s", got)
	}
	shown := s.v1("files/show?state=Bread&path="+url.QueryEscape("sub/a b.svg"), "").want(200)
	if got, err := base64.StdEncoding.DecodeString(shown.Get("content").Str); string(got) != hostile {
		t.Errorf("the file is %q, %v", got, err)
	}
	for verb, in := range map[string]map[string]string{"diff": {"from": "HEAD"}, "show": {"state": "HEAD"}} {
		in["dir"] = other
		body, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		s.v1("files/"+verb, string(body)).fails(409, fault.Refused, "GET /v1/files/ls")
	}
	if err := os.Symlink(other, filepath.Join(dir, "out")); err != nil {
		t.Log(err) // Windows lets only some users do that
	}
	for _, verb := range []string{"blame?file", "files/log?path"} {
		for query, want := range map[string]fault.Code{
			"=flour": "", "=flour&dir=" + real: "", "=secret&dir=" + url.QueryEscape(other): fault.Refused, "=x&dir=" + url.QueryEscape(filepath.Join(dir, "none")): fault.Refused,
			"=" + url.QueryEscape(filepath.Join(other, "secret")): fault.Usage, "=" + url.QueryEscape(filepath.Join(dir, "flour")): fault.Usage,
			"=../" + filepath.Base(other) + "/secret": fault.Usage, "=sub/../../x": fault.Usage, "=none": fault.NotFound, "=out/secret": fault.NotFound,
		} {
			if answer := s.v1(verb+query, ""); want == "" {
				answer.want(200)
			} else {
				answer.fails(map[fault.Code]int{fault.Refused: 409, fault.Usage: 400, fault.NotFound: 404}[want], want, "")
			}
		}
	}
	s.v1("files/show?state=HEAD&path=none", "").fails(404, fault.NotFound, `has no "none"`)
	s.v1("files/show?state=HEAD&path=../x", "").fails(400, fault.Usage, "is not a path in a state")
	s.v1("files/content?state=HEAD", "").fails(409, fault.Refused, "is a folder")
	s.v1("files/content?path=flour", "").fails(400, fault.Usage, "state")
	s.v1("files/content?state=HEAD&path=flour&dir="+url.QueryEscape(other), "").fails(409, fault.Refused, "no states")

	a, err := http.DefaultClient.Do(s.request("GET", "/v1/files/content?state=HEAD&path=sub/a%20b.svg", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil || !bytes.Equal(body, []byte(hostile)) || a.StatusCode != 200 {
		t.Errorf("%d, %q, %v", a.StatusCode, body, err)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "Content-Disposition": `attachment; filename="a b.svg"`,
		"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	r := s.request("GET", "/v1/files/content?state=HEAD&path=flour", nil)
	r.Header.Del("Authorization")
	s.fetchV1(r).fails(401, fault.Refused, "")
}

// TestV1Restore: a client brings files back, after a dry run, and undo reverts it. What others
// changed is a conflict, which is listed, and no folder without states is changed.
func TestV1Restore(t *testing.T) {
	t.Parallel()
	s := newSite(t, server.Options{})
	s.v1("new", `{"title":"Bread"}`).want(200)
	dir, other := t.TempDir(), t.TempDir()
	read := func() (text string) {
		t.Helper()
		for _, name := range []string{"flour", "salt"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			text += name + " " + string(data) + ";"
		}
		return text
	}
	say := func(text string, contents map[string]string) {
		t.Helper()
		s.v1("append", `{"text":"`+text+`"}`).want(200)
		writeFiles(t, dir, contents)
		if _, err := s.w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	say("one", map[string]string{"flour": "rye"})
	say("two", map[string]string{"flour": "wheat", "salt": "2 %"})
	const before, after = "flour rye;salt ;", "flour wheat;salt 2 %;"
	planned := s.v1("rewind/files", `{"ref":"Bread@first","dry_run":true}`).want(200).Get("files")
	if planned.Get("written").Raw != `["flour"]` || planned.Get("deleted").Raw != `["salt"]` || planned.Get("before").Str != "" || read() != after {
		t.Errorf("dry run: %s; the files are %s", planned.Raw, read())
	}
	done := s.v1("rewind/files", `{"ref":"Bread@first"}`).want(200)
	if done.Get("files.before").Str == "" || done.Get("head.session_id").Str == "" || read() != before {
		t.Errorf("%s; the files are %s", done.Raw, read())
	}
	s.v1("undo", `{}`).want(200)
	if read() != after {
		t.Errorf("after undo the files are %s", read())
	}
	writeFiles(t, dir, map[string]string{"flour": "spelt"})
	if got := s.v1("rewind/both", `{"ref":"Bread@first","dry_run":true}`).want(200).Get("files.conflicts.#.path").Raw; got != `["flour"]` {
		t.Errorf("the conflicts are %s", got)
	}
	refused := s.v1("rewind/both", `{"ref":"Bread@first"}`)
	refused.fails(409, fault.Refused, "keep, take or merge")
	if got := refused.Get("error.conflicts.#.path").Raw; got != `["flour"]` {
		t.Errorf("the conflicts of the failure are %s", got)
	}
	s.v1("rewind/both", `{"ref":"Bread@first","conflicts":"keep"}`).want(200)
	if got := s.v1("status", "").want(200).Get("head.message_id").Str; read() != "flour spelt;salt ;" || got != s.v1("show?ref=Bread@first", "").Get("messages.0.id").Str {
		t.Errorf("the head is at %s, the files are %s", got, read())
	}
	for _, name := range []string{other, filepath.Dir(dir), filepath.Join(other, "none"), "/", "..", ""} {
		in, err := json.Marshal(map[string]string{"ref": "Bread@first", "dir": name})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.v1("rewind/files", string(in)); name != "" && got.status != 409 {
			t.Errorf("%s: %s", in, got.Raw)
		}
	}
	if left, err := os.ReadDir(other); err != nil || len(left) > 0 {
		t.Errorf("another folder has %v, %v", left, err)
	}
	say("Salt it", nil)
	s.v1("append", `{"text":"Done.","role":"assistant"}`).want(200)
	s.v1("files/turn?ref=HEAD", "").fails(404, fault.NotFound, "after the turn")
	writeFiles(t, dir, map[string]string{"salt": "3 %"})
	if _, err := s.w.Folder(dir).Snap(t.Context(), "", files.SnapOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := s.v1("files/turn?ref=HEAD", "").want(200).Get(`changes.#(path=="salt").change`).Str; got != "added" {
		t.Errorf("the turn changed salt: %q", got)
	}
	if got := s.v1("files/turn/undo", `{"ref":"HEAD"}`).want(200).Get("files.deleted").Raw; got != `["salt"]` {
		t.Errorf("the turn is taken back: %s", got)
	}
	s.v1("rewind/files", `{"ref":"Bread@first","only":["../x"]}`).fails(400, fault.Usage, "is not a path in a state")
}
