package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestServe starts a server as users do: it prints its address and token, accepts a client
// that uses them, and ends with exit code 0.
func TestServe(t *testing.T) {
	s := startServe(t, "", "--addr", "127.0.0.1:0")
	file := filepath.Join(s.dir, ".bough", "token")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(data))
	if got := s.told.Get("token").String(); got != token {
		t.Errorf("it prints the token %q, and the file has %q", got, token)
	}
	if got := s.told.Get("token_file").String(); got != file {
		t.Errorf("it prints the token file %q", got)
	}
	url := s.told.Get("url").String()
	if !strings.HasPrefix(url, "http://127.0.0.1:") || s.told.Get("base_url").String() != url+"/api/v1" {
		t.Errorf("it says %s", s.told.Raw)
	}
	if status, _ := get(t, url+"/api/v1/session", "x"); status != 401 {
		t.Errorf("without the token: status %d", status)
	}
	id := do(t, "-w", s.dir, "new", "--title", "Bread")
	status, body := get(t, url+"/api/v1/session", token)
	if status != 200 || gjson.Get(body, "data.items.#").Int() != 1 {
		t.Errorf("status %d: %s; there is %s", status, body, id)
	}

	// A second server at the same address, and one with another token at another address.
	busy := exec.Command("bough", "-w", s.dir, "serve", "--addr", strings.TrimPrefix(url, "http://"), "--json")
	out, err := busy.Output()
	if err == nil || gjson.GetBytes(out, "error.message").String() != strings.TrimPrefix(url, "http://")+" is in use by another program" {
		t.Errorf("at the same place: %v, %s", err, out)
	}
	s.stop(t)
}

// TestServeOnMessage runs a program that finds tasks: it receives the branch of a message,
// and clients can read the tasks that it prints.
func TestServeOnMessage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	given := filepath.Join(t.TempDir(), "given.jsonl")
	t.Setenv("GIVEN", given)
	s := startServe(t, "", "--addr", "127.0.0.1:0", "--idle", "1h",
		"--on-message", `printf '%s\n' "$(cat)" >> "$GIVEN"; echo '{"tasks":[{"task_description":"bake"}]}'`)
	base := s.told.Get("base_url").String()
	token := s.told.Get("token").String()
	call := func(method, path, body string) string {
		t.Helper()
		r, err := http.NewRequest(method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		status, answer := send(t, r, token)
		if status >= 300 {
			t.Fatalf("%s %s: status %d: %s", method, path, status, answer)
		}
		return answer
	}
	session := "/session/" + gjson.Get(call("POST", "/session", ""), "data.id").String()
	root := gjson.Get(call("POST", session+"/messages", `{"blob":{"role":"user","content":"Bread"}}`), "data.id").String()
	call("POST", session+"/flush", "")
	aside := gjson.Get(call("POST", session+"/messages", `{"blob":{"role":"user","content":"aside"},"parent_id":"`+root+`"}`), "data.id").String()
	call("POST", session+"/messages", `{"blob":{"role":"user","content":"main"},"parent_id":"`+root+`"}`)
	call("POST", session+"/flush", "")
	data, err := os.ReadFile(given)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 3 {
		t.Fatalf("the program got %d batches: %s", len(lines), data)
	}
	for _, l := range lines {
		if strings.Contains(l, "aside") && strings.Contains(l, "main") {
			t.Errorf("the program got two branches at once: %s", l)
		}
	}
	if n := gjson.Get(call("GET", session+"/task", ""), "data.items.#").Int(); n != 3 {
		t.Errorf("%d tasks", n)
	}
	if n := gjson.Get(call("GET", session+"/task?leaf_id="+aside, ""), "data.items.#").Int(); n != 2 {
		t.Errorf("%d tasks of one branch", n)
	}
	s.stop(t)
}

// TestServeToken accepts the token of the environment and never prints it.
func TestServeToken(t *testing.T) {
	t.Setenv("BOUGH_TOKEN", "of-the-environment")
	s := startServe(t, "", "--addr", "127.0.0.1:0")
	if s.told.Get("token").Type != gjson.Null || s.told.Get("token_file").Type != gjson.Null {
		t.Errorf("it says %s", s.told.Raw)
	}
	if _, err := os.Stat(filepath.Join(s.dir, ".bough", "token")); err == nil {
		t.Error("a token was made")
	}
	status, body := get(t, s.told.Get("base_url").String()+"/session", "of-the-environment")
	if status != 200 || gjson.Get(body, "data.items").Raw != "[]" {
		t.Errorf("status %d: %s", status, body)
	}
	s.stop(t)
}

// TestServeAllAddresses prints a warning, and accepts only requests for a name of this machine.
func TestServeAllAddresses(t *testing.T) {
	s := startServe(t, "", "--addr", "0.0.0.0:0", "--host", "desk.example")
	url := s.told.Get("url").String()
	token := s.told.Get("token").String()
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("it says %s", s.told.Raw)
	}
	if status, body := get(t, url+"/api/v1/ping", token); status != 200 {
		t.Errorf("status %d: %s", status, body)
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	for host, want := range map[string]int{"desk.example": 200, "desk.example:" + port: 200, "evil.example": 403, "0.0.0.0": 403} {
		r, err := http.NewRequest("GET", url+"/api/v1/ping", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+token)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != want {
			t.Errorf("asked as %s: status %d, want %d", host, a.StatusCode, want)
		}
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	if !strings.Contains(s.errs.String(), "other machines can reach") {
		t.Errorf("it warns: %q", s.errs)
	}
}

func get(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, r, token)
}

func send(t *testing.T, r *http.Request, token string) (status int, body string) {
	t.Helper()
	r.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(data)
}
