package pipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/bough-dev/bough/agent"
)

// A Wiring is what a companion serves.
type Wiring struct {
	// Version must be that of who starts the companion.
	Version string

	// Model returns the model with a name, such as "openai:NAME". The error says why
	// there is none.
	Model func(name string) (agent.Model, error)

	// Open opens the tools that a configuration lists. They are closed at the end.
	Open func(ctx context.Context, config []byte) (Tools, error)
}

// Tools are tools that must be closed.
type Tools interface {
	agent.Tools
	io.Closer
}

// Serve is the companion: it serves what w has to who writes to stdin and reads from
// stdout, until stdin or ctx ends. Then it gives up what is under way and closes the tools.
// The error says why stdin cannot be read or stdout cannot be written to. When ctx ends,
// something may still wait for stdin.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer, w *Wiring) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &serving{
		Wiring: w,
		out:    stdout,
		broken: cancel,
		under:  map[int64]context.CancelFunc{},
		models: map[string]agent.Model{},
		tools:  map[int64]Tools{},
	}
	s.write(hello{Program, w.Version})
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() { failed <- read(ctx, stdin, lines) }()
	var err error
	for going := true; going; {
		select {
		case line := <-lines:
			s.take(ctx, line)
		case err = <-failed:
			going = false
		case <-ctx.Done():
			going = false
		}
	}
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	cancel(nil)
	s.working.Wait()
	for _, t := range s.tools {
		s.working.Go(func() { t.Close() })
	}
	s.working.Wait()
	return err
}

// read reads lines. What comes after the last line feed is no line.
func read(ctx context.Context, r io.Reader, lines chan<- []byte) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return nil
		}
	}
}

// serving is one run of a companion.
type serving struct {
	*Wiring
	working sync.WaitGroup
	broken  context.CancelCauseFunc // stdout is

	writing sync.Mutex
	out     io.Writer

	mu     sync.Mutex
	under  map[int64]context.CancelFunc // requests under way
	models map[string]agent.Model
	tools  map[int64]Tools
}

func (s *serving) write(v any) {
	line, err := encode(v)
	if a, ok := v.(answer); err != nil && ok {
		line, err = encode(answer{ID: a.ID, Done: true, Error: "the answer is no JSON: " + err.Error()})
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if err == nil {
		_, err = s.out.Write(line)
	}
	if err != nil {
		s.broken(err)
	}
}

// take begins with what a line asks for.
func (s *serving) take(ctx context.Context, line []byte) {
	var r request
	err := json.Unmarshal(line, &r)
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel, twice := s.under[r.ID]
	switch {
	case err == nil && r.Do == doCancel:
		if twice {
			cancel()
		}
		return
	case err == nil && r.ID <= 0:
		err = fmt.Errorf("the id %d is not above 0", r.ID)
	case err == nil && twice:
		err = fmt.Errorf("the id %d is another request's", r.ID)
	}
	if err != nil {
		s.write(answer{Done: true, Error: "a line is no request: " + err.Error()})
		return
	}
	ctx, cancel = context.WithCancel(ctx)
	s.under[r.ID] = cancel
	s.working.Go(func() {
		defer cancel()
		a, err := s.do(ctx, &r)
		if err != nil {
			a.Error = err.Error()
			if a.Error == "" {
				a.Error = "it failed"
			}
		}
		a.ID, a.Done = r.ID, true
		s.mu.Lock()
		delete(s.under, r.ID)
		s.mu.Unlock()
		s.write(a)
	})
}

// do does what a request asks for.
func (s *serving) do(ctx context.Context, r *request) (a answer, err error) {
	switch r.Do {
	case doModel:
		_, err = s.model(r.Model)
	case doAsk:
		a.Reply, err = s.ask(ctx, r)
	case doOpen:
		err = s.open(ctx, r)
	case doList:
		a.List, err = s.list(ctx, r)
	case doCall:
		a.Result, err = s.call(ctx, r)
	default:
		err = fmt.Errorf("%q is nothing that this program does", r.Do)
	}
	return a, err
}

// model returns a model, the same for the same name.
func (s *serving) model(name string) (agent.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.models[name]; ok {
		return m, nil
	}
	m, err := s.Model(name)
	if err != nil {
		return nil, err
	}
	s.models[name] = m
	return m, nil
}

func (s *serving) ask(ctx context.Context, r *request) (*reply, error) {
	m, err := s.model(r.Model)
	if err != nil {
		return nil, err
	}
	if r.Request == nil {
		return nil, errors.New("there is no request to ask")
	}
	said, err := m.Ask(ctx, r.Request, func(text string) {
		if text != "" {
			s.write(answer{ID: r.ID, Text: text})
		}
	})
	if err != nil {
		return nil, err
	}
	return &reply{said.Text, said.Calls}, nil
}

func (s *serving) open(ctx context.Context, r *request) error {
	s.mu.Lock()
	_, twice := s.tools[r.ID]
	s.mu.Unlock()
	if twice {
		return fmt.Errorf("the tools %d are open", r.ID)
	}
	t, err := s.Open(ctx, r.Config)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools[r.ID] = t
	return nil
}

// opened returns the tools that a request means.
func (s *serving) opened(r *request) (Tools, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tools[r.Tools]
	if !ok {
		return nil, fmt.Errorf("there are no tools %d", r.Tools)
	}
	return t, nil
}

func (s *serving) list(ctx context.Context, r *request) ([]tool, error) {
	t, err := s.opened(r)
	if err != nil {
		return nil, err
	}
	all, err := t.List(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]tool, len(all))
	for i, t := range all {
		list[i] = tool{t.Name, t.Description, t.Schema, t.Writes}
	}
	return list, nil
}

func (s *serving) call(ctx context.Context, r *request) (*result, error) {
	t, err := s.opened(r)
	if err != nil {
		return nil, err
	}
	if r.Call == nil {
		return nil, errors.New("there is no call")
	}
	said, err := t.Call(ctx, *r.Call)
	if err != nil {
		return nil, err
	}
	return &result{said.Text, said.Failed}, nil
}
