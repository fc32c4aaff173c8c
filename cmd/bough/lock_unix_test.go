//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/testchat"
	"github.com/bough-dev/bough/internal/testsize"
	"github.com/bough-dev/bough/internal/writelock"
	"github.com/tidwall/gjson"
)

// A stop is a workspace whose lock is held by a stopped process.
type stop struct {
	t      *testing.T
	dir    string
	id     string // a session
	holder *exec.Cmd
	ended  chan error // of holder
	word   writelock.Holder
}

// newStop starts checkpoints until one of them is stopped while it holds the lock.
func newStop(t *testing.T) *stop {
	t.Helper()
	s := &stop{t: t, dir: t.TempDir()}
	size := testsize.Of(4_000, 10_000, 20_000)
	files := testchat.Chat{Messages: size, PerFile: size, Text: 200}.Files()
	if err := testchat.Write(s.dir, files); err != nil {
		t.Fatal(err)
	}
	s.id = files[0].ID
	if out, err := s.command("rename", s.id, "Long").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for range 100 {
		s.holder = s.command("checkpoint", s.id)
		if err := s.holder.Start(); err != nil {
			t.Fatal(err)
		}
		s.ended = make(chan error, 1)
		go func() { s.ended <- s.holder.Wait() }()
		for len(s.ended) == 0 && !s.wordIsOf(s.holder.Process.Pid) {
			time.Sleep(100 * time.Microsecond)
		}
		s.signal(syscall.SIGSTOP)
		time.Sleep(10 * time.Millisecond) // until it has stopped
		if s.wordIsOf(s.holder.Process.Pid) && writelock.Held(root, ".bough") {
			t.Cleanup(func() { s.holder.Process.Kill() })
			return s
		}
		s.signal(syscall.SIGCONT)
		<-s.ended
	}
	t.Fatal("no process was stopped while it had the lock")
	return nil
}

// wordIsOf reports whether lock.holder names the process pid.
func (s *stop) wordIsOf(pid int) bool {
	data, err := os.ReadFile(filepath.Join(s.dir, ".bough", "lock.holder"))
	return err == nil && json.Unmarshal(data, &s.word) == nil && s.word.PID == pid
}

func (s *stop) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.holder.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Fatal(err)
	}
}

func (s *stop) command(args ...string) *exec.Cmd {
	return exec.Command("bough", append([]string{"-w", s.dir}, args...)...)
}

// locked checks that a command exits with 6 and names the holder, and returns its duration.
func (s *stop) locked(args ...string) time.Duration {
	s.t.Helper()
	cmd := s.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 6 {
		s.t.Fatalf("%q ends with %v, want exit status 6\n%s%s", args, err, &stdout, &stderr)
	}
	want := fmt.Sprintf("the workspace is locked by process %d (checkpoint, since %s)", s.holder.Process.Pid, s.word.Since.Format(time.TimeOnly))
	said := strings.TrimPrefix(strings.SplitN(stderr.String(), "\n", 2)[0], "bough: ")
	if stdout.Len() > 0 {
		e := gjson.GetBytes(stdout.Bytes(), "error")
		if said = e.Get("message").String(); e.Get("code").String() != "locked" {
			s.t.Errorf("%q says %s", args, &stdout)
		}
	}
	if said != want {
		s.t.Errorf("%q says %q, want %q", args, said, want)
	}
	return took
}

// waits starts a process that waits for the lock, and returns a function that checks that
// it gets the lock.
func (s *stop) waits(text string) (done func()) {
	s.t.Helper()
	cmd := s.command("--wait", "2m", "append", s.id, text)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		s.t.Fatalf("a process that should wait for the lock ends with %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	return func() {
		s.t.Helper()
		select {
		case err := <-ended:
			if err != nil {
				s.t.Errorf("a process that waited for the lock ends with %v", err)
			}
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			s.t.Error("a process waits for a free lock")
		}
	}
}

// TestStoppedHolder: a stopped process keeps the lock, and other processes name it as soon
// as their wait ends. When it continues, no process has lost a change.
func TestStoppedHolder(t *testing.T) {
	t.Parallel()
	s := newStop(t)
	s.locked("--wait", "0s", "append", s.id, "text")
	s.locked("--wait", "0s", "--json", "append", s.id, "text")
	const wait = 400 * time.Millisecond
	if took := s.locked("--wait", wait.String(), "append", s.id, "text"); took < wait || took > wait+20*time.Second {
		t.Errorf("a process waits %v, want %v", took, wait)
	}
	done := s.waits("after all that")
	s.signal(syscall.SIGCONT)
	if err := <-s.ended; err != nil {
		t.Errorf("the stopped process ends with %v", err)
	}
	done()
	if out, err := s.command("doctor").Output(); err != nil {
		t.Errorf("doctor finds %s", out)
	}
}

// TestDeadHolder: a process that is killed while it holds the lock blocks no other process,
// whether that waits already or does not wait at all.
func TestDeadHolder(t *testing.T) {
	t.Parallel()
	s := newStop(t)
	done := s.waits("after its death")
	s.signal(syscall.SIGKILL)
	<-s.ended
	done()
	if out, err := s.command("--wait", "0s", "append", s.id, "at once").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
