package child

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// lastWords is how long the standard error of a program is waited for that has ended, if
// something that it started still has it.
const lastWords = 500 * time.Millisecond

// A Process is a running program. It has a group of its own: what interrupts this
// program does not interrupt it.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser // ends when the program does

	cmd   *exec.Cmd
	group *group
	said  tail
	made  atomic.Bool // to end
	done  chan struct{}
}

// Start starts a command, whose standard input, output and error are not set. What it
// writes to its standard error is kept, the end of it.
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
		cmd.Wait() // how it ended stands in cmd.ProcessState
		p.group.kill()
		p.group.close()
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop ends the program and returns when it has ended: it closes its standard input,
// after the time grace asks it to end, which Windows cannot, and after another such
// time kills it and what is left of its group.
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

// Failure says how the program ended, such as "exit status 1". It is "" while it runs, if
// it ended well, and if it had to be made to end.
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

// Note adds to what the program said.
func (p *Process) Note(b []byte) { p.said.Write(b) }

// Said returns the end of what the program wrote to its standard error: valid UTF-8, at
// most 1 KiB, "" if it wrote nothing.
func (p *Process) Said() string { return p.said.String() }

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
	cut  bool
}

const maxTail = 1 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b[max(0, len(b)-maxTail):]...)
	if n := len(t.data) - maxTail; n > 0 || len(b) > maxTail {
		t.data = append(t.data[:0], t.data[max(0, n):]...)
		t.cut = true
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.data)
	if t.cut {
		// The first line is not whole, unless it is the only one.
		if _, rest, ok := strings.Cut(s, "\n"); ok && strings.TrimSpace(rest) != "" {
			s = rest
		}
		s = "…" + s
	}
	return strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
}
