//go:build unix

package daemon

import (
	"io/fs"
	"os"
	"syscall"
)

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// Become replaces this process by a program, with the same process id, arguments and
// environment. It returns only if that fails.
func Become(program string) error {
	return syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
}

func executable(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }
