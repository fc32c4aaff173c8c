//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// systemCommands are the script commands that only some systems have.
var systemCommands = map[string]scriptCommand{
	"as-nobody":  plain(2, cmdAsNobody),
	"giveaway":   plain(1, cmdGiveAway),
	"sameowner":  plain(1, cmdSameOwner),
	"mkfifo":     plain(1, cmdMkfifo),
	"interrupts": plain(1, cmdInterrupts),
	"give":       plain(1, func(ts *testscript.TestScript, args []string) { chown(ts, nobody, args) }),
	"own":        plain(1, func(ts *testscript.TestScript, args []string) { chown(ts, os.Getuid(), args) }),
}

// nobody is a user id other than that of the tests.
const nobody = 65534

// chown changes the owner of folders and their contents, which only root can.
func chown(ts *testscript.TestScript, uid int, dirs []string) {
	for _, dir := range dirs {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, uid, uid))
		}))
	}
}

// cmdAsNobody runs a program that must exit with a code, in a folder of the script that
// belongs to the user who runs it: not root, whom no permission stops.
func cmdAsNobody(ts *testscript.TestScript, args []string) {
	if os.Getuid() != 0 {
		cmdExits(ts, args)
		return
	}
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
	chown(ts, nobody, []string{work})
	for _, dir := range []string{filepath.Dir(work), filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		ts.Check(os.Chmod(dir, 0o711))
	}
	checkExit(ts, args[0], exitOf(ts, cmd.Run()))
}

// cmdGiveAway gives a folder and its contents to another user, if the user who runs the
// script may do that.
func cmdGiveAway(ts *testscript.TestScript, args []string) {
	const nobody = 65534
	if os.Getuid() != 0 {
		return
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
}

// cmdSameOwner checks that the contents of a folder belong to the owner of the folder.
func cmdSameOwner(ts *testscript.TestScript, args []string) {
	var want [2]uint32
	files := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		is := [2]uint32{st.Uid, st.Gid}
		if files++; files == 1 {
			want = is
		}
		if is != want && d.Name() != "lock.holder" {
			ts.Fatalf("%s belongs to %d, want %d", path, is, want)
		}
		return nil
	}))
	if files < 5 {
		ts.Fatalf("%s holds only %d files", args[0], files)
	}
}

// cmdMkfifo makes named pipes, in place of existing files if there are any.
func cmdMkfifo(ts *testscript.TestScript, args []string) {
	for _, name := range args {
		name = ts.MkAbs(name)
		ts.Check(os.MkdirAll(filepath.Dir(name), 0o700))
		ts.Check(os.RemoveAll(name))
		ts.Check(syscall.Mkfifo(name, 0o600))
	}
}

// cmdInterrupts runs a program until it reads its standard input, which does not end, and
// interrupts it. The program must then end.
func cmdInterrupts(ts *testscript.TestScript, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "BOUGH_WORKSPACE=" + ts.Getenv("BOUGH_WORKSPACE")}
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	const more = 1 << 20 // than a pipe holds
	_, err = stdin.Write(make([]byte, more))
	ts.Check(err)
	ts.Check(cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		ts.Fatalf("interrupted, the program ended with %v", err)
	}
}
