package main

import (
	"context"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestServePage: 'bough serve --open' opens the page with a code that works once, at both
// addresses of the machine; the address remains that of the next server; a server ends when
// it is idle.
func TestServePage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser is a shell script")
	}
	t.Parallel()
	opened := filepath.Join(t.TempDir(), "opened")
	browser := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(browser, []byte("#!/bin/sh\necho \"$1\" > "+opened+".new; mv "+opened+".new "+opened+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	cmd := exec.Command("bough", "-w", dir, "serve", "--json", "--addr", "127.0.0.1:0", "--open", "--until-idle", "300ms")
	cmd.Env = append(os.Environ(), "BROWSER="+browser)
	errs := &strings.Builder{}
	cmd.Stderr = errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("it ends with %v: %s", err, errs)
	}
	told := gjson.ParseBytes(out)
	if err := await(opened); err != nil { // nothing waits for a browser
		t.Fatal(err)
	}
	data, err := os.ReadFile(opened)
	if err != nil {
		t.Fatal(err)
	}
	if base, code, ok := strings.Cut(strings.TrimSpace(string(data)), "/login#"); !ok || base != told.Get("page").Str || len(code) != 32 {
		t.Errorf("it opened %s; it says %s", data, out)
	}

	s := startServe(t, dir, "--addr", "127.0.0.1:0")
	page, err := url.Parse(s.told.Get("page").Str)
	if err != nil {
		t.Fatal(err)
	}
	printed := gjson.Parse(do(t, "-w", dir, "open", "--print", "--json"))
	_, code, _ := strings.Cut(printed.Get("url").Str, "#")
	hosts := []string{"127.0.0.1:" + page.Port()}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		l.Close()
		hosts = append(hosts, "[::1]:"+page.Port())
	}
	for i, host := range hosts {
		// A jar of cookies and a dialer take the part of the browser's name resolution.
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Jar: jar, Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, host)
		}}}
		a, err := client.PostForm(page.String()+"/login", url.Values{"code": {code}})
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if want := []int{http.StatusOK, http.StatusUnauthorized}[i]; a.StatusCode != want {
			t.Errorf("at %s with the code: status %d, want %d", host, a.StatusCode, want)
		}
		client.CloseIdleConnections()
	}
	s.stop(t)
	again := startServe(t, dir, "--addr", page.Host[strings.LastIndex(page.Host, "localhost"):])
	if got := again.told.Get("page").Str; got != page.String() {
		t.Errorf("the next server is at %s, not %s", got, page)
	}
	again.stop(t)
}
