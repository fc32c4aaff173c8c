//go:build pictures

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/server"
	"github.com/bough-dev/bough/server/page"
	"github.com/bough-dev/bough/workspace"
)

// transcripts are the conversations of Claude Code that a site can import.
const transcripts = "docs/pictures/claude"

// A clock keeps its time until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A site is a workspace with a server.
type site struct {
	ctx   context.Context
	w     *workspace.Workspace
	clock *clock
	home  string // with the transcripts of Claude Code
	keys  *page.Keys
	base  string
	model *scripted
	stop  func() error
}

// seeded is a source of ids that are the same in each run. It is safe for concurrent use.
type seeded struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (s *seeded) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Read(p)
}

// newSite serves a workspace with some files in a new folder. If content is nil, it is empty.
func newSite(ctx context.Context, content fs.FS) (_ *site, err error) {
	dir, err := os.MkdirTemp("", "bough-pictures-")
	if err != nil {
		return nil, err
	}
	s := &site{
		ctx: ctx, home: filepath.Join(dir, "home"), model: newScripted(),
		clock: &clock{now: time.Date(2026, 5, 23, 9, 30, 0, 0, time.UTC)},
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	projects := filepath.Join(s.home, ".claude", "projects", "-home-ann-shop")
	if err := os.CopyFS(projects, os.DirFS(transcripts)); err != nil {
		return nil, err
	}
	notes := filepath.Join(dir, "notes")
	if content != nil {
		if err := os.CopyFS(notes, content); err != nil {
			return nil, err
		}
	}
	random := &seeded{source: rand.NewChaCha8([32]byte([]byte("the pictures of the page of bough")))}
	s.w, err = workspace.Open(ctx, notes, &workspace.Options{Now: s.clock.Now, Random: random})
	if err != nil {
		return nil, err
	}
	if err := s.w.Make(ctx); err != nil {
		return nil, err
	}
	if s.keys, err = page.LoadKeys(ctx, s.w.Dir()); err != nil {
		return nil, err
	}
	s.keys.Run = page.NewRun()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.base, _ = s.keys.Address(l.Addr().(*net.TCPAddr).Port)
	served, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	h := server.New(s.w, server.Options{
		Token: "unused", Page: s.keys, Now: s.clock.Now,
		Machine: &transcript.Machine{Home: s.home, Dir: s.home, Env: func(string) string { return "" }, Read: os.ReadFile},
		Models:  func(context.Context, string) (model.Model, error) { return s.model, nil },
		Log:     func(line string) { fmt.Fprintln(os.Stderr, "server:", line) },
	})
	go func() { done <- h.Serve(served, l) }()
	s.stop = func() error {
		s.model.release()
		end()
		return errors.Join(<-done, os.RemoveAll(dir))
	}
	return s, nil
}

// login returns the address of a path with a new code.
func (s *site) login(path string) string {
	return s.base + "/login?to=" + path + "#" + s.keys.Code(s.clock.Now())
}

// say appends a message a minute after the previous one, and returns its id.
func (s *site) say(role, text string, a workspace.Append) (string, error) {
	s.clock.move(time.Minute)
	a.Role, a.Text = role, text
	r, err := s.w.Append(s.ctx, a)
	if err != nil {
		return "", err
	}
	return r.Message, nil
}

// A scripted model begins an answer, and completes it when it is released.
type scripted struct {
	once sync.Once
	hold chan struct{}
}

func newScripted() *scripted { return &scripted{hold: make(chan struct{})} }

func (m *scripted) release() { m.once.Do(func() { close(m.hold) }) }

// Ask implements model.Model.
func (m *scripted) Ask(ctx context.Context, r *model.Request, stream func(string)) (*model.Reply, error) {
	const text = "Tram 28 is the one in every picture, and it is full by ten. Take it **before nine** from Campo de Ourique, where it begins: you get a seat, and the hills of Alfama are still empty.\n\nTram 24 climbs to the same"
	for _, word := range strings.SplitAfter(text, " ") {
		stream(word)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.hold:
	}
	return &model.Reply{Text: text + " hills."}, nil
}
