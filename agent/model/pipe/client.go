package pipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/child"
)

// Options are the choices of who starts a companion. The zero value is the default but for
// Version, and nil is the zero value.
type Options struct {
	// Version is that of who starts the companion.
	Version string

	// StartTime is how long the companion may take to say who it is. Zero means 10
	// seconds.
	StartTime time.Duration

	// Grace is how long the companion may take to give up a request, or to end, until
	// it is killed. Zero means 5 seconds.
	Grace time.Duration
}

// A Client uses a companion. Several goroutines may use it.
type Client struct {
	process *child.Process
	grace   time.Duration
	lines   chan []byte // to be written

	mu   sync.Mutex
	last int64 // id
	open map[int64]*pending

	gone   chan struct{} // closed when the companion cannot be used any more
	why    error         // then
	ending sync.Once
}

// A pending request waits for answers.
type pending struct {
	mu    sync.Mutex
	came  []answer
	wake  chan struct{} // has a token when there are some
	ended chan struct{} // closed after the last
}

// Start starts a companion, whose standard input, output and error are not set. When ctx
// ends before it has said who it is, Start gives up; what has started is not bound to ctx.
// [Client.Close] ends it.
func Start(ctx context.Context, cmd *exec.Cmd, opts *Options) (*Client, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.StartTime == 0 {
		o.StartTime = 10 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	p, err := child.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", Program, err)
	}
	c := &Client{
		process: p,
		grace:   o.Grace,
		lines:   make(chan []byte),
		open:    map[int64]*pending{},
		gone:    make(chan struct{}),
	}
	in := bufio.NewReaderSize(p.Stdout, 64<<10)
	greeted := make(chan error, 1)
	go func() { greeted <- greet(in, o.Version) }()
	late := time.NewTimer(o.StartTime)
	defer late.Stop()
	select {
	case err = <-greeted:
	case <-ctx.Done():
		err = ctx.Err()
	case <-late.C:
		err = fmt.Errorf("it did not say who it is within %v", o.StartTime)
	}
	if err != nil {
		p.Stop(o.Grace)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s (%s) cannot be used: %w", Program, cmd.Path, c.told(err))
	}
	go c.write()
	go c.read(in)
	return c, nil
}

// greet reads the first line of a companion and says what is wrong with it.
func greet(in *bufio.Reader, version string) error {
	line, err := in.ReadSlice('\n') // a line that is longer than the buffer is none of ours
	if err != nil && err != bufio.ErrBufferFull {
		return io.EOF
	}
	var h hello
	if json.Unmarshal(line, &h) != nil || h.Program != Program {
		return fmt.Errorf("it is another program; it wrote %.60q", line)
	}
	if h.Version != version {
		return fmt.Errorf("it is of version %.60q, and this is bough %q; install both together", h.Version, version)
	}
	return nil
}

// told returns why a companion that has ended cannot be used.
func (c *Client) told(err error) error {
	if failure := c.process.Failure(); failure != "" {
		err = fmt.Errorf("it ended with %s", failure)
	} else if err == io.EOF {
		err = errors.New("it ended")
	}
	if said := c.process.Said(); said != "" {
		err = fmt.Errorf("%w; it wrote %q", err, said)
	}
	return err
}

// write writes lines as long as the companion reads them.
func (c *Client) write() {
	for {
		select {
		case line := <-c.lines:
			if _, err := c.process.Stdin.Write(line); err != nil {
				return // the reader finds out why
			}
		case <-c.gone:
			return
		}
	}
}

// read hands answers to who waits for them.
func (c *Client) read(in *bufio.Reader) {
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			c.fail(io.EOF)
			return
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			c.fail(fmt.Errorf("it answered what is no answer: %w", err))
			return
		}
		if a.ID == 0 {
			c.fail(fmt.Errorf("it did not understand: %s", a.Error))
			return
		}
		c.mu.Lock()
		p := c.open[a.ID]
		if p != nil && a.Done {
			delete(c.open, a.ID)
		}
		c.mu.Unlock()
		if p != nil {
			p.put(a)
		}
	}
}

func (p *pending) put(a answer) {
	p.mu.Lock()
	p.came = append(p.came, a)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	if a.Done {
		close(p.ended)
	}
}

func (p *pending) take() []answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	came := p.came
	p.came = nil
	return came
}

// fail ends the companion, which cannot be used any more.
func (c *Client) fail(err error) {
	c.ending.Do(func() {
		if err != io.EOF {
			c.process.Stop(0)
		} else {
			c.process.Stop(c.grace)
		}
		c.why = fmt.Errorf("%s is gone: %w", Program, c.told(err))
		close(c.gone)
	})
}

// Close ends the companion. What is under way fails.
func (c *Client) Close() error {
	c.ending.Do(func() {
		c.why = fmt.Errorf("%s is closed", Program)
		close(c.gone)
	})
	c.process.Stop(c.grace)
	return nil
}

// do has the companion do something and returns the last answer. The others are given to
// stream.
func (c *Client) do(ctx context.Context, r request, stream func(string)) (*answer, int64, error) {
	p := &pending{wake: make(chan struct{}, 1), ended: make(chan struct{})}
	c.mu.Lock()
	c.last++
	r.ID = c.last
	c.open[r.ID] = p
	c.mu.Unlock()
	line, err := encode(r)
	if err == nil {
		select {
		case <-c.gone:
			err = c.why
		default:
			err = c.send(ctx, line)
		}
	}
	if err != nil {
		c.mu.Lock()
		delete(c.open, r.ID)
		c.mu.Unlock()
		return nil, 0, err
	}
	for {
		var end error
		select {
		case <-p.wake:
		case <-ctx.Done():
			go c.cancel(r.ID, p)
			return nil, 0, ctx.Err()
		case <-c.gone:
			end = c.why
		}
		for _, a := range p.take() {
			switch {
			case !a.Done && stream != nil && ctx.Err() == nil:
				stream(a.Text)
			case !a.Done:
			case a.Error != "":
				return nil, 0, errors.New(a.Error)
			default:
				return &a, r.ID, nil
			}
		}
		if end != nil {
			return nil, 0, end
		}
	}
}

// send has a line written.
func (c *Client) send(ctx context.Context, line []byte) error {
	select {
	case c.lines <- line:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.gone:
		return c.why
	}
}

// cancel has the companion give up a request. One that does not is killed.
func (c *Client) cancel(id int64, p *pending) {
	line, err := encode(request{ID: id, Do: doCancel})
	if err != nil {
		panic("pipe: " + err.Error()) // it is a number and a word
	}
	ctx, stop := context.WithTimeout(context.Background(), c.grace)
	defer stop()
	if c.send(ctx, line) == nil {
		select {
		case <-p.ended:
		case <-c.gone:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		c.fail(fmt.Errorf("it did not give up a request within %v", c.grace))
	}
}

// Model returns the model with a name, such as "openai:NAME". The error says why there is
// none.
func (c *Client) Model(ctx context.Context, name string) (agent.Model, error) {
	if _, _, err := c.do(ctx, request{Do: doModel, Model: name}, nil); err != nil {
		return nil, err
	}
	return &model{c, name}, nil
}

type model struct {
	client *Client
	name   string
}

func (m *model) Ask(ctx context.Context, r *agent.Request, stream func(string)) (*agent.Reply, error) {
	r, err := strict(r)
	if err != nil {
		return nil, err
	}
	a, _, err := m.client.do(ctx, request{Do: doAsk, Model: m.name, Request: r}, stream)
	switch {
	case err != nil:
		return nil, err
	case a.Reply == nil:
		return nil, fmt.Errorf("%s answered without a reply", Program)
	}
	return &agent.Reply{Text: a.Reply.Text, Calls: a.Reply.Calls}, nil
}

// Tools opens the tools that a configuration lists. They are open until the companion ends.
func (c *Client) Tools(ctx context.Context, config []byte) (agent.Tools, error) {
	_, id, err := c.do(ctx, request{Do: doOpen, Config: config}, nil)
	if err != nil {
		return nil, err
	}
	return &tools{c, id}, nil
}

type tools struct {
	client *Client
	id     int64
}

func (t *tools) List(ctx context.Context) ([]agent.Tool, error) {
	a, _, err := t.client.do(ctx, request{Do: doList, Tools: t.id}, nil)
	if err != nil {
		return nil, err
	}
	list := make([]agent.Tool, len(a.List))
	for i, one := range a.List {
		list[i] = agent.Tool{Name: one.Name, Description: one.Description, Schema: one.Schema, Writes: one.Writes}
	}
	return list, nil
}

func (t *tools) Call(ctx context.Context, call agent.Call) (agent.Result, error) {
	a, _, err := t.client.do(ctx, request{Do: doCall, Tools: t.id, Call: &call}, nil)
	switch {
	case err != nil:
		return agent.Result{}, err
	case a.Result == nil:
		return agent.Result{}, fmt.Errorf("%s answered without a result", Program)
	}
	return agent.Result{Text: a.Result.Text, Failed: a.Result.Failed}, nil
}
