package s3

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/bough-dev/bough/internal/testsize"
)

// minioServer is the program of MinIO, which the tests run against too if it is given.
var minioServer = flag.String("minio", "", "also test with this server `program` of MinIO")

const (
	testKey    = "test-key"
	testSecret = "test-secret"
)

func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, 20*time.Millisecond
	os.Exit(testsize.InMemory(m).Run())
}

// A server is a running service with a bucket in a folder.
type server struct {
	name    string
	address string // host and port
	folder  string
}

// start starts a program and waits until it accepts connections.
func start(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-exited
	})
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-exited:
			exited <- err
			t.Fatalf("%v ended: %v\n%s", cmd, err, &log)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// freeAddress returns an address of this machine where no program listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// servers starts those services that are installed. It skips the test if there is none.
func servers(t *testing.T) (list []server) {
	t.Helper()
	setCredentials(t)
	if program, err := exec.LookPath("versitygw"); err == nil {
		s := server{"versitygw", freeAddress(t), t.TempDir()}
		start(t, s.address, exec.Command(program, "--access", testKey, "--secret", testSecret, "--port", s.address, "--quiet", "posix", s.folder))
		list = append(list, s)
	}
	if *minioServer != "" {
		s := server{"minio", freeAddress(t), t.TempDir()}
		cmd := exec.Command(*minioServer, "server", s.folder, "--address", s.address, "--quiet")
		cmd.Env = append(os.Environ(), "MINIO_ROOT_USER="+testKey, "MINIO_ROOT_PASSWORD="+testSecret, "MINIO_REGION=us-east-1")
		start(t, s.address, cmd)
		list = append(list, s)
	}
	if len(list) == 0 {
		t.Skip("versitygw is not installed: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	}
	return list
}

// setCredentials sets credentials in the environment and nowhere else.
func setCredentials(t *testing.T) {
	t.Helper()
	clearEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", testKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", testSecret)
}

// clearEnvironment removes what the environment of the test says about AWS, and returns an empty
// home folder.
func clearEnvironment(t *testing.T) (home string) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return home
}

// bucket creates a bucket and returns its name.
func (s server) bucket(t *testing.T) string {
	t.Helper()
	store := open(t, s.address, "bucket", Options{})
	for i := 0; ; i++ {
		name := fmt.Sprintf("bucket-%d", i)
		if _, err := os.Stat(filepath.Join(s.folder, name)); err == nil {
			continue
		}
		if err := store.client.MakeBucket(t.Context(), name, minio.MakeBucketOptions{}); err != nil {
			t.Fatal(err)
		}
		return name
	}
}

// open opens the store of a path at an address of this machine.
func open(t *testing.T, address, path string, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), "http://"+address+"/"+path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
