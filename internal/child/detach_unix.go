//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// Detach makes a command run in a session of its own, which no terminal and no process group
// ends.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
