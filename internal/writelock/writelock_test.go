package writelock_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/writelock"
)

// child and childWait are environment variables with the folder that a child
// process locks and its waiting time.
const (
	child     = "WRITELOCK_TEST_DIR"
	childWait = "WRITELOCK_TEST_WAIT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(child); dir != "" {
		os.Exit(hold(dir))
	}
	os.Exit(m.Run())
}

// take acquires the lock of the folder dir.
func take(ctx context.Context, dir string, h writelock.Holder, wait time.Duration) (unlock func(), err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return writelock.Lock(ctx, root, ".", h, wait)
}

// hold acquires the lock, reports that, and keeps it until standard input ends.
func hold(dir string) int {
	h := writelock.Holder{PID: os.Getpid(), Verb: "checkpoint", Since: time.Now()}
	wait, err := time.ParseDuration(cmp.Or(os.Getenv(childWait), "1m"))
	if err != nil {
		panic(err)
	}
	unlock, err := take(context.Background(), dir, h, wait)
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	os.Stdout.WriteString("locked\n")
	io.Copy(io.Discard, os.Stdin)
	unlock()
	return 0
}

// start runs a process that holds the lock of dir. Close stdin to end it.
func start(t *testing.T, dir string) (cmd *exec.Cmd, stdin io.Closer) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	return cmd, in
}

func lock(t *testing.T, dir string, wait time.Duration) func() {
	t.Helper()
	unlock, err := take(context.Background(), dir, writelock.Holder{PID: os.Getpid(), Verb: "test"}, wait)
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	var inside, times atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				unlock, err := take(context.Background(), dir, writelock.Holder{PID: 1}, time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				times.Add(1)
				inside.Add(-1)
				unlock()
			}
		})
	}
	wg.Wait()
	if n := times.Load(); n != 40 {
		t.Errorf("the lock was held %d times, want 40", n)
	}
}

// TestHolderShorter: the description of a holder replaces a longer one completely.
func TestHolderShorter(t *testing.T) {
	dir := t.TempDir()
	for _, verb := range []string{"checkpoint", strings.Repeat("long", 50), "ls"} {
		unlock, err := take(context.Background(), dir, writelock.Holder{PID: 1, Verb: verb}, 0)
		if err != nil {
			t.Fatal(err)
		}
		var held *writelock.HeldError
		if _, err := take(context.Background(), dir, writelock.Holder{PID: 2}, 0); !errors.As(err, &held) || held.Holder.Verb != verb {
			t.Errorf("the error is %v, want the holder %s", err, verb)
		}
		unlock()
	}
}

func TestHeldHere(t *testing.T) {
	dir := t.TempDir()
	since := time.Date(2026, 11, 20, 7, 29, 4, 0, time.UTC)
	unlock, err := take(context.Background(), dir, writelock.Holder{PID: 4711, Verb: "branch", Since: since}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var held *writelock.HeldError
	if _, err := take(context.Background(), dir, writelock.Holder{PID: 1}, 0); !errors.As(err, &held) {
		t.Fatalf("a second lock: %v, want a *HeldError", err)
	}
	if held.Holder.PID != 4711 || held.Holder.Verb != "branch" || !held.Holder.Since.Equal(since) {
		t.Errorf("the holder is %+v", held.Holder)
	}
	for _, want := range []string{"4711", "branch", "07:29:04"} {
		if !strings.Contains(held.Error(), want) {
			t.Errorf("the error is %q, want %s in it", held, want)
		}
	}
	unlock()
	lock(t, dir, 0)()
}

// TestNoDescription: a holder without a description still holds the lock.
func TestNoDescription(t *testing.T) {
	dir := t.TempDir()
	defer lock(t, dir, 0)()
	if err := os.WriteFile(filepath.Join(dir, "lock.holder"), []byte("{\"pid\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	var held *writelock.HeldError
	_, err := take(context.Background(), dir, writelock.Holder{PID: 1}, 0)
	if !errors.As(err, &held) || held.Holder != (writelock.Holder{}) || !strings.Contains(err.Error(), "locked") {
		t.Errorf("Lock = %v, want a *HeldError without a holder", err)
	}
}

func TestOtherProcess(t *testing.T) {
	dir := t.TempDir()
	cmd, stdin := start(t, dir)
	var held *writelock.HeldError
	_, err := take(context.Background(), dir, writelock.Holder{PID: os.Getpid()}, 20*time.Millisecond)
	if !errors.As(err, &held) {
		t.Fatalf("Lock = %v, want a *HeldError", err)
	}
	if held.Holder.PID != cmd.Process.Pid || held.Holder.Verb != "checkpoint" {
		t.Errorf("the holder is %+v, want process %d", held.Holder, cmd.Process.Pid)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	lock(t, dir, time.Minute)()
}

func TestDeadHolder(t *testing.T) {
	dir := t.TempDir()
	cmd, _ := start(t, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	lock(t, dir, 0)()
}

func TestOtherProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	defer lock(t, dir, 0)()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), child+"="+dir, childWait+"=1ms")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("the process ends with %v, want exit status 1", err)
	}
	if want := "process " + strconv.Itoa(os.Getpid()); !strings.Contains(stderr.String(), want) {
		t.Errorf("the process prints %q, want %q in it", stderr.String(), want)
	}
}

func TestContext(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := take(ctx, dir, writelock.Holder{}, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v, want context.Canceled", err)
	}
	unlock := lock(t, dir, 0)
	ctx, cancel = context.WithCancel(context.Background())
	failed := make(chan error)
	go func() {
		_, err := take(ctx, dir, writelock.Holder{}, time.Minute)
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that ends: %v, want context.Canceled", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := take(ctx, dir, writelock.Holder{}, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a context that times out: %v, want context.DeadlineExceeded", err)
	}
	unlock()
	lock(t, dir, 0)()
}

func TestCannotLock(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := writelock.Lock(t.Context(), root, "missing", writelock.Holder{}, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock of a missing folder: %v, want fs.ErrNotExist", err)
	}
	if err := root.Mkdir(writelock.FileName, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := writelock.Lock(t.Context(), root, ".", writelock.Holder{}, 0); err == nil {
		t.Error("a folder in place of the lock file was locked")
	}
}
