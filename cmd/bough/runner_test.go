package main

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/bough-dev/bough/internal/testsize"
	"github.com/rogpeppe/go-internal/testscript"
)

// A runner runs the command lines of one script. They run in the processes of all scripts,
// because starting bough takes longer than most of them. A command line that needs a process
// of its own starts bough, as "exec bough" does, and so do all command lines in a full run.
type runner struct {
	names []string // of the variables that the script sets
	alone bool     // each run is a process
}

// A runnerProcess runs command lines of scripts, one after the other.
type runnerProcess struct {
	cmd *exec.Cmd
	out *gob.Encoder
	in  *gob.Decoder
	end io.Closer // standard input of the process, which ends with it
}

// idle are the processes that run no command line.
var idle struct {
	sync.Mutex
	list []*runnerProcess
}

// A runnerOrder is a command line for a runner.
type runnerOrder struct {
	Dir       string
	Env, Args []string
}

// An outcome is the result of a command line.
type outcome struct {
	Code           int
	Stdout, Stderr string
}

var (
	// otherZone matches scripts that need processes, because a process reads its time zone
	// once.
	otherZone = regexp.MustCompile(`(?m)^(\[.*\] *)?env TZ=`)
	variable  = regexp.MustCompile(`(?m)^(?:\[.*\] *)?env ([A-Z_]+)=`)
	// unread matches a command line that does not get the input of the line before it.
	unread = regexp.MustCompile(`(?m)^(\[.*\] *)?(stdin|ttyin) .*\n(\[.*\] *)?(! )?(exits \d+ )?bough`)
)

// newRunner returns the runner of a script, which starts with the first command line.
func newRunner(env *testscript.Env) (*runner, error) {
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	found, err := filepath.Glob(filepath.Join("testdata", "script", name+".txt*"))
	if err != nil || len(found) != 1 {
		return nil, fmt.Errorf("script %s: %q, %v", name, found, err)
	}
	script, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	if line := unread.Find(script); line != nil {
		return nil, fmt.Errorf("script %s: only exec gives input to a program: %q", name, line)
	}
	r := &runner{alone: testsize.Full() || otherZone.Match(script)}
	for _, v := range env.Vars {
		name, _, _ := strings.Cut(v, "=")
		r.names = append(r.names, name)
	}
	for _, m := range variable.FindAllSubmatch(script, -1) {
		r.names = append(r.names, string(m[1]))
	}
	return r, nil
}

// bough runs bough in a script.
func bough(ts *testscript.TestScript, args ...string) outcome {
	r := memoryOf(ts).runner
	if r.alone {
		err := ts.Exec("bough", args...)
		return outcome{exitOf(ts, err), ts.ReadFile("stdout"), ts.ReadFile("stderr")}
	}
	c := runnerOrder{Dir: ts.MkAbs("."), Args: args}
	for _, name := range r.names {
		if value := ts.Getenv(name); value != "" {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	p, err := idleProcess(c.Env)
	ts.Check(err)
	var o outcome
	if err := errors.Join(p.out.Encode(c), p.in.Decode(&o)); err != nil {
		p.close()
		ts.Check(err)
	}
	p.leave()
	return o
}

// idleProcess returns a process that runs no command line, a new one if there is none.
func idleProcess(env []string) (*runnerProcess, error) {
	idle.Lock()
	defer idle.Unlock()
	if n := len(idle.list); n > 0 {
		p := idle.list[n-1]
		idle.list = idle.list[:n-1]
		return p, nil
	}
	cmd := exec.Command("runner")
	cmd.Env, cmd.Stderr = env, os.Stderr
	out, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &runnerProcess{cmd, gob.NewEncoder(out), gob.NewDecoder(in), out}, cmd.Start()
}

// leave makes the process available to all scripts.
func (p *runnerProcess) leave() {
	idle.Lock()
	defer idle.Unlock()
	idle.list = append(idle.list, p)
}

// closeIdle ends the processes that run no command line.
func closeIdle() {
	idle.Lock()
	defer idle.Unlock()
	for _, p := range idle.list {
		p.close()
	}
	idle.list = nil
}

func (p *runnerProcess) close() {
	p.end.Close()
	p.cmd.Wait()
}

// exitOf returns the exit code of a program that ended with err.
func exitOf(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// shown runs bough and sets the output of the script to its output.
func shown(ts *testscript.TestScript, args []string) outcome {
	o := bough(ts, args...)
	if !memoryOf(ts).runner.alone {
		io.WriteString(ts.Stdout(), o.Stdout)
		io.WriteString(ts.Stderr(), o.Stderr)
	}
	return o
}

func cmdBough(ts *testscript.TestScript, neg bool, args []string) {
	if o := shown(ts, args); neg != (o.Code != 0) {
		ts.Fatalf("exit code %d", o.Code)
	}
}

// runnerMain is the program of a runner.
func runnerMain() {
	debug.SetGCPercent(400) // as in testsize.LazyGC
	in, out := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	for {
		var c runnerOrder
		if err := in.Decode(&c); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		o, err := c.run()
		if err == nil {
			err = out.Encode(o)
		}
		if err != nil {
			panic(err)
		}
	}
}

// run runs a command line as a process would, with pipes for its streams.
func (c runnerOrder) run() (outcome, error) {
	home, err := os.Getwd()
	if err == nil {
		err = os.Chdir(c.Dir)
	}
	if err != nil {
		return outcome{}, err
	}
	defer os.Chdir(home) // Windows does not remove the folder that a process is in
	os.Clearenv()
	for _, v := range append(c.Env, "PWD="+c.Dir) {
		name, value, _ := strings.Cut(v, "=")
		os.Setenv(name, value)
	}
	stdin, none, err := os.Pipe()
	if err != nil {
		return outcome{}, err
	}
	none.Close()
	defer stdin.Close()
	var o outcome
	var reading sync.WaitGroup
	pipe := func(text *string) (*os.File, error) {
		r, w, err := os.Pipe()
		if err == nil {
			reading.Go(func() {
				data, _ := io.ReadAll(r)
				r.Close()
				*text = string(data)
			})
		}
		return w, err
	}
	stdout, err := pipe(&o.Stdout)
	if err != nil {
		return o, err
	}
	stderr, err := pipe(&o.Stderr)
	if err != nil {
		return o, err
	}
	os.Stdin, os.Stdout, os.Stderr = stdin, stdout, stderr
	o.Code = run(c.Args, stdin, stdout, stderr)
	stdout.Close()
	stderr.Close()
	reading.Wait()
	return o, nil
}
