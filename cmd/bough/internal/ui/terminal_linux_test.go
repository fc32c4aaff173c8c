package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	agentmodel "github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/workspace/agents"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// A terminal is a pseudoterminal with a page on it.
type terminal struct {
	t       *testing.T
	control *os.File // what a person types, and sees
	tty     *os.File // what the page runs on
	before  *term.State

	mu      sync.Mutex
	changed chan struct{} // closed when more was written
	written []byte
	ended   chan error // the result of Run
}

func newTerminal(t *testing.T, d *desk, o Options) *terminal {
	t.Helper()
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = control.Close() })
	raw, err := control.SyscallConn() // Fd would make reading blocking, which Close does not end
	if err != nil {
		t.Fatal(err)
	}
	var n int
	controlled := raw.Control(func(fd uintptr) {
		n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		if err == nil {
			err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		}
		if err == nil {
			err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
		}
	})
	if err := errors.Join(controlled, err); err != nil {
		t.Fatal(err)
	}
	open := func() *os.File {
		f, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	// The page has a file of its own, which is closed when it is collected: after the editor
	// bubbletea asks for the size of the terminal in a goroutine that nobody waits for.
	tty, page := open(), open()
	t.Cleanup(func() { _ = tty.Close() })
	x := &terminal{t: t, control: control, tty: tty, changed: make(chan struct{}), ended: make(chan error, 1)}
	x.before = x.settings()
	go x.read()
	go func() { x.ended <- Run(t.Context(), d.w, page, page, o) }()
	return x
}

func (x *terminal) read() {
	buf := make([]byte, 1<<16)
	for {
		n, err := x.control.Read(buf)
		x.mu.Lock()
		x.written = append(x.written, buf[:n]...)
		close(x.changed)
		x.changed = make(chan struct{})
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// waits waits until a text was written after an offset, and returns the offset after it.
func (x *terminal) waits(from int, text string) int {
	x.t.Helper()
	for timeout := time.After(time.Minute); ; {
		x.mu.Lock()
		at, changed := bytes.Index(x.written[from:], []byte(text)), x.changed
		x.mu.Unlock()
		if at >= 0 {
			return from + at + len(text)
		}
		select {
		case <-changed:
		case <-timeout:
			x.t.Fatalf("no %q was written: %q", text, x.written[from:])
		}
	}
}

func (x *terminal) types(text string) {
	x.t.Helper()
	if _, err := x.control.WriteString(text); err != nil {
		x.t.Fatal(err)
	}
}

// end returns the result of Run, and what was written.
func (x *terminal) end() (string, error) {
	x.t.Helper()
	select {
	case err := <-x.ended:
		x.waits(0, "\x1b[?1049l")
		x.mu.Lock()
		defer x.mu.Unlock()
		return string(x.written), err
	case <-time.After(time.Minute):
		x.t.Fatal("the page does not end")
		return "", nil
	}
}

func (x *terminal) settings() *term.State {
	x.t.Helper()
	s, err := term.GetState(int(x.tty.Fd()))
	if err != nil {
		x.t.Fatal(err)
	}
	return s
}

// sgr is a sequence that sets colours and attributes.
var sgr = regexp.MustCompile(`\x1b\[([0-9;:]*)m`)

// TestColors: the page writes only the sixteen colours that every terminal has, and none with
// NO_COLOR.
func TestColors(t *testing.T) {
	for _, c := range []struct {
		name, variable, value string
		colors                bool
	}{{"true colour", "COLORTERM", "truecolor", true}, {"NO_COLOR", "NO_COLOR", "1", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TERM", "xterm-256color")
			t.Setenv("NO_COLOR", "")
			t.Setenv("CLICOLOR_FORCE", "")
			t.Setenv(c.variable, c.value)
			d := newDesk(t, 80, 24)
			d.story()
			x := newTerminal(t, d, Options{})
			at := x.waits(0, "with oats?")
			x.types("?")
			at = x.waits(at, "Keys")
			x.types("q]")
			x.waits(at, "No message of this path")
			x.types("q")
			written, err := x.end()
			d.must(nil, err)
			colored := false
			for _, m := range sgr.FindAllStringSubmatch(written, -1) {
				for _, p := range strings.Split(m[1], ";") {
					switch {
					case len(p) == 2 && (p[0] == '3' || p[0] == '4' || p[0] == '9') && p[1] <= '7':
						colored = true
					case strings.HasPrefix(p, "38"), strings.HasPrefix(p, "48"):
						t.Errorf("%q is none of the sixteen colours", m[0])
					}
				}
			}
			if colored != c.colors {
				t.Errorf("colours were written: %v, want %v: %q", colored, c.colors, written)
			}
			if !strings.Contains(written, "\x1b[1m") && !strings.Contains(written, "\x1b[7m") {
				t.Errorf("nothing was written in bold or reverse: %q", written)
			}
		})
	}
}

// TestPanic: after a panic in the view, in an update or in a command, and without one, the terminal
// is as before, the panic is printed, and no goroutine is left.
func TestPanic(t *testing.T) {
	signals := make(chan os.Signal, 1) // the goroutine that receives signals stays
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	var panics atomic.Bool
	models := func(context.Context, string) (agentmodel.Model, error) { panic("no such model") }
	for _, c := range []struct {
		name string
		o    Options
		keys string
		text string
	}{
		{"view", Options{Now: func() time.Time {
			if panics.Load() {
				panic("no time")
			}
			return begin
		}}, "j", "no time"},
		{"update", Options{Now: func() time.Time {
			if panics.Load() && strings.Contains(string(debug.Stack()), ".showPath(") {
				panic("no path")
			}
			return begin
		}}, "nBread\r", "no path"},
		{"editor", Options{Edit: func(context.Context, string) (string, error) { panic("no editor") }}, "e", "no editor"},
		{"command", Options{Models: models}, "iHello\r", "no such model"},
		{"none", Options{}, "q", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			panics.Store(false)
			d := newDesk(t, 80, 24)
			d.must(d.w.Agent("ada").Create(t.Context(), agents.Options{Model: "openai:gpt-5"}))
			begins := "No messages yet"
			if c.name == "editor" {
				begins = "How wet?"
				d.conversation("Bread", begins)
			}
			goroutines := runtime.NumGoroutine()
			stderr := os.Stderr
			file, err := os.Create(t.TempDir() + "/stderr")
			d.must(file, err)
			os.Stderr = file
			defer func() { os.Stderr = stderr }()
			x := newTerminal(t, d, c.o)
			at := x.waits(0, begins)
			if c.name == "editor" {
				x.types("\t")
				x.waits(at, "tree")
			}
			panics.Store(true)
			x.types(c.keys)
			written, err := x.end()
			os.Stderr = stderr
			if panicked := c.text != ""; errors.Is(err, tea.ErrProgramPanic) != panicked {
				t.Errorf("the page ended with %v", err)
			}
			printed, err := os.ReadFile(file.Name())
			d.must(printed, err)
			if strings.Contains(string(printed), "Caught panic") {
				t.Errorf("bubbletea caught the panic: %s", printed)
			}
			if !strings.Contains(string(printed), c.text) || c.text != "" && !strings.Contains(string(printed), "internal/ui.") {
				t.Errorf("%q and its stack are not in %q", c.text, printed)
			}
			if now := x.settings(); !reflect.DeepEqual(now, x.before) {
				t.Errorf("the settings of the terminal are %+v, before they were %+v", now, x.before)
			}
			for _, mode := range []string{"1049", "1002", "1006", "2004"} {
				if on, off := strings.LastIndex(written, "\x1b[?"+mode+"h"), strings.LastIndex(written, "\x1b[?"+mode+"l"); on > off {
					t.Errorf("mode %s is left on: %q", mode, written)
				}
			}
			if strings.LastIndex(written, "\x1b[?25l") > strings.LastIndex(written, "\x1b[?25h") {
				t.Errorf("the cursor is left hidden: %q", written)
			}
			_ = x.control.Close() // ends read
			for begun := time.Now(); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
				if time.Since(begun) > 20*time.Second {
					var b strings.Builder
					_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
					t.Fatalf("%d goroutines, before %d:\n%s", runtime.NumGoroutine(), goroutines, b.String())
				}
			}
		})
	}
}

// A waiter is a model that numbers its replies, and ends each when it may.
type waiter struct {
	may   chan struct{}
	asked atomic.Int32
}

func (w *waiter) Ask(ctx context.Context, _ *agentmodel.Request, stream func(string)) (*agentmodel.Reply, error) {
	n := w.asked.Add(1)
	stream(fmt.Sprintf("Begin %d", n))
	select {
	case <-w.may:
		return &agentmodel.Reply{Text: fmt.Sprintf("Reply %d", n)}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestChat: while an agent answers, Enter steers it, and Alt+Enter queues a follow-up.
func TestChat(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.must(d.w.Agent("ada").Create(t.Context(), agents.Options{Model: "openai:gpt-5"}))
	answers := &waiter{may: make(chan struct{})}
	x := newTerminal(t, d, Options{Models: func(context.Context, string) (agentmodel.Model, error) { return answers, nil }})
	at := x.waits(0, "No messages yet")
	for _, c := range []struct{ text, enter, then string }{
		{"Find five hotels", "\r", "Begin 1"},
		{"Only near the river", "\r", "Queued until ada has done what it does now"},
		{"And where to eat?", "\x1b\r", "Queued until ada has finished"},
	} {
		x.types("i")
		at = x.waits(at, "To ada")
		x.types(c.text + c.enter)
		at = x.waits(at, c.then)
	}
	close(answers.may)
	x.waits(at, "Reply 3")
	x.types("q")
	_, err := x.end()
	d.must(nil, err)
	ada, err := d.w.Agent("ada").Info(t.Context())
	d.must(ada, err)
	path, err := d.w.Show(t.Context(), ada.Head.Tree, partial())
	d.must(path, err)
	var said []string
	for _, m := range path.Messages {
		said = append(said, m.Text())
	}
	if want := []string{"Find five hotels", "Reply 1", "Only near the river", "Reply 2", "And where to eat?", "Reply 3"}; !reflect.DeepEqual(said, want) {
		t.Errorf("the conversation is %q, want %q", said, want)
	}
}
