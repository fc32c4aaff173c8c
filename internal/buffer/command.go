package buffer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/bounded"
	"github.com/bough-dev/bough/internal/child"
	"github.com/bough-dev/bough/internal/rawjson"
)

// maxOutput is the maximum size of a command's output in bytes.
const maxOutput = 1 << 20

// Command returns a processor that runs a command line for each batch, with sh -c,
// on Windows with cmd /C. It reads a [Context] as JSON from standard input and
// writes a [Result] as JSON to standard output, at most 1 MiB, or nothing. An exit
// code other than 0 is a failure, whose error is the last line of standard error.
// When ctx ends the command is killed with all other processes of its process
// group.
//
// log, if not nil, is called with the lines of standard error, for each call at
// most twenty lines of at most 300 bytes. It must be safe for concurrent use.
func Command(line string, log func(string)) Processor { return command(line, log, 0) }

// command is [Command] with the time that processes with its output have after it has
// exited, for [child.Run].
func command(line string, log func(string), grace time.Duration) Processor {
	if log == nil {
		log = func(string) {}
	}
	return func(ctx context.Context, c Context) (Result, error) {
		out, err := run(ctx, line, rawjson.Compact(c), log, grace)
		if err != nil {
			return Result{}, err
		}
		return decodeResult(out)
	}
}

// run runs a command line and returns its output.
func run(ctx context.Context, line string, input []byte, log func(string), grace time.Duration) ([]byte, error) {
	var out bytes.Buffer
	talk := &talk{log: log}
	err := child.Run(ctx, line, input, &bounded.Writer{W: &out, Limit: maxOutput, Verb: "it answered"}, talk, grace)
	talk.end()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && talk.last != "":
		return nil, errors.New(talk.last)
	case err != nil:
		return nil, err
	}
	return out.Bytes(), nil
}

// decodeResult decodes the output of a command.
func decodeResult(out []byte) (r Result, err error) {
	if len(bytes.TrimSpace(out)) == 0 {
		return Result{}, nil
	}
	if !utf8.Valid(out) {
		return Result{}, errors.New("its answer is not valid UTF-8")
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return Result{}, fmt.Errorf("its answer is invalid: %w", err)
	}
	return r, nil
}

const (
	maxLines = 20  // logged lines of standard error per call
	maxLine  = 300 // length of a logged line in bytes
)

// A talk logs the standard error of a command.
type talk struct {
	log   func(string)
	part  []byte // of the incomplete line
	lines int
	last  string // last line that is not empty
}

func (t *talk) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == '\n' || c == '\r':
			t.end()
		case len(t.part) < 2*maxLine:
			t.part = append(t.part, c)
		}
	}
	return len(p), nil
}

// end ends a line.
func (t *talk) end() {
	line := short(string(t.part), maxLine)
	t.part = t.part[:0]
	if line == "" {
		return
	}
	t.last = line
	if t.lines++; t.lines <= maxLines {
		t.log(line)
	}
	if t.lines == maxLines+1 {
		t.log("…")
	}
}
