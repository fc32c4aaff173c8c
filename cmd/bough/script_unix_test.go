//go:build unix

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// systemCommands are the script commands that only some systems have.
var systemCommands = map[string]scriptCommand{"as-nobody": plain(2, cmdAsNobody)}

// cmdAsNobody runs a program that must exit with a code, in a script's folder
// that belongs to the user who runs it: not root, whom no permission stops.
func cmdAsNobody(ts *testscript.TestScript, args []string) {
	if os.Getuid() != 0 {
		cmdExits(ts, args)
		return
	}
	const nobody = 65534
	program, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(program, args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "TZ", "GORACE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	work := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(work, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
	for _, dir := range []string{filepath.Dir(work), filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		ts.Check(os.Chmod(dir, 0o711))
	}
	checkExit(ts, args[0], cmd.Run())
}
