//go:build linux && powerloss

package workspace_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/doctor"
	"golang.org/x/sys/unix"
)

var powerLoss = flag.Int("powerloss", 10, "shut `N` real file systems down")

// command runs a program that must succeed, and returns what it prints.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// mounted mounts a device or tmpfs in dir until the test ends or unmount is called.
func mounted(t *testing.T, dir, kind, device string, options ...string) (unmount func()) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	command(t, "mount", append(append([]string{"-t", kind}, options...), device, dir)...)
	var once sync.Once
	unmount = func() { once.Do(func() { command(t, "umount", dir) }) }
	t.Cleanup(unmount)
	return unmount
}

// loop returns a loop device with a new file system of some bytes.
func loop(t *testing.T, kind string, size int64) (device string) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	f, err := os.Create(image)
	if err == nil {
		err = errors.Join(f.Truncate(size), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs."+kind, "-q", image)
	device = command(t, "losetup", "-f", "--show", image)
	t.Cleanup(func() { command(t, "losetup", "-d", device) })
	return device
}

// shutDown ends all writes to the file system in dir as a power failure does: data not yet
// on disk, including the file system's journal, is lost.
func shutDown(t *testing.T, dir string) {
	t.Helper()
	const (
		shutdown   = 0x8004587d // FS_IOC_SHUTDOWN
		noLogFlush = 2
	)
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.IoctlSetPointerInt(int(f.Fd()), shutdown, noLogFlush); err != nil {
		t.Fatalf("shut the file system down: %v", err)
	}
}

// acknowledged fails the test unless every text is in a session once, in order, with at
// most one other text, the last, and doctor finds no problem.
func (s *space) acknowledged(id string, said []string) {
	s.t.Helper()
	report, err := s.Doctor(s.t.Context(), doctor.Options{})
	if err != nil || !report.OK {
		s.t.Errorf("doctor finds %+v, %v", report, err)
	}
	c, err := s.Show(s.t.Context(), id, session.ReadOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var texts []string
	for _, m := range c.Messages {
		texts = append(texts, m.Text())
	}
	if len(texts) < len(said) || len(texts) > len(said)+1 || !slices.Equal(texts[:len(said)], said) {
		s.t.Errorf("%d messages were acknowledged, and %d exist", len(said), len(texts))
	}
}

// TestPowerLoss: acknowledged writes survive a power failure of an ext4 or XFS, and the
// workspace opens.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(*powerLoss), 1))
	for n := range *powerLoss {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			kind, size := "ext4", int64(64<<20)
			if n%2 == 1 {
				kind, size = "xfs", 512<<20 // appends share blocks there
			}
			device, dir := loop(t, kind, size), filepath.Join(t.TempDir(), "disk")
			unmount := mounted(t, dir, kind, device)
			s := openSpace(t, filepath.Join(dir, "ws"), 20)
			id := s.new("Bread")
			var said []string
			stopped := make(chan error)
			enough, many := make(chan struct{}), 1+random.IntN(60)
			go func() {
				for i := 0; ; i++ {
					text := fmt.Sprintf("%d %s", i, strings.Repeat("x", i*997%20_000))
					if _, err := s.Append(t.Context(), workspace.Append{Session: id, Text: text}); err != nil {
						stopped <- err
						return
					}
					if said = append(said, text); len(said) == many {
						close(enough)
					}
				}
			}()
			select {
			case <-enough:
			case err := <-stopped:
				t.Fatal(err)
			}
			for end := time.Now().Add(time.Duration(random.IntN(8000)) * time.Microsecond); time.Now().Before(end); {
			}
			shutDown(t, dir)
			if err := <-stopped; !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.EROFS) {
				t.Errorf("the write after the power failed: %v", err)
			}
			unmount()
			mounted(t, dir, kind, device)
			s = openSpace(t, filepath.Join(dir, "ws"), 20)
			s.acknowledged(id, said)
			s.append(workspace.Append{Session: id, Text: "goes on"})
			if report, err := s.Doctor(t.Context(), doctor.Options{}); err != nil || !report.OK || len(report.Problems) > 0 {
				t.Errorf("after the next write doctor finds %+v, %v", report, err)
			}
		})
	}
}

// TestFullDisk: writes acknowledged before the disk was full are kept, and writing
// continues when there is space again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ext4", "tmpfs"} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "disk")
			if kind == "ext4" {
				mounted(t, dir, kind, loop(t, kind, 8<<20))
			} else {
				mounted(t, dir, kind, "none", "-o", "size=4m")
			}
			if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600); err != nil {
				t.Fatal(err)
			}
			s := openSpace(t, filepath.Join(dir, "ws"), 20)
			id := s.new("Bread")
			var said []string
			for failed := 0; failed < 20; {
				text := fmt.Sprintf("%d %s", len(said), strings.Repeat("x", 9_000/(1+failed)))
				_, err := s.Append(t.Context(), workspace.Append{Session: id, Text: text})
				switch {
				case err == nil:
					said = append(said, text)
				case errors.Is(err, syscall.ENOSPC):
					failed++
					s.acknowledged(id, said)
				default:
					t.Fatalf("append to a full disk: %v", err)
				}
			}
			if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
				t.Fatal(err)
			}
			s.append(workspace.Append{Session: id, Text: "goes on"})
			s.acknowledged(id, append(said, "goes on"))
			t.Logf("%d messages until the disk was full", len(said))
		})
	}
}
