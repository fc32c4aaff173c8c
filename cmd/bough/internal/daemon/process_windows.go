package daemon

import (
	"io/fs"
	"os"
	"os/exec"

	"github.com/bough-dev/bough/internal/child"
)

// terminate ends a process at once: Windows sends no signal to a process without a
// console. A change that it was making is completed or removed by the next one.
func terminate(p *os.Process) error { return p.Kill() }

// Become starts a program with the arguments and environment of this process, and ends
// this process. It returns only if that fails.
func Become(program string) error {
	cmd := exec.Command(program, os.Args[1:]...)
	child.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

func executable(fs.FileInfo) bool { return true }
