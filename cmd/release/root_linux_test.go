package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// tryInRoot runs the program that is installed in a root which has nothing else.
func tryInRoot(t *testing.T, root string) {
	t.Helper()
	for _, c := range []struct{ args, want string }{
		{"version", "built with go"}, {"demo /demo --no-pause", "No problems found"}, {"-w /demo doctor", "No problems found"}, {"man", ".TH BOUGH 1"},
	} {
		cmd := exec.Command("/usr/bin/bough", strings.Fields(c.args)...)
		cmd.Path, cmd.Err = "/usr/bin/bough", nil // in the root
		cmd.Dir, cmd.Env = "/", []string{"HOME=/tmp", "PATH=/usr/bin"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
		if os.Geteuid() != 0 {
			cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
		}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) {
			t.Skip("this user may not change the root: run the test as root")
		}
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("bough %s in the clean root: %v: %s", c.args, err, out)
		}
	}
}
