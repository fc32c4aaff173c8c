package child

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bough-dev/bough/internal/bounded"
)

// lastWords is how long to wait for the standard error of a program after its
// exit, if another process still has it open.
const lastWords = 500 * time.Millisecond

// A Process is a running program in a process group of its own, so that an
// interrupt of this program does not reach it.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser // ends when the program does

	cmd   *exec.Cmd
	group *group
	said  tail
	made  atomic.Bool // Stop has asked it to exit
	done  chan struct{}
}

// Start starts a command, whose standard input, output and error must not be set.
// The end of its standard error is kept.
func Start(cmd *exec.Cmd) (*Process, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return nil, err
	}
	defer w.Close()
	p := &Process{Stdin: stdin, Stdout: r, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w, &p.said, lastWords
	p.group, err = startGroup(cmd, (*group).kill)
	if err != nil {
		r.Close()
		stdin.Close()
		return nil, err
	}
	go func() {
		cmd.Wait() // the result is in cmd.ProcessState
		p.group.kill()
		p.group.close()
		close(p.done)
	}()
	return p, nil
}

// Done returns a channel that is closed when the program has exited.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop ends the program and returns when it has exited: it closes standard input,
// after the time grace asks it to exit, which Windows cannot, and after another
// grace kills it and the rest of its group.
func (p *Process) Stop(grace time.Duration) {
	p.Stdin.Close()
	if !p.endsWithin(grace) {
		p.made.Store(true)
		p.group.end()
		if !p.endsWithin(grace) {
			p.group.kill()
		}
	}
	<-p.done
}

func (p *Process) endsWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-t.C:
		return false
	}
}

// Failure describes how the program failed, such as "exit status 1". It is "" while
// the program is running, if it succeeded, and if Stop ended it.
func (p *Process) Failure() string {
	select {
	case <-p.done:
	default:
		return ""
	}
	if p.made.Load() || p.cmd.ProcessState.Success() {
		return ""
	}
	return p.cmd.ProcessState.String()
}

// Note adds to the standard error of the program.
func (p *Process) Note(b []byte) { p.said.Write(b) }

// Said returns the end of the program's standard error: valid UTF-8, at most 1 KiB,
// "" if it is empty.
func (p *Process) Said() string { return p.said.String() }

// A tail stores the end of its input.
type tail struct {
	mu   sync.Mutex
	kept bounded.Tail
}

const maxTail = 1 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept.Limit = maxTail
	return t.kept.Write(b)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.kept.Bytes())
	if t.kept.Cut() {
		// The first line is incomplete, unless it is the only one.
		if _, rest, ok := strings.Cut(s, "\n"); ok && strings.TrimSpace(rest) != "" {
			s = rest
		}
		s = "…" + s
	}
	return strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
}
