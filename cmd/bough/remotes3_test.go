package main

import (
	"bytes"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

var minioServer = flag.String("minio", "", "test with this server `program` of MinIO in place of versitygw")

// startService starts a service with the API of S3, which has one bucket, and returns its address.
func startService(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("versitygw")
	if err != nil && *minioServer == "" {
		t.Skip("versitygw is not installed: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "my-bucket"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--access", "test-key", "--secret", "test-secret", "--port", address, "--quiet", "posix", folder)
	if *minioServer != "" {
		cmd = exec.Command(*minioServer, "server", folder, "--address", address, "--quiet")
		cmd.Env = append(os.Environ(), "MINIO_ROOT_USER=test-key", "MINIO_ROOT_PASSWORD=test-secret", "MINIO_REGION=us-east-1")
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 2000 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%v does not listen", cmd.Args)
	return ""
}

// TestRemoteS3: two machines exchange a conversation through a bucket, with the requests that
// docs/remote.md states. Wrong credentials and buckets are named, and a bucket is not written to with a
// wrong key.
func TestRemoteS3(t *testing.T) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	url := "http://" + startService(t) + "/my-bucket/bough"
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": dir, "USERPROFILE": dir, "XDG_CONFIG_HOME": dir, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "test-secret",
	} {
		t.Setenv(name, value)
	}
	bough := func(code int, machine string, args ...string) gjson.Result {
		t.Helper()
		var out, talk bytes.Buffer
		if got := run(append([]string{"-w", filepath.Join(dir, machine), "--json"}, args...), strings.NewReader(""), &out, &talk); got != code {
			t.Fatalf("bough %q exits with %d: %s%s", args, got, &out, &talk)
		}
		return gjson.ParseBytes(out.Bytes())
	}
	says := func(answer gjson.Result, text string) {
		t.Helper()
		if e := answer.Get("error"); !strings.Contains(e.Get("message").Str+"; "+e.Get("hint").Str, text) {
			t.Errorf("the error is %s, and does not say %q", e.Raw, text)
		}
	}
	requests := func(answer gjson.Result, want int64) {
		t.Helper()
		if got := answer.Get("requests").Int(); got != want {
			t.Errorf("%d requests, not %d: %s", got, want, answer.Raw)
		}
	}
	bough(0, "laptop", "remote", "add", "home", url, "--machine", "laptop")
	first := bough(0, "laptop", "append", bough(0, "laptop", "new", "--title", "Trip").Get("id").Str, "one")
	requests(bough(0, "laptop", "push"), 1)
	requests(bough(0, "laptop", "push"), 0)
	bough(0, "desktop", "remote", "add", "home", url, "--machine", "desktop")
	id := first.Get("session_id").Str
	bough(0, "desktop", "sync")
	bough(0, "laptop", "sync")
	bough(0, "laptop", "append", id, "and")
	bough(0, "laptop", "push")
	bough(0, "desktop", "pull") // now each machine knows that the other one has seen it
	bough(0, "laptop", "append", id, "two")
	requests(bough(0, "laptop", "push"), 1)
	requests(bough(0, "desktop", "pull"), 3)
	requests(bough(0, "desktop", "pull"), 3)
	if n := bough(0, "desktop", "show", id).Get("messages.#").Int(); n != 3 {
		t.Errorf("desktop has %d messages", n)
	}
	if report := bough(0, "desktop", "remote", "check"); !report.Get("ok").Bool() {
		t.Errorf("check prints %s", report.Raw)
	}

	other := filepath.Join(dir, "other.key")
	bough(0, "elsewhere", "remote", "add", "other", url+"-2", "--key", other)
	says(bough(4, "third", "remote", "add", "home", url, "--key", other), "is not that of the remote")
	says(bough(3, "third", "remote", "add", "home", strings.Replace(url, "my-bucket", "no-bucket", 1), "--key", other), "bucket")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	bough(0, "laptop", "append", id, "three")
	says(bough(4, "laptop", "push"), "AWS_SECRET_ACCESS_KEY")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret")
	requests(bough(0, "laptop", "push"), 1)
}
