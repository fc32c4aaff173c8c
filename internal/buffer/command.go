package buffer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"unicode/utf8"

	"github.com/bough-dev/bough/internal/child"
	"github.com/bough-dev/bough/internal/rawjson"
)

// maxOutput is how much a command may answer, in bytes.
const maxOutput = 1 << 20

// Command returns a processor that runs a command line for each batch, with sh -c, on
// Windows with cmd /C. It reads a [Context] as JSON from its standard input and writes
// a [Result] as JSON to its standard output, at most 1 MiB, or nothing. Every other
// exit code than 0 is a failure, for which the last line of its standard error is the
// reason. When ctx ends it is killed, with all that it started and that is in its
// process group.
//
// log, if it is not nil, is told what the command writes to its standard error, line
// by line: of each call the first twenty lines, of each line the first 300 bytes. It
// is called by several goroutines, as the processor is.
func Command(line string, log func(string)) Processor {
	if log == nil {
		log = func(string) {}
	}
	return func(ctx context.Context, c Context) (Result, error) {
		out, err := run(ctx, line, rawjson.Compact(c), log)
		if err != nil {
			return Result{}, err
		}
		return decodeResult(out)
	}
}

// run runs a command line and returns what it answers.
func run(ctx context.Context, line string, input []byte, log func(string)) ([]byte, error) {
	out := &limited{most: maxOutput}
	talk := &talk{log: log}
	err := child.Run(ctx, line, input, out, talk)
	talk.end()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && talk.last != "":
		return nil, errors.New(talk.last)
	case err != nil:
		return nil, err
	}
	return out.data, nil
}

// decodeResult reads what a command answers.
func decodeResult(out []byte) (r Result, err error) {
	if len(bytes.TrimSpace(out)) == 0 {
		return Result{}, nil
	}
	if !utf8.Valid(out) {
		return Result{}, errors.New("its answer is not valid UTF-8")
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return Result{}, fmt.Errorf("its answer is not what it should be: %w", err)
	}
	return r, nil
}

// A limited writer keeps what is written, up to a limit.
type limited struct {
	data []byte
	most int
}

func (w *limited) Write(p []byte) (int, error) {
	if len(w.data)+len(p) > w.most {
		return 0, fmt.Errorf("it answered more than %d bytes", w.most)
	}
	w.data = append(w.data, p...)
	return len(p), nil
}

const (
	mostLines = 20  // of standard error that are logged
	mostLine  = 300 // how much of each, in bytes
)

// A talk logs what a command says beside its answer.
type talk struct {
	log   func(string)
	part  []byte // of the line that is not finished
	lines int
	last  string // line that is not empty
}

func (t *talk) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == '\n' || c == '\r':
			t.end()
		case len(t.part) < 2*mostLine:
			t.part = append(t.part, c)
		}
	}
	return len(p), nil
}

// end ends a line.
func (t *talk) end() {
	line := short(string(t.part), mostLine)
	t.part = t.part[:0]
	if line == "" {
		return
	}
	t.last = line
	if t.lines++; t.lines <= mostLines {
		t.log(line)
	}
	if t.lines == mostLines+1 {
		t.log("…")
	}
}
