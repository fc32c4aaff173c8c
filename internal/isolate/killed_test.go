//go:build unix

package isolate_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/internal/isolate"
	"github.com/bough-dev/bough/internal/testsize"
)

// asVictim is an environment variable with the folder that a process started by
// TestKilled creates repeatedly.
const asVictim = "BOUGH_TEST_ISOLATE"

func TestMain(m *testing.M) {
	if to := os.Getenv(asVictim); to != "" {
		dir, err := os.Getwd()
		s := &isolate.Source{Dir: dir}
		for err == nil {
			if _, err = s.Clone(context.Background(), to, nil); err == nil {
				err = s.Remove(to)
			}
		}
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(testsize.InMemory(m).Run())
}

// TestKilled: after a kill at any moment, the repository is as before, and Remove
// cleans up, so that the folder can be created.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	before := state(t, dir)
	to := filepath.Join(t.TempDir(), "a")
	s := &isolate.Source{Dir: dir}
	for i := range testsize.Of(2, 3, 12) {
		victim := exec.Command(os.Args[0])
		victim.Dir, victim.Env = dir, append(os.Environ(), asVictim+"="+to)
		victim.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with its git processes
		victim.Stderr = os.Stderr
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		// The kill comes at a different moment of the loop each time.
		time.Sleep(time.Duration(20+testsize.Of(28, 28, 7)*i) * time.Millisecond)
		syscall.Kill(-victim.Process.Pid, syscall.SIGKILL)
		if victim.Wait(); victim.ProcessState.Exited() {
			t.Fatal("it ended without a kill")
		}
		if err := s.Remove(to); err != nil {
			t.Error(err)
		}
		if after := state(t, dir); after != before {
			t.Fatalf("the repository was\n%q, is\n%q", before, after)
		}
	}
	makeClone(t, s, to, nil)
}
