package child

import (
	"os/exec"

	"golang.org/x/sys/windows"
)

// Detach makes a command run without a console, in a group of its own.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
