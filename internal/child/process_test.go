package child

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asChild is an environment variable that makes the test program act as a child
// process.
const asChild = "TEST_AS_CHILD"

func TestMain(m *testing.M) {
	switch how := os.Getenv(asChild); how {
	case "":
		os.Setenv("GORACE", "atexit_sleep_ms=0") // for the programs that the tests start: under the race detector each sleeps for a second
		os.Exit(m.Run())
	case "cat":
		io.Copy(os.Stdout, os.Stdin)
	case "hang":
		time.Sleep(time.Hour) // until it is killed
	case "flood":
		for {
			os.Stdout.Write(make([]byte, 1<<16))
		}
	case "deaf flood":
		signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE)
		for {
			os.Stdout.Write(make([]byte, 1<<16))
		}
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		os.Stdout.WriteString("up\n")
		time.Sleep(time.Hour) // until it is killed
	case "deaf parent":
		signal.Ignore(syscall.SIGTERM)
		beside("deaf")
		time.Sleep(time.Hour) // until it is killed
	case "leaves":
		beside("deaf")
	case "polite":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		os.Stdout.WriteString("up\n")
		<-asked
		os.Stdout.WriteString("last words\n")
	case "garbage":
		os.Stdout.WriteString("\xff\x00{\"result\":")
		os.Exit(1)
	case "closes":
		os.Stdout.WriteString("early")
		os.Stdout.Close()
		io.Copy(io.Discard, os.Stdin)
		os.Stderr.WriteString("late")
	default:
		os.Stderr.WriteString(how)
		os.Exit(3)
	}
}

// beside starts this program again, with the same output, and writes its number.
func beside(how string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asChild+"="+how)
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Println(cmd.Process.Pid)
}

func start(t *testing.T, how string) *Process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asChild+"="+how)
	p, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0) })
	return p
}

func TestProcess(t *testing.T) {
	p := start(t, "cat")
	go func() {
		io.WriteString(p.Stdin, "hello")
		p.Stdin.Close()
	}()
	if out, err := io.ReadAll(p.Stdout); string(out) != "hello" || err != nil {
		t.Errorf("got %q, %v", out, err)
	}
	p.Stop(time.Minute)
	if p.Failure() != "" || p.Said() != "" {
		t.Errorf("it ended with %q and printed %q", p.Failure(), p.Said())
	}

	p = start(t, "no\n")
	<-p.Done()
	if p.Failure() != "exit status 3" || p.Said() != "no" {
		t.Errorf("it ended with %q and printed %q", p.Failure(), p.Said())
	}

	p = start(t, "hang")
	p.Stop(10 * time.Millisecond)
	if _, err := io.ReadAll(p.Stdout); err != nil || p.Failure() != "" {
		t.Errorf("it ended with %q, %v", p.Failure(), err)
	}

	if _, err := Start(exec.Command(t.TempDir() + "/none")); err == nil {
		t.Error("a missing program was started")
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("y", maxTail)
	for _, c := range []struct {
		in   []string
		want string
	}{
		{nil, ""},
		{[]string{"a", "b\n", "\xff\n"}, "ab\n\uFFFD"},
		{[]string{"first\n", "second\n", long[:maxTail-7]}, "…" + long[:maxTail-7]},
		{[]string{"x\n" + long + "\nend\n"}, "…end"},
		{[]string{"x" + long}, "…" + long},
		{[]string{"x", long}, "…" + long},
	} {
		var got tail
		for _, s := range c.in {
			got.Write([]byte(s))
		}
		if got.String() != c.want {
			t.Errorf("after %.40q: %.60q, want %.60q", c.in, got.String(), c.want)
		}
	}
}

func TestStartFails(t *testing.T) {
	for what, cmd := range map[string]*exec.Cmd{
		"no such program":    exec.Command(t.TempDir() + "/none"),
		"standard input set": {Path: os.Args[0], Stdin: os.Stdin},
	} {
		if p, err := Start(cmd); err == nil {
			p.Stop(0)
			t.Errorf("%s: Start returns no error", what)
		}
	}
	if err := Run(t.Context(), "echo \x00", nil, io.Discard, io.Discard, 0); err == nil {
		t.Error("a command line with a NUL byte: Run returns no error")
	}
}
