package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/agent/model/command"
)

// asCommand is the environment variable that selects which of commands a process started by
// these tests is.
const asCommand = "BOUGH_TEST_MODEL"

func TestMain(m *testing.M) {
	if name := os.Getenv(asCommand); name != "" {
		os.Exit(commands[name]())
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the programs that the tests start: under the race detector each sleeps for a second
	os.Exit(m.Run())
}

var commands = map[string]func() int{
	"echo": func() int { io.Copy(os.Stdout, os.Stdin); return 0 },
	"pieces": func() int {
		for _, piece := range []string{"  größ", "\xc3", "\xb6er\r\n", "\n😀\xe2", "\x9c", "\x93 end\n\n"} {
			os.Stdout.WriteString(piece)
			time.Sleep(20 * time.Millisecond) // so that the reader gets them one by one
		}
		return 0
	},
	"nothing": func() int { return 0 },
	"blank":   func() int { fmt.Print(" \n\t\n"); return 0 },
	"fail": func() int {
		fmt.Print("half of it")
		fmt.Fprint(os.Stderr, strings.Repeat("talk ", 10000), "some \x1b[31mtrouble\r\n\nno such model\n\n")
		return 3
	},
	"silent": func() int { return 4 },
	"talk":   func() int { fmt.Fprintln(os.Stderr, "thinking"); fmt.Println("Yes."); return 0 },
	"flood": func() int {
		for {
			if _, err := os.Stdout.Write(make([]byte, 1<<16)); err != nil {
				time.Sleep(time.Minute) // until it is killed
			}
		}
	},
	"hang":  func() int { fmt.Print("So"); time.Sleep(time.Minute); return 0 }, // until it is killed
	"latin": func() int { fmt.Println("caf\xe9 au lait"); return 0 },
	"half":  func() int { fmt.Print("caf\xc3"); return 0 },
}

// this returns the command line of this program.
func this() string {
	if runtime.GOOS == "windows" {
		return `"` + os.Args[0] + `"`
	}
	return "'" + strings.ReplaceAll(os.Args[0], "'", `'\''`) + "'"
}

// request returns a request with every kind of content of a session file.
func request() *model.Request {
	return &model.Request{
		Agent: "anna", ModelID: "m-1", System: "Be <brief>.",
		Messages: []model.Message{
			{ID: "a", Role: "user", Content: json.RawMessage(`"1 < 2 \ud83d"`), Metadata: json.RawMessage(`{"kind":"user"}`)},
			{ID: "b", Role: "assistant", Content: json.RawMessage(`[ {"type":"text"}, 12345678901234567890 ]`)},
			{ID: "c", Role: "user"},
		},
	}
}

// TestAsk: any behaviour of a program results in a reply or in a readable error.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name, text, fails string
	}{
		{"pieces", "  größöer\r\n\n😀✓ end", ""},
		{"talk", "Yes.", ""},
		{"nothing", "", "the model's command printed nothing"},
		{"blank", "", "the model's command printed nothing"},
		{"fail", "", "the model's command failed with exit status 3: …"},
		{"silent", "", "the model's command failed with exit status 4, without an error message"},
		{"flood", "", "the model's command said more than 100000 bytes"},
		{"hang", "", "the model's command took longer than 100ms"},
		{"latin", "", "the output of the model's command is not valid UTF-8"},
		{"half", "", "the output of the model's command is not valid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(asCommand, c.name)
			o := command.Options{Timeout: time.Minute, MaxBytes: 100_000}
			if c.name == "hang" {
				o.Timeout = 100 * time.Millisecond
			}
			var streamed strings.Builder
			reply, err := command.New(this(), o).Ask(t.Context(), request(), func(piece string) {
				if piece == "" || !utf8.ValidString(piece) {
					t.Errorf("a piece is %q", piece)
				}
				streamed.WriteString(piece)
			})
			if c.fails != "" {
				if reply != nil || err == nil || !strings.HasPrefix(err.Error(), c.fails) {
					t.Fatalf("it says %v, %v, want %q", reply, err, c.fails)
				}
				if s := err.Error(); len(s) > 1200 || strings.ContainsAny(s, "\x1b\r\n") {
					t.Errorf("the error is %q", s)
				}
				if c.name == "fail" && !strings.HasSuffix(err.Error(), "talk some [31mtrouble no such model") {
					t.Errorf("the error ends %q", err.Error()[len(err.Error())-80:])
				}
				return
			}
			if err != nil || reply.Text != c.text || len(reply.Calls) != 0 {
				t.Fatalf("it says %+v, %v, want %q", reply, err, c.text)
			}
			if streamed.String() != reply.Text {
				t.Errorf("%q is streamed and %q said", streamed.String(), reply.Text)
			}
		})
	}
}

// TestInput: a program reads the request, with content as it is stored.
func TestInput(t *testing.T) {
	t.Setenv(asCommand, "echo")
	const head = `{"agent":"anna","model_id":"m-1","system":"Be <brief>.","messages":[` +
		`{"id":"a","role":"user","content":"1 < 2 \ud83d","metadata":{"kind":"user"}},` +
		`{"id":"b","role":"assistant","content":[ {"type":"text"}, 12345678901234567890 ],"metadata":{}},` +
		`{"id":"c","role":"user","content":null,"metadata":{}}]`
	none, tools, python, wrong := request(), request(), request(), request()
	tools.Tools = []model.Tool{{Name: "ls", Description: "lists", Schema: json.RawMessage(`{"type":"object"}`), Writes: true}}
	python.Messages = []model.Message{{ID: "n", Role: "user", Content: json.RawMessage(`[NaN]`)}}
	wrong.Tools = []model.Tool{{Name: "ls", Schema: json.RawMessage(`{`)}}
	for _, c := range []struct {
		request *model.Request
		want    string
	}{
		{none, head + `}`},
		{tools, head + `,"tools":[{"name":"ls","description":"lists","schema":{"type":"object"}}]}`},
		{&model.Request{}, `{"agent":"","model_id":"","system":"","messages":[]}`},
		{python, `{"agent":"anna","model_id":"m-1","system":"Be <brief>.","messages":[{"id":"n","role":"user","content":[NaN],"metadata":{}}]}`},
	} {
		reply, err := command.New(this(), command.Options{}).Ask(t.Context(), c.request, nil)
		if err != nil || reply.Text != c.want {
			t.Errorf("it reads\n%+v, %v, want\n%s", reply, err, c.want)
		}
	}
	if _, err := command.New(this(), command.Options{}).Ask(t.Context(), wrong, nil); err == nil || err.Error() != `the schema of the tool "ls" is not JSON` {
		t.Errorf("an invalid schema: %v", err)
	}
}

// TestNoCommand: an empty command line and a missing program are errors.
func TestNoCommand(t *testing.T) {
	for line, want := range map[string]string{
		" ":                                "the command of the model is empty",
		"bough-is-no-command-of-this-name": "the model's command failed with exit status",
	} {
		if _, err := command.New(line, command.Options{}).Ask(t.Context(), request(), nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q says %v, want %q", line, err, want)
		}
	}
}

// TestLarge: a program need not read its input.
func TestLarge(t *testing.T) {
	t.Setenv(asCommand, "talk")
	r := request()
	r.System = strings.Repeat("long ", 1<<20)
	if reply, err := command.New(this(), command.Options{}).Ask(t.Context(), r, nil); err != nil || reply.Text != "Yes." {
		t.Errorf("it says %+v, %v", reply, err)
	}
}

// TestCancel: when the context ends, all processes that the program started are killed.
func TestCancel(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh on Windows")
	}
	here := filepath.Join(t.TempDir(), "here")
	t.Setenv("HERE", here)
	why := errors.New("the user wants so")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	_, err := command.New(`(i=0; while [ $i -lt 3000 ]; do : >"$HERE"; sleep 0.02; i=$((i+1)); done) & until [ -e "$HERE" ]; do sleep 0.01; done; echo So; sleep 60`, command.Options{}).Ask(ctx, request(), func(string) { cancel(why) })
	if err != why {
		t.Errorf("it ends with %v", err)
	}
	if err := os.Remove(here); err != nil {
		t.Error(err)
	}
	time.Sleep(200 * time.Millisecond) // ten times as long as a process that is left would wait
	if _, err := os.Stat(here); err == nil {
		t.Error("a process is still running")
	}
}

// TestHide: no error repeats a secret from the command line.
func TestHide(t *testing.T) {
	m := command.New("echo 'the key sk-123456 is bad' >&2; exit 1", command.Options{Hide: []string{"", "sk-123456"}})
	_, err := m.Ask(t.Context(), &model.Request{}, func(string) {})
	if err == nil || strings.Contains(err.Error(), "sk-123456") || !strings.Contains(err.Error(), "the key … is bad") {
		t.Errorf("Ask = %v", err)
	}
}
