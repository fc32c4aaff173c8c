package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A fullDisk is a writer that always fails.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestFullDisk: a failed write of output is an error, for little and for much output.
func TestFullDisk(t *testing.T) {
	for _, line := range []string{"--version", "help", "completion bash"} {
		var stderr bytes.Buffer
		code := run(strings.Fields(line), strings.NewReader(""), fullDisk{}, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("bough %s exits with %d and prints %q", line, code, &stderr)
		}
	}
}

// TestTalk: messages on standard error appear after earlier output and before later output.
func TestTalk(t *testing.T) {
	var both bytes.Buffer
	out := bufio.NewWriter(&both)
	var err io.Writer = talk{&both, out}
	fmt.Fprint(out, "1 ")
	fmt.Fprint(err, "2 ")
	fmt.Fprint(out, "3 ")
	out.Flush()
	if got := both.String(); got != "1 2 3 " {
		t.Errorf("got %q", got)
	}
}
