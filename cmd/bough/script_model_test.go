package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// canned is a model: a program that answers the last message with a reply from the file in
// its argument. The file has lines that are messages, each followed by indented lines, the
// reply: text, or
//
//	!path         prints the messages that the model received
//	!touch FILE   creates a file
//	!until FILE   waits until a file exists
//	!fail WHY     ends with an error
//
// The reply to any other message is "Answer to" and the message.
func canned() {
	if err := sayCanned(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sayCanned() error {
	request, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	messages := gjson.GetBytes(request, "messages").Array()
	asked := messages[len(messages)-1].Get("content").String()
	lines := []string{"", "\tAnswer to " + asked}
	if len(os.Args) > 1 {
		data, err := os.ReadFile(os.Args[1])
		if err != nil {
			return err
		}
		if _, rest, ok := strings.Cut("\n"+string(data), "\n"+asked+"\n"); ok {
			lines = append(lines[:1], strings.Split(rest, "\n")...)
		}
	}
	for _, l := range lines[1:] {
		step, indented := strings.CutPrefix(l, "\t")
		if !indented {
			return nil
		}
		do, arg, _ := strings.Cut(step, " ")
		switch do {
		case "!path":
			for _, m := range messages {
				fmt.Printf("%s: %s\n", m.Get("role"), m.Get("content"))
			}
		case "!touch":
			err = os.WriteFile(arg, nil, 0o600)
		case "!until":
			err = await(arg)
		case "!fail":
			return fmt.Errorf("%s", arg)
		default:
			fmt.Println(step)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eventually calls check until it returns nil, for at most a minute, and returns its last error.
func eventually(check func() error) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if err := check(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

// await waits until a file exists.
func await(name string) error {
	return eventually(func() error {
		_, err := os.Stat(name)
		return err
	})
}

func cmdAwait(ts *testscript.TestScript, args []string) {
	for _, name := range args {
		ts.Check(await(ts.MkAbs(name)))
	}
}

func cmdAwaitLine(ts *testscript.TestScript, args []string) {
	line, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(eventually(func() error {
		data, _ := os.ReadFile(path)
		if line.Match(data) {
			return nil
		}
		return fmt.Errorf("no line of %s matches %s:\n%s", args[0], args[1], data)
	}))
}

func cmdAwaitOutput(ts *testscript.TestScript, args []string) {
	line, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	ts.Check(eventually(func() error {
		o := bough(ts, args[1:]...)
		if o.Code == 0 && line.MatchString(o.Stdout) {
			return nil
		}
		return fmt.Errorf("no output of bough %q matches %s: exit code %d\n%s%s", args[1:], args[0], o.Code, o.Stdout, o.Stderr)
	}))
}
